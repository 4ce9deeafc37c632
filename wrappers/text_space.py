"""Spaces of text that is checked quickly: Gymnasium's own looks at one character after another."""

from __future__ import annotations

import string
from typing import Any

from gymnasium import spaces

PRINTABLE = frozenset(string.digits + string.ascii_letters + string.punctuation + " \n")


class PromptSpace(spaces.Text):
    """Texts of up to `max_length` characters out of `characters`."""

    def __init__(self, max_length: int, characters: frozenset[str] = PRINTABLE) -> None:
        super().__init__(max_length, min_length=0, charset=characters)

    def contains(self, x: Any) -> bool:
        """Whether `x` is such a text."""
        return isinstance(x, str) and len(x) <= self.max_length and set(x) <= self.character_set


class ReplySpace(spaces.Text):
    """Any texts of up to `max_length` characters, whatever their characters; samples are of printable ASCII."""

    def __init__(self, max_length: int = 2**20) -> None:
        super().__init__(max_length, min_length=0, charset=PRINTABLE)

    def contains(self, x: Any) -> bool:
        """Whether `x` is such a text."""
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """A short text."""
        length = int(self.np_random.integers(1, 65)) if mask is None and probability is None else None
        if length is None:
            return super().sample(mask, probability)
        letters = sorted(PRINTABLE)
        return "".join(letters[i] for i in self.np_random.integers(len(letters), size=length))
