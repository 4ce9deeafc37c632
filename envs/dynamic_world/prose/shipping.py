"""The skin of a shipping office."""

from __future__ import annotations

from veilgym.envs.dynamic_world.prose.names import Kind, Pool
from veilgym.envs.dynamic_world.prose.pools import BIRD, MINERAL, MODIFIER, PLACE_ENDING, PLACE_STEM, PLANT
from veilgym.envs.dynamic_world.prose.skin import Lexicon, Skin, Words

SHIPPING = Skin(
    name="shipping",
    kinds={
        "Entity": Kind("vessel", "vessels", (Pool("{} {}", (MODIFIER, BIRD)),), article="the "),
        "Set": Kind(
            "fleet",
            "fleets",
            (Pool("{} Fleet", (PLANT,)), Pool("{} {} Fleet", (MODIFIER, PLANT))),
            article="the ",
        ),
        "Region": Kind(
            "port",
            "ports",
            (
                Pool("Port {}{}", (PLACE_STEM, PLACE_ENDING)),
                Pool("Port {} {}{}", (MODIFIER, PLACE_STEM, PLACE_ENDING)),
            ),
        ),
        "Number": Kind(
            "ledger",
            "ledgers",
            (Pool("{} Ledger", (MINERAL,)), Pool("{} {} Ledger", (MODIFIER, MINERAL))),
            article="the ",
        ),
    },
    lexicon=Lexicon(
        above=Words(("above", "senior to", "ahead of"), ("below", "junior to", "behind")),
        member=Words(("enrolled in", "a member of", "on the roll of"), ("joined by",)),
        subset=Words(("a division of", "a part of", "contained in"), ("enlarged by the whole of",)),
        disjoint=Words(("entirely separate from", "without a single vessel in common with")),
        connected=Words(("in radio contact with", "linked with")),
        add=("was credited with", "grew by"),
        subtract=("was debited with", "shrank by"),
        true="raised",
        false="lowered",
    ),
    opening="This is the log of a shipping office. It tells of {census}. Each entry begins with its "
    "reference and, once the log had been opened, with the step at which it was made.",
    glossary=(
        "Vessels are ranked, all in one order. A vessel that is {above} another has the higher rank, one that is "
        "{below} another has the lower rank. The port named beside it is where this was noted.",
        "A fleet is a group of vessels. A vessel that belongs to it is {member} it; such a fleet is {has_member} the "
        "vessel.",
        "A fleet that is {subset} another is a smaller group inside a larger one; the larger one is {superset} the "
        "smaller one.",
        "Of two fleets that share not a single vessel, one is {disjoint} the other.",
        "Two vessels that can call each other are {connected} each other.",
        "A ledger has a balance, which is a number. A vessel flies signals, each of which is raised or lowered.",
    ),
    start="When the log was opened:",
    history="What was logged since, in the order of time:",
    observations={
        "LOCATED_IN": ("{name} is in {value}", "{name} lies at anchor in {value}", "berthed in {value} is {name}"),
        "EQUAL": ("{name} stands at {value}", "the balance of {name} is {value}", "{value} is the balance of {name}"),
    },
    events={
        "MOVE": (
            "{entity} sailed from {origin} to {destination}",
            "{entity} left {origin} for {destination}",
            "{entity} came to {destination} from {origin}",
            "from {origin}, {entity} put out to {destination}",
        ),
        "ABOVE": (
            "{x} was ranked {word} {y} in {region}",
            "the harbour master of {region} decided that {x} is {word} {y}",
            "in {region}, {x} was declared to be {word} {y}",
        ),
        "MEMBER": (
            "{x} is now {word} {y}",
            "the office recorded that {x} is {word} {y}",
            "from here on {x} is {word} {y}",
        ),
        "SUBSET": (
            "{x} is now {word} {y}",
            "the owners agreed that {x} is {word} {y}",
            "the office recorded that {x} is {word} {y}",
        ),
        "DISJOINT": (
            "{x} is now {word} {y}",
            "the owners agreed that {x} is {word} {y}",
            "a comparison showed that {x} is {word} {y}",
        ),
        "CONNECTED": (
            "{x} is now {word} {y}",
            "the radio room reported that {x} is {word} {y}",
            "a test showed that {x} is {word} {y}",
        ),
        "UPDATE_NUMBER": (
            "{counter} {word} {amount} and went from {before} to {after}",
            "{counter} {word} {amount}, taking it from {before} to {after}",
            "{counter} now stands at {after} instead of {before}: it {word} {amount}",
        ),
        "SET_STATE": (
            "the signal {flag} of {entity} was changed from {before} to {after}",
            "on {entity}, the signal {flag} is now {after}; it was {before}",
            "{entity} changed its signal {flag} from {before} to {after}",
        ),
    },
    questions={
        "ABOVE": ("as of step {time}, is {x} {word} {y}?", "is it true, as of step {time}, that {x} is {word} {y}?"),
        "MEMBER": ("as of step {time}, is {x} {word} {y}?", "is it true, as of step {time}, that {x} is {word} {y}?"),
    },
)
