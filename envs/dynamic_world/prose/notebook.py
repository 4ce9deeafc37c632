"""The skin of a laboratory notebook."""

from __future__ import annotations

from veilgym.envs.dynamic_world.prose.names import Kind, Pool
from veilgym.envs.dynamic_world.prose.pools import BIRD, MINERAL, MODIFIER, PLACE_ENDING, PLACE_STEM, PLANT
from veilgym.envs.dynamic_world.prose.skin import Lexicon, Skin, Words

NOTEBOOK = Skin(
    name="notebook",
    kinds={
        "Entity": Kind("sample", "samples", (Pool("{} {}", (MODIFIER, MINERAL)),)),
        "Set": Kind(
            "class",
            "classes",
            (Pool("{} Class", (BIRD,)), Pool("{} {} Class", (MODIFIER, BIRD))),
            article="the ",
        ),
        "Region": Kind(
            "bench",
            "benches",
            (
                Pool("{}{} Bench", (PLACE_STEM, PLACE_ENDING)),
                Pool("{} {}{} Bench", (MODIFIER, PLACE_STEM, PLACE_ENDING)),
            ),
            article="the ",
        ),
        "Number": Kind(
            "gauge",
            "gauges",
            (Pool("{} Gauge", (PLANT,)), Pool("{} {} Gauge", (MODIFIER, PLANT))),
            article="the ",
        ),
    },
    lexicon=Lexicon(
        above=Words(("above", "higher than", "superior to"), ("below", "lower than", "inferior to")),
        member=Words(("classed in", "a member of", "filed in")),
        subset=Words(("a subclass of", "wholly inside", "a part of"), ("an enclosing class of",)),
        disjoint=Words(("without any overlap with", "entirely distinct from")),
        connected=Words(("wired to", "joined by a tube to")),
        add=("rose by", "climbed by"),
        subtract=("fell by", "dropped by"),
        true="ticked",
        false="crossed out",
    ),
    opening="This is a laboratory notebook. It tells of {census}. Each entry begins with its "
    "reference and, after the first observations, with the step at which it was made.",
    glossary=(
        "The samples are ranked on one scale. A sample that is {above} another stands further up on it, one that is "
        "{below} another stands further down. The bench named beside it is where this was observed.",
        "A class is a collection of samples. A sample that belongs to it is {member} it.",
        "A class that is {subset} another is a smaller collection inside a larger one; the larger one is {superset} "
        "the smaller one.",
        "Of two classes that share not a single sample, one is {disjoint} the other.",
        "Two samples between which there is a line are {connected} each other.",
        "A gauge shows a number, its reading. A sample's tag has boxes, each of which is ticked or crossed out.",
    ),
    start="First observations:",
    history="Entries, in the order of time:",
    observations={
        "LOCATED_IN": ("{name} is at {value}", "{name} stands on {value}", "seen on {value}: {name}"),
        "EQUAL": ("{name} reads {value}", "the reading of {name} is {value}", "{name} points to {value}"),
    },
    events={
        "MOVE": (
            "moved {entity} from {origin} to {destination}",
            "{entity} was carried from {origin} to {destination}",
            "{entity} left {origin} for {destination}",
            "brought {entity} over to {destination} from {origin}",
        ),
        "ABOVE": (
            "compared at {region}: {x} is {word} {y}",
            "at {region}, {x} was found to be {word} {y}",
            "{x} came out {word} {y} in the test at {region}",
        ),
        "MEMBER": (
            "{x} is now {word} {y}",
            "after inspection, {x} is {word} {y}",
            "noted that {x} is {word} {y}",
        ),
        "SUBSET": (
            "{x} turns out to be {word} {y}",
            "noted that {x} is {word} {y}",
            "by its definition, {x} is {word} {y}",
        ),
        "DISJOINT": (
            "{x} turns out to be {word} {y}",
            "noted that {x} is {word} {y}",
            "by its definition, {x} is {word} {y}",
        ),
        "CONNECTED": (
            "{x} is now {word} {y}",
            "saw to it that {x} is {word} {y}",
            "for the next run, {x} was {word} {y}",
        ),
        "UPDATE_NUMBER": (
            "{counter} {word} {amount}, from {before} to {after}",
            "the reading of {counter} {word} {amount} and is now {after}; it was {before}",
            "read {after} on {counter} after {before}: it {word} {amount}",
        ),
        "SET_STATE": (
            "changed the box {flag} of {entity} from {before} to {after}",
            "the box {flag} on the tag of {entity} is now {after}; it was {before}",
            "on the tag of {entity}, the box {flag} went from {before} to {after}",
        ),
    },
    questions={
        "ABOVE": ("as of step {time}, is {x} {word} {y}?", "can one say, as of step {time}, that {x} is {word} {y}?"),
        "MEMBER": ("as of step {time}, is {x} {word} {y}?", "can one say, as of step {time}, that {x} is {word} {y}?"),
    },
)
