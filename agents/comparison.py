"""Comparison of agents that have played the same instances."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from veilgym.agents.results import Bench
from veilgym.agents.standings import normalise
from veilgym.agents.statistics import Interval, mean_interval, mean_of_means, score_interval, stratified_interval


@dataclass(frozen=True)
class Comparison:
    """How a first agent does beside a second one, paired: instance by instance.

    Attributes:
        first, second: Names.
        difference: Mean score of the first minus that of the second.
        interval: 95 % paired bootstrap interval of `difference`.
        improvement: The share of instances on which the first scores higher, plus half of the share of ties; 1/2 for
            agents that do the same.
        improvement_interval: 95 % interval of `improvement`, see `score_interval`.
        instances: How many.
    """

    first: str
    second: str
    difference: float
    interval: Interval
    improvement: float
    improvement_interval: Interval
    instances: int


@dataclass(frozen=True)
class Aggregate:
    """An agent's normalised score over several settings, each counting the same.

    Attributes:
        agent: Name.
        score: Mean of the settings' normalised scores.
        interval: 95 % bootstrap interval, stratified by setting; the ends of the scales are taken as known.
    """

    agent: str
    score: float
    interval: Interval


def compare(bench: Bench, first: str, second: str) -> Comparison:
    """Compare two agents of a bench.

    Raises:
        ValueError: one of them is not in it.
    """
    gains = np.array(bench.run_of(first).scores) - np.array(bench.run_of(second).scores)
    wins = (np.sign(gains) + 1.0) / 2.0
    return Comparison(
        first, second, float(gains.mean()), mean_interval(gains), float(wins.mean()), score_interval(wins), len(gains)
    )


def neighbours(bench: Bench) -> list[Comparison]:
    """Each agent beside the next one below it, from the best down; agents of equal score in the order of the bench."""
    ranked = sorted(bench.standings, key=lambda line: -line.score)
    return [compare(bench, a.agent, b.agent) for a, b in pairwise(ranked)]


def aggregate(benches: list[Bench]) -> list[Aggregate]:
    """The agents that all of `benches` have, best first; settings without a scale are refused by an empty list."""
    shared = [run.agent for run in benches[0].runs if all(run.agent in _names(bench) for bench in benches)]
    found = []
    for agent in shared:
        strata = [_normalised(bench, agent) for bench in benches]
        if any(values is None for values in strata):
            return []
        known = [values for values in strata if values is not None]
        found.append(Aggregate(agent, float(mean_of_means(known)), stratified_interval(known, mean_of_means)))
    return sorted(found, key=lambda line: -line.score)


def _names(bench: Bench) -> list[str]:
    return [run.agent for run in bench.runs]


def _normalised(bench: Bench, agent: str) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """(n,) an agent's scores on the scale of its bench; their mean is its normalised score."""
    low, high = (normalise(value, *bench.ends) for value in (0.0, 1.0))
    return None if low is None or high is None else low + (high - low) * np.array(bench.run_of(agent).scores)
