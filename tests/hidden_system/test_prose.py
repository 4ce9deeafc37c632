"""Prose: it keeps everything, it says nothing more, and it can be read back."""

from __future__ import annotations

import itertools
import re
from collections import Counter

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from veilgym.envs.core.records import convert, to_json
from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
from veilgym.envs.hidden_system.grammar import BehaviorPayload
from veilgym.envs.hidden_system.prose import BY_NAME, SKINS, parse, render
from veilgym.envs.hidden_system.prose.names import with_article
from veilgym.envs.hidden_system.prose.series import ATTRIBUTE_STYLES, EVENT_STYLES

LENGTHS = range(4, 11)
PER_LENGTH = 40
# What a rendering must not declare, and what only the hidden half or the package knows of.
FORBIDDEN = re.compile(
    r"\b(cause|causes|caused|causing|because|prevent\w*|due to|leads? to|results? in|triggers?|triggered|therefore|"
    r"ensures?|always|never|certain\w*|probabilit\w+|chances?|percent|rate of|rules?|laws?|flags?|hidden|latent|gold|"
    r"veto\w*|invalid\w*|mechanisms?|program|seed|index|numpy|int\d+|array\(|None|True|False|hidden_system|E\d+|X\d+)\b"
    r"|%|\.\.\.|…"
)
often = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def skeletons():
    return {length: generate_skeletons(PER_LENGTH, length, seed=length) for length in LENGTHS}


@pytest.fixture(scope="module")
def payloads(skeletons):
    return {length: [renderer_payload(s) for s in skeletons[length]] for length in LENGTHS}


def payload_of(**changes):
    """A small payload by hand, with changes."""
    case = {"attributes": {"dose": -7, "age": 4}, "events": ["a"], "trials": 9}
    fields = {
        "family": "hidden_system",
        "complexity": 2,
        "event_vocabulary": ["a", "v", "s"],
        "attribute_vocabulary": {"dose": [-7, 0, 300], "age": [4]},
        "observation_protocol": {},
        "support_cases": [
            {**case, "id": "C1", "observed_present": 9, "observed_absent": 0},
            {**case, "id": "C2", "events": ["v", "a", "v"], "observed_present": 2, "observed_absent": 7},
            {**case, "id": "C3", "events": ["v", "s"], "trials": 1, "observed_present": 0, "observed_absent": 1},
        ],
        "query_case": {"id": "Q", "attributes": {"dose": 300, "age": 4}, "events": ["v", "s"]},
        "answer_options": ["ABSENT", "PRESENT"],
    }
    return convert({**fields, **changes}, BehaviorPayload, "payload field")


NAMES = st.text(min_size=1, max_size=5) | st.sampled_from(["record", "Q", "C1", "run", "the", "and then", "a b; c, d"])
IDS = st.text(st.characters(exclude_characters="[]", exclude_categories=["C", "Z"]), min_size=1, max_size=4)
LEVELS = st.integers(-5, 5) | st.integers(-(2**15), 2**15 - 1)


@st.composite
def any_payload(draw):
    """Any payload that may be rendered: other names, ids, levels, trials, repeated events, no attributes."""
    events = draw(st.lists(NAMES, min_size=1, max_size=7, unique=True))
    vocabulary = draw(
        st.dictionaries(NAMES, st.lists(LEVELS, min_size=1, max_size=4, unique=True).map(sorted), max_size=5)
    )
    *ids, query_id = draw(st.lists(IDS, min_size=2, max_size=12, unique=True))

    def case(name):
        levels = {attribute: draw(st.sampled_from(vocabulary[attribute])) for attribute in vocabulary}
        return {
            "id": name,
            "attributes": levels,
            "events": draw(st.lists(st.sampled_from(events), min_size=1, max_size=6)),
        }

    def counts():
        trials = draw(st.integers(1, 3) | st.integers(1, 2**15 - 1))
        present = draw(st.integers(0, trials))
        return {"trials": trials, "observed_present": present, "observed_absent": trials - present}

    query = case(query_id)
    document = {
        "family": "hidden_system",
        "complexity": len(set(query["events"])),
        "event_vocabulary": events,
        "attribute_vocabulary": vocabulary,
        "observation_protocol": {},
        "support_cases": [{**case(name), **counts()} for name in ids],
        "query_case": query,
        "answer_options": draw(st.permutations(["PRESENT", "ABSENT"])),
    }
    try:
        return convert(document, BehaviorPayload, "payload field")
    except ValueError as error:
        assume("than the query's" not in str(error))
        raise


