"""Choosing a question about a world that has happened, so that counting does not answer it.

The builder searches the graphs of the realised events; hidden levels play no part. A question comes with a counterpart
that has the other answer, and which of the two is asked is decided by a coin thrown before the world is made:

- spatial order: x is above y by a chain of k events, and not by fewer. Asked is ABOVE(x, y) or ABOVE(y, x).
- membership: MEMBER(x, A) follows from k events and MEMBER(y, B) is refuted by k, and neither by fewer.

Only pairs whose arguments are matched are eligible: equal numbers of direct facts, relation by relation and side by
side, so whatever a solver computes from these numbers, it learns nothing about the answer. The numbers of facts two
steps away are equal too: for a spatial order always, for a membership as far as a world has such pairs. And both the
question and its counterpart need, from three events on, one that happened long before or after any that mentions an
argument: what is near to those in time does not decide. Where many attempts at a world fail, as they do if there are
few symbols, equal numbers of direct facts suffice.

Letters: N symbols, S sets, E events, K the complexity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.elementary import kernel
from veilgym.envs.dynamic_world.grammar import RELATIONS
from veilgym.envs.dynamic_world.simulation import ABOVE, DISJOINT, MEMBER, SUBSET, below
from veilgym.envs.dynamic_world.task import Task

MATCHINGS = ("one step", "one step and most of two", "two steps")
"""How closely the arguments of a question and its counterpart are matched."""
ONE_STEP, TWO_STEPS = 0, 2
"""Indices of `MATCHINGS`."""

SPATIAL_ORDER, MEMBERSHIP = np.int64(0), np.int64(1)
"""Indices of the public families."""

_OUT, _IN = np.int64(0), np.int64(1)
_FORM_OF_ABOVE, _FORM_OF_UPDATE = 1, 6
_BITS, _LARGEST, _KEY_OF_SET, _NO_KEY = np.uint64(9), 511, np.uint64(45), np.uint64(0)
_WINDOW = 10  # events before and after one that mentions an argument: these alone must not decide the question
_MOST_ITEMS = 4096
_NONE = -1

Graphs = tuple[NDArray[Any], ...]


def working_space(task: Task) -> Graphs:
    """Room for the graphs and the searches of one world.

    Returns:
        starts: (2, 5, N + 1) int32: where the edges out of, or into, each symbol begin.
        edges: (2, 5, 2, E) int32: the symbol at the other end, and the row of the event.
        distances: (2, N) int32: how many events prove, or refute, that the source is related to the symbol.
        trail: (4, N) int32: a queue; the symbol before each one, and the event between them; the last set before a
            refuted one.
        keys: (3, N) uint64: the numbers of direct facts, and of facts two steps away, of each symbol.
        items: (2, 5, I) uint64: provable and refutable memberships: entity, set and three keys. Or pairs in order.
        usable: (E,) bool: the events that a search may use.
    """
    count, steps, allocation = task.allocation.total, task.simulation_steps, task.allocation
    num_items = min(allocation.entities * max(allocation.entities, allocation.sets), _MOST_ITEMS)
    return (
        np.zeros((2, len(RELATIONS), count + 1), np.int32),
        np.zeros((2, len(RELATIONS), 2, steps), np.int32),
        np.zeros((2, count), np.int32),
        np.zeros((4, count), np.int32),
        np.zeros((3, count), np.uint64),
        np.zeros((2, 5, num_items), np.uint64),
        np.ones(steps, np.bool_),
    )


@kernel
def read_graphs(events, count, graphs):  # type: ignore[no-untyped-def]
    """Sort the edges of every relation by their left and by their right side, in the order of time."""
    starts, edges = graphs[0], graphs[1]
    starts[:] = 0
    relations = starts.shape[1]
    for row in range(count):
        relation = events[row, 1] - _FORM_OF_ABOVE
        if 0 <= relation < relations:
            starts[_OUT, relation, events[row, 2] + 1] += 1
            starts[_IN, relation, events[row, 3] + 1] += 1
    for side in range(2):
        for relation in range(relations):
            for symbol in range(1, starts.shape[2]):
                starts[side, relation, symbol] += starts[side, relation, symbol - 1]
    # Filled from the back; each start moves down to its place as its edges go in.
    for side in range(2):
        for relation in range(relations):
            for symbol in range(starts.shape[2] - 1, 0, -1):
                starts[side, relation, symbol] = starts[side, relation, symbol - 1]
    for row in range(count):
        relation = events[row, 1] - _FORM_OF_ABOVE
        if 0 <= relation < relations:
            for side in range(2):
                near, far = events[row, 2 + side], events[row, 3 - side]
                place = starts[side, relation, near + 1]
                edges[side, relation, 0, place], edges[side, relation, 1, place] = far, row
                starts[side, relation, near + 1] = place + 1


@kernel
def _degree(starts, side, relation, symbol):  # type: ignore[no-untyped-def]
    return starts[side, relation, symbol + 1] - starts[side, relation, symbol]


@kernel
def _two_steps(graphs, side, relation, symbol, next_side, next_relation):  # type: ignore[no-untyped-def]
    """How many walks of two edges leave a symbol by the given sides of the given relations."""
    starts, edges = graphs[0], graphs[1]
    total = 0
    for place in range(starts[side, relation, symbol], starts[side, relation, symbol + 1]):
        total += _degree(starts, next_side, next_relation, np.int64(edges[side, relation, 0, place]))
    return total


@kernel
def _append(key, number):  # type: ignore[no-untyped-def]
    return (key << _BITS) | np.uint64(min(number, _LARGEST))


@kernel
def _count_steps(graphs, family, num_entities, end):  # type: ignore[no-untyped-def]
    """Write the numbers to match: those of the entities, [0, num_entities), and of the sets after them, up to `end`."""
    starts, keys = graphs[0], graphs[4]
    for symbol in range(end if family == MEMBERSHIP else num_entities):
        one = two = rest = np.uint64(0)
        if family == SPATIAL_ORDER:
            for side in range(2):
                one = _append(one, _degree(starts, side, ABOVE, symbol))
                two = _append(two, _two_steps(graphs, side, ABOVE, symbol, side, ABOVE))
        elif symbol < num_entities:
            one = _append(one, _degree(starts, _OUT, MEMBER, symbol))
            two = _append(two, _two_steps(graphs, _OUT, MEMBER, symbol, _IN, SUBSET))
            rest = _append(rest, _two_steps(graphs, _OUT, MEMBER, symbol, _OUT, SUBSET))
        else:
            one = _append(one, _degree(starts, _IN, MEMBER, symbol))
            two = _append(two, _two_steps(graphs, _IN, SUBSET, symbol, _IN, SUBSET))
            two = _append(two, _two_steps(graphs, _IN, SUBSET, symbol, _IN, MEMBER))
            rest = _append(rest, _two_steps(graphs, _OUT, SUBSET, symbol, _OUT, SUBSET))
            for side in range(2):
                one = _append(one, _degree(starts, side, SUBSET, symbol))
                one = _append(one, _degree(starts, side, DISJOINT, symbol))
                neighbours = _two_steps(graphs, _OUT, DISJOINT, symbol, side, SUBSET)
                neighbours += _two_steps(graphs, _IN, DISJOINT, symbol, side, SUBSET)
                two = _append(two, neighbours)
        keys[0, symbol], keys[1, symbol], keys[2, symbol] = one, two, rest


@kernel
def _search(graphs, first_relation, relation, source, depth):  # type: ignore[no-untyped-def]
    """Find the symbols to which an edge of the first relation, then edges of the other, lead from `source`.

    Breadth first, up to `depth` edges. Afterwards the queue, the distances and the trail describe shortest paths.

    Returns:
        How many symbols the queue holds, the source among them.
    """
    starts, edges, distances, trail = graphs[:4]
    distance, queue, before, via, usable = distances[0], trail[0], trail[1], trail[2], graphs[6]
    distance[:] = _NONE
    distance[source], queue[0] = 0, source
    head, tail = 0, 1
    while head < tail:
        symbol = queue[head]
        head += 1
        if distance[symbol] == depth:
            break
        kind = first_relation if symbol == source else relation
        for place in range(starts[_OUT, kind, symbol], starts[_OUT, kind, symbol + 1]):
            other, row = edges[_OUT, kind, 0, place], edges[_OUT, kind, 1, place]
            if distance[other] == _NONE and usable[row]:
                distance[other], before[other] = distance[symbol] + 1, symbol
                via[other], queue[tail] = row, other
                tail += 1
    return tail


@kernel
def _search_disjoint(graphs, size, depth):  # type: ignore[no-untyped-def]
    """After `_search` of an entity's sets: find the sets that it is refuted to be in, by at most `depth` events.

    A set counts at its least distance even if that takes a disjointness read from right to left, which the rules of
    inference do not do; `trail[3]` is `_NONE` unless one read from left to right is as short.
    """
    starts, edges, distances, trail = graphs[:4]
    distance, refuted, queue, last, usable = distances[0], distances[1], trail[0], trail[3], graphs[6]
    refuted[:], last[:] = _NONE, _NONE
    for head in range(1, size):
        symbol = queue[head]
        length = distance[symbol] + 1
        if length > depth:
            break
        for side in range(2):
            for place in range(starts[side, DISJOINT, symbol], starts[side, DISJOINT, symbol + 1]):
                other = edges[side, DISJOINT, 0, place]
                if not usable[edges[side, DISJOINT, 1, place]]:
                    continue
                if refuted[other] == _NONE:
                    refuted[other] = length
                if refuted[other] == length and side == _OUT and last[other] == _NONE:
                    last[other] = symbol


@kernel
def _matching(key, other_key, two, other_two, rest, other_rest):  # type: ignore[no-untyped-def]
    """How closely two arguments match, an index of `MATCHINGS`; `_NONE` if not even in their direct facts."""
    if key != other_key:
        return _NONE
    if two != other_two:
        return 0
    return 2 if rest == other_rest else 1


@kernel
def _is_local(events, count, graphs, family, left, right):  # type: ignore[no-untyped-def]
    """Whether the events around those that mention an argument decide the question, by more than two of them.

    Each of two events mentions an argument, so a question of that length is always decided by what is near.
    """
    starts, distances, usable = graphs[0], graphs[2], graphs[6]
    symbols = starts.shape[2] - 1
    before = after = -_WINDOW - 1
    for step in range(count):
        usable[step] = False
    for step in range(count):
        if _mentions(events[step], left, right):
            before = step
        if _mentions(events[count - 1 - step], left, right):
            after = step
        usable[step] |= step - before <= _WINDOW
        usable[count - 1 - step] |= step - after <= _WINDOW
    if family == SPATIAL_ORDER:
        _search(graphs, ABOVE, ABOVE, left, symbols)
        decides = distances[0, right] > 2
    else:
        size = _search(graphs, MEMBER, SUBSET, left, symbols)
        _search_disjoint(graphs, size, symbols)
        decides = distances[0, right] > 2 or distances[1, right] > 2
    for step in range(count):
        usable[step] = True
    return decides


@kernel
def _mentions(event, left, right):  # type: ignore[no-untyped-def]
    first, second = event[2], event[3]
    if event[1] == _FORM_OF_UPDATE:
        return False
    if first in (left, right):
        return True
    return _FORM_OF_ABOVE <= event[1] < _FORM_OF_UPDATE and second in (left, right)


@kernel
def _pick_order(events, count, graphs, num_entities, kind, word):  # type: ignore[no-untyped-def]
    """Choose a pair of which the first is above the second, matched and, if the search is strict, not local.

    Returns:
        The pair and the index of its matching; the latter is `_NONE` if there is no pair.
    """
    distances, keys, pairs = graphs[2], graphs[4], graphs[5][0]
    complexity, is_strict, size = kind[2], kind[3], 0
    least = TWO_STEPS if is_strict else ONE_STEP
    for x in range(num_entities):
        _search(graphs, ABOVE, ABOVE, x, complexity)
        for y in range(num_entities):
            if distances[0, y] != complexity or size == pairs.shape[1]:
                continue
            if _matching(keys[0, x], keys[0, y], keys[1, x], keys[1, y], _NO_KEY, _NO_KEY) >= least:
                pairs[0, size], pairs[1, size] = np.uint64(x), np.uint64(y)
                size += 1
    while size > 0:
        # The same word each time: the pair that it chose is gone, and the number left another one.
        chosen = below(word, size)
        left, right = np.int64(pairs[0, chosen]), np.int64(pairs[1, chosen])
        if not is_strict or not _is_local(events, count, graphs, SPATIAL_ORDER, left, right):
            two, other_two = keys[1, left], keys[1, right]
            return left, right, _matching(_NO_KEY, _NO_KEY, two, other_two, _NO_KEY, _NO_KEY)
        size -= 1
        pairs[0, chosen], pairs[1, chosen] = pairs[0, size], pairs[1, size]
    return 0, 0, _NONE


@kernel
def _list_memberships(graphs, num_entities, end, complexity):  # type: ignore[no-untyped-def]
    """List the memberships that `complexity` events prove, and those that as many refute; return how many of each."""
    distances, trail, keys, items = graphs[2:6]
    proven = refuted = 0
    for entity in range(num_entities):
        size = _search(graphs, MEMBER, SUBSET, entity, complexity)
        _search_disjoint(graphs, size, complexity)
        for symbol in range(num_entities, end):
            answer, place = _NONE, 0
            if distances[0, symbol] == complexity:
                answer, place = 0, proven
                proven += proven < items.shape[2]
            elif distances[1, symbol] == complexity and trail[3, symbol] != _NONE:
                answer, place = 1, refuted
                refuted += refuted < items.shape[2]
            if answer != _NONE and place < items.shape[2]:
                items[answer, 0, place], items[answer, 1, place] = np.uint64(entity), np.uint64(symbol)
                for key in range(3):
                    of_entity, of_set = keys[key, entity], keys[key, symbol]
                    items[answer, 2 + key, place] = (of_entity << _KEY_OF_SET) | of_set
    return proven, refuted


@kernel
def _best_pair(items, proven, refuted, word):  # type: ignore[no-untyped-def]
    """Choose a provable and a refutable membership among those matched as closely as any.

    Returns:
        Their places and the index of their matching; the latter is `_NONE` if there is no pair.
    """
    best, count = _NONE, 0
    for is_second_pass in range(2):
        left = below(word, count) if is_second_pass else 0
        for i in range(proven):
            for j in range(refuted):
                a, b = items[0, :, i], items[1, :, j]
                matching = _matching(a[2], b[2], a[3], b[3], a[4], b[4])
                if is_second_pass and matching == best:
                    if left == 0:
                        return i, j, best
                    left -= 1
                elif matching > best:
                    best, count = matching, 1
                elif matching == best:
                    count += 1
        if best == _NONE:
            break
    return 0, 0, _NONE


@kernel
def _pick_membership(events, count, graphs, num_entities, end, kind, word):  # type: ignore[no-untyped-def]
    """Choose a provable and a refutable membership as `_pick_order` chooses a pair, and return one of the two.

    Returns:
        The entity, the set and the index of the matching; the latter is `_NONE` if there is no pair.
    """
    items, is_proven, complexity, is_strict = graphs[5], kind[1], kind[2], kind[3]
    proven, refuted = _list_memberships(graphs, num_entities, end, complexity)
    while proven > 0 and refuted > 0:
        i, j, matching = _best_pair(items, proven, refuted, word)
        if matching == _NONE:
            break
        a, b = items[0, :, i], items[1, :, j]
        if is_strict and _is_local(events, count, graphs, MEMBERSHIP, np.int64(a[0]), np.int64(a[1])):
            proven -= 1
            _replace(items, 0, i, proven)
        elif is_strict and _is_local(events, count, graphs, MEMBERSHIP, np.int64(b[0]), np.int64(b[1])):
            refuted -= 1
            _replace(items, 1, j, refuted)
        else:
            chosen = a if is_proven else b
            return np.int64(chosen[0]), np.int64(chosen[1]), matching
    return 0, 0, _NONE


@kernel
def _replace(items, answer, place, last):  # type: ignore[no-untyped-def]
    for row in range(items.shape[1]):
        items[answer, row, place] = items[answer, row, last]


@kernel
def _write_proof(graphs, source, target, proof):  # type: ignore[no-untyped-def]
    """Write the rows of the events on the trail from `source` to `target`, from the last one backwards."""
    before, via = graphs[3][1], graphs[3][2]
    place = graphs[2][0, target]
    while target != source:
        place -= 1
        proof[place] = via[target]
        target = before[target]


@kernel
def ask(sizes, events, count, graphs, kind, word, query, proof):  # type: ignore[no-untyped-def]
    """Choose a question of the family that has the answer.

    Args:
        sizes: the first of the `Laws`.
        events, count: the rows of the events, and how many there are.
        graphs: the `working_space` of this module.
        kind: index of the public family, whether the answer is to be YES, K, and whether more than equal numbers of
            direct facts is demanded.
        word: 32 random bits that decide between the eligible questions.
        query: (4,) int32, written: family, both arguments, and the index of the matching.
        proof: (K,) int32, written: the rows of the proof's events, in the order of the chain.

    Returns:
        Whether there is such a question.
    """
    family, is_yes, _, _ = kind
    num_entities, end = sizes[0, 0], sizes[0, 0] + sizes[0, 1]
    read_graphs(events, count, graphs)
    _count_steps(graphs, family, num_entities, end)
    if family == SPATIAL_ORDER:
        left, right, matching = _pick_order(events, count, graphs, num_entities, kind, word)
        if not is_yes:
            left, right = right, left
    else:
        left, right, matching = _pick_membership(events, count, graphs, num_entities, end, kind, word)
    if matching != _NONE:
        _prove(graphs, family, is_yes, left, right, proof)
    query[0], query[1], query[2], query[3] = family, left, right, matching
    return matching != _NONE


@kernel
def _prove(graphs, family, is_yes, left, right, proof):  # type: ignore[no-untyped-def]
    """Write the rows of a proof, (K,), of the answer to a question; return whether K events prove it, and no fewer."""
    distances, last = graphs[2], graphs[3][3]
    if family == SPATIAL_ORDER:
        source, target = (left, right) if is_yes else (right, left)
        _search(graphs, ABOVE, ABOVE, source, proof.size)
        is_proven = distances[0, target] == proof.size
        if is_proven:
            _write_proof(graphs, source, target, proof)
        return is_proven
    size = _search(graphs, MEMBER, SUBSET, left, proof.size)
    _search_disjoint(graphs, size, proof.size)
    if is_yes:
        is_proven = distances[0, right] == proof.size and distances[1, right] == _NONE
        if is_proven:
            _write_proof(graphs, left, right, proof)
        return is_proven
    is_proven = distances[0, right] == _NONE and distances[1, right] == proof.size and last[right] != _NONE
    if is_proven:
        _write_proof(graphs, left, last[right], proof)
        proof[proof.size - 1] = _disjointness(graphs, last[right], right)
    return is_proven


@kernel
def examine(sizes, events, count, graphs, query, is_yes, is_strict, keys, proof):  # type: ignore[no-untyped-def]
    """Prove the answer to a given question, and count what a counterpart in another world must match.

    Args:
        sizes, events, count, graphs, proof: as in `ask`.
        query: (4,) int32: family and both arguments; the last is not used.
        is_yes: the answer.
        is_strict: whether what is near in time to the arguments must not decide.
        keys: (3, 2) uint64, written: the numbers of direct facts, and of facts two steps away, of both arguments.

    Returns:
        Whether K events prove the answer and no fewer do, and the strict demand is met.
    """
    family, left, right = np.int64(query[0]), np.int64(query[1]), np.int64(query[2])
    read_graphs(events, count, graphs)
    _count_steps(graphs, family, sizes[0, 0], sizes[0, 0] + sizes[0, 1])
    for row in range(3):
        keys[row, 0], keys[row, 1] = graphs[4][row, left], graphs[4][row, right]
    if not _prove(graphs, family, is_yes, left, right, proof):
        return False
    return not is_strict or not _is_local(events, count, graphs, family, left, right)


@kernel
def _disjointness(graphs, left, right):  # type: ignore[no-untyped-def]
    """The row of the event DISJOINT(left, right)."""
    starts, edges = graphs[0], graphs[1]
    for place in range(starts[_OUT, DISJOINT, left], starts[_OUT, DISJOINT, left + 1]):
        if edges[_OUT, DISJOINT, 0, place] == right:
            return edges[_OUT, DISJOINT, 1, place]
    return _NONE
