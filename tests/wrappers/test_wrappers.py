"""The views: their examples run, they do what they say, and the vector forms equal the scalar ones."""

from __future__ import annotations

import doctest
import json
from importlib import import_module
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import veilgym  # noqa: F401
from veilgym.agents.causal_circuits.prediction import Predictor
from veilgym.wrappers.discrete_experiments import DiscreteExperiments, VectorDiscreteExperiments
from veilgym.wrappers.flat_box_action import FlatBoxAction, VectorFlatBoxAction
from veilgym.wrappers.flatten_payload import FlattenPayload, VectorFlattenPayload

CIRCUITS, SYSTEMS, WORLDS = "CausalCircuits-v0", "HiddenSystem-v0", "DynamicWorld-v0"
MODULES = ("discrete_experiments", "flat_box_action", "flatten_payload", "stable_baselines")
PAIRS = {
    "experiments": (CIRCUITS, DiscreteExperiments, VectorDiscreteExperiments),
    "flat box": (CIRCUITS, FlatBoxAction, VectorFlatBoxAction),
    "flat circuits": (CIRCUITS, FlattenPayload, VectorFlattenPayload),
    "flat systems": (SYSTEMS, FlattenPayload, VectorFlattenPayload),
    "flat worlds": (WORLDS, FlattenPayload, VectorFlattenPayload),
}
every_pair = pytest.mark.parametrize("pair", list(PAIRS))


@pytest.mark.parametrize("module", MODULES)
def test_docstrings__examples_run(module):
    result = doctest.testmod(import_module(f"veilgym.wrappers.{module}"))
    assert result.attempted > 5
    assert result.failed == 0


@every_pair
@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_scalar__passes_gymnasiums_checker(pair):
    env_id, scalar, _ = PAIRS[pair]
    env = scalar(gym.make(env_id))
    check_env(env, skip_render_check=True)
    assert json.loads(env.spec.to_json())["additional_wrappers"][0]["name"] == scalar.__name__


@every_pair
@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_vector__equals_scalar_wrapped(pair, mode):
    env_id, scalar, vector = PAIRS[pair]
    envs = vector(gym.make_vec(env_id, num_envs=3, autoreset_mode=mode))
    peer = gym.vector.SyncVectorEnv(
        [lambda: scalar(gym.make(env_id))] * 3, autoreset_mode=gym.vector.AutoresetMode(mode)
    )
    assert envs.single_observation_space == peer.single_observation_space
    assert envs.single_action_space == peer.single_action_space
    envs.action_space.seed(0)
    same(envs.reset(seed=[5, 6, 7]), peer.reset(seed=[5, 6, 7]))
    for _ in range(30):
        actions = envs.action_space.sample()
        mine, its = envs.step(actions), peer.step(actions)
        same(mine, its)
        if mode == "Disabled" and (mine[2] | mine[3]).any():
            options = {"reset_mask": mine[2] | mine[3]}
            same(envs.reset(options=dict(options))[0], peer.reset(options=dict(options))[0])


def same(one: Any, other: Any) -> None:
    """Equal in structure, values and the kinds of arrays."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, tuple) or (isinstance(one, np.ndarray) and one.dtype == object):
        assert len(one) == len(other)
        for mine, its in zip(one, other, strict=True):
            same(mine, its)
    else:
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype.kind == np.asarray(other).dtype.kind


@pytest.mark.parametrize(
    ("name", "method"), [("mode", "least_squares"), ("mean", "posterior_mean"), ("best", "best_submission")]
)
def test_discrete_experiments__submits_what_the_estimator_says(name, method):
    env, plain = DiscreteExperiments(gym.make(CIRCUITS), estimator=name), gym.make(CIRCUITS)
    observation, _ = env.reset(seed=3)
    plain.reset(seed=3)
    for experiment in (0, 1, 4, 7, 8):
        observation = env.step(experiment)[0]
        plain.step({"choice": experiment, "prediction": np.zeros((8, 2))})
    prediction = getattr(Predictor(None), method)(observation)
    _, score, terminated, _, _ = plain.step({"choice": 12, "prediction": prediction})
    assert env.step(12)[1:3] == (score, terminated)
    assert score > 0


def test_discrete_experiments__takes_a_function():
    def middle(observations):
        return np.full((len(observations["credits"]), 8, 2), 0.1)

    env, plain = DiscreteExperiments(gym.make(CIRCUITS), middle), gym.make(CIRCUITS)
    env.reset(seed=3)
    plain.reset(seed=3)
    assert env.step(12)[1] == plain.step({"choice": 12, "prediction": np.full((8, 2), 0.1)})[1]


def test_discrete_experiments__says_what_is_wrong():
    with pytest.raises(ValueError, match="estimator must be one of 'mode', 'mean', 'best' or a function, got 'median'"):
        DiscreteExperiments(gym.make(CIRCUITS), estimator="median")
    for wrapper in (DiscreteExperiments, FlatBoxAction):
        with pytest.raises(ValueError, match="env must be one of CausalCircuits-v0, got"):
            wrapper(gym.make(SYSTEMS))


def test_flat_box_action__makes_the_preferred_choice_that_is_accepted():
    env = FlatBoxAction(gym.make(CIRCUITS))
    observation, _ = env.reset(seed=0)
    action = np.linspace(-1, 0, 29).astype(np.float32)
    action[3], action[5] = 1.0, 0.9
    for _ in range(5):
        observation, _, terminated, _, info = env.step(action)
        assert info["refusal"] == 0
    # Experiment 3 twice and experiment 5 twice, then the next preferred one, which submits.
    assert observation["replicates"][[4, 6]].tolist() == [2, 2]
    assert observation["replicates"].sum() == 5
    assert terminated


def test_flat_box_action__reads_the_prediction_row_by_row():
    env, plain = FlatBoxAction(gym.make(CIRCUITS)), gym.make(CIRCUITS)
    env.reset(seed=1)
    plain.reset(seed=1)
    matrix = np.linspace(-0.5, 0.5, 16).astype(np.float32)
    action = np.concatenate([np.eye(13, dtype=np.float32)[12], matrix])
    score = plain.step({"choice": 12, "prediction": matrix.reshape(8, 2).astype(np.float64)})[1]
    assert env.step(action)[1:3] == (score, True)
    assert score > 0


@pytest.mark.parametrize("env_id", [CIRCUITS, SYSTEMS, WORLDS])
def test_flatten_payload__loses_nothing(env_id):
    env = FlattenPayload(gym.make(env_id))
    flat, _ = env.reset(seed=0)
    original, _ = gym.make(env_id).reset(seed=0)
    assert env.observation_space.contains(flat)
    start = 0
    for key, box in env.env.observation_space.spaces.items():
        part = flat[start : start + box.shape[0]]
        scale = np.maximum(1, np.maximum(abs(box.low), abs(box.high))).astype(np.float32)
        restored = part * scale
        restored = np.rint(restored) if box.dtype.kind == "i" else restored
        np.testing.assert_allclose(restored, original[key], rtol=1e-6)
        start += box.shape[0]
    assert start == len(flat)


def test_flatten_payload__says_what_is_wrong():
    with pytest.raises(ValueError, match="env must have observations in a Dict of bounded Boxes, got"):
        FlattenPayload(gym.make("CartPole-v1"))
