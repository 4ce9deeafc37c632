"""Memory for compiled kernels."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_CACHE_LINE = 64  # bytes


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """`numpy.zeros` that begin at a cache line, so that no vector of a row straddles two."""
    size = prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + _CACHE_LINE, np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    return room[start : start + size].view(dtype).reshape(shape)
