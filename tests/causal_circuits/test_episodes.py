"""The laws of an instance: coefficients from their priors, normal and independent noise, readouts fixed at reset."""

from __future__ import annotations

from itertools import permutations

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

import veilgym  # noqa: F401
from veilgym.envs.causal_circuits.task import read_document

COUNT = 5000
BOUNDS = {"bx": 0.2, "by": 0.2, "wu": 0.9, "wv": 0.9, "wx": 0.9, "yu": 0.9, "yv": 0.9}
CLAMPS = [{node: value} for node in "uvx" for value in (-1.0, -0.4, 0.4, 1.0)]
ZEROS = np.zeros((8, 2))


def correlation_bound(count):
    """A correlation that independent columns of `count` numbers exceed once in two million pairs."""
    return 5 / np.sqrt(count)


def off_diagonal(columns):
    matrix = np.corrcoef(columns, rowvar=False)
    return np.abs(matrix - np.eye(len(matrix))).max()


@pytest.fixture(scope="module")
def everything():
    """Standardised noise of all 25 readouts of both outputs, (COUNT, 50), and the coefficients, (COUNT, 7)."""
    document = {**read_document(), "budget": 24}
    envs = gym.make_vec("CausalCircuits-v0", num_envs=COUNT, task=document)
    envs.reset(seed=list(range(COUNT)))
    for choice in [*range(12), *range(12)]:
        observation, *_, info = envs.step({"choice": np.full(COUNT, choice), "prediction": np.zeros((COUNT, 8, 2))})
        assert not info["refusal"].any()
    return envs, observation["readouts"].reshape(COUNT, 13, 2, 2)


@pytest.fixture
def coefficients(everything, hidden_coefficients):
    return hidden_coefficients(everything[0])


@pytest.fixture
def noise(everything, coefficients, spec_circuit):
    readouts = everything[1].astype(np.float64)
    columns = [readouts[:, 0, 0] - spec_circuit(coefficients, {})]
    for row, query in enumerate(CLAMPS):
        mean = spec_circuit(coefficients, query)
        columns += [readouts[:, 1 + row, replicate] - mean for replicate in range(2)]
    return np.concatenate(columns, axis=1) / 0.035


@pytest.mark.parametrize("name", BOUNDS)
def test_coefficient__is_uniform_over_neighbouring_seeds(coefficients, name):
    values, bound = coefficients[name], BOUNDS[name]
    assert np.abs(values).max() <= bound * (1 + 1e-6)  # float32
    assert stats.kstest(values, stats.uniform(-bound, 2 * bound).cdf).pvalue > 1e-3


def test_coefficient__is_uniform_along_one_sequence(hidden_coefficients):
    env = gym.make("CausalCircuits-v0").unwrapped
    env.reset(seed=0)
    drawn = []
    for _ in range(COUNT):
        env.reset()
        drawn.append([hidden_coefficients(env)[name][0] for name in BOUNDS])
    drawn = np.array(drawn)
    for column, bound in zip(drawn.T, BOUNDS.values(), strict=True):
        assert stats.kstest(column, stats.uniform(-bound, 2 * bound).cdf).pvalue > 1e-3
    assert off_diagonal(drawn) < correlation_bound(COUNT)
    lagged = np.concatenate([drawn[:-1], drawn[1:]], axis=1)
    assert off_diagonal(lagged) < correlation_bound(COUNT)


def test_coefficient__has_the_same_law_in_the_other_split(hidden_coefficients):
    envs = gym.make_vec("CausalCircuits-v0", num_envs=COUNT, split="test")
    envs.reset(seed=list(range(COUNT)))
    test = hidden_coefficients(envs)
    train_envs = gym.make_vec("CausalCircuits-v0", num_envs=COUNT)
    train_envs.reset(seed=list(range(COUNT)))
    train = hidden_coefficients(train_envs)
    for name, bound in BOUNDS.items():
        assert stats.kstest(test[name], stats.uniform(-bound, 2 * bound).cdf).pvalue > 1e-3
    assert off_diagonal(np.stack([*test.values(), *train.values()], axis=1)) < correlation_bound(COUNT)


def test_coefficients__are_uncorrelated_also_between_neighbouring_seeds(coefficients):
    columns = np.stack([coefficients[name] for name in BOUNDS], axis=1)
    assert off_diagonal(columns) < correlation_bound(COUNT)
    assert off_diagonal(np.concatenate([columns[:-1], columns[1:]], axis=1)) < correlation_bound(COUNT)


def test_prior__of_a_task_sets_the_range(hidden_coefficients):
    document = {
        **read_document(),
        "prior": "bx ~ Uniform(0.5,0.5); by,wu ~ Uniform(-3,-2); wv,wx,yu,yv independently Uniform(0,5)",
    }
    envs = gym.make_vec("CausalCircuits-v0", num_envs=2000, task=document)
    envs.reset(seed=0)
    drawn = hidden_coefficients(envs)
    assert (drawn["bx"] == 0.5).all()
    for name, low, high in (("by", -3, -2), ("wu", -3, -2), ("wv", 0, 5), ("yv", 0, 5)):
        assert stats.kstest(drawn[name], stats.uniform(low, high - low).cdf).pvalue > 1e-3


def test_noise__has_the_mean_and_deviation_of_the_task(noise):
    assert np.abs(noise.mean(axis=0)).max() < 4.5 / np.sqrt(COUNT)
    assert np.abs(noise.std(axis=0) - 1).max() < 4.5 / np.sqrt(2 * COUNT)


