"""What a language model or a person replies, read strictly: an answer that the reply states, or why there is none.

One parser for the text wrapper, the scorer of answer files and the adapters. It gives no credit for a label that is
only mentioned, runs no code, and takes time linear in the length of a reply.
"""

from __future__ import annotations

import re
import reprlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from veilgym.envs.core.strict_json import Found, JsonError, find_json, read_json


class Reason(str, Enum):
    """Why a reply is unparsed."""

    EMPTY = "empty"
    WRONG_TYPE = "wrong type"
    UNFINISHED = "unfinished"
    NO_ANSWER = "no answer"
    PART_OF_A_WORD = "part of a word"
    NOT_CONCLUDED = "not concluded"
    NEGATED = "negated"
    OPTIONS_ECHOED = "options echoed"
    SEVERAL_ANSWERS = "several answers"
    MALFORMED = "malformed JSON"
    DUPLICATE_KEY = "duplicate key"
    NOT_FINITE = "not finite"
    TOO_DEEP = "too deep"
    NOT_A_NUMBER = "not a number"
    RAGGED = "ragged"
    TRANSPOSED = "transposed"
    WRONG_SHAPE = "wrong shape"
    WRONG_FIELDS = "wrong fields"
    UNKNOWN_REQUEST = "unknown request"


@dataclass(frozen=True)
class Choice:
    """One of the options.

    Attributes:
        index: Its place among the options.
        option: As the options spell it.
    """

    index: int
    option: str


@dataclass(frozen=True)
class Matrix:
    """A matrix of finite numbers, by rows."""

    rows: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Unparsed:
    """A reply that states no answer.

    Attributes:
        reason: Which kind of fault.
        sentence: What was wrong, and what is allowed.
    """

    reason: Reason
    sentence: str


_FAULTS = {
    "malformed": Reason.MALFORMED,
    "duplicate key": Reason.DUPLICATE_KEY,
    "not finite": Reason.NOT_FINITE,
    "too deep": Reason.TOO_DEEP,
}

_LONGEST = 100_000  # characters; of a longer reply only the end is read
# Typographic apostrophes and dashes mean what the plain ones mean.
_PUNCTUATION = str.maketrans({"\u2018": "'", "\u2019": "'", "\u2013": "\u2014"})
# Marks that a raw model writes where its turn ends.
_END_OF_TURN = re.compile(r"<\|[\w-]{1,40}\|>|</s>|<(?:eos|end_of_turn)>")
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def read_choice(reply: Any, options: Sequence[str]) -> Choice | Unparsed:
    r"""The option that a reply gives as its answer.

    An answer is stated by the label as the first or the last line, in any case and whatever its punctuation, markdown,
    quotes or fence; after "Answer:", "the answer is" and the like; in <answer> tags, in \boxed{}, or as the JSON field
    "answer"; by the label, spelled as in `options`, as the first sentence or at the end of a last sentence that
    concludes ("Therefore ... PRESENT."). Of a reply with a block of thoughts, what follows the block counts. All
    statements must agree, and none may be taken back.

    Args:
        reply: The text; anything else is unparsed.
        options: Different single words.

    Raises:
        ValueError: the options are not different single words.
    """
    phrases = _phrases(tuple(options))
    text = last_words(reply)
    if isinstance(text, Unparsed):
        return text
    return _read(text if len(text) <= _LONGEST else _end_of(text), phrases, is_enclosed=False)


def _end_of(text: str) -> str:
    """The last lines of a long text, after one that is no answer: what is first here is not first in the reply."""
    end = text[-_LONGEST:]
    rest = end.partition("\n" if "\n" in end else " ")[2]
    return f"\u00e9\n{rest}"


def last_words(reply: Any) -> str | Unparsed:
    """What a reply says after its thoughts, with single spaces and at most one blank line between two lines."""
    if not isinstance(reply, str):
        kind = type(reply).__name__
        return Unparsed(Reason.WRONG_TYPE, f"the reply is {reprlib.repr(reply)} of type {kind}; allowed is text")
    text = reply.translate(_PUNCTUATION)
    text = _END_OF_TURN.sub("\n", text)
    text = re.sub(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]", "\n", text)
    # Runs of white space make patterns slow and mean nothing, in JSON neither.
    text = re.sub(r"[ \t\xa0\u2000-\u200d\u202f\u2060\u3000\ufeff]+", " ", text)
    text = re.sub(r"\n[ \n]*\n", "\n\n", text)
    ends = [match.end() for match in _THOUGHT_ENDS.finditer(text)]
    said = text[ends[-1] :] if ends else text
    if _THOUGHT_BEGINS.search(said):
        return Unparsed(Reason.UNFINISHED, "the reply ends within its thoughts; allowed is an answer after them")
    if not said.strip():
        where = " after its thoughts" if ends else ""
        return Unparsed(Reason.EMPTY, f"the reply is empty{where}; allowed is an answer")
    return said


