"""The score of a prediction: inverse normalised mean square error against the noiseless targets."""

from __future__ import annotations

import numpy as np
from numba import njit

from veilgym.envs.causal_circuits.mechanism import propagate

_TILE = 128


@njit(cache=True, error_model="numpy")
def targets(wiring, coefficients, predicted, outputs):  # type: ignore[no-untyped-def]
    """Noiseless outputs of one circuit under the prediction queries.

    Args:
        wiring, predicted, outputs: as in `Mechanism`.
        coefficients: (K,) float64.

    Returns:
        (Q, O) float64.
    """
    lanes, num_nodes = predicted.shape
    spread = np.empty((coefficients.size, lanes))
    for k in range(coefficients.size):
        spread[k, :] = coefficients[k]
    values = np.empty((num_nodes, lanes))
    for node in range(num_nodes):
        values[node, :] = predicted[:, node]
    propagate(wiring, spread, values, lanes)
    target = np.empty((lanes, outputs.size))
    for column in range(outputs.size):
        target[:, column] = values[outputs[column]]
    return target


@njit(cache=True, error_model="numpy")
def score_submissions(constants, coefficients, submissions, which, reward):  # type: ignore[no-untyped-def]
    wiring, _, _, outputs, _, predicted, _, scale, _ = constants
    width = min(_TILE, which.size)
    spread = np.empty((coefficients.shape[0], width))
    values = np.empty((predicted.shape[1], width))
    total = np.empty(width)
    for start in range(0, which.size, _TILE):
        tile = which[start : start + _TILE]
        lanes = tile.size
        for lane in range(lanes):
            total[lane] = 0.0
            for k in range(coefficients.shape[0]):
                spread[k, lane] = coefficients[k, tile[lane]]
        for query in range(predicted.shape[0]):
            for node in range(predicted.shape[1]):
                for lane in range(lanes):
                    values[node, lane] = predicted[query, node]
            propagate(wiring, spread, values, lanes)
            for column in range(outputs.size):
                for lane in range(lanes):
                    error = (submissions[tile[lane], query, column] - values[outputs[column], lane]) / scale[column]
                    total[lane] += error * error
        for lane in range(lanes):
            reward[tile[lane]] = 1.0 / (1.0 + total[lane] / (predicted.shape[0] * outputs.size))
