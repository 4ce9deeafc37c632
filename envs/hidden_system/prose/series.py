"""Series of names and numbers in a sentence: how they are joined, and how a joined one is taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller
from typing import Final


@dataclass(frozen=True)
class Series:
    """A way to join items, none of which may contain one of the words that join them.

    Attributes:
        pair: Between two items that are all there are.
        inner: Between items of a longer series, but before the last.
        last: Before the last item of a longer series.
        has_article: Whether an event comes with its article.
        equals: Between the name of an attribute and its level.
    """

    pair: str
    inner: str
    last: str
    has_article: bool = False
    equals: str = " "

    def join(self, items: Sequence[str]) -> str:
        """The items as one string."""
        if len(items) == 2:
            return self.pair.join(items)
        return self.last.join([self.inner.join(items[:-1]), items[-1]]) if len(items) > 2 else items[0]

    @cached_property
    def splitter(self) -> Callable[[str], list[str]]:
        """`split`, as fast as it can be."""
        return methodcaller("split", self.pair) if self.pair == self.inner == self.last else self.split

    def split(self, text: str) -> list[str]:
        """The inverse of `join`.

        Raises:
            ValueError: `text` is not joined like this.
        """
        head, last, end = text.rpartition(self.last)
        items = [*head.split(self.inner), end] if last else text.split(self.pair)
        if self.pair != self.last and bool(last) != (len(items) > 2):
            raise ValueError(f"{text!r} does not join its parts like {self.join(['A', 'B', 'C'])!r}")
        return items


EVENT_STYLES: Final = {
    "events": Series(" and then ", ", then ", ", and then ", has_article=True),
    "chain": Series(" followed by ", " followed by ", " followed by ", has_article=True),
    "steps": Series(", then ", ", then ", ", then "),
    "arrows": Series(" -> ", " -> ", " -> "),
}
ATTRIBUTE_STYLES: Final = {
    "attributes": Series(" and ", ", ", ", and "),
    "values": Series(", ", ", ", ", ", equals=" = "),
}
LEVELS: Final = Series(" or ", ", ", ", or ")
VOCABULARY: Final = Series("; ", "; ", "; ")
