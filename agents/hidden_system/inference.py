"""Which programs could have produced a set of histories: a Gibbs sampler over the programs of the generator.

Letters: n events, C cases of up to W events, M attributes, K steps of a probability, S sweeps.

A program gives each event a part (`ADD`, `FLAG`, an effect of the flag, a gated add or veto), gated ones an attribute and
the level that opens the gate, and each a probability on the task's grid. Which operator and threshold a gate is written
with makes no difference between two levels. The carrier is known: it is in every case of three events.

The probability of a case is linear in the probability of each of its events, so the conditional distribution of one
event's part, gate and probability given those of the others is a table (Gibbs). Which events set and use the flag changes
by block moves that redraw two events at once and are accepted with the ratio of the blocks' weights (Metropolis and
Hastings). A chain starts from what the cases of the carrier with one other event say, in which events do not mix.
"""

from __future__ import annotations

import math

from veilgym.envs.core.elementary import kernel
from veilgym.envs.core.philox import next_below, next_uniform

ADD, FLAG, EFFECT_ADD, EFFECT_VETO, GATED_ADD, GATED_VETO = range(6)
FREE_CLASS, FLAG_CLASS, EFFECT_CLASS, ADD_CLASS = range(4)
UNGATED = -1
# Rows of `system`.
PART, GATE, STEP = range(3)

_NONE = -1
_TINY = 1e-12
_STARTING_ROUNDS = 3


@kernel
def case_rate(c, cases, bits, system, probability, only, forced):  # type: ignore[no-untyped-def]
    """The probability that the record is present after case `c`.

    Args:
        cases: (C, W) event codes, -1 for none.
        bits: (C, M), 1 where an attribute has its higher level.
        system, probability: (3, n) integers and (n,) float64, the program.
        only: an event to treat otherwise, or -1: it does nothing if `forced` is -1, or it surely does what an event of
            the part `forced` does.
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
        q = 0.0 if part == EFFECT_ADD or part == EFFECT_VETO else p
        if part == FLAG:
            absent_f, absent = absent_f + p * absent, absent - p * absent
            present_f, present = present_f + p * present, present - p * present
            vetoed_f, vetoed = vetoed_f + p * vetoed, vetoed - p * vetoed
        elif part == GATED_VETO or part == EFFECT_VETO:
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
    """Binomial log likelihood without its constant; an impossible count costs about 28 for each trial."""
    clipped = min(max(rate, _TINY), 1.0 - _TINY)
    return present * math.log(clipped) + (trials - present) * math.log(1.0 - clipped)


@kernel
def tabulate(event, kind, without, data, program, ranges, table):  # type: ignore[no-untyped-def]
    """Fill the table of conditional log weights of one event's state, given the other events' states.

    Args:
        event: code.
        kind: the class of parts that the event may have.
        without: cases with this event are left out; -1 for none.
        data: cases, bits, present (C,), trials (C,), members (n, C) and their numbers (n,).
        program: system, probability.
        ranges: (6, 2) lowest and highest step of each part, and the number of steps in a unit.
        table: (2, 2 M, K), written; ungated parts use gate 0 only.

    Returns:
        The logarithm of the sum of the weights.
    """
    cases, bits, present, trials, members, counts = data
    system, probability = program
    lowest, steps = ranges
    gates = 2 * bits.shape[1] if kind == FREE_CLASS else 1
    actions = 2 if kind == FREE_CLASS or kind == EFFECT_CLASS else 1
    vetoes = 0
    for other in range(counts.size):
        if other != event and other != without and system[PART, other] == GATED_VETO:
            vetoes += 1
    for action in range(actions):
        part = part_of(kind, action)
        size = lowest[part, 1] - lowest[part, 0] + 1
        for gate in range(gates):
            for k in range(size):
                table[action, gate, k] = 0.0
        for j in range(counts[event]):
            c = members[event, j]
            if without >= 0 and has_event(cases, c, without):
                continue
            off = case_rate(c, cases, bits, system, probability, event, _NONE)
            on = case_rate(c, cases, bits, system, probability, event, part)
            inactive = log_likelihood(present[c], trials[c], off)
            for k in range(size):
                p = (lowest[part, 0] + k) / steps
                weight = inactive
                if on != off:
                    weight = log_likelihood(present[c], trials[c], off + p * (on - off))
                for gate in range(gates):
                    closed = kind == FREE_CLASS and bits[c, gate >> 1] != gate & 1
                    table[action, gate, k] += inactive if closed else weight
        if kind == FREE_CLASS:
            # One of the gated events is a veto for sure, the others by a fair coin: weights go with the vetoes.
            bias = vetoes + (1.0 if part == GATED_VETO else 0.0)
            bias = (math.log(bias) if bias > 0.0 else -1e300) - math.log(size)
            for gate in range(gates):
                for k in range(size):
                    table[action, gate, k] += bias
    return _log_sum(kind, actions, gates, lowest, table)


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
def has_event(cases, c, event):  # type: ignore[no-untyped-def]
    """Whether a case has an event."""
    found = False
    for place in range(cases.shape[1]):
        found |= cases[c, place] == event
    return found


@kernel
def _log_sum(kind, actions, gates, lowest, table):  # type: ignore[no-untyped-def]
    top = -1e308
    for action in range(actions):
        part = part_of(kind, action)
        for gate in range(gates):
            for k in range(lowest[part, 1] - lowest[part, 0] + 1):
                top = max(top, table[action, gate, k])
    total = 0.0
    for action in range(actions):
        part = part_of(kind, action)
        for gate in range(gates):
            for k in range(lowest[part, 1] - lowest[part, 0] + 1):
                total += math.exp(table[action, gate, k] - top)
    return top + math.log(total)


@kernel
def pick(stream, event, kind, log_sum, program, ranges, gates, table):  # type: ignore[no-untyped-def]
    """Draw an event's state from its table."""
    system, probability = program
    lowest, steps = ranges
    left = next_uniform(stream)
    actions = 2 if kind == FREE_CLASS or kind == EFFECT_CLASS else 1
    gates = gates if kind == FREE_CLASS else 1
    for action in range(actions):
        part = part_of(kind, action)
        for gate in range(gates):
            for k in range(lowest[part, 1] - lowest[part, 0] + 1):
                weight = math.exp(table[action, gate, k] - log_sum)
                if weight > 0.0:
                    left -= weight
                    system[PART, event] = part
                    system[GATE, event] = gate if kind == FREE_CLASS else UNGATED
                    probability[event] = (lowest[part, 0] + k) / steps
                    if left <= 0.0:
                        return


