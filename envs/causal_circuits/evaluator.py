"""The score of a prediction: inverse normalised mean square error against the noiseless targets."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.mechanism import propagate_into


@njit(cache=True, error_model="numpy")
def working_space(num_nodes, num_coefficients, num_queries, count):  # type: ignore[no-untyped-def]
    """Room to evaluate `count` circuits under Q queries: (N + 1 + K, count * Q) float64."""
    return np.empty((num_nodes + 1 + num_coefficients, count * num_queries))


def targets(
    wiring: NDArray[np.int64],
    outputs: NDArray[np.int64],
    clamps: NDArray[np.float64],
    coefficients: NDArray[np.float32],
    num_queries: int,
) -> NDArray[np.float64]:
    """Noiseless outputs of one circuit under the prediction queries.

    Args:
        wiring, outputs, clamps: as in `score_submissions`.
        coefficients: (K,) float32.
        num_queries: Q.

    Returns:
        (Q, O) float64.
    """
    space = working_space(len(clamps), len(coefficients), num_queries, 1)
    _predict(wiring, coefficients.reshape(-1, 1), clamps, num_queries, np.zeros(1, np.uint64), 1, space)
    return space[outputs].T.copy()  # type: ignore[no-any-return]


@njit(cache=True, error_model="numpy")
def score_submissions(wiring, outputs, clamps, scale, coefficients, submissions, which, count, space, reward):  # type: ignore[no-untyped-def]
    """Write the scores of submissions: 1 / (1 + the mean of the squared errors in units of `scale`).

    Args:
        wiring, outputs, scale: as in `Mechanism`.
        clamps: (N, R + Q) float64, whose last Q columns are `Mechanism.predicted` transposed.
        coefficients: (K, B) float32.
        submissions: (B, Q, O) float64.
        which: uint64 numbers, whose first `count` are the submissions to score.
        space: the `working_space` for `count` circuits or more.
        reward: (B,) float64, written.
    """
    num_queries, num_outputs = submissions.shape[1], submissions.shape[2]
    _predict(wiring, coefficients, clamps, num_queries, which, count, space)
    total = space[clamps.shape[0]]
    for j in range(count):
        total[j] = 0.0
    for column in range(num_outputs):
        for query in range(num_queries):
            lane = np.uint64(query * count)
            for j in range(count):
                error = submissions[which[j], query, column] - space[outputs[column], lane + np.uint64(j)]
                total[j] += (error / scale[column]) ** 2
    for j in range(count):
        reward[which[j]] = 1.0 / (1.0 + total[j] / (num_queries * num_outputs))


@njit(cache=True, error_model="numpy")
def _predict(wiring, coefficients, clamps, num_queries, which, count, space):  # type: ignore[no-untyped-def]
    """Evaluate the first `count` circuits in `which` under the last Q columns of `clamps`.

    On return the first N rows of `space` hold the values of the nodes, query by query.
    """
    num_nodes, first = clamps.shape[0], np.uint64(clamps.shape[1] - num_queries)
    for node in range(num_nodes):
        for query in range(num_queries):
            clamp, lane = clamps[node, first + np.uint64(query)], np.uint64(query * count)
            for j in range(count):
                space[node, lane + np.uint64(j)] = clamp
    spread = space[num_nodes + 1 :]
    for k in range(coefficients.shape[0]):
        for j in range(count):
            spread[k, j] = coefficients[k, which[j]]
        for query in range(1, num_queries):
            lane = np.uint64(query * count)
            for j in range(count):
                spread[k, lane + np.uint64(j)] = spread[k, j]
    propagate_into(space[num_nodes], wiring, spread, space, count * num_queries)
