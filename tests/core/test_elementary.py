"""The elementary functions keep the precision that their docstrings state, everywhere and at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit

from veilgym.envs.core.elementary import log_32, sincos_turn_32, tanh, tanh_32, tanh_64

EDGES = [
    0.0,
    5e-324,
    1e-300,
    1e-8,
    0.17,
    0.3465735902799726,
    0.5,
    1.0,
    9.9999,
    10.0,
    10.01,
    19.06,
    20.0,
    20.5,
    100.0,
    1e300,
]
GRID = np.concatenate([EDGES, np.linspace(0, 25, 20_001), np.geomspace(1e-12, 30, 5_000)])


def test_tanh_64__is_within_3e_16():
    for x in np.concatenate([GRID, -GRID]):
        assert abs(tanh_64(x) - math.tanh(x)) <= 3e-16, x


def test_tanh_64__is_odd_bounded_and_keeps_the_sign_of_zero():
    for x in GRID[::50]:
        assert tanh_64(-x) == -tanh_64(x)
        assert 0 <= tanh_64(x) <= 1
    assert math.copysign(1, tanh_64(-0.0)) == -1
    assert tanh_64(20.0) == tanh_64(math.inf) == 1.0


def test_tanh_32__is_within_2e_7():
    for x in np.concatenate([GRID, -GRID]).clip(-1e30, 1e30).astype(np.float32):
        assert abs(tanh_32(x) - math.tanh(x)) <= 2e-7, x


def test_tanh__takes_the_precision_of_its_argument():
    @njit
    def both(single, double):
        return tanh(single), tanh(double)

    for x in (0.1, 0.7, -2.0):
        single, double = both(np.float32(x), x)
        assert single == tanh_32(np.float32(x))
        assert double == tanh_64(x)
        assert single != double


def test_log_32__is_within_3e_7_relatively():
    x = np.concatenate(
        [np.geomspace(1.2e-38, 3e38, 20_000), np.linspace(0.4, 2.5, 5_000), [1 - 2**-24, 1 + 2**-23, 2**-32]]
    )
    for number in x.astype(np.float32):
        expected = math.log(number)
        assert abs(log_32(number) - expected) <= 3e-7 * abs(expected), number
    assert log_32(np.float32(1.0)) == 0.0


def test_sincos_turn_32__is_within_3e_7():
    rng = np.random.default_rng(0)
    eighths = np.arange(8) * 2**29
    words = np.concatenate([eighths, eighths + 1, (eighths - 1) % 2**32, rng.integers(2**32, size=20_000)])
    for word in words:
        sine, cosine = sincos_turn_32(np.uint32(word))
        angle = 2 * math.pi * int(word) / 2**32
        assert sine == pytest.approx(math.sin(angle), abs=3e-7), word
        assert cosine == pytest.approx(math.cos(angle), abs=3e-7), word


def test_functions__give_the_same_bits_alone_and_in_a_loop():
    """Vectorised loops must not round differently (no fused multiply-add, no fast math)."""

    @njit(error_model="numpy")
    def loop(x, out):
        for i in range(x.size):
            out[i] = tanh_64(x[i])

    @njit(error_model="numpy")
    def loop_32(x, out):
        for i in range(x.size):
            out[i] = tanh_32(x[i])

    for kernel, alone, dtype in ((loop, tanh_64, np.float64), (loop_32, tanh_32, np.float32)):
        x = np.random.default_rng(0).normal(size=1003).astype(dtype)
        out = np.empty_like(x)
        kernel(x, out)
        assert out.tolist() == [dtype(alone(number)) for number in x]
