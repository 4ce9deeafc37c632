"""Which programs could have produced a set of histories: a Gibbs sampler over the programs of the generator.

Letters: n events, C cases of up to W events, M attributes, K steps of a probability.

A program gives each event a part (it adds, sets the flag, adds or vetoes if the flag is set, adds or vetoes behind a
gate), gated ones an attribute and the level that opens the gate, and each a probability on the task's grid. Which
operator and threshold a gate is written with makes no difference between two levels. The carrier is known: it is in
every case of three events.

The probability of a case is linear in the probability of each of its events, so the conditional distribution of one
event's part, gate and probability given those of the others is a table (Geman and Geman, 1984). Which events set and
use the flag changes by moves that redraw two events at once and are accepted with the ratio of the tables' sums
(Hastings, 1970). A chain starts from what the cases of the carrier with one other event say, in which events do not
mix.

Kernels share these arguments:
    program: `system` (2, n) int64 with the rows part and gate (2 * attribute + level, or `UNGATED`), and
        `probability` (n,) float64.
    data: `cases` (C, W) int64 event codes, -1 for none; `bits` (C, M) int64, 1 where an attribute has its higher level;
        `present` and `trials` (C,) float64; `members` (n, C) and `counts` (n,) int64, the cases of each event.
    grid: `steps` (6, 2) int64, the lowest and highest step of each part, and the number of steps in a unit.
    table: (2, 2 M, K) float64 of working space for the states of an event: action, gate, step. Parts that have no gate
        use gate 0 alone.
"""

from __future__ import annotations

import math

import numpy as np

from veilgym.envs.core.elementary import kernel
from veilgym.envs.core.philox import next_below, next_uniform
from veilgym.envs.hidden_system.generator import is_clear

ADD, FLAG, EFFECT_ADD, EFFECT_VETO, GATED_ADD, GATED_VETO = range(6)
UNGATED = -1
# Rows of `system`.
PART, GATE = range(2)
# Arguments of kernels are NumPy's integers: numba compiles a function anew for each Python integer that it is given.
FREE_CLASS, FLAG_CLASS, EFFECT_CLASS, ADD_CLASS = np.int64(0), np.int64(1), np.int64(2), np.int64(3)
_NONE, _FIRST = np.int64(-1), np.int64(0)

_TINY = 1e-12
_IMPOSSIBLE, _NEGLIGIBLE = -1e300, -700.0
_STARTING_ROUNDS = 3


@kernel
def case_rate(c, cases, bits, system, probability, only, forced):  # type: ignore[no-untyped-def]
    """The probability that the record is present after case `c`.

    If `only` is an event, it does nothing if `forced` is -1, or it surely does what an event of the part `forced` does.
    """
    absent, present, vetoed = 1.0, 0.0, 0.0  # without the flag
    absent_f, present_f, vetoed_f = 0.0, 0.0, 0.0  # with it
    for place in range(cases.shape[1]):
        event = cases[c, place]
        if event < 0:
            break
        part, gate, p = system[PART, event], system[GATE, event], probability[event]
        if event == only:
            if forced < 0:
                continue
            part, gate, p = forced, UNGATED, 1.0
        if gate >= 0 and bits[c, gate >> 1] != gate & 1:
            continue
        q = 0.0 if part in (EFFECT_ADD, EFFECT_VETO) else p
        if part == FLAG:
            absent_f, absent = absent_f + p * absent, absent - p * absent
            present_f, present = present_f + p * present, present - p * present
            vetoed_f, vetoed = vetoed_f + p * vetoed, vetoed - p * vetoed
        elif part in (GATED_VETO, EFFECT_VETO):
            vetoed += q * (absent + present)
            absent, present = absent - q * absent, present - q * present
            vetoed_f += p * (absent_f + present_f)
            absent_f, present_f = absent_f - p * absent_f, present_f - p * present_f
        else:
            present, absent = present + q * absent, absent - q * absent
            present_f, absent_f = present_f + p * absent_f, absent_f - p * absent_f
    return present + present_f


@kernel
def log_likelihood(present, trials, rate):  # type: ignore[no-untyped-def]
    """Binomial log likelihood without its constant; an impossible outcome costs about 28 for each trial."""
    total = 0.0
    if present > 0.0:
        total += present * math.log(max(rate, _TINY))
    if present < trials:
        total += (trials - present) * math.log(max(1.0 - rate, _TINY))
    return total


@kernel
def part_of(kind, action):  # type: ignore[no-untyped-def]
    """The part of a class that does an action, 0 to add and 1 to veto."""
    if kind == FREE_CLASS:
        return GATED_ADD + action
    if kind == EFFECT_CLASS:
        return EFFECT_ADD + action
    return FLAG if kind == FLAG_CLASS else ADD


