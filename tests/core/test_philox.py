"""The counter-based generator: the published vectors, a plain Python Philox, normal numbers, streams."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from veilgym.envs.core.philox import (
    STREAM_WORDS,
    next_below,
    next_uniform,
    next_word,
    normal_lanes,
    open_stream,
    philox_lanes,
    unit_uniform,
)

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


class Stream:
    """The words of a key and an index, one after the other."""

    def __init__(self, key, index):
        self.state = np.full(STREAM_WORDS, 2**64 - 1, np.uint64)  # opening a stream leaves nothing of an older one
        open_stream(self.state, np.uint64(key), np.uint64(index))

    def words(self, count):
        return [int(next_word(self.state)) for _ in range(count)]

    def below(self, bound, count):
        return np.array([next_below(self.state, bound) for _ in range(count)])

    def uniform(self, count):
        return np.array([next_uniform(self.state) for _ in range(count)])


def plain_words(key, index, count):
    """Blocks 0, 1, ... of the counter (block, 0, low half of the index, high half of the index)."""
    halves = [(number % 2**32, number >> 32) for number in (key, index)]
    blocks = [plain_philox((block, 0, *halves[1]), halves[0]) for block in range(-(-count // 4))]
    return [word for block in blocks for word in block][:count]


@pytest.mark.parametrize("key", [0, 1, 0xA4093822299F31D0, 2**64 - 1])
@pytest.mark.parametrize("index", [0, 1, 2**32 - 1, 2**32, 0x243F6A8885A308D3, 2**64 - 1])
def test_next_word__reads_the_blocks_of_the_reference(key, index):
    assert Stream(key, index).words(50) == plain_words(key, index, 50)


def test_next_below__is_the_high_part_of_word_times_bound():
    for bound in (1, 2, 3, 7, 10, 1000, 2**31, 2**32):
        expected = [word * bound >> 32 for word in plain_words(5, 9, 40)]
        assert Stream(5, 9).below(bound, 40).tolist() == expected


@pytest.mark.parametrize("bound", [1, 2, 3, 4, 6, 7, 10])
def test_next_below__is_uniform_and_in_range(bound):
    numbers = Stream(3, bound).below(bound, 21_000)
    assert 0 <= numbers.min() <= numbers.max() < bound
    if bound > 1:
        counts = np.bincount(numbers, minlength=bound)
        assert stats.chisquare(counts).pvalue > 1e-6
        pairs = np.bincount(numbers[:-1:2] * bound + numbers[1::2], minlength=bound**2)
        assert stats.chisquare(pairs).pvalue > 1e-6


def test_next_uniform__has_53_bits_of_two_words():
    words = plain_words(8, 2, 60)
    expected = [((a >> 5) * 2**26 + (b >> 6) + 0.5) / 2**53 for a, b in zip(words[::2], words[1::2], strict=True)]
    assert Stream(8, 2).uniform(30).tolist() == expected


def test_next_uniform__is_uniform_independent_and_never_0_or_1():
    numbers = Stream(7, 1).uniform(40_000)
    assert 0 < numbers.min() < numbers.max() < 1
    assert stats.kstest(numbers, "uniform").pvalue > 1e-6
    bound = 5 / np.sqrt(numbers.size)
    assert abs(numbers.mean() - 1 / 2) < bound * np.sqrt(1 / 12)
    assert abs(numbers.var() - 1 / 12) < bound * np.sqrt(1 / 180)
    for lag in (1, 2, 3, 4):
        assert abs(np.corrcoef(numbers[:-lag], numbers[lag:])[0, 1]) < bound


def test_stream__neighbouring_keys_and_indices_share_nothing():
    streams = [(key, index) for key in (0, 1, 2, 2**32, 2**32 + 1) for index in (0, 1, 2, 2**32, 2**32 + 1)]
    words = [word for key, index in streams for word in Stream(key, index).words(40)]
    # 1,000 words of 32 bits: two of them agree with a probability of about 1e-4.
    assert len(set(words)) == len(words) == 1000


def test_stream__may_be_opened_again():
    stream = Stream(1, 2)
    first = stream.words(7)
    open_stream(stream.state, np.uint64(1), np.uint64(2))
    assert stream.words(7) == first
