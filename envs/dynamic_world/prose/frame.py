"""What of a text is the same for all worlds with the same names and options: all but the entries and the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from veilgym.envs.dynamic_world.grammar import ENTITY_TYPES
from veilgym.envs.dynamic_world.prose.names import Kind
from veilgym.envs.dynamic_world.prose.skin import Skin

QUESTION = "Question: "
DIFFICULTY = "Difficulty (the least number of entries that have to be combined): "
NONE = "none"
SEPARATOR = ", "


def opening_lines(skin: Skin, counts: Mapping[str, int]) -> list[str]:
    """Where the reader is."""
    census = [_counted(counts[kind], skin.kinds[kind]) for kind in ENTITY_TYPES]
    return [skin.opening.format(census=f"{', '.join(census[:-1])} and {census[-1]}")]


def label_of(kind: Kind) -> str:
    """What a list of names begins with."""
    return f"{kind.many.capitalize()}: "


def listing_lines(skin: Skin, names: Mapping[str, Sequence[str]]) -> list[str]:
    """All names, one kind a line."""
    return [f"{label_of(skin.kinds[kind])}{SEPARATOR.join(names[kind]) or NONE}." for kind in ENTITY_TYPES]


def glossary_lines(skin: Skin) -> list[str]:
    """What the words mean."""
    lexicon = skin.lexicon
    words = {
        "above": lexicon.above.forward,
        "below": lexicon.above.backward,
        "member": lexicon.member.forward,
        "has_member": lexicon.member.backward,
        "subset": lexicon.subset.forward,
        "superset": lexicon.subset.backward,
        "disjoint": lexicon.disjoint.forward,
        "connected": lexicon.connected.forward,
    }
    phrases = {key: _or([f'"{word}"' for word in of_key]) for key, of_key in words.items() if of_key}
    return ["How the words are used:", *[f"- {line.format(**phrases)}" for line in skin.glossary]]


def answer_lines(options: Sequence[str]) -> list[str]:
    """How to answer."""
    return [
        f"The entries settle the question. Possible answers, in this order: {SEPARATOR.join(options)}.",
        "YES means that it is so, NO that it is not.",
        "Think it over, then end with one line of this form: " + _or([f'"Answer: {option}"' for option in options]),
    ]


def _counted(count: int, kind: Kind) -> str:
    return f"{count} {kind.one if count == 1 else kind.many}"


def _or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