@kernel
def class_of(part):  # type: ignore[no-untyped-def]
    """The class of a part."""
    if part >= GATED_ADD:
        return FREE_CLASS
    if part >= EFFECT_ADD:
        return EFFECT_CLASS
    return FLAG_CLASS if part == FLAG else ADD_CLASS


@kernel
def _shape(kind, attributes):  # type: ignore[no-untyped-def]
    """How many actions and gates a class has."""
    if kind == FREE_CLASS:
        return 2, 2 * attributes
    return 2 if kind == EFFECT_CLASS else 1, 1


@kernel
def tabulate(event, kind, without, data, program, grid, table):  # type: ignore[no-untyped-def]
    """Fill the table with the conditional probabilities of an event's states, given the other events' states.

    Args:
        event: code.
        kind: the class of parts that the event may have.
        without: cases with this event are left out; -1 for none.

    Returns:
        The logarithm of the sum of the weights, prior times likelihood, by which the table is normalised.
    """
    cases, bits, present, trials, members, counts = data
    actions, gates = _shape(kind, bits.shape[1])
    for action in range(actions):
        part = part_of(kind, action)
        size = grid[0][part, 1] - grid[0][part, 0] + 1
        prior = _log_prior(event, part, without, program[0]) - math.log(size)
        for gate in range(gates):
            for k in range(size):
                table[action, gate, k] = prior
    for j in range(counts[event]):
        c = members[event, j]
        if without < 0 or not _has_event(cases, c, without):
            off = case_rate(c, cases, bits, program[0], program[1], event, _NONE)
            closed = log_likelihood(present[c], trials[c], off)
            for action in range(actions):
                part = part_of(kind, action)
                on = case_rate(c, cases, bits, program[0], program[1], event, part)
                _add_case(kind, gates, off, on, closed, present[c], trials[c], bits[c], part, grid, table[action])
    return _normalise(kind, actions, gates, grid, table)


@kernel
def _log_prior(event, part, without, system):  # type: ignore[no-untyped-def]
    """One of the gated events is a veto for sure, the others by a fair coin: weights go with the number of vetoes."""
    if part < GATED_ADD:
        return 0.0
    vetoes = 1 if part == GATED_VETO else 0
    for other in range(system.shape[1]):
        vetoes += other != event and other != without and system[PART, other] == GATED_VETO
    return math.log(vetoes) if vetoes > 0 else _IMPOSSIBLE


@kernel
def _has_event(cases, c, event):  # type: ignore[no-untyped-def]
    found = False
    for place in range(cases.shape[1]):
        found |= cases[c, place] == event
    return found


@kernel
def _add_case(kind, gates, off, on, closed, present, trials, bits, part, grid, table):  # type: ignore[no-untyped-def]
    """Add a case's log likelihood to the log weights of an action: `closed` where its gate is."""
    for k in range(grid[0][part, 1] - grid[0][part, 0] + 1):
        opened = closed
        if on != off:
            p = (grid[0][part, 0] + k) / grid[1]
            opened = log_likelihood(present, trials, off + p * (on - off))
        for gate in range(gates):
            table[gate, k] += closed if kind == FREE_CLASS and bits[gate >> 1] != gate & 1 else opened


@kernel
def _normalise(kind, actions, gates, grid, table):  # type: ignore[no-untyped-def]
    """Turn log weights into probabilities; return the logarithm of the sum of the weights."""
    top, total = _IMPOSSIBLE, 0.0
    for action in range(actions):
        part = part_of(kind, action)
        for gate in range(gates):
            for k in range(grid[0][part, 1] - grid[0][part, 0] + 1):
                top = max(top, table[action, gate, k])
    for action in range(actions):
        part = part_of(kind, action)
        for gate in range(gates):
            for k in range(grid[0][part, 1] - grid[0][part, 0] + 1):
                below = table[action, gate, k] - top
                table[action, gate, k] = math.exp(below) if below > _NEGLIGIBLE else 0.0
                total += table[action, gate, k]
    for action in range(actions):
        for gate in range(gates):
            for k in range(table.shape[2]):
                table[action, gate, k] /= total
    return top + math.log(total)


