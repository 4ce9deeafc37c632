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

_ROUNDS = 8  # of a Feistel network; few bits a half need more than the four that many bits do


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


def shuffled(row: int, count: int, key: int) -> int:
    """The place in [0, count) of `row` under a permutation keyed by `key`, without a table.

    A Feistel network permutes the next power of four; places beyond `count` are walked through again (cycle walking,
    Black and Rogaway, 2002).
    """
    half = max(1, -(-(count - 1).bit_length() // 2))
    while True:
        row = _feistel(row, half, key)
        if row < count:
            return row


def _feistel(number: int, half: int, key: int) -> int:
    mask = (1 << half) - 1
    left, right = number >> half, number & mask
    for turn in range(_ROUNDS):
        digest = hashlib.blake2b(b"%d %d" % (turn, right), digest_size=16, key=key.to_bytes(8, "little")).digest()
        left, right = right, left ^ (int.from_bytes(digest, "little") & mask)
    return left << half | right
