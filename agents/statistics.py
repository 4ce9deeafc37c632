"""Intervals for means over instances."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

CONFIDENCE = 0.95
RESAMPLES = 2000
_NORMAL = 1.959963984540054  # 97.5 % quantile of the standard normal distribution
FEWEST = 10  # below that the interval covers the mean far too seldom


def mean_interval(values: NDArray[np.float64]) -> tuple[float, float] | None:
    """95 % percentile bootstrap interval of the mean over instances; None for fewer than `FEWEST` values.

    The resamples are drawn with a fixed seed, so equal values get equal intervals. For a paired comparison of two
    agents pass the differences of their scores on the same instances.

    Args:
        values: (n,) one number per instance.
    """
    if len(values) < FEWEST:
        return None
    result = bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, confidence_level=CONFIDENCE, method="percentile",
        rng=np.random.default_rng(0), batch=100,
    )  # fmt: skip
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """95 % interval of a probability from independent trials (Wilson, 1927); `trials` is at least 1."""
    share, square = successes / trials, _NORMAL**2 / trials
    centre = (share + square / 2) / (1 + square)
    reach = math.sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    return max(0.0, centre - reach), min(1.0, centre + reach)
