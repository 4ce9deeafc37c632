"""Which experiments to run: the expected score of a design, and a planner that raises it.

Around a circuit z the posterior after a design is close to a normal law with precision H = I + sum of J^T J /
noise_std^2 over its measurements, and the prediction's normalised mean squared error to q = e^T A e with e ~ N(0,
H^-1). Then

    E[1 / (1 + q)] = integral over t > 0 of exp(-t) sqrt(det H / det(H + 2 t A)),

since 1 / (1 + q) is the Laplace transform of exp(-t) and E[exp(-t q)] that of a Gaussian quadratic form.
Gauss-Laguerre nodes do the integral, and adding an experiment changes the determinants by the matrix determinant
lemma. The average over draws of z from the current posterior is the expected score; a plan of all remaining
experiments is built greedily and then improved by exchanges, and its most useful experiment is run next (open-loop
feedback control).

Letters: B episodes, R measured queries, E experiments, O outputs, Q prediction queries, K coefficients, S draws, G
nodes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.stats import norm

from veilgym.agents.causal_circuits.matrices import cholesky, inverse_of, log_determinant
from veilgym.agents.causal_circuits.posterior import NOISE_FLOOR, SUPPORT, base_points, find_mode, sensitivity
from veilgym.agents.causal_circuits.prediction import summarise
from veilgym.envs.causal_circuits.mechanism import compile_mechanism
from veilgym.envs.causal_circuits.task import Task

NODES, NODE_WEIGHTS = np.polynomial.laguerre.laggauss(4)
_ONLINE_EXCHANGES = 1
_OFFLINE_EXCHANGES = 10


class Planner:
    """Plans experiments for one task, from observations alone.

    Args:
        task: The public task.
        num_draws: S, circuits drawn from the current posterior for each plan.
    """

    def __init__(self, task: Task, num_draws: int = 8) -> None:
        self.task = task
        self._mechanism = tuple(compile_mechanism(task))
        self._terms = np.array([[e.cost for e in task.experiments], [e.max_replicates for e in task.experiments]])
        self._points = _normal(base_points(len(task.priors), num_draws, seed=1))

    def next_experiment(self, observations: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
        """The experiment to run next in each episode, (B,); E (submit) where none is affordable."""
        _, choice = self._plan(observations, self._points, _ONLINE_EXCHANGES)
        return choice

    def fixed_design(self, num_draws: int = 256) -> NDArray[np.int64]:
        """How often to run each experiment, (E,), if that must be decided before any experiment has been seen.

        The plan is made for initial readouts of 0, around `num_draws` circuits.
        """
        observation = {
            "readouts": np.zeros((1, len(self.task.measured_queries) * len(self.task.outputs))),
            "replicates": np.zeros((1, len(self.task.measured_queries))),
            "credits": np.full((1, 1), self.task.budget),
        }
        observation["replicates"][:, : len(self.task.initial_queries)] = 1
        points = _normal(base_points(len(self.task.priors), num_draws, seed=1))
        design, _ = self._plan(observation, points, _OFFLINE_EXCHANGES)
        return np.asarray(design[0])

    def _plan(
        self, observations: dict[str, NDArray[Any]], points: NDArray[np.float64], exchanges: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        means, counts = summarise(observations, len(self.task.outputs))
        design = np.empty((len(means), len(self.task.experiments)), np.int64)
        choice = np.empty(len(means), np.int64)
        credits_left = observations["credits"][:, 0].astype(np.int64)
        _plan_batch(self._mechanism, self._terms, means, counts, credits_left, points, exchanges, design, choice)
        return design, choice


def _normal(points: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.ascontiguousarray(norm.ppf(points))


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


@njit(cache=True, error_model="numpy")
def best_addition(terms, spread, ratio, counts, credits_left, per_credit):  # type: ignore[no-untyped-def]
    """The affordable experiment of the highest expected gain, in all or per credit, and the score expected with it.

    Args:
        terms: (2, E), cost and max_replicates.
        counts: (E,) runs so far, planned ones included.

    Returns:
        The experiment, -1 if none is affordable; the expected score with it.
    """
    num_outputs = spread.shape[2] // terms.shape[1]
    gram = np.empty((num_outputs, num_outputs))
    current = expected_score(ratio)
    best, best_gain, best_score = -1, -np.inf, current
    for e in range(terms.shape[1]):
        if counts[e] < terms[1, e] and terms[0, e] <= credits_left:
            score = score_with(spread, ratio, e, gram)
            gain = (score - current) / (terms[0, e] if per_credit else 1)
            if best < 0 or gain > best_gain:
                best, best_gain, best_score = e, gain, score
    return best, best_score


@njit(cache=True, error_model="numpy")
def plan(terms, spread, ratio, counts, credits_left, exchanges, per_credit):  # type: ignore[no-untyped-def]
    """Spend the credits greedily, then exchange one experiment at a time while that raises the expected score.

    Args:
        terms: (2, E), cost and max_replicates.
        spread, ratio: from `prepare`; on return with the plan added.
        counts: (E,) runs so far; on return with the plan added.
        exchanges: how many rounds of exchanges at most.
        per_credit: whether gains are compared per credit.

    Returns:
        (n,) the planned experiments.
    """
    planned = np.empty(max(credits_left, 0), np.int64)
    size, credits_left = _spend(terms, spread, ratio, counts, credits_left, per_credit, planned, 0)
    for _ in range(exchanges):
        changed, credits_left = _exchange(terms, spread, ratio, counts, credits_left, planned[:size])
        size, credits_left = _spend(terms, spread, ratio, counts, credits_left, per_credit, planned, size)
        if not changed:
            break
    return planned[:size]


@njit(cache=True, error_model="numpy")
def _spend(terms, spread, ratio, counts, credits_left, per_credit, planned, size):  # type: ignore[no-untyped-def]
    """Append the best affordable experiments to the `size` planned ones; return their number and the credits left."""
    num_outputs = spread.shape[2] // terms.shape[1]
    while True:
        e, _ = best_addition(terms, spread, ratio, counts, credits_left, per_credit)
        if e < 0:
            return size, credits_left
        planned[size] = e
        size += 1
        counts[e] += 1
        credits_left -= terms[0, e]
        change(spread, ratio, e, num_outputs, 1)


@njit(cache=True, error_model="numpy")
def _exchange(terms, spread, ratio, counts, credits_left, planned):  # type: ignore[no-untyped-def]
    """Try to replace each planned experiment once by a better one; say whether any was, and return the credits left."""
    num_outputs = spread.shape[2] // terms.shape[1]
    changed = False
    for p in range(planned.size):
        old = planned[p]
        score = expected_score(ratio)
        counts[old] -= 1
        change(spread, ratio, old, num_outputs, -1)
        new, new_score = best_addition(terms, spread, ratio, counts, credits_left + terms[0, old], False)
        if new < 0 or new_score <= score + 1e-9:
            new = old
        planned[p] = new
        counts[new] += 1
        credits_left += terms[0, old] - terms[0, new]
        change(spread, ratio, new, num_outputs, 1)
        changed |= new != old
    return changed, credits_left


@njit(cache=True, error_model="numpy")
def _plan_batch(mechanism, terms, means, counts, credits_left, points, exchanges, design, choice):  # type: ignore[no-untyped-def]
    """Plan the remaining experiments of each episode around draws from the Laplace approximation of its posterior.

    Args:
        points: (K, S) standard normal coordinates of the draws.
        design: (B, E), written: the planned number of runs of each experiment.
        choice: (B,), written: the planned experiment that promises the most by itself, E if none is affordable.
    """
    num_experiments = terms.shape[1]
    offered = terms.copy()
    runs = np.empty(num_experiments, np.int64)
    is_even = terms[0].min() == terms[0].max()  # if all cost the same, one way of comparing them is enough
    for i in range(choice.size):
        centre, hessian = find_mode(mechanism, means[i], counts[i], 1.0)
        spread, ratio = prepare(mechanism, counts[i], _draw(points, centre, hessian), num_experiments)
        for e in range(num_experiments):
            runs[e] = counts[i, counts.shape[1] - num_experiments + e]
        best_score = -1.0
        for per_credit in (True, False):
            planned_ratio = ratio.copy()
            planned = plan(terms, spread.copy(), planned_ratio, runs.copy(), credits_left[i], exchanges, per_credit)
            score = expected_score(planned_ratio)
            if score > best_score:
                best_score = score
                for e in range(num_experiments):
                    design[i, e] = 0
                for p in range(planned.size):
                    design[i, planned[p]] += 1
            if is_even:
                break
        for e in range(num_experiments):
            offered[1, e] = terms[1, e] if design[i, e] > 0 else 0
        best, _ = best_addition(offered, spread, ratio, runs, credits_left[i], True)
        choice[i] = num_experiments if best < 0 else best


@njit(cache=True, error_model="numpy")
def _draw(points, centre, hessian):  # type: ignore[no-untyped-def]
    """Normal draws (K, S) with the given mean and precision, clipped to the support of the prior."""
    precision_factor = cholesky(hessian)
    covariance = np.empty(hessian.shape)
    inverse_of(precision_factor, covariance)
    factor = cholesky(covariance)
    draws = np.empty(points.shape)
    for k in range(points.shape[0]):
        for s in range(points.shape[1]):
            draws[k, s] = centre[k]
            for j in range(k + 1):
                draws[k, s] += factor[k, j] * points[j, s]
            draws[k, s] = min(max(draws[k, s], -SUPPORT), SUPPORT)
    return draws
