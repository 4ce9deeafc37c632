"""Records check themselves, name what is wrong, survive JSON, and say nothing of rules or answers when printed."""

from __future__ import annotations

import copy
import json
import math
import re

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from veilgym.envs.core.records import convert, from_json, to_json
from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
from veilgym.envs.hidden_system.grammar import (
    BehaviorCase,
    BehaviorPayload,
    BehaviorSkeleton,
    Condition,
    HiddenRule,
    HiddenSystem,
)
from veilgym.envs.hidden_system.skeletons import SystemFile, run_system

CASE_FIELDS = ["id", "attributes", "events", "trials", "observed_present", "observed_absent"]
PUBLIC_FIELDS = [
    "family", "complexity", "event_vocabulary", "attribute_vocabulary", "observation_protocol", "support_cases",
    "query_case", "answer_options",
]  # fmt: skip
SKELETON_FIELDS = [
    "id", "family", "complexity", "event_vocabulary", "attribute_vocabulary", "observation_protocol", "hidden_system",
    "support_cases", "query_case", "answer_options", "gold_answer", "gold_present_probability", "latent_trace",
]  # fmt: skip
DELETE = object()
NAN, INF = math.nan, math.inf


def plain(record):
    """The plain JSON document of a record."""
    return json.loads(to_json(record))


@pytest.fixture(scope="module")
def skeletons():
    return [s for length in (4, 5, 6) for s in generate_skeletons(3, length, seed=2)]


@pytest.fixture(scope="module")
def document(written):
    """A skeleton with every operator and action, as plain data."""
    system = written(
        ("a", "ADD", 0.9, ("record", "EQ", "ABSENT"), ("dose", "GT", 2)),
        ("v", "VETO", 0.6, ("dose", "LE", 4.5), ("age", "EQ", 30)),
        ("s", "armed", 0.5, ("armed", "EQ", False)),
        ("s", "ADD", 0.5, ("armed", "IS_SET", None), ("invalidated", "EQ", False)),
        dose=[1, 3, 5],
        age=[30, 40],
    )
    file = {
        "id": "by hand",
        "event_vocabulary": ["a", "v", "s"],
        "attribute_vocabulary": {"dose": [1, 3, 5], "age": [30, 40]},
        "hidden_system": system,
        "support_cases": [
            {"attributes": {"dose": 3, "age": 40}, "events": ["a"]},
            {"attributes": {"dose": 1, "age": 30}, "events": ["s", "s"]},
        ],
        "query_case": {"attributes": {"dose": 3, "age": 30}, "events": ["a", "v", "s"]},
        "trials": 20,
    }
    return plain(run_system(convert(file, SystemFile, "system field")))


def edited(document, path, value):
    """The document with one field changed, or removed if `value` is DELETE."""
    document = copy.deepcopy(document)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    target = document
    for part in parents:
        target = target[part]
    if value is DELETE:
        del target[last]
    else:
        target[last] = value
    return document


