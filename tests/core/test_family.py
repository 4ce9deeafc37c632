"""Families as language and data: what every one of them promises."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import gymnasium as gym
import msgspec
import pytest

from veilgym.envs.core.family import Family, load_family
from veilgym.envs.core.records import content_id, to_json
from veilgym.registry import ENTRIES

FAMILIES = [load_family(entry.family) for entry in ENTRIES]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.slug)


@every_family
def test_a_family_is_found_by_its_slug_and_by_the_id_of_its_env(family: Family[Any, Any]) -> None:
    (entry,) = (entry for entry in ENTRIES if entry.family == family.slug)
    assert load_family(entry.id) is load_family(f"veilgym:{entry.id}") is family


def test_an_unknown_family_is_named_beside_those_there_are() -> None:
    with pytest.raises(ValueError, match="causal-circuits, hidden-system, dynamic-world, got 'CartPole-v1'"):
        load_family("CartPole-v1")


@every_family
def test_records_are_those_of_their_places_in_any_order(family: Family[Any, Any]) -> None:
    document = family.resolve()
    whole = [to_json(record) for record in family.generate(0, 9, seed=3, split="test")]
    assert len(set(whole)) == 9
    assert [to_json(record) for record in family.records(document, 3, "test", [7, 0, 4])] == [
        whole[i] for i in (7, 0, 4)
    ]
    assert [to_json(record) for record in family.generate(5, 2, seed=3, split="test")] == whole[5:7]
    other_seed, other_split = family.generate(0, 9, seed=4, split="test"), family.generate(0, 9, seed=3)
    assert not {to_json(record) for record in [*other_seed, *other_split]} & set(whole)


@every_family
def test_records_and_payloads_survive_json(family: Family[Any, Any]) -> None:
    for record in family.generate(0, 3):
        payload = family.payload(record)
        assert msgspec.json.decode(to_json(record), type=family.skeleton_type) == record
        assert msgspec.json.decode(to_json(payload), type=family.payload_type) == payload
        assert type(payload) is family.payload_type


@every_family
def test_a_document_says_all_there_is_to_say_of_a_task(family: Family[Any, Any]) -> None:
    document = family.resolve()
    stored = json.loads(json.dumps(document))
    assert json.loads(json.dumps(family.resolve(task=stored))) == stored
    given = [to_json(record) for record in family.records(stored, 0, "train", [1])]
    assert given == [to_json(record) for record in family.records(document, 0, "train", [1])]


@every_family
def test_a_wrong_parameter_is_named(family: Family[Any, Any]) -> None:
    for arguments, message in (
        ({"first": -1, "count": 1}, "first"),
        ({"first": True, "count": 1}, "first"),
        ({"first": 0, "count": 0}, "count"),
        ({"first": 0, "count": 1, "seed": -1}, "seed"),
        ({"first": 0, "count": 1, "split": "validation"}, "'validation'"),
        ({"first": 0, "count": 1, "colour": "red"}, "colour: got 'red', but .* takes only length, task"),
    ):
        with pytest.raises(ValueError, match=message):
            family.generate(**arguments)


def test_lengths_and_sizes_reach_the_task() -> None:
    systems, worlds = load_family("hidden-system"), load_family("dynamic-world")
    assert next(systems.generate(0, 1, "medium")).complexity == 6
    assert next(systems.generate(0, 1, 5, task={"attributes": 6})).complexity == 5
    world = next(worlds.generate(0, 1, 3, entity_count=64, simulation_steps=500))
    assert (world.complexity, world.entity_count, world.simulation_steps) == (3, 64, 500)
    with pytest.raises(ValueError, match="length"):
        worlds.resolve("huge")


@pytest.mark.parametrize(("slug", "answers"), [("hidden-system", "PRESENT ABSENT"), ("dynamic-world", "YES NO")])
def test_the_score_of_a_query_is_whether_the_answer_is_the_gold(slug: str, answers: str) -> None:
    family = load_family(slug)
    for record in family.generate(0, 6):
        scores = {answer: family.score(record, answer) for answer in answers.split()}
        assert scores == {answer: float(answer == record.gold_answer) for answer in scores}
        assert sum(scores.values()) == 1.0
    assert (family.normalise(family.floor), family.normalise(family.ideal)) == (0.0, 1.0)


def test_worlds_are_those_that_the_env_plays() -> None:
    worlds = load_family("dynamic-world")
    env: Any = gym.make("DynamicWorld-v0").unwrapped
    env.reset(seed=5)
    (world,) = worlds.generate(0, 1, seed=5)
    assert env.step(0)[1] == worlds.score(world, "YES")


@every_family
def test_an_id_tells_nothing_that_the_payload_does_not(family: Family[Any, Any]) -> None:
    (record,) = family.generate(0, 1)
    renamed = msgspec.structs.replace(record, id="another")
    assert content_id(family.payload(renamed)) == content_id(family.payload(record))


def test_finding_families_imports_none_of_them() -> None:
    code = "import sys, veilgym.envs.core.family; print(*[m for m in sys.modules if m.endswith('.problems')])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_circuits_may_be_asked_after_experiments() -> None:
    circuits = load_family("causal-circuits")
    run = ["clamp-u-3", "clamp-x-0", "clamp-u-3"]
    (plain,), (record,) = circuits.generate(2, 1), circuits.generate(2, 1, experiments=run)
    payload = circuits.payload(record)
    assert [measurement.experiment for measurement in payload.measurements] == run
    readouts = plain.potential_readouts
    assert [measurement.values for measurement in payload.measurements] == [
        readouts["clamp-u-3"][0], readouts["clamp-x-0"][0], readouts["clamp-u-3"][1],
    ]  # fmt: skip
    assert (payload.credits, circuits.payload(plain).measurements) == (5, ())
    assert msgspec.structs.replace(record, experiments=()) == plain
    document = json.loads(json.dumps(circuits.resolve(experiments=run)))
    assert json.loads(json.dumps(circuits.resolve(task=document))) == document
    assert next(circuits.records(document, 0, "train", [2])) == record
    assert "experiments_run" not in circuits.resolve(experiments=[])
    assert (circuits.has_scale(circuits.resolve()), circuits.has_scale(document)) == (True, False)
    for wrong, message in (
        (["clamp-q"], "got 'clamp-q'"),
        (run[:1] * 3, "may be run 2 times"),
        ("clamp-u-3", "a list"),
    ):
        with pytest.raises(ValueError, match=message):
            circuits.resolve(experiments=wrong)
