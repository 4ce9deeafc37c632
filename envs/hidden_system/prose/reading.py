"""From a problem in natural language back to the payload: the proof that the text keeps everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from veilgym.envs.core.prose import check_skin
from veilgym.envs.core.records import convert
from veilgym.envs.hidden_system.grammar import BehaviorCase, BehaviorPayload, Options
from veilgym.envs.hidden_system.payload import OPTIONS
from veilgym.envs.hidden_system.prose.clauses import AttributeClauses, EventClauses, look_up, unknown
from veilgym.envs.hidden_system.prose.names import with_article
from veilgym.envs.hidden_system.prose.sentences import CaseReader, SentenceReader, read_integer, sentence_readers
from veilgym.envs.hidden_system.prose.series import ATTRIBUTE_STYLES, EVENT_STYLES, LEVELS, VOCABULARY
from veilgym.envs.hidden_system.prose.skin import Skin
from veilgym.envs.hidden_system.prose.skins import BY_NAME, SKINS

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
        clauses, has_attributes = _Clauses(self._names, events, attributes), bool(attributes)
        cases = self._cases(start, end, sentence_readers(skin.name, has_attributes, False), clauses)
        (query,) = self._cases(end + 2, end + 3, sentence_readers(skin.name, has_attributes, True), clauses)
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

    def _event_vocabulary(self, line: str) -> tuple[str, ...]:
        return look_up(self._symbols, VOCABULARY.split(_after(self._skin.event_heading, line)))

    def _attribute_vocabulary(self, line: str) -> dict[str, list[int]]:
        vocabulary: dict[str, list[int]] = {}
        if line == self._skin.no_attributes:
            return vocabulary
        for item in VOCABULARY.split(_after(self._skin.attribute_heading, line)):
            name, _, listed = item.removesuffix(")").partition(" (")
            if name not in self._symbols:
                raise unknown(name, self._symbols)
            symbol, levels = self._symbols[name], LEVELS.split(listed)
            if symbol in vocabulary or not item.endswith(")"):
                raise ValueError(f"got {item!r}, wanted another name with its values in parentheses")
            vocabulary[symbol] = [read_integer(level) for level in levels]
        return vocabulary

    def _options(self, start: int) -> Options:
        """The answer options of the last lines."""
        first_meaning = slice(2, 3)
        is_second = self._lines[start:][first_meaning] == self._skin.tail(OPTIONS[1])[first_meaning]
        options = OPTIONS[is_second]
        self._expect(start, self._skin.tail(options))
        return options

    def _cases(
        self, start: int, end: int, forms: Mapping[str, SentenceReader], clauses: _Clauses
    ) -> list[BehaviorCase]:
        """The cases of some lines, in forms by their first word."""
        readers: dict[str, CaseReader] = {}
        cases: list[BehaviorCase] = []
        try:
            for line in self._lines[start:end]:
                marked, bracket, sentence = line.partition("] ")
                name = marked[1:]
                if not name or not bracket or marked[0] != "[":
                    raise ValueError(f"got {line!r}, wanted an id in brackets and a sentence")
                first, _, rest = sentence.partition(" ")
                reader = readers.get(first)
                if not reader and first in forms:
                    reader = readers[first] = clauses.reader(forms[first])
                case = reader and reader(name, rest)
                if not case:
                    raise ValueError(f"{sentence!r} has none of the sentence forms of the skin")
                cases.append(case)
        except ValueError as error:
            raise ValueError(f"line {start + len(cases) + 1}: {error}") from None
        return cases


class _Clauses:
    """All that the clauses of an instance can say, by its vocabulary."""

    def __init__(self, names: Mapping[str, str], events: Sequence[str], attributes: Mapping[str, list[int]]) -> None:
        called = {names[symbol]: symbol for symbol in events}
        phrases = {with_article(name): symbol for name, symbol in called.items() if name}
        self._called = {False: called, True: phrases}
        self._levels = {names[symbol]: (symbol, row) for symbol, row in attributes.items()}
        self._events: dict[str, EventClauses] = {}
        self._attributes: dict[str | None, AttributeClauses] = {}

    def reader(self, sentence: SentenceReader) -> CaseReader:
        """What reads sentences of a form, if their clauses say this."""
        event_style, attribute_style = sentence.styles
        if event_style not in self._events:
            joined = EVENT_STYLES[event_style]
            self._events[event_style] = EventClauses(joined, self._called[joined.has_article])
        if attribute_style not in self._attributes:
            series = ATTRIBUTE_STYLES[attribute_style] if attribute_style else None
            self._attributes[attribute_style] = AttributeClauses(series, self._levels)
        return sentence.for_clauses(self._events[event_style], self._attributes[attribute_style])


def _after(heading: str, line: str) -> str:
    """What a line lists after its heading."""
    if not line.startswith(heading) or not line.endswith("."):
        raise ValueError(f"got {line!r}, wanted a sentence that begins with {heading!r}")
    return line[len(heading) : -1]