RULE, CONDITION = "hidden_system.rules.0", "hidden_system.rules.0.conditions.0"  # the condition is on the record
ON_DOSE, ON_FLAG = "hidden_system.rules.0.conditions.1", "hidden_system.rules.3.conditions.0"
SETTER, CASE = "hidden_system.rules.2", "support_cases.0"
# What is changed, to what, the place and the value that the message shows, and a part of what it says is allowed.
BAD_FIELDS = [
    *((field, DELETE, field, "missing", "") for field in SKELETON_FIELDS),
    *((f"{CASE}.{field}", DELETE, f"support_cases[0].{field}", "missing", "") for field in ("id", "events")),
    *(
        (f"{RULE}.{field}", DELETE, f"hidden_system.rules[0].{field}", "missing", "")
        for field in ("id", "on_event", "conditions", "probability", "action", "target")
    ),
    ("colour", "red", "colour", "'red'", "gold_answer"),
    ("hidden_system.colour", "red", "hidden_system.colour", "'red'", "conflict_policy"),
    (f"{RULE}.weight", 2, "hidden_system.rules[0].weight", "2", "probability"),
    (f"{CONDITION}.negated", True, "hidden_system.rules[0].conditions[0].negated", "True", "operator"),
    (f"{CASE}.note", "x", "support_cases[0].note", "'x'", "observed_present"),
    ("query_case.note", "x", "query_case.note", "'x'", "observed_present"),
    *((f"{RULE}.probability", p, "hidden_system.rules[0].probability", repr(p), "0") for p in (-0.1, -INF, NAN)),
    *((f"{RULE}.probability", p, "hidden_system.rules[0].probability", repr(p), "1") for p in (1.1, INF, 2)),
    *(
        (f"{RULE}.probability", p, "hidden_system.rules[0].probability", repr(p), "a number from 0 to 1")
        for p in ("1", None, True)
    ),
    *((f"{RULE}.action", a, "hidden_system.rules[0].action", repr(a), "ADD_RECORD") for a in ("ADD", "add_record", "")),
    *((f"{CONDITION}.operator", o, "rules[0].conditions[0].operator", repr(o), "IS_SET") for o in ("GE", "eq", "")),
    (f"{CONDITION}.source", "event", "rules[0].conditions[0].source", "'event'", "attribute"),
    (f"{CONDITION}.operator", "LE", "rules[0].conditions[0].operator", "'LE'", "EQ"),
    (f"{CONDITION}.operator", "IS_SET", "rules[0].conditions[0].operator", "'IS_SET'", "EQ"),
    *(
        (f"{CONDITION}.value", v, "rules[0].conditions[0].value", repr(v), "'PRESENT' or 'ABSENT'")
        for v in ("present", True, None, 1)
    ),
    (f"{ON_DOSE}.key", "weight", "hidden_system.rules[0].conditions[1].key", "'weight'", "dose"),
    (f"{ON_DOSE}.operator", "IS_SET", "rules[0].conditions[1].operator", "'IS_SET'", "'EQ', 'LE' or 'GT'"),
    *((f"{ON_DOSE}.value", v, "rules[0].conditions[1].value", repr(v), "number") for v in ("3", True, None)),
    (f"{ON_FLAG}.value", False, "rules[3].conditions[0].value", "False", "null"),
    (f"{ON_FLAG}.value", 1, "rules[3].conditions[0].value", "1", "null"),
    (f"{ON_FLAG}.operator", "EQ", "rules[3].conditions[0].value", "None", "true or false"),
    (f"{ON_FLAG}.operator", "GT", "rules[3].conditions[0].operator", "'GT'", "'EQ' or 'IS_SET'"),
    (f"{RULE}.target", "armed", "hidden_system.rules[0].target", "'armed'", "'record' for ADD_RECORD"),
    ("hidden_system.rules.1.target", "armed", "rules[1].target", "'armed'", "'record' for INVALIDATE_RECORD"),
    *((f"{SETTER}.target", t, "rules[2].target", repr(t), "flag") for t in ("record", "invalidated")),
    (f"{SETTER}.target", "", "rules[2].target", "''", "1"),
    ("hidden_system.rules.1.id", "R1", "rules[1]", "'R1'", "no other"),
    ("hidden_system.rules", [], "hidden_system.rules", "[]", "1"),
    ("hidden_system.initial_record", "PRESENT", "hidden_system.initial_record", "'PRESENT'", "ABSENT"),
    ("hidden_system.conflict_policy", "LAST_WRITE", "conflict_policy", "'LAST_WRITE'", "PERSISTENT_INVALIDATION_VETO"),
    (f"{RULE}.on_event", "z", "hidden_system.rules[0].on_event", "'z'", "a, v, s"),
    (f"{CASE}.events", ["a", "z"], "support_cases[0].events[1]", "'z'", "a, v, s"),
    (f"{CASE}.events", [], "support_cases[0].events", "[]", "1"),
    (f"{CASE}.attributes", {"dose": 3}, "support_cases[0].attributes", "{'dose': 3}", "age"),
    (f"{CASE}.attributes", {"dose": 3, "age": 30, "x": 1}, "support_cases[0].attributes", "'x': 1", "dose"),
    (f"{CASE}.attributes", {"dose": 2, "age": 40}, "support_cases[0].attributes.dose", "2", "1, 3, 5"),
    ("query_case.attributes", {"dose": 3, "age": 31}, "query_case.attributes.age", "31", "30, 40"),
    ("query_case.events", ["a", "z"], "query_case.events[1]", "'z'", "a, v, s"),
    (f"{CASE}.observed_present", 30, "support_cases[0].observed_present", "30", "20 trials"),
    (f"{CASE}.observed_absent", -1, "support_cases[0].observed_absent", "-1", "0"),
    (f"{CASE}.observed_present", None, "support_cases[0].observed_present", "None", "both counts or neither"),
    (f"{CASE}.observed_present", 1.5, "support_cases[0].observed_present", "1.5", "int"),
    (f"{CASE}.trials", -1, "support_cases[0].trials", "-1", "0"),
    (f"{CASE}.trials", 2**15, "support_cases[0].trials", "32768", "32767"),
    ("support_cases.1.id", "C1", "support_cases[1]", "'C1'", "no other"),
    ("support_cases", [], "support_cases", "[]", "1"),
    ("event_vocabulary", ["a", "v", "s", "a"], "event_vocabulary[3]", "'a'", "no other"),
    ("event_vocabulary", [], "event_vocabulary", "[]", "1"),
    ("attribute_vocabulary.dose", [1, 5, 3], "attribute_vocabulary.dose", "[1, 5, 3]", "increasing"),
    ("attribute_vocabulary.dose", [1, 3, 3, 5], "attribute_vocabulary.dose", "[1, 3, 3, 5]", "increasing"),
    ("answer_options", ["PRESENT", "PRESENT"], "answer_options", "['PRESENT', 'PRESENT']", "'ABSENT'"),
    ("answer_options", ["PRESENT"], "answer_options", "['PRESENT']", "2"),
    ("answer_options", ["YES", "NO"], "answer_options[0]", "'YES'", "PRESENT"),
    ("gold_answer", "YES", "gold_answer", "'YES'", "PRESENT"),
    ("gold_present_probability", 1.5, "gold_present_probability", "1.5", "1"),
    ("family", "circuits", "family", "'circuits'", "hidden_system"),
    ("complexity", 0, "complexity", "0", "1"),
    ("id", "", "id", "''", "1"),
]


