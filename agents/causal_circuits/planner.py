"""Which experiment to run next: a plan of all remaining experiments, made anew after each readout.

A plan is built greedily by its expected score (`veilgym.agents.causal_circuits.design`) over circuits drawn from the
current posterior, then improved by exchanges; its most useful experiment is run next (open-loop feedback control).

Letters: B episodes, R measured queries, E experiments, O outputs, K coefficients, S draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.stats import norm

from veilgym.agents.causal_circuits.design import change, expected_score, prepare, score_with
from veilgym.agents.causal_circuits.matrices import cholesky, inverse_of
from veilgym.agents.causal_circuits.posterior import SUPPORT, base_points, find_mode
from veilgym.agents.causal_circuits.prediction import summarise
from veilgym.envs.causal_circuits.mechanism import compile_mechanism, terms_of
from veilgym.envs.causal_circuits.task import Task

_ONLINE_EXCHANGES = 1
_OFFLINE_EXCHANGES = 10
# Of NumPy's types: numba compiles a function anew for each Python integer or truth value that it is given.
_NOTHING, _MORE, _LESS = np.int64(0), np.int64(1), np.int64(-1)
_PER_CREDIT, _PER_RUN = np.bool_(True), np.bool_(False)


class Planner:
    """Plans experiments for one task, from observations alone.

    Args:
        task: The public task.
        num_draws: S, circuits drawn from the current posterior for each plan.
    """

    def __init__(self, task: Task, num_draws: int = 8) -> None:
        self.task = task
        self._mechanism = tuple(compile_mechanism(task))
        self._terms = terms_of(task)
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
    size, credits_left = _spend(terms, spread, ratio, counts, credits_left, per_credit, planned, _NOTHING)
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
        change(spread, ratio, e, num_outputs, _MORE)


@njit(cache=True, error_model="numpy")
def _exchange(terms, spread, ratio, counts, credits_left, planned):  # type: ignore[no-untyped-def]
    """Try to replace each planned experiment once by a better one; say whether any was, and return the credits left."""
    num_outputs = spread.shape[2] // terms.shape[1]
    changed = False
    for p in range(planned.size):
        old = planned[p]
        score = expected_score(ratio)
        counts[old] -= 1
        change(spread, ratio, old, num_outputs, _LESS)
        new, new_score = best_addition(terms, spread, ratio, counts, credits_left + terms[0, old], _PER_RUN)
        if new < 0 or new_score <= score + 1e-9:
            new = old
        planned[p] = new
        counts[new] += 1
        credits_left += terms[0, old] - terms[0, new]
        change(spread, ratio, new, num_outputs, _MORE)
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
        best, _ = best_addition(offered, spread, ratio, runs, credits_left[i], _PER_CREDIT)
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
