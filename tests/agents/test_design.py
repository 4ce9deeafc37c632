"""The expected score of a design against simulation, its incremental updates against recomputation, and the planner."""

import numpy as np
import pytest

from veilgym.agents.causal_circuits import design as d
from veilgym.agents.causal_circuits import planner as p
from veilgym.agents.causal_circuits.bound import design_bound, enumerate_designs
from veilgym.envs.causal_circuits.mechanism import compile_mechanism
from veilgym.envs.causal_circuits.task import load_task, read_document

TASK = load_task()
MECHANISM = tuple(compile_mechanism(TASK))
TERMS = np.array([[1] * 12, [2] * 12])


def counts_of(design):
    return np.array([1, *design], np.int64)


def draws_of(size, seed=0):
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (7, size))


def small_task(**changes):
    document = read_document()
    del document["prediction_shape"], document["action_schema"]
    return load_task(document | changes)


def score_by_definition(z, design, size=200_000):
    """E[1 / (1 + q)] by drawing prediction errors from the linear Gaussian posterior."""
    jacobian = np.empty((13, 2, 7))
    loss = d.local_information(MECHANISM, z, jacobian)
    h = np.eye(7) + np.einsum("r,rok,roj->kj", counts_of(design), jacobian, jacobian)
    errors = np.random.default_rng(0).multivariate_normal(np.zeros(7), np.linalg.inv(h), size)
    scores = 1.0 / (1.0 + np.einsum("nk,kj,nj->n", errors, loss, errors))
    return scores.mean(), scores.std() / np.sqrt(size)


@pytest.mark.parametrize("design", [[2, 0, 0, 2, 1, 0, 0, 2, 0, 0, 0, 1], [0] * 12, [0, 0, 0, 2] + [0] * 8])
def test_expected_score__simulation(design):
    z = draws_of(1)
    _, ratio = d.prepare(MECHANISM, counts_of(design), z, 12)
    expected, error = score_by_definition(z[:, 0].copy(), design)
    # Four Gauss-Laguerre nodes are too few where hardly anything is known; designs that matter are compared far better.
    tolerance = 0.003 if sum(design) == 8 else 0.03
    assert d.expected_score(ratio) == pytest.approx(expected, abs=tolerance + 5 * error)


def test_change__equals_preparing_afresh_and_undoes_itself():
    z = draws_of(3)
    spread, ratio = d.prepare(MECHANISM, counts_of([0] * 12), z, 12)
    before = spread.copy(), ratio.copy()
    for experiment in (0, 3, 3, 8):
        d.change(spread, ratio, experiment, 2, 1)
    expected_spread, expected_ratio = d.prepare(MECHANISM, counts_of([1, 0, 0, 2] + [0] * 4 + [1, 0, 0, 0]), z, 12)
    np.testing.assert_allclose(spread, expected_spread, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ratio, expected_ratio, rtol=1e-7)
    for experiment in (3, 0, 8, 3):
        d.change(spread, ratio, experiment, 2, -1)
    np.testing.assert_allclose(spread, before[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ratio, before[1], rtol=1e-6)


def test_score_with__equals_adding():
    spread, ratio = d.prepare(MECHANISM, counts_of([1] + [0] * 11), draws_of(4), 12)
    for experiment in range(12):
        promised = d.score_with(spread, ratio, experiment, np.empty((2, 2)))
        added_spread, added_ratio = spread.copy(), ratio.copy()
        d.change(added_spread, added_ratio, experiment, 2, 1)
        assert promised == pytest.approx(d.expected_score(added_ratio), rel=1e-9)


def test_enumerate_designs__default_task():
    designs = enumerate_designs(TASK)
    assert len(designs) == 28_314
    assert len(np.unique(designs, axis=0)) == 28_314
    assert (designs.sum(axis=1) == 8).all()
    assert designs.min() == 0
    assert designs.max() == 2


def test_enumerate_designs__costs():
    experiments = [
        {"id": f"e{i}", "query": {"u": 1.0}, "cost": c, "max_replicates": 2} for i, c in enumerate((1, 2, 3))
    ]
    task = small_task(experiments=experiments, budget=4)
    found = {tuple(int(n) for n in design) for design in enumerate_designs(task)}
    every = {(a, b, c) for a in range(3) for b in range(3) for c in range(3) if a + 2 * b + 3 * c <= 4}

    def stuck(design):
        left = 4 - sum(n * cost for n, cost in zip(design, (1, 2, 3), strict=True))
        return all(n == 2 or cost > left for n, cost in zip(design, (1, 2, 3), strict=True))

    assert found == {design for design in every if stuck(design)}


def test_enumerate_designs__too_many():
    experiments = [{"id": f"e{i}", "query": {"u": 1.0}, "max_replicates": 3} for i in range(30)]
    with pytest.raises(ValueError, match="too many"):
        enumerate_designs(small_task(experiments=experiments, budget=12))


def test_planner__finds_the_best_of_all_designs():
    designs = enumerate_designs(small_task(budget=3))
    z = draws_of(8)
    scores = []
    for design in designs:
        _, ratio = d.prepare(MECHANISM, counts_of(design), z, 12)
        scores.append(d.expected_score(ratio))
    spread, ratio = d.prepare(MECHANISM, counts_of([0] * 12), z, 12)
    planned = p.plan(TERMS, spread, ratio, np.zeros(12, np.int64), 3, 10, True)
    found = np.bincount(planned, minlength=12)
    assert d.expected_score(ratio) == pytest.approx(max(scores), rel=1e-3)
    assert found.sum() == 3


def test_planner__fixed_design_is_the_best_of_all():
    # The planner searches greedily with exchanges; `design_bound` compares all 28,314.
    found = tuple(int(n) for n in p.Planner(TASK).fixed_design())
    assert found == design_bound(TASK, circuits=32).best_fixed


def test_planner__respects_costs_and_credits():
    experiments = [{"id": f"e{i}", "query": {"u": 1.0 + i}, "cost": 3, "max_replicates": 2} for i in range(2)]
    planner = p.Planner(small_task(experiments=experiments, budget=7))
    assert planner.fixed_design().sum() == 2
    broke = {
        "readouts": np.zeros((1, 3, 2, 2), np.float32),
        "replicates": np.array([[1, 0, 0]], np.int8),
        "credits": np.array([[2]], np.int32),
    }
    assert planner.next_experiment(broke)[0] == 2
    assert planner.next_experiment(broke | {"credits": np.array([[3]], np.int32)})[0] in (0, 1)


def test_bound__knowing_more_never_hurts():
    found = design_bound(small_task(budget=2), circuits=16)
    assert found.gain >= 0.0
    assert found.known_score == pytest.approx(found.fixed_score + found.gain)
    assert sum(found.best_fixed) == 2
    with pytest.raises(ValueError, match="circuits"):
        design_bound(TASK, circuits=1)
