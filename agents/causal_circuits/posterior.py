"""Bayesian inference of a circuit from its readouts: a Laplace approximation refined by adaptive importance sampling.

Coefficients are written as theta = middle + deviation * z, with the mean and the standard deviation of their uniform
prior, so the support of the prior is |z| <= sqrt(3). To propose samples, the prior counts as N(0, I), the normal law
with its moments: a Gauss-Newton search finds the mode, and a multivariate t distribution around it is sampled. The
weights are those of the exact posterior, uniform prior included.

Letters: R measured queries, O outputs, Q prediction queries, K coefficients, M samples, N nodes. Everything works for
any task: the circuit comes as the arrays of `veilgym.envs.causal_circuits.mechanism.Mechanism`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.stats import chi2, norm, qmc

from veilgym.agents.causal_circuits.matrices import cholesky, inverse_of, solve
from veilgym.envs.causal_circuits.mechanism import ABSENT, ROOT, propagate

DEGREES_OF_FREEDOM = 8.0
NOISE_FLOOR = 1e-3  # the likelihood of noiseless readouts would be a spike
_MAX_ITERATIONS = 50
SUPPORT = math.sqrt(3.0)  # the uniform prior ends at |z| = sqrt(3)
_UNIFORM_DEVIATION = 1.0 / math.sqrt(12.0)  # of a uniform law on an interval of length 1
_ROUNDS = 3


def base_points(
    num_coefficients: int, num_samples: int, seed: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Quasi-random points from which every posterior is sampled, the same for all episodes.

    Returns:
        (K, M) standard normal coordinates and (M,) radial factors sqrt(nu / chi2_nu) of the t distribution.
    """
    uniform = qmc.Sobol(num_coefficients + 1, seed=seed).random(num_samples)
    uniform = np.clip(uniform, 2.0**-40, 1.0 - 2.0**-40)
    radial = np.sqrt(DEGREES_OF_FREEDOM / chi2.ppf(uniform[:, -1], DEGREES_OF_FREEDOM))
    return np.ascontiguousarray(norm.ppf(uniform[:, :-1]).T), radial


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
def propose(points, radial, centre, factor, z, log_weight):  # type: ignore[no-untyped-def]
    """Draw z (K, M) from a t law around `centre` (K,) with scale factor (K, K); log_weight (M,) = prior / proposal."""
    num_coefficients, num_samples = points.shape
    half = 0.5 * (DEGREES_OF_FREEDOM + num_coefficients)
    for m in range(num_samples):
        squared = 0.0
        for k in range(num_coefficients):
            squared += (points[k, m] * radial[m]) ** 2
        log_weight[m] = half * math.log1p(squared / DEGREES_OF_FREEDOM)
    for k in range(num_coefficients):
        for m in range(num_samples):
            z[k, m] = centre[k]
        for j in range(k + 1):
            for m in range(num_samples):
                z[k, m] += factor[k, j] * points[j, m] * radial[m]
        for m in range(num_samples):
            if abs(z[k, m]) > SUPPORT:
                log_weight[m] = -np.inf


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
def sample(mechanism, means, counts, points, radial, theta, weight):  # type: ignore[no-untyped-def]
    """Sample the posterior of the coefficients given the readouts of one episode.

    The first round proposes from the Laplace approximation, the others from the moments of the previous round's samples
    (adaptive importance sampling, Cappe et al. 2008, "Adaptive importance sampling in general mixture classes").

    Args:
        mechanism: the fields of `Mechanism` as a tuple.
        means: (R, O) mean readout of each row.
        counts: (R,) replicates of each row.
        points, radial: from `base_points`.
        theta: (K, M), written.
        weight: (M,), written; sums to 1.
    """
    low, high = mechanism[1], mechanism[2]
    z = np.empty(points.shape)
    centre, hessian = find_mode(mechanism, means, counts, 1.0)
    covariance = np.empty(hessian.shape)
    inverse_of(cholesky(hessian), covariance)
    for round_ in range(_ROUNDS):
        if round_ > 0:
            centre, covariance = moments(z, weight)
            for k in range(low.size):
                covariance[k, k] += 1e-9
        propose(points, radial, centre, cholesky(covariance), z, weight)
        coefficients_of(low, high, z, theta)
        add_log_likelihood(mechanism, means, counts, theta, weight)
        normalise(weight)