class _Kind(Enum):
    """What a place in a reply does: states an answer, has one on a line in its midst, denies one, leaves it open."""

    STATED = 0
    LISTED = 1
    DENIED = 2
    OPEN = 3


@dataclass(frozen=True)
class _Statement:
    place: int
    kind: _Kind
    option: int = -1
    fault: Unparsed | None = None


# Words that may stand around an answer without changing it.
_FILLER = (
    r"(?:the|my|our|your|a|an|final|correct|right|best|overall|answer|answers|conclusion|verdict|prediction|decision|"
    r"choice|option|label|outcome|result|response|is|it|it's|that|this|so|thus|therefore|hence|then|and|clearly|"
    r"definitely|certainly|simply|indeed|most|more|very|likely|probably|probable|actually|finally|ultimately|i|we|"
    r"be|must|should|say|choose|pick|select|predict|output|assistant|here|in|summary|conclude|to)"
)
_NOUN = r"(?:answers?|conclusion|verdict|prediction|decision|choice)"
_NEGATION = re.compile(
    r"\b(?:not|never|neither|nor|non|cannot|without|unlike|doubt|wrong|incorrect|false|\w{1,8}n't)\b|[!¬≠~❌✗✘]",
    re.I,
)
_HEDGE = re.compile(
    r"\b(?:whether|either|or|maybe|perhaps|might|may|could|unsure|unclear|unknown|uncertain|unable|impossible)\b", re.I
)
_CONDITION = re.compile(r"\b(?:if|unless|suppose|supposing|assuming|were|otherwise|else|hypothetically)\b", re.I)
# Between a conclusion and a label, words that turn the label down.
_REJECTION = re.compile(
    r"\b(?:opposite|contrary|reverse|except|anything|everything|other than|instead of|against|reject\w*|rul\w+ out|"
    r"exclud\w*|avoid\w*|refus\w*|refut\w*|disprov\w*|contradict\w*|fail\w*|lacks?|little|few|differs?|wrongly|"
    r"falsely|trap|so much for|too early|below|den(?:y|ies|ied)|unlikely|hardly|barely|no longer)\b",
    re.I,
)
# Before a marked answer, words that make it someone else's.
_OTHERS = re.compile(
    r"\b(?:nobody|no one|no way|few|naive\w*|tempting|trap|decoy|(?:many|some|others|people)(?: people)? "
    r"(?:would|might|may|will|say|think|believe))\b|\b(?:previous|earlier|example|sample|former|old|other)\W*$",
    re.I,
)
# Right before an answer, words that make it an example.
_EXAMPLE = re.compile(
    r"(?:\b(?:for example|for instance|such as|of (?:the |this |that |a )?form|example)|\be\. ?g\.)"
    r"[^\w]{0,10}"
    r"(?:(?:the|a|my|your|final)\b[^\w]{0,5}){0,3}$",
    re.I,
)
# At the beginning of a sentence or a line, words that ask, whatever its end.
_ASKS = re.compile(
    r"\W*(?:(?:so|then|thus|and|therefore|hence)\W+){0,3}(?:is|was|should|shall|must|do|does|can|could|would|will) "
    r"(?:i|we|you|it|this|that|the|my|our)\b",
    re.I,
)
# A line that leaves open what a bare label on the next line means.
_UNDECIDED_LINE = re.compile(
    r"\W*(?:(?:well|so|but|sorry|honestly|hmm)\W+)?(?:(?:it|that|this|the (?:answer|outcome|result))(?:'s| is| remains|"
    r" was)|i(?:'m| am)|we are) (?:still |really )?(?:not |un)(?:yet |at all |really )?(?:clear|certain|sure|known|"
    r"decided|decidable|determined|possible to \w+)\b[^.;:]{0,40}\W*|"
    r"\W*(?:(?:well|so|but|sorry|honestly|hmm)\W+)?(?:i|we) (?:(?:will|do|can|could|would|shall|may) not|won't|don't|"
    r"can't|cannot|couldn't|refuse to|decline to|am unable to|am not able to) (?:\w{1,12} )?(?:answer|say|tell|decide|"
    r"know|choose|determine|judge)\b[^.;:]{0,40}\W*|\W*(?:for example|for instance|example)\W*",
    re.I,
)
# After an answer, in its sentence: less than even odds for it, or that it cannot be given.
_LOW = r"(?<![\d.])(?:0?\.[0-4]\d{0,9}(?!\d)|[0-4]?\d(?:\.\d{1,9})? ?(?:%|percent\b))"
_WEAK = re.compile(
    rf"\b(?:probability|chance|likelihood|confiden\w{{1,3}}|odds|certainty)[^\w\n.]{{0,3}}(?:of |is |at )?{_LOW}|"
    rf"{_LOW} ?(?:probability|chance|likelihood|confiden|sure|certain|likely|probable)|"
    r"\b(?:cannot|can't|could not|unable to|not able to) (?:decide|tell|say|know|determine|conclude|answer|"
    r"be (?:decided|told|known|determined|sure))(?: (?:it|this|here|either way|for sure|with certainty))?"
    r"[^\w\n]{0,3}(?:$|[.;,)\n])|^ ?\((?:insufficient|not enough|unknown|undetermined|undecid\w{1,5}|unclear|unsure)\b",
    re.I,
)
# After an answer, anywhere: words that take it back and give no other.
_TAKEN_BACK = re.compile(
    r"\b(?:(?:just|only|was|am|i'm) (?:kidding|joking)|scratch that|strike that|never ?mind|take (?:it|that) back|"
    r"i lied|disregard (?:it|that|this|the above)|"
    r"(?:it's|it is|i meant?|make it|rather) (?:actually |really )?the (?:other|opposite)(?: one| answer| option)?)\b",
    re.I,
)
_EMPTY_ANSWER = re.compile(
    r"(?:^|\n)[^\w\n]{0,10}(?:(?:the|my|your|final|correct)\b[^\w\n]{0,3}){0,3}answer\b[^\w\n]{0,5}(?:is\b)?[^\w]*[:=][^\w]*$",
    re.I,
)
# Of "No.\nIdea" the first line is no answer.
_NO_SUCH = re.compile(r"\W*\w{1,20}(?: \w{1,20})?\W*")
_DENYING_LINE = re.compile(r"\W*(?:not|wrong|incorrect|false)\W*|.*\b(?:not|wrong|incorrect)\W*:\W*", re.I)
_DENIED_AFTER = re.compile(r"\W*(?:(?:is|was|would be) )?(?:not|wrong|incorrect|false)\W*", re.I)
_LISTED_OPTION = re.compile(r"\b(?:option|choice|label) [a-z\d]\b", re.I)
_BUT = re.compile(r"\b(?:but|or|could|might|may|maybe|perhaps|unless|otherwise|else|if)\b", re.I)
_CONCLUSION = re.compile(
    r"\b(?:therefore|thus|hence|so|consequently|accordingly|conclude|conclusion|overall|ultimately|finally|in summary|"
    r"(?<!should )(?<!shall )(?:i|we)(?: would| will|'ll|'d)? "
    r"(?:choose|pick|select|predict|answer|say|go with|expect|think|believe)|"
    r"going with|based on|it follows|as a result|in the end|(?:answer|verdict|prediction|conclusion) ?(?=:))\b",
    re.I,
)
_CLAUSE = re.compile(r"[.!?;:,\n—]|\b(?:so|therefore|thus|hence|consequently|but|because|and)\b", re.I)
_SENTENCE = re.compile(r"[.!?;\n]|\b(?:so|therefore|thus|hence|consequently)\b", re.I)
_SENTENCE_END = re.compile(r"(?<!\d)[.!?]+(?=[ \n')\]]|$)")
# What may follow a stated answer: the end of a phrase, or a reason.
_AFTER = re.compile(
    r"[^\w\n?/|❌✗✘]*(?:$|\n)|[ ')\]}>\\]*(?:\.(?! ?of\b|[\w/])|!(?!=)|[,;:(—]|-\s|"
    r"(?:because|since|given|due|based|with|by|as|not|rather|from)\b)",
    re.I,
)
_NEAR = 300  # characters of context that are looked at around a statement
_LONGEST_LINE = 200  # characters of a line that is nothing but an answer


