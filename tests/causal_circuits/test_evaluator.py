"""The score is 1 / (1 + mean(((prediction - target) / scale)^2)), exactly, for whatever is submitted."""

from __future__ import annotations

import copy
import warnings

import gymnasium as gym
import numpy as np
import pytest

import veilgym  # noqa: F401
from veilgym.envs.causal_circuits.task import read_document

SCALE = 0.035


@pytest.fixture
def envs():
    made = gym.make_vec("CausalCircuits-v0", num_envs=300)
    made.reset(seed=0)
    return made


def submit(envs, prediction):
    """Scores (B,) of one prediction, or one per env, without touching `envs`."""
    batch = copy.deepcopy(envs)
    prediction = np.broadcast_to(prediction, (envs.num_envs, *envs.single_action_space["prediction"].shape))
    action = {"choice": np.full(envs.num_envs, len(envs.unwrapped.task.experiments)), "prediction": prediction}
    _, reward, terminated, _, _ = batch.step(action)
    assert terminated.all()
    return reward


def test_score__is_exactly_one_for_the_exact_targets(envs, hidden_coefficients, spec_targets):
    targets = spec_targets(hidden_coefficients(envs))
    assert (submit(envs, targets) == 1.0).all()


def test_score__is_exactly_one_in_the_scalar_env_after_experiments(hidden_coefficients, spec_targets):
    env = gym.make("CausalCircuits-v0")
    for seed in range(20):
        env.reset(seed=seed)
        for choice in range(8):
            env.step({"choice": choice, "prediction": np.zeros((8, 2))})
        _, reward, terminated, _, _ = env.step(
            {"choice": 12, "prediction": spec_targets(hidden_coefficients(env))[0].tolist()}
        )
        assert terminated
        assert reward == 1.0


def test_score__is_a_half_for_an_error_of_one_scale_everywhere(envs, hidden_coefficients, spec_targets):
    targets = spec_targets(hidden_coefficients(envs))
    signs = np.random.default_rng(0).choice([-1.0, 1.0], targets.shape)
    assert submit(envs, targets + SCALE * signs) == pytest.approx(0.5, abs=1e-12)


def test_score__agrees_with_the_formula_on_random_matrices(envs, hidden_coefficients, spec_targets):
    targets, rng = spec_targets(hidden_coefficients(envs)), np.random.default_rng(0)
    for spread in (1e-3, 0.03, 0.5, 10.0, 1e4):
        prediction = targets + spread * rng.normal(size=targets.shape)
        expected = 1 / (1 + (((prediction - targets) / SCALE) ** 2).reshape(len(targets), -1).mean(axis=1))
        assert submit(envs, prediction) == pytest.approx(expected, rel=1e-12, abs=0)


def test_score__divides_each_output_by_its_own_scale(hidden_coefficients, spec_targets):
    document = read_document()
    document["scoring"]["scale"] = [0.1, 2.0]
    envs = gym.make_vec("CausalCircuits-v0", num_envs=20, task=document)
    envs.reset(seed=0)
    targets = spec_targets(hidden_coefficients(envs))
    error = np.zeros((8, 2))
    error[:, 0] = 0.1
    assert submit(envs, targets + error) == pytest.approx(1 / 1.5, abs=1e-12)
    error[:, 1] = 2.0
    assert submit(envs, targets + error) == pytest.approx(0.5, abs=1e-12)
    error[:] = [[0.0, 6.0]] * 8
    assert submit(envs, targets + error) == pytest.approx(1 / 5.5, abs=1e-12)


def test_score__falls_with_the_size_of_the_error(envs, hidden_coefficients, spec_targets):
    targets, rng = spec_targets(hidden_coefficients(envs)), np.random.default_rng(0)
    direction = rng.normal(size=targets.shape)
    scores = np.array([submit(envs, targets + size * direction) for size in (0, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 1e3)])
    assert (np.diff(scores, axis=0) < 0).all()
    for cell in np.ndindex(8, 2):
        wrong = np.zeros((8, 2))
        wrong[cell] = SCALE
        assert submit(envs, targets + wrong) == pytest.approx(1 / (1 + 1 / 16), abs=1e-12)


@pytest.mark.parametrize("value", [1e-320, 1.0, 1e150, 1e154, 1e200, 1e308, -1e308, 1.7976931348623157e308])
def test_score__is_finite_and_silent_for_any_finite_matrix(envs, value):
    alternating = np.where(np.indices((8, 2)).sum(axis=0) % 2, value, -value)
    single = np.zeros((8, 2))
    single[3, 1] = value
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for prediction in (np.full((8, 2), value), alternating, single):
            scores = submit(envs, prediction)
            assert np.isfinite(scores).all()
            assert ((scores >= 0) & (scores <= 1)).all()


def test_score__of_swapped_columns_or_reversed_rows_is_below_one(envs, hidden_coefficients, spec_targets):
    targets = spec_targets(hidden_coefficients(envs))
    for wrong in (targets[:, :, ::-1], targets[:, ::-1], -targets):
        assert (submit(envs, wrong) < 1).mean() > 0.99
        assert submit(envs, wrong).mean() < 0.2


@pytest.mark.parametrize("constant", [0.0, 0.3])
def test_score__of_constant_targets_is_one_if_exact_and_finite_otherwise(constant, hidden_coefficients):
    """No denominator depends on the targets, so circuits without any variation are scored like others."""
    document = read_document()
    document["prior"] = f"bx,by ~ Uniform({constant},{constant}); wu,wv,wx,yu,yv ~ Uniform(0,0)"
    document["prediction_queries"] = document["prediction_queries"][:6]
    document["prediction_shape"] = [6, 2]
    envs = gym.make_vec("CausalCircuits-v0", num_envs=10, task=document)
    envs.reset(seed=0)
    bias = hidden_coefficients(envs)["bx"][0]
    assert bias == pytest.approx(constant, abs=1e-7)
    exact = np.full((6, 2), np.tanh(bias))
    assert (submit(envs, exact) == 1.0).all()
    for error in (1e-6, 1.0, 1e100):
        assert (submit(envs, exact + error) < 1.0).all()
        assert (submit(envs, exact + error) >= 0.0).all()


def test_score__takes_the_submitted_matrix_whatever_its_layout(hidden_coefficients, spec_targets):
    env = gym.make("CausalCircuits-v0").unwrapped
    env.reset(seed=0)
    targets = spec_targets(hidden_coefficients(env))[0]
    strided = np.zeros((16, 4))
    strided[::2, ::2] = targets
    for matrix in (
        targets,
        np.asfortranarray(targets),
        strided[::2, ::2],
        targets[::-1][::-1],
        targets.T.copy().T,
        targets.tolist(),
    ):
        reward = copy.deepcopy(env).step({"choice": 12, "prediction": matrix})[1]
        assert reward == 1.0
    single = targets.astype(np.float32)
    expected = 1 / (1 + np.mean(((single.astype(np.float64) - targets) / SCALE) ** 2))
    assert copy.deepcopy(env).step({"choice": 12, "prediction": single})[1] == pytest.approx(expected, abs=1e-12)


def test_score__zero_matrix_earns_the_floor_and_no_more(envs):
    """Junk in the right shape: measured 0.008 on average for the prior mean."""
    assert 0.003 < submit(envs, np.zeros((8, 2))).mean() < 0.02
