"""The public half of a world as arrays for an agent, and how to go from these to the payload and back.

Letters: N symbols, E entities proper, C counters, T candidate steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from veilgym.envs.dynamic_world.grammar import (
    ANSWER_OPTIONS,
    ENTITY_TYPES,
    PUBLIC_FAMILIES,
    Observation,
    PredicateName,
    Query,
    WorldPayload,
)
from veilgym.envs.dynamic_world.notation import Notation
from veilgym.envs.dynamic_world.simulation import EVENT_COLUMNS
from veilgym.envs.dynamic_world.task import Task
from veilgym.envs.dynamic_world.worlds import Worlds

Arrays = dict[str, NDArray[Any]]

LARGEST_NUMBER = 999  # of a counter
_LOCATION, _VALUE = range(2)  # rows of `Worlds.initial`
PREDICATES: tuple[PredicateName, ...] = ("ABOVE", "MEMBER")  # by public family


def types_of(task: Task) -> NDArray[np.int8]:
    """(N,) the type of each symbol, an index of `ENTITY_TYPES`."""
    allocation = task.allocation
    counts = (allocation.entities, allocation.sets, allocation.regions, allocation.counters)
    return np.repeat(np.arange(len(ENTITY_TYPES), dtype=np.int8), counts)


def observation_space(task: Task) -> spaces.Dict:
    """The space of the arrays of one world."""
    allocation, steps = task.allocation, task.simulation_steps
    count, most = allocation.total, max(steps, allocation.total, LARGEST_NUMBER)
    return spaces.Dict(
        {
            "entity_types": spaces.Box(0, len(ENTITY_TYPES) - 1, (count,), np.int8),
            "locations": spaces.Box(0, count - 1, (allocation.entities,), np.int32),
            "values": spaces.Box(0, LARGEST_NUMBER, (allocation.counters,), np.int32),
            "events": spaces.Box(0, most, (steps * EVENT_COLUMNS,), np.int32),
            "event_count": spaces.Box(0, steps, (1,), np.int32),
            "query": spaces.Box(0, most, (4,), np.int32),
        }
    )


def observe(worlds: Worlds, task: Task, types: NDArray[np.int8]) -> Arrays:
    """The public arrays of B worlds, as copies: an allow-list.

    Returns:
        entity_types (B, N) int8, index of the type; locations (B, E) int32, number of a region; values (B, C) int32;
        events (B, 7 T) int32, for each event its time, the index of its form and up to five arguments, 0 after the
        last; event_count (B, 1) int32; query (B, 4) int32: index of the public family, both arguments, time. Symbols
        are numbered by type.
    """
    batch, allocation = len(worlds.num_events), task.allocation
    query = np.empty((batch, 4), np.int32)
    query[:, :3], query[:, 3] = worlds.queries[:, :3], task.simulation_steps
    return {
        "entity_types": np.repeat(types[None], batch, axis=0),
        "locations": worlds.initial[:, _LOCATION, : allocation.entities].copy(),
        "values": worlds.initial[:, _VALUE, allocation.total - allocation.counters :].copy(),
        "events": worlds.events.reshape(batch, -1).copy(),
        "event_count": worlds.num_events[:, None].copy(),
        "query": query,
    }


def decode(observation: Arrays, task: Task) -> WorldPayload:
    """Turn the observation of one world into its payload."""
    notation = Notation(task)
    names, allocation = notation.names, task.allocation
    count = int(observation["event_count"][0])
    family, left, right, time = observation["query"].tolist()
    places = [
        ("LOCATED_IN", name, names[place])
        for name, place in zip(names, observation["locations"].tolist(), strict=False)
    ]
    counters = names[allocation.total - allocation.counters :]
    values = [("EQUAL", name, value) for name, value in zip(counters, observation["values"].tolist(), strict=True)]
    return WorldPayload(
        family=PUBLIC_FAMILIES[family],
        complexity=task.complexity,
        entity_types={entity.id: entity.type for entity in notation.entities},
        initial_observations=[
            Observation(f"I{number:04d}", relation, (name, value))  # type: ignore[arg-type]
            for number, (relation, name, value) in enumerate([*places, *values], 1)
        ],
        events=notation.events(observation["events"].reshape(-1, EVENT_COLUMNS)[:count]),
        query=Query(PREDICATES[family], (names[left], names[right]), time),
        answer_options=ANSWER_OPTIONS,
    )


def encode(payload: WorldPayload, task: Task) -> Arrays:
    """The inverse of `decode`."""
    notation, allocation, steps = Notation(task), task.allocation, task.simulation_steps
    events = np.zeros((steps, EVENT_COLUMNS), np.int32)
    events[: len(payload.events)] = notation.rows(payload.events)
    facts = [observation.arguments[1] for observation in payload.initial_observations]
    places = [notation.numbers[str(place)] for place in facts[: allocation.entities]]
    left, right = (notation.numbers[name] for name in payload.query.arguments)
    return {
        "entity_types": types_of(task),
        "locations": np.array(places, np.int32),
        "values": np.array(facts[allocation.entities :], np.int32),
        "events": events.ravel(),
        "event_count": np.array([len(payload.events)], np.int32),
        "query": np.array([PUBLIC_FAMILIES.index(payload.family), left, right, payload.query.time], np.int32),
    }
