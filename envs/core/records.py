"""Typed records from JSON: strict conversion whose errors name the place, the value and what is allowed."""

from __future__ import annotations

import hashlib
import re
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

Record = TypeVar("Record")

_LONGEST_SHOWN = 200  # characters
_NUMBERS = {int: "an integer", float: "a number"}
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def convert(document: Any, kind: type[Record], what: str) -> Record:
    """Turn plain data into a record of type `kind`.

    Args:
        document: dictionaries, lists, strings and numbers, as JSON gives them.
        kind: a `msgspec.Struct`.
        what: what the message calls a place in the document, "task field" for instance.

    Raises:
        ValueError: a field is missing, unknown, of a wrong type or has a value that is not allowed.
    """
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_explain(error, document, kind, what)) from None


def from_json(data: bytes | str, kind: type[Record], what: str) -> Record:
    """`convert` for JSON text.

    Raises:
        ValueError: `data` is not JSON, or as for `convert`.
    """
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"{what} document is not JSON: {error}") from None
    return convert(document, kind, what)


def to_json(record: msgspec.Struct) -> bytes:
    """Canonical JSON: fields in the order of the record, mappings by key, no spaces; equal records, equal bytes."""
    return msgspec.json.encode(record, order="deterministic")


def content_id(record: msgspec.Struct) -> str:
    """32 hexadecimal digits of BLAKE2b over the canonical JSON of a record.

    The opaque id of a public row: what the payload does not tell, such as a seed or an index, the id cannot tell.
    """
    return hashlib.blake2b(to_json(record), digest_size=16).hexdigest()


def _explain(error: msgspec.ValidationError, document: Any, kind: Any, what: str) -> str:
    """Turn msgspec's message ("Expected `int`, got `str` - at `$.budget`") into one that also shows the value."""
    message, _, place = str(error).replace("`", "").rpartition(" - at ")
    if not message:
        message, place = place, ""
    path = place.rpartition("$")[2].removeprefix(".")
    if "[...]" in path and not place.startswith("key "):
        return _explain_entry(document, kind, path.partition("[...]")[0], what)
    about, _, field = message.rpartition(" field ")
    if about == "Object missing required":
        return f"{what} {_join(path, field)}: missing, allowed is only a document that has it"
    if about == "Object contains unknown":
        allowed, path = f"no other field than {', '.join(_fields(kind, path))}", _join(path, field)
    elif place.startswith("key "):
        allowed = "an object whose keys are strings"
    elif message.startswith("Invalid enum value"):
        allowed = f"one of {', '.join(map(repr, _choices(kind, path)))}"
    elif message.startswith("Expected "):
        allowed = _range(kind, path) or message.removeprefix("Expected ").split(", got")[0]
    elif ", allowed " in message:  # a record's own check, which names the field and the value
        return f"{what} {_join(path, message)}"
    else:
        allowed = f"another value ({message})"
    return f"{what} {path or 'document'}: got {_found(document, path)}, allowed is {allowed}"


def _found(document: Any, path: str) -> str:
    """The value at `path`, or its beginning: a whole record would hide the sentence that it stands in."""
    try:
        text = repr(_lookup(document, path))
    except (KeyError, IndexError, TypeError, ValueError):  # not found, or with too many digits to print
        return "a value that cannot be shown"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _explain_entry(document: Any, kind: Any, path: str, what: str) -> str:
    """Explain the first bad entry of the mapping at `path`, whose key msgspec does not tell."""
    entry_kind = _kind_at(kind, f"{path}[...]")
    for key, value in _lookup(document, path).items():
        try:
            msgspec.convert(value, entry_kind)
        except msgspec.ValidationError as error:
            place = f"{path}.{key}"
            return f"{what} {_explain(error, value, entry_kind, place).replace(f'{place} document', place)}"
    return f"{what} {path}: got an entry that is not allowed"


def _join(path: str, field: str) -> str:
    return f"{path}.{field}".removeprefix(".")


def _fields(kind: Any, path: str) -> tuple[str, ...]:
    """The fields of the record at `path` of a document of type `kind`."""
    return tuple(_bare(_kind_at(kind, path)).__struct_fields__)


def _choices(kind: Any, path: str) -> tuple[Any, ...]:
    """The values of the literal at `path`."""
    found = _kind_at(kind, path)
    options = [found, *get_args(found)]
    return next((get_args(option) for option in options if get_origin(option) is Literal), ())


def _range(kind: Any, path: str) -> str:
    """The closed range of a number that may stand at `path`, or names that may stand for one; "" if it has none."""
    found = _kind_at(kind, path)
    options = get_args(found) if get_origin(found) in (Union, types.UnionType) else [found]
    names = [repr(name) for option in options if get_origin(option) is Literal for name in get_args(option)]
    for option in options:
        number, meta, *_ = get_args(option) if get_origin(option) is Annotated else (None, None)
        if number in _NUMBERS and meta.ge is not None and meta.le is not None:
            # 0 and 0.0 are one type to Python, so that either may stand in it.
            low, high = (str(end).removesuffix(".0") for end in (meta.ge, meta.le))
            return " or ".join([*names, f"{_NUMBERS[number]} from {low} to {high}"])
    return ""


def _kind_at(kind: Any, path: str) -> Any:
    for name, index in _STEP.findall(path):
        kind = _bare(kind)
        if name:
            kind = get_type_hints(kind, include_extras=True)[name]
        elif get_origin(kind) is tuple and index != "..." and get_args(kind)[-1] is not Ellipsis:
            kind = get_args(kind)[int(index)]
        else:
            kind = get_args(kind)[0 if get_origin(kind) is tuple else -1]
    return kind


def _bare(kind: Any) -> Any:
    """`kind` without annotations and without None."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return _bare(next(option for option in get_args(kind) if option is not type(None)))
    return kind


def _lookup(document: Any, path: str) -> Any:
    for name, index in _STEP.findall(path):
        if index == "...":
            raise KeyError(path)
        document = document[int(index)] if index else document[name]
    return dict(document) if isinstance(document, Mapping) else document
