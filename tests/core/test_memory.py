"""Arrays that begin at a cache line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from veilgym.envs.core.memory import aligned_zeros


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (3, 5), (9, 1024)])
def test_aligned_zeros(shape: tuple[int, ...], dtype: Any) -> None:
    arrays = [aligned_zeros(shape, dtype) for _ in range(20)]
    for array in arrays:
        assert (array.shape, array.dtype, array.ctypes.data % 64) == (shape, dtype, 0)
        assert not array.any()
        assert array.flags.carray
        array.fill(1)
    assert len({array.ctypes.data for array in arrays}) == 20
