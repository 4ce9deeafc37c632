"""Whether a rendering of a world's history says what the payload says, no less and no more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

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
from veilgym.envs.core.remarks import check_options, check_remark, is_named, meanings_of, sentences_of, told_of
from veilgym.envs.core.wording import Token, has, word_set
from veilgym.envs.dynamic_world.grammar import EVENT_FORMS, FLAGS, Observation, Query, WorldEvent, WorldPayload

QUERY = "Q"
"""What the line of the query may begin with."""

# A relation's words stand between the two names; X above Y puts X higher, X below Y puts Y higher.
_RELATIONS = {
    "above": "above|over|higher than|superior to|senior to|ahead of|atop|on top of|more urgent than|"
    "of higher priority than|outranks|outranked|ranks over|ranked over|surpasses|surpassed|overtops|overtopped|"
    "looks down on|taller than",
    "below": "below|under|beneath|underneath|lower than|inferior to|junior to|behind|less urgent than|"
    "of lower priority than|outranked by|surpassed by|overtopped by|subordinate to|shorter than",
    "member": "member of|a member of|among the members of|enrolled in|on the roll of|entered in|listed in|"
    "classed in|filed in|assigned to|an element of|joined|joins|belongs to|belonged to|admitted to|enlisted in|"
    "registered in",
    "has member": "joined by|admitted|admits|enrolled|enrols|enlisted|took in|has as a member|gained as a member",
    "inside": "subset of|a subset of|part of|a part of|a section of|a division of|a subclass of|contained in|"
    "included in|wholly inside|inside|within|nested in|a branch of|a subgroup of|falls within|lies within|"
    "encompassed by",
    "contains": "contains|contained|includes|included|superset of|a superset of|an enclosing class of|encloses|"
    "enclosed|enlarged by the whole of|extended by the whole of|encompasses|encompassed|has as a part",
    "disjoint": "disjoint from|disjoint|entirely separate from|entirely distinct from|without any overlap with|"
    "without a common element with|without a single vessel in common with|without a single patient in common with|"
    "shares no member with|shares no members with|share no member|share no members|has no member in common with|"
    "has no members in common with|have no member in common|have no members in common|has nothing in common with|"
    "does not overlap|do not overlap|does not overlap with|has no overlap with|mutually exclusive with|"
    "mutually exclusive",
    "connected": "connected|connected to|connected with|linked|linked to|linked with|wired to|paired with|tied to|"
    "joined by a tube to|in radio contact with|in contact with|joined to|coupled to|coupled with|bridged to|bound to",
    "plus": "plus|increased by|rose by|climbed by|grew by|went up by|was raised by|raised by|was credited with|"
    "credited with|gained|gains|added|adds|rises by|grows by|increases by|goes up by|up by",
    "minus": "minus|decreased by|fell by|dropped by|shrank by|went down by|was lowered by|lowered by|"
    "was debited with|debited with|lost|loses|subtracted|falls by|drops by|shrinks by|decreases by|goes down by|"
    "down by|reduced by",
}
_CLASSES = {
    **_RELATIONS,
    "moved": "moved|moves|move|carried|left|leaves|brought|sailed|sails|came|comes|put out|transfer|transferred|"
    "taken|went|goes|travelled|travels|walked|walks|relocated|shifted|departed|departs|set out|crossed|sent|ran|"
    "flew|rode",
    "origin": "from|left|leaves|leaving|out of|departed|departing",
    "destination": "to|for|into|over to|entered|entering|reached|reaching|arrived at|arrived in|arriving at|"
    "arriving in",
    "place": "in|at|on|within",
    "place of": "zone of|region of|location of|place of|the zone of|the region of|the location of|the place of",
    "article": "the|a|an|its|value|the value|a value of|the number|exactly|,|:|=|(|\"|'|"
    "\N{LEFT DOUBLE QUOTATION MARK}|\N{RIGHT DOUBLE QUOTATION MARK}",
    "before": "from|was|were|previously|formerly|instead of|after|it was|had been|which is|had|held|starting at|"
    "originally",
    "after": "to|now|is now|now stands at|now holds|now reads|now shows|becomes|became|read|reads|set to|making|"
    "making it|giving|ends at|ended at|reaching|up to|down to|stands at|totals",
    "true": "true|on|raised|ticked|set|yes|up|lit|enabled",
    "false": "false|off|lowered|crossed out|unset|cleared|down|unlit|disabled",
    "time": "step|time|day|hour|minute|tick|moment|t|at step|at time|on day|as of step|as of time|by step|by time",
    "ending": "no longer|ceased|stopped being|resigned|expelled|removed|former|disconnected|unlinked|dissolved|"
    "revoked|cancelled|withdrawn|withdrew|almost|quit|until|back|returned|returns|was reset|long ago|ex|"
    "stops being|dropped out|ended|ends|ending|expired|lapsed|soon",
    # What may stand between the names beside the words above.
    "plain": "and|is|are|has|be|been|being|that|by|of|with|then|next|here|round|out|lies|found|"
    "noted|seen|judged|ranked|recorded|reported|reports|stands|marked|observed|declared|test|decided|turns|"
    "records above|entries above|events above|facts above|bed|anchor|berthed|checked|comparison|holds|points|;|-|)|.",
    "question": "?|whether|which|decide|does it hold|is it true|is it so|can one say",
    # Of the query alone: it takes for granted what it asks, or answers itself.
    "granted": "why|how come|when did|given that|as everyone|everyone knows|as we know|right|surely|indeed|of course|"
    "clearly|obviously|as it was recorded|it does|it is so|it holds|it is still so|still so|say so|it would be so",
    "world hidden": "hidden|latent|level|levels|gold|ground truth|rule|rules|program|mechanism|transition|"
    "transitions|proof",
}
_LEXICON = lexicon_of(_CLASSES)
# The words that tell what an option means.
_MEANINGS = word_set(
    "a an and as at by case does hold holds if in is it mean means not of otherwise so that the then this time to "
    "true was when statement question asked answer"
)
# What our own prose has on lines of records beside what every family may say.
_SCENERY = word_set(
    "sealed active changes changed signal box wrote harbour master compared settled doctor saw definition owners "
    "agreed inspection radio room balance confirmed turned since"
)
# Of introductions alone.
_INTRODUCING = word_set(
    "balance began begins begun bench benches beside bond book boxes cabinet cabinets call carries class classes "
    "collection counter counters entities everything first fleet fleets flies further gauge gauges happened higher "
    "how initial larger ledgers logged lower marks node nodes observations opened other port ports rank ranking "
    "ranks reference regions register registers s scale share shipping signals since smaller tells things urgency "
    "vessel vessels wards zone zones"
)
# By these a line before the records could speak of the question, and the question of what is recorded of it.
_OF_QUESTION = word_set("question statement last final end query answer reply conclusion guess")
_FINDING = word_set(
    "show shows shown see seen find finds found report reports reported recorded evidence are there so while told "
    "observer"
)
_DENYING = word_set("not otherwise false")
_ORDINARY = frozenset({"ordinary"})
_WORDING = {
    **{name: code for name, code in EVIDENCE_WORDING.items() if name != "hidden"},
    "ending": Code.NEGATED,
    "world hidden": Code.FORBIDDEN_TERM,
}
_QUERY_WORDING = {
    **{name: code for name, code in _WORDING.items() if name not in ("answer", "hedge")},
    "granted": Code.QUERY_ASSERTED,
}
# By relation or kind: the words that say it with the first participant first, and with the second one first.
_DIRECTIONS: dict[str, tuple[str, str]] = {
    "ABOVE": ("above", "below"),
    "MEMBER": ("member", "has member"),
    "SUBSET": ("inside", "contains"),
    "DISJOINT": ("disjoint", "disjoint"),
    "CONNECTED": ("connected", "connected"),
}
_ALLOWED = {
    **{relation: set(words) for relation, words in _DIRECTIONS.items()},
    "UPDATE_NUMBER": {"plus", "minus"},
    "LOCATED_IN": {"contains"},
}
_OF_BOTH = {"within": {"ABOVE", "LOCATED_IN"}, "inside": {"ABOVE", "LOCATED_IN"}}  # words about places as well
_KINDS = {form.relation or form.kind for form in EVENT_FORMS}


def check(payload: WorldPayload, text: str, names: Mapping[str, str]) -> list[Fault]:
    """The faults of a rendering, in the order of its lines; none if it is faithful.

    Each initial fact and each event must stand on a line that begins with its id and has, of all names, those of its
    participants once each, with words for its relation that tell the direction by the order of mention; of numbers
    those of the record, and its time on all lines of events or on none. A flag is called by its own name. The question
    is asked after the last event, with the two options side by side in the payload's order.

    Args:
        payload: What was rendered.
        text: The whole problem.
        names: The name of each symbol.
    """
    records: list[Observation | WorldEvent] = [*payload.initial_observations, *payload.events]
    ids = [record.id for record in records]
    options = tuple(payload.answer_options)
    faults = check_names(names, payload.entity_types, (), {*map(str.lower, options), "not", "never", *FLAGS})
    if faults:
        return faults
    labels: dict[str, str] = {option: option for option in options}
    page = read_page(text, ids, names, labels, _LEXICON, optional=(QUERY,))
    has_time = [
        _check_record(record, page.evidence[record.id], faults) for record in records if record.id in page.evidence
    ]
    if 0 < sum(has_time) < sum(isinstance(record, WorldEvent) and record.id in page.evidence for record in records):
        faults.append(Fault(Code.NUMBER_MISSING, "", "the time stands on some lines of events but not on all"))
    asked = _find_query(page.evidence.get(QUERY), page.other, payload.query)
    if asked is None:
        faults.append(Fault(Code.QUERY_MISSING, QUERY, "no line after the last event asks about both arguments"))
    else:
        after = [tokens for is_after, tokens in page.other if is_after]
        faults += _check_query(payload.query, asked, after, options)
        for tokens in after:
            faults += _check_remark(tokens, options) if tokens is not asked else ()
    other = [tokens for _, tokens in page.other if tokens is not asked]
    for is_after, tokens in page.other:
        if tokens is not asked:
            faults += _check_other(tokens, payload.query)
            faults += _check_introduction(tokens, options) if not is_after else ()
    faults += check_options((options[0], options[1]), asked or [], other, QUERY)
    places = {name: place for place, name in enumerate(ids)}
    return sorted(page.faults + faults, key=lambda fault: places.get(fault.id, len(ids)))


def _check_record(record: Observation | WorldEvent, tokens: list[Token], faults: list[Fault]) -> bool:
    """Check the line of a fact or an event; return whether it states the time."""
    report = reporter(faults, record.id)
    check_wording(tokens, report, _WORDING)
    check_known(tokens, report, _SCENERY)
    for sentence in sentences_of(tokens):
        is_time = all(
            token.kind in ("number", "mark") or has(token, "time") or token.text == "at" for token in sentence
        )
        if not is_time and not is_named(sentence):
            report(Code.WORDING_UNKNOWN, f"{words_of(sentence)!r} names nothing")
    if any(has(token, "question") for token in tokens):
        report(Code.RELATION_MISSING, "the line asks something")
    for token in tokens:
        if token.kind == "label":
            report(Code.LABEL_EXTRA, f"the line has the answer {token.text}")
    if isinstance(record, Observation):
        _check_observation(record, tokens, report)
        return False
    kind = str(record.arguments.get("relation", record.kind))
    if not _check_participants(record.participants, tokens, report):
        return _check_time(record, tokens, report)
    _check_between(tokens, report)
    _check_kind(kind, tokens, report)
    if kind in _DIRECTIONS:
        _check_direction(kind, record.participants[0], record.participants[1], tokens, report)
    elif kind == "MOVE":
        _check_move(record, tokens, report)
    elif kind == "SET_STATE":
        _check_state(record, tokens, report)
    else:
        return _check_update(record, tokens, report)
    return _check_time(record, tokens, report)


def _check_between(tokens: Sequence[Token], report: Report) -> None:
    """Check that all words between the names are known: a word that is not could turn the relation round."""
    named = [place for place, token in enumerate(tokens) if token.kind == "name"]
    for token in tokens[named[0] : named[-1]] if named else ():
        if token.kind == "word" or token.value == _ORDINARY:
            report(Code.WORDING_UNKNOWN, f"{token.text!r} between two names is no wording that is known")


def _check_participants(participants: Sequence[str], tokens: Sequence[Token], report: Report) -> bool:
    named = [token.value for token in tokens if token.kind == "name"]
    for symbol in dict.fromkeys(participants):
        if symbol not in named:
            report(Code.PARTICIPANT_MISSING, f"{symbol} is not named")
    for symbol in dict.fromkeys(named):
        if named.count(symbol) > list(participants).count(symbol):
            report(Code.PARTICIPANT_EXTRA, f"{symbol} is named {named.count(symbol)} times")
    return sorted(named) == sorted(participants)


def _check_kind(kind: str, tokens: Sequence[Token], report: Report) -> None:
    """Report words for other relations than the line's."""
    allowed = _ALLOWED.get(kind, set())
    for token, following in pairwise([*tokens, Token("mark", "")]):
        if token.kind != "phrase" or kind in _OF_BOTH.get(token.text, ()):
            continue
        strong = token.value & _RELATIONS.keys()
        is_sign = kind == "SET_STATE" and token.value & {"true", "false"}
        if strong and not strong & allowed and not is_sign and following.kind != "number":
            report(Code.RELATION_EXTRA, f"{token.text!r} is of another relation than {kind}")


