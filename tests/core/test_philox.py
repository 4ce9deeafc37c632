"""The counter-based generator: the published vectors, a plain Python Philox, normal numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from veilgym.envs.core.philox import normal_lanes, philox_lanes, unit_uniform

# Random123, tests/kat_vectors, "philox4x32 10": counter, key, result.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
EVERY_VECTOR = pytest.mark.parametrize(("counter", "key", "expected"), KNOWN_ANSWERS)


def plain_philox(counter, key):
    """Philox4x32-10 as in Salmon et al. (2011), with Python integers."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c0, 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c2, 2**32)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
    return c0, c1, c2, c3


def lanes(counters, keys):
    """Blocks (L, 4) under keys (L, 2)."""
    rows = [*np.array(counters, np.uint64).T, np.array([k0 | k1 << 32 for k0, k1 in keys], np.uint64)]
    words = np.array(rows)
    philox_lanes(words, words.shape[1])
    return (words[:4] & np.uint64(0xFFFFFFFF)).T.tolist()


@EVERY_VECTOR
def test_philox__gives_the_published_answers(counter, key, expected):
    assert plain_philox(counter, key) == expected
    assert lanes([counter] * 5, [key] * 5) == [list(expected)] * 5


def test_philox_lanes__equals_plain_python_and_ignores_upper_halves():
    rng = np.random.default_rng(0)
    counters, keys = rng.integers(2**32, size=(300, 4)), rng.integers(2**32, size=(300, 2)).tolist()
    expected = [list(plain_philox(counter, key)) for counter, key in zip(counters.tolist(), keys, strict=True)]
    assert lanes(counters, keys) == expected
    littered = counters.astype(np.uint64) | (rng.integers(2**32, size=(300, 4), dtype=np.uint64) << np.uint64(32))
    assert lanes(littered, keys) == expected


def test_philox_lanes__works_on_as_many_lanes_as_asked():
    words = np.arange(40, dtype=np.uint64).reshape(5, 8)
    before = words.copy()
    philox_lanes(words, 5)
    assert (words[:, 5:] == before[:, 5:]).all()
    assert (words[4] == before[4]).all()
    assert (words[:4, :5] != before[:4, :5]).any(axis=0).all()


def test_philox__one_bit_of_counter_or_key_changes_half_the_bits():
    counters = [(1, 2, 3, 4), (0, 2, 3, 4), (1, 2, 3, 5), (1, 2, 3, 4), (1, 2, 3, 4)]
    base, *others = lanes(counters, [(5, 6), (5, 6), (5, 6), (4, 6), (5, 7)])
    flips = [sum((a ^ b).bit_count() for a, b in zip(base, other, strict=True)) for other in others]
    assert all(40 < flip < 88 for flip in flips)


def test_unit_uniform__is_the_midpoint_of_the_cell_and_never_0_or_1():
    for word in (0, 1, 2**31, 2**32 - 1, 12345):
        assert unit_uniform(np.uint64(word)) == (word + 0.5) / 2**32
        assert 0 < unit_uniform(np.uint64(word)) < 1


def normals_of(words):
    words = np.array(words, np.uint64)
    normals = np.zeros((2, words.shape[1]), np.float32)
    normal_lanes(words, normals, words.shape[1])
    return normals


def test_normal_lanes__is_the_box_muller_transform_of_the_words():
    words = np.random.default_rng(0).integers(2**32, size=(2, 20_000), dtype=np.uint64)
    words[:, :4] = [[0, 1, 2**32 - 1, 2**31], [0, 2**30, 2**31, 2**32 - 1]]
    uniform = (words[0] // 2 + 0.5) / 2.0**31
    radius, angle = np.sqrt(-2 * np.log(uniform)), 2 * np.pi * words[1] / 2.0**32
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)])
    error = np.abs(normals_of(words) - expected)
    assert error.max() < 3e-4  # where the uniform number is close to 1, which single precision rounds
    assert error[:, radius > 0.1].max() < 5e-6


def test_normal_lanes__is_bounded_and_finite_at_the_extremes():
    extremes = [0, 1, 2, 3, 2**30, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
    pairs = np.array([[a, b] for a in extremes for b in extremes]).T
    normals = normals_of(pairs)
    assert np.isfinite(normals).all()
    assert np.abs(normals).max() < 6.7


def test_normal_lanes__gives_independent_standard_normals():
    count = 100_000
    words = np.zeros((5, count), np.uint64)
    words[0], words[4] = np.arange(count), 7
    philox_lanes(words, count)
    normals = np.zeros((2, count), np.float32)
    normal_lanes(words, normals, count)
    for row in normals.astype(np.float64):
        assert stats.kstest(row, "norm").pvalue > 1e-3
        assert abs(row.mean()) < 5 / np.sqrt(count)
        assert abs(np.corrcoef(row[:-1], row[1:])[0, 1]) < 5 / np.sqrt(count)
    assert abs(np.corrcoef(normals)[0, 1]) < 5 / np.sqrt(count)
    assert abs(np.corrcoef(normals**2)[0, 1]) < 5 / np.sqrt(count)
