"""Drawing hidden systems, their support cases and their queries.

Letters as in `veilgym.envs.hidden_system.layout`; n = Q = R is the task's complexity. Positions are places in the
query.

An instance has an event that adds (the carrier), one that sets a flag, a later one that adds or vetoes if the flag is
set, one that vetoes if an attribute has the right level, and n - 4 that add or veto likewise. Support cases are each
event alone, each ordered pair, the carrier with each other event at three pairs of opposite combinations of levels,
and the carrier with each pair of others, in the query's order, at one pair of opposite combinations. Which event is
which differs from instance to instance.

Two symmetries keep the answer out of reach of shallow statistics:

* Every instance is drawn with a twin that has the other answer, and the favoured side, drawn before, says which of the
  two is asked. The twins differ in the level of one attribute of the query, or in the probability of one rule that acts
  in it; so nothing else tells the answer.
* Every support case agrees with the query in half of its attributes, so none is more similar to it than another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.elementary import kernel
from veilgym.envs.core.philox import STREAM_WORDS, next_below, next_uniform, next_word, open_stream
from veilgym.envs.hidden_system.execution import (
    ACTION,
    ADD_RECORD,
    EVENT,
    FIRST_FLAG_BIT,
    HIGHEST,
    INVALIDATE_RECORD,
    LOWEST,
    MASK,
    PRESENT_BIT,
    SET_FLAG,
    TARGET,
    WANTED,
    activate,
    mass_where,
    propagate,
    start,
)
from veilgym.envs.hidden_system.layout import HiddenArrays, Layout, PublicArrays
from veilgym.envs.hidden_system.task import Probabilities, Task

WIDTH = 3  # events of the longest support case
LOW_LEVELS, HIGH_LEVELS = (1, 4), (6, 9)
FLAG = "flag"
CONTROLS = 3  # pairs of opposite combinations; with four attributes these are all that agree with the query in half
DRAWN = -1  # a side that is to be drawn

# What an event does, and the names of the ranges of its probability in that order.
_ADD, _FLAG, _EFFECT, _GATED_ADD, _GATED_VETO = range(5)
_PARTS = Probabilities.__struct_fields__

_STATES = FIRST_FLAG_BIT << 1
_MOST_TRIES = 20_000
_HAIR = 1e-9
# Arguments of kernels are NumPy's integers: numba compiles a function anew for each Python integer that it is given.
_NO_EVENT, _NO_CONTROL, _FIRST, _PRESENT_SIDE = np.int64(-1), np.int64(0), np.int64(0), np.int64(1)
# Rows of the working space for integers.
_ORDER, _POSITION, _PART, _ATTRIBUTE, _QUERY, _CASE, _AGREEING, _ROWS = range(8)


def generated_layout(task: Task) -> Layout:
    """The layout of the instances of a task."""
    n = task.complexity
    return Layout(
        events=tuple(f"E{i + 1}" for i in range(n)),
        attributes=tuple(f"X{m + 1}" for m in range(task.attributes)),
        cases=n + n * (n - 1) + 2 * CONTROLS * (n - 1) + (n - 1) * (n - 2),
        width=WIDTH,
        query_width=n,
        levels=2,
        bounds=(LOW_LEVELS[0], HIGH_LEVELS[1]),
        most_trials=task.trials_per_case,
    )


class Generator:
    """Draws instances of a task into arrays.

    Attributes:
        task: The parameters.
        layout: The shape of the arrays.
    """

    def __init__(self, task: Task, shuffle_options: bool = False) -> None:
        self.task, self.layout = task, generated_layout(task)
        n, m = task.complexity, task.attributes
        trials = task.trials_per_case
        self._numbers = np.array([n, m, trials, task.probability_steps, shuffle_options], np.int64)
        self._ranges = np.array([task.steps_of(name) for name in _PARTS], np.int64)
        k = np.arange(trials + 1)
        self._chances = np.concatenate([[task.margin, task.pivotal_share], (trials - k) / (k + 1.0)])
        self._scratch = (
            np.zeros(STREAM_WORDS, np.uint64),
            np.zeros((_ROWS, max(n, m)), np.int64),
            np.zeros(m, np.int64),
            np.zeros(n, np.bool_),
            np.zeros(_STATES),
        )

    def hidden(self, batch: int) -> HiddenArrays:
        """Arrays for the hidden half of `batch` instances."""
        return HiddenArrays.zeros(batch, self.task.complexity, self.task.attributes)

    def draw(
        self,
        keys: NDArray[np.uint64],
        indices: NDArray[np.uint64],
        which: NDArray[np.bool_],
        public: PublicArrays,
        hidden: HiddenArrays,
        sides: NDArray[np.int64],
    ) -> None:
        """Draw the instances (keys[i], indices[i]) where `which`; each is a pure function of these two and the task.

        Args:
            keys, indices: (B,) uint64.
            which: (B,) bool.
            public, hidden: Written.
            sides: (B,) int64: 1 to favour PRESENT, 0 to favour ABSENT, `DRAWN` to draw the side.

        Raises:
            ValueError: the parameters of the task hardly ever give a query that may be asked.
        """
        arrays = (*public.values(), hidden.rules, hidden.probability, hidden.bounds, hidden.present)
        parameters = (self._numbers, self._ranges, self._chances)
        if not _draw_batch(keys, indices, which, sides, arrays, parameters, self._scratch):
            raise ValueError(
                f"task fields margin, pivotal_share and probabilities: got {self.task.margin}, "
                f"{self.task.pivotal_share} and {self.task.probabilities} at length {self.task.complexity}, "
                f"allowed are values for which a query on either side of 1/2 turns up within {_MOST_TRIES:,} draws"
            )

    def acceptance(self, draws: int = 20_000) -> tuple[float, float]:
        """The rates at which draws have a twin: one that differs in a level, one that differs in a probability.

        By simulation; an observer needs them to weigh the two kinds of instances.
        """
        hidden, levels = self.hidden(1), np.zeros(2 * self.task.attributes, np.int16)
        open_stream(self._scratch[0], np.uint64(0), np.uint64(0))
        system = (levels, hidden.rules[0], hidden.probability[0], hidden.bounds[0])
        parameters = (self._numbers, self._ranges, self._chances)
        counts = [_count_twins(is_pivotal, draws, system, parameters, self._scratch) for is_pivotal in (True, False)]
        return counts[0] / draws, counts[1] / draws


@kernel
def _count_twins(is_pivotal, draws, system, parameters, scratch):  # type: ignore[no-untyped-def]
    count = 0
    for _ in range(draws):
        _draw_levels(scratch[0], system[0], parameters[0][1])
        exact = _draw_query(system, parameters, scratch)
        if is_pivotal:
            exact = _turn_level(exact, _PRESENT_SIDE, system, parameters, scratch)
        else:
            exact = _turn_probability(_PRESENT_SIDE, system, parameters, scratch)
        count += exact >= 0.0
    return count


@kernel
def _draw_batch(keys, indices, which, sides, arrays, parameters, scratch):  # type: ignore[no-untyped-def]
    for i in range(which.size):
        if which[i]:
            open_stream(scratch[0], keys[i], indices[i])
            if not _draw(i, sides[i], arrays, parameters, scratch):
                return False
    return True


@kernel
def _draw(i, side, arrays, parameters, scratch):  # type: ignore[no-untyped-def]
    """Draw instance `i`; return whether a query was found."""
    events, attributes, trials, present, query_events, query_attributes, levels, options = arrays[:8]
    rules, probability, bounds, exact = arrays[8:]
    stream, work = scratch[0], scratch[1]
    n, m, shuffle_options = parameters[0][0], parameters[0][1], parameters[0][4]
    drawn = np.int64(next_word(stream) >> np.uint64(31))
    favoured = drawn if side < 0 else side
    order = np.int64(next_word(stream) >> np.uint64(31))
    options[i, 0] = order if shuffle_options else 0
    _draw_levels(stream, levels[i], m)
    exact[i] = _draw_system(favoured, levels[i], rules[i], probability[i], bounds[i], parameters, scratch)
    if exact[i] < 0.0:
        return False
    for position in range(n):
        query_events[i, position] = work[_ORDER, position] + 1
    for k in range(m):
        query_attributes[i, k] = levels[i, 2 * k + work[_QUERY, k]]
    trials[i] = parameters[0][2]
    table = (events[i], attributes[i], present[i])
    _run_cases(table, (levels[i], rules[i], probability[i], bounds[i]), parameters, scratch)
    return True


@kernel
def _draw_levels(stream, levels, m):  # type: ignore[no-untyped-def]
    for k in range(m):
        levels[2 * k] = LOW_LEVELS[0] + next_below(stream, LOW_LEVELS[1] - LOW_LEVELS[0] + 1)
        levels[2 * k + 1] = HIGH_LEVELS[0] + next_below(stream, HIGH_LEVELS[1] - HIGH_LEVELS[0] + 1)


@kernel
def _draw_system(favoured, levels, rules, probability, bounds, parameters, scratch):  # type: ignore[no-untyped-def]
    """Draw a system and a query that favours the wanted side; return its exact probability, -1 if none was found."""
    is_pivotal = next_uniform(scratch[0]) < parameters[2][1]
    system = (levels, rules, probability, bounds)
    for _ in range(_MOST_TRIES):
        exact = _draw_query(system, parameters, scratch)
        if is_pivotal:
            exact = _turn_level(exact, favoured, system, parameters, scratch)
        else:
            exact = _turn_probability(favoured, system, parameters, scratch)
        if exact >= 0.0:
            return exact
    return -1.0


@kernel
def _turn_level(exact, favoured, system, parameters, scratch):  # type: ignore[no-untyped-def]
    """Turn the query into the one of itself and a twin that favours the wanted side, if they differ in their answers.

    The twin has the other level of the attribute of one gate.

    Returns:
        The exact probability, -1 if the twin has the same answer or either is unclear.
    """
    work, margin = scratch[1], parameters[2][0]
    if not is_clear(exact, margin):
        return -1.0
    gate = work[_ATTRIBUTE, _draw_position(True, parameters, scratch)]
    work[_QUERY, gate] ^= 1
    twin = _query_probability(system, parameters, scratch)
    if not is_clear(twin, margin) or (twin > 0.5) == (exact > 0.5):
        return -1.0
    if (twin > 0.5) == (favoured == 1):
        return twin
    work[_QUERY, gate] ^= 1
    return exact


@kernel
def _turn_probability(favoured, system, parameters, scratch):  # type: ignore[no-untyped-def]
    """Redraw the probability of a rule that acts in the query so that the wanted side is favoured.

    Accepted are only rules of which some probabilities give the one answer and some the other. The exact probability is
    linear in each rule's probability.

    Returns:
        The exact probability, -1 if the rule is none of these.
    """
    stream, work, probability = scratch[0], scratch[1], system[2]
    numbers, ranges, chances = parameters
    position = _draw_position(False, parameters, scratch)
    lowest, highest = ranges[work[_PART, position], 0], ranges[work[_PART, position], 1]
    probability[position] = lowest / numbers[3]
    low = _query_probability(system, parameters, scratch)
    probability[position] = highest / numbers[3]
    high = _query_probability(system, parameters, scratch)
    rises = high > low
    if not _favours(np.int64(1 - rises), low, chances[0]) or not _favours(np.int64(rises), high, chances[0]):
        return -1.0
    slope = (high - low) / (highest - lowest)
    count = 0
    for step in range(lowest, highest + 1):
        count += _favours(favoured, low + slope * (step - lowest), chances[0])
    left = next_below(stream, count)
    for step in range(lowest, highest + 1):
        if _favours(favoured, low + slope * (step - lowest), chances[0]):
            if left == 0:
                probability[position] = step / numbers[3]
            left -= 1
    return _query_probability(system, parameters, scratch)


@kernel
def _favours(side, exact, margin):  # type: ignore[no-untyped-def]
    """Whether a probability is clearly on a side."""
    return is_clear(exact, margin) and (exact > 0.5) == (side == 1)


@kernel
def _draw_position(is_gated, parameters, scratch):  # type: ignore[no-untyped-def]
    """Draw a gated position, or one whose rule acts in the query, the carrier's aside; there always is one."""
    work, active = scratch[1], scratch[3]
    count = 0
    for position in range(parameters[0][0]):
        count += _is_eligible(is_gated, position, work, active)
    left = next_below(scratch[0], count)
    for position in range(parameters[0][0]):
        if _is_eligible(is_gated, position, work, active):
            if left == 0:
                return position
            left -= 1
    return -1


