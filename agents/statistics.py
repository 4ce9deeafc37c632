"""Statistics over instances: intervals, interquartile means and performance profiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, bootstrap, trim_mean

CONFIDENCE = 0.95
RESAMPLES = 2000
_NORMAL = 1.959963984540054  # 97.5 % quantile of the standard normal distribution
FEWEST = 10  # below that the interval covers the mean far too seldom
TAIL = (1.0 - CONFIDENCE) / 2.0

Interval = tuple[float, float] | None
Statistic = Callable[[Sequence[NDArray[np.float64]]], NDArray[np.float64]]
"""From strata, each (..., n of its own), to (...): a function of what is along the last axes."""


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


def score_interval(scores: NDArray[np.float64]) -> tuple[float, float] | None:
    """95 % interval of the mean of scores in [0, 1]: `mean_interval`, but Wilson's where all are 0 or all 1.

    Every resample of such scores is the same, so that the bootstrap would claim to know the mean exactly.

    Args:
        scores: (n,) one number per instance; None is returned for fewer than `FEWEST`.
    """
    if len(scores) >= FEWEST and (np.all(scores == 0.0) or np.all(scores == 1.0)):
        return wilson_interval(int(scores.sum()), len(scores))
    return mean_interval(scores)


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """95 % interval of a probability from independent trials (Wilson, 1927); `trials` is at least 1."""
    share, square = successes / trials, _NORMAL**2 / trials
    centre = (share + square / 2) / (1 + square)
    reach = math.sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    # The ends at shares of 0 and 1 are 0 and 1, but for rounding.
    return (0.0 if successes == 0 else centre - reach), (1.0 if successes == trials else centre + reach)


def stratified_interval(strata: Sequence[NDArray[np.float64]], statistic: Statistic) -> Interval:
    """95 % percentile bootstrap interval of a statistic; each stratum is resampled by itself.

    Strata are ids, lengths or training runs: what was chosen, not drawn (Agarwal et al., 2021, section 4).

    Args:
        strata: At least one array (n_s,) of values.
        statistic: `mean_of_means` or `pooled_interquartile_mean`, for instance.

    Returns:
        None if the strata have fewer than `FEWEST` values together.
    """
    if sum(map(len, strata)) < FEWEST or not all(map(len, strata)):
        return None
    rng = np.random.default_rng(0)
    resampled = [values[rng.integers(len(values), size=(RESAMPLES, len(values)))] for values in strata]
    low, high = np.quantile(statistic(resampled), [TAIL, 1.0 - TAIL])
    return float(low), float(high)


def mean_of_means(strata: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean of the strata's means: every stratum counts the same, however many values it has."""
    return np.mean([values.mean(axis=-1) for values in strata], axis=0)  # type: ignore[no-any-return]


def pooled_interquartile_mean(strata: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean of the middle half of all values together (Agarwal et al., 2021)."""
    return trim_mean(np.concatenate(list(strata), axis=-1), 0.25, axis=-1)  # type: ignore[no-any-return]


def has_quartiles(values: NDArray[np.float64]) -> bool:
    """Whether an interquartile mean says anything that the mean does not.

    With scores of 0 and 1 and a mean p it is max(0, min(1, 2 p - 1/2)): the mean, stretched and cut off, 1 for every
    agent that is right in three quarters of the instances. So no table shows it there.
    """
    return len(np.unique(values)) > 2


def interquartile_mean(values: NDArray[np.float64]) -> tuple[float, Interval] | None:
    """The mean of the middle half of (n,) values, with its interval; None where `has_quartiles` is false."""
    if not has_quartiles(values):
        return None
    return float(pooled_interquartile_mean([values])), stratified_interval([values], pooled_interquartile_mean)


def performance_profile(
    values: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> list[tuple[float, float, Interval]]:
    """The fraction of (n,) values above each threshold, as (threshold, fraction, 95 % interval).

    The interval is that of the percentile bootstrap, exactly: the number of resampled values above a threshold is
    binomial.
    """
    n = len(values)
    profile = []
    for threshold in thresholds.tolist():
        fraction = float((values > threshold).mean())
        ends = binom.ppf([TAIL, 1.0 - TAIL], n, fraction) / n
        profile.append((threshold, fraction, (float(ends[0]), float(ends[1])) if n >= FEWEST else None))
    return profile