@dataclass(frozen=True)
class _Phrases:
    """The patterns of some options: a label; one as the options spell it; and an answer in each form."""

    options: tuple[str, ...]
    label: re.Pattern[str]
    exact: re.Pattern[str]
    bare: re.Pattern[str]
    marked: re.Pattern[str]
    first: re.Pattern[str]
    likelier: re.Pattern[str]
    retracted: re.Pattern[str]
    denied: re.Pattern[str]
    echoed: re.Pattern[str]

    def index(self, label: str) -> int:
        return [option.casefold() for option in self.options].index(label.casefold())

    def alone(self, line: str) -> re.Match[str] | None:
        """The label of a line that is nothing but an answer; a box to be ticked and a heading are none."""
        return (
            self.bare.fullmatch(line)
            if len(line) <= _LONGEST_LINE
            and not ("[ ]" in line or line.rstrip()[-1:] == ":" or _LISTED_OPTION.search(line) or _ASKS.match(line))
            else None
        )

    def labels(self, text: str) -> set[int]:
        return {self.index(match[0]) for match in self.label.finditer(text)}


@lru_cache(maxsize=64)
def _phrases(options: tuple[str, ...]) -> _Phrases:
    words = {option.lower() for option in options if isinstance(option, str) and re.fullmatch("[A-Za-z0-9]+", option)}
    if len(options) < 2 or len(words) < len(options):
        raise ValueError(f"options must be two or more different words of ASCII letters and digits, got {options!r}")
    one = "(?:" + "|".join(sorted(options, key=len, reverse=True)) + ")"
    label = rf"(?<!\w)(?<!\w['-]){one}(?!\w)(?!['-]\w)"
    gap = r"[^\w?!¬≠~❌✗✘/|]*"
    filler = rf"(?:{_FILLER}(?![\w'-]){gap})"
    marker = rf"(?<![\w-]){_NOUN}[')\]]*(?: ?\([^()\n]{{0,80}}\)[')]*)?"
    about = r"(?: (?:to|for|of|in|here|about)(?: (?!is\b|if\b|whether\b)[\w'-]{1,40}){0,10}?)?"
    is_not = r" (?:is not|isn't|cannot be|can't be|must not be|should not be|shouldn't be)\b"
    whose = r"(?P<whose> (?:that )?(?:i|we)(?: (?:would|will|can|shall|want to|have to)|'d|'ll)? (?:give|choose|pick))?"
    link = rf" ?(?::|=+>?|[-—]+>|→|[—]|- |\n{{1,2}})|'s\b|{is_not}|(?: is| must be| should be| has to be)\b:?"
    before = rf"[^\w?]{{0,20}}(?:(?:{_FILLER}|not|never)\b[^\w?]{{0,10}}){{0,5}}"
    return _Phrases(
        options=options,
        label=re.compile(label, re.I),
        exact=re.compile(label),
        bare=re.compile(rf"{gap}{filler}{{0,10}}(?P<label>{label})[^\w?/|❌✗✘]*", re.I),
        marked=re.compile(rf"{marker}{about}{whose}(?:{link}){before}(?P<label>{label})", re.I),
        first=re.compile(rf"{gap}(?P<label>{label})(?:[ ')\]]*[.!](?=\s+(?!of\b)\D)|,? (?:because|since|as)\b)"),
        likelier=re.compile(
            rf"(?i:{gap}{filler}{{0,10}})(?P<label>{label}) (?:is|seems) (?:the )?(?:much )?"
            r"(?:(?:more|most) (?:likely|probable)|correct|right|answer)(?: (?:answer|outcome|option|one))?[^\w?]*"
        ),
        retracted=re.compile(
            r"\b(?:wait|actually|correction|edit|sorry|however|but|scratch that|on second thought|on reflection|"
            rf"i meant?|or (?:rather|maybe|perhaps))\b{gap}{filler}{{0,6}}(?P<label>{label})[ ')\]]*(?=$|[\n.!,;])",
            re.I,
        ),
        denied=re.compile(
            rf"(?:\bnot|\bnever|\bcannot|n't|\bnon|!=?|[¬≠])[ -]*{filler}{{0,3}}(?P<label>{label})", re.I
        ),
        echoed=re.compile(
            rf"{label}[^\w.!?\n]*(?:(?:or|and|vs|versus|but|maybe|perhaps|then)\b[^\w.!?\n]*)?{label}", re.I
        ),
    )


