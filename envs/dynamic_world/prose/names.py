"""One name for each symbol of a world, in the style of a skin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veilgym.envs.core.prose import Choices
from veilgym.envs.dynamic_world.grammar import ENTITY_TYPES, WorldPayload


@dataclass(frozen=True)
class Pool(Sequence[str]):
    """All names of a pattern, made when they are asked for.

    Attributes:
        pattern: Such as "Port {}{}", with a place for a part of each of `lists`.
        lists: What the parts may be.
    """

    pattern: str
    lists: tuple[Sequence[str], ...]

    def __len__(self) -> int:
        size = 1
        for parts in self.lists:
            size *= len(parts)
        return size

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        chosen = []
        for parts in self.lists:
            place, i = divmod(place, len(parts))
            chosen.append(parts[i])
        if place:
            raise IndexError("no such name")
        return self.pattern.format(*chosen)


@dataclass(frozen=True)
class Kind:
    """How the symbols of one type are spoken of.

    Attributes:
        one, many: The common noun, "ward" and "wards".
        pools: Of names, from the shortest; a world takes the first that has enough.
        article: What stands before a name in a sentence, "the " or nothing.
    """

    one: str
    many: str
    pools: tuple[Pool, ...]
    article: str = ""


def symbols_by_type(payload: WorldPayload) -> dict[str, list[str]]:
    """The symbols of each type of `ENTITY_TYPES`, in the order of the payload's canonical JSON."""
    found: dict[str, list[str]] = {kind: [] for kind in ENTITY_TYPES}
    for symbol, kind in sorted(payload.entity_types.items()):
        found[kind].append(symbol)
    return found


def draw_names(symbols: Mapping[str, Sequence[str]], kinds: Mapping[str, Kind], choices: Choices) -> dict[str, str]:
    """A name for each symbol; different symbols have different names, and none is in another.

    Raises:
        ValueError: there are more symbols of a type than names, of which there are more than 10,000.
    """
    names: dict[str, str] = {}
    for kind, of_kind in symbols.items():
        pools = kinds[kind].pools
        pool = next((pool for pool in pools if len(pool) >= len(of_kind)), pools[-1])
        names.update(zip(of_kind, choices.sample(f"names of the type {kind}", pool, len(of_kind)), strict=True))
    return names
