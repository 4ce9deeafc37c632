"""One name for each symbol of an instance, drawn from the pools of a skin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from veilgym.envs.core.prose import Choices
from veilgym.envs.hidden_system.grammar import BehaviorPayload
from veilgym.envs.hidden_system.prose.skin import Skin

# Q is what the query is called.
_LETTERS: Final = "ABCDEFGHIJKLMNOPRSTUVWXYZ"


def draw_names(payload: BehaviorPayload, skin: Skin, choices: Choices) -> dict[str, str]:
    """The name of each event and attribute; a symbol that is both has one name."""
    events = payload.event_vocabulary
    attributes = [symbol for symbol in sorted(payload.attribute_vocabulary) if symbol not in events]
    return {
        **dict(zip(events, _draw(choices, "events", skin.events, len(events)), strict=True)),
        **dict(zip(attributes, _draw(choices, "attributes", skin.attributes, len(attributes)), strict=True)),
    }


def with_article(name: str) -> str:
    """A name of an event with "a" or "an"; pools hold none whose first letter misleads."""
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _draw(choices: Choices, purpose: str, pool: Sequence[str], count: int) -> list[str]:
    """`count` names, none of which is part of another; of several types if the pool alone has too few."""
    if count > len(pool):
        types = -(-count // len(pool))
        pool = [f"type {_letters(i)} {name}" for i in range(types) for name in pool]
    return choices.sample(purpose, pool, count)


def _letters(i: int) -> str:
    """A, B, ... for 0, 1, ..., and AA after Z."""
    more, last = divmod(i, len(_LETTERS))
    return (_letters(more - 1) if more else "") + _LETTERS[last]
