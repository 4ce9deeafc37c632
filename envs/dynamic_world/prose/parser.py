"""Reading a text back: all but the symbols' names is taken from it, so that what it does not tell cannot come back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from veilgym.envs.core.prose import check_skin
from veilgym.envs.dynamic_world.grammar import (
    ANSWER_OPTIONS,
    ENTITY_TYPES,
    EVENT_FORMS,
    FLAGS,
    EventKind,
    Observation,
    Query,
    WorldEvent,
    WorldPayload,
)
from veilgym.envs.dynamic_world.prose.forms import SKIN_TABLE, TOKEN, Form, Surface, skeleton_of, surface_of
from veilgym.envs.dynamic_world.prose.frame import (
    DIFFICULTY,
    NONE,
    QUESTION,
    SEPARATOR,
    answer_lines,
    glossary_lines,
    label_of,
    opening_lines,
)
from veilgym.envs.dynamic_world.prose.legality import FAMILIES, check_order

_OBSERVATION_ID, _EVENT_ID = re.compile("I[0-9]{4,}"), re.compile("V[0-9]{5,}")
_FLAGS = {f'"{flag}"': flag for flag in FLAGS}
_NUM_BLOCKS = 6

# By the head of a form: the kind of event, the order of its arguments, and which of them are participants.
_LAYOUTS: dict[str, tuple[EventKind, list[str], list[str]]] = {
    form.relation or form.kind: (
        form.kind,
        [*(["relation"] if form.relation else []), *[name for name, _ in form.fields]],
        [name for name, kind in form.fields if kind in ENTITY_TYPES],
    )
    for form in EVENT_FORMS
}

Symbols = Mapping[str, Mapping[str, str]]  # by type, then by name
Readers = Mapping[str, Callable[[str], Any]]  # by type; each raises a KeyError or a ValueError for another type's token


def parse(text: str, skin: str, names: Mapping[str, str]) -> WorldPayload:
    """Rebuild the payload that a text tells.

    Args:
        text: A rendering of `render`, in any of the skin's sentence forms.
        skin: One of `SKINS`.
        names: The name of each symbol.

    Raises:
        ValueError: the text is not one in that skin and with these names; the message says where.
    """
    surface = surface_of(check_skin(skin, tuple(SKIN_TABLE)))
    blocks, firsts = _blocks(text)
    opening, listing, glossary, start, history, end = blocks
    symbols = _read_listing(listing, surface, names, firsts[1])
    _expect(opening, opening_lines(surface.skin, {kind: len(symbols[kind]) for kind in ENTITY_TYPES}), firsts[0])
    _expect(glossary, glossary_lines(surface.skin), firsts[2])
    _expect(start[:1], [surface.skin.start], firsts[3])
    _expect(history[:1], [surface.skin.history], firsts[4])
    readers = _readers(symbols)
    query = _read_question(end, surface, readers, firsts[5])
    payload = WorldPayload(
        family=FAMILIES[query.predicate],
        complexity=_read_difficulty(end, firsts[5]),
        entity_types={symbol: kind for kind in ENTITY_TYPES for symbol in symbols[kind].values()},  # type: ignore[misc]
        initial_observations=_read_observations(start[1:], surface, readers, firsts[3] + 1),
        events=_read_events(history[1:], surface, readers, firsts[4] + 1),
        query=query,
        answer_options=_read_options(end[2:], firsts[5] + 2),  # type: ignore[arg-type]
    )
    check_order(payload)
    return payload


def _blocks(text: str) -> tuple[list[list[str]], list[int]]:
    """The blocks between blank lines, as lines, and the number of the first line of each."""
    blocks = [block.split("\n") for block in text.split("\n\n")]
    if len(blocks) != _NUM_BLOCKS:
        raise ValueError(f"text: got {len(blocks)} blocks between blank lines, allowed is {_NUM_BLOCKS}")
    firsts = [1]
    for block in blocks:
        firsts.append(firsts[-1] + len(block) + 1)
    return blocks, firsts


def _expect(lines: Sequence[str], expected: Sequence[str], first: int) -> None:
    for number, (line, wanted) in enumerate(zip(lines, expected, strict=False), first):
        if line != wanted:
            raise _error(number, line, repr(wanted))
    if len(lines) != len(expected):
        number = first + min(len(lines), len(expected))
        raise ValueError(f"line {number}: got {len(lines)} lines from line {first} on, allowed is {len(expected)}")


def _read_listing(lines: Sequence[str], surface: Surface, names: Mapping[str, str], first: int) -> Symbols:
    symbol_of = {name: symbol for symbol, name in names.items()}
    if len(symbol_of) != len(names):
        raise ValueError("names: got one name for two symbols, allowed are different names")
    if len(lines) != len(ENTITY_TYPES):
        raise ValueError(f"line {first}: got {len(lines)} lists of names, allowed is {len(ENTITY_TYPES)}")
    symbols: dict[str, dict[str, str]] = {}
    for number, (line, kind) in enumerate(zip(lines, ENTITY_TYPES, strict=True), first):
        label = label_of(surface.skin.kinds[kind])
        if not line.startswith(label) or not line.endswith("."):
            raise _error(number, line, f"names after {label!r} and a full stop")
        listed = line[len(label) : -1]
        symbols[kind] = _read_names([] if listed == NONE else listed.split(SEPARATOR), symbol_of, number)
    if sum(map(len, symbols.values())) != len(names):
        raise ValueError(
            f"line {first}: got lists without some of the names, allowed are lists of all of them, each once"
        )
    return symbols


def _read_names(listed: Sequence[str], symbol_of: Mapping[str, str], number: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in listed:
        if name not in symbol_of or name in found:
            raise _error(number, name, "a name of a symbol, listed once")
        found[name] = symbol_of[name]
    if sorted(found.values()) != list(found.values()):
        raise _error(number, SEPARATOR.join(listed), "the names in the order of their symbols")
    return found


def _readers(symbols: Symbols) -> Readers:
    """How the tokens of each type are read."""
    readers: dict[str, Callable[[str], Any]] = {kind: symbols[kind].__getitem__ for kind in ENTITY_TYPES}
    return readers | {"int": _integer, "Flag": _FLAGS.__getitem__, "id": str}


def _integer(token: str) -> int:
    number = int(token)
    if str(number) != token:  # 007, -0
        raise ValueError(token)
    return number


def _read_observations(lines: Sequence[str], surface: Surface, readers: Readers, first: int) -> list[Observation]:
    observations = []
    for number, line in enumerate(lines, first):
        form, told = _read(line, surface.forms[0], readers, number)
        if not _OBSERVATION_ID.fullmatch(told["id"]):
            raise _error(number, told["id"], "an id of an initial fact")
        observations.append(Observation(told["id"], form.head, (told["name"], told["value"])))  # type: ignore[arg-type]
    return observations


def _read_events(lines: Sequence[str], surface: Surface, readers: Readers, first: int) -> list[WorldEvent]:
    events = []
    for number, line in enumerate(lines, first):
        form, told = _read(line, surface.forms[1], readers, number)
        if not _EVENT_ID.fullmatch(told["id"]):
            raise _error(number, told["id"], "an id of an event")
        kind, order, participants = _LAYOUTS[form.head]
        arguments = {field: told[field] for field in order}
        who = [told[field] for field in participants]
        events.append(WorldEvent(told["id"], told["time"], kind, who, arguments))
    return events


def _read_question(lines: Sequence[str], surface: Surface, readers: Readers, number: int) -> Query:
    if not lines[0].startswith(QUESTION):
        raise _error(number, lines[0], f"a line that begins with {QUESTION!r}")
    form, told = _read(lines[0][len(QUESTION) :], surface.forms[2], readers, number)
    return Query(form.head, (told["left"], told["right"]), told["time"])  # type: ignore[arg-type]


def _read_difficulty(lines: Sequence[str], first: int) -> int:
    line = lines[1] if len(lines) > 1 else ""
    number = line[len(DIFFICULTY) : -1]
    if line == f"{DIFFICULTY}{number}." and re.fullmatch("[1-9][0-9]*", number):
        return int(number)
    raise _error(first + 1, line, f"a number after {DIFFICULTY!r} and a full stop")


def _read_options(lines: Sequence[str], first: int) -> tuple[str, ...]:
    reverse = ANSWER_OPTIONS[::-1]
    options = reverse if list(lines[:1]) == answer_lines(reverse)[:1] else ANSWER_OPTIONS
    _expect(lines, answer_lines(options), first)
    return options


def _read(line: str, forms: Mapping[str, Form], readers: Readers, number: int) -> tuple[Form, dict[str, Any]]:
    """The form of a line, and what it tells by its words and by its tokens, of which its form has as many."""
    parts = TOKEN.split(line)
    form = forms.get(skeleton_of(parts))
    if form is None:
        raise _error(number, line, "a sentence of this skin")
    tokens, told = parts[1::2], dict(form.fixed)
    try:
        for name, kind, token in zip(form.names, form.types, tokens):  # noqa: B905, strict costs time
            told[name] = readers[kind](token)
    except (KeyError, ValueError):
        raise _error(number, token, f"{name} of the type {kind}") from None
    return form, told


def _error(number: int, got: str, allowed: str) -> ValueError:
    return ValueError(f"line {number}: got {got!r}, allowed is {allowed}")