@kernel
def _is_eligible(is_gated, position, work, active):  # type: ignore[no-untyped-def]
    if is_gated:
        return work[_ATTRIBUTE, position] >= 0
    return work[_PART, position] != _ADD and active[position]


@kernel
def _draw_query(system, parameters, scratch):  # type: ignore[no-untyped-def]
    """Draw a system and the query's levels; return the exact probability."""
    stream, work = scratch[0], scratch[1]
    numbers, ranges, _ = parameters
    _draw_structure(system, parameters, scratch)
    for position in range(numbers[0]):
        part = work[_PART, position]
        steps = ranges[part, 0] + next_below(stream, ranges[part, 1] - ranges[part, 0] + 1)
        system[2][position] = steps / numbers[3]
    for k in range(numbers[1]):
        work[_QUERY, k] = np.int64(next_word(stream) >> np.uint64(31))
    return _query_probability(system, parameters, scratch)


@kernel
def is_clear(exact, margin):  # type: ignore[no-untyped-def]
    """Whether a probability is far enough from one half; a hair nearer is, for another order of rounding."""
    return abs(exact - 0.5) >= max(margin - _HAIR, _HAIR)


@kernel
def _draw_structure(system, parameters, scratch):  # type: ignore[no-untyped-def]
    """Draw the query's order, what each event does, and the gates; probabilities come later."""
    stream, work = scratch[0], scratch[1]
    levels, rules, _, bounds = system
    n, m = parameters[0][0], parameters[0][1]
    _shuffle(stream, work[_ORDER], n)
    _shuffle(stream, work[_CASE], n)
    chosen, part = work[_CASE], work[_PART]
    for j in range(4, n):
        part[chosen[j]] = _GATED_ADD + np.int64(next_word(stream) >> np.uint64(31))
    part[chosen[0]], part[chosen[3]] = _ADD, _GATED_VETO
    part[min(chosen[1], chosen[2])], part[max(chosen[1], chosen[2])] = _FLAG, _EFFECT
    for position in range(n):
        code = work[_ORDER, position]
        work[_POSITION, code] = position
        row = rules[position]
        row[EVENT], row[ACTION], row[TARGET], row[MASK], row[WANTED] = code, ADD_RECORD, PRESENT_BIT, 0, 0
        bounds[position, :, 0], bounds[position, :, 1] = LOWEST, HIGHEST
        work[_ATTRIBUTE, position] = -1
        if part[position] == _FLAG:
            row[ACTION], row[TARGET] = SET_FLAG, FIRST_FLAG_BIT
        elif part[position] == _EFFECT:
            row[MASK] = row[WANTED] = FIRST_FLAG_BIT
            if next_word(stream) >> np.uint64(31):
                row[ACTION] = INVALIDATE_RECORD
        elif part[position] != _ADD:
            if part[position] == _GATED_VETO:
                row[ACTION] = INVALIDATE_RECORD
            gate = next_below(stream, m)
            work[_ATTRIBUTE, position] = gate
            _draw_gate(stream, levels[2 * gate], levels[2 * gate + 1], bounds[position, gate])