@pytest.mark.parametrize(("path", "value", "place", "shown", "allowed"), BAD_FIELDS)
def test_skeleton__bad_field_is_named_with_its_value_and_what_is_allowed(document, path, value, place, shown, allowed):
    with pytest.raises(ValueError, match=r"^line field ") as error:
        convert(edited(document, path, value), BehaviorSkeleton, "line field")
    message, _, says_allowed = str(error.value).partition("allowed is")
    assert re.search(rf"{re.escape(place)}(?![\w])", message), str(error.value)
    assert shown in message, str(error.value)
    assert allowed in says_allowed, str(error.value)
    assert "enum" not in str(error.value), str(error.value)


@pytest.mark.parametrize("level", [2**15, -(2**15) - 1, "3", 3.5, True, None])
def test_skeleton__bad_level_is_named_with_its_attribute_and_value(document, level):
    for path, place in ((f"{CASE}.attributes.dose", "support_cases[0]"), ("query_case.attributes.dose", "query_case")):
        with pytest.raises(ValueError, match=re.escape(place)) as error:
            convert(edited(document, path, level), BehaviorSkeleton, "line field")
        assert "dose" in str(error.value)
        assert f"got {level!r}" in str(error.value)


def test_skeleton__query_with_counts_is_refused(document):
    counts = {**document["query_case"], "trials": 20, "observed_present": 5, "observed_absent": 15}
    with pytest.raises(ValueError, match=r"query_case\.observed_present: got 5, allowed is null"):
        convert({**document, "query_case": counts}, BehaviorSkeleton, "line field")


def test_skeleton__query_with_trials_is_refused(document):
    query = {**document["query_case"], "trials": 20}
    with pytest.raises(ValueError, match=r"query_case\.trials: got 20"):
        convert({**document, "query_case": query}, BehaviorSkeleton, "line field")


def test_skeleton__support_case_without_trials_is_refused(document):
    for counts in ({"trials": 0, "observed_present": 0, "observed_absent": 0}, {"trials": 0}):
        case = {"id": "C1", "attributes": {"dose": 3, "age": 40}, "events": ["a"], **counts}
        with pytest.raises(ValueError, match=r"support_cases\[0\]\.observed_present: .*at least one trial"):
            convert({**document, "support_cases": [case]}, BehaviorSkeleton, "line field")


def test_skeleton__complexity_is_the_number_of_distinct_query_events(document):
    assert convert(document, BehaviorSkeleton, "line field").complexity == 3
    with pytest.raises(ValueError, match=r"complexity: got 9, allowed is 3"):
        convert({**document, "complexity": 9}, BehaviorSkeleton, "line field")


def test_payload__unknown_and_hidden_fields_are_refused(document):
    public = {field: document[field] for field in PUBLIC_FIELDS}
    assert convert(public, BehaviorPayload, "payload field").complexity == document["complexity"]
    for field in set(SKELETON_FIELDS) - set(PUBLIC_FIELDS):
        with pytest.raises(ValueError, match=rf"payload field {field}: got"):
            convert({**public, field: document[field]}, BehaviorPayload, "payload field")


def test_message__survives_any_name(document):
    for name in ("a - at b", "`$.x`", " field ", "got 'x', allowed is y"):
        rules = [{**rule, "id": name} for rule in document["hidden_system"]["rules"]]
        with pytest.raises(ValueError, match=r"^line field hidden_system\.rules\[1\]: got ") as error:
            convert(edited(document, "hidden_system.rules", rules), BehaviorSkeleton, "line field")
        assert name.replace("`", "") in str(error.value).replace("`", "")
        assert str(error.value).endswith("allowed is a name that no other has")


