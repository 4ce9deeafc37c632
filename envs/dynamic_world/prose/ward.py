"""The skin of a hospital ward."""

from __future__ import annotations

from veilgym.envs.dynamic_world.prose.names import Kind, Pool
from veilgym.envs.dynamic_world.prose.pools import (
    BIRD,
    FAMILY,
    GIVEN,
    MODIFIER,
    PLACE_ENDING,
    PLACE_STEM,
    PLANT,
)
from veilgym.envs.dynamic_world.prose.skin import Lexicon, Skin, Words

WARD = Skin(
    name="ward",
    kinds={
        "Entity": Kind("patient", "patients", (Pool("{} {}", (GIVEN, FAMILY)),)),
        "Set": Kind(
            "register",
            "registers",
            (Pool("{} Register", (PLANT,)), Pool("{} {} Register", (MODIFIER, PLANT))),
            article="the ",
        ),
        "Region": Kind(
            "ward",
            "wards",
            (
                Pool("{}{} Ward", (PLACE_STEM, PLACE_ENDING)),
                Pool("{} {}{} Ward", (MODIFIER, PLACE_STEM, PLACE_ENDING)),
            ),
        ),
        "Number": Kind(
            "cabinet",
            "cabinets",
            (Pool("{} Cabinet", (BIRD,)), Pool("{} {} Cabinet", (MODIFIER, BIRD))),
            article="the ",
        ),
    },
    lexicon=Lexicon(
        above=Words(
            ("ahead of", "more urgent than", "of higher priority than"),
            ("behind", "less urgent than", "of lower priority than"),
        ),
        member=Words(("entered in", "a member of", "listed in"), ("joined by",)),
        subset=Words(("a part of", "a section of", "contained in"), ("extended by the whole of",)),
        disjoint=Words(("entirely separate from", "without a single patient in common with")),
        connected=Words(("paired with", "linked with")),
        add=("went up by", "was raised by"),
        subtract=("went down by", "was lowered by"),
        true="on",
        false="off",
    ),
    opening="This is the day book of a hospital. It tells of {census}. Each entry begins with its "
    "reference and, once the day has begun, with the step at which it was made.",
    glossary=(
        "Urgency is a ranking of all patients of the hospital. A patient who is {above} another ranks higher, one who "
        "is {below} another ranks lower. The ward named beside it is where this was noted.",
        "A register is a list of patients. A patient on it is {member} it; such a register is {has_member} the "
        "patient.",
        "A register that is {subset} another is a smaller list inside a larger one; the larger one is {superset} the "
        "smaller one.",
        "Of two registers that share not a single patient, one is {disjoint} the other.",
        "Two patients between whom there is a bond are {connected} each other.",
        "A cabinet holds a number of things, its count. A patient's chart carries marks, each of which is on or off.",
    ),
    start="Before the day began:",
    history="Since then, in the order of time:",
    observations={
        "LOCATED_IN": ("{name} is in {value}", "{name} has a bed in {value}", "in {value} lies {name}"),
        "EQUAL": ("the count of {name} is {value}", "{name} holds {value}", "counted in {name}: {value}"),
    },
    events={
        "MOVE": (
            "{entity} was moved from {origin} to {destination}",
            "{entity} left {origin} for {destination}",
            "{entity} came to {destination} from {origin}",
            "from {origin}, {entity} was taken to {destination}",
        ),
        "ABOVE": (
            "in {region}, {x} was found to be {word} {y}",
            "{x} was judged to be {word} {y} on the round in {region}",
            "the doctor in {region} noted that {x} is {word} {y}",
        ),
        "MEMBER": (
            "{x} is now {word} {y}",
            "from here on {x} is {word} {y}",
            "the clerk wrote down that {x} is {word} {y}",
        ),
        "SUBSET": (
            "{x} is now {word} {y}",
            "it was settled that {x} is {word} {y}",
            "the clerk wrote down that {x} is {word} {y}",
        ),
        "DISJOINT": (
            "{x} is now {word} {y}",
            "the office confirmed that {x} is {word} {y}",
            "it was settled that {x} is {word} {y}",
        ),
        "CONNECTED": ("{x} was {word} {y}", "a nurse saw to it that {x} is {word} {y}", "{x} is now {word} {y}"),
        "UPDATE_NUMBER": (
            "the count of {counter} {word} {amount}, from {before} to {after}",
            "{counter} was checked: its count {word} {amount} and is now {after}; it was {before}",
            "instead of {before}, {counter} now holds {after}, since its count {word} {amount}",
        ),
        "SET_STATE": (
            "the mark {flag} of {entity} was turned from {before} to {after}",
            "for {entity}, the mark {flag} is now {after}; it was {before}",
            "in the chart of {entity}, the mark {flag} went from {before} to {after}",
        ),
    },
    questions={
        "ABOVE": ("as of step {time}, is {x} {word} {y}?", "is it so, as of step {time}, that {x} is {word} {y}?"),
        "MEMBER": ("as of step {time}, is {x} {word} {y}?", "is it so, as of step {time}, that {x} is {word} {y}?"),
    },
)
