"""Counterfactual twins: two worlds that differ in one event, are asked the same question, and have opposite answers.

One event of a world that has happened is changed, at its time and under its id, so that all the others stand:

- membership: x joins another set. In one of the worlds a chain leads from the set of x into A, in the other one from
  the other set to a set that is disjoint from A.
- spatial order: the entities fall into two groups, with one event alone between them. In one of the worlds it puts the
  group of x above that of y, in the other one the group of y above that of x. Between hidden levels that are adjacent,
  only such a link can be turned round; so these worlds have 2 K levels of entities, and of the events that joined the
  upper half to the lower one all but one are taken out. What is left could have happened: no precondition of a
  transition needs an event.

Neither world shows which was changed, and coins decide which of the two is first and which way round an order is asked.
The direct facts of the arguments, with their times, are the same in both worlds. So are the numbers of facts two steps
up or down an order of at least five events, and where possible those that are matched for memberships. In an order of
three or four events, one of the chain's ends lies within two steps of the changed event: there these numbers tell the
twins apart.

Letters: N symbols, E entities, S sets, R events, K the complexity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.philox import STREAM_WORDS, next_below, open_stream
from veilgym.envs.core.seeding import Split, derive_key
from veilgym.envs.dynamic_world.grammar import FORM_INDEX, PUBLIC_FAMILIES
from veilgym.envs.dynamic_world.program import ENTRY_LEVELS
from veilgym.envs.dynamic_world.query import MEMBERSHIP, ONE_STEP, SPATIAL_ORDER, TWO_STEPS
from veilgym.envs.dynamic_world.simulation import LEVEL
from veilgym.envs.dynamic_world.task import Task
from veilgym.envs.dynamic_world.worlds import Simulator, Worlds, room_for, sequence_name

SHORTEST = 3
"""The least complexity: with two events, the changed one would mention an argument of an order."""

_ABOVE, _MEMBER = FORM_INDEX["RELATE", "ABOVE"], FORM_INDEX["RELATE", "MEMBER"]
_SUBSET, _DISJOINT = FORM_INDEX["RELATE", "SUBSET"], FORM_INDEX["RELATE", "DISJOINT"]
_MOVE = FORM_INDEX["MOVE", None]
_MOST_ATTEMPTS, _STRICT_ATTEMPTS, _MOST_WORK = 200, 20, 200_000  # the latter in steps and symbols
_MOST_CHANGES = 50  # that are examined in one attempt

Rows = NDArray[np.int32]
Pick = Callable[[int], int]
"""Draws an integer in [0, n)."""


@dataclass(frozen=True)
class Twins:
    """Two worlds as a batch, and their hidden levels, (2, N)."""

    worlds: Worlds
    levels: NDArray[np.int32]


@dataclass(frozen=True)
class _Change:
    """How a world that has happened becomes two: what is kept of it, and the row that is another one in its twin."""

    kept: NDArray[np.bool_]
    row: int
    event: Rows
    arguments: tuple[int, int]
    is_yes: bool
    levels: NDArray[np.int32]


class TwinMaker:
    """Makes pairs of worlds that belong to a task, a split and a seed.

    Attributes:
        name: Of the sequence of pairs.
        simulators: By family; they differ in the number of entity levels.

    Raises:
        ValueError: no world of the task could have such a twin.
    """

    def __init__(self, task: Task, split: Split, seed: int) -> None:
        if task.complexity < SHORTEST:
            raise ValueError(f"length: got {task.complexity}, allowed is a length of at least {SHORTEST} for twins")
        sequence = f"{sequence_name(task)} twins"
        self.name = f"{sequence}/{split}/{seed}"
        self._key = derive_key(sequence, split, seed)
        self._pick_key = derive_key(f"{sequence} picks", split, seed)
        grouped = replace(task, entity_levels=2 * task.complexity)
        self.simulators = {SPATIAL_ORDER: Simulator(grouped), MEMBERSHIP: Simulator(task)}

    def make(self, index: int) -> Twins:
        """Make the pair of an index.

        Raises:
            ValueError: the worlds tried have no twins.
        """
        stream = np.zeros(STREAM_WORDS, np.uint64)
        open_stream(stream, np.uint64(self._pick_key), np.uint64(index))

        def pick(count: int) -> int:
            return int(next_below(stream, count))

        family, is_yes, is_swapped = pick(2), bool(pick(2)), bool(pick(2))
        simulator = self.simulators[family]
        is_wide = family == MEMBERSHIP or _margin(simulator.task.complexity) > 1
        for attempt in range(_most_attempts(simulator.task)):
            is_strict = attempt < _STRICT_ATTEMPTS
            least = TWO_STEPS if is_strict and is_wide else ONE_STEP
            base = room_for(simulator.task, 1)
            simulator.evolve(self._key, index, attempt, base)
            changes = _CHANGES[family](simulator, base, is_yes, pick)
            for _, change in zip(range(_MOST_CHANGES), changes, strict=False):
                twins = _apply(simulator, base, family, change, least, is_strict)
                if twins is not None:
                    order = [1, 0] if is_swapped else [0, 1]
                    return Twins(_select(twins.worlds, order), twins.levels[order])
        raise _failure(simulator.task, family)


def _most_attempts(task: Task) -> int:
    """How many worlds to try for one pair: fewer where a world is large, so that failing takes seconds."""
    return min(_MOST_ATTEMPTS, _STRICT_ATTEMPTS + _MOST_WORK // (task.allocation.total + task.simulation_steps))


def _failure(task: Task, family: int) -> ValueError:
    return ValueError(
        f"no twins of the family {PUBLIC_FAMILIES[family]} with proofs of {task.complexity} events in "
        f"{_most_attempts(task)} worlds of {task.allocation.total} entities and {task.simulation_steps} steps: "
        "allowed is a smaller length, or more steps for each entity"
    )


def _select(worlds: Worlds, order: list[int]) -> Worlds:
    return Worlds(*(array[order] for array in vars(worlds).values()))


def _apply(
    simulator: Simulator, base: Worlds, family: int, change: _Change, least: int, is_strict: bool
) -> Twins | None:
    """The world that is kept and its twin; None if one of them is too easy, or they match less than `least`."""
    rows = base.events[0, : len(change.kept)]
    worlds = room_for(simulator.task, 2)
    worlds.initial[:] = base.initial
    worlds.num_events[:] = change.kept.sum()
    worlds.events[:, : worlds.num_events[0]] = rows[change.kept]
    worlds.events[1, change.kept[: change.row].sum()] = change.event
    worlds.is_yes[:] = change.is_yes, not change.is_yes
    worlds.queries[:, :3] = family, *change.arguments
    keys = []
    for i in range(2):
        is_hard, of_world = simulator.examine(worlds.only(i), is_strict)
        if not is_hard:
            return None
        keys.append(of_world)
    matching = _matching(*keys)
    if matching < least:
        return None
    worlds.queries[:, 3] = matching
    return Twins(worlds, np.stack([simulator.state[0][LEVEL], change.levels]))


def _matching(keys: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    """How closely the arguments match those of the other world, an index of `MATCHINGS`; -1 if not at all."""
    is_equal = (keys == other).all(axis=1)
    return int(np.argmin([*is_equal, False])) - 1


def _shuffled(items: NDArray[Any], pick: Pick) -> Iterator[Any]:
    """The items in a drawn order."""
    left = list(items)
    while left:
        place = pick(len(left))
        left[place], left[-1] = left[-1], left[place]
        yield left.pop()


def _pairs(rows: Rows, form: int, offset: int = 0) -> list[list[int]]:
    """The facts of a form, their symbols numbered from `offset`."""
    pairs: list[list[int]] = (rows[rows[:, 1] == form, 2:4] - offset).tolist()
    return pairs


def _reach(pairs: list[list[int]], levels: Rows) -> NDArray[np.bool_]:
    """(n, n) what pairs, each from a level to the next, lead to in any number of steps, none included."""
    reached = np.eye(len(levels), dtype=np.bool_)
    for left, right in sorted(pairs, key=lambda pair: -levels[pair[0]]):
        reached[left] |= reached[right]
    return reached


def _follow(reached: NDArray[np.bool_], pairs: list[list[int]]) -> NDArray[np.bool_]:
    """(m, n) what pairs lead to, in one step, from what is reached, (m, n)."""
    following = np.zeros_like(reached)
    for left, right in pairs:
        following[:, right] |= reached[:, left]
    return following


def _order_changes(simulator: Simulator, base: Worlds, is_yes: bool, pick: Pick) -> Iterator[_Change]:
    """Links between the upper and the lower half of the levels, to be turned round."""
    task, half = simulator.task, simulator.task.complexity
    rows, num_entities = base.events[0, : base.num_events[0]], task.allocation.entities
    levels = simulator.state[0][LEVEL].copy()
    of_entity = levels[:num_entities]
    is_link = (rows[:, 1] == _ABOVE) & (levels[rows[:, 2]] == half - 1)
    reach = _reach(_pairs(rows[~is_link], _ABOVE), of_entity)
    is_first, is_last = of_entity == 0, of_entity == 2 * half - 1
    exchanged = levels.copy()
    exchanged[:num_entities] += np.where(of_entity < half, half, -half).astype(np.int32)
    margin = _margin(half)
    is_inner = (of_entity % half >= margin) & (of_entity % half < half - margin)
    can_be_higher, can_be_lower = is_inner & reach[is_first].any(axis=0), is_inner & reach[:, is_last].any(axis=1)
    for row in _shuffled(np.flatnonzero(is_link), pick):
        upper, below = rows[row, 2:4]
        higher, lower = np.flatnonzero(can_be_higher & reach[:, upper]), np.flatnonzero(can_be_lower & reach[below])
        are_apart = of_entity[lower] == of_entity[higher][:, None] + half
        kept = ~is_link
        kept[row] = True
        for i, j in _shuffled(np.argwhere(are_apart), pick):
            x, y = int(higher[i]), int(lower[j])
            top, bottom = (_one(ends, pick) for ends in (is_first & reach[:, x], is_last & reach[y]))
            event = rows[row].copy()
            event[2:5] = bottom, top, _location(base.initial[0, 0], rows[:row], bottom)
            yield _Change(kept, int(row), event, (x, y) if is_yes else (y, x), is_yes, exchanged)


def _one(mask: NDArray[np.bool_], pick: Pick) -> int:
    """A drawn place where a mask is true."""
    places = np.flatnonzero(mask)
    return int(places[pick(len(places))])


def _margin(complexity: int) -> int:
    """How many levels away from the ends of the halves arguments are: so the changed event is not near, if possible."""
    return 2 if complexity > 4 else 1


def _location(initial: Rows, rows: Rows, entity: int) -> int:
    """Where an entity is after some events."""
    moves = rows[(rows[:, 1] == _MOVE) & (rows[:, 2] == entity)]
    return int(moves[-1, 4] if len(moves) else initial[entity])


def _membership_changes(simulator: Simulator, base: Worlds, is_yes: bool, pick: Pick) -> Iterator[_Change]:
    """Memberships that could have been in another set."""
    task, steps = simulator.task, simulator.task.complexity - 2
    rows, offset, size = base.events[0, : base.num_events[0]], task.allocation.entities, task.allocation.sets
    levels = simulator.state[0][LEVEL].copy()
    of_set = levels[offset : offset + size]
    reach = _reach(_pairs(rows, _SUBSET, offset), of_set)
    distance = np.where(reach, of_set - of_set[:, None], size)
    stated = _pairs(rows, _DISJOINT, offset)
    mirrored = stated + [pair[::-1] for pair in stated]
    excluded = _follow(reach, mirrored)
    inside = distance == steps + 1
    outside = _follow(distance == steps, stated) & ~_follow(distance < steps, mirrored)
    before, after = (inside, outside) if is_yes else (outside, inside)
    after &= (of_set < ENTRY_LEVELS)[:, None]
    members = rows[rows[:, 1] == _MEMBER]
    for row in _shuffled(np.flatnonzero(rows[:, 1] == _MEMBER), pick):
        entity, group = int(rows[row, 2]), int(rows[row, 3]) - offset
        groups = members[members[:, 2] == entity, 3] - offset
        others = groups[groups != group]
        within, without = reach[others].any(axis=0), excluded[others].any(axis=0)
        is_open = before[group] & ~within & ~without
        for other, queried in _shuffled(np.argwhere(after & is_open), pick):
            if other in groups or ((reach[other] | within) & (excluded[other] | without)).any():
                continue
            event = rows[row].copy()
            event[3] = offset + other
            arguments = entity, offset + int(queried)
            yield _Change(np.ones(len(rows), np.bool_), int(row), event, arguments, is_yes, levels)


_CHANGES = {SPATIAL_ORDER: _order_changes, MEMBERSHIP: _membership_changes}