def _check_direction(kind: str, first: str, second: str, tokens: list[Token], report: Report) -> None:
    """Check that the words between two names say that the first has the relation to the second."""
    forward, backward = _DIRECTIONS[kind]
    at = {token.value: place for place, token in enumerate(tokens) if token.kind == "name"}
    start, end = sorted((at[first], at[second]))
    said = [place for place, token in enumerate(tokens) if _is_of(kind, token, forward, backward)]
    if not said:
        report(Code.RELATION_MISSING, f"no words for {kind} that are known")
        return
    between = [place for place in said if start < place < end]
    if any(token.kind == "name" for token in tokens[said[0] + 1 : end]):
        report(Code.DIRECTION_UNCLEAR, f"a third name before the second one of {kind}: {words_of(tokens)!r}")
        return
    is_symmetric = forward == backward
    if len(said) > 1 or (not between and not is_symmetric):
        report(
            Code.DIRECTION_UNCLEAR, f"the words for {kind} do not stand once between the names: {words_of(tokens)!r}"
        )
        return
    if is_symmetric:
        return
    if any(token.text == "by" for token in tokens[start:end]):
        report(Code.DIRECTION_UNCLEAR, f"'by' between the names: {words_of(tokens)!r}")
    elif has(tokens[said[0]], forward) != (at[first] < at[second]):
        report(Code.DIRECTION, f"the line has {kind} from {second} to {first}, not from {first} to {second}")


