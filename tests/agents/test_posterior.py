"""The posterior against samplers and quadrature that share no code with it, and its building blocks against SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize

from veilgym.agents.causal_circuits.posterior import base_points, find_mode, sample, sensitivity
from veilgym.agents.causal_circuits.prediction import Predictor, summarise
from veilgym.envs.causal_circuits.mechanism import compile_mechanism
from veilgym.envs.causal_circuits.task import load_task, read_document

TASK = load_task()
NAMES = [prior.coefficient for prior in TASK.priors]
LOW = np.array([prior.low for prior in TASK.priors])
HIGH = np.array([prior.high for prior in TASK.priors])
DESIGNS = {
    "initial readout only": [0] * 12,
    "one experiment": [0, 0, 0, 1] + [0] * 8,
    "u only": [2, 2, 2, 2] + [0] * 8,
    "well spread": [2, 0, 0, 2, 1, 0, 0, 2, 0, 0, 0, 1],
}


def outputs_by_hand(theta, query):
    """The specification's equations for (..., 7) coefficients in the order of the prior."""
    c = dict(zip(NAMES, np.moveaxis(theta, -1, 0), strict=True))
    u, v = query.get("u", 0.0), query.get("v", 0.0)
    x = query["x"] + 0.0 * c["bx"] if "x" in query else np.tanh(c["bx"] + c["wu"] * u + c["wv"] * v)
    y = np.tanh(c["by"] + c["wx"] * x + c["yu"] * u + c["yv"] * v)
    return np.stack([x, y], axis=-1)


def simulate(design, seed):
    """One random circuit and its observation, batched over one episode."""
    rng = np.random.default_rng(seed)
    theta = rng.uniform(LOW, HIGH)
    readouts, replicates = np.zeros((1, 13, 2, 2), np.float32), np.zeros((1, 13), np.int8)
    for row, (query, count) in enumerate(zip(TASK.measured_queries, [1, *design], strict=True)):
        noise = rng.normal(0.0, 0.035, (count, 2))
        readouts[0, row, :count] = outputs_by_hand(theta, dict(query)) + noise
        replicates[0, row] = count
    return theta, {"readouts": readouts, "replicates": replicates}


def log_likelihood(theta, observation):
    total = np.zeros(theta.shape[:-1])
    for row, query in enumerate(TASK.measured_queries):
        for replicate in range(observation["replicates"][0, row]):
            residual = observation["readouts"][0, row, replicate] - outputs_by_hand(theta, dict(query))
            total -= 0.5 * (residual**2).sum(axis=-1) / 0.035**2
    return total


def metropolis(observation, seed, chains=256, steps=6000, burn=2000):
    """Mean and standard error of the targets under the posterior, by random walks within the prior's bounds."""
    rng = np.random.default_rng(seed)
    theta = rng.uniform(LOW, HIGH, (chains, 7))
    current = log_likelihood(theta, observation)
    total = np.zeros((chains, 8, 2))
    for step in range(steps):
        if step % 50 == 0 and step < burn:
            factor = np.linalg.cholesky(np.cov(theta.T) * 0.35 + 1e-6 * np.eye(7))
        proposal = theta + rng.normal(size=(chains, 7)) @ factor.T
        inside = ((proposal >= LOW) & (proposal <= HIGH)).all(axis=1)
        proposed = np.where(inside, log_likelihood(np.clip(proposal, LOW, HIGH), observation), -np.inf)
        accept = np.log(rng.random(chains)) < proposed - current
        theta[accept], current[accept] = proposal[accept], proposed[accept]
        if step >= burn:
            total += np.stack([outputs_by_hand(theta, dict(query)) for query in TASK.prediction_queries], axis=1)
    means = total / (steps - burn)
    return means.mean(axis=0), means.std(axis=0) / np.sqrt(chains)


