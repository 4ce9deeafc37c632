"""Whether a rendering of a hidden system's histories says what the payload says, no less and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from veilgym.envs.core.fidelity import (
    EVIDENCE_WORDING,
    Code,
    Fault,
    Report,
    check_known,
    check_names,
    check_wording,
    lexicon_of,
    read_page,
    reporter,
    words_of,
)
from veilgym.envs.core.remarks import (
    check_options,
    check_remark,
    is_asked,
    is_named,
    meanings_of,
    sentences_of,
    told_of,
)
from veilgym.envs.core.wording import Token, has, split, word_set
from veilgym.envs.hidden_system.grammar import BehaviorCase, BehaviorPayload

_CLASSES = {
    # Between two events; an event that is named later happened later.
    "link": "then|and|and then|next|followed by|afterwards|after that|after which|afterward|finally|lastly|"
    "subsequently|later|came|the|a|an|was|were|is|it|got|by|step|event|applied|performed|done|given|took place|"
    "happened|occurred|carried out|,|;|>|->|=>|\N{RIGHTWARDS ARROW}|first|second|third|fourth|fifth|sixth|seventh|"
    "eighth|ninth|tenth|next came",
    "inversion": "from the end|to the beginning|to the start|to the front|back to front|in reverse|end to start|"
    "before|preceded|preceded by|prior to|previously|earlier|beforehand|backwards|backward|"
    "last to first|right to left|simultaneously|at once|at the same time|together with|in any order|random order",
    # Between an attribute and its level.
    "setting": "=|:|(|is|was|at|of|set|set to|set at|level|value|equal to|equals|held at|kept at|fixed at|stood at|"
    "standing at|reading|reads|read",
    "trial": "trial|trials|run|runs|repeat|repeats|repetition|repetitions|replicate|replicates|time|times|attempt|"
    "attempts|test|tests|patient|patients|consignment|consignments|sample|samples|shipment|shipments|batch|batches|"
    "subject|subjects|experiment|experiments|independent|total|in total|in all",
    "whole": "of|out of|all|total|n|n =|of the|of all|in all|across",
    "question": "?|which|whether|predict|decide|choose|what",
    "outcome": "present|absent",
    "either outcome": "present or absent|absent or present|present or is absent|absent or is present",
    "subject": "it consists of|it undergoes|it is to|it executes|it includes|it has",
    "initial": "start|starts|started|starting|begin|begins|began|beginning|initially|anew|afresh|admission|booking",
    "first": "first",
    "further": "second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth",
    "last": "last|the last|lastly|finally",
    # Of the query alone.
    "unknown": "not known|not examined|not inspected|not determined|not measured|not recorded|unknown",
}
_LEXICON = lexicon_of(_CLASSES)
# By these the line of the query could say what comes of it.
_REFERRING = word_set(
    "it they them he she there here so sign band tag theta grey yellow record outcome outcomes result results "
    "finding findings see seen find finds found show shows shown observe observes observed expect note notes noted "
    "likely end ends ended ending same again more once"
)
# The words of a sentence which says that this is not known.
_WITHHELD = word_set(
    "the a an is was are has have been be yet of for this such and sign band tag theta grey yellow record outcome "
    "result run trial patient consignment sample"
)
# A history has been, once.
_UNREAL = word_set("suppose think expect predict plan planned likely will again when")
# A record by its place, as an introduction may name that of the query.
_RECORDS = word_set("entry case line note trial run record patient consignment one sample question")
# Of introductions alone.
_INTRODUCING = word_set("admitted affect affects alike change copy examines other pages repeated shipping stay whole")
# What comes of a trial.
_COMING = word_set("sign band tag theta outcome outcomes result results trace record")
# What a sentence begins with that says how to reply.
_REQUESTS = word_set(
    "choose pick select go take say reply answer respond expect predict state give write end tell think note please"
)
_QUERY_WORDING = {k: v for k, v in EVIDENCE_WORDING.items() if k not in ("probability", "answer", "hedge")}
_TO_LEVEL, _TO_TRIALS = 4, 3  # how many words may stand between


def check(payload: BehaviorPayload, text: str, names: Mapping[str, str]) -> list[Fault]:
    """The faults of a rendering, in the order of its lines; none if it is faithful.

    Each support case, and the query, must stand on a line that begins with its id: its events by their names and in
    their order, each attribute by its name and then its level; a case also with its trials and with how many of them
    ended with each label. The two options stand side by side in the payload's order, with a question.

    Args:
        payload: What was rendered.
        text: The whole problem.
        names: The name of each event and attribute; that of a label, if it has another one.
    """
    options = payload.answer_options
    ids = [case.id for case in payload.support_cases] + [payload.query_case.id]
    symbols = [*payload.event_vocabulary, *payload.attribute_vocabulary]
    reserved = {word.lower() for word in (*options, *ids)} | {"not", "no", "never"}
    faults = check_names(names, symbols, options, reserved - {names.get(option, "").lower() for option in options})
    if faults:
        return faults
    labels = {option: option for option in options} | {names.get(option, option): option for option in options}
    page = read_page(text, ids, {name: names[name] for name in symbols}, labels, _LEXICON)
    for case in payload.support_cases:
        if tokens := page.evidence.get(case.id):
            faults += _check_case(case, tokens, payload)
    other = [tokens for _, tokens in page.other]
    for is_after, tokens in page.other:
        faults += _check_other(tokens, payload, names, is_after)
    asked = page.evidence.get(payload.query_case.id)
    if asked is not None:
        after = [tokens for is_after, tokens in page.other if is_after]
        faults += _check_query(payload.query_case, asked, after, payload)
        faults += check_options(options, asked, other, payload.query_case.id)
        faults += _check_meanings([asked, *other])
    else:
        faults.append(Fault(Code.QUERY_MISSING, payload.query_case.id, "there is no line of the query"))
    places = {name: place for place, name in enumerate(ids)}
    return sorted(page.faults + faults, key=lambda fault: places.get(fault.id, len(ids)))


def _check_case(case: BehaviorCase, tokens: list[Token], payload: BehaviorPayload) -> list[Fault]:
    faults: list[Fault] = []
    report = reporter(faults, case.id)
    tokens = [_as_label(token) for token in tokens]
    check_wording(tokens, report, EVIDENCE_WORDING)
    levels = _check_settings(case, tokens, payload, report)
    _check_events(case, tokens, payload, report)
    check_known(tokens, report)
    for token in tokens:
        if token.text in _UNREAL:
            report(Code.HEDGED, f"{token.text!r} in a history")
    rest = [(place, token) for place, token in enumerate(tokens) if token.kind in ("number", "label")]
    _check_counts(case, tokens, [(place, token) for place, token in rest if place not in levels], report)
    for token in tokens:
        if has(token, "question"):
            report(Code.LABEL_EXTRA, f"{token.text!r} is a question, not a history")
        elif has(token, "unknown"):
            report(Code.NEGATED, f"{token.text!r} in a history")
    return faults


def _as_label(token: Token) -> Token:
    """In a history a label may be a word of the sentence: present."""
    return Token("label", token.text, token.text.upper()) if has(token, "outcome") else token


def _check_settings(case: BehaviorCase, tokens: list[Token], payload: BehaviorPayload, report: Report) -> set[int]:
    """Check each attribute and its level; return where the levels stand."""
    places: set[int] = set()
    mentions = [(i, token.value) for i, token in enumerate(tokens) if _is_name(token, payload.attribute_vocabulary)]
    for name, level in case.attributes.items():
        found = [place for place, value in mentions if value == name]
        if len(found) != 1:
            code = Code.PARTICIPANT_EXTRA if found else Code.PARTICIPANT_MISSING
            report(code, f"the attribute {name} is named {len(found)} times instead of once")
        for place in found:
            at = _level_after(tokens, place)
            if at is None:
                report(Code.NUMBER_UNCLEAR, f"no level stands right after the name of {name}")
                continue
            places.add(at)
            if tokens[at].value != level:
                report(Code.NUMBER_WRONG, f"{name} is {tokens[at].text} instead of {level}")
    return places


def _level_after(tokens: Sequence[Token], place: int) -> int | None:
    for at in range(place + 1, min(place + 2 + _TO_LEVEL, len(tokens))):
        if tokens[at].kind == "number":
            return at
        if not has(tokens[at], "setting"):
            return None
    return None


def _is_name(token: Token, symbols: object) -> bool:
    return token.kind == "name" and token.value in symbols  # type: ignore[operator]


def _check_events(case: BehaviorCase, tokens: list[Token], payload: BehaviorPayload, report: Report) -> None:
    mentions = [i for i, token in enumerate(tokens) if _is_name(token, payload.event_vocabulary)]
    named = [tokens[place].value for place in mentions]
    if named != list(case.events):
        if sorted(named) == sorted(case.events):
            report(Code.EVENT_ORDER, f"the events are {', '.join(named)} instead of {', '.join(case.events)}")
        for name in payload.event_vocabulary:
            lacking = case.events.count(name) - named.count(name)
            if lacking > 0:
                report(Code.PARTICIPANT_MISSING, f"the event {name} is named {named.count(name)} times")
            elif lacking < 0:
                report(Code.PARTICIPANT_EXTRA, f"the event {name} is named {named.count(name)} times")
    for start, end in pairwise(mentions):
        unknown = [token for token in tokens[start + 1 : end] if not has(token, "link")]
        if unknown:
            report(Code.EVENT_ORDER_UNCLEAR, f"'{words_of(tokens[start + 1 : end])}' between two events")
    if len(mentions) > 1:
        _check_ordinals(tokens, mentions, report)
    for token in tokens:
        if has(token, "inversion"):
            report(Code.EVENT_ORDER_UNCLEAR, f"{token.text!r} may turn the order of events round")


def _check_ordinals(tokens: Sequence[Token], mentions: Sequence[int], report: Report) -> None:
    """Check that words that number the events stand where the order of names bears them out."""
    first, second, before_last = mentions[0], mentions[1], mentions[-2]
    for place, token in enumerate(tokens):
        is_odd = (
            (has(token, "first") and place > second)
            or (has(token, "further") and place < first)
            or (has(token, "last") and place < before_last)
        )
        if is_odd:
            report(Code.EVENT_ORDER_UNCLEAR, f"{token.text!r} where it does not number the event beside it")


def _check_counts(case: BehaviorCase, tokens: list[Token], marks: list[tuple[int, Token]], report: Report) -> None:
    """Check trials and counts; `marks` are the labels and the numbers that are no levels, with their places."""
    numbers = [token.value for _, token in marks if token.kind == "number"]
    expected = case.trials, case.observed_present, case.observed_absent
    for value in dict.fromkeys(expected):
        if value not in numbers:
            report(Code.NUMBER_MISSING, f"the number {value} is missing")
    for value in dict.fromkeys(numbers):
        if value not in expected:
            report(Code.NUMBER_EXTRA, f"the number {value} is none of the case's")
    labels = sorted(token.value for _, token in marks if token.kind == "label")
    if labels != ["ABSENT", "PRESENT"]:
        is_short = len(set(labels)) < 2
        code = Code.LABEL_MISSING if is_short else Code.LABEL_EXTRA
        report(code, f"the labels on the line are {', '.join(labels) or 'none'}, not PRESENT and ABSENT once each")
        return
    readings = set(_readings(tokens, marks))
    if not readings:
        report(Code.NUMBER_UNCLEAR, "it is not clear which numbers are the trials and the two counts")
    elif expected not in readings:
        report(Code.NUMBER_WRONG, f"trials, PRESENT and ABSENT read {sorted(readings)[0]} instead of {expected}")
    elif len(readings) > 1:
        report(Code.NUMBER_UNCLEAR, "trials and counts can be read in two ways")


def _readings(tokens: list[Token], marks: list[tuple[int, Token]]) -> Iterator[tuple[int, int, int]]:
    """Every way to take two numbers as the counts of the two labels and the others as the trials."""
    places = [place for place, token in marks if token.kind == "number"]
    if not 3 <= len(places) <= 4:
        return
    for counts in combinations(places, 2):
        rest = [place for place in places if place not in counts]
        totals = {tokens[place].value for place in rest}
        if len(totals) > 1 or not all(_is_total(tokens, place) for place in rest):
            continue
        order = [token for place, token in marks if token.kind == "label" or place in counts]
        kinds = [token.kind == "label" for token in order]
        if kinds not in ([True, False, True, False], [False, True, False, True]):
            continue
        first, second = (order[0:2], order[2:4]) if kinds[0] else (order[1::-1], order[3:1:-1])
        of_label = {first[0].value: first[1].value, second[0].value: second[1].value}
        (total,) = totals
        if sum(of_label.values()) == total:
            yield total, of_label["PRESENT"], of_label["ABSENT"]


def _is_total(tokens: list[Token], place: int) -> bool:
    """Whether the number at `place` is marked as that of all trials: "48 trials", "of 48", "trials: 48"."""
    for token in tokens[place + 1 : place + 1 + _TO_TRIALS]:
        if has(token, "trial"):
            return True
        if token.kind in ("number", "label", "name", "mark"):
            break
    before = [token for token in tokens[max(0, place - 3) : place] if token.text not in ("the", ":", "=", "its")]
    return bool(before) and (has(before[-1], "whole") or has(before[-1], "trial"))


def _check_query(
    case: BehaviorCase, tokens: list[Token], after: Sequence[Sequence[Token]], payload: BehaviorPayload
) -> list[Fault]:
    faults: list[Fault] = []
    report = reporter(faults, case.id)
    told = told_of(tokens)
    check_wording(told, report, _QUERY_WORDING)
    levels = _check_settings(case, tokens, payload, report)
    _check_events(case, tokens, payload, report)
    check_known(told, report)
    for sentence in sentences_of(tokens):
        _check_silence(sentence, report)
    for place, token in enumerate(tokens):
        if token.kind == "number" and place not in levels:
            report(Code.NUMBER_EXTRA, f"the number {token.text} is none of the query's")
        if has(token, "outcome"):
            report(Code.QUERY_ASSERTED, f"{token.text!r} is no label; labels keep their capitals")
    if not any(has(token, "question") for line in (tokens, *after) for token in line):
        report(Code.QUERY_ASSERTED, "nothing is asked")
    return faults


def _check_silence(sentence: list[Token], report: Report) -> None:
    """Check that a sentence on the line of the query tells nothing of what comes of it."""
    words = [token for token in sentence if token.kind in ("word", "phrase") and token.text[0].isalpha()]
    if is_named(sentence):
        asked = next((i for i, token in enumerate(words) if is_asked(sentence) and has(token, "question")), len(words))
        told = [token for token in words[:asked] if not has(token, "subject")]
        extra = [token for token in told if _REFERRING.intersection(token.text.split())]
    elif any(has(token, "unknown") for token in sentence):
        told = [token for token in words if not has(token, "unknown")]
        extra = [token for token in told if not _WITHHELD.issuperset(token.text.split())]
    else:
        check_remark(sentence, report, Code.QUERY_ASSERTED)
        return
    for token in extra:
        report(Code.QUERY_ASSERTED, f"{token.text!r} in {words_of(sentence)!r} may say what comes of it")


def _check_meanings(lines: Sequence[Sequence[Token]]) -> Iterator[Fault]:
    """Check that the options are told to mean an outcome each, and the same but for which outcome it is."""
    other = {"present": "absent", "absent": "present"}
    told = [meaning for line in lines for meaning in meanings_of(line)]
    for (_, one), (label, another) in zip(told[::2], told[1::2], strict=False):
        if one != [other.get(word, word) for word in another] or not other.keys() & set(one):
            yield Fault(
                Code.ANSWER_GIVEN, "", f"the options differ in more than the outcome: {' '.join(another)!r} of {label}"
            )


def _check_other(
    tokens: list[Token], payload: BehaviorPayload, names: Mapping[str, str], is_after: bool
) -> list[Fault]:
    """Check a line that belongs to no case: it may introduce names and levels, and say what a trial is."""
    faults: list[Fault] = []
    report = reporter(faults, "")
    of_levels = _check_legend(tokens, payload, report)
    events = [token for token in tokens if _is_name(token, payload.event_vocabulary)]
    named = [token for token in tokens if token.kind == "name"]
    if is_after:
        check_remark(tokens, report, Code.ANSWER_GIVEN)
    else:
        for sentence in sentences_of(tokens):
            if any(token.kind == "label" for token in sentence) or sentence[0].text in _REQUESTS:
                check_remark(sentence, report, Code.ANSWER_GIVEN)
            else:
                _check_introduction(sentence, report)
    known = _known_numbers(payload)
    for place, token in enumerate(tokens):
        if token.kind == "odd number":
            report(Code.NUMBER_FORM, f"{token.text!r} in {words_of(tokens)!r}")
        elif token.kind == "number" and place not in of_levels and token.value not in known:
            report(Code.NUMBER_EXTRA, f"the number {token.text} is nowhere in the payload")
        elif token.text in ("flag", "flags", "gold", "latent", "ground truth") or _is_rule_id(token, names):
            report(Code.FORBIDDEN_TERM, f"{token.text!r} in {words_of(tokens)!r}")
        for name, code in (("law", Code.LAW_CLAIMED), ("hidden", Code.FORBIDDEN_TERM)):
            if named and has(token, name):
                report(code, f"{token.text!r} beside {named[0].text!r}")
        if (named or of_levels) and has(token, "probability"):
            report(Code.PROBABILITY_GIVEN, f"{token.text!r} beside a name")
        if events and (token.kind == "label" or has(token, "outcome") or has(token, "rounding")):
            report(Code.STRAY_EVIDENCE, f"{token.text!r} beside {events[0].text!r} on a line without an id")
    return faults


def _check_introduction(sentence: Sequence[Token], report: Report) -> None:
    """Check a sentence before the query: it may say how a trial begins, not how one ends or is likely to end."""
    check_known(sentence, report, _INTRODUCING)
    asks = any(has(token, "question") for token in sentence)
    said = [token for token in sentence if has(token, "outcome")]
    begins = any(has(token, "initial") for token in sentence) and not any(has(token, "last") for token in sentence)
    for token in said[1:] if begins else said:
        report(Code.ANSWER_GIVEN, f"{token.text!r} in {words_of(sentence)!r}")
    for token, following in pairwise(sentence):
        is_of_query = token.text in ("last", "the last", "final") and following.text in _RECORDS
        if is_of_query and not asks and not any(has(other, "negation") for other in sentence):
            report(Code.ANSWER_GIVEN, f"'{token.text} {following.text}' in {words_of(sentence)!r}, which asks nothing")
        if token.text in _COMING and not asks and not begins:
            report(Code.ANSWER_GIVEN, f"{token.text!r} in {words_of(sentence)!r}, which asks nothing")
    for token in sentence:
        if has(token, "probability") and not asks:
            report(Code.PROBABILITY_GIVEN, f"{token.text!r} in {words_of(sentence)!r}")
        elif has(token, "law") or has(token, "rounding"):
            report(Code.LAW_CLAIMED, f"{token.text!r} in {words_of(sentence)!r}")


def _check_legend(tokens: list[Token], payload: BehaviorPayload, report: Report) -> set[int]:
    """Check the levels that follow the name of an attribute; return where they stand."""
    places: set[int] = set()
    mentions = [i for i, token in enumerate(tokens) if token.kind == "name"]
    for start, end in pairwise([*mentions, len(tokens)]):
        name = tokens[start].value
        if name in payload.attribute_vocabulary:
            found = [place for place in range(start, end) if tokens[place].kind == "number"]
            values = [tokens[place].value for place in found]
            places.update(found)
            if values and values != list(payload.attribute_vocabulary[name]):
                report(Code.NUMBER_WRONG, f"the levels of {name} read {', '.join(map(str, values))}")
    return places


def _known_numbers(payload: BehaviorPayload) -> set[int]:
    """Numbers that an introduction may state: of cases, events, attributes, levels and trials."""
    counts = {len(payload.support_cases), len(payload.event_vocabulary), len(payload.attribute_vocabulary)}
    counts |= {len(payload.query_case.events), len(payload.answer_options), payload.complexity}
    counts |= {len(levels) for levels in payload.attribute_vocabulary.values()}
    return counts | {case.trials for case in payload.support_cases}


def _is_rule_id(token: Token, names: Mapping[str, str]) -> bool:
    is_one = token.kind == "word" and token.text[0] == "r" and token.text[1:].isdecimal()
    return is_one and all(token.text not in split(name) for name in names.values())
