"""Memory for compiled kernels: aligned arrays, and arrays for what a step returns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Arrays = tuple[NDArray[Any], ...]

_CACHE_LINE = 64  # bytes
# Without the interpreter's lock a count of references may be out of date when it is read.
_IS_COUNT_EXACT = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """`numpy.zeros` that begin at a cache line, so that no vector of a row straddles two."""
    size = prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + _CACHE_LINE, np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    return room[start : start + size].view(dtype).reshape(shape)


class Recycler:
    """Gives arrays that nobody else holds: those of the step before the last, if all have been dropped, else new ones.

    To whoever receives them they are as new as memory from the allocator: an array, a view of it, a buffer or a tensor
    on it holds a reference, and then none of its set is used again. When a step begins, a caller still has the last
    step's arrays; hence two sets in turn.

    Args:
        make: Allocates one set of arrays that own their memory. Each is overwritten in each step, or cannot be written.
    """

    def __init__(self, make: Callable[[], Arrays]) -> None:
        self._make = make
        self._older: Arrays = ()
        self._newer: Arrays = ()
        self._references = -1  # to a set that nobody else holds

    def take(self) -> Arrays:
        """A set for one step; what is in it is arbitrary."""
        arrays = self._older
        # No count is lower than that of an array that nobody else holds, so an equal sum means equal counts.
        if sum(map(sys.getrefcount, arrays)) != self._references:
            arrays = self._make()
            self._references = sum(map(sys.getrefcount, arrays)) if _IS_COUNT_EXACT else -1
        self._older, self._newer = self._newer, arrays
        return arrays

    def __getstate__(self) -> dict[str, Any]:
        return vars(Recycler(self._make))
