"""A shipping office: operations on consignments with given particulars, and whether they bear a yellow tag."""

from __future__ import annotations

from typing import Final

from veilgym.envs.hidden_system.prose.skin import Skin, forms

SHIPPING: Final = Skin(
    name="shipping",
    opening=(
        "This is the ledger of a shipping office. Each line sums up a batch of consignments that were all handled "
        "alike.",
        "The last line describes a consignment that has not been handled yet. Use the other lines to judge which of "
        "the two outcomes is more likely for it.",
    ),
    protocol=(
        "Every consignment is handled afresh and only once, and no consignment affects another.",
        "The particulars of a line are fixed at booking and stay as they are until the consignment is inspected.",
        "The operations of a line are carried out one after the other, in the order in which they are written.",
        "At booking the yellow tag is absent on every consignment. After the last operation a clerk inspects whether "
        "the yellow tag is present or absent; a line counts these findings over its whole batch.",
    ),
    event_heading="Names of the operations: ",
    attribute_heading="Particulars and the values that they can have: ",
    no_attributes="There are no particulars.",
    case_heading="Lines:",
    query_heading="Not handled yet:",
    trial="consignment",
    trials="consignments",
    outcome="yellow tag",
    meaning="after the last operation the yellow tag is more likely {this} than {other} on such a consignment",
    events=(
        "dock scan", "pallet turn", "crane lift", "weight check", "lid inspection", "route call", "forklift transfer",
        "berth change", "hatch opening", "rope splice", "crate rotation", "barge crossing", "depot stop", "rail leg",
        "truck leg", "ferry leg", "harbour tour", "customs interview", "invoice copy", "manifest reading",
        "strap adjustment", "shelf move", "cargo photo", "door count", "ramp roll", "conveyor ride", "yard survey",
        "queue swap", "winch pull", "anchor drill", "bay transfer", "night watch", "morning roll call", "corner knock",
        "foam layer", "tarp fold", "ladder climb", "hoist test", "engine idle", "quay walk", "buoy sighting",
        "gauge reading", "office memo", "island detour", "axle spin", "canal passage", "elevator trip", "ballast shift",
    ),
    attributes=(
        "crate width", "load weight", "strap tension", "berth depth", "pallet height", "crew size", "deck level",
        "lane width", "tide height", "wind force", "hull draught", "stack height", "box length", "rope thickness",
        "fuel reserve", "route length", "port fee", "storage days", "shift length", "aisle width", "hold temperature",
        "wave height", "cable strain", "paper thickness", "foam density", "ramp angle", "axle load", "engine speed",
        "bay capacity", "door height", "quay length", "insurance class",
    ),
    forms=forms(
        "Booked with {attributes} and sent through {chain}, {present} of {trials} had the yellow tag present and "
        "{absent} had it absent.",
        "Particulars: {values}. Operations: {steps}. Yellow tag: present on {present} of {trials}, absent on {absent}.",
        "For a batch of {trials} with {attributes}, the order was {events}; the yellow tag was present on {present} "
        "and absent on {absent}.",
        "On completion of {chain}, with {attributes} throughout, the yellow tag was present on {present} of {trials} "
        "and absent on {absent}.",
        "The clerk found the yellow tag present on {present} of {trials} and absent on {absent}; handling consisted of "
        "{events}, with {attributes}.",
        "Out of {trials} with {attributes} that underwent {events}, {present} had the yellow tag present and {absent} "
        "had it absent.",
    ),
    bare_forms=forms(
        "Sent through {chain}, {present} of {trials} had the yellow tag present and {absent} had it absent.",
        "Operations: {steps}. Yellow tag: present on {present} of {trials}, absent on {absent}.",
        "For a batch of {trials}, the order was {events}; the yellow tag was present on {present} and absent on "
        "{absent}.",
        "On completion of {chain}, the yellow tag was present on {present} of {trials} and absent on {absent}.",
    ),
    query_forms=forms(
        "Particulars: {values}. Operations: {steps}. Yellow tag: not inspected. Which outcome is more likely?",
        "A consignment with {attributes} is to undergo {events}. Which outcome is more likely for it?",
        "Suppose that a consignment is booked with {attributes} and sent through {chain}. Which outcome is more "
        "likely at the end?",
    ),
    bare_query_forms=forms(
        "Operations: {steps}. Yellow tag: not inspected. Which outcome is more likely?",
        "A consignment is to undergo {events}. Which outcome is more likely for it?",
    ),
)  # fmt: skip
