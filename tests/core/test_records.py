"""Typed records from plain data: what is wrong is named by its place, its value and what is allowed."""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from veilgym.envs.core.records import convert, from_json, to_json

Share = Annotated[float, Meta(ge=0, le=1)]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1)]
    share: Share = 0.5
    kind: Literal["bolt", "nut"] = "bolt"

    def __post_init__(self) -> None:
        if self.name == "bad":
            raise ValueError(f"name: got {self.name!r}, allowed is another name")


class Box(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    parts: tuple[Part, ...]
    by_name: dict[str, Part] = {}
    rows: tuple[tuple[int, ...], ...] = ()
    spare: Part | None = None
    sizes: dict[str, Annotated[int, Meta(ge=0)]] = {}
    span: tuple[Share, Share] = (0.0, 1.0)
    count: Literal["few", "many"] | Annotated[int, Meta(ge=1)] = 1


class Picky(msgspec.Struct, frozen=True):
    name: str

    def __post_init__(self) -> None:
        raise ValueError(f"name: got {self.name!r}, allowed is nothing")


class Holder(msgspec.Struct, frozen=True):
    inner: Picky


PART = {"name": "a"}
BAD_DOCUMENTS = [
    ({}, "parts", "missing", "document that has it"),
    ({"parts": [{}]}, "parts[0].name", "missing", "document that has it"),
    ({"parts": [PART, {}]}, "parts[1].name", "missing", "document that has it"),
    ({"parts": [], "spare": {}}, "spare.name", "missing", "document that has it"),
    ({"parts": [], "colour": "red"}, "colour", "'red'", "parts, by_name, rows, spare, sizes, span, count"),
    ({"parts": [PART, {**PART, "x": 3}]}, "parts[1].x", "3", "name, share, kind"),
    ({"parts": [], "spare": {**PART, "x": [1]}}, "spare.x", "[1]", "name, share, kind"),
    ({"parts": 3}, "parts", "3", "array"),
    ({"parts": "ab"}, "parts", "'ab'", "array"),
    ({"parts": [3]}, "parts[0]", "3", "object"),
    ({"parts": [], "spare": [1]}, "spare", "[1]", "object"),
    ({"parts": [{"name": ""}]}, "parts[0].name", "''", "length >= 1"),
    ({"parts": [{"name": None}]}, "parts[0].name", "None", "str"),
    ({"parts": [{"name": "bad"}]}, "parts[0].name", "'bad'", "another name"),
    ({"parts": [], "spare": {"name": "bad"}}, "spare.name", "'bad'", "another name"),
    ({"parts": [{**PART, "share": -0.5}]}, "parts[0].share", "-0.5", "a number from 0 to 1"),
    ({"parts": [{**PART, "share": 1.5}]}, "parts[0].share", "1.5", "a number from 0 to 1"),
    ({"parts": [{**PART, "share": math.nan}]}, "parts[0].share", "nan", "a number from 0 to 1"),
    ({"parts": [{**PART, "share": math.inf}]}, "parts[0].share", "inf", "a number from 0 to 1"),
    ({"parts": [{**PART, "share": True}]}, "parts[0].share", "True", "a number from 0 to 1"),
    ({"parts": [{**PART, "share": "1"}]}, "parts[0].share", "'1'", "a number from 0 to 1"),
    ({"parts": [{**PART, "kind": "screw"}]}, "parts[0].kind", "'screw'", "'bolt', 'nut'"),
    ({"parts": [], "count": "none"}, "count", "'none'", "'few', 'many'"),
    ({"parts": [], "count": 0}, "count", "0", ">= 1"),
    ({"parts": [], "rows": [[1, 2], [3, "x"]]}, "rows[1][1]", "'x'", "int"),
    ({"parts": [], "rows": [[1.5]]}, "rows[0][0]", "1.5", "int"),
    ({"parts": [], "span": [0.5]}, "span", "[0.5]", "length 2"),
    ({"parts": [], "span": [0.5, 2]}, "span[1]", "2", "a number from 0 to 1"),
    ({"parts": [], "sizes": {3: 1}}, "sizes", "{3: 1}", "keys are strings"),
    ({"parts": [], "sizes": {"long": -1}}, "sizes", "-1", ">= 0"),
    ({"parts": [], "sizes": {"ok": 1, "long": "x"}}, "sizes", "'x'", "int"),
    ({"parts": [], "by_name": {"p": {**PART, "share": 7}}}, "by_name", "7", "a number from 0 to 1"),
    ({"parts": [], "by_name": {"p": {**PART, "x": 3}}}, "by_name", "x", "name, share, kind"),
    ({"parts": [], "by_name": {"p": {}}}, "by_name", "missing", "document that has it"),
    ([], "document", "[]", "object"),
    (None, "document", "None", "object"),
    (3, "document", "3", "object"),
]


@pytest.mark.parametrize(("document", "place", "shown", "allowed"), BAD_DOCUMENTS, ids=str)
def test_convert__names_place_value_and_what_is_allowed(document, place, shown, allowed):
    with pytest.raises(ValueError, match=rf"^box field {re.escape(place)}(?![\w])") as error:
        convert(document, Box, "box field")
    before, _, after = str(error.value).partition("allowed is ")
    assert shown in before, str(error.value)
    # Whatever words the message uses for choices, each of them is there.
    assert all(word in after for word in allowed.split(", ")), str(error.value)


@pytest.mark.parametrize("key", ["sizes", "by_name"])
def test_convert__names_the_key_of_a_bad_entry(key):
    with pytest.raises(ValueError, match=rf"box field {key}.*long"):
        convert({"parts": [], key: {"ok": 1 if key == "sizes" else PART, "long": None}}, Box, "box field")


@pytest.mark.parametrize("name", ["a - at b", "a `quoted` name", "a field", "$.parts[0]"])
def test_convert__own_checks_may_quote_any_name(name):
    with pytest.raises(ValueError, match=r"^x inner\.name: got ") as error:
        convert({"inner": {"name": name}}, Holder, "x")
    assert name.replace("`", "") in str(error.value).replace("`", "")
    assert str(error.value).endswith("allowed is nothing")


@pytest.mark.parametrize("number", [10**400, 10**5000], ids=["10**400", "10**5000"])
def test_convert__numbers_too_long_to_print_are_refused(number):
    with pytest.raises(ValueError, match=r"box field (count|parts\[0\]\.share|rows\[0\]\[0\])"):
        convert({"parts": [{**PART, "share": number}]}, Box, "box field")


def test_convert__does_not_chain_the_librarys_error():
    with pytest.raises(ValueError, match="parts") as error:
        convert({}, Box, "box field")
    assert not isinstance(error.value, msgspec.ValidationError)
    assert error.value.__suppress_context__


def test_convert__fills_defaults_and_makes_tuples():
    box = convert({"parts": [PART], "rows": [[1], [2, 3]], "by_name": {"p": PART}, "count": 3}, Box, "box field")
    assert box == Box((Part("a"),), {"p": Part("a")}, ((1,), (2, 3)), count=3)
    assert convert({"parts": [{**PART, "share": 1}]}, Box, "box field").parts[0].share == 1.0


@pytest.mark.parametrize("text", ["", "{", "[1,]", '{"parts": NaN}', '{"parts": 1e999}', "\xff", "[" * 100_000])
def test_from_json__what_is_not_json_is_refused(text):
    for data in (text, text.encode("latin-1")):
        with pytest.raises(ValueError, match=r"^box field document is not JSON: "):
            from_json(data, Box, "box field")


def test_from_json__errors_are_those_of_convert():
    for document, *_ in BAD_DOCUMENTS:
        if any(word in repr(document) for word in ("nan", "inf", "{3:")):
            continue
        messages = []
        for read in (lambda d: convert(d, Box, "box field"), lambda d: from_json(json.dumps(d), Box, "box field")):
            with pytest.raises(ValueError, match="box field") as error:
                read(document)
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_to_json__is_canonical():
    a = Box((Part("é", 0.25), Part("b")), {"y": Part("c"), "x": Part("d")}, sizes={"b": 1, "a": 2})
    b = Box((Part("é", 0.25), Part("b")), {"x": Part("d"), "y": Part("c")}, sizes={"a": 2, "b": 1})
    assert a == b
    assert to_json(a) == to_json(b)
    text = to_json(a).decode()
    assert text.startswith('{"parts":[{"name":"é","share":0.25,"kind":"bolt"},')
    assert '"by_name":{"x":' in text
    assert '"sizes":{"a":2,"b":1}' in text
    assert ": " not in text


def test_from_json__inverts_to_json():
    box = Box((Part("a", 0.1 + 0.2, "nut"),), {"p": Part("x")}, ((1, 2), ()), Part("z"), {"s": 4}, (0.1, 0.3), "many")
    assert from_json(to_json(box), Box, "box field") == box
    assert from_json(to_json(box).decode(), Box, "box field") == box