def _is_of(kind: str, token: Token, *classes: str) -> bool:
    about_place = kind in _OF_BOTH.get(token.text, ())
    return not about_place and any(has(token, name) for name in classes)


def _before(tokens: Sequence[Token], place: int) -> Token | None:
    """The last token before `place` that is no article."""
    while place > 0:
        place -= 1
        if not (has(tokens[place], "article") or tokens[place].text in "\"',:=("):
            return tokens[place]
    return None


def _check_move(event: WorldEvent, tokens: list[Token], report: Report) -> None:
    if not any(has(token, "moved") for token in tokens):
        report(Code.RELATION_MISSING, "no words for a move that are known")
    at = {token.value: place for place, token in enumerate(tokens) if token.kind == "name"}
    ends = (("origin", "destination"), ("destination", "origin"))
    for end, other in ends:
        before = _before(tokens, at[str(event.arguments[end])])
        if before is not None and has(before, other) and not has(before, end):
            report(Code.DIRECTION, f"the {end} {event.arguments[end]} is told as the {other}")
        elif before is None or not has(before, end):
            report(Code.DIRECTION_UNCLEAR, f"nothing right before {event.arguments[end]} says that it is the {end}")


def _check_state(event: WorldEvent, tokens: list[Token], report: Report) -> None:
    flag = str(event.arguments["flag"])
    named = [token.text for token in tokens if token.text in FLAGS]
    if named != [flag]:
        code = Code.RELATION_EXTRA if [name for name in named if name != flag] else Code.RELATION_MISSING
        report(code, f"the line names {', '.join(named) or 'no flag'}, not {flag} once")
    said: dict[str, list[bool]] = {"before": [], "after": []}
    for place, token in enumerate(tokens):
        is_state = has(token, "true") or has(token, "false")
        if is_state and (role := _role(tokens, place)):
            said[role].append(has(token, "true"))
    expected = {role: [event.arguments[role]] for role in said}
    if said == expected:
        return
    is_clear = all(len(values) == 1 for values in said.values())
    code = Code.DIRECTION if is_clear else Code.DIRECTION_UNCLEAR
    report(code, f"the states before and after read {said['before']} and {said['after']}")


