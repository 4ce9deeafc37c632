"""From a problem in natural language back to the payload: the proof that the text keeps everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from veilgym.envs.core.prose import check_skin
from veilgym.envs.core.records import convert
from veilgym.envs.hidden_system.grammar import BehaviorPayload, Options
from veilgym.envs.hidden_system.payload import OPTIONS
from veilgym.envs.hidden_system.prose.names import with_article
from veilgym.envs.hidden_system.prose.series import ATTRIBUTE_STYLES, EVENT_STYLES, LEVELS, VOCABULARY
from veilgym.envs.hidden_system.prose.skin import Form, Skin
from veilgym.envs.hidden_system.prose.skins import BY_NAME, SKINS

_MOST_DIGITS = 9

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
        self._lines, self._skin = text.split("\n"), skin
        self._symbols = {name: symbol for symbol, name in names.items()}
        if len(self._symbols) < len(names):
            raise ValueError(f"names must differ from symbol to symbol, got {dict(names)!r}")
        self._phrases = {with_article(name): symbol for name, symbol in self._symbols.items() if name}
        # The names and levels that the lines on the vocabulary list, and then the clauses that are known.
        self._levels: dict[str, dict[str, tuple[str, int]]] = {style: {} for style in ATTRIBUTE_STYLES}
        self._trials: dict[str, int] = {}
        self._events: dict[str, dict[str, list[str]]] = {style: {} for style in EVENT_STYLES}
        self._attributes: dict[str, dict[str, dict[str, int]]] = {style: {} for style in ATTRIBUTE_STYLES}

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
        cases = self._cases(start, end, skin.case_forms(bool(attributes)))
        (query,) = self._cases(end + 2, end + 3, skin.asking_forms(bool(attributes)))
        document = {
            "family": "hidden_system",
            "complexity": len(set(query["events"])),
            "event_vocabulary": events,
            "attribute_vocabulary": attributes,
            "observation_protocol": {},  # one for all, and the lines that tell it are there
            "support_cases": cases,
            "query_case": query,
            "answer_options": self._options(end + 3),
        }
        return convert(document, BehaviorPayload, "the text's payload, field")

    def _expect(self, start: int, wanted: Sequence[str]) -> None:
        """Check fixed lines."""
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
            for style, series in ATTRIBUTE_STYLES.items():
                self._levels[style].update({f"{name}{series.equals}{k}": (symbol, int(k)) for k in levels})
        return vocabulary

    def _options(self, start: int) -> Options:
        """The answer options of the last lines."""
        first_meaning = slice(2, 3)
        is_second = self._lines[start:][first_meaning] == self._skin.tail(OPTIONS[1])[first_meaning]
        options = OPTIONS[is_second]
        self._expect(start, self._skin.tail(options))
        return options

    def _cases(self, start: int, end: int, forms: Sequence[Form]) -> list[dict[str, Any]]:
        """The cases of some lines, as documents."""
        by_first = {form.first: form for form in forms}
        cases: list[dict[str, Any]] = []
        try:
            for line in self._lines[start:end]:
                cases.append(self._case(line, by_first))
        except ValueError as error:
            raise ValueError(f"line {start + len(cases) + 1}: {error}") from None
        return cases

    def _case(self, line: str, forms: Mapping[str, Form]) -> dict[str, Any]:
        name, bracket, sentence = line.partition("] ")
        if not bracket or not name.startswith("["):
            raise ValueError(f"got {line!r}, wanted an id in brackets and a sentence")
        form = forms.get(sentence.partition(" ")[0])
        said = form and form.match(sentence)
        if not form or not said:
            raise ValueError(f"{sentence!r} has none of the sentence forms of the skin")
        events, attributes, present, absent, trials = said
        event_style, attribute_style = form.styles
        case: dict[str, Any] = {
            "id": name[1:],
            "events": self._events[event_style].get(events) or self._steps(event_style, events),
            "attributes": self._values(attribute_style, attributes) if attribute_style else {},
        }
        if trials:
            case["trials"] = self._trials.get(trials) or self._count_trials(trials)
            case["observed_present"], case["observed_absent"] = _number(present), _number(absent)
        return case

    def _count_trials(self, said: str) -> int:
        """The number in a number of trials with its noun."""
        digits, _, noun = said.partition(" ")
        trials = self._trials[said] = _number(digits)
        if noun != self._skin.noun(trials):
            raise ValueError(f"got {said!r}, wanted the noun {self._skin.noun(trials)!r}")
        return trials

    def _steps(self, style: str, clause: str) -> list[str]:
        """The symbols of a clause of events."""
        series = EVENT_STYLES[style]
        symbols = self._phrases if series.has_article else self._symbols
        events = self._events[style][clause] = _look_up_all(symbols, series.split(clause))
        return events

    def _values(self, style: str, clause: str) -> dict[str, int]:
        """The levels in a clause of attributes."""
        levels = self._attributes[style].get(clause)
        if levels is None:
            items = ATTRIBUTE_STYLES[style].split(clause)
            levels = self._attributes[style][clause] = dict(_look_up_all(self._levels[style], items))
            if len(levels) < len(items):
                raise ValueError(f"an attribute comes twice in {clause!r}")
        return levels


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
    """An integer in its only spelling."""
    number = int(digits) if len(digits) < _MOST_DIGITS else None
    if str(number) != digits:
        raise ValueError(f"got {digits!r}, wanted an integer")
    return int(digits)