def _read(text: str, phrases: _Phrases, is_enclosed: bool) -> Choice | Unparsed:
    enclosed, rest = ([], text) if is_enclosed else _enclosed(text, phrases)
    rest = _plain(rest)
    statements = [*enclosed, *_lines(rest, phrases), *_marked(rest, phrases), *_sentences(rest, phrases)]
    statements += _retracted(rest, statements, phrases)
    answers = {s.option for s in statements if s.kind in (_Kind.STATED, _Kind.LISTED)}
    is_stated = any(s.kind is _Kind.STATED for s in statements)
    if fault := _first_fault(statements, answers, is_stated, phrases) or _last_fault(statements, is_stated):
        return fault
    if is_stated and not is_enclosed and _EMPTY_ANSWER.search(_plain(text[-_NEAR:])):
        said = 'the reply ends with an empty "Answer:"; allowed is an answer after it'
        return Unparsed(Reason.UNFINISHED, said)
    if is_stated:
        (option,) = answers
        return Choice(option, phrases.options[option])
    return _explain(rest, phrases)


def _retracted(text: str, statements: Sequence[_Statement], phrases: _Phrases) -> list[_Statement]:
    """What replaces the last stated answer, or takes it back: "Wait, actually NO", "Just kidding"."""
    stated = [statement for statement in statements if statement.kind is _Kind.STATED]
    if not stated:
        return []
    last = max(stated, key=lambda statement: statement.place)
    found = phrases.retracted.finditer(text, last.place)
    replaced = [_Statement(match.start("label"), _Kind.LISTED, phrases.index(match["label"])) for match in found]
    match = _TAKEN_BACK.search(text, last.place)
    return [*replaced, _Statement(match.start(), _Kind.DENIED, last.option)] if match else replaced


