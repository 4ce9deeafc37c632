"""The public half of an instance: as a record, as arrays for an agent, and how to go from each to the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from veilgym.envs.hidden_system.grammar import (
    ABSENT,
    PRESENT,
    AttributeVocabulary,
    BehaviorCase,
    BehaviorPayload,
    BehaviorSkeleton,
    ObservationProtocol,
    Options,
)
from veilgym.envs.hidden_system.layout import Layout, PublicArrays

Observation = dict[str, NDArray[np.integer]]

OPTIONS: tuple[Options, Options] = ((PRESENT, ABSENT), (ABSENT, PRESENT))


def renderer_payload(skeleton: BehaviorSkeleton) -> BehaviorPayload:
    """What a renderer, a solver or an agent may know of a skeleton: an allow-list, field by field."""
    return BehaviorPayload(
        family=skeleton.family,
        complexity=skeleton.complexity,
        event_vocabulary=skeleton.event_vocabulary,
        attribute_vocabulary=skeleton.attribute_vocabulary,
        observation_protocol=skeleton.observation_protocol,
        support_cases=skeleton.support_cases,
        query_case=skeleton.query_case,
        answer_options=skeleton.answer_options,
    )


def observation_space(layout: Layout) -> spaces.Dict:
    """The space of the arrays of one instance; the shapes are those of `Layout.public` without B."""
    low, high = min(0, layout.bounds[0]), max(1, layout.bounds[1])
    events = len(layout.events)
    highest = {
        "events": events,
        "trials": layout.most_trials,
        "present": layout.most_trials,
        "query_events": events,
        "options": 1,
    }
    boxes = {
        key: spaces.Box(0 if key in highest else low, highest.get(key, high), array.shape[1:], array.dtype.type)
        for key, array in layout.public(1).items()
    }
    return spaces.Dict(boxes)  # type: ignore[arg-type]


def decode(observation: Observation, layout: Layout) -> BehaviorPayload:
    """Turn the observation of one instance into its payload."""
    names, m = layout.attributes, len(layout.attributes)
    rows = zip(
        observation["events"].reshape(layout.cases, layout.width).tolist(),
        observation["attributes"].reshape(layout.cases, m).tolist(),
        observation["trials"].tolist(),
        observation["present"].tolist(),
        strict=True,
    )
    cases = tuple(
        BehaviorCase(f"C{i + 1}", dict(zip(names, levels, strict=True)), _names(events, layout), trials, n, trials - n)
        for i, (events, levels, trials, n) in enumerate(rows)
        if trials > 0
    )
    query = BehaviorCase(
        id="Q",
        attributes=dict(zip(names, observation["query_attributes"].tolist(), strict=True)),
        events=_names(observation["query_events"].tolist(), layout),
    )
    return BehaviorPayload(
        family="hidden_system",
        complexity=len(set(query.events)),
        event_vocabulary=layout.events,
        attribute_vocabulary=_vocabulary(observation["levels"], layout),
        observation_protocol=ObservationProtocol(),
        support_cases=cases,
        query_case=query,
        answer_options=OPTIONS[int(observation["options"][0])],
    )


def encode(payload: BehaviorPayload | BehaviorSkeleton, layout: Layout) -> Observation:
    """The inverse of `decode`, up to the ids of cases."""
    arrays = layout.public(1)
    for i, case in enumerate(payload.support_cases):
        arrays["events"].reshape(layout.cases, layout.width)[i] = _codes(case.events, layout.width, layout)
        arrays["attributes"].reshape(layout.cases, -1)[i] = [case.attributes[name] for name in layout.attributes]
        arrays["trials"][0, i], arrays["present"][0, i] = case.trials, case.observed_present or 0
    query = payload.query_case
    arrays["query_events"][0] = _codes(query.events, layout.query_width, layout)
    arrays["query_attributes"][0] = [query.attributes[name] for name in layout.attributes]
    for m, name in enumerate(layout.attributes):
        levels = payload.attribute_vocabulary[name]
        padded = levels + levels[-1:] * (layout.levels - len(levels))
        arrays["levels"].reshape(-1, layout.levels)[m] = padded
    arrays["options"][0] = OPTIONS.index(payload.answer_options)
    return {key: array[0] for key, array in arrays.items()}


def select(arrays: PublicArrays, row: int) -> Observation:
    """The arrays of one instance, as views."""
    return {key: array[row] for key, array in arrays.items()}


def _names(codes: Sequence[int], layout: Layout) -> tuple[str, ...]:
    return tuple(layout.events[code - 1] for code in codes if code > 0)


def _codes(events: Sequence[str], width: int, layout: Layout) -> list[int]:
    codes = [layout.events.index(event) + 1 for event in events]
    return codes + [0] * (width - len(codes))


def _vocabulary(levels: NDArray[np.integer], layout: Layout) -> AttributeVocabulary:
    """Levels by attribute; the last one is repeated as padding."""
    rows = levels.reshape(len(layout.attributes), layout.levels).tolist()
    return {name: tuple(dict.fromkeys(row)) for name, row in zip(layout.attributes, rows, strict=True)}
