"""A plain test report: operations under parameters, and whether a record is there at the end of a trial."""

from __future__ import annotations

from typing import Final

from veilgym.envs.hidden_system.prose.skin import Skin, forms

TECHNICAL: Final = Skin(
    name="technical",
    opening=(
        "This is a test report. Each case sums up repeated trials of one and the same system.",
        "The last case has not been run. Use the other cases to judge which of its two outcomes is more likely.",
    ),
    protocol=(
        "Every trial starts from a new copy of the system, and no trial affects another.",
        "The parameters of a case are fixed before a trial and do not change during it.",
        "The operations of a case are executed one after the other, in the order in which they are written.",
        "At the start of every trial the record is absent. After the last operation it is checked whether the record "
        "is present or absent; a case counts these checks over all its trials.",
    ),
    event_heading="Operations: ",
    attribute_heading="Parameters and their possible values: ",
    no_attributes="There are no parameters.",
    case_heading="Cases:",
    query_heading="Not run:",
    trial="trial",
    trials="trials",
    outcome="record",
    meaning="after the last operation of such a trial the record is more likely {this} than {other}",
    events=(
        "sync pulse", "port scan", "cache read", "ping burst", "clock tick", "buffer swap", "packet relay",
        "path walk", "thread yield", "page fetch", "socket poll", "queue shuffle", "disk seek", "kernel call",
        "table join", "tree rotation", "heap sort", "bus transfer", "channel hop", "frame shift", "block shift",
        "sector probe", "stack unwind", "token pass", "link probe", "memory probe", "key exchange", "ticket poll",
        "node visit", "carrier sweep", "timer wait", "mode query", "signal echo", "array scan", "batch merge",
        "cursor jump", "window resize", "pixel draw", "schema scan", "event poll", "input replay", "output pass",
        "interrupt test", "byte swap", "vector sum", "matrix product", "phase step", "ring broadcast",
    ),
    attributes=(
        "core frequency", "backlog depth", "register width", "core count", "chunk size", "uplink speed",
        "supply voltage", "line delay", "header length", "payload size", "recursion limit", "privilege level",
        "lane number", "dot density", "sample rate", "word length", "fan speed", "power budget", "storage quota",
        "log verbosity", "volume share", "worker count", "group size", "polynomial order", "nesting height",
        "row count", "retry limit", "load factor", "amplifier gain", "grid spacing", "cycle time", "graph degree",
    ),
    forms=forms(
        "Parameters: {values}. Operations: {arrows}. Record: present in {present} of {trials}, absent in {absent}.",
        "With {attributes}, the system executed {events}; the record was present at the end of {present} of {trials} "
        "and absent at the end of {absent}.",
        "For {events} executed with {attributes}, the record was present in {present} of {trials} and absent in "
        "{absent}.",
        "Of {trials} with {attributes} that executed {chain}, {present} ended with the record present and {absent} "
        "with it absent.",
        "The record was present in {present} of {trials} and absent in {absent}; the sequence was {arrows}, with "
        "{values}.",
        "After {events}, with {attributes} throughout, the check found the record present in {present} of {trials} and "
        "absent in {absent}.",
    ),
    bare_forms=forms(
        "Operations: {arrows}. Record: present in {present} of {trials}, absent in {absent}.",
        "Executing {events} ended with the record present in {present} of {trials} and absent in {absent}.",
        "Of {trials} that executed {chain}, {present} ended with the record present and {absent} with it absent.",
        "The record was present in {present} of {trials} and absent in {absent}; the sequence was {arrows}.",
    ),
    query_forms=forms(
        "Parameters: {values}. Operations: {arrows}. Record: not determined. Which outcome is more likely?",
        "Suppose that a trial with {attributes} executes {events}. Which outcome is more likely at its end?",
        "A trial with {attributes} is to execute {chain}. Which outcome is more likely at its end?",
    ),
    bare_query_forms=forms(
        "Operations: {arrows}. Record: not determined. Which outcome is more likely?",
        "Suppose that a trial executes {events}. Which outcome is more likely at its end?",
    ),
)  # fmt: skip