def _first_fault(
    statements: Sequence[_Statement], answers: set[int], is_stated: bool, phrases: _Phrases
) -> Unparsed | None:
    """What makes a reply unreadable wherever it stands: a key twice, two answers, an answer that is taken back."""
    for statement in statements:
        if statement.fault is not None and statement.fault.reason is Reason.DUPLICATE_KEY:
            return statement.fault
    names = " and ".join(phrases.options[option] for option in sorted(answers))
    if is_stated and len(answers) > 1:
        return Unparsed(Reason.SEVERAL_ANSWERS, f"the reply answers {names}; allowed is one answer")
    if is_stated and answers & {s.option for s in statements if s.kind is _Kind.DENIED}:
        return Unparsed(Reason.SEVERAL_ANSWERS, f"the reply answers {names} and takes it back; allowed is one answer")
    return None


def _last_fault(statements: Sequence[_Statement], is_stated: bool) -> Unparsed | None:
    """The fault of the last statement, if it has one that counts: a box without any label is no answer, and no harm."""
    for statement in sorted(statements, key=lambda statement: statement.place, reverse=True):
        if statement.kind is _Kind.STATED:
            return None
        if statement.fault is not None and not (is_stated and statement.fault.reason in _HARMLESS):
            return statement.fault
    return None


_HARMLESS = (Reason.EMPTY, Reason.NO_ANSWER, Reason.PART_OF_A_WORD)


# What a reply writes around words: markdown, quotes, mathematics.
_DECORATION = str.maketrans(dict.fromkeys('*`"“”„«»#$', " "))


def _plain(text: str) -> str:
    """The text without fences and decoration; every place stays where it is."""
    text = re.sub(r"(?m)^ ?```\w*[ ]?$", lambda match: " " * len(match[0]), text)
    text = re.sub(r"(?m)^[ >]+", lambda match: " " * len(match[0]), text)
    text = text.translate(_DECORATION)
    return re.sub(r"(?<![^\W_])_+|_+(?![^\W_])", lambda match: " " * len(match[0]), text)


def _lines(text: str, phrases: _Phrases) -> Iterator[_Statement]:
    """Lines that are nothing but an answer: the first and the last line state it."""
    place, numbered = 0, []
    for line in text.split("\n"):
        if re.search(r"\w", line):
            numbered.append((place, line))
        place += len(line) + 1
    for i, (start, line) in enumerate(numbered):
        match = phrases.alone(line)
        if match is not None:
            kind = _Kind.STATED if i in (0, len(numbered) - 1) else _Kind.LISTED
            if kind is _Kind.STATED and not phrases.marked.search(line) and _is_undecided(match["label"], i, numbered):
                kind = _Kind.LISTED
            if (i and _denies(numbered[i - 1][1])) or (i + 1 < len(numbered) and _is_denial(numbered[i + 1][1])):
                kind = _Kind.DENIED
            yield _Statement(start + match.start("label"), kind, phrases.index(match["label"]))


def _is_undecided(label: str, i: int, lines: Sequence[tuple[int, str]]) -> bool:
    """Whether the line before or after a label makes it no answer: "It is not clear", or "no" before "idea"."""
    before = lines[i - 1][1] if i else ""
    if _leaves_open(before):
        return True
    after = lines[i + 1][1] if i + 2 == len(lines) else ""
    return label.casefold() == "no" and len(after) <= _LONGEST_LINE and _NO_SUCH.fullmatch(after) is not None


def _leaves_open(line: str) -> bool:
    """Whether a line leaves the answer open."""
    return len(line) <= _LONGEST_LINE and _UNDECIDED_LINE.fullmatch(line) is not None


def _denies(line: str) -> bool:
    """Whether a line denies the one after it."""
    return len(line) <= _LONGEST_LINE and _DENYING_LINE.fullmatch(line) is not None


def _is_denial(line: str) -> bool:
    """Whether a line denies the one before it."""
    return len(line) <= _LONGEST_LINE and _DENIED_AFTER.fullmatch(line) is not None


