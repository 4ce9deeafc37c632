"""The score of a prediction: inverse normalised mean square error against the noiseless targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.causal_circuits.mechanism import Mechanism, propagate, propagate_mixed
from veilgym.envs.core.elementary import kernel_part
from veilgym.envs.core.memory import aligned_zeros

FEW = 8  # numbers in a vector of the processor; a loop over whole vectors has no slow remainder
_CHUNK = 112  # submissions scored at a time: a tenth of a tile, in rows that are no power of two of bytes apart


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


def working_space(num_nodes: int, num_coefficients: int, prediction_shape: tuple[int, int]) -> NDArray[np.float64]:
    """Room for `score_submissions`: (N + K + Q O + 1, lanes) float64."""
    num_queries, num_outputs = prediction_shape
    rows = num_nodes + num_coefficients + num_queries * num_outputs + 1
    return aligned_zeros((rows, max(_CHUNK, num_queries * FEW)))


@kernel_part
def score_submissions(constants, coefficients, submissions, which, count, space, reward):  # type: ignore[no-untyped-def]
    """Write the `score` of many submissions.

    Args:
        constants: the arrays of a task, as the engine packs them.
        coefficients: (K, B) float32.
        submissions: (B, Q O) float64.
        which: uint64 numbers, whose first `count` are the submissions to score.
        space: the `working_space`.
        reward: (B,) float64, written.
    """
    size = _CHUNK if count > 2 * FEW else FEW
    for first in range(0, count, size):
        chunk, chunk_size = which[first:], min(size, count - first)
        _score_chunk(constants, coefficients, submissions, chunk, chunk_size, space, reward)


@kernel_part
def _score_chunk(constants, coefficients, submissions, which, count, space, reward):  # type: ignore[no-untyped-def]
    """Score up to `_CHUNK` submissions, query by query, or up to `FEW`, all queries at once."""
    wiring, _, outputs, clamps, columns, _, few_clamps = constants
    num_nodes, num_coefficients, num_cells = wiring.shape[0], coefficients.shape[0], submissions.shape[1]
    num_queries = num_cells // outputs.size
    values, spread = space[:num_nodes], space[num_nodes : num_nodes + num_coefficients]
    predictions, total = space[num_nodes + num_coefficients : -1], space[-1]
    lanes = -(-count // FEW) * FEW
    for j in range(count):
        i = which[j]
        for k in range(num_coefficients):
            spread[k, j] = coefficients[k, i]
        for cell in range(num_cells):
            predictions[cell, j] = submissions[i, cell]
        total[j] = 0.0
    if lanes == FEW:
        _propagate_few(wiring, few_clamps, spread, values, num_queries)
    for query in range(num_queries):
        offset = query * FEW if lanes == FEW else 0
        if lanes > FEW:
            propagate(wiring, spread, clamps, clamps.shape[1] - num_queries + query, values, lanes)
        for column in range(outputs.size):
            value, unit = values[outputs[column], offset:], 1.0 / columns[1, column]
            prediction = predictions[query * outputs.size + column]
            for j in range(lanes):
                error = (prediction[j] - value[j]) * unit
                total[j] += error * error
    for j in range(lanes):
        total[j] = 1.0 / (1.0 + total[j] / num_cells)
    for j in range(count):
        reward[which[j]] = total[j]


@kernel_part
def _propagate_few(wiring, clamps, spread, values, num_queries):  # type: ignore[no-untyped-def]
    """Evaluate all queries of `FEW` submissions in one row of lanes, long enough to fill the processor.

    Args:
        clamps: (N, Q FEW) float64; lane j of query q is q FEW + j.
        spread: (K, Q FEW) float64 or wider, the coefficients in the first `FEW` lanes, which are written to the others.
        values: (N, Q FEW) float64 or wider, written.
    """
    for k in range(spread.shape[0]):
        for query in range(1, num_queries):
            for j in range(FEW):
                spread[k, query * FEW + j] = spread[k, j]
    propagate_mixed(wiring, spread, clamps, values, num_queries * FEW)
