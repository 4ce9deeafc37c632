"""The two blocks of a language model's reply: names and lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from veilgym.envs.core.fidelity import Code, Fault

_HEADING = re.compile(r"\W*(NAMES|LINES)\W*", re.IGNORECASE)
_FENCE = re.compile(r"\s*(?:```|~~~)\w*\s*")
_NAME = re.compile(r"\W*(?P<symbol>\w+)\W{0,6}?\s*(?:=|:|->|\N{RIGHTWARDS ARROW})\s*(?P<name>.+)")
_TRIM = " \t*`\"'.,;\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_SHOWN = 60


class Blocks(NamedTuple):
    """What a reply holds.

    Attributes:
        names: By symbol.
        lines: As they stand, without empty ones and fences.
        faults: Of the form.
    """

    names: dict[str, str]
    lines: list[str]
    faults: list[Fault]


def read_reply(reply: str, symbols: Sequence[str], wants_names: bool) -> Blocks:
    """Read a reply: blocks with a heading each, the names only where they are wanted.

    Of a reply with thoughts, what follows them counts. What stands before the first heading is not part of the
    rendering; all that follows LINES is. Where no names are wanted, a reply without a heading is all lines.

    Args:
        reply: The model's text.
        symbols: Those that need a name.
        wants_names: Whether the names are not settled yet.
    """
    blocks: dict[str, list[str]] = {"": []}
    current, faults = "", list[Fault]()
    for line in _THOUGHT_ENDS.split(reply)[-1].splitlines():
        if _FENCE.fullmatch(line) or not line.strip():
            continue
        if match := _HEADING.fullmatch(line):
            current = match[1].upper()
            if current in blocks:
                faults.append(Fault(Code.FORMAT, "", f"there are two blocks {current}"))
            blocks.setdefault(current, [])
        else:
            blocks[current].append(line.strip())
    lines = blocks.get("LINES", [] if wants_names else blocks[""])
    if not lines:
        faults.append(Fault(Code.FORMAT, "", "there is no block that begins with a line LINES, or nothing in it"))
    names: dict[str, str] = {}
    if wants_names:
        if "NAMES" not in blocks:
            faults.append(Fault(Code.FORMAT, "", "there is no block that begins with a line NAMES"))
        faults += _read_names(blocks.get("NAMES", []), symbols, names)
    return Blocks(names, lines, faults)


def _read_names(lines: Sequence[str], symbols: Sequence[str], names: dict[str, str]) -> list[Fault]:
    faults = []
    for line in lines:
        match = _NAME.fullmatch(line)
        if match is None or match["symbol"] not in symbols:
            faults.append(Fault(Code.FORMAT, "", f"{line[:_SHOWN]!r} is not SYMBOL = name with a symbol of the list"))
        elif match["symbol"] in names:
            faults.append(Fault(Code.FORMAT, match["symbol"], f"{match['symbol']} is given a name twice"))
        else:
            names[match["symbol"]] = match["name"].strip(_TRIM)
    return faults
