"""The stochastic evolution of a world: the tables of `transitions` executed step by step.

Letters: N symbols, numbered by type (entities, sets, regions, counters); S sets; F flags; W and V words of 64 bits that
hold one bit for each symbol, or each set. What a world draws is a pure function of its key, its index, the attempt
and the step.

The kernels allocate nothing: see `veilgym.envs.core.elementary.kernel`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.elementary import kernel
from veilgym.envs.core.philox import LOW_WORD, WORD_BITS, philox_lanes, unit_uniform
from veilgym.envs.dynamic_world.grammar import EVENT_FORMS, FLAGS, RELATIONS
from veilgym.envs.dynamic_world.task import Task
from veilgym.envs.dynamic_world.transitions import MAX_VARIABLES, Check, Draw, Transitions

EVENT_COLUMNS = 7
"""Of an event's row: time, form, then the arguments of the form; what a form lacks is 0."""

# Arguments of kernels are NumPy's integers: numba compiles a function anew for each Python integer that it is given.
SETUP, STEPS, QUERY = np.int64(0), np.int64(1), np.int64(2)
"""Streams of words that a world draws from."""
_STREAMS = np.uint64(4)

_CHUNK = 64  # steps whose words are drawn at a time, two blocks of four words for each
_LANES = 2 * _CHUNK

_LOWEST_NUMBER, _NUM_NUMBERS = np.int64(10), np.int64(81)

_MOVE, _ABOVE, _MEMBER, _SUBSET, _DISJOINT, _CONNECTED, _UPDATE_NUMBER, _SET_STATE = range(len(EVENT_FORMS))
ABOVE, MEMBER, SUBSET, DISJOINT, CONNECTED = np.arange(len(RELATIONS))
_NUM_FLAGS = len(FLAGS)

# The codes of the tables as plain integers, in the order of their enumerations.
_ANY, _NEXT_LEVEL, _NEAR_LEVEL, _LOW_LEVEL, _LOCATED_IN, _CHOICE, _RANGE, _VALUE, _STATE, _NOT = map(
    int, list(Draw)[:-1]
)
_NOT_EQUAL, _ABSENT, _COUNT_OUT, _COUNT_IN, _AT_LEAST, _AT_MOST = map(int, list(Check)[:6])
_MEMBER_IS_CONSISTENT, _SUBSET_IS_CONSISTENT, _DISJOINT_IS_CONSISTENT = map(int, list(Check)[6:])
_SUBTRACT = 1

LEVEL, ORDER, LOCATION, VALUE, FLAG = range(5)
"""Rows of a world's symbols; the flags fill `FLAG` and those after it."""

_ZERO, _ONE, _WORD, _WORD_SHIFT = np.uint64(0), np.uint64(1), np.uint64(63), np.uint64(6)

State = tuple[NDArray[Any], ...]
Laws = tuple[NDArray[Any], ...]


def pack(task: Task, transitions: Transitions) -> Laws:
    """What the kernels need to know of a task: the sizes, then the tables of `Transitions`.

    The sizes are (3, 4) int64: how many symbols of each type there are; where they begin; the levels of the entities,
    the levels of the sets, the steps, and 0.
    """
    allocation = task.allocation
    counts = [allocation.entities, allocation.sets, allocation.regions, allocation.counters]
    offsets = [0, *np.cumsum(counts[:-1]).tolist()]
    sizes = np.array([counts, offsets, [*task.levels, task.simulation_steps, 0]])
    return sizes, transitions.chances, transitions.draws, transitions.checks, transitions.effects