@pytest.mark.parametrize("name", DESIGNS)
def test_posterior_mean__long_markov_chains(name):
    _, observation = simulate(DESIGNS[name], seed=len(name))
    expected, error = metropolis(observation, seed=1)
    found = Predictor(TASK, num_samples=16384).posterior_mean(observation)[0]
    # The last term is for our own sampling error, which is largest where the data say little.
    assert np.all(np.abs(found - expected) < 5.0 * error + 0.01), np.abs(found - expected).max()


def one_edge_task():
    """x = tanh(b + w u): two coefficients, so that a grid over the prior is exact."""
    document = read_document()
    document |= {
        "model": "x=tanh(b+w*u)",
        "prior": "b ~ Uniform(-0.5,0.5); w ~ Uniform(-2,2)",
        "outputs": ["x"],
        "noise_std": [0.2],
        "initial_queries": [],
        "experiments": [{"id": "a", "query": {"u": 1.0}, "max_replicates": 3}],
        "prediction_queries": [{"u": -1.0}, {"u": 2.0}],
        "budget": 3,
    }
    document["scoring"] = {"name": "inverse_normalized_mse", "scale": [0.2]}
    for restated in ("prediction_shape", "action_schema"):
        del document[restated]
    return load_task(document)


def grid_posterior(readouts):
    b, w = np.meshgrid(np.linspace(-0.5, 0.5, 801), np.linspace(-2.0, 2.0, 801), indexing="ij")
    log_weight = sum(-0.5 * ((r - np.tanh(b + w)) / 0.2) ** 2 for r in readouts) + 0.0 * b
    weight = np.exp(log_weight - log_weight.max())
    for axis in (0, 1):  # trapezoid rule
        edge = [slice(None)] * 2
        for end in (0, -1):
            edge[axis] = end
            weight[tuple(edge)] *= 0.5
    targets = np.stack([np.tanh(b - w), np.tanh(b + 2 * w)])
    return targets.reshape(2, -1), weight.ravel() / weight.sum()


def observe_one_edge(readouts):
    observation = {"readouts": np.zeros((1, 1, 3, 1), np.float32), "replicates": np.array([[len(readouts)]], np.int8)}
    observation["readouts"][0, 0, : len(readouts), 0] = readouts
    return observation


@pytest.mark.parametrize("readouts", [[], [0.3], [0.9, 1.1], [-1.3, -0.9, -1.0]])
def test_posterior_mean__quadrature(readouts):
    targets, weight = grid_posterior(readouts)
    found = Predictor(one_edge_task(), num_samples=16384).posterior_mean(observe_one_edge(readouts))[0, :, 0]
    np.testing.assert_allclose(found, targets @ weight, atol=2e-3)


@pytest.mark.parametrize("readouts", [[], [0.3], [0.9, 1.1]])
def test_best_submission__beats_a_grid_of_submissions(readouts):
    targets, weight = grid_posterior(readouts)

    def expected_score(submission):
        return weight @ (1.0 / (1.0 + (((np.asarray(submission)[:, None] - targets) / 0.2) ** 2).mean(axis=0)))

    predictor = Predictor(one_edge_task(), num_samples=16384)
    best = expected_score(predictor.best_submission(observe_one_edge(readouts))[0, :, 0])
    mean = expected_score(predictor.posterior_mean(observe_one_edge(readouts))[0, :, 0])
    candidates = [(a, b) for a in np.linspace(-1, 1, 21) for b in np.linspace(-1, 1, 21)]
    local = predictor.best_submission(observe_one_edge(readouts))[0, :, 0]
    nearby = [local + step for step in np.random.default_rng(0).normal(0.0, 0.05, (100, 2))]
    assert best >= mean - 1e-6
    if readouts:  # without any data the prior is symmetric, and the mean is a saddle between two maxima
        assert best >= max(expected_score(c) for c in nearby) - 1e-5
        assert best >= max(expected_score(c) for c in candidates) - 1e-3


