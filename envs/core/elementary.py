"""Elementary functions for compiled kernels, from IEEE arithmetic and bit operations alone.

`math.tanh` or NumPy's `log` may differ in the last bit between two C libraries or two processors; these cannot, so
episodes have the same bytes everywhere. They are also free of branches and calls, so loops over them vectorise. Every
polynomial is a truncated Taylor series.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
_MANTISSA_BITS = np.int64(52)
_EXPONENT_BIAS = np.int64(1023)
_LN2 = math.log(2.0)
_LN2_HIGH = 6.93147180369123816490e-01  # the leading bits of ln 2, so that n * _LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10
_TURN = 2.0 * math.pi / 2.0**32

_EXP_TAYLOR = tuple(1.0 / math.factorial(n) for n in range(13, -1, -1))
_ARTANH_TAYLOR = tuple(1.0 / (2 * n + 1) for n in range(9, -1, -1))
_SIN_TAYLOR = tuple((-1.0) ** n / math.factorial(2 * n + 1) for n in range(7, -1, -1))
_COS_TAYLOR = tuple((-1.0) ** n / math.factorial(2 * n) for n in range(7, -1, -1))


@njit(cache=True, error_model="numpy")
def tanh(x: float) -> float:
    """tanh(x) = 1 - 2 / (exp(2x) + 1), within 3e-16 absolutely; +-1 beyond |x| = 20."""
    doubled = 2.0 * min(abs(x), 20.0)
    n = np.floor(doubled / _LN2 + 0.5)
    r = (doubled - n * _LN2_HIGH) - n * _LN2_LOW
    exp_r = 0.0
    for c in _EXP_TAYLOR:
        exp_r = exp_r * r + c
    power = np.int64((np.int64(n) + _EXPONENT_BIAS) << _MANTISSA_BITS).view(np.float64)
    return math.copysign(1.0 - 2.0 / (exp_r * power + 1.0), x)


@njit(cache=True, error_model="numpy")
def log(x: float) -> float:
    """Natural logarithm of a positive normal number: ln 2 * exponent + 2 artanh((m - 1) / (m + 1)), within 4e-15 relatively."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits - _SQRT_HALF_BITS) >> _MANTISSA_BITS
    mantissa = np.int64(bits - (exponent << _MANTISSA_BITS)).view(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    t = s * s
    series = 0.0
    for c in _ARTANH_TAYLOR:
        series = series * t + c
    return np.float64(exponent) * _LN2 + 2.0 * s * series


@njit(cache=True, error_model="numpy")
def sincos_turn(word: np.uint64) -> tuple[float, float]:
    """Sine and cosine of 2 pi word / 2**32 for a 32-bit word, within 1e-14."""
    quadrant = (word + np.uint64(0x20000000)) >> np.uint64(30)
    angle = np.float64(np.int64(word) - np.int64(quadrant << np.uint64(30))) * _TURN
    t = angle * angle
    sine = 0.0
    for c in _SIN_TAYLOR:
        sine = sine * t + c
    sine *= angle
    cosine = 0.0
    for c in _COS_TAYLOR:
        cosine = cosine * t + c
    swapped = (quadrant & np.uint64(1)) != 0
    a = cosine if swapped else sine
    b = sine if swapped else cosine
    if (quadrant & np.uint64(2)) != 0:
        a = -a
    if ((quadrant + np.uint64(1)) & np.uint64(2)) != 0:
        b = -b
    return a, b
