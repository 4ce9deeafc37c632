"""A language model as renderer: it receives a payload alone, and what it writes is used only if it is faithful.

A long payload is told in parts of some lines each, since a history of 400 lines fits no small context: the first part
also fixes the names, every part is verified on its own and asked for again with its faults, and the whole is verified
once more at the end. A rendering that stays unfaithful is reported with the codes of its faults and never used.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from veilgym.envs.core.fidelity import Code, Fault
from veilgym.envs.core.prose import Rendering
from veilgym.wrappers.model_brief import Brief, Payload, brief_of, request
from veilgym.wrappers.model_reply import read_reply

_TOLD = 12  # faults that the model is told at once
_LONGEST = 1_000_000  # characters of a reply
_KEPT = 100  # faults of a rejected rendering

Message = tuple[str, str]
"""A role ("system", "user" or "assistant") and what is said."""


class Reply(msgspec.Struct, frozen=True):
    """What a model returned.

    Attributes:
        text: The reply.
        stop: "stop", or why it ended otherwise: "length" for the limit of tokens, "refused" for a withheld reply.
        tokens: Read and written.
        cost: In dollars, 0 where the provider does not tell.
    """

    text: str
    stop: str = "stop"
    tokens: tuple[int, int] = (0, 0)
    cost: float = 0.0


Ask = Callable[[list[Message]], Awaitable[Reply]]


class Spent(msgspec.Struct):
    """What was spent on a rendering: requests, tokens read and written, dollars."""

    requests: int = 0
    tokens_read: int = 0
    tokens_written: int = 0
    cost: float = 0.0

    def add(self, reply: Reply) -> None:
        """Count one more reply."""
        self.requests += 1
        self.tokens_read += reply.tokens[0]
        self.tokens_written += reply.tokens[1]
        self.cost += reply.cost


class Attempt(msgspec.Struct, frozen=True):
    """How rendering one payload ended.

    Attributes:
        rendering: None if it was rejected.
        faults: Those of the last try, a hundred at most; empty for a rendering.
        spent: On all tries.
        last_reply: The reply that was rejected last, for whoever wants to read it; "" for a rendering.
    """

    rendering: Rendering | None
    faults: list[Fault]
    spent: Spent
    last_reply: str = ""


async def render_payload(payload: Payload, ask: Ask, skin: str, *, tries: int = 3, part_size: int = 40) -> Attempt:
    """Let a model tell a payload.

    Args:
        payload: The public half of an instance.
        ask: Sends messages to the model. What it raises is no fault of the rendering and is not caught.
        skin: What the rendering's skin is called, such as "model:NAME".
        tries: Requests a part, at least 1.
        part_size: Records a part, at least 1.

    Raises:
        ValueError: `payload` is no payload.
    """
    brief, spent = brief_of(payload), Spent()
    parts = brief.parts(part_size)
    names: dict[str, str] | None = None
    lines: list[str] = []
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        told = await _tell(brief, part, names, is_last, ask, tries, spent)
        if told.faults:
            return Attempt(None, told.faults[:_KEPT], spent, told.reply)
        names = told.names
        lines += told.lines
    text = brief.compose(names or {}, lines)
    if faults := brief.check(payload, text, names or {}):
        return Attempt(None, faults[:_KEPT], spent, text)
    return Attempt(Rendering(skin, text, dict(names or {})), [], spent)


class _Told(msgspec.Struct, frozen=True):
    names: dict[str, str]
    lines: list[str]
    faults: list[Fault]
    reply: str


async def _tell(
    brief: Brief, part: Any, names: Mapping[str, str] | None, is_last: bool, ask: Ask, tries: int, spent: Spent
) -> _Told:
    """Ask for one part until it is faithful or the tries are used up."""
    asked: list[Message] = [("system", brief.system), ("user", request(brief, part, names, is_last))]
    messages = list(asked)
    told = _Told({}, [], [], "")
    for _ in range(tries):
        reply = await ask(messages)
        spent.add(reply)
        told = _read(brief, part, names, is_last, reply)
        if not told.faults:
            break
        # Of all tries only the last is shown again: contexts are small.
        messages = [*asked, ("assistant", reply.text or "(nothing)"), ("user", _complaint(told.faults))]
    return told


def _read(brief: Brief, part: Any, names: Mapping[str, str] | None, is_last: bool, reply: Reply) -> _Told:
    """The names, the lines and the faults of a reply."""
    if reply.stop == "refused":
        return _Told({}, [], [Fault(Code.REFUSED, "", "the provider withheld the reply")], reply.text)
    blocks = read_reply(reply.text[:_LONGEST], brief.symbols, wants_names=names is None)
    found = dict(blocks.names if names is None else names)
    faults = list(blocks.faults)
    if reply.stop == "length" or len(reply.text) > _LONGEST:
        faults.insert(0, Fault(Code.CUT_OFF, "", "the reply ends at the limit of tokens"))
    if not blocks.faults:
        missing = [symbol for symbol in brief.symbols if symbol not in found]
        if missing:  # the frame needs them all
            faults += [Fault(Code.NAME_MISSING, symbol, f"{symbol} has no name") for symbol in missing]
        else:
            faults += brief.check_part(part, blocks.lines, found, is_last)
    return _Told(found, blocks.lines, faults, reply.text)


def _complaint(faults: list[Fault]) -> str:
    told = [f"- {fault.sentence} ({fault.code.value})" for fault in faults[:_TOLD]]
    more = [f"- and {len(faults) - _TOLD} more of this kind"] if len(faults) > _TOLD else []
    return "\n".join(["This is not faithful to the records:", *told, *more, "Write the blocks once more, corrected."])
