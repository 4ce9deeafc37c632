"""From a problem in natural language back to the payload: the proof that the text keeps everything."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

from veilgym.envs.core.prose import check_skin
from veilgym.envs.core.records import convert
from veilgym.envs.hidden_system.grammar import MOST_TRIALS, BehaviorCase, BehaviorPayload, Options
from veilgym.envs.hidden_system.payload import OPTIONS
from veilgym.envs.hidden_system.prose.names import with_article
from veilgym.envs.hidden_system.prose.series import ATTRIBUTE_STYLES, EVENT_STYLES, LEVELS, VOCABULARY, Series
from veilgym.envs.hidden_system.prose.skin import Filling, Form, Skin
from veilgym.envs.hidden_system.prose.skins import BY_NAME, SKINS

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,7}")  # in its only spelling

Item = TypeVar("Item")


def parse(text: str, skin: str, names: Mapping[str, str]) -> BehaviorPayload:
    """Read back what `render` wrote. Only the symbols are taken from `names`; all else is in the text.

    Any choice of sentence forms of the skin is read, not only the one that `render` would make.

    Args:
        text: The text of a `Rendering`.
        skin: Its skin.
        names: Its names.

    Raises:
        ValueError: there is no such skin, two symbols have one name, or `text` is not a rendering with these names:
            the message has the number of the first bad line, or the place in the payload.
    """
    return _Reader(text, BY_NAME[check_skin(skin, SKINS)], names).payload()


class _Reader:
    """Reads one text line by line."""

    def __init__(self, text: str, skin: Skin, names: Mapping[str, str]) -> None:
        self._lines, self._skin, self._names = text.split("\n"), skin, names
        self._symbols = {name: symbol for symbol, name in names.items()}
        if len(self._symbols) < len(names):
            raise ValueError(f"names must differ from symbol to symbol, got {dict(names)!r}")

    def payload(self) -> BehaviorPayload:
        """The payload of the whole text."""
        skin, lines = self._skin, self._lines
        start, end = len(skin.head) + 4, len(lines) - len(skin.tail(OPTIONS[0])) - 3
        self._expect(0, skin.head)
        events = self._at(start - 4, self._event_vocabulary)
        attributes = self._at(start - 3, self._attribute_vocabulary)
        self._expect(start - 2, ["", skin.case_heading])
        if end <= start:
            raise ValueError(f"line {len(lines)}: got the end of the text, wanted all of its parts")
        self._expect(end, ["", skin.query_heading])
        clauses = _Clauses(self._names, events, attributes, skin)
        cases = self._cases(start, end, clauses.readers(skin.case_forms(bool(attributes))))
        (query,) = self._cases(end + 2, end + 3, clauses.readers(skin.asking_forms(bool(attributes))))
        document = {
            "family": "hidden_system",
            "complexity": len(set(query.events)),
            "event_vocabulary": events,
            "attribute_vocabulary": attributes,
            "observation_protocol": {},  # one for all, and the lines that tell it are there
            "support_cases": cases,
            "query_case": query,
            "answer_options": self._options(end + 3),
        }
        return convert(document, BehaviorPayload, "the text's payload, field")

    def _expect(self, start: int, wanted: list[str]) -> None:
        """Check fixed lines."""
        if self._lines[start : start + len(wanted)] == wanted:
            return
        for i, line in enumerate(wanted, start):
            got = self._lines[i] if i < len(self._lines) else "the end of the text"
            if got != line:
                raise ValueError(f"line {i + 1}: got {got!r}, wanted {line!r}")

    def _at(self, i: int, read: Callable[[str], Item]) -> Item:
        """What `read` makes of a line."""
        if i >= len(self._lines):
            raise ValueError(f"line {i + 1}: got the end of the text, wanted all of its parts")
        try:
            return read(self._lines[i])
        except ValueError as error:
            raise ValueError(f"line {i + 1}: {error}") from None

    def _event_vocabulary(self, line: str) -> list[str]:
        return _look_up_all(self._symbols, VOCABULARY.split(_after(self._skin.event_heading, line)))

    def _attribute_vocabulary(self, line: str) -> dict[str, list[int]]:
        vocabulary: dict[str, list[int]] = {}
        if line == self._skin.no_attributes:
            return vocabulary
        for item in VOCABULARY.split(_after(self._skin.attribute_heading, line)):
            name, _, listed = item.removesuffix(")").partition(" (")
            (symbol,), levels = _look_up_all(self._symbols, [name]), LEVELS.split(listed)
            if symbol in vocabulary or not item.endswith(")"):
                raise ValueError(f"got {item!r}, wanted another name with its values in parentheses")
            vocabulary[symbol] = [_number(level) for level in levels]
        return vocabulary

    def _options(self, start: int) -> Options:
        """The answer options of the last lines."""
        first_meaning = slice(2, 3)
        is_second = self._lines[start:][first_meaning] == self._skin.tail(OPTIONS[1])[first_meaning]
        options = OPTIONS[is_second]
        self._expect(start, self._skin.tail(options))
        return options

    def _cases(self, start: int, end: int, readers: Mapping[str, _FormReader]) -> list[BehaviorCase]:
        """The cases of some lines."""
        cases: list[BehaviorCase] = []
        try:
            for line in self._lines[start:end]:
                cases.append(_case(line, readers))
        except ValueError as error:
            raise ValueError(f"line {start + len(cases) + 1}: {error}") from None
        return cases


class _FormReader(NamedTuple):
    """Takes the sentences of one form apart, and knows what comes to its places."""

    match: Callable[[str], Filling | None]
    events: Mapping[str, tuple[str, ...]]
    attributes: Mapping[str, dict[str, int]]
    trials: Mapping[str, int]


class _Known(dict[str, Item]):
    """What pieces of a text mean; most come several times, and each is read once."""

    def __init__(self, read: Callable[[str], Item]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, piece: str) -> Item:
        meaning = self[piece] = self._read(piece)
        return meaning


class _Clauses:
    """Reads the clauses of one instance, whose vocabulary is known."""

    def __init__(
        self, names: Mapping[str, str], events: Sequence[str], attributes: Mapping[str, Sequence[int]], skin: Skin
    ) -> None:
        called = {names[symbol]: symbol for symbol in events}
        phrases = {with_article(name): symbol for name, symbol in called.items() if name}
        self._events = {
            style: _Known(partial(_steps, series, phrases if series.has_article else called))
            for style, series in EVENT_STYLES.items()
        }
        self._attributes: dict[str | None, Mapping[str, dict[str, int]]] = {None: {"": {}}}
        for style, series in ATTRIBUTE_STYLES.items():
            levels = {
                f"{names[symbol]}{series.equals}{k}": (symbol, k) for symbol, row in attributes.items() for k in row
            }
            self._attributes[style] = _Known(partial(_values, series, levels))
        self._trials = _Known(partial(_count_trials, skin))

    def readers(self, forms: Sequence[Form]) -> dict[str, _FormReader]:
        """What reads the sentences of some forms, by their first word."""
        readers = {}
        for form in forms:
            event_style, attribute_style = form.styles
            events, attributes = self._events[event_style], self._attributes[attribute_style]
            readers[form.first] = _FormReader(form.match, events, attributes, self._trials)
        return readers


def _case(line: str, readers: Mapping[str, _FormReader]) -> BehaviorCase:
    """The case of a line; the counts of the query stay empty."""
    name, bracket, sentence = line.partition("] ")
    if not bracket or name[:1] != "[" or name == "[":
        raise ValueError(f"got {line!r}, wanted an id in brackets and a sentence")
    reader = readers.get(sentence.partition(" ")[0])
    said = reader and reader.match(sentence)
    if not reader or not said:
        raise ValueError(f"{sentence!r} has none of the sentence forms of the skin")
    events, attributes, present, absent, trials = said
    steps, levels = reader.events[events], reader.attributes[attributes].copy()
    if not trials:
        return BehaviorCase(name[1:], levels, steps)
    return BehaviorCase(name[1:], levels, steps, reader.trials[trials], _count(present), _count(absent))


def _steps(series: Series, symbols: Mapping[str, str], clause: str) -> tuple[str, ...]:
    """The symbols of a clause of events."""
    return tuple(_look_up_all(symbols, series.split(clause)))


def _values(series: Series, levels: Mapping[str, tuple[str, int]], clause: str) -> dict[str, int]:
    """The levels in a clause of attributes."""
    items = series.split(clause)
    values = dict(_look_up_all(levels, items))
    if len(values) < len(items):
        raise ValueError(f"an attribute comes twice in {clause!r}")
    return values


def _count_trials(skin: Skin, said: str) -> int:
    """The number in a number of trials with its noun."""
    digits, _, noun = said.partition(" ")
    trials = _count(digits)
    if trials > MOST_TRIALS:
        raise ValueError(f"got {digits!r}, wanted a number of trials of at most {MOST_TRIALS}")
    if noun != skin.noun(trials):
        raise ValueError(f"got {said!r}, wanted the noun {skin.noun(trials)!r}")
    return trials


def _after(heading: str, line: str) -> str:
    """What a line lists after its heading."""
    if not line.startswith(heading) or not line.endswith("."):
        raise ValueError(f"got {line!r}, wanted a sentence that begins with {heading!r}")
    return line[len(heading) : -1]


def _look_up_all(meanings: Mapping[str, Item], words: Sequence[str]) -> list[Item]:
    """What each of some words means."""
    try:
        return [meanings[word] for word in words]
    except KeyError as error:
        raise ValueError(f"got {error.args[0]!r}, wanted one of {', '.join(map(repr, meanings))}") from None


def _number(digits: str) -> int:
    """An integer."""
    if not _INTEGER.fullmatch(digits):
        raise ValueError(f"got {digits!r}, wanted an integer")
    return int(digits)


@lru_cache(maxsize=4096)  # most instances have the same number of trials, and so the same counts
def _count(digits: str) -> int:
    """An integer of at least 0."""
    if _number(digits) < 0:
        raise ValueError(f"got {digits!r}, wanted an integer of at least 0")
    return int(digits)