_LISTS = re.compile(
    r"\b(?:two|both|possible|allowed|valid) (?:\w+ )?answers\b", re.I
)  # what follows is all that may be said


# Before "answer I would give", words that make it one of several, or a question.
_INDEFINITE = re.compile(r"\b(?:which|what|an|any|one|some)\b", re.I)


def _marked(text: str, phrases: _Phrases) -> Iterator[_Statement]:
    """Answers after a word that says so: "Answer: X", "the answer is X"."""
    for match in phrases.marked.finditer(text):
        option, place = phrases.index(match["label"]), match.start("label")
        before, after = text[max(0, match.start() - _NEAR) : match.start()], text[match.end() : match.end() + _NEAR]
        clause = _tail(before, _CLAUSE)
        said = clause + re.sub(r"\([^()]*\)", "", match[0])
        if _CONDITION.search(_tail(before, _SENTENCE)) or any(p.search(clause) for p in (_HEDGE, _OTHERS)):
            continue
        if _EXAMPLE.search(before) or _ASKS.match(clause) or _is_weak(match["label"], after):
            continue
        if _LISTS.search(said) or (match["whose"] and _INDEFINITE.search(clause)):
            continue
        if _NEGATION.search(said):
            yield _Statement(place, _Kind.DENIED, option)
        elif _is_left_open(match["label"], after, option, phrases):
            yield _Statement(place, _Kind.OPEN, fault=_echo(phrases))
        elif _AFTER.match(after) and not re.match(r"[ ,;(]*(?:(?:if|unless|only|provided|assuming)\b|\?)", after, re.I):
            yield _Statement(place, _Kind.STATED, option)


def _is_left_open(label: str, after: str, option: int, phrases: _Phrases) -> bool:
    """Whether the sentence goes on with another option, beside this one or as a reservation."""
    sentence = re.split(r"[.!?\n]", re.sub(r"\([^()\n]{0,80}\)", "", after), maxsplit=1)[0]
    if not phrases.labels(sentence) - {option}:
        return False
    return phrases.echoed.match(label + sentence) is not None or _BUT.search(sentence) is not None


def _is_weak(label: str, after: str) -> bool:
    """Whether the sentence that gives an answer goes on to say that it is unlikely, or none; or counts: "No. 5"."""
    sentence = _SENTENCE_END.split(after, maxsplit=1)[0].split("\n")[0]
    return _WEAK.search(sentence) is not None or (label.casefold() == "no" and re.match(r"\. ?\d", after) is not None)


def _tail(text: str, pattern: re.Pattern[str]) -> str:
    """What follows the last match of `pattern`."""
    end = 0
    for match in pattern.finditer(text):
        end = match.end()
    return text[end:]


def _sentences(text: str, phrases: _Phrases) -> Iterator[_Statement]:
    """A first sentence that is a label, and a last sentence that concludes with one."""
    match = phrases.first.match(text)
    if match and not (match["label"].casefold() == "no" and _NO_SUCH.fullmatch(text, match.end(), match.end() + _NEAR)):
        yield _Statement(match.start("label"), _Kind.STATED, phrases.index(match["label"]))
    start, last = _last_sentence(text)
    for match in phrases.denied.finditer(last):
        yield _Statement(start + match.start("label"), _Kind.DENIED, phrases.index(match["label"]))
    if len(phrases.labels(last)) != 1 or re.search(r"\?\W*$", last):
        return
    match = phrases.alone(last) or phrases.likelier.fullmatch(last)
    if match is not None and (phrases.marked.search(last) or not _leaves_open(_line_before(text, start))):
        yield _Statement(start + match.start("label"), _Kind.STATED, phrases.index(match["label"]))
    for match in phrases.exact.finditer(last):
        ends = not re.search(r"[\w/|❌✗✘]", last[match.end() :])
        concluded = list(_CONCLUSION.finditer(last[: match.start()]))
        if ends and concluded:
            before, said = last[: concluded[-1].start()], last[concluded[-1].start() : match.start()]
            if _EXAMPLE.search(before) or _OTHERS.search(_tail(before, _CLAUSE)) or _ASKS.match(said):
                continue
            if not any(pattern.search(said) for pattern in (_NEGATION, _REJECTION, _HEDGE, _CONDITION)):
                yield _Statement(start + match.start(), _Kind.STATED, phrases.index(match[0]))


def _line_before(text: str, place: int) -> str:
    """The last line with a word that ends before the line or sentence at `place`; "" if that is far, or none."""
    lines = text[max(0, place - _NEAR) : place].rstrip().rsplit("\n", maxsplit=1)
    return lines[-1]


