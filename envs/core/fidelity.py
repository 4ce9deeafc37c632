"""Whether a rendering says what its payload says: what the families share.

A family's `fidelity.check(payload, text, names)` returns the faults of a rendering; a faithful one has none. The check
decides by the words on each line, so it is strict: wording that it cannot read with certainty is a fault too, with a
code of its own. It reads the payload alone, as the renderer does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

import msgspec

from veilgym.envs.core.vocabulary import ASKING, CLAIMS, ORDINARY, REMARK
from veilgym.envs.core.wording import Phrases, Token, has, phrases_of, read_line, split


class Code(str, Enum):
    """Why a rendering is rejected."""

    FORMAT = "format"  # of a model's reply: not the blocks that were asked for
    CUT_OFF = "cut-off"  # a model's reply ends at the limit of tokens
    REFUSED = "refused"  # the model's provider withheld the reply

    UNREADABLE = "unreadable"  # control or invisible characters
    NAME_MISSING = "name-missing"  # a symbol has no name
    NAME_UNKNOWN = "name-unknown"  # a name for what is no symbol
    NAME_SHARED = "name-shared"  # two symbols, one name
    NAME_INSIDE_NAME = "name-inside-name"
    NAME_IS_LABEL = "name-is-label"  # a name has a label, an id or a word in it that the check goes by
    NAME_UNUSABLE = "name-unusable"  # no letter, several lines, too long

    ID_MISSING = "id-missing"
    ID_DUPLICATED = "id-duplicated"
    ID_UNKNOWN = "id-unknown"
    ID_ORDER = "id-order"
    ID_SHARES_LINE = "id-shares-line"

    PARTICIPANT_MISSING = "participant-missing"
    PARTICIPANT_EXTRA = "participant-extra"
    EVENT_ORDER = "event-order"
    EVENT_ORDER_UNCLEAR = "event-order-unclear"
    RELATION_MISSING = "relation-missing"  # no wording for the relation, or the kind of event
    RELATION_EXTRA = "relation-extra"
    WORDING_UNKNOWN = "wording-unknown"  # a word where it may turn the meaning round, and that the check does not know
    DIRECTION = "direction"
    DIRECTION_UNCLEAR = "direction-unclear"

    NUMBER_WRONG = "number-wrong"
    NUMBER_MISSING = "number-missing"
    NUMBER_EXTRA = "number-extra"
    NUMBER_UNCLEAR = "number-unclear"  # not clear what is counted
    NUMBER_WORD = "number-word"
    NUMBER_FORM = "number-form"  # decimals, separators, other digits
    ROUNDED = "rounded"
    NEGATED = "negated"
    HEDGED = "hedged"

    LABEL_MISSING = "label-missing"
    LABEL_EXTRA = "label-extra"
    OPTION_ORDER = "option-order"

    QUERY_MISSING = "query-missing"
    QUERY_ASSERTED = "query-asserted"
    ANSWER_GIVEN = "answer-given"
    LAW_CLAIMED = "law-claimed"
    PROBABILITY_GIVEN = "probability-given"
    FORBIDDEN_TERM = "forbidden-term"  # rules, flags, levels and other things of the hidden side
    STRAY_EVIDENCE = "stray-evidence"  # something said of named things outside the lines that have an id


class Fault(msgspec.Struct, frozen=True):
    """One reason for which a rendering is rejected.

    Attributes:
        code: The kind of reason.
        id: The audit id of the line, a symbol for a fault of its name, "" for what has no line.
        sentence: What is wrong, and with what.
    """

    code: Code
    id: str
    sentence: str


Report = Callable[[Code, str], None]
"""Takes a fault of the line that is read."""


def reporter(faults: list[Fault], name: str) -> Report:
    """A report that adds faults of the line `name` to a list."""

    def report(code: Code, sentence: str) -> None:
        faults.append(Fault(code, name, f"{name}: {sentence}" if name else sentence))

    return report


# Before a number these make an estimate of it; elsewhere they may be about places.
_BEFORE_NUMBER = ("about", "around", "some", "over", "under", "above", "below", "past", "beyond", "toward", "towards")
_MARKUP = " \t>*_#-+`|[(\u2022"
_AFTER_ID = " \t*_`|])"
_SHAPE = re.compile(r"(?<!\w)(?:C\d+|I\d{4,}|V\d{5,}|Q)(?!\w)")
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_MOST_NAME_WORDS = 8
_SHOWN = 80


@dataclass
class Page:
    """A text by its lines.

    Attributes:
        evidence: The tokens of the line of each id.
        other: What stands on the other lines: whether it comes after the last id, and its tokens.
        faults: Of the ids.
    """

    evidence: dict[str, list[Token]] = field(default_factory=dict)
    other: list[tuple[bool, list[Token]]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def check_names(
    names: Mapping[str, str], symbols: Iterable[str], optional: Collection[str], reserved: Collection[str]
) -> list[Fault]:
    """The faults of a table of names: it must be a bijection whose names can be told apart in a text.

    Args:
        names: By symbol.
        symbols: Those that must have a name.
        optional: Those that may have one.
        reserved: Words that no name may have in it, in lower case: labels, ids.
    """
    faults: list[Fault] = []
    needed = dict.fromkeys(symbols)
    faults += [Fault(Code.NAME_MISSING, symbol, f"{symbol} has no name") for symbol in needed if symbol not in names]
    owners: dict[tuple[str, ...], str] = {}
    for symbol, name in names.items():
        words = split(name)
        if symbol not in needed and symbol not in optional:
            faults.append(Fault(Code.NAME_UNKNOWN, symbol, f"{name!r} is the name of {symbol}, which is no symbol"))
        if problem := _unusable(name, words):
            faults.append(Fault(Code.NAME_UNUSABLE, symbol, f"the name {name[:_SHOWN]!r} {problem}"))
            continue
        if word := next((word for word in words if word in reserved), None):
            faults.append(Fault(Code.NAME_IS_LABEL, symbol, f"the name {name!r} has {word!r} in it"))
        if words in owners:
            faults.append(Fault(Code.NAME_SHARED, symbol, f"{owners[words]} and {symbol} have the name {name!r}"))
        owners.setdefault(words, symbol)
    for words, symbol in owners.items():
        for start in range(len(words)):
            for end in range(start + 1, len(words) + 1):
                inner = owners.get(words[start:end], symbol)
                if inner != symbol:
                    sentence = f"the name of {symbol}, {names[symbol]!r}, has that of {inner}, {names[inner]!r}, in it"
                    faults.append(Fault(Code.NAME_INSIDE_NAME, symbol, sentence))
    return faults


def _unusable(name: str, words: Sequence[str]) -> str:
    if len(name) > 100 or len(words) > _MOST_NAME_WORDS:
        return f"is longer than {_MOST_NAME_WORDS} words"
    if not any(letter.isalpha() for letter in name):
        return "has no letter"
    if name != name.strip() or not name.isprintable():
        return "has spaces at its ends, or characters that cannot be printed"
    return ""


def read_page(
    text: str,
    ids: Sequence[str],
    names: Mapping[str, str],
    labels: Mapping[str, str],
    lexicon: Phrases,
    optional: Collection[str] = (),
) -> Page:
    """Find the line of each id.

    Args:
        text: The rendering.
        ids: Those that are expected, in order.
        names: Checked.
        labels: As for `read_line`.
        lexicon: Of the family.
        optional: Further ids, which need not be there.
    """
    page, expected, found = Page(), {*ids, *optional}, list[str]()
    known = Phrases((name, symbol) for symbol, name in names.items())
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(expected, key=len, reverse=True)))})(?!\w)")
    hidden = sorted({letter for letter in text if letter not in "\n\t" and unicodedata.category(letter) in _UNSEEN})
    if hidden:
        listed = ", ".join(f"U+{ord(letter):04X}" for letter in hidden)
        page.faults.append(Fault(Code.UNREADABLE, "", f"the text has characters that cannot be seen: {listed}"))
    for line in text.splitlines():
        name, rest = _take_id(line, pattern)
        for other in _SHAPE.findall(_without_names(rest, names)) if not name or pattern.search(rest) else ():
            where = f"the line of {name}" if name else "a line that does not begin with it"
            page.faults.append(
                Fault(Code.ID_SHARES_LINE, other, f"{other} stands on {where}: {rest.strip()[:_SHOWN]!r}")
            )
        tokens = read_line(rest, known, labels, lexicon)
        if not name:
            page.other += [(bool(found) and found[-1] in (ids[-1], *optional), tokens)] if tokens else []
        elif name not in expected:
            page.faults.append(Fault(Code.ID_UNKNOWN, name, f"the payload has no {name}"))
        else:
            page.evidence.setdefault(name, tokens)
            found.append(name)
    page.faults += _id_faults([*ids, *(name for name in optional if name in found)], found)
    return page


def _take_id(line: str, pattern: re.Pattern[str]) -> tuple[str, str]:
    """The id that a line begins with, "" for none, and the rest; markup around the id is no matter."""
    bare = line.lstrip(_MARKUP)
    match = pattern.match(bare) or _SHAPE.match(bare)
    if match is None:
        return "", line
    return match.group(), bare[match.end() :].lstrip(_AFTER_ID)


def _without_names(line: str, names: Mapping[str, str]) -> str:
    """Names such as C01 look like ids."""
    lookalikes = [name for name in names.values() if _SHAPE.search(name)]
    for name in lookalikes:
        line = line.replace(name, "")
    return line


def _id_faults(ids: Sequence[str], found: Sequence[str]) -> Iterator[Fault]:
    places = {name: place for place, name in enumerate(ids)}
    seen: set[str] = set()
    for name in found:
        if name in seen:
            yield Fault(Code.ID_DUPLICATED, name, f"{name} stands on more than one line")
        seen.add(name)
    for name in ids:
        if name not in seen:
            yield Fault(Code.ID_MISSING, name, f"no line begins with {name}")
    for before, after in pairwise(dict.fromkeys(found)):
        if places[before] > places[after]:
            yield Fault(Code.ID_ORDER, after, f"{after} stands after {before}")


def check_wording(tokens: Sequence[Token], report: Report, classes: Mapping[str, Code]) -> None:
    """Report words of some classes, numbers that are no plain integers, and estimates, on a line of evidence."""
    for token, following in pairwise([*tokens, Token("mark", "")]):
        if token.kind == "odd number":
            report(Code.NUMBER_FORM, f"{token.text!r} is no plain integer")
        if token.text.endswith("n't"):
            report(Code.NEGATED, f"{token.text!r} is no wording for evidence")
        for name, code in classes.items():
            if has(token, name):
                report(code, f"{token.text!r} is no wording for evidence")
        if following.kind == "number" and token.text in _BEFORE_NUMBER:
            report(Code.ROUNDED, f"'{token.text} {following.text}' is no count")


def check_known(tokens: Sequence[Token], report: Report, more: Collection[str] = ()) -> None:
    """Report every word that no class and not `more` has: it could say anything."""
    for token in tokens:
        if token.kind == "word" and token.text not in more:
            report(Code.WORDING_UNKNOWN, f"{token.text!r} is no wording that is known")


EVIDENCE_WORDING = {
    "negation": Code.NEGATED,
    "hedge": Code.HEDGED,
    "rounding": Code.ROUNDED,
    "number word": Code.NUMBER_WORD,
    "law": Code.LAW_CLAIMED,
    "probability": Code.PROBABILITY_GIVEN,
    "hidden": Code.FORBIDDEN_TERM,
    "answer": Code.ANSWER_GIVEN,
}
"""What may not be said on a line of evidence."""


def words_of(tokens: Sequence[Token]) -> str:
    """Tokens as a text for a message."""
    return " ".join(token.text for token in tokens)[:_SHOWN]


def lexicon_of(classes: Mapping[str, str]) -> Phrases:
    """The lexicon of a family: its own classes, those of every family, and what is ordinary."""
    return phrases_of({**CLAIMS, "ordinary": "|".join(ORDINARY | REMARK | ASKING), **classes})
