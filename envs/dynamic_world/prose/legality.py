"""Which payloads can be told: those of worlds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from veilgym.envs.dynamic_world.grammar import (
    ANSWER_OPTIONS,
    ENTITY_TYPES,
    EVENT_FORMS,
    Observation,
    PublicFamily,
    Query,
    WorldPayload,
    check_event,
)
from veilgym.envs.dynamic_world.prose.forms import QUESTION_TYPES

FAMILIES: dict[str, PublicFamily] = {"ABOVE": "spatial_order", "MEMBER": "membership"}
"""The family of a question, by what it asks."""

_TYPES_OF_FORM = {
    (form.kind, form.relation): [kind for _, kind in form.fields if kind in ENTITY_TYPES] for form in EVENT_FORMS
}


def check_payload(payload: WorldPayload) -> None:
    """Check what the types of the records leave open.

    Raises:
        ValueError: the payload is not one of a world; the message names the place, the value and what is allowed.
    """
    types: Mapping[Any, str] = payload.entity_types
    if payload.complexity < 1:
        _fail("complexity", payload.complexity, "1 or more")
    if sorted(payload.answer_options) != sorted(ANSWER_OPTIONS):
        _fail("answer_options", payload.answer_options, "YES and NO, each once")
    _check_query(payload.query, payload.family, types)
    for observation in payload.initial_observations:
        _check_observation(observation, types)
    for event in payload.events:
        check_event(event)
        expected = _TYPES_OF_FORM[event.kind, event.arguments.get("relation")]  # type: ignore[index]
        _check_types(f"event {event.id}", event.participants, expected, types)
    check_order(payload)


def check_order(payload: WorldPayload) -> None:
    """Check that ids rise and time passes.

    Raises:
        ValueError: they do not; the message says where.
    """
    _check_rising("initial_observations", (observation.id for observation in payload.initial_observations))
    _check_rising("events", (event.id for event in payload.events))
    time = 1
    for event in payload.events:
        if event.time < time:
            _fail(f"event {event.id} time", event.time, f"{time} or later, as events are in the order of time")
        time = event.time
    if payload.query.time < 0:
        _fail("query.time", payload.query.time, "0 or more")


def _check_query(query: Query, family: str, types: Mapping[Any, str]) -> None:
    if FAMILIES.get(query.predicate) != family:
        _fail("query.predicate", query.predicate, f"one of the family {family!r}: {FAMILIES}")
    _check_types("query.arguments", query.arguments, QUESTION_TYPES[query.predicate], types)


def _check_rising(field: str, ids: Iterable[str]) -> None:
    before = -1
    for each in ids:
        if int(each[1:]) <= before:
            _fail(f"{field}.id", each, "ids in rising order, each once")
        before = int(each[1:])


def _check_observation(observation: Observation, types: Mapping[Any, str]) -> None:
    place = f"observation {observation.id}"
    if observation.relation == "LOCATED_IN":
        return _check_types(place, observation.arguments, ("Entity", "Region"), types)
    name, value = observation.arguments
    if type(value) is not int:
        _fail(place, value, "an integer")
    return _check_types(place, (name,), ("Number",), types)


def _check_types(place: str, symbols: Iterable[Any], expected: Iterable[str], types: Mapping[Any, str]) -> None:
    for symbol, kind in zip(symbols, expected, strict=True):
        if types.get(symbol) != kind:
            _fail(place, symbol, f"a symbol of entity_types of the type {kind}")


def _fail(place: str, value: Any, allowed: str) -> NoReturn:
    raise ValueError(f"{place}: got {value!r}, allowed is {allowed}")
