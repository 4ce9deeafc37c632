"""What a data set is a function of."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from veilgym import __version__
from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.family import load_family, plain
from veilgym.envs.core.seeding import check_seed, check_split

LAYOUT = 1  # rises when the same plan gives other files
MOST = 10**9  # rows; the list of blocks is in memory
Storage = Literal["jsonl", "parquet"]


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything that the bytes of a data set depend on.

    Attributes:
        veilgym: Version of the package.
        layout: Version of the files' layout.
        family: Slug.
        parameters: The whole task, see `Family.document`.
        seed, split: Which instances.
        count: How many.
        storage: "jsonl" or "parquet".
    """

    veilgym: str
    layout: int
    family: str
    parameters: dict[str, Any]
    seed: Annotated[int, Meta(ge=0)]
    split: Literal["train", "test"]
    count: Annotated[int, Meta(ge=1)]
    storage: Storage


def make_plan(
    family: str,
    count: int,
    length: str | int | None = None,
    seed: int = 0,
    split: str = "train",
    storage: Storage = "jsonl",
    **parameters: Any,
) -> Plan:
    """The plan of a data set; arguments as for `Family.generate`.

    Raises:
        ValueError: an argument is wrong.
    """
    found = load_family(family)
    if check_count("count", count) > MOST:
        raise ValueError(f"count must be at most {MOST}, got {count}")
    if storage not in ("jsonl", "parquet"):
        raise ValueError(f"format must be 'jsonl' or 'parquet', got {storage!r}")
    return Plan(
        veilgym=__version__,
        layout=LAYOUT,
        family=found.slug,
        parameters=plain(found.resolve(length, **parameters)),  # so that the plan equals the one that is read back
        seed=check_seed(seed),
        split=check_split(split),
        count=int(count),
        storage=storage,
    )


def difference(stored: Plan, asked: Plan) -> str | None:
    """The first thing in which two plans differ, as text; None if they are the same."""
    return _difference("", msgspec.to_builtins(stored), msgspec.to_builtins(asked))


def _difference(place: str, stored: Any, asked: Any) -> str | None:
    if stored == asked:
        return None
    if not (isinstance(stored, dict) and isinstance(asked, dict)):
        return f"{place} is {stored!r} there and {asked!r} here"
    for name in dict.fromkeys([*stored, *asked]):
        found = _difference(f"{place}.{name}".removeprefix("."), stored.get(name), asked.get(name))
        if found is not None:
            return found
    return None
