"""How well stated probabilities agree with what was observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from veilgym.agents.statistics import Interval, score_interval

BINS = 10


@dataclass(frozen=True)
class Bin:
    """The instances whose stated probabilities lie in one tenth of the way from 0 to 1.

    Attributes:
        claimed: Mean of the stated probabilities.
        observed: Mean of what was observed.
        interval: 95 % interval of `observed`, see `score_interval`.
        instances: How many.
    """

    claimed: float
    observed: float
    interval: Interval
    instances: int


@dataclass(frozen=True)
class Reliability:
    """The curve of an agent.

    Attributes:
        bins: Those with instances, by ascending probability.
        squared: Mean squared difference of what was claimed and observed: the Brier score where answers are right or
            wrong; 0 is best.
        gap: Mean difference of a bin's two means, by size, weighted by instances (expected calibration error).
    """

    bins: tuple[Bin, ...]
    squared: float
    gap: float


def reliability(claimed: Sequence[float], observed: Sequence[float]) -> Reliability:
    """The reliability of n stated probabilities, given what was observed: 0 or 1, or exact probabilities."""
    stated, seen = np.asarray(claimed, np.float64), np.asarray(observed, np.float64)
    places = np.clip((stated * BINS).astype(int), 0, BINS - 1)
    bins = tuple(
        Bin(float(stated[inside].mean()), float(seen[inside].mean()), score_interval(seen[inside]), int(inside.sum()))
        for inside in (places == b for b in range(BINS))
        if inside.any()
    )
    gap = sum(b.instances * abs(b.claimed - b.observed) for b in bins) / len(stated)
    return Reliability(bins, float(((stated - seen) ** 2).mean()), gap)
