"""The lines of the cases of one instance read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from veilgym.envs.hidden_system.grammar import BehaviorCase
from veilgym.envs.hidden_system.prose.names import with_article
from veilgym.envs.hidden_system.prose.sentences import SentenceReader, no_form
from veilgym.envs.hidden_system.prose.series import ATTRIBUTE_STYLES, EVENT_STYLES, Series

Item = TypeVar("Item")


class CaseReader:
    """Reads cases; most clauses of an instance come several times and are taken apart once.

    Args:
        events: The symbol of each name of an event.
        attributes: The symbol and the levels of each name of an attribute.
    """

    def __init__(self, events: Mapping[str, str], attributes: Mapping[str, tuple[str, Sequence[int]]]) -> None:
        phrases = {with_article(name): symbol for name, symbol in events.items() if name}
        self._events = {
            style: _EventClauses(series, phrases if series.has_article else events)
            for style, series in EVENT_STYLES.items()
        }
        self._attributes: dict[str | None, Mapping[str, dict[str, int]]] = {None: {"": {}}}
        for style, series in ATTRIBUTE_STYLES.items():
            self._attributes[style] = _AttributeClauses(series, attributes)

    def read(self, lines: Sequence[str], sentences: Mapping[str, SentenceReader], number: int) -> list[BehaviorCase]:
        """The cases that lines tell, of which the first has this number.

        Args:
            lines: An id in brackets and a sentence each.
            sentences: What reads a sentence, by its first word.
            number: Of the first line.

        Raises:
            ValueError: with the number of the first line that tells no case.
        """
        ways = {
            first: sentence.for_clauses(self._events[sentence.styles[0]], self._attributes[sentence.styles[1]])
            for first, sentence in sentences.items()
        }
        cases: list[BehaviorCase] = []
        try:
            for line in lines:
                cases.append(_read(line, ways))
        except ValueError as error:
            raise ValueError(f"line {number + len(cases)}: {error}") from None
        return cases


def _read(line: str, ways: Mapping[str, Callable[[str, str], BehaviorCase]]) -> BehaviorCase:
    """The case of a line."""
    marked, bracket, sentence = line.partition("] ")
    name = marked[1:]
    if not name or not bracket or marked[0] != "[":
        raise ValueError(f"got {line!r}, wanted an id in brackets and a sentence")
    way = ways.get(sentence.partition(" ")[0])
    if not way:
        raise no_form(sentence)
    return way(name, sentence)


class _EventClauses(dict[str, tuple[str, ...]]):
    """The symbols in each clause of events of one style."""

    def __init__(self, series: Series, symbols: Mapping[str, str]) -> None:
        super().__init__()
        self._split, self._symbols = series.split, symbols

    def __missing__(self, clause: str) -> tuple[str, ...]:
        events = self[clause] = look_up_all(self._symbols, self._split(clause))
        return events


class _AttributeClauses(dict[str, dict[str, int]]):
    """The levels in each clause of attributes of one style."""

    def __init__(self, series: Series, attributes: Mapping[str, tuple[str, Sequence[int]]]) -> None:
        super().__init__()
        self._split = series.split
        self._levels = {
            f"{name}{series.equals}{level}": (symbol, level)
            for name, (symbol, levels) in attributes.items()
            for level in levels
        }

    def __missing__(self, clause: str) -> dict[str, int]:
        items = self._split(clause)
        levels = dict(look_up_all(self._levels, items))
        if len(levels) < len(items):
            raise ValueError(f"an attribute comes twice in {clause!r}")
        self[clause] = levels
        return levels


def look_up_all(meanings: Mapping[str, Item], words: Sequence[str]) -> tuple[Item, ...]:
    """What each of some words means."""
    try:
        return tuple(map(meanings.__getitem__, words))
    except KeyError as error:
        raise ValueError(f"got {error.args[0]!r}, wanted one of {', '.join(map(repr, meanings))}") from None