@kernel
def _shuffle(stream, row, n):  # type: ignore[no-untyped-def]
    """Fill `row` with a random permutation of 0 to n - 1 (Fisher and Yates)."""
    for j in range(n):
        other = next_below(stream, j + 1)
        row[j] = row[other]
        row[other] = j


@kernel
def _draw_gate(stream, low, high, bounds):  # type: ignore[no-untyped-def]
    """Open the gate at one of two levels, by EQ or by LE or GT with a threshold between the levels."""
    opens_high = next_word(stream) >> np.uint64(31)
    if next_below(stream, 3) == 0:
        bounds[0] = bounds[1] = high if opens_high else low
        return
    threshold = low + next_below(stream, high - low)
    if opens_high:
        bounds[0] = threshold + 1
    else:
        bounds[1] = threshold


@kernel
def _query_probability(system, parameters, scratch):  # type: ignore[no-untyped-def]
    _, work, values, active, mass = scratch
    levels, rules, probability, bounds = system
    for k in range(parameters[0][1]):
        values[k] = levels[2 * k + work[_QUERY, k]]
    activate(bounds, values, active)
    start(mass)
    for position in range(parameters[0][0]):
        propagate(rules, probability, active, work[_ORDER, position], mass)
    return mass_where(mass, PRESENT_BIT)