def working_space(task: Task) -> State:
    """Room for one world.

    Returns:
        symbols: (4 + F, N) int32: level, the symbols sorted by level, location, value, flags.
        degrees: (2, 5, N) int32: how many direct facts of a relation have the symbol on the left, or right.
        facts: (5, N, W) uint64: the direct facts; both ways round where the relation is symmetric.
        known: (2, N, V) uint64: the sets that an entity or a set is known to be in, and those it is known not to be
            in. A set counts as in itself; so nothing may be a subset of two disjoint sets, even while nothing is in it.
        words: (5, L) uint64, for random numbers.
        bound: (6,) int64, the slots of a rule's variables.
    """
    allocation, count = task.allocation, task.allocation.total
    return (
        np.zeros((FLAG + _NUM_FLAGS, count), np.int32),
        np.zeros((2, len(RELATIONS), count), np.int32),
        np.zeros((len(RELATIONS), count, -(-count // 64)), np.uint64),
        np.zeros((2, count, -(-allocation.sets // 64)), np.uint64),
        np.zeros((5, _LANES), np.uint64),
        np.zeros(MAX_VARIABLES, np.int64),
    )


@kernel
def draw_words(words, lanes, key, index, attempt, stream, block):  # type: ignore[no-untyped-def]
    """Fill the lanes with consecutive blocks of a stream, four words in each lane, beginning with `block`."""
    for lane in range(lanes):
        words[0, lane] = index
        words[1, lane] = index >> WORD_BITS
        words[2, lane] = np.uint64(block + lane)
        words[3, lane] = np.uint64(attempt) * _STREAMS + np.uint64(stream)
        words[4, lane] = key
    philox_lanes(words, lanes)


@kernel
def below(word, bound):  # type: ignore[no-untyped-def]
    """Map a word to a number in [0, bound)."""
    return np.int64(((word & LOW_WORD) * np.uint64(bound)) >> WORD_BITS)


@kernel
def _has(bits, number):  # type: ignore[no-untyped-def]
    return (bits[np.uint64(number) >> _WORD_SHIFT] >> (np.uint64(number) & _WORD)) & _ONE == _ONE


@kernel
def _put(bits, number):  # type: ignore[no-untyped-def]
    bits[np.uint64(number) >> _WORD_SHIFT] |= _ONE << (np.uint64(number) & _WORD)


@kernel
def _join(left, right):  # type: ignore[no-untyped-def]
    for word in range(left.size):
        left[word] |= right[word]


@kernel
def _meet(left, right):  # type: ignore[no-untyped-def]
    common = _ZERO
    for word in range(left.size):
        common |= left[word] & right[word]
    return common != _ZERO


@kernel
def set_up(sizes, state, key, index, attempt, initial):  # type: ignore[no-untyped-def]
    """Draw the initial state, and copy what of it can change to `initial`, (2 + F, N) int32: location, value, flags."""
    symbols, words, counts, offsets = state[0], state[4], sizes[0], sizes[1]
    symbols[:] = 0
    _forget(sizes, state)
    num_shuffled, num_located, num_valued = counts[0] + counts[1], counts[0], counts[3]
    for i in range(num_shuffled):
        symbols[ORDER, i] = i
    num_words = num_shuffled + num_located + num_valued + _NUM_FLAGS * counts[0]
    for position in range(num_words):
        lane = (position // 4) % _LANES
        if position % (4 * _LANES) == 0:
            draw_words(words, min(_LANES, (num_words - position + 3) // 4), key, index, attempt, SETUP, position // 4)
        word, i = words[position % 4, lane], position
        if i < num_shuffled:
            first = 0 if i < counts[0] else counts[0]
            other = first + below(word, i - first + 1)
            order = symbols[ORDER]
            order[i], order[other] = order[other], order[i]
        elif i < num_shuffled + num_located:
            symbols[LOCATION, i - num_shuffled] = offsets[2] + below(word, counts[2])
        elif i < num_shuffled + num_located + num_valued:
            counter = offsets[3] + i - num_shuffled - num_located
            symbols[VALUE, counter] = _LOWEST_NUMBER + below(word, _NUM_NUMBERS)
        else:
            flag, entity = divmod(i - num_shuffled - num_located - num_valued, counts[0])
            symbols[FLAG + flag, entity] = below(word, 2)
    for kind in range(2):
        for rank in range(counts[kind]):
            symbols[LEVEL, symbols[ORDER, offsets[kind] + rank]] = rank * sizes[2, kind] // counts[kind]
    for row in range(initial.shape[0]):
        for symbol in range(initial.shape[1]):
            initial[row, symbol] = symbols[LOCATION + row, symbol]


@kernel
def _forget(sizes, state):  # type: ignore[no-untyped-def]
    """Remove all facts; what remains known is that a set is in itself."""
    degrees, facts, known = state[1], state[2], state[3]
    degrees[:], facts[:], known[:] = 0, np.uint64(0), np.uint64(0)
    for member in range(sizes[0, 1]):
        _put(known[0, sizes[1, 1] + member], member)


@kernel
def replay(sizes, state, initial, events, count):  # type: ignore[no-untyped-def]
    """Bring the state from the initial one, as `set_up` wrote it, to the end of the events. The levels stay."""
    symbols = state[0]
    _forget(sizes, state)
    for row in range(initial.shape[0]):
        for symbol in range(initial.shape[1]):
            symbols[LOCATION + row, symbol] = initial[row, symbol]
    for row in range(count):
        _take_effect(sizes, state, events[row])


@kernel
def run(laws, state, key, index, attempt, events):  # type: ignore[no-untyped-def]
    """Let the steps of a world pass, write its events, (steps, 7) int32, and return how many there are."""
    sizes, chances, draws, checks, effects = laws
    words, bound, steps, count = state[4], state[5], sizes[2, 2], 0
    for step in range(steps):
        lane = 2 * (step % _CHUNK)
        if lane == 0:
            draw_words(words, min(_LANES, 2 * (steps - step)), key, index, attempt, STEPS, 2 * step)
        rule, share = 0, unit_uniform(words[0, lane])
        while rule < chances.shape[1] - 1 and share >= chances[0, rule]:
            rule += 1
        if unit_uniform(words[1, lane]) >= chances[1, rule]:
            continue
        if _bind(sizes, state, draws[rule], lane) and _is_possible(sizes, state, checks[rule]):
            event = events[count]
            event[0], event[1] = step + 1, effects[rule, 0]
            for argument in range(EVENT_COLUMNS - 2):
                slot = effects[rule, 1 + argument]
                event[2 + argument] = bound[slot] if slot >= 0 else 0
            _take_effect(sizes, state, event)
            count += 1
    return count


@kernel
def _bind(sizes, state, draws, lane):  # type: ignore[no-untyped-def]
    """Draw the variables of a rule into the slots; return whether each of them has a value to take."""
    symbols, words, bound = state[0], state[4], state[5]
    for slot in range(MAX_VARIABLES):
        draw, a, b = draws[slot, 0], draws[slot, 1], draws[slot, 2]
        if draw < 0:
            break
        word = words[(2 + slot) % 4, lane + (2 + slot) // 4]
        if draw <= _LOW_LEVEL:
            first, end = _range_of(sizes, symbols, draw, a, b, bound)
            if first >= end:
                return False
            rank = first + below(word, end - first)
            bound[slot] = rank if draw == _ANY else symbols[ORDER, rank]
        elif draw == _LOCATED_IN:
            bound[slot] = symbols[LOCATION, bound[a]]
        elif draw == _CHOICE:
            bound[slot] = below(word, a)
        elif draw == _RANGE:
            bound[slot] = a + below(word, b - a + 1)
        elif draw == _VALUE:
            bound[slot] = symbols[VALUE, bound[a]]
        elif draw == _STATE:
            bound[slot] = symbols[FLAG + bound[b], bound[a]]
        elif draw == _NOT:
            bound[slot] = 1 - bound[a]
        else:
            amount = bound[draws[slot, 3]]
            bound[slot] = bound[b] - amount if bound[a] == _SUBTRACT else bound[b] + amount
    return True


@kernel
def _range_of(sizes, symbols, draw, kind, operand, bound):  # type: ignore[no-untyped-def]
    """The ranks, [first, end), of the symbols from which to draw: all of a type, or those of some levels."""
    count, offset = sizes[0, kind], sizes[1, kind]
    if draw == _ANY:
        return offset, offset + count
    levels = sizes[2, kind]
    low, high = 0, operand
    if draw == _NEXT_LEVEL:
        low = symbols[LEVEL, bound[operand]] + 1
        high = low + 1
    elif draw == _NEAR_LEVEL:
        low = max(0, symbols[LEVEL, bound[operand]] - 1)
        high = symbols[LEVEL, bound[operand]] + 2
    # The rank r of `count` is on level r * levels // count.
    first = -(-min(low, levels) * count // levels)
    end = -(-min(high, levels) * count // levels)
    return offset + first, offset + end


@kernel
def _is_possible(sizes, state, checks):  # type: ignore[no-untyped-def]
    """Whether the slots meet all preconditions of a rule."""
    degrees, facts, bound = state[1], state[2], state[5]
    for row in range(checks.shape[0]):
        check, a, b, c = checks[row, 0], checks[row, 1], checks[row, 2], checks[row, 3]
        if check < 0:
            break
        if check == _NOT_EQUAL:
            holds = bound[a] != bound[b]
        elif check == _ABSENT:
            holds = not _has(facts[a, bound[b]], bound[c])
        elif check in (_COUNT_OUT, _COUNT_IN):
            holds = degrees[check - _COUNT_OUT, a, bound[b]] < c
        elif check == _AT_LEAST:
            holds = bound[a] >= b
        elif check == _AT_MOST:
            holds = bound[a] <= b
        else:
            holds = _is_consistent(sizes, state[3], check, bound[a], bound[b])
        if not holds:
            return False
    return True


@kernel
def _is_consistent(sizes, known, check, left, right):  # type: ignore[no-untyped-def]
    """Whether a membership, subset or disjointness contradicts nothing that is known of any entity or set."""
    inside, outside = known[0], known[1]
    if check == _MEMBER_IS_CONSISTENT:
        return not _meet(outside[left], inside[right])
    first, last = left - sizes[1, 1], right - sizes[1, 1]
    for symbol in range(sizes[0, 0] + sizes[0, 1]):
        if _has(inside[symbol], first):
            if check == _SUBSET_IS_CONSISTENT:
                if _meet(outside[symbol], inside[right]):
                    return False
            elif _has(inside[symbol], last):
                return False
    return True


@kernel
def _take_effect(sizes, state, event):  # type: ignore[no-untyped-def]
    """Change the state as an event says."""
    symbols, degrees, facts, known, _, _ = state
    form, a, b, c = event[1], event[2], event[3], event[4]
    if form == _MOVE:
        symbols[LOCATION, a] = c
    elif form == _UPDATE_NUMBER:
        symbols[VALUE, a] = event[6]
    elif form == _SET_STATE:
        symbols[FLAG + b, a] = event[5]
    else:
        relation = form - _ABOVE
        _put(facts[relation, a], b)
        degrees[0, relation, a] += 1
        degrees[1, relation, b] += 1
        if relation in (DISJOINT, CONNECTED):
            _put(facts[relation, b], a)
            degrees[0, relation, b] += 1
            degrees[1, relation, a] += 1
        if relation == MEMBER:
            _join(known[0, a], known[0, b])
            _join(known[1, a], known[1, b])
        elif relation in (SUBSET, DISJOINT):
            _learn(sizes, known, relation, a, b)


@kernel
def _learn(sizes, known, relation, left, right):  # type: ignore[no-untyped-def]
    """Add what a subset or a disjointness says about all that is known to be in the sets."""
    inside, outside = known[0], known[1]
    first, last = left - sizes[1, 1], right - sizes[1, 1]
    for symbol in range(sizes[0, 0] + sizes[0, 1]):
        if relation == SUBSET:
            if _has(inside[symbol], first):
                _join(inside[symbol], inside[right])
                _join(outside[symbol], outside[right])
        elif _has(inside[symbol], first):
            _put(outside[symbol], last)
        elif _has(inside[symbol], last):
            _put(outside[symbol], first)