def check_round_trip(payload, skin):
    rendering = render(payload, skin)
    again = parse(rendering.text, skin, rendering.names)
    assert again == payload
    assert to_json(again) == to_json(payload)
    return rendering


def case_lines(text):
    return {line[1 : line.index("]")]: line.partition("] ")[2] for line in text.split("\n") if line.startswith("[")}


def said_events(sentence, names):
    """The events of a sentence by where their names stand, found without the parser."""
    places = [(found.start(), symbol) for symbol, name in names for found in re.finditer(rf"\b{name}\b", sentence)]
    return [symbol for _, symbol in sorted(places)]


def said_counts(sentence):
    """The counts of a sentence by the words next to them, found without the parser."""
    counts = []
    for word in ("present", "absent"):
        after = re.search(rf"{word} (?:in|on|at the end of) (\d+)", sentence)
        owner = r"(?: of \d+ \w+)? (?:ended (?:up )?with|had|with) (?:the \w+ \w+|the record|it)"
        before = re.search(rf"(\d+){owner} {word}", sentence)
        assert (after is None) != (before is None), sentence
        counts.append(int((after or before)[1]))
    return tuple(counts)


def numbers(sentence):
    return [int(digits) for digits in re.findall(r"-?\d+", sentence.replace("->", "to"))]


@pytest.mark.parametrize("skin", SKINS)
@pytest.mark.parametrize("length", LENGTHS)
def test_parse__inverts_render(payloads, skin, length):
    for payload in payloads[length]:
        check_round_trip(payload, skin)


@often
@given(payload=any_payload())
def test_parse__inverts_render_for_any_payload(payload):
    for skin in SKINS:
        rendering = check_round_trip(payload, skin)
        symbols = {*payload.event_vocabulary, *payload.attribute_vocabulary}
        assert set(rendering.names) == symbols
        assert len(set(rendering.names.values())) == len(symbols)


@pytest.mark.parametrize("skin", SKINS)
@pytest.mark.parametrize("length", [4, 7, 10])
def test_render__keeps_everything_to_a_reader_who_does_not_know_the_forms(payloads, skin, length):
    for payload in payloads[length][:10]:
        rendering = render(payload, skin)
        lines, names = case_lines(rendering.text), rendering.names
        events = [(symbol, names[symbol]) for symbol in payload.event_vocabulary]
        cases = (*payload.support_cases, payload.query_case)
        assert list(lines) == [case.id for case in cases]
        for case in cases:
            sentence = lines[case.id]
            assert said_events(sentence, events) == list(case.events)
            for symbol, level in case.attributes.items():
                assert re.search(rf"\b{names[symbol]} (= )?{level}\b", sentence)
            counts = [case.trials, case.observed_present, case.observed_absent] if case.trials else []
            assert Counter(numbers(sentence)) == Counter([*case.attributes.values(), *counts])
            if case.trials:
                assert said_counts(sentence) == (case.observed_present, case.observed_absent)


@pytest.mark.parametrize("skin", SKINS)
def test_render__small_text_has_ids_labels_and_counts_where_they_belong(skin):
    payload = payload_of()
    text = render(payload, skin).text
    for name in ("C1", "C2", "C3", "Q"):
        assert len(re.findall(rf"\b{name}\b", text)) == 1
    assert re.findall(r"\b(PRESENT|ABSENT)\b", text) == ["ABSENT", "PRESENT"] * 2
    assert text.endswith('either "Answer: ABSENT" or "Answer: PRESENT".')
    flipped = render(msgspec.structs.replace(payload, answer_options=("PRESENT", "ABSENT")), skin).text
    assert re.findall(r"\b(PRESENT|ABSENT)\b", flipped) == ["PRESENT", "ABSENT"] * 2
    query = case_lines(text)["Q"]
    assert not re.search(r"\b(present|absent|was|were)\b", query)
    assert query.endswith("?")
    noun = BY_NAME[skin].trial
    assert re.search(rf"\b1 {noun}\b", case_lines(text)["C3"])
    assert re.search(rf"\b9 {noun}s\b", case_lines(text)["C1"])
    assert numbers(case_lines(text)["C1"]).count(9) == 2  # of 9 trials 9: not a statement without counts


