"""Queries: decided by a second implementation, exactly as hard as asked, balanced, and matched with a counterpart."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from veilgym.envs.core.records import to_json
from veilgym.envs.dynamic_world import generate_worlds, renderer_payload
from veilgym.envs.dynamic_world.inference import shortest_proof
from veilgym.envs.dynamic_world.task import Task, make_task
from veilgym.envs.dynamic_world.worlds import make_worlds


def test_an_answer_set_solver_decides_every_query(
    length: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    """Two thousand worlds in all; disjointness read from left to right, as the rules say."""
    count = 667
    for payload, world in zip(worlds.payloads(length, count, 6), worlds.skeletons(length, count, 6), strict=True):
        assert second.decide(payload) == world["gold_answer"]


def test_the_symmetry_of_disjointness_decides_nothing(
    length: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    for payload, world in zip(worlds.payloads(length), worlds.skeletons(length), strict=True):
        assert second.decide(payload, is_symmetric=True) == world["gold_answer"]


def test_the_recorded_proof_suffices_and_needs_every_event(
    length: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    for payload, world in zip(worlds.payloads(length), worlds.skeletons(length), strict=True):
        proof = set(world["proof_event_ids"])
        assert len(proof) == length
        assert second.decide(payload, proof) == world["gold_answer"]
        for event in proof:
            assert second.decide(payload, proof - {event}) is None


@pytest.mark.parametrize("complexity", [2, 3, 4, 5, 6, 8, 10])
def test_the_shortest_proof_is_exactly_as_long_as_asked(
    complexity: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    for payload, world in zip(worlds.payloads(complexity, 30), worlds.skeletons(complexity, 30), strict=True):
        assert second.proof_length(payload) == (world["gold_answer"], complexity)


def test_the_query_is_never_stated(length: int, worlds: SimpleNamespace, second: SimpleNamespace) -> None:
    for payload in worlds.payloads(length):
        query = payload["query"]
        left, right = query["arguments"]
        facts = second.stated(payload["events"], query["predicate"])
        assert (left, right) not in facts
        assert (right, left) not in facts
        assert query["time"] == 1000


def test_families_carry_the_names_of_the_specification(length: int, worlds: SimpleNamespace) -> None:
    seen = set()
    for world in worlds.skeletons(length):
        if world["query"]["predicate"] == "ABOVE":
            assert world["family"] == "spatial_order"
        else:
            assert world["family"] == f"membership_{'inheritance' if world['gold_answer'] == 'YES' else 'disjointness'}"
        seen.add((world["family"], world["gold_answer"]))
    assert len(seen) == 4


def test_the_events_around_those_that_mention_an_argument_decide_nothing(
    length: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    for payload in worlds.payloads(length):
        arguments = set(payload["query"]["arguments"])
        events = payload["events"]
        mentions = [row for row, event in enumerate(events) if arguments & set(event["participants"])]
        near = {row for mention in mentions for row in range(mention - 10, mention + 11)}
        assert second.decide(payload, {event["id"] for row, event in enumerate(events) if row in near}) is None


def test_answers_are_balanced_in_every_family(length: int) -> None:
    batch = make_worlds(make_task(length), 4000, seed=2)
    for family in (0, 1):
        of_family = batch.queries[:, 0] == family
        assert abs(of_family.mean() - 0.5) < 4 * 0.5 / np.sqrt(4000)
        assert abs(batch.is_yes[of_family].mean() - 0.5) < 4 * 0.5 / np.sqrt(of_family.sum())


def test_arguments_of_an_order_have_equal_degrees(
    length: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    orders = [payload for payload in worlds.payloads(length) if payload["query"]["predicate"] == "ABOVE"]
    assert len(orders) > 10
    for payload in orders:
        left, right = payload["query"]["arguments"]
        assert second.degrees(payload, left) == second.degrees(payload, right)


def test_some_wrong_membership_has_the_degrees_of_the_right_one(
    length: int, worlds: SimpleNamespace, second: SimpleNamespace
) -> None:
    """Each question has a counterpart with the other answer in the same world, by the search of records."""
    for world in [world for world in worlds.records(length) if world.query.predicate == "MEMBER"][:12]:
        payload = json.loads(to_json(renderer_payload(world)))
        of = {name: second.degrees(payload, name) for name in payload["entity_types"]}
        entity, group = world.query.arguments
        pairs = [
            (x, g)
            for g in of
            if of[g] == of[group] and g[0] == group[0]
            for x in of
            if of[x] == of[entity] and x[0] == entity[0]
        ]
        others = (msgspec.structs.replace(world.query, arguments=pair) for pair in pairs)
        proofs = (shortest_proof(world.events, other) for other in others)
        opposite = ("NO" if world.gold_answer == "YES" else "YES", length)
        assert any(proof and (proof.answer, len(proof.event_ids)) == opposite for proof in proofs)


@pytest.mark.parametrize(("entity_count", "steps"), [(32, 1000), (64, 512), (512, 4000), (128, 250), (128, 4000)])
def test_other_sizes_of_world(entity_count: int, steps: int, second: SimpleNamespace) -> None:
    for world in generate_worlds(8, 4, 1, entity_count=entity_count, simulation_steps=steps):
        assert len(world.entities) == world.entity_count == entity_count
        document = json.loads(to_json(world))
        assert second.replay(document) == document["final_state"]
        payload = json.loads(to_json(renderer_payload(world)))
        assert second.proof_length(payload) == (world.gold_answer, 4)
        assert len({second.degrees(payload, name) for name in world.query.arguments}) == 1 or (
            world.family != "spatial_order"
        )


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (make_task(8, 128, 60), "no question of the family"),
        (make_task(8, 1024, 500), "no question of the family"),
    ],
)
def test_a_length_out_of_reach_fails_quickly(task: Task, message: str) -> None:
    start = time.perf_counter()
    with pytest.raises(ValueError, match=message):
        make_worlds(task, 1, seed=0)
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 1}, "length: got 1"),
        ({"length": "tiny"}, "length: got 'tiny'"),
        ({"length": 4.0}, "length: got 4.0"),
        ({"length": 60}, "length: got 60, allowed is a shorter one, .* 63 of type entity, and a world has 56"),
        ({"simulation_steps": 3}, "length: got 4, allowed is at most the number of steps, 3"),
        ({"entity_count": 4}, "entity_count: got 4"),
        ({"count": 0}, "count must be"),
        ({"seed": -1}, "seed must be"),
        ({"split": "dev"}, "split must be"),
        ({"first": -1}, "first must be"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate_worlds(**{"count": 1, **arguments})  # type: ignore[arg-type]