@kernel
def exchange(stream, event, other, position, data, program, ranges, table, saved):  # type: ignore[no-untyped-def]
    """Offer to exchange the classes of an event that sets or uses the flag and of one that is free.

    Both events are redrawn: `event` from its table without the cases of `other`, then `other` given it. The ratio of
    target to proposal is the product of the two tables' sums, for the new state and for the old one.
    """
    system, probability = program
    gates = 2 * data[1].shape[1]
    kind = class_of(system[PART, event])
    system_saved, probability_saved = saved
    for e in (event, other):
        system_saved[PART, e], system_saved[GATE, e] = system[PART, e], system[GATE, e]
        probability_saved[e] = probability[e]
    before = tabulate(event, kind, other, data, program, ranges, table)
    before += tabulate(other, FREE_CLASS, _NONE, data, program, ranges, table)
    after = tabulate(event, FREE_CLASS, other, data, program, ranges, table)
    pick(stream, event, FREE_CLASS, after, program, ranges, gates, table)
    second = tabulate(other, kind, _NONE, data, program, ranges, table)
    pick(stream, other, kind, second, program, ranges, gates, table)
    accepted = math.log(next_uniform(stream)) < after + second - before and _is_ordered(system, position)
    if not accepted:
        for e in (event, other):
            system[PART, e], system[GATE, e] = system_saved[PART, e], system_saved[GATE, e]
            probability[e] = probability_saved[e]


@kernel
def _is_ordered(system, position):  # type: ignore[no-untyped-def]
    """Whether the flag is set before it is used, in the query's order."""
    setter = user = 0
    for event in range(position.size):
        if system[PART, event] == FLAG:
            setter = position[event]
        elif system[PART, event] == EFFECT_ADD or system[PART, event] == EFFECT_VETO:
            user = position[event]
    return setter < user


@kernel
def begin(stream, carrier, position, data, members, counts, program, ranges, table, weights):  # type: ignore[no-untyped-def]
    """Draw a program to start from, given the cases that have no events but the carrier and one other.

    Given the carrier's probability, these cases tell of each other event alone whether it does nothing by itself, as
    one that sets or uses the flag, or what it does.

    Args:
        members, counts: as in `data`, for these cases.
        weights: (n,) float64 of working space.
    """
    system, probability = program
    cases, bits, present, trials, _, _ = data
    alone = (cases, bits, present, trials, members, counts)
    gates = 2 * bits.shape[1]
    for event in range(position.size):
        system[PART, event], system[GATE, event] = ADD if event == carrier else FLAG, UNGATED
    probability[carrier] = 0.5 * (ranges[0][ADD, 0] + ranges[0][ADD, 1]) / ranges[1]
    for _ in range(_STARTING_ROUNDS):
        for event in range(position.size):
            if event != carrier:
                idle = tabulate(event, FLAG_CLASS, _NONE, alone, program, ranges, table)
                log_sum = tabulate(event, FREE_CLASS, _NONE, alone, program, ranges, table)
                pick(stream, event, FREE_CLASS, log_sum, program, ranges, gates, table)
                weights[event] = idle - log_sum
        setter, user = _draw_pair(stream, carrier, position, weights)
        for event in (setter, user):
            system[PART, event], system[GATE, event] = FLAG if event == setter else EFFECT_ADD, UNGATED
            probability[event] = 0.5
        log_sum = tabulate(carrier, ADD_CLASS, _NONE, alone, program, ranges, table)
        pick(stream, carrier, ADD_CLASS, log_sum, program, ranges, gates, table)


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
def sweep(stream, is_told, position, data, program, ranges, table, saved):  # type: ignore[no-untyped-def]
    """Redraw every event once, and offer two exchanges; with `is_told` only probabilities are redrawn."""
    system, _ = program
    n, gates = position.size, 2 * data[1].shape[1]
    for event in range(n):
        kind = class_of(system[PART, event])
        log_sum = tabulate(event, kind, _NONE, data, program, ranges, table)
        if is_told:
            pick_told(stream, event, kind, program, ranges, table)
        else:
            pick(stream, event, kind, log_sum, program, ranges, gates, table)
    if is_told:
        return
    for offer in range(2):
        event, other = -1, -1
        for e in range(n):
            kind = class_of(system[PART, e])
            if kind == (FLAG_CLASS if offer == 0 else EFFECT_CLASS):
                event = e
        skip = next_below(stream, n - 3)
        for e in range(n):
            if class_of(system[PART, e]) == FREE_CLASS:
                if skip == 0:
                    other = e
                skip -= 1
        exchange(stream, event, other, position, data, program, ranges, table, saved)