def test_noise__is_normal(noise):
    pvalues = [stats.kstest(column, "norm").pvalue for column in noise.T]
    assert min(pvalues) > 1e-4
    assert stats.kstest(pvalues, "uniform").pvalue > 1e-4
    assert stats.kstest(noise.ravel(), "norm").pvalue > 1e-3
    assert np.abs(stats.skew(noise, axis=None)) < 5 * np.sqrt(6 / noise.size)
    assert np.abs(stats.kurtosis(noise, axis=None)) < 5 * np.sqrt(24 / noise.size)
    for size in (1.0, 2.0, 3.0, 4.0):
        share, expected = (np.abs(noise) > size).mean(), 2 * stats.norm.sf(size)
        assert share == pytest.approx(expected, abs=5 * np.sqrt(expected / noise.size))


def test_noise__is_independent_across_outputs_replicates_experiments_and_of_the_coefficients(noise, coefficients):
    columns = np.concatenate([noise, np.stack(list(coefficients.values()), axis=1)], axis=1)
    assert off_diagonal(columns) < correlation_bound(COUNT)
    assert off_diagonal(np.abs(columns)) < correlation_bound(COUNT)


def test_noise__is_independent_between_neighbouring_seeds(noise):
    assert off_diagonal(np.concatenate([noise[:-1], noise[1:]], axis=1)) < correlation_bound(COUNT)


def test_noise__follows_the_deviation_of_each_output(spec_circuit, hidden_coefficients):
    envs = gym.make_vec("CausalCircuits-v0", num_envs=COUNT, task={**read_document(), "noise_std": [0.5, 3.0]})
    observation, _ = envs.reset(seed=0)
    error = observation["readouts"].reshape(COUNT, 13, 2, 2)[:, 0, 0] - spec_circuit(hidden_coefficients(envs), {})
    assert error.std(axis=0) == pytest.approx([0.5, 3.0], rel=4.5 / np.sqrt(2 * COUNT))


def test_noise__of_many_outputs_is_independent(hidden_coefficients):
    outputs = [f"n{i}" for i in range(7)]
    envs = gym.make_vec(
        "CausalCircuits-v0",
        num_envs=COUNT,
        task={
            "task_id": "wide",
            "version": "1",
            "budget": 3,
            "model": ", ".join(f"{name}=tanh(b)" for name in outputs),
            "prior": "b ~ Uniform(0,0)",
            "outputs": outputs,
            "noise_std": [1.0] * 7,
            "scoring": {"name": "inverse_normalized_mse", "scale": [1.0] * 7},
            "experiments": [{"id": "again", "query": {}, "max_replicates": 3}],
            "initial_queries": [{}, {"n0": 0.0}],
            "prediction_queries": [{}],
        },
    )
    envs.reset(seed=0)
    for _ in range(3):
        observation, *_ = envs.step({"choice": np.zeros(COUNT, int), "prediction": np.zeros((COUNT, 1, 7))})
    readouts = observation["readouts"].reshape(COUNT, 3, 3, 7)
    columns = np.concatenate([readouts[:, 0, 0], readouts[:, 1, 0], *readouts[:, 2].swapaxes(0, 1)], axis=1)
    assert columns.shape == (COUNT, 35)
    assert off_diagonal(columns) < correlation_bound(COUNT)
    assert min(stats.kstest(column, "norm").pvalue for column in columns.T) > 1e-4


def history(env, seed, choices):
    observation, _ = env.reset(seed=seed)
    for choice in choices:
        observation, *_ = env.step({"choice": choice, "prediction": ZEROS})
    return observation["readouts"].reshape(13, 2, 2)


def test_readout__does_not_depend_on_the_order_of_requests():
    env = gym.make("CausalCircuits-v0").unwrapped
    for seed in range(3):
        expected = history(env, seed, (0, 0, 5, 11))
        for order in set(permutations((0, 0, 5, 11))):
            assert (history(env, seed, order) == expected).all()


def test_readout__does_not_depend_on_what_else_was_asked():
    env = gym.make("CausalCircuits-v0").unwrapped
    for seed in range(10):
        alone = history(env, seed, (7, 7))[8]
        among_others = history(env, seed, (7, 99, 3, 7, -1, 7, 2, 0, 1))[8]
        assert (alone == among_others).all()
        assert (alone != 0).all()


def test_readout__is_revealed_only_when_it_is_bought():
    env = gym.make("CausalCircuits-v0").unwrapped
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        rng, counts = np.random.default_rng(seed), np.zeros(13, int)
        counts[0] = 1
        for choice in rng.integers(12, size=12):
            before = observation["readouts"].reshape(13, 2, 2)
            observation, _, _, _, info = env.step({"choice": int(choice), "prediction": ZEROS})
            after = observation["readouts"].reshape(13, 2, 2)
            changed = np.argwhere((before != after).any(axis=2)).tolist()
            if info["refusal"]:
                assert changed == []
            else:
                assert changed == [[1 + choice, counts[1 + choice]]]
                counts[1 + choice] += 1
            assert observation["replicates"].tolist() == counts.tolist()
            assert observation["credits"].tolist() == [8 - counts[1:].sum()]


def test_readout__is_not_clipped():
    """Readouts above 1 occur, as noise is added to values near 1 and not clipped."""
    envs = gym.make_vec("CausalCircuits-v0", num_envs=500)
    envs.reset(seed=0)
    observation, *_ = envs.step({"choice": np.full(500, 11), "prediction": np.zeros((500, 8, 2))})
    clamped = observation["readouts"].reshape(500, 13, 2, 2)[:, 12, 0, 0]
    assert 0.4 < (clamped > 1).mean() < 0.6
    assert len(np.unique(clamped)) > 450
