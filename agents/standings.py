"""The lines of a table, computed from the scores of every instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from veilgym.agents.statistics import Interval, mean_interval, score_interval

if TYPE_CHECKING:
    from veilgym.agents.results import Bench, Run


@dataclass(frozen=True)
class Regret:
    """How far an agent's mean score is below the ideal observer's: total = experiments + inference, exactly.

    Attributes:
        total: The ideal observer's mean score minus the agent's, over the same instances. None without ideal observer.
        interval: 95 % paired bootstrap interval of `total`.
        experiments: Lost by the choice of experiments: the ideal observer's score on its own data minus its score on
            the agent's data. None for ids without experiments.
        inference: Lost by inference: the ideal observer's score on the agent's data minus the agent's score. None
            likewise.
    """

    total: float | None
    interval: Interval
    experiments: float | None
    inference: float | None


@dataclass(frozen=True)
class Standing:
    """An agent's line in the table.

    Attributes:
        agent, description: Text.
        score: Mean score over the instances.
        interval: 95 % interval of `score`, see `score_interval`.
        normalised: (score - floor) / (ideal - floor); None where the two ends coincide, or are not among the agents.
        regret: See `Regret`.
        experiments: Mean number of experiments.
        refused: Mean number of refused requests.
        truncated: How many episodes ran into the step limit.
        episodes_per_second: Speed in this run, acting and stepping, one thread.
        scores: One score per instance.
    """

    agent: str
    description: str
    score: float
    interval: Interval
    normalised: float | None
    regret: Regret
    experiments: float
    refused: float
    truncated: int
    episodes_per_second: float
    scores: tuple[float, ...]


def standings_of(bench: Bench) -> tuple[Standing, ...]:
    """The lines of a bench, in the order of its runs."""
    ideal = next((np.array(run.scores) for run in bench.runs if run.agent == bench.ideal), None)
    return tuple(_standing(run, bench.ends, ideal) for run in bench.runs)


def _standing(run: Run, ends: tuple[float | None, float | None], ideal: NDArray[np.float64] | None) -> Standing:
    scores = np.array(run.scores)
    return Standing(
        agent=run.agent,
        description=run.description,
        score=float(scores.mean()),
        interval=score_interval(scores),
        normalised=normalise(float(scores.mean()), *ends),
        regret=_regret(run, scores, ideal),
        experiments=float(np.mean(run.experiments)),
        refused=float(np.mean(run.refused)),
        truncated=sum(run.truncated),
        episodes_per_second=len(scores) / run.seconds,
        scores=run.scores,
    )


def normalise(score: float, low: float | None, high: float | None) -> float | None:
    """A mean score on the scale from the floor's (0) to the ideal observer's (1); None where there is no scale."""
    if low is None or high is None or high == low:
        return None
    return (score - low) / (high - low)


def _regret(run: Run, scores: NDArray[np.float64], ideal: NDArray[np.float64] | None) -> Regret:
    losses = None if ideal is None else ideal - scores
    inferred = None if run.inferred is None else np.array(run.inferred)
    return Regret(
        total=None if losses is None else float(losses.mean()),
        interval=None if losses is None else mean_interval(losses),
        experiments=None if inferred is None or ideal is None else float(np.mean(ideal - inferred)),
        inference=None if inferred is None else float(np.mean(inferred - scores)),
    )