@kernel
def pick_told(stream, event, kind, program, ranges, table):  # type: ignore[no-untyped-def]
    """Draw an event's probability alone."""
    system, probability = program
    lowest, steps = ranges
    part = system[PART, event]
    action = 1 if part == GATED_VETO or part == EFFECT_VETO else 0
    gate = max(0, system[GATE, event])
    size = lowest[part, 1] - lowest[part, 0] + 1
    top = -1e308
    for k in range(size):
        top = max(top, table[action, gate, k])
    total = 0.0
    for k in range(size):
        total += math.exp(table[action, gate, k] - top)
    left = next_uniform(stream) * total
    for k in range(size):
        left -= math.exp(table[action, gate, k] - top)
        probability[event] = (lowest[part, 0] + k) / steps
        if left <= 0.0:
            return


@kernel
def total_log_likelihood(data, program):  # type: ignore[no-untyped-def]
    """The log likelihood of all cases."""
    cases, bits, present, trials = data[0], data[1], data[2], data[3]
    total = 0.0
    for c in range(cases.shape[0]):
        rate = case_rate(c, cases, bits, program[0], program[1], _NONE, _NONE)
        total += log_likelihood(present[c], trials[c], rate)
    return total


@kernel
def query_weight(query, query_bits, program, prior):  # type: ignore[no-untyped-def]
    """How readily the generator asks this query of this program, and the query's exact probability.

    Args:
        query: (1, n) event codes; query_bits: (1, M).
        prior: margin, share of pivotal instances over their rate of acceptance, share of the others over theirs.

    Returns:
        weight, probability.
    """
    system, probability = program
    margin = prior[0]
    exact = case_rate(0, query, query_bits, system, probability, _NONE, _NONE)
    if abs(exact - 0.5) < margin or exact == 0.5:
        return 0.0, exact
    gated = pivotal = 0
    for event in range(probability.size):
        gate = system[GATE, event]
        if gate >= 0:
            gated += 1
            query_bits[0, gate >> 1] ^= 1
            twin = case_rate(0, query, query_bits, system, probability, _NONE, _NONE)
            query_bits[0, gate >> 1] ^= 1
            pivotal += abs(twin - 0.5) >= margin and (twin > 0.5) != (exact > 0.5)
    return prior[1] * pivotal / gated + prior[2], exact


@kernel
def sample(
    stream, is_told, sweeps, burn_in, chains, carrier, position, data, alone, query, program, ranges, prior, work
):  # type: ignore[no-untyped-def]
    """Run chains and collect the query's exact probability under the posterior.

    Args:
        sweeps: kept sweeps of a chain; burn_in: sweeps before.
        alone: members and counts of the cases that have no events but the carrier and one other.
        work: table, saved system and probability, weights, and out (chains, 5), written: mean log likelihood, and the
            sums of weights, of weights where PRESENT is favoured, of weighted probabilities, and of squared weights.
    """
    table, saved, weights, out = work
    events, bits = query
    for chain in range(chains):
        if not is_told:
            begin(stream, carrier, position, data, alone[0], alone[1], program, ranges, table, weights)
        out[chain] = 0.0
        for s in range(burn_in + sweeps):
            sweep(stream, is_told, position, data, program, ranges, table, saved)
            if s >= burn_in:
                weight, exact = query_weight(events, bits, program, prior)
                out[chain, 0] += total_log_likelihood(data, program) / sweeps
                out[chain, 1] += weight
                out[chain, 2] += weight if exact > 0.5 else 0.0
                out[chain, 3] += weight * exact
                out[chain, 4] += weight * weight