@pytest.mark.parametrize("skin", SKINS)
def test_render__ids_come_once_and_in_order(payloads, skin):
    for length in LENGTHS:
        text = render(payloads[length][0], skin).text
        ids = re.findall(r"\b(?:C\d+|Q)\b", text)
        assert ids == [*(case.id for case in payloads[length][0].support_cases), "Q"]
        assert text.count("[") == text.count("]") == len(ids)


@pytest.mark.parametrize("skin", SKINS)
def test_render__declares_nothing(payloads, skin):
    for length in LENGTHS:
        for payload in payloads[length][:5]:
            text = render(payload, skin).text
            assert not FORBIDDEN.search(text), FORBIDDEN.search(text)
            assert text.isascii()


@pytest.mark.parametrize("skin", SKINS)
def test_render__grammar(payloads, skin):
    """Articles agree with the next letter, nouns with their number, sentences begin and end as they should."""
    words = BY_NAME[skin]
    for length in LENGTHS:
        for payload in payloads[length][:5]:
            lines = render(payload, skin).text.split("\n")
            text = "\n".join(lines)
            assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]|  | [,.;:]|,,|\.\.| \n|\n ", text)
            assert not re.search(rf"\b1 {words.trials}\b|\b(?!1 )\d+ {words.trial}\b", text)
            assert all(line[-1] in ".:?" and line.removeprefix("[")[0].isupper() for line in lines if line)
            assert all(sentence[0].isupper() for sentence in case_lines(text).values())


def test_render__tells_what_the_protocol_says():
    """Each skin says that trials are independent, what is fixed, what comes in order, and what is counted."""
    for words in BY_NAME.values():
        protocol = " ".join(words.protocol)
        assert re.search(rf"no {words.trial} affects another", protocol)
        assert re.search(rf"the {words.outcome} is absent\b", protocol)
        assert "in the order in which they are written" in protocol
        assert re.search("fixed (before|on|at)", protocol)
        assert re.search(f"After the last .* whether the {words.outcome} is present or absent", protocol)
        assert "counts" in protocol
        assert FORBIDDEN.search(protocol) is None


@pytest.mark.parametrize("skin", SKINS)
def test_render__uses_every_form(payloads, skin):
    words = BY_NAME[skin]
    everything = [
        line for length in LENGTHS for p in payloads[length] for line in case_lines(render(p, skin).text).items()
    ]
    support = Counter(line.partition(" ")[0] for name, line in everything if name != "Q")
    queries = Counter(line.partition(" ")[0] for name, line in everything if name == "Q")
    assert set(support) == {form.first for form in words.forms}
    assert set(queries) == {form.first for form in words.query_forms}
    assert len(words.forms) >= 5
    assert len(words.query_forms) >= 3
    assert min(support.values()) > 0.9 * sum(support.values()) / len(support)
    texts = [render(payload_of(attribute_vocabulary={}, **bare(k)), skin).text for k in range(40)]
    assert {line.partition(" ")[0] for text in texts for name, line in case_lines(text).items() if name != "Q"} == {
        form.first for form in words.bare_forms
    }
    assert {case_lines(text)["Q"].partition(" ")[0] for text in texts} == {f.first for f in words.bare_query_forms}


def bare(k):
    """Cases without attributes, with a count that differs from k to k."""
    case = {
        "id": "C1",
        "attributes": {},
        "events": ["a"],
        "trials": 50,
        "observed_present": k,
        "observed_absent": 50 - k,
    }
    return {"support_cases": [case], "query_case": {"id": "Q", "attributes": {}, "events": ["v", "s"]}}


