"""Keys and seeds derived by hashing, so that neighbouring seeds, splits and workers share nothing.

An episode is a pure function of (family and version, split, seed, index): `derive_key` turns the first three into a
64-bit key, and the counter-based generator of `veilgym.envs.core.philox` mixes the index in.
"""

from __future__ import annotations

import hashlib
import operator
from typing import Any, Literal, get_args

Split = Literal["train", "test"]
SPLITS: tuple[str, ...] = get_args(Split)


def check_split(split: Any) -> Split:
    """Return `split`, or raise a `ValueError` that names the value and what is allowed."""
    if split == "train" or split == "test":
        return split  # type: ignore[no-any-return]
    raise ValueError(f"split must be one of {', '.join(map(repr, SPLITS))}, got {split!r}")


def check_seed(seed: Any) -> int:
    """Return `seed` as a Python int.

    Raises:
        ValueError: `seed` is not an integer (a bool counts as none), or is negative.
    """
    try:
        number = operator.index(seed)
    except TypeError:
        number = -1
    if isinstance(seed, bool) or number < 0:
        raise ValueError(f"seed must be a non-negative integer, got {seed!r} of type {type(seed).__name__}")
    return number


def derive_key(*parts: str | int) -> int:
    """Hash `parts` to a key in [0, 2**64) with BLAKE2b; parts must not contain '/'."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def spread_seed(seed: int, count: int) -> list[int]:
    """Spread one integer over `count` seeds in [0, 2**63), none of which another base seed repeats.

    A native vector env does this with the integer given to `reset`; passing the list to
    `gymnasium.vector.SyncVectorEnv.reset` plays the same episodes.
    """
    return [derive_key("spread", check_seed(seed), i) >> 1 for i in range(count)]