def _last_sentence(text: str) -> tuple[int, str]:
    """Where the last sentence with a word begins, and the sentence."""
    end = len(text.rstrip())
    start = max(text.rfind("\n", 0, end) + 1, end - 2000)
    for match in _SENTENCE_END.finditer(text, start, end):
        if re.search(r"\w", text[match.end() : end]):
            start = match.end()
    return start, text[start:end]


_TAG = re.compile(r"<(?:final_)?answer>([^<]*)(?:</(?:final_)?answer>|$)", re.I)
_BOX = re.compile(r"\\f?boxed ?\{ ?(?:\\(?:text|textbf|textit|mathrm|mathbf|texttt|mbox) ?\{)?([^{}\n]{0,200})\}{1,2}")
_ANSWER_KEYS = ("answer", "final_answer")


def _enclosed(text: str, phrases: _Phrases) -> tuple[list[_Statement], str]:
    """The answers in tags, boxes and JSON objects, and the text with line breaks in their place."""
    statements: list[_Statement] = []
    pieces, place = [], 0
    for start, end, inner in sorted(_enclosures(text), key=lambda piece: piece[:2]):
        if start < place:
            continue
        pieces += [text[place:start], "\n" * (end - start)]
        place = end
        found = inner if isinstance(inner, Unparsed) else _read(inner, phrases, is_enclosed=True)
        if isinstance(found, Choice):
            statements.append(_Statement(start, _Kind.STATED, found.index))
        else:
            statements.append(_Statement(start, _Kind.OPEN, fault=found))
    return statements, "".join([*pieces, text[place:]])


def _enclosures(text: str) -> Iterator[tuple[int, int, str | Unparsed]]:
    for pattern in (_TAG, _BOX):
        for match in pattern.finditer(text):
            yield match.start(), match.end(), match[1]
    if not any(f'"{key}"' in text for key in _ANSWER_KEYS):
        return
    for found in find_json(text):
        if found.fault is not None and found.fault.kind == "duplicate key":
            yield found.start, found.end, json_fault(found.fault)
        if isinstance(found.value, dict):
            values = [found.value[key] for key in _ANSWER_KEYS if key in found.value]
            if values:
                yield found.start, found.end, _text_of(values)
            elif any(f'"{key}"' in text[found.start : found.end] for key in _ANSWER_KEYS):
                said = 'the JSON object has no field "answer" of its own; allowed is an object that has one'
                yield found.start, found.end, Unparsed(Reason.WRONG_FIELDS, said)


def _text_of(values: list[Any]) -> str | Unparsed:
    """What the answer fields of an object say."""
    value = next((value for value in values if not isinstance(value, str)), None)
    if not all(isinstance(value, str) for value in values):
        said = f"the answer in JSON is {reprlib.repr(value)}; allowed is one of the options, as a string"
        return Unparsed(Reason.WRONG_TYPE, said)
    return "\n".join(f"Answer: {value}" for value in values) if len(values) > 1 else values[0]


def _echo(phrases: _Phrases) -> Unparsed:
    options = " or ".join(phrases.options)
    return Unparsed(Reason.OPTIONS_ECHOED, f"the reply names the options beside each other; allowed is one: {options}")


def _explain(text: str, phrases: _Phrases) -> Unparsed:
    """Why a text states no answer."""
    options = " or ".join(phrases.options)
    allowed = f'allowed is {options}, alone on the last line or after "Answer:"'
    named = [phrases.options[option] for option in sorted(phrases.labels(text))]
    if not named:
        inside = [option for option in phrases.options if option.lower() in text.lower()]
        if inside:
            return Unparsed(
                Reason.PART_OF_A_WORD, f"the reply has {inside[0]} only as a part of other words; {allowed}"
            )
        return Unparsed(Reason.NO_ANSWER, f"the reply names no option; {allowed}")
    if any(len(phrases.labels(match[0])) > 1 for match in phrases.echoed.finditer(text)):
        return _echo(phrases)
    if match := phrases.denied.search(text):
        denied = phrases.options[phrases.index(match["label"])]
        return Unparsed(Reason.NEGATED, f"the reply says what the answer is not ({denied}); {allowed}")
    only = "names" if len(named) == 1 else "weighs"
    return Unparsed(Reason.NOT_CONCLUDED, f"the reply {only} {' and '.join(named)} without concluding; {allowed}")


def json_fault(fault: JsonError) -> Unparsed:
    """The refusal of a reply whose JSON cannot be taken."""
    return Unparsed(_FAULTS[fault.kind], str(fault))


