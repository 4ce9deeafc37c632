"""How much any agent could gain over the best fixed design: what designing with the circuit in hand would add.

Every design that spends the credits is scored by the formula of `veilgym.agents.causal_circuits.design` around
circuits drawn from the prior. The best fixed design has the highest mean; an agent that knew the hidden coefficients
could take the best one for each circuit. No agent knows more before it chooses, so to first order none averages above
the measured score of the best fixed design plus the difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veilgym.agents.causal_circuits.design import NODE_WEIGHTS, NODES, add_scaled, local_information, precision
from veilgym.agents.causal_circuits.matrices import cholesky, log_determinant
from veilgym.agents.causal_circuits.posterior import SUPPORT, base_points
from veilgym.envs.causal_circuits.mechanism import compile_mechanism
from veilgym.envs.causal_circuits.task import Experiment, Task

MAX_DESIGNS = 200_000


@dataclass(frozen=True)
class DesignBound:
    """Result of `design_bound`.

    Attributes:
        designs: How many designs there are.
        best_fixed: Runs of each experiment, in the task's order, under the best fixed design.
        fixed_score: Its expected score by the formula.
        known_score: The expected score if the design is chosen with knowledge of the circuit.
        gain: known_score - fixed_score.
        standard_error: Of the gain, over the circuits.
    """

    designs: int
    best_fixed: tuple[int, ...]
    fixed_score: float
    known_score: float
    gain: float
    standard_error: float


def enumerate_designs(task: Task) -> NDArray[np.int64]:
    """Every design (D, E) after which no further experiment is affordable.

    Raises:
        ValueError: there are more than `MAX_DESIGNS`.
    """
    designs: list[tuple[int, ...]] = []
    for design in _designs(task.experiments, task.budget, math.inf):
        designs.append(design)
        if len(designs) > MAX_DESIGNS:
            raise ValueError(f"the task has more than {MAX_DESIGNS} designs, too many to compare them all")
    return np.array(designs, np.int64)


def design_bound(task: Task, circuits: int = 256, progress: Callable[[int], None] | None = None) -> DesignBound:
    """Compare the best fixed design with the best design for each circuit.

    Args:
        task: The public task.
        circuits: How many circuits are drawn from the prior, at least 2.
        progress: Called with 1 after each circuit.

    Raises:
        ValueError: too many designs, or fewer than 2 circuits.
    """
    if circuits < 2:
        raise ValueError(f"circuits must be at least 2, got {circuits!r}")
    designs = enumerate_designs(task)
    mechanism = tuple(compile_mechanism(task))
    points = SUPPORT * (2.0 * base_points(len(task.priors), circuits, seed=2) - 1.0)
    scores = np.empty((circuits, len(designs)))
    for i in range(circuits):
        _score_designs(mechanism, points[:, i].copy(), designs, len(task.initial_queries), scores[i])
        if progress is not None:
            progress(1)
    best = int(scores.mean(axis=0).argmax())
    gains = scores.max(axis=1) - scores[:, best]
    return DesignBound(
        designs=len(designs),
        best_fixed=tuple(int(runs) for runs in designs[best]),
        fixed_score=float(scores[:, best].mean()),
        known_score=float(scores.max(axis=1).mean()),
        gain=float(gains.mean()),
        standard_error=float(gains.std(ddof=1) / math.sqrt(circuits)),
    )


def _designs(experiments: tuple[Experiment, ...], credits_left: int, cheapest: float) -> Iterator[tuple[int, ...]]:
    """Runs of `experiments` that leave too little for more; `cheapest` is what one more run of another would cost."""
    if not experiments:
        if credits_left < cheapest:
            yield ()
        return
    first, rest = experiments[0], experiments[1:]
    capacity = sum(e.cost * e.max_replicates for e in rest)
    for runs in range(min(first.max_replicates, credits_left // first.cost), -1, -1):
        left = credits_left - runs * first.cost
        again = cheapest if runs == first.max_replicates else min(cheapest, first.cost)
        if left - capacity >= again:
            return
        for others in _designs(rest, left, again):
            yield (runs, *others)


@njit(cache=True, error_model="numpy")
def _score_designs(mechanism, z, designs, num_initial, scores):  # type: ignore[no-untyped-def]
    """Write the expected score (D,) of every design around one circuit z (K,)."""
    num_rows = mechanism[4].shape[1]
    jacobian = np.empty((num_rows, mechanism[3].size, z.size))
    loss = local_information(mechanism, z, jacobian)
    counts = np.ones(num_rows, np.int64)
    for d in range(designs.shape[0]):
        for e in range(designs.shape[1]):
            counts[num_initial + e] = designs[d, e]
        h = precision(jacobian, counts)
        base = log_determinant(cholesky(h))
        scores[d] = 0.0
        for g in range(NODES.size):
            widened = log_determinant(cholesky(add_scaled(h, loss, 2.0 * NODES[g])))
            scores[d] += NODE_WEIGHTS[g] * math.exp(0.5 * (base - widened))
