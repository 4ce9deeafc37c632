"""A hospital ward: procedures under readings, and whether a patient has a theta sign afterwards."""

from __future__ import annotations

from typing import Final

from veilgym.envs.hidden_system.prose.skin import Skin, forms

WARD: Final = Skin(
    name="ward",
    opening=(
        "These are notes from a hospital ward. Each note sums up a group of patients who were all treated alike.",
        "The last note describes a patient who has not been treated yet. Use the other notes to judge which of the two "
        "outcomes is more likely for this patient.",
    ),
    protocol=(
        "Every patient is admitted afresh and takes part only once, and no patient affects another.",
        "The chart values of a note are fixed on admission and stay as they are until the patient is examined.",
        "The procedures of a note are carried out one after the other, in the order in which they are written.",
        "On admission the theta sign is absent in every patient. After the last procedure a nurse examines whether the "
        "theta sign is present or absent; a note counts these findings over all its patients.",
    ),
    event_heading="Names of the procedures: ",
    attribute_heading="Chart values, and what they can be: ",
    no_attributes="There are no chart values.",
    case_heading="Notes:",
    query_heading="Not treated yet:",
    trial="patient",
    trials="patients",
    outcome="theta sign",
    meaning="after the last procedure the theta sign is more likely {this} than {other} in such a patient",
    events=(
        "chest scan", "knee bend", "pulse check", "warm compress", "foot soak", "ear test", "eye exercise",
        "breathing lesson", "saline drip", "herbal tea", "back massage", "short walk", "balance test", "throat spray",
        "ankle wrap", "finger prick", "hearing exam", "sight test", "posture drill", "blood draw", "rest hour",
        "music session", "cold pack", "heat lamp", "grip test", "reflex tap", "scalp rub", "arm sling", "leg lift",
        "vitamin tablet", "stretch routine", "mint lozenge", "oxygen mask", "elbow bandage", "steam inhalation",
        "jaw exam", "memory quiz", "shoulder roll", "hip turn", "nose swab", "tongue check", "colour test",
        "lung recording", "sleep interview", "mud wrap", "sugar drink", "light meal", "iron capsule",
    ),
    attributes=(
        "bed angle", "pillow height", "mattress warmth", "tray size", "ceiling brightness", "cuff pressure",
        "gown size", "water intake", "noise level", "potassium reading", "waist width", "bite strength", "hand span",
        "window distance", "visiting hours", "sodium reading", "protein reading", "step tally", "nap length",
        "blanket thickness", "age band", "locker number", "fitness score", "pain score", "appetite score", "mood score",
        "corridor length", "air dryness", "calcium reading", "ward crowding", "shoe size", "commute distance",
    ),
    forms=forms(
        "A group of {trials} with {attributes} had {events}; the theta sign was present in {present} and absent "
        "in {absent}.",
        "Chart: {values}. Procedures: {steps}. Theta sign: present in {present} of {trials}, absent in {absent}.",
        "Following {events}, with {attributes} throughout, the theta sign was present in {present} of {trials} and "
        "absent in {absent}.",
        "Of {trials} with {attributes} who had {chain}, {present} ended up with the theta sign present and {absent} "
        "with it absent.",
        "The theta sign was present in {present} of {trials} and absent in {absent}; treatment consisted of {events}, "
        "with {attributes}.",
        "With {attributes} on the chart, treatment was {chain}; the nurse found the theta sign present in {present} of "
        "{trials} and absent in {absent}.",
    ),
    bare_forms=forms(
        "A group of {trials} had {events}; the theta sign was present in {present} and absent in {absent}.",
        "Procedures: {steps}. Theta sign: present in {present} of {trials}, absent in {absent}.",
        "Following {chain}, the theta sign was present in {present} of {trials} and absent in {absent}.",
        "Of {trials} who had {chain}, {present} ended up with the theta sign present and {absent} with it absent.",
    ),
    query_forms=forms(
        "Chart: {values}. Procedures: {steps}. Theta sign: not examined. Which outcome is more likely?",
        "A patient with {attributes} is to have {events}. Which outcome is more likely for this patient?",
        "Suppose that a patient with {attributes} has {chain}. Which outcome is more likely at the end?",
    ),
    bare_query_forms=forms(
        "Procedures: {steps}. Theta sign: not examined. Which outcome is more likely?",
        "A patient is to have {events}. Which outcome is more likely for this patient?",
    ),
)  # fmt: skip