def _role(tokens: Sequence[Token], place: int) -> str:
    """Whether a value is one before or after a change, by the words right before it; "" if these do not tell."""
    before = _before(tokens, place)
    if before is None:
        return ""
    if has(before, "after"):
        return "after"
    return "before" if has(before, "before") else ""


def _check_update(event: WorldEvent, tokens: list[Token], report: Report) -> bool:
    expected = {name: int(event.arguments[name]) for name in ("amount", "before", "after")}
    right, wrong = ("plus", "minus") if event.arguments["operator"] == "ADD" else ("minus", "plus")
    signs = [has(token, right) for token in tokens if has(token, right) or has(token, wrong)]
    if not signs:
        report(Code.RELATION_MISSING, "no words for adding or subtracting that are known")
    elif len(signs) > 1:
        report(Code.DIRECTION_UNCLEAR, "more than one word for adding or subtracting")
    elif not signs[0]:
        report(Code.DIRECTION, f"the line has {wrong} for {event.arguments['operator']}")
    said: dict[str, list[int]] = {"amount": [], "before": [], "after": [], "time": []}
    for place, token in enumerate(tokens):
        if token.kind == "number":
            role = _number_role(tokens, place)
            if not role:
                report(Code.NUMBER_UNCLEAR, f"it is not clear what {token.text} is: {words_of(tokens)!r}")
            else:
                said[role].append(token.value)
    _report_numbers(said, {**expected, "time": event.time}, report)
    return bool(said["time"])


