"""Paired comparisons: known values, symmetry, and what pairing gains."""

import numpy as np
import pytest

from veilgym.agents.comparison import aggregate, compare, neighbours


def test_compare__known_values(make_bench):
    bench = make_bench({"a": [1, 0, 1, 1, 0, 0.5] * 10, "b": [0, 0, 1, 0, 1, 0.5] * 10})
    found = compare(bench, "a", "b")
    # Better on 2 of 6, worse on 1, equal on 3.
    assert (found.difference, found.improvement) == pytest.approx((1 / 6, (2 + 1.5) / 6))
    assert (found.first, found.second, found.instances) == ("a", "b", 60)
    assert (found.interval[1] - found.interval[0]) / 3.92 == pytest.approx(
        np.std([1, 0, 0, 1, -1, 0]) / 60**0.5, rel=0.1
    )
    other = compare(bench, "b", "a")
    assert (other.difference, other.improvement) == pytest.approx((-found.difference, 1 - found.improvement))


def test_compare__an_agent_with_itself(make_bench):
    bench = make_bench({"a": np.random.default_rng(0).random(50), "b": [0] * 50})
    found = compare(bench, "a", "a")
    assert (found.difference, found.interval) == (0.0, (0.0, 0.0))
    assert (found.improvement, found.improvement_interval) == (0.5, (0.5, 0.5))


def test_compare__pairs_by_instance(make_bench):
    hard = np.random.default_rng(1).random(200)
    found = compare(make_bench({"a": hard + 0.01, "b": hard}), "a", "b")
    assert found.interval == pytest.approx((0.01, 0.01))  # the spread of the instances is gone
    assert found.improvement == 1.0


def test_compare__unknown_agent(make_bench):
    with pytest.raises(ValueError, match=r"agent must be one of 'a', 'b' in the results of HiddenSystem-v0, got 'c'"):
        compare(make_bench({"a": [0], "b": [1]}), "a", "c")


def test_neighbours__from_the_best_down(make_bench):
    bench = make_bench({"a": [0, 0], "middle": [0, 1], "also": [1, 0], "b": [1, 1]})
    assert [(c.first, c.second) for c in neighbours(bench)] == [("b", "middle"), ("middle", "also"), ("also", "a")]


def test_aggregate__every_setting_counts_the_same(make_bench):
    short = make_bench({"floor": [0.5] * 20, "x": [0.75] * 20, "only here": [1.0] * 20, "ideal": [1.0] * 20})
    long = make_bench({"floor": [0.0] * 80, "x": [1.0, 0.0] * 40, "ideal": [0.5] * 80}, arguments={"length": "long"})
    by_agent = {line.agent: line for line in aggregate([short, long])}
    assert list(by_agent) == ["ideal", "x", "floor"]
    assert [by_agent[name].score for name in ("floor", "x", "ideal")] == pytest.approx([0.0, (0.5 + 1.0) / 2, 1.0])
    low, high = by_agent["x"].interval
    # Only the long setting varies: (0 or 2) with mean 1 over 80, halved.
    assert (high - low) / 3.92 == pytest.approx(1 / 80**0.5 / 2, rel=0.1)
    assert by_agent["ideal"].interval == pytest.approx((1.0, 1.0))


def test_aggregate__needs_a_scale(make_bench):
    scores = {"floor": [0.5] * 10, "ideal": [0.5] * 10}
    assert aggregate([make_bench(scores), make_bench(scores, arguments={"length": 5})]) == []
    assert aggregate([make_bench(scores, floor=None, ideal=None)]) == []
