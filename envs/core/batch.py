"""What every native vector env does alike: autoreset modes, seeds, reset masks, and the shape of its infos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from veilgym.envs.core.seeding import check_seed, spread_seed

Infos = dict[str, Any]


def check_autoreset_mode(mode: Any) -> AutoresetMode:
    """The member of `AutoresetMode` that a member or a string names; a `ValueError` says what is allowed."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        allowed = ", ".join(repr(member.value) for member in AutoresetMode)
        raise ValueError(f"autoreset_mode must be one of {allowed}, got {mode!r}") from None


def read_reset_mask(options: dict[str, Any] | None, num_envs: int) -> NDArray[np.bool_]:
    """`options["reset_mask"]`, or all true; a `ValueError` says what is allowed."""
    if options is None or "reset_mask" not in options:
        return np.ones(num_envs, np.bool_)
    mask, shape = options["reset_mask"], (num_envs,)
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != shape or not mask.any():
        allowed = f"a bool array of shape {shape} with a true entry"
        raise ValueError(f"options['reset_mask'] must be {allowed}, got {mask!r}")
    return mask


def read_seeds(
    seed: int | Sequence[int | None] | None,
    mask: NDArray[np.bool_],
    fresh: NDArray[np.bool_],
    rng: np.random.Generator,
) -> list[int | None]:
    """One seed per env, None where its sequence goes on.

    Args:
        seed: What `reset` was given. An integer is spread over the envs.
        mask: (B,) envs that are reset; the others get None.
        fresh: (B,) envs that have no sequence yet; they get a seed from `rng` where none is given.
        rng: The vector env's generator.

    Raises:
        ValueError: a seed is wrong, or there are not B of them.
    """
    if isinstance(seed, np.ndarray) and seed.ndim != 1:
        raise ValueError(f"seed must be an integer or a list of {len(mask)} seeds, got an array of shape {seed.shape}")
    if seed is None or isinstance(seed, (list, tuple, np.ndarray)):
        seeds: list[int | None] = [None] * len(mask) if seed is None else list(seed)
        if len(seeds) != len(mask):
            raise ValueError(f"seed must be a list of {len(mask)} seeds, one per env, got {len(seeds)}")
        seeds = [None if s is None else check_seed(s) for s in seeds]
        needed = [s is None and bool(f) for s, f in zip(seeds, fresh, strict=True)]
        seeds = [int(rng.integers(2**63)) if n else s for s, n in zip(seeds, needed, strict=True)]
    else:
        seeds = list(spread_seed(check_seed(seed), len(mask)))
    return [s if m else None for s, m in zip(seeds, mask, strict=True)]


def only(where: NDArray[np.bool_], values: NDArray[np.object_]) -> NDArray[np.object_]:
    """A copy with None outside `where`."""
    kept = values.copy()
    kept[~where] = None
    return kept


def rows(batch: dict[str, NDArray[Any]], where: NDArray[np.bool_]) -> NDArray[np.object_]:
    """(B,) dictionaries, each the views of one row of `batch`, where `where`; None elsewhere."""
    out = np.full(len(where), None, object)
    for i, is_wanted, *row in zip(range(len(where)), where.tolist(), *batch.values(), strict=True):
        if is_wanted:
            out[i] = dict(zip(batch, row, strict=True))
    return out
