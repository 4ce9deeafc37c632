"""Records: lossless canonical JSON, and refusal of what is not of the language."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from veilgym.envs.core.records import to_json
from veilgym.envs.dynamic_world.grammar import WorldPayload, WorldSkeleton, decode
from veilgym.envs.dynamic_world.notation import Notation
from veilgym.envs.dynamic_world.payload import renderer_payload
from veilgym.envs.dynamic_world.task import make_task
from veilgym.envs.dynamic_world.worlds import make_worlds

SKELETON_FIELDS = [
    "id",
    "family",
    "complexity",
    "entity_count",
    "simulation_steps",
    "hidden_program",
    "entities",
    "initial_state",
    "events",
    "final_state",
    "query",
    "answer_options",
    "gold_answer",
    "proof_event_ids",
    "proof_facts",
    "generator_checks",
]
STATE_FIELDS = [
    "locations",
    "directed_order_relations",
    "memberships",
    "subset_relations",
    "disjoint_relations",
    "connections",
    "numeric_values",
    "boolean_flags",
    "hidden_generation_attributes",
]
PROGRAM_FIELDS = [
    "types",
    "relations",
    "operators",
    "quantifiers",
    "structures",
    "inference_rules",
    "transition_rules",
]


def test_json_is_lossless_and_canonical(length: int, worlds: SimpleNamespace) -> None:
    for world in worlds.records(length)[:20]:
        document = to_json(world)
        assert decode(document, WorldSkeleton) == world
        assert to_json(decode(document, WorldSkeleton)) == document
        payload = renderer_payload(world)
        assert decode(to_json(payload), WorldPayload) == payload


def test_field_names_are_those_of_the_specification(worlds: SimpleNamespace) -> None:
    world = worlds.skeletons(4)[0]
    assert list(world) == SKELETON_FIELDS
    assert list(world["initial_state"]) == list(world["final_state"]) == STATE_FIELDS
    assert list(world["hidden_program"]) == PROGRAM_FIELDS
    for rule in world["hidden_program"]["transition_rules"]:
        assert list(rule) == ["id", "trigger", "preconditions", "probability", "effects"]
    assert list(world["events"][0]) == ["id", "time", "kind", "participants", "arguments"]
    assert list(world["query"]) == ["predicate", "arguments", "time"]
    assert list(world["entities"][0]) == ["id", "type"]
    assert msgspec.to_builtins(worlds.records(4)[0]).keys() == world.keys()


def test_events_and_rows_are_inverse_to_each_other(length: int) -> None:
    task = make_task(length)
    batch, notation = make_worlds(task, 10, seed=1), Notation(task)
    for rows, count in zip(batch.events, batch.num_events, strict=True):
        events = notation.events(rows[:count])
        np.testing.assert_array_equal(notation.rows(events), rows[:count])
        assert [event.id for event in events[:2]] == ["V00001", "V00002"]


def event_of(document: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(event for event in document["events"] if event["kind"] == kind)


def break_field(document: dict[str, Any]) -> None:
    document["weather"] = "fine"


def break_missing(document: dict[str, Any]) -> None:
    del document["query"]


def break_answer(document: dict[str, Any]) -> None:
    document["gold_answer"] = "MAYBE"


def break_kind(document: dict[str, Any]) -> None:
    document["events"][0]["kind"] = "EXPLODE"


def break_relation(document: dict[str, Any]) -> None:
    event_of(document, "RELATE")["arguments"]["relation"] = "BELOW"


def break_argument(document: dict[str, Any]) -> None:
    event_of(document, "MOVE")["arguments"]["speed"] = 3


def break_number(document: dict[str, Any]) -> None:
    event_of(document, "UPDATE_NUMBER")["arguments"]["before"] = True


def break_participants(document: dict[str, Any]) -> None:
    event_of(document, "MOVE")["participants"].reverse()


def break_flag(document: dict[str, Any]) -> None:
    event_of(document, "SET_STATE")["arguments"]["flag"] = "lit"


def break_id(document: dict[str, Any]) -> None:
    document["events"][0]["id"] = "W1"


BREAKS = [value for name, value in sorted(globals().items()) if name.startswith("break_")]


@pytest.mark.parametrize("damage", BREAKS, ids=[damage.__name__ for damage in BREAKS])
def test_what_is_not_of_the_language_is_refused(damage: Any, worlds: SimpleNamespace) -> None:
    document = json.loads(json.dumps(worlds.skeletons(4)[0]))
    decode(json.dumps(document), WorldSkeleton)
    damage(document)
    with pytest.raises(ValueError, match=r"."):
        decode(json.dumps(document), WorldSkeleton)


def test_hidden_records_do_not_print_the_answer(worlds: SimpleNamespace) -> None:
    for world in worlds.records(4)[:10]:
        assert not {"YES", "NO", "spatial", "inherit", "disjoint"} & set(repr(world).replace("_", " ").split())
        assert len(repr(world)) < 100
