"""The plain technical skin."""

from __future__ import annotations

from veilgym.envs.dynamic_world.prose.names import Kind, Pool
from veilgym.envs.dynamic_world.prose.pools import BIRD, MINERAL, MODIFIER, PLACE_ENDING, PLACE_STEM, PLANT
from veilgym.envs.dynamic_world.prose.skin import Lexicon, Skin, Words

TECHNICAL = Skin(
    name="technical",
    kinds={
        "Entity": Kind("node", "nodes", (Pool("Node {}", (BIRD,)), Pool("Node {} {}", (MODIFIER, BIRD)))),
        "Set": Kind("group", "groups", (Pool("Group {}", (PLANT,)), Pool("Group {} {}", (MODIFIER, PLANT)))),
        "Region": Kind(
            "zone",
            "zones",
            (
                Pool("Zone {}{}", (PLACE_STEM, PLACE_ENDING)),
                Pool("Zone {} {}{}", (MODIFIER, PLACE_STEM, PLACE_ENDING)),
            ),
        ),
        "Number": Kind(
            "counter",
            "counters",
            (Pool("Counter {}", (MINERAL,)), Pool("Counter {} {}", (MODIFIER, MINERAL))),
        ),
    },
    lexicon=Lexicon(
        above=Words(("above", "higher than", "superior to"), ("below", "lower than", "inferior to")),
        member=Words(("a member of", "assigned to", "an element of")),
        subset=Words(("a subset of", "included in", "contained in"), ("a superset of",)),
        disjoint=Words(("disjoint from", "without a common element with")),
        connected=Words(("connected to", "linked to")),
        add=("increased by", "plus"),
        subtract=("decreased by", "minus"),
        true="true",
        false="false",
    ),
    opening="This is the record of a system. It consists of {census}. Each entry begins with its "
    "reference and, from the first event on, with the step at which it was made.",
    glossary=(
        "Nodes are ranked, all in one order. A node that is {above} another ranks higher, one that is {below} another "
        "ranks lower. The zone named beside it is where this was recorded.",
        "A group is a set of nodes. A node that belongs to it is {member} it.",
        "A group that is {subset} another is a smaller set inside a larger one; the larger one is {superset} the "
        "smaller one.",
        "Of two groups that share not a single node, one is {disjoint} the other.",
        "Two nodes with a line between them are {connected} each other.",
        "A counter has a value, which is a number. A node has attributes, each of which is true or false.",
    ),
    start="Initial state:",
    history="Events, in the order of time:",
    observations={
        "LOCATED_IN": ("{name} is in {value}", "the zone of {name} is {value}", "{value} contains {name}"),
        "EQUAL": ("{name} is {value}", "the value of {name} is {value}", "{name} starts with the value {value}"),
    },
    events={
        "MOVE": (
            "{entity} moves from {origin} to {destination}",
            "{entity} has left {origin} for {destination}",
            "transfer of {entity} to {destination}, from {origin}",
            "from {origin}, {entity} is transferred to {destination}",
        ),
        "ABOVE": (
            "in {region}, {x} is {word} {y}",
            "{x} is {word} {y}, recorded in {region}",
            "{region} reports that {x} is {word} {y}",
        ),
        "MEMBER": ("{x} is {word} {y}", "{x} is now {word} {y}", "it is recorded that {x} is {word} {y}"),
        "SUBSET": ("{x} is {word} {y}", "{x} is now {word} {y}", "it is recorded that {x} is {word} {y}"),
        "DISJOINT": ("{x} is {word} {y}", "{x} is now {word} {y}", "it is recorded that {x} is {word} {y}"),
        "CONNECTED": ("{x} is {word} {y}", "{x} is now {word} {y}", "it is recorded that {x} is {word} {y}"),
        "UPDATE_NUMBER": (
            "{counter} changes from {before} to {after} ({word} {amount})",
            "{counter} is now {after}, which is {before} {word} {amount}",
            "the value of {counter}, {before} {word} {amount}, becomes {after}",
        ),
        "SET_STATE": (
            "attribute {flag} of {entity} changes from {before} to {after}",
            "{entity} has attribute {flag} set to {after}; it was {before}",
            "for {entity}, attribute {flag} is now {after}, previously {before}",
        ),
    },
    questions={
        "ABOVE": ("as of step {time}, is {x} {word} {y}?", "does it hold, as of step {time}, that {x} is {word} {y}?"),
        "MEMBER": ("as of step {time}, is {x} {word} {y}?", "does it hold, as of step {time}, that {x} is {word} {y}?"),
    },
)
