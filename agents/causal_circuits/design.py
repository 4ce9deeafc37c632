"""The expected score of a design.

Around a circuit z the posterior after a design is close to a normal law with precision H = I + sum of J^T J /
noise_std^2 over its measurements, and the prediction's normalised mean squared error to q = e^T A e with e ~ N(0,
H^-1). Then

    E[1 / (1 + q)] = integral over t > 0 of exp(-t) sqrt(det H / det(H + 2 t A)),

since 1 / (1 + q) is the Laplace transform of exp(-t) and E[exp(-t q)] that of a Gaussian quadratic form.
Gauss-Laguerre nodes do the integral, and adding an experiment changes the determinants by the matrix determinant
lemma. The average over draws of z from the current posterior is the expected score.

Letters: R measured queries, E experiments, O outputs, Q prediction queries, K coefficients, S draws, G nodes.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from veilgym.agents.causal_circuits.matrices import cholesky, log_determinant
from veilgym.agents.causal_circuits.posterior import NOISE_FLOOR, sensitivity

NODES, NODE_WEIGHTS = np.polynomial.laguerre.laggauss(4)


@njit(cache=True, error_model="numpy")
def local_information(mechanism, z, jacobian):  # type: ignore[no-untyped-def]
    """What measurements and predictions look like around one circuit z (K,).

    Args:
        jacobian: (R, O, K), written: d readout / d z in units of the noise.

    Returns:
        (K, K), the matrix A of the module docstring.
    """
    wiring, low, high, outputs, measured, predicted, noise_std, scale = mechanism
    num_coefficients, num_outputs, num_queries = low.size, outputs.size, predicted.shape[1]
    value = np.empty((measured.shape[1], num_outputs))
    sensitivity(wiring, low, high, outputs, measured, z, value, jacobian)
    for row in range(measured.shape[1]):
        for column in range(num_outputs):
            for k in range(num_coefficients):
                jacobian[row, column, k] /= max(noise_std[column], NOISE_FLOOR)
    target = np.empty((num_queries, num_outputs))
    gradient = np.empty((num_queries, num_outputs, num_coefficients))
    sensitivity(wiring, low, high, outputs, predicted, z, target, gradient)
    loss = np.zeros((num_coefficients, num_coefficients))
    for query in range(num_queries):
        for column in range(num_outputs):
            unit = 1.0 / (scale[column] ** 2 * num_queries * num_outputs)
            for k in range(num_coefficients):
                for j in range(num_coefficients):
                    loss[k, j] += unit * gradient[query, column, k] * gradient[query, column, j]
    return loss


@njit(cache=True, error_model="numpy")
def precision(jacobian, counts):  # type: ignore[no-untyped-def]
    """H (K, K) after the measurements in counts (R,), with the prior as N(0, I)."""
    num_coefficients = jacobian.shape[2]
    h = np.zeros((num_coefficients, num_coefficients))
    for k in range(num_coefficients):
        h[k, k] = 1.0
    for row in range(counts.size):
        if counts[row] > 0:
            for column in range(jacobian.shape[1]):
                for k in range(num_coefficients):
                    for j in range(num_coefficients):
                        h[k, j] += counts[row] * jacobian[row, column, k] * jacobian[row, column, j]
    return h


@njit(cache=True, error_model="numpy")
def prepare(mechanism, counts, draws, num_experiments):  # type: ignore[no-untyped-def]
    """The state of a plan without planned experiments.

    Args:
        counts: (R,) replicates measured so far.
        draws: (K, S) circuits z from the current posterior.

    Returns:
        spread: (S, 1 + G, E O, E O), the covariance of the experiments' readouts in units of the noise, under H and
            under H + 2 t A for each node t.
        ratio: (S, G), sqrt(det H / det(H + 2 t A)).
    """
    num_coefficients, num_draws = draws.shape
    num_outputs = mechanism[3].size
    jacobian = np.empty((counts.size, num_outputs, num_coefficients))
    spread = np.empty((num_draws, 1 + NODES.size, num_experiments * num_outputs, num_experiments * num_outputs))
    ratio = np.empty((num_draws, NODES.size))
    z = np.empty(num_coefficients)
    for s in range(num_draws):
        for k in range(num_coefficients):
            z[k] = draws[k, s]
        loss = local_information(mechanism, z, jacobian)
        h = precision(jacobian, counts)
        offered = jacobian[counts.size - num_experiments :].reshape(-1, num_coefficients)
        factor = cholesky(h)
        base = log_determinant(factor)
        _covariance(factor, offered, spread[s, 0])
        for g in range(NODES.size):
            factor = cholesky(add_scaled(h, loss, 2.0 * NODES[g]))
            ratio[s, g] = math.exp(0.5 * (base - log_determinant(factor)))
            _covariance(factor, offered, spread[s, 1 + g])
    return spread, ratio


@njit(cache=True, error_model="numpy")
def add_scaled(h, loss, times):  # type: ignore[no-untyped-def]
    """h + times * loss."""
    widened = np.empty(h.shape)
    for k in range(h.shape[0]):
        for j in range(h.shape[0]):
            widened[k, j] = h[k, j] + times * loss[k, j]
    return widened


@njit(cache=True, error_model="numpy")
def _covariance(factor, jacobian, covariance):  # type: ignore[no-untyped-def]
    """Write J (L L^T)^-1 J^T = (L^-1 J^T)^T (L^-1 J^T) for J of shape (n, K) and the Cholesky factor L."""
    rows, num_coefficients = jacobian.shape
    whitened = np.empty((num_coefficients, rows))
    for k in range(num_coefficients):
        for i in range(rows):
            whitened[k, i] = jacobian[i, k]
        for j in range(k):
            for i in range(rows):
                whitened[k, i] -= factor[k, j] * whitened[j, i]
        for i in range(rows):
            whitened[k, i] /= factor[k, k]
    for a in range(rows):
        for b in range(rows):
            covariance[a, b] = 0.0
        for k in range(num_coefficients):
            for b in range(rows):
                covariance[a, b] += whitened[k, a] * whitened[k, b]


@njit(cache=True, error_model="numpy")
def change(spread, ratio, experiment, num_outputs, times):  # type: ignore[no-untyped-def]
    """Add (times = 1) or remove (times = -1) a run of an experiment: the formula of Sherman and Morrison, by output."""
    size = spread.shape[2]
    column = np.empty(size)
    for s in range(spread.shape[0]):
        for g in range(spread.shape[1]):
            covariance = spread[s, g]
            for i in range(experiment * num_outputs, (experiment + 1) * num_outputs):
                growth = max(1.0 + times * covariance[i, i], 1e-12)
                for a in range(size):
                    column[a] = covariance[i, a]
                for a in range(size):
                    factor = times * column[a] / growth
                    for b in range(size):
                        covariance[a, b] -= factor * column[b]
                if g == 0:
                    for node in range(ratio.shape[1]):
                        ratio[s, node] *= math.sqrt(growth)
                else:
                    ratio[s, g - 1] /= math.sqrt(growth)


@njit(cache=True, error_model="numpy")
def expected_score(ratio):  # type: ignore[no-untyped-def]
    """Expected score of a plan, averaged over the draws; ratio is (S, G)."""
    total = 0.0
    for s in range(ratio.shape[0]):
        for g in range(ratio.shape[1]):
            total += NODE_WEIGHTS[g] * ratio[s, g]
    return total / ratio.shape[0]


@njit(cache=True, error_model="numpy")
def score_with(spread, ratio, experiment, gram):  # type: ignore[no-untyped-def]
    """Expected score with one more run of an experiment, by the matrix determinant lemma; `gram` is (O, O) scratch."""
    total = 0.0
    for s in range(spread.shape[0]):
        base = _growth(spread[s, 0], experiment, gram)
        for g in range(ratio.shape[1]):
            total += NODE_WEIGHTS[g] * ratio[s, g] * math.sqrt(base / _growth(spread[s, 1 + g], experiment, gram))
    return total / spread.shape[0]


@njit(cache=True, error_model="numpy")
def _growth(covariance, experiment, gram):  # type: ignore[no-untyped-def]
    """det(I + C), C the (O, O) block of an experiment, by elimination in `gram`."""
    num_outputs = gram.shape[0]
    first = experiment * num_outputs
    determinant = 1.0
    for a in range(num_outputs):
        for b in range(num_outputs):
            gram[a, b] = covariance[first + a, first + b] + (1.0 if a == b else 0.0)
    for a in range(num_outputs):
        determinant *= gram[a, a]
        for b in range(a + 1, num_outputs):
            factor = gram[b, a] / gram[a, a]
            for c in range(a + 1, num_outputs):
                gram[b, c] -= factor * gram[a, c]
    return determinant
