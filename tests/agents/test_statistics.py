"""Intervals: width, coverage, and what a single value gets."""

import numpy as np
import pytest

from veilgym.agents.statistics import (
    has_quartiles,
    interquartile_mean,
    mean_interval,
    mean_of_means,
    performance_profile,
    pooled_interquartile_mean,
    score_interval,
    stratified_interval,
    wilson_interval,
)


def test_mean_interval__width_is_that_of_the_standard_error():
    scores = np.random.default_rng(0).binomial(1, 0.3, 500).astype(float)
    low, high = mean_interval(scores)
    assert low < scores.mean() < high
    assert (high - low) / 3.92 == pytest.approx(np.sqrt(0.21 / 500), rel=0.1)


def test_mean_interval__coverage():
    rng = np.random.default_rng(1)
    intervals = [mean_interval(rng.beta(5.0, 2.0, 40)) for _ in range(300)]
    covered = np.mean([low <= 5.0 / 7.0 <= high for low, high in intervals])
    assert 0.90 <= covered <= 0.98


def test_mean_interval__too_few_values():
    assert mean_interval(np.arange(9.0)) is None
    assert mean_interval(np.array([])) is None
    assert mean_interval(np.arange(10.0)) is not None


def test_mean_interval__same_values_same_interval():
    scores = np.random.default_rng(2).random(100)
    assert mean_interval(scores) == mean_interval(scores.copy())


def test_mean_interval__constant_scores():
    assert mean_interval(np.full(10, 0.25)) == (0.25, 0.25)


def test_score_interval__the_mean_is_never_known_exactly():
    # Of 100 right answers: below p the chance of seeing them is p**100, which is 2.5 % at 0.9638.
    low, high = score_interval(np.ones(100))
    assert high == 1.0
    assert low == pytest.approx(0.025 ** (1 / 100), abs=0.002)
    assert score_interval(np.zeros(100)) == pytest.approx((1.0 - high, 1.0 - low))


@pytest.mark.parametrize("trials", [1, 10, 60, 333, 5000])
def test_wilson_interval__holds_the_share(trials):
    for successes in {0, 1, trials // 2, trials - 1, trials}:
        low, high = wilson_interval(successes, trials)
        assert 0.0 <= low <= successes / trials <= high <= 1.0
        assert (low == 0.0) == (successes == 0)
        assert (high == 1.0) == (successes == trials)


def test_score_interval__otherwise_the_bootstrap():
    scores = np.r_[np.ones(99), 0.0]
    assert score_interval(scores) == mean_interval(scores)
    assert score_interval(np.full(10, 0.25)) == (0.25, 0.25)
    assert score_interval(np.ones(9)) is None
    assert score_interval(np.ones(10)) == wilson_interval(10, 10)


def test_stratified_interval__width_is_that_of_the_standard_error():
    rng = np.random.default_rng(3)
    strata = [rng.normal(0.2, 0.1, 400), rng.normal(0.8, 0.3, 100)]
    low, high = stratified_interval(strata, mean_of_means)
    error = np.sqrt(sum(values.var() / len(values) for values in strata)) / 2
    assert (high - low) / 3.92 == pytest.approx(error, rel=0.1)
    assert (low + high) / 2 == pytest.approx(np.mean([values.mean() for values in strata]), abs=error / 4)


def test_stratified_interval__strata_are_not_mixed():
    # Within a stratum nothing varies; a bootstrap over all values together would.
    strata = [np.zeros(20), np.ones(60)]
    assert stratified_interval(strata, mean_of_means) == (0.5, 0.5)
    assert stratified_interval(strata, lambda parts: np.concatenate(parts, axis=-1).mean(axis=-1)) == (0.75, 0.75)


def test_stratified_interval__coverage():
    rng = np.random.default_rng(4)
    covered = []
    for _ in range(200):
        low, high = stratified_interval([rng.beta(5, 2, 40), rng.beta(2, 5, 80)], mean_of_means)
        covered.append(low <= 0.5 <= high)
    assert 0.90 <= np.mean(covered) <= 0.98


def test_stratified_interval__too_few_values():
    assert stratified_interval([np.arange(4.0), np.arange(5.0)], mean_of_means) is None
    assert stratified_interval([np.arange(20.0), np.array([])], mean_of_means) is None


def test_interquartile_mean__known_values():
    # rliable's documentation: 25 % are cut off at either end. Of 8 values, 2 and 2.
    values = np.array([100.0, 3.0, 1.0, -50.0, 4.0, 2.0, 7.0, 0.0])
    assert pooled_interquartile_mean([values]) == pytest.approx((1 + 2 + 3 + 4) / 4)
    assert pooled_interquartile_mean([values[:3], values[3:]]) == pytest.approx(2.5)
    assert interquartile_mean(values)[0] == pytest.approx(2.5)
    assert interquartile_mean(values)[1] is None
    # Of a normal distribution: its mean, with the variance of the trimmed mean (Huber, 1981), 1.19 of the mean's.
    normal = np.random.default_rng(5).normal(2.0, 1.0, 2000)
    middle, (low, high) = interquartile_mean(normal)
    assert middle == pytest.approx(2.0, abs=0.08)
    assert ((high - low) / 3.92) ** 2 * 2000 == pytest.approx(1.19, rel=0.2)


@pytest.mark.parametrize("values", [np.tile([0.0, 1.0], 20), np.zeros(12), np.array([])])
def test_interquartile_mean__says_nothing_of_right_and_wrong(values):
    assert not has_quartiles(values)
    assert interquartile_mean(values) is None


def test_performance_profile__fractions_and_intervals():
    values = np.random.default_rng(6).random(400)
    profile = performance_profile(values, np.array([-0.1, 0.3, values.max()]))
    assert [at for at, *_ in profile] == [-0.1, 0.3, values.max()]
    assert (profile[0][1:], profile[2][1:]) == ((1.0, (1.0, 1.0)), (0.0, (0.0, 0.0)))
    _, fraction, interval = profile[1]
    assert fraction == np.mean(values > 0.3)
    assert interval == pytest.approx(mean_interval((values > 0.3).astype(float)), abs=0.006)
    assert performance_profile(values[:9], np.array([0.5]))[0][2] is None