def _report_numbers(said: Mapping[str, Sequence[int]], expected: Mapping[str, int], report: Report) -> None:
    for role, values in said.items():
        if not values and role != "time":
            report(Code.NUMBER_MISSING, f"the {role} {expected[role]} is missing")
        elif len(values) > 1:
            report(Code.NUMBER_EXTRA, f"the {role} is told {len(values)} times")
        elif values and values[0] != expected[role]:
            report(Code.NUMBER_WRONG, f"the {role} is {values[0]} instead of {expected[role]}")


def _number_role(tokens: Sequence[Token], place: int) -> str:
    before = _before(tokens, place)
    following = tokens[place + 1] if place + 1 < len(tokens) else Token("mark", "")
    if before is None:  # the number that the line begins with
        return "time"
    if has(before, "time"):
        return "time"
    if has(before, "plus") or has(before, "minus"):
        return "amount"
    if has(following, "plus") or has(following, "minus") or before.kind == "name":
        return "before"
    return _role(tokens, place)


def _check_time(event: WorldEvent, tokens: Sequence[Token], report: Report) -> bool:
    """Check that no number but the time stands on a line; return whether it does."""
    numbers = [token.value for token in tokens if token.kind == "number"]
    for value in numbers:
        if value != event.time:
            report(Code.NUMBER_WRONG, f"the number {value} is not the time {event.time}")
    if len(numbers) > 1:
        report(Code.NUMBER_EXTRA, f"{len(numbers)} numbers on the line")
    return bool(numbers)


