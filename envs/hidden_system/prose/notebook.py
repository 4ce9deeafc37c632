"""A laboratory notebook: steps under settings, and whether a grey band is there after a run."""

from __future__ import annotations

from typing import Final

from veilgym.envs.hidden_system.prose.skin import Skin, forms

NOTEBOOK: Final = Skin(
    name="notebook",
    opening=(
        "These are pages of a laboratory notebook. Each entry sums up repeated runs on one and the same kind of "
        "sample.",
        "The last entry describes a run that has not been made. Use the other entries to judge which of its two "
        "outcomes is more likely.",
    ),
    protocol=(
        "Every run of an entry starts anew with a fresh sample, and no run affects another.",
        "The settings of an entry are fixed before a run and stay as they are until it ends.",
        "The steps of an entry are carried out one after the other, in the order in which they are written.",
        "At the start of every run the grey band is absent. After the last step it is noted whether the grey band is "
        "present or absent; an entry counts these notes over all its runs.",
    ),
    event_heading="Names of the steps: ",
    attribute_heading="Settings and the values that they can have: ",
    no_attributes="There are no settings.",
    case_heading="Entries:",
    query_heading="Not carried out yet:",
    trial="run",
    trials="runs",
    outcome="grey band",
    meaning="after the last step of such a run the grey band is more likely {this} than {other}",
    events=(
        "ice bath", "slow stir", "gentle shake", "quarter turn", "lamp flash", "short spin", "bell tone", "fan breeze",
        "steam puff", "copper dip", "glass tilt", "cork twist", "mirror flip", "prism pass", "magnet sweep",
        "vapour draw", "pipette squeeze", "tray slide", "water drop", "salt pinch", "wire tap", "tube roll",
        "flask swirl", "paper fold", "thread pull", "rod stroke", "bead pour", "lens shift", "spring press",
        "clamp turn", "foil wrap", "beam crossing", "spark burst", "pump cycle", "oil drip", "air bubble", "sieve pass",
        "needle prick", "pebble toss", "ribbon loop", "dial click", "sand bath", "plate swap", "palm press",
        "echo test", "mist spray", "amber ray", "buzzer pulse",
    ),
    attributes=(
        "salinity", "table slope", "shelf distance", "basin depth", "stand height", "vessel volume", "humidity",
        "bench temperature", "room pressure", "jar width", "hose length", "light intensity", "grain size", "mesh width",
        "sensor gain", "fluid density", "acidity", "optical power", "cable gauge", "field strength", "sample mass",
        "surface tension", "ring diameter", "cell voltage", "noise amplitude", "viscosity", "hardness", "peg spacing",
        "flow rate", "cone angle", "gas fraction", "sugar content",
    ),
    forms=forms(
        "With {attributes}, we carried out {events}; the grey band was present in {present} of {trials} and absent in "
        "{absent}.",
        "Settings: {values}. Procedure: {steps}. Grey band: present in {present} of {trials}, absent in {absent}.",
        "After {events}, with {attributes} throughout, the grey band was present in {present} of {trials} and absent "
        "in {absent}.",
        "Of {trials} with {attributes} that consisted of {chain}, {present} ended with the grey band present and "
        "{absent} with it absent.",
        "The grey band was present in {present} of {trials} and absent in {absent}; the procedure was {events}, with "
        "{attributes}.",
        "We fixed {attributes} and recorded {trials} of {chain}: grey band present in {present}, absent in {absent}.",
    ),
    bare_forms=forms(
        "We carried out {events}; the grey band was present in {present} of {trials} and absent in {absent}.",
        "Procedure: {steps}. Grey band: present in {present} of {trials}, absent in {absent}.",
        "After {chain}, the grey band was present in {present} of {trials} and absent in {absent}.",
        "Of {trials} that consisted of {chain}, {present} ended with the grey band present and {absent} with it "
        "absent.",
    ),
    query_forms=forms(
        "Settings: {values}. Procedure: {steps}. Grey band: not known. Which outcome is more likely at the end?",
        "Suppose that we fix {attributes} and carry out {events}. Which outcome is more likely at the end of the run?",
        "A run is planned with {attributes}; it is to consist of {chain}. Which outcome is more likely at its end?",
    ),
    bare_query_forms=forms(
        "Procedure: {steps}. Grey band: not known. Which outcome is more likely at the end?",
        "Suppose that we carry out {events}. Which outcome is more likely at the end of the run?",
    ),
)  # fmt: skip
