"""Counterfactual twins: one event apart, both as well-formed as any world, and opposite in their answers."""

from __future__ import annotations

import json
import time
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from veilgym.agents.dynamic_world.features import one_hop, two_hop
from veilgym.agents.dynamic_world.history import read_history
from veilgym.agents.dynamic_world.inference import YES
from veilgym.agents.dynamic_world.ladder import SHALLOW, CompleteSolver
from veilgym.envs.core.records import to_json
from veilgym.envs.dynamic_world import generate_twins, generate_worlds, renderer_payload
from veilgym.envs.dynamic_world.grammar import WorldSkeleton
from veilgym.envs.dynamic_world.observation import observe, types_of
from veilgym.envs.dynamic_world.task import Task, make_task
from veilgym.envs.dynamic_world.twins import TwinMaker
from veilgym.envs.dynamic_world.verification import verify_proof

Json = dict[str, Any]

COUNT = 20


def read(record: Any) -> Json:
    document: Json = json.loads(to_json(record))
    return document


@pytest.fixture(scope="module", params=[3, 4, 6, 8])
def pairs(request: pytest.FixtureRequest) -> list[tuple[WorldSkeleton, WorldSkeleton]]:
    return list(generate_twins(COUNT, request.param, 2))


def test_payloads_differ_in_one_event_at_one_time(pairs: list[tuple[WorldSkeleton, WorldSkeleton]]) -> None:
    for pair in pairs:
        one, other = (read(renderer_payload(world)) for world in pair)
        assert [name for name in one if one[name] != other[name]] == ["events"]
        ((event, twin),) = [both for both in zip(one["events"], other["events"], strict=True) if both[0] != both[1]]
        assert (event["id"], event["time"], event["kind"]) == (twin["id"], twin["time"], "RELATE")
        assert event["arguments"]["relation"] == twin["arguments"]["relation"]
        if event["arguments"]["relation"] == "MEMBER":
            assert event["arguments"]["entity"] == twin["arguments"]["entity"]


def test_both_are_proven_and_opposite(
    pairs: list[tuple[WorldSkeleton, WorldSkeleton]], second: SimpleNamespace
) -> None:
    for pair in pairs:
        assert {world.gold_answer for world in pair} == {"YES", "NO"}
        for world in pair:
            payload = renderer_payload(world)
            document, k = read(payload), world.complexity
            assert second.proof_length(document) == (world.gold_answer, k)
            verify_proof(payload, world.gold_answer, world.proof_event_ids, world.proof_facts)
            assert len(world.proof_event_ids) == k == world.generator_checks.shortest_proof_events
            assert world.generator_checks.query_is_no_direct_event


def test_an_answer_set_solver_decides_both(
    pairs: list[tuple[WorldSkeleton, WorldSkeleton]], second: SimpleNamespace
) -> None:
    for world in (world for pair in pairs[:8] for world in pair):
        payload = read(renderer_payload(world))
        assert second.decide(payload, is_symmetric=True) == world.gold_answer
        assert second.decide(payload, set(world.proof_event_ids)) == world.gold_answer


def test_the_changed_event_is_part_of_both_proofs(pairs: list[tuple[WorldSkeleton, WorldSkeleton]]) -> None:
    for one, other in pairs:
        changed = next(event.id for event, twin in zip(one.events, other.events, strict=True) if event != twin)
        assert changed in one.proof_event_ids
        assert changed in other.proof_event_ids


def test_each_could_have_happened(pairs: list[tuple[WorldSkeleton, WorldSkeleton]], second: SimpleNamespace) -> None:
    """Replay; adjacent levels; no more facts at a symbol than the preconditions allow; members at the bottom."""
    for world in (read(world) for pair in pairs for world in pair):
        assert second.replay(world) == world["final_state"]
        level = world["initial_state"]["hidden_generation_attributes"]["levels"]
        facts = {name: second.stated(world["events"], name) for name in ("ABOVE", "SUBSET", "MEMBER", "DISJOINT")}
        assert all(level[right] == level[left] + 1 for left, right in facts["ABOVE"] + facts["SUBSET"])
        assert all(level[group] < 3 for _, group in facts["MEMBER"])
        assert all(abs(level[left] - level[right]) <= 1 for left, right in facts["DISJOINT"])
        assert all(len(set(pairs)) == len(pairs) for pairs in facts.values())
        for name, most in (("ABOVE", (2, 2)), ("SUBSET", (2, 1)), ("MEMBER", (2, len(level)))):
            for side in (0, 1):
                assert max(Counter(pair[side] for pair in facts[name]).values()) <= most[side]
        assert max(Counter(name for pair in facts["DISJOINT"] for name in pair).values()) <= 2


def test_no_membership_contradicts_a_disjointness(
    pairs: list[tuple[WorldSkeleton, WorldSkeleton]], second: SimpleNamespace
) -> None:
    for world in (read(world) for pair in pairs for world in pair):
        above = {entity["id"]: {entity["id"]} for entity in world["entities"] if entity["type"] == "Set"}
        for _ in range(12):
            for child, parent in second.stated(world["events"], "SUBSET"):
                above[child] |= above[parent]
        inside = dict(above)
        for entity, group in second.stated(world["events"], "MEMBER"):
            inside[entity] = inside.get(entity, set()) | above[group]
        disjoint = second.stated(world["events"], "DISJOINT")
        assert not any({left, right} <= groups for left, right in disjoint for groups in inside.values())


