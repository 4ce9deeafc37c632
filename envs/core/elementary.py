"""Elementary functions for compiled kernels, from IEEE arithmetic and bit operations alone.

`math.tanh` or NumPy's `log` may differ in the last bit between two C libraries or two processors; these cannot, so
episodes have the same bytes everywhere. They are also free of branches and calls, so loops over them vectorise. Every
polynomial is a truncated Taylor series.

Single precision (float32, 32-bit words) is for what is measured with noise; what is exact is computed in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, typeof, types
from numba.extending import overload

# For compiled code that neither allocates nor keeps arrays: without reference counts a call costs half as much.
kernel = njit(cache=True, error_model="numpy", _nrt=False)  # type: ignore[call-overload]

# For parts of one kernel that take many arrays: they become part of it, where passing all those on costs 0.1 us a call.
kernel_part = njit(error_model="numpy", _nrt=False, inline="always")  # type: ignore[call-overload]

_machine_code: dict[Any, Callable[..., Any]] = {}

_INV_LN2 = 1.0 / math.log(2.0)
_LN2_HIGH = 6.93147180369123816490e-01  # the leading bits of ln 2, so that n * _LN2_HIGH is exact
_LN2_LOW = 1.90821492927058770002e-10
_MANTISSA_BITS, _EXPONENT_BIAS = np.int64(52), np.int64(1023)
_EXP_TAYLOR = tuple(1.0 / math.factorial(n) for n in range(13, -1, -1))

_HALF_32, _ONE_32, _TWO_32 = np.float32(0.5), np.float32(1.0), np.float32(2.0)
_LARGE_32 = np.float32(10.0)
_LN2_32, _INV_LN2_32 = np.float32(math.log(2.0)), np.float32(1.0 / math.log(2.0))
_LN2_HIGH_32, _LN2_LOW_32 = np.float32(0.693359375), np.float32(math.log(2.0) - 0.693359375)
_MANTISSA_BITS_32, _EXPONENT_BIAS_32 = np.int32(23), np.int32(127)
_SQRT_HALF_BITS_32 = np.int32(0x3F3504F3)
_TURN_32 = np.float32(2.0 * math.pi / 2.0**32)
_EIGHTH_TURN, _QUADRANT_BITS = np.uint32(0x20000000), np.uint32(30)
_FIRST_BIT, _SECOND_BIT = np.int32(1), np.int32(2)
_EXP_TAYLOR_32 = tuple(np.float32(1.0 / math.factorial(n)) for n in range(7, -1, -1))
_ARTANH_TAYLOR_32 = tuple(np.float32(1.0 / (2 * n + 1)) for n in range(4, -1, -1))
_SIN_TAYLOR_32 = tuple(np.float32((-1.0) ** n / math.factorial(2 * n + 1)) for n in range(4, -1, -1))
_COS_TAYLOR_32 = tuple(np.float32((-1.0) ** n / math.factorial(2 * n)) for n in range(4, -1, -1))


def machine_code(function: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The compiled form of a kernel that is called with the same types of arguments every time.

    The types of the first call hold for all, unchecked: numba would spend 40 ns per array on finding them again.
    """
    code = _machine_code.get(function)
    if code is None:
        code = _machine_code[function] = function.compile(tuple(map(typeof, arguments)))
    return code


@kernel
def tanh_64(x: float) -> float:
    """tanh(x) = 1 - 2 / (exp(2x) + 1), within 3e-16 absolutely; +-1 beyond |x| = 20."""
    doubled = 2.0 * min(abs(x), 20.0)
    n = np.int32(doubled * _INV_LN2 + 0.5)  # of 32 bits: many processors convert no vectors of 64-bit integers
    r = (doubled - n * _LN2_HIGH) - n * _LN2_LOW
    exp_r = _EXP_TAYLOR[0]
    for c in _EXP_TAYLOR[1:]:
        exp_r = exp_r * r + c
    power = np.int64((np.int64(n) + _EXPONENT_BIAS) << _MANTISSA_BITS).view(np.float64)
    return math.copysign(1.0 - 2.0 / (exp_r * power + 1.0), x)


@kernel
def tanh_32(x):  # type: ignore[no-untyped-def]
    """`tanh_64` in single precision, within 2e-7 absolutely; +-1 beyond |x| = 10."""
    doubled = _TWO_32 * min(abs(x), _LARGE_32)
    n = np.int32(doubled * _INV_LN2_32 + _HALF_32)
    r = (doubled - np.float32(n) * _LN2_HIGH_32) - np.float32(n) * _LN2_LOW_32
    exp_r = _EXP_TAYLOR_32[0]
    for c in _EXP_TAYLOR_32[1:]:
        exp_r = exp_r * r + c
    power = np.int32(np.int32(n + _EXPONENT_BIAS_32) << _MANTISSA_BITS_32).view(np.float32)
    return math.copysign(_ONE_32 - _TWO_32 / (exp_r * power + _ONE_32), x)


def _tanh(x):  # type: ignore[no-untyped-def]
    raise NotImplementedError("only for kernels, where _tanh_of_type compiles it")


@overload(_tanh, jit_options={"error_model": "numpy"})
def _tanh_of_type(x):  # type: ignore[no-untyped-def]
    return (lambda x: tanh_32(x)) if x == types.float32 else (lambda x: tanh_64(x))


@kernel
def tanh(x):  # type: ignore[no-untyped-def]
    """`tanh_32` of a float32, `tanh_64` of any other number."""
    return _tanh(x)  # type: ignore[no-untyped-call]


@kernel
def log_32(x: np.float32) -> np.float32:
    """ln x = ln 2 * exponent + 2 artanh((m - 1) / (m + 1)) of a positive normal float32, within 3e-7 relatively."""
    bits = np.float32(x).view(np.int32)
    exponent = np.int32(np.int32(bits - _SQRT_HALF_BITS_32) >> _MANTISSA_BITS_32)
    mantissa = np.int32(bits - np.int32(exponent << _MANTISSA_BITS_32)).view(np.float32)
    s = (mantissa - _ONE_32) / (mantissa + _ONE_32)
    t = s * s
    series = _ARTANH_TAYLOR_32[0]
    for c in _ARTANH_TAYLOR_32[1:]:
        series = series * t + c
    return np.float32(exponent) * _LN2_32 + _TWO_32 * s * series


@kernel
def sincos_turn_32(word: np.uint32) -> tuple[np.float32, np.float32]:
    """Sine and cosine of 2 pi word / 2**32 for a 32-bit word, within 3e-7."""
    quadrant = np.int32(np.uint32(word + _EIGHTH_TURN) >> _QUADRANT_BITS)
    angle = np.float32(np.int32(word - np.uint32(quadrant << _QUADRANT_BITS))) * _TURN_32
    t = angle * angle
    sine = _SIN_TAYLOR_32[0]
    for c in _SIN_TAYLOR_32[1:]:
        sine = sine * t + c
    sine *= angle
    cosine = _COS_TAYLOR_32[0]
    for c in _COS_TAYLOR_32[1:]:
        cosine = cosine * t + c
    swapped = (quadrant & _FIRST_BIT) != 0
    a = cosine if swapped else sine
    b = sine if swapped else cosine
    if (quadrant & _SECOND_BIT) != 0:
        a = -a
    if (np.int32(quadrant + _FIRST_BIT) & _SECOND_BIT) != 0:
        b = -b
    return a, b