@pytest.mark.parametrize("skin", SKINS)
def test_render__is_a_function_of_the_payload(skin):
    """Equal payloads have equal texts, whatever the order of their mappings; other payloads have other names."""
    payload = payload_of()
    turned = payload_of(attribute_vocabulary={"age": [4], "dose": [-7, 0, 300]})
    assert list(turned.attribute_vocabulary) != list(payload.attribute_vocabulary)
    assert render(turned, skin) == render(payload, skin) == render(payload_of(), skin)
    others = [render(payload_of(attribute_vocabulary={}, **bare(k)), skin).names["a"] for k in range(30)]
    assert len(set(others)) > 10


def test_render__says_the_same_in_any_process():
    """A text as it was when this test was written."""
    assert render(payload_of(), "technical").text == GOLDEN


@pytest.mark.parametrize("skin", SKINS)
def test_render__does_not_depend_on_the_hidden_half(skeletons, skin):
    for one, other in itertools.pairwise(skeletons[4][:12]):
        public = {field: getattr(one, field) for field in BehaviorPayload.__struct_fields__}
        hidden = {f: getattr(other, f) for f in other.__struct_fields__ if f not in BehaviorPayload.__struct_fields__}
        mixed = type(one)(**public, **hidden)
        assert render(renderer_payload(mixed), skin) == render(renderer_payload(one), skin)
    with pytest.raises(ValueError, match="payload must be a BehaviorPayload, got BehaviorSkeleton"):
        render(skeletons[4][0], skin)


@pytest.mark.parametrize("skin", SKINS)
def test_names__of_the_pools_cannot_be_confused(skin):
    words = BY_NAME[skin]
    pool = [*words.events, *words.attributes]
    assert len(words.events) >= 40
    assert len(words.attributes) >= 30
    known = [*pool, words.outcome, words.trial]
    assert not [(a, b) for a in known for b in known if a != b and a in b]
    assert len(set(pool)) == len(pool)
    assert all(re.fullmatch("[a-z]+( [a-z]+)*", name) for name in pool)
    event_words, attribute_words = (
        {word for name in part for word in name.split()} for part in (words.events, words.attributes)
    )
    assert not event_words & attribute_words
    hints = "present|absent|add|set|remov|delet|eras|clear|reset|cancel|stop|mark|tag|label|print|stain|seal|stamp"
    assert not [name for name in pool if re.search(rf"\b({hints})", name)]
    # "a" and "an" go by the letter, so no name may begin with a letter that misleads.
    assert not [name for name in words.events if re.match(r"u|eu|one|hour|honest|heir", name)]
    joints = [
        s
        for style in (*EVENT_STYLES.values(), *ATTRIBUTE_STYLES.values())
        for s in (style.pair, style.inner, style.last)
    ]
    assert not [(name, joint) for name in pool for joint in joints if joint in name]


@pytest.mark.parametrize("skin", SKINS)
def test_names__never_collide_however_many(skin):
    events = [f"e{i}" for i in range(127)]
    levels = {f"x{i}": [-1, i] for i in range(900)}
    case = {"attributes": dict.fromkeys(levels, -1), "events": events[::-1]}
    payload = payload_of(
        event_vocabulary=events,
        attribute_vocabulary=levels,
        complexity=127,
        support_cases=[{**case, "id": "C1", "trials": 3, "observed_present": 1, "observed_absent": 2}],
        query_case={**case, "id": "Q", "events": events},
    )
    rendering = check_round_trip(payload, skin)
    names = list(rendering.names.values())
    assert len(set(names)) == 1027
    assert not [(a, b) for a in names for b in names if a != b and a in b]
    assert not re.search(r"\btype Q|\d", " ".join(names))


def test_names__a_symbol_that_is_event_and_attribute_has_one_name():
    payload = payload_of(
        event_vocabulary=["a", "v", "s", "dose"],
    )
    for skin in SKINS:
        assert len(check_round_trip(payload, skin).names) == 5


def test_with_article():
    assert [with_article(name) for name in ("ice bath", "slow stir", "amber ray")] == [
        "an ice bath",
        "a slow stir",
        "an amber ray",
    ]


