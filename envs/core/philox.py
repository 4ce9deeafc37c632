"""Philox4x32-10, the counter-based generator of Salmon et al. (SC 2011, "Parallel random numbers: as easy as 1, 2, 3").

A draw is a pure function of a 64-bit key and a 128-bit counter: there is no state to advance, so the order in which an
agent asks and the width of a batch cannot change it. Words are the lower halves of uint64 numbers.
"""

from __future__ import annotations

import math

import numpy as np

from veilgym.envs.core.elementary import kernel, log_32, sincos_turn_32

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_FIVE = np.uint64(5)
_BLOCK = np.uint64(4)  # words
LOW_WORD = np.uint64(0xFFFFFFFF)
WORD_BITS = np.uint64(32)
_UNIT = 2.0**-32
STREAM_WORDS = 8
_TOP_31, _UNIT_31, _MIDPOINT = np.uint32(1), np.float32(2.0**-31), np.float32(2.0**-32)
_MINUS_TWO = np.float32(-2.0)

Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@kernel
def five_rounds(c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64) -> Words:
    """Half of the generator's rounds, with the two words of the key; only lower halves of words count."""
    # Only lower halves are multiplied, so the upper ones may fill with anything: masking them would cost a third.
    for _ in range(5):
        p0 = _M0 * (c0 & LOW_WORD)
        p1 = _M1 * (c2 & LOW_WORD)
        c0, c1, c2, c3 = (p1 >> WORD_BITS) ^ c1 ^ k0, p1, (p0 >> WORD_BITS) ^ c3 ^ k1, p0
        k0 += _W0
        k1 += _W1
    return c0, c1, c2, c3


@kernel
def unit_uniform(word: np.uint64) -> float:
    """Map a word to the midpoint of its cell of (0, 1): (word + 1/2) / 2**32."""
    return (np.float64(np.int64(word & LOW_WORD)) + 0.5) * _UNIT


@kernel
def philox_lanes(words, lanes):  # type: ignore[no-untyped-def]
    """Replace 128-bit counters by the blocks of four 32-bit words that belong to them under 64-bit keys.

    Args:
        words: (5, L) uint64. Rows 0 to 3 are the counters, whose upper halves are ignored; on return their lower halves
            are the words, and the upper halves are arbitrary. Row 4 holds the keys.
        lanes: how many of the L lanes to work on.
    """
    c0, c1, c2, c3, key = words[0], words[1], words[2], words[3], words[4]
    for lane in range(lanes):
        block = five_rounds(c0[lane], c1[lane], c2[lane], c3[lane], key[lane], key[lane] >> WORD_BITS)
        c0[lane], c1[lane], c2[lane], c3[lane] = block
    last_rounds_lanes(words, lanes)


@kernel
def last_rounds_lanes(words, lanes):  # type: ignore[no-untyped-def]
    """`philox_lanes` for counters that have been through `five_rounds`."""
    c0, c1, c2, c3, key = words[0], words[1], words[2], words[3], words[4]
    for lane in range(lanes):
        k0, k1 = key[lane] + _FIVE * _W0, (key[lane] >> WORD_BITS) + _FIVE * _W1
        c0[lane], c1[lane], c2[lane], c3[lane] = five_rounds(c0[lane], c1[lane], c2[lane], c3[lane], k0, k1)


@kernel
def normal_lanes(words, normals, lanes):  # type: ignore[no-untyped-def]
    """Turn pairs of words into pairs of independent standard normal numbers (Box and Muller, 1958), |z| < 6.7.

    Args:
        words: (2, L) or longer, uint64; rows 0 and 1 are used.
        normals: (2, L) float32, written.
        lanes: how many of the L lanes to work on.
    """
    even, odd = normals[0], normals[1]
    # A loop that reads 64-bit words has half as many numbers in a vector, so only the first one does; until the last,
    # `odd` holds the bits of a word.
    for lane in range(lanes):
        even[lane] = np.float32(np.int32(np.uint32(words[0, lane]) >> _TOP_31)) * _UNIT_31 + _MIDPOINT
        odd[lane] = np.uint32(words[1, lane]).view(np.float32)
    for lane in range(lanes):
        even[lane] = math.sqrt(_MINUS_TWO * log_32(even[lane]))
    for lane in range(lanes):
        sine, cosine = sincos_turn_32(np.float32(odd[lane]).view(np.uint32))
        odd[lane] = even[lane] * sine
        even[lane] *= cosine


@kernel
def open_stream(stream, key, index):  # type: ignore[no-untyped-def]
    """Point a stream at its first word.

    Args:
        stream: (`STREAM_WORDS`,) uint64 of working space: the key, the counter's low word and high words, how many
            words of the current block have been used, and that block.
        key: uint64.
        index: uint64; streams of different keys or indices share nothing.
    """
    stream[0], stream[1], stream[2], stream[3] = key, np.uint64(0), index, _BLOCK


@kernel
def next_word(stream):  # type: ignore[no-untyped-def]
    """The next 32-bit word of a stream, as a uint64."""
    if stream[3] == _BLOCK:
        key, index = stream[0], stream[2]
        block = (stream[1], np.uint64(0), index & LOW_WORD, index >> WORD_BITS)
        for half in range(2):
            w0, w1 = np.uint64(half) * _FIVE * _W0, np.uint64(half) * _FIVE * _W1
            block = five_rounds(block[0], block[1], block[2], block[3], key + w0, (key >> WORD_BITS) + w1)
        stream[4], stream[5], stream[6], stream[7] = block
        stream[1] += np.uint64(1)
        stream[3] = np.uint64(0)
    word = stream[np.uint64(4) + stream[3]] & LOW_WORD
    stream[3] += np.uint64(1)
    return word


@kernel
def next_below(stream, count):  # type: ignore[no-untyped-def]
    """An integer in [0, count), each with a probability within 2**-32 of 1 / count."""
    return np.int64((next_word(stream) * np.uint64(count)) >> WORD_BITS)


@kernel
def next_uniform(stream):  # type: ignore[no-untyped-def]
    """A float64 on the midpoints of 2**53 cells of (0, 1)."""
    high, low = next_word(stream) >> np.uint64(5), next_word(stream) >> np.uint64(6)
    return (np.float64(np.int64(high)) * 67108864.0 + np.float64(np.int64(low)) + 0.5) * (1.0 / 9007199254740992.0)
