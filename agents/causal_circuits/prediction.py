"""From a posterior to a submission.

Letters: B episodes, R measured queries, J replicates, O outputs, Q prediction queries, K coefficients, M samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veilgym.agents.causal_circuits.posterior import (
    SUPPORT,
    base_points,
    coefficients_of,
    find_mode,
    sample,
)
from veilgym.envs.causal_circuits.mechanism import compile_mechanism, propagate
from veilgym.envs.causal_circuits.task import TaskSource, load_task

_ITERATIONS = 50
_TOLERANCE = 1e-3  # in units of the scale


class Predictor:
    """Bayesian predictions for one task, from observations alone.

    Its methods take the observation of one episode and return a (Q, O) matrix, or observations batched over B episodes
    and return (B, Q, O).

    Args:
        task: The public task, or what `load_task` takes.
        num_samples: M, samples of each posterior.
    """

    def __init__(self, task: TaskSource, num_samples: int = 1024) -> None:
        self.task = load_task(task)
        self._mechanism = tuple(compile_mechanism(self.task))
        self._points = base_points(len(self.task.priors), num_samples)

    def posterior_mean(self, observations: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Posterior mean of the targets."""
        return self._predict(observations, 0)

    def best_submission(self, observations: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """The matrix of the highest posterior expected score."""
        return self._predict(observations, _ITERATIONS)

    def least_squares(self, observations: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Targets of the least-squares coefficients, clipped to the prior's bounds."""
        means, counts = summarise(observations, len(self.task.outputs))
        prediction = np.empty((len(means), *self.task.prediction_shape))
        plug_in(self._mechanism, means, counts, prediction)
        return prediction if observations["replicates"].ndim == 2 else prediction[0]

    def _predict(self, observations: dict[str, NDArray[Any]], iterations: int) -> NDArray[np.float64]:
        means, counts = summarise(observations, len(self.task.outputs))
        prediction = np.empty((len(means), *self.task.prediction_shape))
        predict(self._mechanism, means, counts, self._points, iterations, prediction)
        return prediction if observations["replicates"].ndim == 2 else prediction[0]


def summarise(observations: dict[str, NDArray[Any]], num_outputs: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sufficient statistics: mean readouts (B, R, O) float64 and counts (B, R) int64; B = 1 for one observation."""
    counts = np.atleast_2d(observations["replicates"]).astype(np.int64)
    readouts = observations["readouts"].astype(np.float64)
    totals = readouts.reshape(*counts.shape, -1, num_outputs).sum(axis=2)
    return totals / np.maximum(counts, 1)[..., None], counts


@njit(cache=True, error_model="numpy")
def predict(mechanism, means, counts, points, iterations, prediction):  # type: ignore[no-untyped-def]
    """Write the posterior mean of the targets (iterations 0) or the submission of highest expected score, (B, Q, O)."""
    predicted, scale = mechanism[5], mechanism[7]
    theta = np.empty(points.shape)
    weight = np.empty(points.shape[1])
    target = np.empty((predicted.shape[1], scale.size, points.shape[1]))
    for i in range(means.shape[0]):
        sample(mechanism, means[i], counts[i], points, theta, weight)
        _targets_of(mechanism, theta, target)
        _weighted_mean(target, weight, prediction[i])
        _maximise_score(target, weight, scale, iterations, prediction[i])


@njit(cache=True, error_model="numpy")
def plug_in(mechanism, means, counts, prediction):  # type: ignore[no-untyped-def]
    """Write the targets (B, Q, O) of the least-squares coefficients, clipped to the prior's bounds."""
    _, low, high, outputs, _, predicted, _, _ = mechanism
    theta = np.empty((low.size, 1))
    target = np.empty((predicted.shape[1], outputs.size, 1))
    for i in range(means.shape[0]):
        z, _ = find_mode(mechanism, means[i], counts[i], 1e-6)
        for k in range(z.size):
            z[k] = min(max(z[k], -SUPPORT), SUPPORT)
        coefficients_of(low, high, z.reshape(-1, 1), theta)
        _targets_of(mechanism, theta, target)
        for query in range(predicted.shape[1]):
            for column in range(outputs.size):
                prediction[i, query, column] = target[query, column, 0]


@njit(cache=True, error_model="numpy")
def _targets_of(mechanism, theta, target):  # type: ignore[no-untyped-def]
    """Write the noiseless targets (Q, O, M) under theta (K, M)."""
    wiring, _, _, outputs, _, predicted, _, _ = mechanism
    num_samples = theta.shape[1]
    values = np.empty((predicted.shape[0], num_samples))
    for query in range(predicted.shape[1]):
        propagate(wiring, theta, predicted, query, values, num_samples)
        for column in range(outputs.size):
            for m in range(num_samples):
                target[query, column, m] = values[outputs[column], m]


@njit(cache=True, error_model="numpy")
def _weighted_mean(target, weight, mean):  # type: ignore[no-untyped-def]
    for query in range(target.shape[0]):
        for column in range(target.shape[1]):
            total = 0.0
            for m in range(weight.size):
                total += weight[m] * target[query, column, m]
            mean[query, column] = total


@njit(cache=True, error_model="numpy")
def _maximise_score(target, weight, scale, iterations, submission):  # type: ignore[no-untyped-def]
    """Raise the expected score of `submission` (Q, O), the posterior mean, by minorise-maximise steps.

    With d the mean squared normalised error, the score s = 1 / (1 + d) is convex in d and thus at least s0 + s0^2 (d0
    - d), where s0 and d0 are its present values. That bound is greatest at the mean of the targets with weights
    weight * s0^2, so each step can only raise the expected score.
    """
    tilted = np.empty(weight.size)
    previous = np.empty(submission.shape)
    for _ in range(iterations):
        _tilt(target, weight, scale, submission, tilted)
        for query in range(submission.shape[0]):
            for column in range(submission.shape[1]):
                previous[query, column] = submission[query, column]
        _weighted_mean(target, tilted, submission)
        largest = 0.0
        for query in range(submission.shape[0]):
            for column in range(submission.shape[1]):
                step = abs(submission[query, column] - previous[query, column]) / scale[column]
                largest = max(largest, step)
        if largest < _TOLERANCE:
            break


@njit(cache=True, error_model="numpy")
def _tilt(target, weight, scale, submission, tilted):  # type: ignore[no-untyped-def]
    """Write weight * score^2 (M,), normalised, for the score of `submission` at each target."""
    num_queries, num_outputs, num_samples = target.shape
    for m in range(num_samples):
        tilted[m] = 0.0
    for query in range(num_queries):
        for column in range(num_outputs):
            for m in range(num_samples):
                error = (target[query, column, m] - submission[query, column]) / scale[column]
                tilted[m] += error * error
    total = 0.0
    for m in range(num_samples):
        score = 1.0 / (1.0 + tilted[m] / (num_queries * num_outputs))
        tilted[m] = weight[m] * score * score
        total += tilted[m]
    for m in range(num_samples):
        tilted[m] /= total