@kernel
def _run_cases(table, system, parameters, scratch):  # type: ignore[no-untyped-def]
    """Write and run the support cases."""
    work = scratch[1]
    position, part = work[_POSITION], work[_PART]
    n = parameters[0][0]
    carrier = 0
    for code in range(n):
        if part[position[code]] == _ADD:
            carrier = code
    case = _FIRST
    for first in range(n):
        _draw_case(_NO_CONTROL, scratch, parameters)
        case = _run_case(case, first, _NO_EVENT, _NO_EVENT, table, system, parameters, scratch)
    for first in range(n):
        for second in range(n):
            if first != second:
                _draw_case(_NO_CONTROL, scratch, parameters)
                case = _run_case(case, first, second, _NO_EVENT, table, system, parameters, scratch)
    for other in range(n):
        if other != carrier:
            first, second, _ = _ordered(position, carrier, other, _NO_EVENT)
            for control in range(CONTROLS):
                _draw_case(control, scratch, parameters)
                case = _run_case(case, first, second, _NO_EVENT, table, system, parameters, scratch)
                _oppose(work[_CASE], parameters[0][1])
                case = _run_case(case, first, second, _NO_EVENT, table, system, parameters, scratch)
    for one in range(n):
        for other in range(one + 1, n):
            if one != carrier and other != carrier:
                first, second, third = _ordered(position, carrier, one, other)
                _draw_case(_NO_CONTROL, scratch, parameters)
                case = _run_case(case, first, second, third, table, system, parameters, scratch)
                _oppose(work[_CASE], parameters[0][1])
                case = _run_case(case, first, second, third, table, system, parameters, scratch)


