"""The boundary: the public record holds the specification's list of fields, and nothing hidden can change it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np

import veilgym  # noqa: F401 (registers the id)
from veilgym.envs.core.records import to_json
from veilgym.envs.dynamic_world.grammar import WorldSkeleton, decode
from veilgym.envs.dynamic_world.inference import latest_values
from veilgym.envs.dynamic_world.observation import decode as decode_observation
from veilgym.envs.dynamic_world.observation import encode, observation_space
from veilgym.envs.dynamic_world.payload import renderer_payload
from veilgym.envs.dynamic_world.task import make_task

PUBLIC = ["family", "complexity", "entity_types", "initial_observations", "events", "query", "answer_options"]


def keys_of(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for part in value.values() for key in keys_of(part)}
    return {key for part in value for key in keys_of(part)} if isinstance(value, list) else set()


def test_the_fields_are_those_of_the_specification(length: int, worlds: SimpleNamespace) -> None:
    for payload in worlds.payloads(length):
        assert list(payload) == PUBLIC
        assert payload["family"] in ("spatial_order", "membership")
        assert payload["answer_options"] == ["YES", "NO"]
        hidden = {"id", "levels", "gold_answer", "proof_facts", "transition_rules", "probability", "final_state"}
        assert keys_of(payload) & hidden == {"id"}  # of events and observations


def test_observations_are_the_locations_and_the_counters(worlds: SimpleNamespace) -> None:
    for payload, world in zip(worlds.payloads(4), worlds.skeletons(4), strict=True):
        facts = payload["initial_observations"]
        assert [fact["id"] for fact in facts] == [f"I{number:04d}" for number in range(1, 73)]
        places = {fact["arguments"][0]: fact["arguments"][1] for fact in facts if fact["relation"] == "LOCATED_IN"}
        numbers = {fact["arguments"][0]: fact["arguments"][1] for fact in facts if fact["relation"] == "EQUAL"}
        assert places == world["initial_state"]["locations"]
        assert numbers == world["initial_state"]["numeric_values"]


def test_what_is_hidden_changes_no_byte(length: int, worlds: SimpleNamespace) -> None:
    for world, other in zip(worlds.records(length)[:20], worlds.records(length)[20:40], strict=True):
        document, foreign = json.loads(to_json(world)), json.loads(to_json(other))
        hidden = ["id", "hidden_program", "final_state", "proof_event_ids", "proof_facts", "generator_checks"]
        for field in [*hidden, "gold_answer"]:
            document[field] = foreign[field]
        for field in ("hidden_generation_attributes", "boolean_flags"):
            document["initial_state"][field] = foreign["initial_state"][field]
        if world.family.startswith("membership"):
            swapped = {"membership_inheritance": "membership_disjointness"}
            document["family"] = swapped.get(world.family, "membership_inheritance")
        document["hidden_program"]["transition_rules"][0]["probability"] = 0.125
        changed = decode(json.dumps(document), WorldSkeleton)
        assert changed != world
        assert to_json(renderer_payload(changed)) == to_json(renderer_payload(world))


def test_latest_values_are_those_of_the_final_state(length: int, worlds: SimpleNamespace) -> None:
    for world in worlds.records(length):
        payload = renderer_payload(world)
        latest = latest_values(payload.initial_observations, payload.events, payload.query.time)
        assert latest.locations == world.final_state.locations
        assert latest.numeric_values == world.final_state.numeric_values
        assert latest.boolean_flags
        for (name, flag), value in latest.boolean_flags.items():
            assert world.final_state.boolean_flags[name][flag] is value


def test_latest_values_stop_at_the_time_of_the_question(worlds: SimpleNamespace) -> None:
    payload = renderer_payload(worlds.records(4)[0])
    event = next(event for event in payload.events if event.kind == "UPDATE_NUMBER")
    just_before = latest_values(payload.initial_observations, payload.events, event.time - 1)
    at_once = latest_values(payload.initial_observations, payload.events, event.time)
    counter = event.arguments["counter"]
    assert just_before.numeric_values[counter] == event.arguments["before"]
    assert at_once.numeric_values[counter] == event.arguments["after"]


def test_observations_hold_the_payload_without_loss(length: int, worlds: SimpleNamespace) -> None:
    """And an env plays the worlds that are generated as records, in their order."""
    task = make_task(length)
    env = gym.make("DynamicWorld-v0", length=length, disable_env_checker=True)
    observation, _ = env.reset(seed=5)
    for world in worlds.records(length)[:10]:
        payload = renderer_payload(world)
        arrays = encode(payload, task)
        assert observation_space(task).contains(arrays)
        assert decode_observation(arrays, task) == payload
        for key, array in observation.items():
            np.testing.assert_array_equal(array, arrays[key])
        observation, _ = env.reset()
