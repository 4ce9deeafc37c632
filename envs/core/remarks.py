"""Lines of a rendering that are no evidence: a remark may ask, offer the two options and say how to reply, no more.

Whatever else it says could tell which option is right, so a remark is made of words that are known not to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from veilgym.envs.core.fidelity import Code, Fault, Report, words_of
from veilgym.envs.core.vocabulary import ASKING, REMARK
from veilgym.envs.core.wording import Token, has, word_set

_Parts = list[tuple[str, list[Token]]]  # by the labels of a sentence, as `_parts` returns them

_ENDS = (".", "?", "!")
_QUOTES = "\"'\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}"
_MARKS = frozenset(f".,:;?()[]*_`/|-=\N{EN DASH}\N{EM DASH}{_QUOTES}")
# Between two options that are offered; after one whose meaning is told.
_JOINING = word_set("or and either answer reply respond with the word")
_MEANS = word_set("means mean if when for stands says that otherwise : = - \N{EN DASH} \N{EM DASH}")
# Words that may point at one of two options, unless they stand beside one of these.
_RECORDS = word_set(
    "form format order question case cases trial entry entries record records history histories information data "
    "evidence event events note notes number difficulty"
)
_NUMBERED = word_set("difficulty cases entries records histories events notes")
_COUNTED = word_set("of single only word words line outcomes options answers labels possible")
_POINTING = dict.fromkeys(word_set("these above below least other"), _RECORDS)
_POINTING |= {
    "this": word_set("form format order question"),
    "last": word_set("event events step line"),
    "letters": frozenset(["capital"]),
}
_POINTING |= {"that": _RECORDS | {"line"}, **dict.fromkeys(("one", "two"), _COUNTED)}
_OPEN = word_set("which what whether")
_AUXILIARIES = word_set("is are was were does do did has have will would can could")
_STATING = _AUXILIARIES | {"holds", "so"}
_IS_SO = ("is it so", "is this so")
# By these a question says what it takes for granted.
_GRANTING = word_set("there here as if given since so because while still")
# Words that may stand around options and requests; those of a sentence that decides, and of one that asks.
_PLAIN = REMARK | _POINTING.keys()
_DECIDING, _ASKED = _PLAIN | (ASKING - _GRANTING), _PLAIN | ASKING
_LEADING = ("negation", "hidden", "rounding", "ending", "outcome")


def sentences_of(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The sentences of a line, each with the marks that end it."""
    start = 0
    for place, token in enumerate(tokens):
        is_end = place + 1 == len(tokens) or (token.text in _ENDS and tokens[place + 1].kind != "mark")
        if is_end or (token.kind == "mark" and place > start and tokens[place - 1].text in _ENDS):
            yield list(tokens[start : place + 1])
            start = place + 1


def is_named(sentence: Sequence[Token]) -> bool:
    """Whether a sentence has the name of a symbol."""
    return any(token.kind == "name" for token in sentence)


def told_of(tokens: Sequence[Token]) -> list[Token]:
    """A line up to the end of its last sentence with a name; what follows is a remark."""
    sentences = list(sentences_of(tokens))
    last = max((place for place, sentence in enumerate(sentences) if is_named(sentence)), default=-1)
    return [token for sentence in sentences[: last + 1] for token in sentence]


def is_asked(sentence: Sequence[Token]) -> bool:
    """Whether a sentence has a question mark."""
    return any(token.text == "?" for token in sentence)


def check_remark(tokens: Sequence[Token], report: Report, said: Code, meanings: Collection[str] | None = None) -> None:
    """Report each word of a line, beside names, by which it could say more than a remark may.

    Args:
        tokens: Of the line.
        report: Takes the faults.
        said: The code for words that are known but not allowed.
        meanings: Words that may tell what an option means; None for all that are known.
    """
    for sentence in sentences_of(tokens):
        parts = _parts(sentence)
        for token, allowed in _permitted(sentence, parts, meanings):
            leads = is_asked(sentence) and allowed is None and any(has(token, name) for name in _LEADING)
            if leads or not _is_allowed(token, allowed):
                code = Code.WORDING_UNKNOWN if token.kind in ("word", "mark") else said
                report(code, f"{token.text!r} in {words_of(sentence)!r} is no wording for a remark")
        _check_pointing(sentence, parts, report, said)
        _check_stating(sentence, parts, report, said)


def _is_mark(token: Token) -> bool:
    return not any(letter.isalnum() for letter in token.text)


def _is_allowed(token: Token, allowed: frozenset[str] | None) -> bool:
    if _is_mark(token):
        return token.text in _MARKS
    if token.kind not in ("word", "phrase"):
        return True
    return token.kind == "phrase" if allowed is None else allowed.issuperset(token.text.split())


def _permitted(
    sentence: Sequence[Token], parts: _Parts, meanings: Collection[str] | None
) -> Iterator[tuple[Token, frozenset[str] | None]]:
    """Each token with the words that may stand there, None for all that are known."""
    words = {word for token in sentence for word in token.text.split()}
    asks = bool(words & _OPEN) or len(parts) > 1 or _begins_to_ask(sentence)
    before = _PLAIN
    if asks or "two" in words:
        before = _ASKED if is_asked(sentence) or "two" in words else _DECIDING
    # A question that offers no option may speak of what the records speak of.
    around = None if is_asked(sentence) and len(parts) == 1 and asks else before
    told = None if meanings is None else _MEANS.union(meanings)
    are_told = _are_told(parts)
    for number, (_, part) in enumerate(parts):
        if number == 0:
            allowed = around
        elif are_told:
            allowed = told
        else:
            allowed = _PLAIN if number == len(parts) - 1 else _JOINING
        yield from ((token, before if allowed is None and token.text in before else allowed) for token in part)


