"""Philox4x32-10, the counter-based generator of Salmon et al. (SC 2011, "Parallel random numbers: as easy as 1, 2, 3").

A draw is a pure function of a 64-bit key and a 128-bit counter: there is no state to advance, so the order in which an
agent asks and the width of a batch cannot change it. All words are 32-bit values held in uint64.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from veilgym.envs.core.elementary import log, sincos_turn

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
LOW_WORD = np.uint64(0xFFFFFFFF)
WORD_BITS = np.uint64(32)
_UNIT = 2.0**-32

Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@njit(cache=True, error_model="numpy")
def _round(c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64, k0: np.uint64, k1: np.uint64) -> Words:
    p0 = _M0 * c0
    p1 = _M1 * c2
    return (p1 >> WORD_BITS) ^ c1 ^ k0, p1 & LOW_WORD, (p0 >> WORD_BITS) ^ c3 ^ k1, p0 & LOW_WORD


@njit(cache=True, error_model="numpy")
def philox(key: np.uint64, c0: np.uint64, c1: np.uint64, c2: np.uint64, c3: np.uint64) -> Words:
    """Return the four 32-bit words of the block (c0, c1, c2, c3) under the 64-bit `key`."""
    k0 = key & LOW_WORD
    k1 = key >> WORD_BITS
    for _ in range(10):
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1)
        k0 = (k0 + _W0) & LOW_WORD
        k1 = (k1 + _W1) & LOW_WORD
    return c0, c1, c2, c3


@njit(cache=True, error_model="numpy")
def unit_uniform(word: np.uint64) -> float:
    """Map a 32-bit word to the midpoint of its cell of (0, 1): (word + 1/2) / 2**32."""
    return (np.float64(np.int64(word)) + 0.5) * _UNIT


@njit(cache=True, error_model="numpy")
def philox_lanes(key, words, lanes):  # type: ignore[no-untyped-def]
    """Replace the counters words[:, lane] by the block under key[lane]: the numbers of `philox`, in loops that vectorise.

    Args:
        key: (L,) uint64.
        words: (4, L) uint64, on entry the counters, on return the words.
        lanes: how many of the L lanes to work on.
    """
    c0, c1, c2, c3 = words[0], words[1], words[2], words[3]
    for pair in range(5):
        w0 = np.uint64(2 * pair) * _W0
        w1 = np.uint64(2 * pair) * _W1
        for lane in range(lanes):
            k0 = (key[lane] & LOW_WORD) + w0
            k1 = (key[lane] >> WORD_BITS) + w1
            a, b, c, d = _round(c0[lane], c1[lane], c2[lane], c3[lane], k0 & LOW_WORD, k1 & LOW_WORD)
            c0[lane], c1[lane], c2[lane], c3[lane] = _round(a, b, c, d, (k0 + _W0) & LOW_WORD, (k1 + _W1) & LOW_WORD)


@njit(cache=True, error_model="numpy")
def normal_lanes(words, normals, lanes):  # type: ignore[no-untyped-def]
    """Turn pairs of words into pairs of independent standard normal numbers (Box and Muller, 1958).

    Args:
        words: (2, L) or longer, uint64; rows 0 and 1 are used.
        normals: (2, L) float64, written.
        lanes: how many of the L lanes to work on.
    """
    even, odd = normals[0], normals[1]
    for lane in range(lanes):
        even[lane] = math.sqrt(-2.0 * log(unit_uniform(words[0, lane])))
    for lane in range(lanes):
        sine, cosine = sincos_turn(words[1, lane])
        odd[lane] = even[lane] * sine
        even[lane] *= cosine