@pytest.mark.parametrize("skin", SKINS)
def test_forms__can_be_told_apart_and_say_everything_once(skin):
    words = BY_NAME[skin]
    for has_attributes in (True, False):
        for forms, counts in ((words.case_forms(has_attributes), 3), (words.asking_forms(has_attributes), 0)):
            assert len({form.first for form in forms}) == len(forms)
            for form in forms:
                places = re.findall(r"\{(\w+)\}", form.template)
                assert sum(place in EVENT_STYLES for place in places) == 1
                assert sum(place in ATTRIBUTE_STYLES for place in places) == has_attributes
                assert sorted(set(places) & {"present", "absent", "trials"}) == ["absent", "present", "trials"][:counts]
                assert len(places) == 1 + has_attributes + counts
                assert "{" not in form.first
                # Two numbers side by side could be read as one, or the one for the other.
                assert not re.search(r"\{(attributes|values)\},? \{(present|absent|trials)\}", form.template)


@pytest.mark.parametrize("skin", SKINS)
def test_forms__put_each_count_beside_its_outcome(skin):
    words = BY_NAME[skin]
    for form in (*words.forms, *words.bare_forms):
        sentence = form.fill("a cough", "age 1", 20, 30, f"50 {words.trials}")
        assert said_counts(sentence) == (20, 30)
        assert re.search(rf"\b50 {words.trials}", sentence)


def changed_lines(text):
    """Texts that differ from a rendering by one deed, with the deed."""
    lines = text.split("\n")
    cases = [i for i, line in enumerate(lines) if line.startswith("[")]
    for i in cases[:-1]:
        yield "dropped", lines[:i] + lines[i + 1 :]
        yield "doubled", lines[: i + 1] + lines[i:]
        for found in itertools.islice(re.finditer(r"\d+", lines[i]), 1, None):  # without the id's
            more = str(int(found[0]) + 1)
            yield "count", [*lines[:i], lines[i][: found.start()] + more + lines[i][found.end() :], *lines[i + 1 :]]
    for i, j in itertools.pairwise(cases):
        yield "swapped lines", [*lines[:i], lines[j], *lines[i + 1 : j], lines[i], *lines[j + 1 :]]
    for i in range(len(lines)):
        yield "dropped", lines[:i] + lines[i + 1 :]
        yield "cut", lines[:i]
        yield "letter", [*lines[:i], lines[i] + "x", *lines[i + 1 :]]
        yield "inserted", [*lines[:i], "Also note this.", *lines[i:]]


@pytest.mark.parametrize("skin", SKINS)
def test_parse__changed_text_is_refused_or_is_another_payload(payloads, skin):
    payload = payloads[4][0]
    rendering = render(payload, skin)
    outcomes = Counter()
    for deed, lines in changed_lines(rendering.text):
        try:
            other = parse("\n".join(lines), skin, rendering.names)
        except ValueError as error:
            assert re.match(r"line \d+: |the text's payload, field ", str(error))  # noqa: PT017
            outcomes[deed, "refused"] += 1
        else:
            assert other != payload
            outcomes[deed, "another"] += 1
    assert not {key for key in outcomes if key[1] == "another"} - {("dropped", "another"), ("swapped lines", "another")}
    assert sum(outcomes.values()) > 600


@pytest.mark.parametrize("skin", SKINS)
def test_parse__exchanged_events_are_another_payload(payloads, skin):
    """Two events of a line exchanged are read as what the line then says."""
    payload = payloads[5][1]
    rendering = render(payload, skin)
    lines = rendering.text.split("\n")
    pairs = [case for case in payload.support_cases if len(case.events) > 1]
    for case in pairs:
        i = next(i for i, line in enumerate(lines) if line.startswith(f"[{case.id}]"))
        has_articles = with_article(rendering.names[case.events[0]]) in lines[i]
        one, other = (rendering.names[symbol] for symbol in case.events[:2])
        if has_articles:
            one, other = with_article(one), with_article(other)
        exchanged = lines[i].replace(one, "#").replace(other, one).replace("#", other)
        again = parse("\n".join([*lines[:i], exchanged, *lines[i + 1 :]]), skin, rendering.names)
        (read,) = (c for c in again.support_cases if c.id == case.id)
        assert read.events == (case.events[1], case.events[0], *case.events[2:])
    assert len(pairs) == 56


