"""Intervals: width, coverage, and what a single value gets."""

import numpy as np
import pytest

from veilgym.agents.statistics import mean_interval


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
