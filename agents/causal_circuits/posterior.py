"""Bayesian inference of a circuit from its readouts: a Laplace approximation refined by importance sampling.

Coefficients are written as theta = middle + deviation * z, with the mean and the standard deviation of their uniform
prior, so the support of the prior is |z| <= sqrt(3). To propose samples, the prior counts as N(0, I), the normal law
with its moments: a Gauss-Newton search finds the mode and the covariance around it. Samples are drawn coordinate by
coordinate from logistic laws truncated to the support, as in the simulator of Geweke, Hajivassiliou and Keane; the
weights are those of the exact posterior, uniform prior included. This suits tasks of up to about twenty coefficients.

Letters: R measured queries, O outputs, Q prediction queries, K coefficients, M samples, N nodes. Everything works for
any task: the circuit comes as the arrays of `veilgym.envs.causal_circuits.mechanism.Mechanism`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.stats import qmc

from veilgym.agents.causal_circuits.matrices import cholesky, inverse_of, solve
from veilgym.envs.causal_circuits.mechanism import ABSENT, ROOT, propagate

NOISE_FLOOR = 1e-5  # the likelihood of noiseless readouts would be a spike
_MAX_ITERATIONS = 50
SUPPORT = math.sqrt(3.0)  # the uniform prior ends at |z| = sqrt(3)
_UNIFORM_DEVIATION = 1.0 / math.sqrt(12.0)  # of a uniform law on an interval of length 1
_LOGISTIC_SCALE = 0.7  # a standard deviation of 1.27: wider than the normal law that it covers


def base_points(num_coefficients: int, num_samples: int, seed: int = 0) -> NDArray[np.float64]:
    """Quasi-random points of (0, 1), (K, M), from which every posterior is sampled: the same for all episodes."""
    sobol = qmc.Sobol(num_coefficients, seed=seed)
    points = sobol.random_base2(max(0, num_samples - 1).bit_length())[:num_samples]
    return np.ascontiguousarray(np.clip(points, 2.0**-40, 1.0 - 2.0**-40).T)


@njit(cache=True, error_model="numpy")
def coefficients_of(low, high, z, theta):  # type: ignore[no-untyped-def]
    """Write theta = middle + deviation * z, (K, M), for z (K, M)."""
    for k in range(low.size):
        middle, deviation = 0.5 * (low[k] + high[k]), (high[k] - low[k]) * _UNIFORM_DEVIATION
        for m in range(z.shape[1]):
            theta[k, m] = middle + deviation * z[k, m]


@njit(cache=True, error_model="numpy")
def sensitivity(wiring, low, high, outputs, clamps, z, value, gradient):  # type: ignore[no-untyped-def]
    """Noiseless outputs of one circuit and their derivatives by z, by the chain rule along the circuit.

    Args:
        wiring, low, high, outputs: as in `Mechanism`.
        clamps: (N, L) clamped values, NaN where free.
        z: (K,).
        value: (L, O), written.
        gradient: (L, O, K), written: d output / d z.
    """
    num_nodes, num_coefficients = wiring.shape[0], low.size
    theta = np.empty((num_coefficients, 1))
    coefficients_of(low, high, z.reshape(-1, 1), theta)
    node_value = np.empty(num_nodes)
    node_gradient = np.empty((num_nodes, num_coefficients))
    for query in range(clamps.shape[1]):
        for node in range(num_nodes):
            for k in range(num_coefficients):
                node_gradient[node, k] = 0.0
            if not np.isnan(clamps[node, query]):
                node_value[node] = clamps[node, query]
            elif wiring[node, 0] == ROOT:
                node_value[node] = 0.0
            else:
                _differentiate(wiring[node], theta[:, 0], node, node_value, node_gradient)
        for column in range(outputs.size):
            value[query, column] = node_value[outputs[column]]
            for k in range(num_coefficients):
                deviation = (high[k] - low[k]) * _UNIFORM_DEVIATION
                gradient[query, column, k] = node_gradient[outputs[column], k] * deviation


@njit(cache=True, error_model="numpy")
def _differentiate(wires, theta, node, node_value, node_gradient):  # type: ignore[no-untyped-def]
    """Value and gradient (K,) by theta of one free node, from those of its parents."""
    argument = 0.0
    if wires[0] != ABSENT:
        argument += theta[wires[0]]
        node_gradient[node, wires[0]] += 1.0
    for parent in range(node):
        weight = wires[1 + parent]
        if weight != ABSENT:
            argument += theta[weight] * node_value[parent]
            node_gradient[node, weight] += node_value[parent]
            for k in range(theta.size):
                node_gradient[node, k] += theta[weight] * node_gradient[parent, k]
    node_value[node] = math.tanh(argument)
    slope = 1.0 - node_value[node] ** 2
    for k in range(theta.size):
        node_gradient[node, k] *= slope


@njit(cache=True, error_model="numpy")
def linearise(mechanism, means, counts, z, prior_weight):  # type: ignore[no-untyped-def]
    """Objective, gradient and Gauss-Newton Hessian of the negative log posterior at z, up to a constant.

    objective = prior_weight * |z|^2 / 2 + sum over rows and outputs of count * (mean - f(z))^2 / (2 noise_std^2)
    """
    wiring, low, high, outputs, measured, _, noise_std, _ = mechanism
    num_coefficients = low.size
    value = np.empty((counts.size, outputs.size))
    jacobian = np.empty((counts.size, outputs.size, num_coefficients))
    sensitivity(wiring, low, high, outputs, measured, z, value, jacobian)
    objective = 0.0
    gradient = np.empty(num_coefficients)
    hessian = np.zeros((num_coefficients, num_coefficients))
    for k in range(num_coefficients):
        gradient[k] = prior_weight * z[k]
        objective += 0.5 * prior_weight * z[k] * z[k]
        hessian[k, k] = prior_weight
    for row in range(counts.size):
        if counts[row] == 0:
            continue
        for column in range(outputs.size):
            precision = counts[row] / max(noise_std[column], NOISE_FLOOR) ** 2
            residual = value[row, column] - means[row, column]
            objective += 0.5 * precision * residual * residual
            for k in range(num_coefficients):
                slope = jacobian[row, column, k]
                gradient[k] += precision * residual * slope
                for m in range(k + 1):
                    hessian[k, m] += precision * slope * jacobian[row, column, m]
    for k in range(num_coefficients):
        for m in range(k):
            hessian[m, k] = hessian[k, m]
    return objective, gradient, hessian


@njit(cache=True, error_model="numpy")
def _damped_step(z, gradient, hessian, damping):  # type: ignore[no-untyped-def]
    damped = np.empty(hessian.shape)
    for k in range(z.size):
        for j in range(z.size):
            damped[k, j] = hessian[k, j]
        damped[k, k] += damping * (1.0 + hessian[k, k])
    step = solve(cholesky(damped), gradient)
    for k in range(z.size):
        step[k] = z[k] - step[k]
    return step


@njit(cache=True, error_model="numpy")
def find_mode(mechanism, means, counts, prior_weight):  # type: ignore[no-untyped-def]
    """Mode of the posterior of z by Levenberg-Marquardt from z = 0; returns z (K,) and the Hessian (K, K) there."""
    z = np.zeros(mechanism[1].size)
    objective, gradient, hessian = linearise(mechanism, means, counts, z, prior_weight)
    damping = 1e-3
    for _ in range(_MAX_ITERATIONS):
        trial = _damped_step(z, gradient, hessian, damping)
        trial_objective, trial_gradient, trial_hessian = linearise(mechanism, means, counts, trial, prior_weight)
        if trial_objective <= objective:
            gain = objective - trial_objective
            z, objective, gradient, hessian = trial, trial_objective, trial_gradient, trial_hessian
            damping = max(damping * 0.2, 1e-9)
            if gain < 1e-8:
                break
        else:
            damping *= 5.0
            if damping > 1e9:
                break
    return z, hessian


@njit(cache=True, error_model="numpy")
def propose(points, centre, factor, z, log_weight):  # type: ignore[no-untyped-def]
    """Draw z (K, M) in the support, around `centre` (K,) with scale factor (K, K); log_weight (M,) = 1 / density."""
    num_coefficients, num_samples = points.shape
    step = np.empty(num_coefficients)
    for m in range(num_samples):
        log_weight[m] = 0.0
        for k in range(num_coefficients):
            middle = centre[k]
            for j in range(k):
                middle += factor[k, j] * step[j]
            low, high = (-SUPPORT - middle) / factor[k, k], (SUPPORT - middle) / factor[k, k]
            step[k], density = _truncated_logistic(points[k, m], low, high)
            z[k, m] = min(max(middle + factor[k, k] * step[k], -SUPPORT), SUPPORT)
            log_weight[m] -= math.log(density)


@njit(cache=True, error_model="numpy")
def _truncated_logistic(uniform, low, high):  # type: ignore[no-untyped-def]
    """The quantile of a logistic law truncated to [low, high] at `uniform`, and the density there up to a constant."""
    sign = 1.0
    if low + high > 0.0:  # work in the lower tail, where the distribution function keeps its relative precision
        sign, low, high = -1.0, -high, -low
    at_low = 1.0 / (1.0 + math.exp(min(-low / _LOGISTIC_SCALE, 700.0)))
    at_high = 1.0 / (1.0 + math.exp(min(-high / _LOGISTIC_SCALE, 700.0)))
    p = at_low + uniform * (at_high - at_low)
    density = p * (1.0 - p) / max(at_high - at_low, 1e-300)
    return sign * _LOGISTIC_SCALE * math.log(p / (1.0 - p)), density


@njit(cache=True, error_model="numpy")
def add_log_likelihood(mechanism, means, counts, theta, log_weight):  # type: ignore[no-untyped-def]
    """Add the log likelihood of the readouts under theta (K, M) to log_weight (M,), up to a constant."""
    wiring, _, _, outputs, measured, _, noise_std, _ = mechanism
    num_samples = log_weight.size
    values = np.empty((measured.shape[0], num_samples))
    for row in range(measured.shape[1]):
        if counts[row] == 0:
            continue
        propagate(wiring, theta, measured, row, values, num_samples)
        for column in range(outputs.size):
            precision = counts[row] / max(noise_std[column], NOISE_FLOOR) ** 2
            for m in range(num_samples):
                residual = values[outputs[column], m] - means[row, column]
                log_weight[m] -= 0.5 * precision * residual * residual


@njit(cache=True, error_model="numpy")
def normalise(log_weight):  # type: ignore[no-untyped-def]
    """Turn log weights (M,) in place into weights that sum to 1."""
    top = -np.inf
    for m in range(log_weight.size):
        top = max(top, log_weight[m])
    total = 0.0
    for m in range(log_weight.size):
        log_weight[m] = math.exp(log_weight[m] - top)
        total += log_weight[m]
    for m in range(log_weight.size):
        log_weight[m] /= total


@njit(cache=True, error_model="numpy")
def moments(z, weight):  # type: ignore[no-untyped-def]
    """Weighted mean (K,) and covariance (K, K) of samples z (K, M)."""
    num_coefficients = z.shape[0]
    mean = np.zeros(num_coefficients)
    covariance = np.zeros((num_coefficients, num_coefficients))
    for k in range(num_coefficients):
        for m in range(weight.size):
            mean[k] += weight[m] * z[k, m]
    for k in range(num_coefficients):
        for j in range(k + 1):
            for m in range(weight.size):
                covariance[k, j] += weight[m] * (z[k, m] - mean[k]) * (z[j, m] - mean[j])
            covariance[j, k] = covariance[k, j]
    return mean, covariance


@njit(cache=True, error_model="numpy")
def sample(mechanism, means, counts, points, theta, weight):  # type: ignore[no-untyped-def]
    """Sample the posterior of the coefficients given the readouts of one episode.

    The first round proposes around the Laplace approximation, the second around the moments of the first round's
    samples (adaptive importance sampling; Cappe et al. 2008, "Adaptive importance sampling in general mixture
    classes"). The better of the two counts.

    Args:
        mechanism: the fields of `Mechanism` as a tuple.
        means: (R, O) mean readout of each row.
        counts: (R,) replicates of each row.
        points: (K, M), from `base_points`.
        theta: (K, M), written.
        weight: (M,), written; sums to 1.

    Returns:
        The effective sample size 1 / sum(weight^2), between 1 and M.
    """
    z = np.empty(points.shape)
    mode, hessian = find_mode(mechanism, means, counts, 1.0)
    covariance = np.empty(hessian.shape)
    inverse_of(cholesky(hessian), covariance)
    first = _weigh(mechanism, means, counts, points, mode, covariance, z, theta, weight)
    centre, spread = moments(z, weight)
    for k in range(mode.size):
        spread[k, k] += 1e-12 + 1e-3 * covariance[k, k]
    second = _weigh(mechanism, means, counts, points, centre, spread, z, theta, weight)
    if second < first:
        second = _weigh(mechanism, means, counts, points, mode, covariance, z, theta, weight)
    return second


@njit(cache=True, error_model="numpy")
def _weigh(mechanism, means, counts, points, centre, covariance, z, theta, weight):  # type: ignore[no-untyped-def]
    """One round of importance sampling; returns the effective sample size."""
    propose(points, centre, cholesky(covariance), z, weight)
    coefficients_of(mechanism[1], mechanism[2], z, theta)
    add_log_likelihood(mechanism, means, counts, theta, weight)
    normalise(weight)
    squares = 0.0
    for m in range(weight.size):
        squares += weight[m] * weight[m]
    return 1.0 / squares