def _begins_to_ask(sentence: Sequence[Token]) -> bool:
    starts = [
        token for before, token in zip([None, *sentence], sentence, strict=False) if not before or _is_mark(before)
    ]
    return is_asked(sentence) and any(token.text.split()[0] in _AUXILIARIES for token in starts)


def _parts(sentence: Sequence[Token]) -> _Parts:
    """What stands before the first label, and each label with what follows it."""
    parts: _Parts = [("", [])]
    for token in sentence:
        if token.kind == "label":
            parts.append((token.value, []))
        else:
            parts[-1][1].append(token)
    return parts


def _tells_meaning(part: Sequence[Token]) -> bool:
    """Whether what follows a label begins to say what it means."""
    first = next((token for token in part if token.text not in _QUOTES), None)
    return first is not None and first.text.split()[0] in _MEANS and len(part) > 1


def _are_told(parts: _Parts) -> bool:
    """Whether the meaning of every label of a sentence is told."""
    return all(_tells_meaning(part) for _, part in parts[1:])


def meanings_of(tokens: Sequence[Token]) -> Iterator[tuple[str, list[str]]]:
    """The labels whose meaning a line tells, and the words by which it does."""
    for sentence in sentences_of(tokens):
        parts = _parts(sentence)
        for label, part in parts[1:] if _are_told(parts) else ():
            yield label, [word for token in part if token.kind != "mark" for word in token.text.split()]


def _check_pointing(sentence: Sequence[Token], parts: _Parts, report: Report, said: Code) -> None:
    """Report words that point at something, unless it is a record, the form of a reply or the like."""
    if is_asked(sentence) or (len(parts) > 1 and _are_told(parts)):
        return
    words = [word for token in sentence for word in ([token.text] if token.kind == "name" else token.text.split())]
    for place, word in enumerate(words):
        before, beside = words[max(0, place - 1) : place], {*words[place + 1 : place + 2]}
        if word not in ("one", "two"):
            beside.update(before)
        elif before in (["which"], ["exactly"]):
            continue
        is_counted = word in ("one", "two") and len(parts) > 1
        if word in _POINTING and not is_counted and not beside & _POINTING[word]:
            report(said, f"{word!r} in {words_of(sentence)!r} may point at an option")
    if any(token.kind == "number" for token in sentence) and not _NUMBERED.intersection(words):
        report(said, f"a number in {words_of(sentence)!r} may point at an option")


def _check_stating(sentence: Sequence[Token], parts: _Parts, report: Report, said: Code) -> None:
    """Report a sentence that states something: beside what it asks, in the meaning of an option, or with one alone."""
    for label, part in parts:
        words = [word for token in part for word in token.text.split()]
        stating = [word for word in words if word in _STATING]
        granting = [word for word in words if word in _GRANTING]
        text = words_of(part)
        if len(stating) > (2 if is_asked(sentence) or (label and "so" in stating) else 1):
            report(said, f"{text!r} may state more than it asks")
        elif is_asked(sentence) and not label and granting and not text.startswith(_IS_SO):
            report(said, f"{granting[0]!r} in {text!r} takes something for granted")
    if len(parts) == 1 and sum(len(token.text.split()) for token in sentence if not _is_mark(token)) < 2:
        report(said, f"{words_of(sentence)!r} says nothing of how to reply")
    if len(parts) == 2 and not _are_told(parts):
        report(said, f"an option alone in {words_of(sentence)!r}")


def check_options(
    options: tuple[str, str], asked: Sequence[Token], other: Sequence[Sequence[Token]], query: str
) -> Iterator[Fault]:
    """Check that the options stand in pairs in their order, and that none is singled out.

    A pair may stand on one line, or be two lines that begin with an option each and say what it means.

    Args:
        options: In the payload's order.
        asked: The line of the query.
        other: The other lines without evidence.
        query: The id of the query.
    """
    meanings: list[str] = []
    pairs: list[tuple[str, ...]] = []
    lines = [(query, Code.QUERY_ASSERTED, asked), *(("", Code.ANSWER_GIVEN, line) for line in other)]
    for name, alone, line in lines:
        labels = [token.value for token in line if token.kind == "label"]
        if len(labels) == 1 and line[0].kind == "label" and len(line) > 2:
            meanings += labels
        elif len(labels) % 2:
            yield Fault(alone, name, f"an option stands alone: {words_of(line)!r}")
        else:
            pairs += [tuple(labels[i : i + 2]) for i in range(0, len(labels), 2)]
        if any(has(token, "answer") for token in line):
            yield Fault(Code.ANSWER_GIVEN, name, f"the line speaks of the answer: {words_of(line)!r}")
    if len(meanings) % 2:
        yield Fault(Code.ANSWER_GIVEN, query, f"an option stands alone: {', '.join(meanings)}")
    pairs += [tuple(meanings[i : i + 2]) for i in range(0, len(meanings) - 1, 2)]
    for pair in dict.fromkeys(pairs):
        if pair != options:
            yield Fault(Code.OPTION_ORDER, query, f"the options stand as {' '.join(pair)}, not as {' '.join(options)}")
    if not pairs:
        yield Fault(Code.LABEL_MISSING, query, f"the options {' and '.join(options)} are not offered")