def test_sensitivity__finite_differences():
    mechanism = compile_mechanism(TASK)
    z = np.random.default_rng(3).normal(size=7)
    value, gradient = np.empty((13, 2)), np.empty((13, 2, 7))
    arguments = (mechanism.wiring, mechanism.low, mechanism.high, mechanism.outputs, mechanism.measured)
    sensitivity(*arguments, z, value, gradient)
    theta = (LOW + HIGH) / 2 + (HIGH - LOW) / np.sqrt(12) * z
    expected = [outputs_by_hand(theta, dict(query)) for query in TASK.measured_queries]
    np.testing.assert_allclose(value, expected, atol=1e-12)
    for k in range(7):
        nudged = z + 1e-6 * np.eye(7)[k]
        theta = (LOW + HIGH) / 2 + (HIGH - LOW) / np.sqrt(12) * nudged
        moved = np.array([outputs_by_hand(theta, dict(query)) for query in TASK.measured_queries])
        np.testing.assert_allclose(gradient[:, :, k], (moved - value) / 1e-6, atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_find_mode__scipy(seed):
    _, observation = simulate(DESIGNS["well spread"], seed)

    def objective(z):
        return 0.5 * z @ z - log_likelihood((LOW + HIGH) / 2 + (HIGH - LOW) / np.sqrt(12) * z, observation)

    expected = minimize(objective, np.zeros(7), method="BFGS", options={"gtol": 1e-4})
    means, counts = summarise(observation, 2)
    found, _ = find_mode(tuple(compile_mechanism(TASK)), means[0], counts[0], 1.0)
    assert objective(found) <= expected.fun + 1e-4


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("seed", range(20))
def test_sample__effective_size_at_the_default_number(name, seed):
    _, observation = simulate(DESIGNS[name], seed)
    means, counts = summarise(observation, 2)
    theta, weight = np.empty((7, 1024)), np.empty(1024)
    effective = sample(tuple(compile_mechanism(TASK)), means[0], counts[0], base_points(7, 1024), theta, weight)
    assert effective == pytest.approx(1.0 / (weight**2).sum())
    assert effective > 100
    assert ((theta.T >= LOW) & (theta.T <= HIGH)).all()


def test_sample__without_data_is_the_prior():
    theta, weight = np.empty((7, 4096)), np.empty(4096)
    nothing = np.zeros((13, 2)), np.zeros(13, np.int64)
    sample(tuple(compile_mechanism(TASK)), *nothing, base_points(7, 4096), theta, weight)
    scaled = (theta - LOW[:, None]) / (HIGH - LOW)[:, None]
    for quantile in (0.1, 0.5, 0.9):
        np.testing.assert_allclose((scaled < quantile) @ weight, quantile, atol=0.03)


def test_base_points__evenly_spread():
    points = base_points(3, 3000)
    assert points.shape == (3, 3000)
    np.testing.assert_allclose(points.mean(axis=1), 0.5, atol=0.005)
    np.testing.assert_allclose(np.corrcoef(points), np.eye(3), atol=0.03)


def test_least_squares__recovers_a_circuit_without_noise():
    document = read_document()
    document["noise_std"] = [0.0, 0.0]
    task = load_task(document)
    theta = np.random.default_rng(5).uniform(LOW, HIGH)
    readouts, replicates = np.zeros((1, 13, 2, 2)), np.ones((1, 13), np.int8)
    for row, query in enumerate(task.measured_queries):
        readouts[0, row, 0] = outputs_by_hand(theta, dict(query))
    found = Predictor(task).least_squares({"readouts": readouts, "replicates": replicates})[0]
    expected = [outputs_by_hand(theta, dict(query)) for query in task.prediction_queries]
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_predictor__one_observation_or_a_batch():
    _, observation = simulate(DESIGNS["well spread"], seed=0)
    single = {key: value[0] for key, value in observation.items()}
    predictor = Predictor(None, num_samples=256)
    for method in (predictor.posterior_mean, predictor.best_submission, predictor.least_squares):
        assert method(single).shape == (8, 2)
        np.testing.assert_array_equal(method(single), method(observation)[0])
