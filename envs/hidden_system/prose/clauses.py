"""Clauses of one instance taken apart; most come several times, and each is taken apart once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import TypeVar

from veilgym.envs.hidden_system.prose.series import Series

# Instances have about twice as many cases as pairs of different events; with more events, pairs are read as they come.
_MOST_PAIRED = 16

Item = TypeVar("Item")


class EventClauses:
    """What the clauses of events of one style say.

    Args:
        series: The style.
        symbols: The symbol of each event as it is called in the style.

    Attributes:
        known: The symbols in each clause that has been read, and in those of one event or two, which most cases have.
    """

    def __init__(self, series: Series, symbols: Mapping[str, str]) -> None:
        self.known: dict[str, tuple[str, ...]] = {name: (symbol,) for name, symbol in symbols.items()}
        if len(symbols) <= _MOST_PAIRED:
            pairs, joint = permutations(symbols.items(), 2), series.pair
            self.known.update({f"{a}{joint}{b}": (x, y) for (a, x), (b, y) in pairs})
        self._split, self._symbols = series.splitter, symbols

    def read(self, clause: str) -> tuple[str, ...]:
        """The symbols in a clause that is not known."""
        events = self.known[clause] = look_up(self._symbols, self._split(clause))
        return events


class AttributeClauses:
    """What the clauses of attributes of one style say.

    Args:
        series: The style, None where there are no attributes.
        attributes: The symbol and the levels of each name.

    Attributes:
        known: The levels in each clause that has been read.
    """

    def __init__(self, series: Series | None, attributes: Mapping[str, tuple[str, Sequence[int]]]) -> None:
        self.known: dict[str, dict[str, int]] = {} if series else {"": {}}
        if series:
            self._split, equals = series.splitter, series.equals
            self._levels = {
                f"{name}{equals}{level}": (symbol, level)
                for name, (symbol, levels) in attributes.items()
                for level in levels
            }

    def read(self, clause: str) -> dict[str, int]:
        """The levels in a clause that is not known."""
        items = self._split(clause)
        levels = dict(look_up(self._levels, items))
        if len(levels) < len(items):
            raise ValueError(f"an attribute comes twice in {clause!r}")
        self.known[clause] = levels
        return levels


def look_up(meanings: Mapping[str, Item], words: Iterable[str]) -> tuple[Item, ...]:
    """What each of some words means.

    Raises:
        ValueError: one is not known.
    """
    try:
        return tuple(map(meanings.__getitem__, words))
    except KeyError as error:
        raise unknown(error.args[0], meanings) from None


def unknown(word: str, known: Iterable[str]) -> ValueError:
    """The error for a word that is none of those known."""
    return ValueError(f"got {word!r}, wanted one of {', '.join(map(repr, known))}")