def read_matrix(reply: Any, shape: tuple[int, int], key: str = "prediction") -> Matrix | Unparsed:
    """The matrix that a reply gives as its answer.

    It is JSON: an object with the field `key`, or an array of rows, alone, in a fence, or in a text. Where a text has
    objects with that field, they count and other arrays do not; all that count must be equal. A list of rows, or a
    mapping with the field, will do as well as text.

    Args:
        reply: Text, a list of rows, or a mapping.
        shape: Rows and columns.
        key: The field's name.
    """
    if isinstance(reply, Mapping):
        return _matrix_of(reply[key], shape, key) if key in reply else _no_matrix(shape, key)
    if hasattr(reply, "tolist"):
        reply = reply.tolist()
    if isinstance(reply, (list, tuple)):
        return _matrix_of(reply, shape, key)
    text = last_words(reply)
    if isinstance(text, Unparsed):
        return text
    found = _matrices(text, key)
    if not found:
        return _no_matrix(shape, key)
    if found[-1].fault is not None:
        return json_fault(found[-1].fault)
    values = [one.value for one in found if one.fault is None]
    if any(value != values[0] for value in values):
        said = f"the reply has {len(values)} matrices that differ; allowed is one"
        return Unparsed(Reason.SEVERAL_ANSWERS, said)
    return _matrix_of(values[0], shape, key)


def _matrices(text: str, key: str) -> list[Found]:
    """What counts as the answer: the values of `key`, or else the whole text if it is JSON, or else its matrices."""
    found = find_json(text)
    named = [one for one in found if _is_named(one, text, key)]
    if named:
        return [one if one.fault else Found(one.start, one.end, one.value[key]) for one in named]
    matrices = [one for one in found if text[one.start] == "["]
    if matrices:
        return matrices
    lines = [line for line in text.strip().split("\n") if not line.startswith("```")]
    whole = "\n".join(lines).strip().strip("`")
    if whole[:1] in ("[", "{", '"') or re.fullmatch(r"[-+\w.]{1,40}", whole):
        try:
            value = read_json(whole)
        except JsonError as fault:
            return [Found(0, len(text), fault=fault)] if whole[0] in "[{" else []
        return [] if isinstance(value, dict) else [Found(0, len(text), value)]
    return []


def _is_named(found: Found, text: str, key: str) -> bool:
    if found.fault is None:
        return isinstance(found.value, dict) and key in found.value
    return text[found.start] == "{" and f'"{key}"' in text[found.start : found.start + _NEAR]


def _no_matrix(shape: tuple[int, int], key: str) -> Unparsed:
    return Unparsed(Reason.NO_ANSWER, f"the reply has no matrix; {_allowed(shape, key)}")


def _allowed(shape: tuple[int, int], key: str) -> str:
    return f'allowed is JSON like {{"{key}": [[...], ...]}} with {shape[0]} rows of {shape[1]} numbers'


def _matrix_of(value: Any, shape: tuple[int, int], key: str) -> Matrix | Unparsed:
    allowed = _allowed(shape, key)
    if not isinstance(value, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in value):
        is_flat = isinstance(value, (list, tuple)) and not any(isinstance(row, (list, tuple)) for row in value)
        what = f"a list of {len(value)} entries that are no rows" if is_flat else reprlib.repr(value)
        return Unparsed(Reason.WRONG_SHAPE, f"{key} is {what}; {allowed}")
    for i, row in enumerate(value):
        for j, entry in enumerate(row):
            if fault := _entry_fault(entry, f"{key}[{i}][{j}]"):
                return fault
    widths = {len(row) for row in value}
    if len(widths) > 1:
        return Unparsed(Reason.RAGGED, f"{key} has rows of {min(widths)} to {max(widths)} entries; {allowed}")
    found = (len(value), widths.pop() if widths else 0)
    if found == shape:
        return Matrix(tuple(tuple(float(entry) for entry in row) for row in value))
    size = f"{found[0]} row{'s' * (found[0] != 1)} of {found[1]} number{'s' * (found[1] != 1)}"
    if found == shape[::-1]:
        return Unparsed(Reason.TRANSPOSED, f"{key} has {size}, transposed; {allowed}")
    return Unparsed(Reason.WRONG_SHAPE, f"{key} has {size}; {allowed}")


def _entry_fault(entry: Any, place: str) -> Unparsed | None:
    """Why an entry of a matrix is no finite number, or None."""
    if isinstance(entry, bool) or not isinstance(entry, (int, float)):
        what = "a list" if isinstance(entry, (list, tuple)) else reprlib.repr(entry)
        return Unparsed(Reason.NOT_A_NUMBER, f"{place} is {what} of type {type(entry).__name__}; allowed are numbers")
    if not abs(entry) <= sys.float_info.max:
        return Unparsed(Reason.NOT_FINITE, f"{place} is not finite; allowed are finite numbers")
    return None