@kernel
def pick(stream, event, kind, program, grid, table):  # type: ignore[no-untyped-def]
    """Draw an event's state from its table."""
    system, probability = program
    actions, gates = _shape(kind, table.shape[1] // 2)
    left = next_uniform(stream)
    for action in range(actions):
        part = part_of(kind, action)
        for gate in range(gates):
            for k in range(grid[0][part, 1] - grid[0][part, 0] + 1):
                weight = table[action, gate, k]
                if weight > 0.0 and left > 0.0:
                    left -= weight
                    system[PART, event] = part
                    system[GATE, event] = gate if kind == FREE_CLASS else UNGATED
                    probability[event] = (grid[0][part, 0] + k) / grid[1]


@kernel
def exchange(stream, event, other, position, data, program, grid, table, saved):  # type: ignore[no-untyped-def]
    """Offer to exchange the classes of an event that sets or uses the flag and of one that is gated.

    Both are redrawn: `event` from its table without the cases of `other`, then `other` given it. The ratio of target to
    proposal is the product of the two tables' sums, for the new state and for the old one.
    """
    kind = class_of(program[0][PART, event])
    before = tabulate(event, kind, other, data, program, grid, table)
    before += tabulate(other, FREE_CLASS, _NONE, data, program, grid, table)
    _copy(event, other, program, saved)
    after = tabulate(event, FREE_CLASS, other, data, program, grid, table)
    pick(stream, event, FREE_CLASS, program, grid, table)
    after += tabulate(other, kind, _NONE, data, program, grid, table)
    pick(stream, other, kind, program, grid, table)
    if math.log(next_uniform(stream)) >= after - before or not _is_ordered(program[0], position):
        _copy(event, other, saved, program)


@kernel
def _copy(event, other, source, target):  # type: ignore[no-untyped-def]
    """Copy the states of two events from a program to another."""
    for row in range(2):
        target[0][row, event], target[0][row, other] = source[0][row, event], source[0][row, other]
    target[1][event], target[1][other] = source[1][event], source[1][other]


@kernel
def _is_ordered(system, position):  # type: ignore[no-untyped-def]
    """Whether the flag is set before it is used, in the query's order."""
    setter = user = 0
    for event in range(position.size):
        kind = class_of(system[PART, event])
        setter = position[event] if kind == FLAG_CLASS else setter
        user = position[event] if kind == EFFECT_CLASS else user
    return setter < user


@kernel
def begin(stream, carrier, position, alone, program, grid, table, weights):  # type: ignore[no-untyped-def]
    """Draw a program to start from.

    Given the carrier's probability, the cases of the carrier and one other event tell of each other event by itself
    whether it does nothing alone, as one that sets or uses the flag, or what it does.

    Args:
        alone: `data` whose members are these cases alone.
        weights: (n,) float64 of working space.
    """
    system, probability = program
    for event in range(position.size):
        system[PART, event], system[GATE, event] = ADD if event == carrier else FLAG, UNGATED
    probability[carrier] = 0.5 * (grid[0][ADD, 0] + grid[0][ADD, 1]) / grid[1]
    for _ in range(_STARTING_ROUNDS):
        for event in range(position.size):
            if event != carrier:
                idle = tabulate(event, FLAG_CLASS, _NONE, alone, program, grid, table)
                weights[event] = idle - tabulate(event, FREE_CLASS, _NONE, alone, program, grid, table)
                pick(stream, event, FREE_CLASS, program, grid, table)
        setter, user = _draw_pair(stream, carrier, position, weights)
        system[PART, setter], system[GATE, setter], probability[setter] = FLAG, UNGATED, 0.5
        system[PART, user], system[GATE, user], probability[user] = EFFECT_ADD, UNGATED, 0.5
        tabulate(carrier, ADD_CLASS, _NONE, alone, program, grid, table)
        pick(stream, carrier, ADD_CLASS, program, grid, table)


@kernel
def _draw_pair(stream, carrier, position, weights):  # type: ignore[no-untyped-def]
    """Draw two events, the first before the second in the query, with a weight of exp(weights[a] + weights[b])."""
    top = -1e308
    for e in range(position.size):
        if e != carrier:
            top = max(top, weights[e])
    total = 0.0
    for a in range(position.size):
        for b in range(position.size):
            if a != carrier and b != carrier and position[a] < position[b]:
                total += math.exp(weights[a] + weights[b] - 2.0 * top) + _TINY
    left = next_uniform(stream) * total
    first, second = -1, -1
    for a in range(position.size):
        for b in range(position.size):
            if left > 0.0 and a != carrier and b != carrier and position[a] < position[b]:
                left -= math.exp(weights[a] + weights[b] - 2.0 * top) + _TINY
                first, second = a, b
    return first, second


@kernel
def sweep(stream, is_told, position, data, program, grid, table, saved):  # type: ignore[no-untyped-def]
    """Redraw every event once, and offer two exchanges; with `is_told` only probabilities are redrawn."""
    for event in range(position.size):
        kind = class_of(program[0][PART, event])
        tabulate(event, kind, _NONE, data, program, grid, table)
        if is_told:
            _pick_probability(stream, event, program, grid, table)
        else:
            pick(stream, event, kind, program, grid, table)
    if not is_told:
        for kind in (FLAG_CLASS, EFFECT_CLASS):
            event = _event_of(kind, _FIRST, program[0])
            other = _event_of(FREE_CLASS, next_below(stream, position.size - 3), program[0])
            exchange(stream, event, other, position, data, program, grid, table, saved)


@kernel
def _event_of(kind, skip, system):  # type: ignore[no-untyped-def]
    """The event of a class that comes after `skip` others of it."""
    for event in range(system.shape[1]):
        if class_of(system[PART, event]) == kind:
            if skip == 0:
                return event
            skip -= 1
    return -1


@kernel
def _pick_probability(stream, event, program, grid, table):  # type: ignore[no-untyped-def]
    """Draw an event's probability, given its part and gate, from its table."""
    part, gate = program[0][PART, event], max(0, program[0][GATE, event])
    row = table[1 if part in (EFFECT_VETO, GATED_VETO) else 0, gate]
    size = grid[0][part, 1] - grid[0][part, 0] + 1
    total = 0.0
    for k in range(size):
        total += row[k]
    left = next_uniform(stream) * total
    for k in range(size):
        if left > 0.0 and row[k] > 0.0:
            left -= row[k]
            program[1][event] = (grid[0][part, 0] + k) / grid[1]


@kernel
def query_weight(query, program, grid, prior):  # type: ignore[no-untyped-def]
    """How readily the generator asks this query of this program, and the query's exact probability.

    Half of the weight of a pair of twins goes to each of the two; see `veilgym.envs.hidden_system.generator`.

    Args:
        query: (1, n) event codes and (1, M) bits.
        prior: the margin, and the shares of pivotal and of other instances over their rates of acceptance.

    Returns:
        weight, probability.
    """
    events, bits = query
    system, probability = program
    exact = case_rate(_FIRST, events, bits, system, probability, _NONE, _NONE)
    if not is_clear(exact, prior[0]):
        return 0.0, exact
    gated = acting = 0
    levels = probabilities = 0.0
    for event in range(probability.size):
        gate = system[GATE, event]
        if gate >= 0:
            gated += 1
            bits[0, gate >> 1] ^= 1
            twin = case_rate(_FIRST, events, bits, system, probability, _NONE, _NONE)
            bits[0, gate >> 1] ^= 1
            levels += is_clear(twin, prior[0]) and (twin > 0.5) != (exact > 0.5)
        if system[PART, event] != ADD and (gate < 0 or bits[0, gate >> 1] == gate & 1):
            acting += 1
            probabilities += _probability_weight(event, exact, query, program, grid, prior[0])
    weight = prior[1] * levels / gated
    if acting > 0:
        weight += prior[2] * 0.5 * probabilities / acting
    return weight, exact


@kernel
def _probability_weight(event, exact, query, program, grid, margin):  # type: ignore[no-untyped-def]
    """Steps of a rule's probability over those on the side of `exact`, if its ends are on both sides; else 0."""
    part = program[0][PART, event]
    lowest, highest = grid[0][part, 0], grid[0][part, 1]
    off = case_rate(_FIRST, query[0], query[1], program[0], program[1], event, _NONE)
    on = case_rate(_FIRST, query[0], query[1], program[0], program[1], event, part)
    low, high = off + (on - off) * lowest / grid[1], off + (on - off) * highest / grid[1]
    if not is_clear(low, margin) or not is_clear(high, margin) or (low > 0.5) == (high > 0.5):
        return 0.0
    count = 0
    for step in range(lowest, highest + 1):
        value = off + (on - off) * step / grid[1]
        count += is_clear(value, margin) and (value > 0.5) == (exact > 0.5)
    return (highest - lowest + 1) / max(1, count)


@kernel
def _total_log_likelihood(data, program):  # type: ignore[no-untyped-def]
    cases, bits, present, trials = data[0], data[1], data[2], data[3]
    total = 0.0
    for c in range(cases.shape[0]):
        rate = case_rate(c, cases, bits, program[0], program[1], _NONE, _NONE)
        total += log_likelihood(present[c], trials[c], rate)
    return total


@kernel
def sample(stream, is_told, lengths, carrier, position, data, alone, query, program, grid, prior, work):  # type: ignore[no-untyped-def]
    """Run a chain and collect what it says of the query.

    Args:
        is_told: whether `program` holds the true parts and gates, which are kept.
        lengths: sweeps before those that count, and sweeps that count.
        carrier: code; position: (n,) place of each event in the query.
        work: table, saved program, weights (n,), and out (4,), to which are added: the weights, the weights where
            PRESENT is favoured, the weighted probabilities of PRESENT, and the mean log likelihood.
    """
    table, saved, weights, out = work
    if not is_told:
        begin(stream, carrier, position, alone, program, grid, table, weights)
    for s in range(lengths[0] + lengths[1]):
        sweep(stream, is_told, position, data, program, grid, table, saved)
        if s >= lengths[0]:
            weight, exact = query_weight(query, program, grid, prior)
            out[0] += weight
            out[1] += weight if exact > 0.5 else 0.0
            out[2] += weight * exact
            out[3] += _total_log_likelihood(data, program) / lengths[1]