def test_to_builtins__has_exactly_the_fields_of_the_specification(skeletons):
    for skeleton in skeletons:
        plain = msgspec.to_builtins(skeleton)
        assert list(plain) == SKELETON_FIELDS
        assert list(plain["hidden_system"]) == ["initial_record", "conflict_policy", "rules"]
        for rule in plain["hidden_system"]["rules"]:
            assert list(rule) == ["id", "on_event", "conditions", "probability", "action", "target"]
            assert all(list(c) == ["source", "key", "operator", "value"] for c in rule["conditions"])
        assert all(list(case) == CASE_FIELDS for case in (*plain["support_cases"], plain["query_case"]))
        assert plain["query_case"]["observed_present"] is plain["query_case"]["observed_absent"] is None
        assert list(msgspec.to_builtins(renderer_payload(skeleton))) == PUBLIC_FIELDS


def test_skeleton__survives_json(skeletons, document):
    for skeleton in (*skeletons, convert(document, BehaviorSkeleton, "line field")):
        text = to_json(skeleton)
        again = from_json(text, BehaviorSkeleton, "line field")
        assert again == skeleton
        assert to_json(again) == text
        assert to_json(convert(msgspec.to_builtins(skeleton), BehaviorSkeleton, "line field")) == text
        payload = renderer_payload(skeleton)
        assert from_json(to_json(payload), BehaviorPayload, "payload field") == payload == renderer_payload(again)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_written_records__survive_json(data, system_documents):
    document = data.draw(system_documents)
    file = convert(document, SystemFile, "system field")
    text = to_json(file)
    assert json.loads(text) == document  # nothing is lost, added or rounded
    assert from_json(text, SystemFile, "system field") == file
    assert to_json(from_json(text, SystemFile, "system field")) == text
    system = from_json(to_json(file.hidden_system), HiddenSystem, "system field")
    assert system == file.hidden_system
    assert json.loads(to_json(system)) == document["hidden_system"]


def test_to_json__does_not_depend_on_the_order_of_keys(document):
    def reverse(value):
        if isinstance(value, dict):
            return {key: reverse(value[key]) for key in reversed(value)}
        return [reverse(item) for item in value] if isinstance(value, list) else value

    a, b = (convert(d, BehaviorSkeleton, "line field") for d in (document, reverse(document)))
    assert a == b
    assert to_json(a) == to_json(b)


def test_to_json__has_no_spaces_and_keeps_every_bit_of_a_probability():
    rule = HiddenRule("R", "a", (Condition("attribute", "x", "LE", 3),), 0.1 + 0.2, "ADD_RECORD", "record")
    expected = (
        b'{"id":"R","on_event":"a","conditions":[{"source":"attribute","key":"x","operator":"LE","value":3}],'
        b'"probability":0.30000000000000004,"action":"ADD_RECORD","target":"record"}'
    )
    assert to_json(rule) == expected


@pytest.mark.parametrize(("one", "other"), [(4, 4.0), (-0.0, 0), (2**53, 2.0**53)])
def test_to_json__equal_records_have_equal_bytes(one, other):
    conditions = [Condition("attribute", "x", "LE", value) for value in (one, other)]
    assert conditions[0] == conditions[1]
    assert to_json(conditions[0]) == to_json(conditions[1])


def test_records__are_frozen(skeletons):
    skeleton = skeletons[0]
    parts = (skeleton, skeleton.hidden_system, skeleton.hidden_system.rules[0], skeleton.query_case)
    for record in (*parts, skeleton.latent_trace[0], renderer_payload(skeleton)):
        with pytest.raises(AttributeError):
            setattr(record, record.__struct_fields__[0], "other")


def test_repr__shows_no_rule_and_no_answer(skeletons):
    for skeleton in skeletons:
        system = skeleton.hidden_system
        records = [skeleton, system, system.rules, skeleton.latent_trace, [skeleton], {"record": skeleton}]
        for text in (f(record) for record in records for f in (repr, str, "{}".format)):
            hidden = ["PRESENT", "ABSENT", "ADD", "INVALIDATE", "flag", "attribute", "EQ", "GT", "LE", "0."]
            assert not any(word in text for word in hidden), text


def test_case__counts_sum_to_trials():
    for present, absent, trials in ((3, 4, 8), (3, 4, 0), (0, 0, 1), (9, 0, 8)):
        with pytest.raises(ValueError, match=f"observed_present: got {present}, allowed is .*{trials} trials"):
            BehaviorCase("C", {}, ("a",), trials, present, absent)
    assert BehaviorCase("C", {}, ("a",), 7, 3, 4).observed_absent == 4
