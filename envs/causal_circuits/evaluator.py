"""The score of a prediction: inverse normalised mean square error against the noiseless targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.mechanism import Mechanism, propagate
from veilgym.envs.core.elementary import kernel

_VECTOR = 8  # numbers in a vector of the processor; a loop over whole vectors has no slow remainder


def targets(mechanism: Mechanism, coefficients: NDArray[np.float32]) -> NDArray[np.float64]:
    """Noiseless outputs (Q, O) float64 of the circuit with the given coefficients (K,) under the prediction queries."""
    num_nodes, num_queries = mechanism.predicted.shape
    column, values = coefficients.astype(np.float64).reshape(-1, 1), np.empty((num_nodes, 1))
    target = np.empty((num_queries, len(mechanism.outputs)))
    for query in range(num_queries):
        propagate(mechanism.wiring, column, mechanism.predicted, query, values, 1)
        target[query] = values[mechanism.outputs, 0]
    return target


def score(prediction: NDArray[np.float64], target: NDArray[np.float64], scale: NDArray[np.float64]) -> float:
    """The score of one submission (Q, O) against its target (Q, O), with the scale (O,) of each output.

    1 / (1 + mean(((prediction - target) / scale)**2)): 1 if exact, 0.5 if off by one scale everywhere; 0 on overflow.
    """
    with np.errstate(over="ignore"):
        return float(1.0 / (1.0 + np.mean(((prediction - target) / scale) ** 2)))


def working_space(num_nodes: int, num_coefficients: int, count: int) -> NDArray[np.float64]:
    """Room for `score_submissions` to score `count` submissions at a time: (N + K + 1, count) float64."""
    return np.zeros((num_nodes + num_coefficients + 1, count))


@kernel
def score_submissions(constants, coefficients, submissions, which, count, space, reward):  # type: ignore[no-untyped-def]
    """Write the `score` of many submissions.

    Args:
        constants: the arrays of a task, as the engine packs them.
        coefficients: (K, B) float32.
        submissions: (B, Q, O) float64.
        which: uint64 numbers, whose first `count` are the submissions to score.
        space: the `working_space` for `count` submissions or more.
        reward: (B,) float64, written.
    """
    wiring, _, outputs, clamps, columns, _ = constants
    num_nodes, num_outputs, num_queries = wiring.shape[0], outputs.size, submissions.shape[1]
    values, spread, total = space[:num_nodes], space[num_nodes:-1], space[-1]
    for k in range(coefficients.shape[0]):
        for j in range(count):
            spread[k, j] = coefficients[k, which[j]]
    for j in range(count):
        total[j] = 0.0
    lanes = min(-(-count // _VECTOR) * _VECTOR, space.shape[1])
    for query in range(num_queries):
        propagate(wiring, spread, clamps, clamps.shape[1] - num_queries + query, values, lanes)
        for column in range(num_outputs):
            value, unit = values[outputs[column]], 1.0 / columns[1, column]
            for j in range(count):
                error = (submissions[which[j], query, column] - value[j]) * unit
                total[j] += error * error
    for j in range(count):
        reward[which[j]] = 1.0 / (1.0 + total[j] / (num_queries * num_outputs))