@pytest.mark.parametrize("skin", SKINS)
@pytest.mark.parametrize("count", [2, 15, 16, 17, 30])
def test_parse__pairs_of_few_and_of_many_events(skin, count):
    """An event alone, two that differ, and one that is repeated, in every style of clause."""
    events = [f"e{i}" for i in range(count)]
    steps = [[one, *more] for one in events[:3] for more in ([], [events[-1]], [one], [one, events[-1]], [one, one])]
    told = {"attributes": {}, "trials": 2, "observed_present": 1, "observed_absent": 1}
    payload = payload_of(
        event_vocabulary=events,
        attribute_vocabulary={},
        support_cases=[{**told, "id": f"C{i}", "events": e} for i, e in enumerate(steps)],
        query_case={"id": "Q", "attributes": {}, "events": events[:2] * 2},
    )
    check_round_trip(payload, skin)


def test_parse__remembers_nothing_that_differs_from_text_to_text():
    """What is known of one skin's counts and one instance's names says nothing of another's."""
    for skin in SKINS:
        noun = BY_NAME[skin].trial
        rendering = render(payload_of(), skin)
        for _ in range(2):
            with pytest.raises(ValueError, match=f"wanted the noun '{noun}'"):
                parse(rendering.text.replace(f" 1 {noun}", f" 1 {noun}s"), skin, rendering.names)
            assert parse(rendering.text, skin, rendering.names) == payload_of()
        turned = {**rendering.names, "a": rendering.names["v"], "v": rendering.names["a"]}
        assert parse(rendering.text, skin, turned).support_cases[0].events == ("v",)


def test_parse__cases_share_no_mapping():
    rendering = render(payload_of(), "ward")
    again = parse(rendering.text, "ward", rendering.names)
    again.support_cases[0].attributes["dose"] = 0
    assert again.support_cases[1:] == payload_of().support_cases[1:]
    assert parse(rendering.text, "ward", rendering.names) == payload_of()


def test_parse__names_may_not_be_shared_or_missing():
    rendering = render(payload_of(), "ward")
    with pytest.raises(ValueError, match="names must differ"):
        parse(rendering.text, "ward", {**rendering.names, "a": rendering.names["v"]})
    missing = {symbol: name for symbol, name in rendering.names.items() if symbol != "a"}
    with pytest.raises(ValueError, match=rf"line 9: got '{rendering.names['a']}', wanted one of "):
        parse(rendering.text, "ward", missing)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (r"of 9 trials", "of 9 trial", "line 13: got '9 trial', wanted the noun 'trials'"),
        (r"\[C1\]", "C1", "line 13: got 'C1 "),
        (r"\[C2\] \w+", "[C2] Perhaps", "line 14: 'Perhaps .* has none of the sentence forms"),
        (r", 2 ended", ", 02 ended", "line 14: got '02', wanted an integer"),
        (r", 2 ended", ", 3 ended", "observed_present: got 3, allowed is a count that makes 9 trials"),
        (r", 2 ended", ", -2 ended", "line 14: got '-2', wanted an integer in 0..32767"),
        (r", 2 ended", ", two ended", "line 14: got 'two', wanted an integer"),
        (r"of 9 trials", "of 40000 trials", "line 13: got '40000', wanted an integer in 0..32767"),
        (r"in 9 of 9 trials", "in 9 out of 9 trials", "line 13: got '9 out', wanted an integer"),
        (r", the record was present", "; the record was present", "line 13: 'For .* has none of the sentence forms"),
        (r"and absent in 0", "but absent in 0", "line 13: 'For .* has none of the sentence forms"),
        (r"\[C2\]", "[]", "line 14: got '\\[\\] Of "),
        (r"a queue shuffle", "a storage quota", "line 13: got 'a storage quota', wanted one of 'a queue shuffle'"),
        (r"storage quota 4 and", "storage quota 5 and", "line 13: got 'storage quota 5', wanted one of "),
        (r"quota 4 and polynomial order -7", "quota 4 and storage quota 4", "line 13: an attribute comes twice"),
        (
            r"quota 4 and polynomial order -7",
            "quota 4",
            r"support_cases\[0\].attributes: got {'age': 4}, allowed is a level",
        ),
        (r"-7, 0, or 300", "-7, 0 or 300", "line 10: "),
        (r"-7, 0, or 300", "0, -7, or 300", "levels in increasing order"),
        (r"PRESENT: after", "PRESENT: before", "line 22: got "),
        (r"Answer: ABSENT", "Answer: absent", "line 23: got "),
        (r"no trial affects", "any trial affects", "line 4: got "),
    ],
)
def test_parse__says_where_a_text_is_wrong(old, new, says):
    rendering = render(payload_of(), "technical")
    text = re.sub(old, new, rendering.text, count=1)
    assert text != rendering.text
    with pytest.raises(ValueError, match=says):
        parse(text, "technical", rendering.names)


