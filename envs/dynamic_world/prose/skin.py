"""What a skin is made of: its words, and the sentences in which it tells what a payload says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from veilgym.envs.dynamic_world.prose.names import Kind


@dataclass(frozen=True)
class Words:
    """The words for a relation of two symbols, as they stand between both names.

    Attributes:
        forward: `X word Y` says that X is the relation's first argument and Y its second.
        backward: `X word Y` says that Y is the first and X the second.
    """

    forward: tuple[str, ...]
    backward: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lexicon:
    """The words that decide what an entry says; those of one field are in no word of another field or side.

    Attributes:
        above, member, subset, disjoint, connected: The relations, by the order of mention.
        origin, destination: What stands directly before the region that is left, and before the one that is entered,
            but for its article.
        add, subtract: What stands directly before the amount by which a counter changes.
        true, false: The values of a mark, as which flags are told.
    """

    above: Words
    member: Words
    subset: Words
    disjoint: Words
    connected: Words
    add: tuple[str, ...]
    subtract: tuple[str, ...]
    true: str
    false: str
    origin: tuple[str, ...] = ("from", "left")
    destination: tuple[str, ...] = ("to", "for")


@dataclass(frozen=True)
class Skin:
    """A surface in which worlds are told.

    Sentences have places for what they tell, as {entity}; a relation is told of {x} and {y}, with {word} for one of the
    lexicon's words, and a change of a counter with {word} for one of `add` or `subtract`.

    Attributes:
        name: What it is asked for by.
        kinds: By type.
        lexicon: The words that decide.
        opening: Where the reader is, with {census} for how many there are of each kind.
        glossary: What the words mean, with a relation's words at {above}, {below}, {member}, {subset}, {superset},
            {disjoint}, {connected}.
        start, history: Headings of the initial facts and of the events.
        observations: Sentences by the relation of an initial fact, of {name} and {value}.
        events: Sentences by kind, or by relation for RELATE.
        questions: Sentences by predicate, of {x}, {y}, {word} and {time}.
    """

    name: str
    kinds: Mapping[str, Kind]
    lexicon: Lexicon
    opening: str
    glossary: tuple[str, ...]
    start: str
    history: str
    observations: Mapping[str, tuple[str, ...]]
    events: Mapping[str, tuple[str, ...]]
    questions: Mapping[str, tuple[str, ...]]