def _check_observation(fact: Observation, tokens: list[Token], report: Report) -> None:
    name, value = fact.arguments
    participants = [name] if fact.relation == "EQUAL" else [name, str(value)]
    numbers = [token.value for token in tokens if token.kind == "number"]
    expected = [value] if fact.relation == "EQUAL" else []
    for number in numbers:
        if number not in expected:
            report(Code.NUMBER_WRONG if expected else Code.NUMBER_EXTRA, f"the number {number} is not in the fact")
    if expected and not numbers:
        report(Code.NUMBER_MISSING, f"the value {value} is missing")
    if len(numbers) > 1:
        report(Code.NUMBER_EXTRA, f"{len(numbers)} numbers on the line")
    is_complete = _check_participants(participants, tokens, report)
    _check_kind(fact.relation, tokens, report)
    if is_complete and fact.relation == "LOCATED_IN":
        _check_between(tokens, report)
        _check_place(name, str(value), tokens, report)


def _check_place(name: str, region: str, tokens: list[Token], report: Report) -> None:
    """Check that the words say that `name` is in `region`, not the reverse."""
    at = {token.value: place for place, token in enumerate(tokens) if token.kind == "name"}
    before_name, before_region = _before(tokens, at[name]), _before(tokens, at[region])
    between = tokens[min(at.values()) + 1 : max(at.values())]
    contains = any(has(token, "contains") for token in between)
    is_in = before_region is not None and has(before_region, "place")
    is_its = before_name is not None and has(before_name, "place of")
    if (before_name is not None and has(before_name, "place")) or (contains and at[name] < at[region]):
        report(Code.DIRECTION, f"{region} is told to be in {name}")
    elif contains + is_in + is_its != 1:
        report(Code.RELATION_MISSING, f"no words that say that {name} is in {region}")


def _find_query(
    marked: list[Token] | None, other: Sequence[tuple[bool, list[Token]]], query: Query
) -> list[Token] | None:
    """The line of the query: the one that is marked as such, else the one after the events with both arguments."""
    if marked is not None:
        return marked
    found = [tokens for is_after, tokens in other if is_after and _names_all(tokens, query.arguments)]
    return found[0] if found else None


def _names_all(tokens: Sequence[Token], symbols: Sequence[str]) -> bool:
    named = [token.value for token in tokens if token.kind == "name"]
    return all(symbol in named for symbol in symbols)


def _check_query(
    query: Query, tokens: list[Token], after: Sequence[Sequence[Token]], options: Sequence[str]
) -> list[Fault]:
    faults: list[Fault] = []
    report = reporter(faults, QUERY)
    told = told_of(tokens)
    for sentence in sentences_of(tokens):
        if not is_named(sentence) and words_of(sentence) != "question :":
            _check_remark_words(sentence, options, report)
    check_wording(told, report, _QUERY_WORDING)
    check_known(told, report)
    for token in told:
        if not has(token, "question") and _FINDING.intersection(token.text.split()) and token.kind != "name":
            report(Code.QUERY_ASSERTED, f"{token.text!r} in the question")
    if _check_participants(query.arguments, tokens, report):
        _check_kind(query.predicate, told, report)
        _check_direction(query.predicate, *query.arguments, tokens, report)
    _check_option_words(tokens, options, report)
    for token in tokens:
        if token.kind == "number" and token.value != query.time:
            report(Code.NUMBER_WRONG, f"the number {token.text} is not the time {query.time}")
    if not any(has(token, "question") for line in (tokens, *after) for token in line):
        report(Code.QUERY_ASSERTED, "nothing is asked")
    return faults


