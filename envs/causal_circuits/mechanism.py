"""The circuit's equations as arrays, and their evaluation.

Letters: N nodes (parents before children), K coefficients, L lanes. A lane is one evaluation: a replicate, a prediction
query, a sample of a posterior. Lanes are the last axis and the innermost loop, so the arithmetic is vectorised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.task import Query, Task
from veilgym.envs.core.elementary import tanh

ABSENT = -1
ROOT = -2


class Mechanism(NamedTuple):
    """A task's circuit as arrays.

    Attributes:
        wiring: (N, 1 + N) int64. Column 0 is the index of the node's bias coefficient (`ABSENT` if it has none, `ROOT` if
            the node has no equation); column 1 + p is the index of the coefficient on parent p, or `ABSENT`.
        low, high: (K,) float64, bounds of the uniform prior.
        outputs: (O,) int64, the observed nodes.
        measured: (R, N) float64, the clamped values of each row of a readout array; NaN where a node is free.
        predicted: (Q, N) float64, the same for the prediction queries.
        noise_std, scale: (O,) float64.
    """

    wiring: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    outputs: NDArray[np.int64]
    measured: NDArray[np.float64]
    predicted: NDArray[np.float64]
    noise_std: NDArray[np.float64]
    scale: NDArray[np.float64]


def compile_mechanism(task: Task) -> Mechanism:
    """Translate the names of `task` into indices."""
    nodes = {name: i for i, name in enumerate(task.nodes)}
    coefficients = {prior.coefficient: k for k, prior in enumerate(task.priors)}
    wiring = np.full((len(nodes), 1 + len(nodes)), ABSENT, np.int64)
    wiring[:, 0] = ROOT
    for equation in task.equations:
        row = wiring[nodes[equation.node]]
        row[0] = ABSENT if equation.bias is None else coefficients[equation.bias]
        for coefficient, parent in equation.weights:
            row[1 + nodes[parent]] = coefficients[coefficient]
    return Mechanism(
        wiring=wiring,
        low=np.array([prior.low for prior in task.priors]),
        high=np.array([prior.high for prior in task.priors]),
        outputs=np.array([nodes[name] for name in task.outputs]),
        measured=_clamps(task.measured_queries, nodes),
        predicted=_clamps(task.prediction_queries, nodes),
        noise_std=np.array(task.noise_std),
        scale=np.array(task.scale),
    )


def _clamps(queries: tuple[Query, ...], nodes: dict[str, int]) -> NDArray[np.float64]:
    clamps = np.full((len(queries), len(nodes)), np.nan)
    for row, query in zip(clamps, queries, strict=True):
        for node, value in query:
            row[nodes[node]] = value
    return clamps


@njit(cache=True, error_model="numpy")
def propagate(wiring, coefficients, values, lanes):  # type: ignore[no-untyped-def]
    """Evaluate every free node in place.

    Args:
        wiring: as in `Mechanism`.
        coefficients: (K, L) float64.
        values: (N, L) float64; on entry the clamped values and NaN, on return the value of every node.
        lanes: how many of the L lanes to evaluate.
    """
    argument = np.empty(lanes)
    for node in range(wiring.shape[0]):
        value = values[node]
        bias = wiring[node, 0]
        if bias == ROOT:
            for lane in range(lanes):
                value[lane] = 0.0 if np.isnan(value[lane]) else value[lane]
            continue
        for lane in range(lanes):
            argument[lane] = 0.0 if bias == ABSENT else coefficients[bias, lane]
        for parent in range(node):
            weight = wiring[node, 1 + parent]
            if weight != ABSENT:
                for lane in range(lanes):
                    argument[lane] += coefficients[weight, lane] * values[parent, lane]
        for lane in range(lanes):
            free = tanh(argument[lane])
            value[lane] = free if np.isnan(value[lane]) else value[lane]
