"""The observation and the public record are the same thing, and hold what was measured, in the task file's order."""

from __future__ import annotations

import dataclasses

import gymnasium as gym
import numpy as np
import pytest

import veilgym  # noqa: F401
from veilgym.envs.causal_circuits.payload import Payload, Readout, decode, encode, observation_space
from veilgym.envs.causal_circuits.task import load_task, read_document


def random_episode(env, seed):
    """(observation, accepted choices in order) after up to 10 random requests."""
    rng, accepted = np.random.default_rng(seed), []
    observation, _ = env.reset(seed=seed)
    for choice in rng.integers(13, size=rng.integers(10)) % 12:
        observation, *_, info = env.step({"choice": int(choice), "prediction": None})
        accepted += [int(choice)] if info["refusal"] == 0 else []
    return observation, accepted


def test_decode__lists_what_was_measured():
    env = gym.make("CausalCircuits-v0").unwrapped
    for seed in range(50):
        observation, accepted = random_episode(env, seed)
        payload = decode(observation, env.task)
        assert payload.credits == 8 - len(accepted)
        named = [(readout.experiment, readout.replicate) for readout in payload.readouts]
        expected = [(None, 0)]
        for choice in range(12):
            expected += [(env.task.experiments[choice].id, k) for k in range(accepted.count(choice))]
        assert named == expected
        by_id = {experiment.id: experiment.query for experiment in env.task.experiments}
        for readout in payload.readouts:
            assert readout.query == (by_id[readout.experiment] if readout.experiment else (("u", 0.0), ("v", 0.0)))
            assert all(type(value) is float and value == np.float32(value) for value in readout.values)


def test_decode__loses_nothing():
    env = gym.make("CausalCircuits-v0").unwrapped
    for seed in range(50):
        observation, _ = random_episode(env, seed)
        again = encode(decode(observation, env.task), env.task)
        assert {key: (a.dtype, a.shape, a.tobytes()) for key, a in again.items()} == {
            key: (a.dtype, a.shape, a.tobytes()) for key, a in observation.items()
        }


def test_encode__is_inverted_by_decode_in_a_task_without_initial_query():
    document = {**read_document(), "initial_queries": []}
    document["experiments"][3]["max_replicates"] = 4
    task = load_task(document)
    readouts = tuple(
        Readout(task.experiments[i].id, task.experiments[i].query, k, (0.5 * k, float(np.float32(0.1 * i))))
        for i in (1, 3)
        for k in range(2)
    )
    payload = Payload(4, readouts)
    assert decode(encode(payload, task), task) == payload


def test_payload__is_frozen():
    payload = Payload(8, ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        payload.credits = 9


def test_observation_space__holds_the_largest_noise_of_the_generator():
    """|z| < 6.7 by construction, so a space that reaches 6.7 deviations beyond every mean is never left."""
    document = {**read_document(), "noise_std": [0.5, 2.0]}
    document["experiments"][0]["query"] = {"x": -3.0}
    space = observation_space(load_task(document))
    readouts = space["readouts"]
    assert np.isfinite(readouts.low).all()
    assert np.isfinite(readouts.high).all()
    high = readouts.high.reshape(-1, 2)
    low = readouts.low.reshape(-1, 2)
    assert (high.min(axis=0) >= [3 + 6.7 * 0.5, 1 + 6.7 * 2]).all()
    assert (low.max(axis=0) <= [-3 - 6.7 * 0.5, -1 - 6.7 * 2]).all()


def test_observation_space__of_a_task_without_credits_or_noise_is_valid():
    for changes in ({"budget": 0}, {"noise_std": [0.0, 0.0]}):
        env = gym.make("CausalCircuits-v0", task={**read_document(), **changes})  # warns if a box is a point
        observation, info = env.reset(seed=0)
        assert env.observation_space.contains(observation)
        assert info["action_mask"].any()
