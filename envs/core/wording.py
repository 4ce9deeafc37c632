"""Lines of prose as tokens: names of symbols, labels, numbers, phrases of a lexicon, and what is left."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

Kind = Literal["name", "label", "phrase", "number", "odd number", "word", "mark"]
Words = tuple[str, ...]

_PIECE = re.compile(r"\d+(?:[.,]\d+)+|\w+(?i:n't)\b|\w+|[^\w\s]")
_MINUS = "-\N{MINUS SIGN}"
_LETTERS = str.maketrans({"\N{RIGHT SINGLE QUOTATION MARK}": "'", "\N{NON-BREAKING HYPHEN}": "-", "\N{HYPHEN}": "-"})


class Token(NamedTuple):
    """A piece of a line.

    Attributes:
        kind: What it is. An "odd number" is one that is no plain integer: 3.5, 1,000 or a number in other digits.
        text: As it reads, in lower case unless it is a label.
        value: The symbol of a name, the label, the integer, or the classes of a phrase; None otherwise.
    """

    kind: Kind
    text: str
    value: Any = None


class Phrases:
    """Sequences of words with a value each; the longest that fits is found, whatever its case."""

    def __init__(self, phrases: Iterable[tuple[str, Any]] = ()) -> None:
        self._by_first: dict[str, list[tuple[Words, Any]]] = {}
        for phrase, value in phrases:
            self.add(phrase, value)

    def add(self, phrase: str, value: Any) -> None:
        """Know one more phrase."""
        words = split(phrase)
        found = self._by_first.setdefault(words[0], [])
        found.append((words, value))
        found.sort(key=lambda entry: -len(entry[0]))

    def at(self, words: Sequence[str], place: int) -> tuple[int, Any] | None:
        """The length and the value of the longest phrase that begins at `place`."""
        for phrase, value in self._by_first.get(words[place], ()):
            if tuple(words[place : place + len(phrase)]) == phrase:
                return len(phrase), value
        return None


def split(text: str) -> Words:
    """The words and marks of a text in lower case."""
    return tuple(_PIECE.findall(text.translate(_LETTERS).lower()))


def word_set(text: str) -> frozenset[str]:
    """The words of a text that lists them."""
    return frozenset(split(text))


def read_line(line: str, names: Phrases, labels: Mapping[str, str], lexicon: Phrases) -> list[Token]:
    """The tokens of a line.

    Args:
        line: One line, without the id that it begins with.
        names: The names of symbols.
        labels: The label that each spelling stands for. Labels are told from other words by their case.
        lexicon: Phrases whose values are sets of classes.
    """
    return list(_tokens(_PIECE.findall(line.translate(_LETTERS)), names, labels, lexicon))


def _tokens(pieces: list[str], names: Phrases, labels: Mapping[str, str], lexicon: Phrases) -> Iterator[Token]:
    words = [piece.lower() for piece in pieces]
    place, before = 0, ""
    while place < len(words):
        piece = pieces[place]
        for kind, phrases in (("name", names), ("phrase", lexicon)):
            if kind == "phrase" and piece in labels:
                continue
            if found := phrases.at(words, place):
                length, value = found
                yield Token(kind, " ".join(words[place : place + length]), value)  # type: ignore[arg-type]
                break
        else:
            length = 1
            if piece in labels:
                yield Token("label", piece, labels[piece])
            elif piece in _MINUS and place + 1 < len(words) and words[place + 1].isdecimal() and _stands_free(before):
                length = 2
                yield _number(words[place + 1], -1)
            elif piece[0].isdecimal() or any(unicodedata.category(letter) in ("Nl", "No") for letter in piece):
                yield _number(words[place], 1)
            else:
                yield Token("word" if piece[0].isalnum() or piece[0] == "_" else "mark", words[place])
        place += length
        before = words[place - 1]


def _stands_free(before: str) -> bool:
    """Whether a minus sign after `before` is the sign of a number, not a dash between two."""
    return not before or not (before[-1].isalnum() or before == ")")


def _number(digits: str, sign: int) -> Token:
    if digits.isascii() and digits.isdecimal() and len(digits) <= 9 and str(int(digits)) == digits:
        return Token("number", digits, sign * int(digits))
    return Token("odd number", digits)


def phrases_of(classes: Mapping[str, str]) -> Phrases:
    """A lexicon from a table of class -> phrases, divided by "|"; a phrase in several rows has several classes."""
    found: dict[str, set[str]] = {}
    for name, row in classes.items():
        for phrase in row.split("|"):
            found.setdefault(phrase.strip(), set()).add(name)
    return Phrases((phrase, frozenset(names)) for phrase, names in found.items())


def has(token: Token, name: str) -> bool:
    """Whether a token is a phrase of a class."""
    return token.kind == "phrase" and name in token.value