def test_parse__of_anything_else_is_a_value_error():
    names = render(payload_of(), "technical").names
    for text in ("", "\n" * 40, "x", GOLDEN[:500], GOLDEN + "\n", GOLDEN.replace("\n", "\r\n"), GOLDEN * 2):
        with pytest.raises(ValueError, match="line"):
            parse(text, "technical", names)
    with pytest.raises(ValueError, match="line 1"):
        parse(GOLDEN, "ward", names)


@pytest.mark.parametrize("call", [render, lambda payload, skin: parse("", skin, {})])
def test_unknown_skin_is_refused(call):
    with pytest.raises(
        ValueError, match="skin must be one of 'notebook', 'ward', 'shipping', 'technical', got 'pirate'"
    ):
        call(payload_of(), "pirate")


@pytest.mark.parametrize("name", ["C[1", "1]", "C\n1", "\t", "Q", "\u2028"])
def test_render__refuses_ids_that_cannot_be_kept(name):
    payload = payload_of()
    cases = [*payload.support_cases[:1], msgspec.structs.replace(payload.support_cases[1], id=name)]
    with pytest.raises(ValueError, match=r"support_cases\[1\].id: got "):
        render(msgspec.structs.replace(payload, support_cases=tuple(cases)), "ward")
    query = msgspec.structs.replace(payload.query_case, id="[")
    with pytest.raises(ValueError, match=r"query_case.id: got '\['"):
        render(msgspec.structs.replace(payload, query_case=query), "ward")


GOLDEN = """\
This is a test report. Each case sums up repeated trials of one and the same system.
The last case has not been run. Use the other cases to judge which of its two outcomes is more likely.

Every trial starts from a new copy of the system, and no trial affects another.
The parameters of a case are fixed before a trial and do not change during it.
The operations of a case are executed one after the other, in the order in which they are written.
At the start of every trial the record is absent. After the last operation it is checked whether the record is present or absent; a case counts these checks over all its trials.

Operations: queue shuffle; matrix product; frame shift.
Parameters and their possible values: storage quota (4); polynomial order (-7, 0, or 300).

Cases:
[C1] For a queue shuffle executed with storage quota 4 and polynomial order -7, the record was present in 9 of 9 trials and absent in 0.
[C2] Of 9 trials with storage quota 4 and polynomial order -7 that executed a matrix product followed by a queue shuffle followed by a matrix product, 2 ended with the record present and 7 with it absent.
[C3] Of 1 trial with storage quota 4 and polynomial order -7 that executed a matrix product followed by a frame shift, 0 ended with the record present and 1 with it absent.

Not run:
[Q] Suppose that a trial with storage quota 4 and polynomial order 300 executes a matrix product and then a frame shift. Which outcome is more likely at its end?

There are two possible answers:
ABSENT: after the last operation of such a trial the record is more likely absent than present.
PRESENT: after the last operation of such a trial the record is more likely present than absent.
End your reply with a line that is either "Answer: ABSENT" or "Answer: PRESENT"."""  # noqa: E501