@kernel
def _oppose(levels, m):  # type: ignore[no-untyped-def]
    """Give every attribute its other level."""
    for k in range(m):
        levels[k] ^= 1


@kernel
def _ordered(position, a, b, c):  # type: ignore[no-untyped-def]
    """Two or three events (c < 0: two) in the query's order."""
    if position[a] > position[b]:
        a, b = b, a
    if c >= 0:
        if position[b] > position[c]:
            b, c = c, b
        if position[a] > position[b]:
            a, b = b, a
    return a, b, c


@kernel
def _draw_case(control, scratch, parameters):  # type: ignore[no-untyped-def]
    """Draw levels that agree with the query's in half of the attributes (one more or less, if their number is odd).

    Controls 1, 2, ... follow a drawn case of control 0 with other levels, of which none is the opposite of another.
    """
    stream, work = scratch[0], scratch[1]
    m = parameters[0][1]
    half = m // 2
    if control == 0:
        _shuffle(stream, work[_AGREEING], m)
    if m % 2 == 1:
        half += np.int64(next_word(stream) >> np.uint64(31))
    for k in range(m):
        work[_CASE, k] = 1 - work[_QUERY, k]
    for j in range(half):
        # The first attribute always agrees, so two controls cannot be opposites; a window moves over the others.
        k = work[_AGREEING, 0 if j == 0 else 1 + (control + j - 1) % (m - 1)]
        work[_CASE, k] = work[_QUERY, k]


@kernel
def _run_case(case, first, second, third, table, system, parameters, scratch):  # type: ignore[no-untyped-def]
    """Write a case of one to three events and draw its count; return the index of the next case."""
    events, attributes, present = table
    levels, rules, probability, bounds = system
    stream, work, values, active, mass = scratch
    m, trials = parameters[0][1], parameters[0][2]
    for k in range(m):
        values[k] = levels[2 * k + work[_CASE, k]]
        attributes[case * m + k] = values[k]
    activate(bounds, values, active)
    start(mass)
    for place in range(WIDTH):
        event = first if place == 0 else second if place == 1 else third
        events[case * WIDTH + place] = event + 1
        if event >= 0:
            propagate(rules, probability, active, event, mass)
    present[case] = _binomial(stream, trials, mass_where(mass, PRESENT_BIT), parameters[2])
    return case + 1


@kernel
def _binomial(stream, trials, p, chances):  # type: ignore[no-untyped-def]
    """The number of successes in so many independent trials, by inversion of the distribution function.

    Args:
        p: in [0, 1].
        chances: from entry 2 on the ratios (trials - k) / (k + 1).
    """
    uniform = next_uniform(stream)
    rare = min(p, 1.0 - p)
    if rare <= 0.0:
        return trials if p > 0.5 else 0
    odds = rare / (1.0 - rare)
    mass, power, left = 1.0, 1.0 - rare, trials
    while left > 0:  # (1 - rare)**trials by squaring, the same on every machine
        if left & 1:
            mass *= power
        power *= power
        left >>= 1
    count = 0
    total = mass
    while uniform > total and count < trials:
        mass *= chances[2 + count] * odds
        total += mass
        count += 1
    return count if p <= 0.5 else trials - count
