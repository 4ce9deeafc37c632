"""Intervals for means over instances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

CONFIDENCE = 0.95
RESAMPLES = 2000
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
