"""What the families' prose shares: the rendering of a payload, and choices that are a pure function of it."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from veilgym.envs.core.records import content_id

Item = TypeVar("Item")


class Rendering(msgspec.Struct, frozen=True):
    """A problem in natural language.

    Attributes:
        skin: The surface it is told in.
        text: The whole problem, question and form of the answer included; nothing of the hidden half.
        names: The name of each symbol of the payload; different symbols have different names.
    """

    skin: str
    text: str
    names: dict[str, str]


class Choices:
    """Choices that depend on a payload, a skin and a purpose alone: the same in any process and on any machine."""

    def __init__(self, payload: msgspec.Struct, skin: str) -> None:
        self._key = f"{content_id(payload)}/{skin}/".encode()

    def variants(self, purpose: str, count: int) -> bytes:
        """`count` uniform bytes; `value % n` picks one of n sentence forms."""
        return hashlib.shake_128(self._key + purpose.encode()).digest(count)

    def sample(self, purpose: str, pool: Sequence[Item], count: int) -> list[Item]:
        """`count` different places of `pool`, in drawn order.

        Raises:
            ValueError: the pool is too small.
        """
        if count > len(pool):
            raise ValueError(f"{purpose} must be at most {len(pool)}, got {count}")
        words = struct.unpack(f"<{count}Q", self.variants(purpose, 8 * count))
        places: dict[int, int] = {}  # a Fisher-Yates shuffle of the places that it touches
        chosen = []
        for i in range(count):
            other = i + words[i] % (len(pool) - i)
            chosen.append(pool[places.get(other, other)])
            places[other] = places.get(i, i)
        return chosen


def check_skin(skin: str, skins: Sequence[str]) -> str:
    """Return `skin`, or raise a `ValueError` that names what there is."""
    if skin in skins:
        return skin
    raise ValueError(f"skin must be one of {', '.join(map(repr, skins))}, got {skin!r}")