def _check_remark(tokens: Sequence[Token], options: Sequence[str]) -> list[Fault]:
    """Check a line after the last event that is not the query's: it may say how to answer, and nothing else."""
    faults: list[Fault] = []
    report = reporter(faults, "")
    _check_remark_words(tokens, options, report)
    for sentence in sentences_of(tokens):
        asks = any(has(token, "question") or token.kind == "label" for token in sentence)
        for token in sentence if not asks else ():
            if has(token, "granted"):
                report(Code.QUERY_ASSERTED, f"{token.text!r} on a line after the events")
    _check_option_words(tokens, options, report)
    return faults


def _check_remark_words(tokens: Sequence[Token], options: Sequence[str], report: Report) -> None:
    check_remark(tokens, report, Code.QUERY_ASSERTED, _MEANINGS)
    for label, words in meanings_of(tokens):
        if bool(_DENYING.intersection(words)) != (label == options[-1]):
            report(Code.QUERY_ASSERTED, f"{label} does not mean {' '.join(words)!r}")


def _check_option_words(tokens: Sequence[Token], options: Sequence[str], report: Report) -> None:
    for token in tokens:
        if token.kind != "label" and token.text.upper() in options:
            report(Code.ANSWER_GIVEN, f"{token.text!r} in {words_of(tokens)!r} is no label; labels keep their capitals")


def _check_introduction(tokens: Sequence[Token], options: Sequence[str]) -> list[Fault]:
    """Check a line before the records: it may explain words, but say nothing of the question or of its options."""
    faults: list[Fault] = []
    report = reporter(faults, "")
    _check_option_words(tokens, options, report)
    for sentence in sentences_of(tokens):
        if any(token.kind == "label" for token in sentence):
            _check_remark_words(sentence, options, report)
        elif not is_named(sentence):
            check_known(sentence, report, _INTRODUCING)
            for token in sentence:
                if token.kind in ("word", "phrase") and _OF_QUESTION.intersection(token.text.split()):
                    report(Code.ANSWER_GIVEN, f"{token.text!r} in {words_of(sentence)!r}, before what is recorded")
    return faults


def _check_other(tokens: list[Token], query: Query) -> Iterator[Fault]:
    """Check a line of no record: it may introduce names and explain words, but say nothing of what is named."""
    named = [token for token in tokens if token.kind == "name"]
    if not named:
        return
    if {token.value for token in named} == set(query.arguments):
        yield Fault(
            Code.QUERY_ASSERTED, "", f"a line without an id has just the names asked about: {words_of(tokens)!r}"
        )
    for token in tokens:
        classes = token.value if token.kind == "phrase" else ()
        if any(name in _RELATIONS or name == "moved" for name in classes):
            code = Code.QUERY_ASSERTED if _names_all(tokens, query.arguments) else Code.STRAY_EVIDENCE
            yield Fault(code, "", f"{token.text!r} beside {named[0].text!r} on a line without an id")
        elif token.kind == "label":
            yield Fault(Code.ANSWER_GIVEN, "", f"{token.text} beside {named[0].text!r}")
        elif "law" in classes:
            yield Fault(Code.LAW_CLAIMED, "", f"{token.text!r} beside {named[0].text!r}")
        elif "probability" in classes:
            yield Fault(Code.PROBABILITY_GIVEN, "", f"{token.text!r} beside {named[0].text!r}")
        elif "world hidden" in classes:
            yield Fault(Code.FORBIDDEN_TERM, "", f"{token.text!r} beside {named[0].text!r}")
