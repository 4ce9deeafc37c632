"""JSON that someone else wrote, a language model or a person: read without guessing, in linear time.

Refused, where Python's own reader is lenient or keeps the last of several: duplicate keys, NaN and Infinity, numbers
beyond the range of float64, nesting of more than `DEEPEST` levels.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

DEEPEST = 32
_MOST_FAULTS = 64  # malformed values that are looked at in one text, so that reading stays linear
_LONGEST_INTEGER = 400  # digits; more are beyond float64, and Python may refuse to convert them

_OBJECT_OR_MATRIX = re.compile(r'\{\s*["}]|\[\s*\[')


class JsonError(ValueError):
    """Why a text is no JSON that can be taken.

    Attributes:
        kind: "malformed", "duplicate key", "not finite" or "too deep".
    """

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


@dataclass(frozen=True)
class Found:
    """A JSON value in a text, or something that begins like one.

    Attributes:
        start, end: Where it is; `end` of a fault is where the text stopped making sense.
        value: The value; None for a fault.
        fault: None for a value.
    """

    start: int
    end: int
    value: Any = None
    fault: JsonError | None = None


def read_json(text: str) -> Any:
    """The value that the whole of `text` is.

    Raises:
        JsonError: it is none, or one that is refused.
    """
    start = len(text) - len(text.lstrip())
    found = _read_at(text, start)
    if found.fault is not None:
        raise found.fault
    if text[found.end :].strip():
        raise JsonError("malformed", f"after the JSON value there is more text, from character {found.end} on")
    return found.value


def find_json(text: str) -> list[Found]:
    """Every object and every array of arrays in `text` that no other one contains, from left to right."""
    found: list[Found] = []
    place, faults = 0, 0
    while faults < _MOST_FAULTS:
        match = _OBJECT_OR_MATRIX.search(text, place)
        if match is None:
            break
        found.append(_read_at(text, match.start()))
        place = max(found[-1].end, match.start() + 1)
        faults += found[-1].fault is not None
    return found


def _read_at(text: str, start: int) -> Found:
    try:
        value, end = _DECODER.raw_decode(text, start)
    except JsonError as fault:
        return Found(start, start + 1, fault=fault)
    except json.JSONDecodeError as error:
        said = f"{error.msg[0].lower()}{error.msg[1:]} at character {error.pos}"
        return Found(start, error.pos, fault=JsonError("malformed", f"not JSON: {said}"))
    except RecursionError:
        return Found(start, len(text), fault=_too_deep())
    return Found(start, end, fault=_too_deep()) if _is_deep(value) else Found(start, end, value)


def _is_deep(value: Any) -> bool:
    layer = [value]
    for _ in range(DEEPEST + 1):
        layer = [inner for outer in layer for inner in _inner(outer)]
        if not layer:
            return False
    return True


def _inner(value: Any) -> list[Any]:
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [entry for entry in entries if isinstance(entry, (dict, list))]


def _too_deep() -> JsonError:
    return JsonError("too deep", f"JSON is nested too deeply; allowed are {DEEPEST} levels")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in set(names[:i]))
        raise JsonError("duplicate key", f"a JSON object has the key {_short(twice)} twice; allowed is once")
    return entries


def _constant(name: str) -> NoReturn:
    raise JsonError("not finite", f"{name} is not a finite number; allowed are finite numbers")


def _float(digits: str) -> float:
    number = float(digits)
    if abs(number) == float("inf"):
        raise JsonError("not finite", f"{_short(digits)} is beyond the range of numbers; allowed are finite numbers")
    return number


def _int(digits: str) -> int:
    if len(digits) > _LONGEST_INTEGER or abs(int(digits)) >= 2**1023:
        raise JsonError("not finite", f"{digits[:12]}... is beyond the range of numbers; allowed are finite numbers")
    return int(digits)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int)
