"""Reliability curves against known values."""

import numpy as np
import pytest

from veilgym.agents.reliability import reliability


def test_reliability__known_values():
    found = reliability([0.55, 0.5, 0.95, 0.95, 1.0], [1.0, 0.0, 1.0, 0.0, 1.0])
    low, high = found.bins
    assert (low.claimed, low.observed, low.instances, low.interval) == (0.525, 0.5, 2, None)
    assert (high.claimed, high.observed, high.instances) == pytest.approx((2.9 / 3, 2 / 3, 3))
    assert found.squared == pytest.approx((0.45**2 + 0.25 + 0.05**2 + 0.95**2) / 5)
    assert found.gap == pytest.approx((2 * 0.025 + 3 * 0.3) / 5)


def test_reliability__an_honest_forecast():
    rng = np.random.default_rng(0)
    claimed = rng.random(20_000)
    found = reliability(claimed, rng.random(20_000) < claimed)
    assert len(found.bins) == 10
    assert found.gap < 0.02
    assert found.squared == pytest.approx(1 / 6, abs=0.01)  # the mean of p (1 - p)
    assert sum(b.interval[0] <= b.claimed <= b.interval[1] for b in found.bins) >= 8


def test_reliability__certain_and_exact():
    found = reliability([0.0, 1.0, 1.0], [0.0, 1.0, 1.0])
    assert [b.instances for b in found.bins] == [1, 2]
    assert (found.squared, found.gap) == (0.0, 0.0)