def test_arguments_have_equal_degrees_in_both(
    pairs: list[tuple[WorldSkeleton, WorldSkeleton]], second: SimpleNamespace
) -> None:
    for one, other in pairs:
        first, twin = read(renderer_payload(one)), read(renderer_payload(other))
        for name in one.query.arguments:
            assert second.degrees(first, name) == second.degrees(twin, name)
        assert one.generator_checks.matching == other.generator_checks.matching


def test_families_and_answers_are_drawn() -> None:
    seen: Counter[tuple[int, bool]] = Counter()
    maker = TwinMaker(make_task(6), "train", 0)
    for index in range(400):
        worlds = maker.make(index).worlds
        seen[int(worlds.queries[0, 0]), bool(worlds.is_yes[0])] += 1
    assert len(seen) == 4
    # Four standard errors of a quarter.
    assert all(abs(share / 400 - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 400) for share in seen.values())


def drawn(length: int, count: int) -> tuple[dict[str, np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """The worlds of some pairs as observations, (2 n, ...), and whether YES is right, (2 n,)."""
    task = make_task(length)
    maker = TwinMaker(task, "test", 1)
    batches = [maker.make(index).worlds for index in range(count)]
    parts = [observe(batch, task, types_of(task)) for batch in batches]
    return (
        {key: np.concatenate([part[key] for part in parts]) for key in parts[0]},
        np.concatenate([batch.is_yes for batch in batches]),
    )


def test_shallow_agents_cannot_tell_twins_apart(length: int) -> None:
    observations, is_yes = drawn(length, 150)
    task = make_task(length)
    is_right = {
        agent.name: (agent(task).act_batch(observations) == YES) == is_yes for agent in (*SHALLOW, CompleteSolver)
    }
    assert is_right.pop(CompleteSolver.name).all()
    for name, right in is_right.items():
        # An answer is right for half of the worlds, both are right for a quarter of the pairs: four standard errors.
        assert right.mean() <= 0.5 + 4 * 0.5 / np.sqrt(300), name
        assert right.reshape(-1, 2).all(axis=1).mean() <= 0.25 + 4 * np.sqrt(0.25 * 0.75 / 150), name


def test_what_is_near_the_arguments_is_the_same_in_both(length: int) -> None:
    """So no classifier on direct facts, times and mentions can be right about both, whatever it has learned."""
    observations, _ = drawn(length, 100)
    history = read_history(observations)
    near, far = (table(history).reshape(100, 2, -1) for table in (one_hop, two_hop))
    np.testing.assert_array_equal(near[:, 0], near[:, 1])
    if length > 4:
        down, up, width = 0, 11, 100  # walks by two facts ABOVE; of the left argument, then of the right one
        orders = far[history.is_order[::2]][:, :, [down, up, width + down, width + up]]
        assert orders.any()
        np.testing.assert_array_equal(orders[:, 0], orders[:, 1])


def test_a_pair_depends_on_its_index_alone() -> None:
    whole = [[to_json(world) for world in pair] for pair in generate_twins(4, "short", 3)]
    again = [[to_json(world) for world in pair] for pair in generate_twins(2, 4, 3, first=2, task=make_task(4))]
    assert whole[2:] == again
    assert whole[0][0] not in {to_json(world) for world in generate_worlds(4, "short", 3)}
    for other in (generate_twins(1, "short", 4), generate_twins(1, "short", 3, split="test")):
        ((one, _),) = other
        assert json.loads(to_json(one))["events"] != json.loads(whole[0][0])["events"]


@pytest.mark.parametrize(("entity_count", "steps"), [(40, 1000), (256, 3000)])
def test_other_sizes_of_world(entity_count: int, steps: int, second: SimpleNamespace) -> None:
    for pair in generate_twins(6, 4, 1, entity_count=entity_count, simulation_steps=steps):
        for world in pair:
            assert len(world.entities) == entity_count
            document = read(world)
            assert second.replay(document) == document["final_state"]
            assert second.proof_length(read(renderer_payload(world))) == (world.gold_answer, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 2}, "length: got 2, allowed is a length of at least 3"),
        ({"length": "tiny"}, "length: got 'tiny'"),
        ({"length": 8, "entity_count": 32}, "length: got 8, allowed is a shorter one, .* 16 of type entity, .* has 14"),
        ({"count": 0}, "count must be"),
        ({"seed": -1}, "seed must be"),
        ({"split": "dev"}, "split must be"),
        ({"first": -1}, "first must be"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments: Json, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate_twins(**{"count": 1, **arguments})


def test_worlds_without_twins_fail_quickly() -> None:
    start = time.perf_counter()
    with pytest.raises(
        ValueError, match=r"no twins of the family .* events in 200 worlds of 128 entities and 40 steps"
    ):
        list(generate_twins(4, task=Task(complexity=8, simulation_steps=40)))
    assert time.perf_counter() - start < 20
