"""Small symmetric positive definite matrices in compiled code.

NumPy's linear algebra works inside numba too, but each of its functions adds a second or more to the first
compilation, and for a matrix of seven rows the call costs more than the arithmetic.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def cholesky(a):  # type: ignore[no-untyped-def]
    """Lower triangular L with L L^T = a, (K, K)."""
    n = a.shape[0]
    factor = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            total = a[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = math.sqrt(total) if i == j else total / factor[j, j]
    return factor


@njit(cache=True, error_model="numpy")
def solve(factor, b):  # type: ignore[no-untyped-def]
    """x (K,) with L L^T x = b, given the Cholesky factor L."""
    n = b.size
    x = np.empty(n)
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= factor[i, k] * x[k]
        x[i] = total / factor[i, i]
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= factor[k, i] * x[k]
        x[i] = total / factor[i, i]
    return x


@njit(cache=True, error_model="numpy")
def inverse_of(factor, inverse):  # type: ignore[no-untyped-def]
    """Write (L L^T)^-1 into inverse (K, K), given the Cholesky factor L."""
    n = factor.shape[0]
    unit = np.zeros(n)
    for j in range(n):
        unit[j] = 1.0
        column = solve(factor, unit)
        unit[j] = 0.0
        for i in range(n):
            inverse[i, j] = column[i]


@njit(cache=True, error_model="numpy")
def log_determinant(factor):  # type: ignore[no-untyped-def]
    """log det(L L^T), given the Cholesky factor L."""
    total = 0.0
    for k in range(factor.shape[0]):
        total += 2.0 * math.log(factor[k, k])
    return total
