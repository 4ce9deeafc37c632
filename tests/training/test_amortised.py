"""Amortised inference: circuits are simulated as the env does, and a network learns from them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch

from veilgym.agents.causal_circuits.amortised import AmortisedEstimator, random_designs, simulate, train_amortised
from veilgym.envs.causal_circuits.task import load_task

TASK = load_task(None)


def test_simulate__agrees_with_the_specification(spec_circuit, spec_targets):
    rng = np.random.default_rng(0)
    observations, targets = simulate(TASK, np.full((20_000, 12), 2), rng)
    assert observations["readouts"].shape == (20_000, 52)
    assert observations["readouts"].dtype == np.float32
    assert set(observations["credits"][:, 0].tolist()) == {8 - 24}
    assert (observations["replicates"][:, 0] == 1).all()
    # The same circuits again: the first draw of the generator is the coefficients.
    names = [prior.coefficient for prior in TASK.priors]
    low, high = (np.array([getattr(prior, end) for prior in TASK.priors]) for end in ("low", "high"))
    drawn = np.random.default_rng(0).uniform(low[:, None], high[:, None], (len(names), 20_000))
    coefficients = dict(zip(names, drawn, strict=True))
    np.testing.assert_allclose(targets, spec_targets(coefficients), atol=1e-9)
    readouts = observations["readouts"].reshape(-1, 13, 2, 2)
    for row, query in enumerate(TASK.measured_queries):
        clean = spec_circuit(coefficients, dict(query))
        noise = readouts[:, row, : 1 + (row > 0)] - clean[:, None]
        assert np.abs(noise.mean(axis=(0, 1))).max() < 0.002
        np.testing.assert_allclose(noise.std(axis=(0, 1)), 0.035, rtol=0.03)
    assert (readouts[:, 0, 1] == 0).all()


def test_random_designs__spend_the_budget():
    runs = random_designs(TASK)(500, np.random.default_rng(0))
    assert (runs.sum(axis=1) == 8).all()
    assert runs.min() == 0
    assert runs.max() == 2
    assert np.ptp(runs.mean(axis=0)) < 0.25


def test_train__learns():
    torch.manual_seed(0)
    estimator, designs, reports = AmortisedEstimator(TASK, width=64), random_designs(TASK), []
    train_amortised(estimator, designs, 20_000, seed=0, batch=256, report=lambda _, score: reports.append(score))
    observations, targets = simulate(TASK, designs(2000, np.random.default_rng(1)), np.random.default_rng(2))
    prediction = estimator(observations)
    assert prediction.shape == (2000, 8, 2)
    assert prediction.dtype == np.float64
    score = (1 / (1 + (((prediction - targets) / 0.035) ** 2).mean(axis=(1, 2)))).mean()
    assert score > 0.04 > 4 * reports[0]
