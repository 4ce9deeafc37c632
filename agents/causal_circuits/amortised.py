"""Amortised inference for circuits: a network that learns from simulated circuits to predict; needs the extra `train`.

Letters: B circuits, R measured queries, O outputs, Q prediction queries, K coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from veilgym.agents.causal_circuits.encoder import record_features
from veilgym.envs.causal_circuits.mechanism import compile_mechanism, propagate, terms_of
from veilgym.envs.causal_circuits.task import Task

Designs = Callable[[int, np.random.Generator], NDArray[np.int64]]
"""From a number B and a generator to how often each experiment is run, (B, E)."""

_LAST_PART = 0.4  # of the training, in which the score itself is maximised


class AmortisedEstimator(nn.Module):
    """Predictions from readouts by a network; knows of the circuit what it has learned from simulated ones.

    Args:
        task: The public task.
        width: Of the hidden layers.
    """

    def __init__(self, task: Task, width: int = 256) -> None:
        super().__init__()
        self.task = task
        rows, outputs = len(task.measured_queries), len(task.outputs)
        self.first = nn.Linear(rows * (2 * outputs + 2) + 1, width)
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])
        self.last = nn.Linear(width, int(np.prod(task.prediction_shape)))

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """(B, Q, O) predictions."""
        task = self.task
        features = record_features(observations, len(task.outputs), float(task.max_replicates), float(task.budget or 1))
        hidden = torch.nn.functional.silu(self.first(features))
        for layer in self.layers:
            hidden = hidden + torch.nn.functional.silu(layer(hidden))
        return torch.tanh(self.last(hidden)).view(-1, *task.prediction_shape)

    def __call__(self, observations: Any) -> Any:
        """As `forward` for tensors; for arrays, as an estimator of `DiscreteExperiments`, arrays of float64."""
        if isinstance(observations["replicates"], Tensor):
            return super().__call__(observations)
        with torch.no_grad():
            tensors = {key: torch.as_tensor(value) for key, value in observations.items()}
            return super().__call__(tensors).numpy().astype(np.float64)


def train_amortised(
    estimator: AmortisedEstimator,
    designs: Designs,
    circuits: int,
    seed: int,
    learning_rate: float = 2e-3,
    batch: int = 512,
    report: Callable[[int, float], None] = lambda _, __: None,
) -> None:
    """Train on fresh simulated circuits; the logarithm of the score first, then the score itself.

    Args:
        estimator: Trained in place.
        designs: Which experiments were run.
        circuits: How many circuits are simulated in all.
        seed: Names them.
        learning_rate: At first; it falls to 0.
        batch: Circuits in a step.
        report: Called now and then with the circuits so far and the mean score of a batch.
    """
    rng = np.random.default_rng([seed, 0x5EED])
    scale = torch.as_tensor(np.asarray(compile_mechanism(estimator.task).scale), dtype=torch.float32)
    optimizer = torch.optim.Adam(estimator.parameters(), lr=learning_rate)
    steps = max(1, circuits // batch)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * (1.0 - step / steps)
        observations, targets = simulate(estimator.task, designs(batch, rng), rng)
        prediction = estimator({key: torch.as_tensor(value) for key, value in observations.items()})
        distance = (((prediction - torch.as_tensor(targets, dtype=torch.float32)) / scale) ** 2).mean(dim=(1, 2))
        score = 1.0 / (1.0 + distance)
        loss = torch.log1p(distance).mean() if step < (1.0 - _LAST_PART) * steps else -score.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % max(1, steps // 20) == 0:
            report(step * batch, score.mean().item())


def simulate(
    task: Task, runs: NDArray[np.int64], rng: np.random.Generator
) -> tuple[dict[str, NDArray[Any]], NDArray[np.float64]]:
    """Circuits drawn from the prior, the observations that experiments give, and the noiseless targets.

    Args:
        task: The public task.
        runs: (B, E) how often each experiment is run.
        rng: Draws circuits and noise.

    Returns:
        Observations as the env's, batched over B; targets (B, Q, O).
    """
    mechanism = compile_mechanism(task)
    batch, replicates = len(runs), task.max_replicates
    coefficients = rng.uniform(mechanism.low[:, None], mechanism.high[:, None], (len(mechanism.low), batch))
    clean, targets = (_outputs(mechanism, coefficients, clamps) for clamps in (mechanism.measured, mechanism.predicted))
    noise = rng.standard_normal((*clean.shape[:2], replicates, clean.shape[2])) * mechanism.noise_std
    counts = np.concatenate([np.ones((batch, len(task.initial_queries)), np.int64), runs], axis=1)
    is_run = np.arange(replicates) < counts[:, :, None]
    readouts = np.where(is_run[..., None], clean[:, :, None] + noise, 0.0)
    observations = {
        "readouts": readouts.reshape(batch, -1).astype(np.float32),
        "replicates": counts.astype(np.int8),
        "credits": (task.budget - runs @ terms_of(task)[0])[:, None].astype(np.int32),
    }
    return observations, targets


def random_designs(task: Task) -> Designs:
    """All measurements on offer in a random order, as many as the credits pay for."""
    costs, limits = terms_of(task)
    offered = np.repeat(np.arange(len(limits)), limits)

    def draw(batch: int, rng: np.random.Generator) -> NDArray[np.int64]:
        order = offered[rng.random((batch, len(offered))).argsort(axis=1)]
        affordable = costs[order].cumsum(axis=1) <= task.budget
        runs = np.zeros((batch, len(limits)), np.int64)
        np.add.at(runs, (np.arange(batch)[:, None], order), affordable)
        return runs

    return draw


def _outputs(mechanism: Any, coefficients: NDArray[np.float64], clamps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Noiseless outputs (B, queries, O) of B circuits (K, B) under clamps (N, queries)."""
    batch = coefficients.shape[1]
    values = np.empty((len(mechanism.wiring), batch))
    out = np.empty((batch, clamps.shape[1], len(mechanism.outputs)))
    for query in range(clamps.shape[1]):
        propagate(mechanism.wiring, coefficients, clamps, query, values, batch)
        out[:, query] = values[mechanism.outputs].T
    return out
