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
        "dock scan", "pallet turn", "crane lift", "weight check", "lid inspection", "broker call", "forklift transfer",
        "berth change", "hatch opening", "rope splice", "crate rotation", "barge crossing", "depot visit", "rail leg",
        "truck leg", "ferry leg", "harbour tow", "customs interview", "invoice copy", "manifest reading",
        "strap adjustment", "shelf move", "cargo photo", "door count", "ramp roll", "conveyor ride", "yard survey",
        "lane swap", "winch pull", "chain fitting", "bay transfer", "overnight stay", "seam check", "corner padding",
        "foam layer", "tarp fold", "net spread", "hoist test", "plank fitting", "quay drop", "chute slide",
        "gauge reading", "duty form", "coast detour", "axle spin", "canal passage", "lift ride", "ballast shift",
    ),
    attributes=(
        "parcel width", "load mass", "belt tension", "channel depth", "platform height", "crew size", "deck level",
        "road width", "tide height", "wind force", "hull draught", "stack height", "box length", "line thickness",
        "fuel reserve", "route length", "port fee", "idle days", "working hours", "aisle width", "hold temperature",
        "wave height", "cable strain", "paper thickness", "wrapper density", "slope angle", "wheel load",
        "engine speed", "hangar capacity", "portal height", "pier length", "insurance class",
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
        "Out of {trials} with {attributes} that underwent {chain}, {present} had the yellow tag present and {absent} "
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
