"""The verifier accepts every rendering of our own prose and catches every kind of mutation of it, by its code.

`VEILGYM_FIDELITY_CASES=500` runs the mutations at full size.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

from veilgym.envs.core.fidelity import Code
from veilgym.envs.core.prose import Rendering
from veilgym.envs.dynamic_world import fidelity as world_fidelity
from veilgym.envs.dynamic_world import prose as world_prose
from veilgym.envs.dynamic_world.generator import generate_worlds
from veilgym.envs.dynamic_world.payload import renderer_payload as world_payload
from veilgym.envs.hidden_system import fidelity as system_fidelity
from veilgym.envs.hidden_system import prose as system_prose
from veilgym.envs.hidden_system.payload import renderer_payload as system_payload
from veilgym.envs.hidden_system.skeletons import generate_skeletons

CASES = int(os.environ.get("VEILGYM_FIDELITY_CASES", "6"))
ID = re.compile(r"\W*(C\d+|I\d{4,}|V\d{5,}|Q)\b\W*")
FAMILIES = ("hidden-system", "dynamic-world")
SPECIAL = {  # per family: fidelity.check, render, skins
    "hidden-system": (system_fidelity.check, system_prose.render, system_prose.SKINS),
    "dynamic-world": (world_fidelity.check, world_prose.render, world_prose.SKINS),
}


@cache
def payloads(family: str) -> list[Any]:
    if family == "hidden-system":
        return [system_payload(s) for length in ("short", "medium") for s in generate_skeletons(4, length, seed=3)]
    worlds = islice(generate_worlds(8, "short", 3, entity_count=40, simulation_steps=160), 8)
    return [world_payload(world) for world in worlds]


@cache
def renderings(family: str) -> list[tuple[Any, Rendering]]:
    _, render, skins = SPECIAL[family]
    return [(payload, render(payload, skin)) for payload in payloads(family) for skin in skins]


def check(family: str, payload: Any, text: str, names: dict[str, str]) -> set[Code]:
    return {fault.code for fault in SPECIAL[family][0](payload, text, names)}


@pytest.mark.parametrize("family", FAMILIES)
def test_faithful_renderings_have_no_fault(family: str) -> None:
    for payload, rendering in renderings(family):
        faults = SPECIAL[family][0](payload, rendering.text, rendering.names)
        assert faults == [], rendering.skin


class Case:
    """A rendering to be mutated: its lines, those of records, and a generator to choose with."""

    def __init__(self, family: str, payload: Any, rendering: Rendering, rng: np.random.Generator) -> None:
        self.family, self.payload, self.rng = family, payload, rng
        self.lines, self.names = rendering.text.split("\n"), dict(rendering.names)
        marked = [(i, m[1]) for i, line in enumerate(self.lines) if (m := ID.match(line))]
        self.places = {name: i for i, name in marked if name != "Q"}
        if family == "hidden-system":
            self.records = {case.id: case for case in payload.support_cases}
            self.query_line = next(i for i, name in marked if name == "Q")
        else:
            self.records = {record.id: record for record in [*payload.initial_observations, *payload.events]}
            self.query_line = next(i for i, line in enumerate(self.lines) if line.startswith("Question"))
        assert list(self.places) == list(self.records)

    def pick(self, wanted: Callable[[Any], bool] = lambda record: True) -> str | None:
        """A record, drawn."""
        found = [name for name, record in self.records.items() if wanted(record)]
        return found[self.rng.integers(len(found))] if found else None

    def line(self, name: str) -> str:
        return self.lines[self.places[name]]

    def body(self, name: str) -> str:
        return ID.sub("", self.line(name), count=1)

    def put(self, name: str, body: str) -> str:
        """The text in which a record's line, after its id, reads `body`."""
        prefix = self.line(name)[: len(self.line(name)) - len(self.body(name))]
        return self.with_line(self.places[name], prefix + body)

    def with_line(self, place: int, line: str) -> str:
        return "\n".join([*self.lines[:place], line, *self.lines[place + 1 :]])

    def add(self, line: str, place: int | None = None) -> str:
        place = int(self.rng.integers(len(self.lines) + 1)) if place is None else place
        return "\n".join([*self.lines[:place], line, *self.lines[place:]])

    def symbols(self, name: str) -> list[str]:
        """The symbols that a record names, without repetition."""
        record = self.records[name]
        if self.family == "hidden-system":
            return list(dict.fromkeys([*record.events, *record.attributes]))
        found = record.participants if hasattr(record, "participants") else record.arguments
        return [symbol for symbol in found if symbol in self.names]

    def numbers(self, name: str) -> list[re.Match[str]]:
        return list(re.finditer(r"(?<![\w-])\d+\b", self.body(name)))

    def choose(self, items: Any) -> Any:
        return items[self.rng.integers(len(items))]

    def kind(self, record: Any) -> str:
        return str(getattr(record, "relation", None) or record.arguments.get("relation", record.kind))


def swap(text: str, one: str, other: str) -> str:
    return re.sub(rf"\b({re.escape(one)}|{re.escape(other)})\b", lambda m: other if m[1] == one else one, text)


Mutated = tuple[str, set[Code]] | None
MUTATIONS: dict[str, tuple[str, Callable[[Case], Mutated]]] = {}


def mutation(families: str) -> Callable[[Callable[[Case], Mutated]], Callable[[Case], Mutated]]:
    def enter(function: Callable[[Case], Mutated]) -> Callable[[Case], Mutated]:
        MUTATIONS[function.__name__] = families, function
        return function

    return enter


BOTH = " ".join(FAMILIES)
SYSTEMS, WORLDS = FAMILIES


@mutation(BOTH)
def drop_line(case: Case) -> Mutated:
    place = case.places[case.pick()]
    return "\n".join(case.lines[:place] + case.lines[place + 1 :]), {Code.ID_MISSING}


@mutation(BOTH)
def drop_id(case: Case) -> Mutated:
    name = case.pick()
    return case.with_line(case.places[name], case.body(name)), {Code.ID_MISSING}


@mutation(BOTH)
def duplicate_line(case: Case) -> Mutated:
    return case.add(case.line(case.pick())), {Code.ID_DUPLICATED}


@mutation(BOTH)
def swap_lines(case: Case) -> Mutated:
    one, other = case.pick(), case.pick()
    if one == other:
        return None
    lines = list(case.lines)
    i, j = case.places[one], case.places[other]
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines), {Code.ID_ORDER}


@mutation(BOTH)
def join_lines(case: Case) -> Mutated:
    names = list(case.places)
    i = int(case.rng.integers(len(names) - 1))
    place = case.places[names[i]]
    if case.places[names[i + 1]] != place + 1:
        return None
    joined = case.lines[place] + " " + case.lines[place + 1]
    return "\n".join([*case.lines[:place], joined, *case.lines[place + 2 :]]), {Code.ID_SHARES_LINE}


@mutation(BOTH)
def break_line(case: Case) -> Mutated:
    name = case.pick()
    words = case.body(name).split(" ")
    half = len(words) // 2
    codes = {
        Code.PARTICIPANT_MISSING,
        Code.NUMBER_MISSING,
        Code.LABEL_MISSING,
        Code.RELATION_MISSING,
        Code.STRAY_EVIDENCE,
    }
    return case.put(name, " ".join(words[:half]) + "\n" + " ".join(words[half:])), codes | {Code.DIRECTION_UNCLEAR}


@mutation(BOTH)
def invent_line(case: Case) -> Mutated:
    name = "C999" if case.family == SYSTEMS else "V99999"
    return case.add(f"{name}: {case.body(case.pick())}"), {Code.ID_UNKNOWN}


@mutation(BOTH)
def swap_contents(case: Case) -> Mutated:
    one, other = case.pick(), case.pick()
    a, b = case.records[one], case.records[other]
    told = [(r.events, r.attributes, r.observed_present) if case.family == SYSTEMS else r.arguments for r in (a, b)]
    if told[0] == told[1]:
        return None
    lines = list(case.lines)
    lines[case.places[one]] = f"{one}: {case.body(other)}"
    lines[case.places[other]] = f"{other}: {case.body(one)}"
    wrong = {Code.PARTICIPANT_MISSING, Code.NUMBER_MISSING, Code.NUMBER_WRONG, Code.EVENT_ORDER, Code.RELATION_EXTRA}
    return "\n".join(lines), wrong | {Code.DIRECTION, Code.RELATION_MISSING}


@mutation(BOTH)
def drop_name(case: Case) -> Mutated:
    name = case.pick()
    called = case.names[case.choose(case.symbols(name))]
    return case.put(name, re.sub(rf"\b{re.escape(called)}\b", "it", case.body(name), count=1)), {
        Code.PARTICIPANT_MISSING
    }


@mutation(BOTH)
def rename_mention(case: Case) -> Mutated:
    name = case.pick()
    called = case.names[case.choose(case.symbols(name))]
    body = re.sub(rf"\b{re.escape(called)}\b", "Zorblax Quorn", case.body(name), count=1)
    return case.put(name, body), {Code.PARTICIPANT_MISSING}


@mutation(BOTH)
def abbreviate_mention(case: Case) -> Mutated:
    name = case.pick()
    called = case.names[case.choose(case.symbols(name))]
    if " " not in called:
        return None
    body = re.sub(rf"\b{re.escape(called)}\b", called.split()[-1], case.body(name), count=1)
    return case.put(name, body), {Code.PARTICIPANT_MISSING}


@mutation(BOTH)
def replace_name(case: Case) -> Mutated:
    name = case.pick()
    symbol = case.choose(case.symbols(name))
    others = [other for other in case.names if other not in case.symbols(name)]
    if not others:
        return None
    body = swap(case.body(name), case.names[symbol], case.names[case.choose(others)])
    return case.put(name, body), {Code.PARTICIPANT_MISSING, Code.PARTICIPANT_EXTRA}


@mutation(BOTH)
def mention_another(case: Case) -> Mutated:
    name = case.pick()
    others = [other for other in case.names if other not in case.symbols(name)]
    if not others:
        return None
    return case.put(name, f"{case.body(name)} Beside {case.names[case.choose(others)]}."), {Code.PARTICIPANT_EXTRA}


@mutation(BOTH)
def negate(case: Case) -> Mutated:
    name = case.pick()
    body = case.body(name)
    forms = [f"It is not so that {body}", f"{body} None of this holds.", f"{body} It never happened."]
    forms += [f"It is false: {body}", f"{body} That is a misprint.", f"Wrongly noted: {body}", f"A lie: {body}"]
    if re.search(r"\b(is|was)\b", body):
        forms += [re.sub(r"\b(is|was)\b", r"\1 not", body, count=1), re.sub(r"\b(is|was)\b", r"\1n't", body, count=1)]
    return case.put(name, case.choose(forms)), {Code.NEGATED}


@mutation(BOTH)
def hedge(case: Case) -> Mutated:
    name = case.pick()
    return case.put(name, f"{case.choose(['Perhaps', 'It seems that', 'If so,'])} {case.body(name)}"), {Code.HEDGED}


@mutation(BOTH)
def round_number(case: Case) -> Mutated:
    name = case.pick(lambda record: True)
    numbers = case.numbers(name)
    if not numbers:
        return None
    found, body = case.choose(numbers), case.body(name)
    about = case.choose(["about", "roughly", "around", "nearly", "some", "at least", "over", "approximately", "~"])
    return case.put(name, f"{body[: found.start()]}{about} {found[0]}{body[found.end() :]}"), {Code.ROUNDED}


@mutation(BOTH)
def change_number(case: Case) -> Mutated:
    name = case.pick()
    numbers = case.numbers(name)
    if not numbers:
        return None
    found, body = case.choose(numbers), case.body(name)
    changed = str(int(found[0]) + int(case.choose([1, 2, 3, 7, 10, 100])))
    wrong = {Code.NUMBER_WRONG, Code.NUMBER_EXTRA, Code.NUMBER_MISSING}
    return case.put(name, body[: found.start()] + changed + body[found.end() :]), wrong


@mutation(BOTH)
def drop_number(case: Case) -> Mutated:
    name = case.pick()
    numbers = case.numbers(name)
    if not numbers:
        return None
    found, body = case.choose(numbers), case.body(name)
    return case.put(name, body[: found.start()] + body[found.end() :]), {Code.NUMBER_MISSING, Code.NUMBER_UNCLEAR}


@mutation(BOTH)
def spell_number(case: Case) -> Mutated:
    name = case.pick()
    numbers = case.numbers(name)
    if not numbers:
        return None
    found, body = case.choose(numbers), case.body(name)
    return case.put(name, f"{body[: found.start()]}forty-one{body[found.end() :]}"), {Code.NUMBER_WORD}


@mutation(BOTH)
def respell_number(case: Case) -> Mutated:
    name = case.pick()
    numbers = case.numbers(name)
    if not numbers:
        return None
    found, body = case.choose(numbers), case.body(name)
    other = case.choose([f"{found[0]}.0", f"0{found[0]}", f"{found[0]}.5", f"{found[0]},000", f"{found[0]}\u00bd"])
    return case.put(name, body[: found.start()] + other + body[found.end() :]), {Code.NUMBER_FORM}


@mutation(BOTH)
def add_number(case: Case) -> Mutated:
    name = case.pick()
    wrong = {Code.NUMBER_EXTRA, Code.NUMBER_WRONG, Code.NUMBER_UNCLEAR}
    return case.put(name, f"{case.body(name)} Noted on page 2718."), wrong


@mutation(BOTH)
def claim_law(case: Case) -> Mutated:
    name = case.pick()
    called = case.names[case.choose(case.symbols(name))]
    more = case.choose(["This always happens.", "That is because of it.", "It causes this.", "So it must be."])
    if case.rng.random() < 0.5:
        return case.put(name, f"{case.body(name)} {more}"), {Code.LAW_CLAIMED}
    return case.add(f"In general, {called} causes this."), {Code.LAW_CLAIMED}


@mutation(BOTH)
def give_answer(case: Case) -> Mutated:
    option = case.choose(case.payload.answer_options)
    said = case.choose([f"The answer is {option}.", f"Answer: {option}", f"**{option}**", f"(It turned out {option}.)"])
    return case.add(said), {Code.ANSWER_GIVEN}


@mutation(BOTH)
def give_answer_in_query(case: Case) -> Mutated:
    option = case.choose(case.payload.answer_options)
    line = f"{case.lines[case.query_line]} It is {option}."
    return case.with_line(case.query_line, line), {Code.QUERY_ASSERTED}


@mutation(BOTH)
def give_probability(case: Case) -> Mutated:
    called = case.names[case.choose(sorted(case.names))]
    said = case.choose(
        [
            f"With {called} the probability is high.",
            f"{called} is very likely to work.",
            f"There is a good chance that {called} does it.",
        ]
    )
    return case.add(said), {Code.PROBABILITY_GIVEN}


@mutation(SYSTEMS)
def give_rule_probability(case: Case) -> Mutated:
    called = case.names[case.choose(case.payload.event_vocabulary)]
    said = case.choose([f"R2: {called} works at 0.83.", f"{called} acts in 83% of runs.", f"R1 goes with {called}."])
    return case.add(said), {Code.NUMBER_FORM, Code.NUMBER_EXTRA, Code.STRAY_EVIDENCE, Code.FORBIDDEN_TERM}


@mutation(BOTH)
def give_hidden_term(case: Case) -> Mutated:
    name = case.pick()
    called = case.names[case.choose(case.symbols(name))]
    term = case.choose(["rule", "hidden", "latent", "mechanism", "gold"])
    if case.rng.random() < 0.5:
        return case.put(name, f"{case.body(name)} ({term})"), {Code.FORBIDDEN_TERM}
    return case.add(f"The {term} of {called}."), {Code.FORBIDDEN_TERM}


@mutation(SYSTEMS)
def give_flag(case: Case) -> Mutated:
    called = case.names[case.choose(case.payload.event_vocabulary)]
    return case.add(f"{called} sets a flag that a later step needs."), {Code.FORBIDDEN_TERM}


@mutation(WORLDS)
def give_level(case: Case) -> Mutated:
    name = case.pick()
    return case.put(name, f"{case.body(name)} (level three)"), {Code.FORBIDDEN_TERM}


@mutation(BOTH)
def swap_options(case: Case) -> Mutated:
    lines, options = list(case.lines), case.payload.answer_options
    for place in range(case.query_line, len(lines)):
        lines[place] = swap(lines[place], *options)
    return "\n".join(lines), {Code.OPTION_ORDER}


@mutation(BOTH)
def drop_options(case: Case) -> Mutated:
    lines, options = list(case.lines), case.payload.answer_options
    for place in range(case.query_line, len(lines)):
        lines[place] = re.sub(rf"\b({'|'.join(options)})\b", "this", lines[place])
    return "\n".join(lines), {Code.LABEL_MISSING}


@mutation(BOTH)
def drop_query(case: Case) -> Mutated:
    return "\n".join(case.lines[: case.query_line]), {Code.QUERY_MISSING}


@mutation(SYSTEMS)
def assert_query(case: Case) -> Mutated:
    line = re.sub(r"Which .*?\?", "The outcome was present.", case.lines[case.query_line])
    if case.rng.random() < 0.5:
        line = line.replace("The outcome was present.", "")
    return case.with_line(case.query_line, line), {Code.QUERY_ASSERTED}


@mutation(WORLDS)
def assert_query_of_world(case: Case) -> Mutated:
    one, other = (case.names[symbol] for symbol in case.payload.query.arguments)
    word = "above" if case.payload.query.predicate == "ABOVE" else "a member of"
    said = f"{one} is {word} {other}."
    if case.rng.random() < 0.5:
        return case.with_line(case.query_line, f"Question: {said}"), {Code.QUERY_ASSERTED}
    return case.add(said), {Code.QUERY_ASSERTED}


@mutation(SYSTEMS)
def change_query_level(case: Case) -> Mutated:
    line = case.lines[case.query_line]
    numbers = list(re.finditer(r"(?<![\w-])\d+\b", line))
    found = case.choose(numbers)
    return case.with_line(case.query_line, line[: found.start()] + "77" + line[found.end() :]), {Code.NUMBER_WRONG}


@mutation(SYSTEMS)
def change_legend(case: Case) -> Mutated:
    place = next(i for i, line in enumerate(case.lines) if re.search(r"\(\d+ or \d+\)", line))
    line = case.lines[place]
    found = case.choose(list(re.finditer(r"\b\d+\b", line)))
    changed = str(int(found[0]) + 5)
    return case.with_line(place, line[: found.start()] + changed + line[found.end() :]), {Code.NUMBER_WRONG}


@mutation(SYSTEMS)
def show_query_as_history(case: Case) -> Mutated:
    name = case.pick()
    query = case.payload.query_case
    steps = ", then ".join(case.names[event] for event in query.events)
    levels = ", ".join(f"{case.names[key]} {level}" for key, level in query.attributes.items())
    said = f"With {levels}, {steps}: present in 40 of 48 runs, absent in 8"
    if case.rng.random() < 0.5:
        return case.add(said), {Code.STRAY_EVIDENCE}
    return case.put(name, said), {Code.PARTICIPANT_EXTRA}


@mutation(SYSTEMS)
def swap_events(case: Case) -> Mutated:
    name = case.pick(lambda record: len(set(record.events)) > 1)
    events = list(dict.fromkeys(case.records[name].events))
    one, other = (case.names[event] for event in events[:2])
    return case.put(name, swap(case.body(name), one, other)), {Code.EVENT_ORDER}


@mutation(SYSTEMS)
def turn_order_round(case: Case) -> Mutated:
    name = case.pick(lambda record: len(record.events) > 1)
    body = case.body(name)
    joined = case.choose(["preceded by", "before which there was", "or", "together with", "rather than", "after"])
    changed = re.sub(r", and then|, then| and then| followed by| ->", f" {joined}", body, count=1)
    return case.put(name, changed), {Code.EVENT_ORDER_UNCLEAR}


@mutation(SYSTEMS)
def tell_the_order_from_the_end(case: Case) -> Mutated:
    name = case.pick(lambda record: len(record.events) > 1)
    body, first = case.body(name), case.names[case.records[name].events[0]]
    forms = [f"From the end to the beginning: {body}", f"{body.rstrip('.')}, from the end to the beginning."]
    forms += [re.sub(rf"\b{re.escape(first)}\b", f"last {first}", body, count=1), f"{body.rstrip('.')} first."]
    return case.put(name, case.choose(forms)), {Code.EVENT_ORDER_UNCLEAR}


@mutation(SYSTEMS)
def say_more_of_a_case(case: Case) -> Mutated:
    name = case.pick()
    body = case.body(name)
    more = case.choose(["This combination blocks the record.", "It got lost.", "One step misfired.", "It survives."])
    forms = [f"{body} {more}", re.sub(r"(?i)\bpresent\b", "missing from \\g<0>", body, count=1)]
    forms += [re.sub(r"(?i)\bpresent\b", "\\g<0> lost", body, count=1)]
    return case.put(name, case.choose(forms)), {Code.WORDING_UNKNOWN}


@mutation(SYSTEMS)
def skip_an_event(case: Case) -> Mutated:
    name = case.pick()
    called = case.names[case.records[name].events[-1]]
    word = case.choose(["skipped", "blocked", "aborted", "botched"])
    return case.put(name, re.sub(rf"\b{re.escape(called)}\b", f"\\g<0> {word}", case.body(name))), {
        Code.NEGATED,
        Code.WORDING_UNKNOWN,
    }


@mutation(SYSTEMS)
def state_a_law_of_an_event(case: Case) -> Mutated:
    one, other = (case.names[event] for event in case.payload.event_vocabulary[:2])
    said = [f"{one} kills the record.", f"{one} vetoes {other}.", f"The {one} arms the {other}.", "It survives."]
    return case.add(case.choose(said)), {Code.WORDING_UNKNOWN}


@mutation(SYSTEMS)
def answer_after_the_query(case: Case) -> Mutated:
    line, said = case.lines[case.query_line], case.choose(["It survives.", "The record wins.", "Surely it glows."])
    if case.rng.random() < 0.5:
        return case.with_line(case.query_line, f"{line} {said}"), {Code.WORDING_UNKNOWN}
    return case.add(said, case.query_line + 1), {Code.WORDING_UNKNOWN}


@mutation(SYSTEMS)
def swap_levels(case: Case) -> Mutated:
    name = case.pick(lambda record: len(set(record.attributes.values())) > 1)
    if name is None:
        return None
    levels = sorted(case.records[name].attributes.items(), key=lambda item: item[1])
    (one, low), (other, high) = levels[0], levels[-1]
    body = case.body(name)
    for symbol, new in ((one, high), (other, low)):
        body = re.sub(rf"(\b{re.escape(case.names[symbol])}\b(?: =)? )\d+", rf"\g<1>{new}", body)
    return case.put(name, body), {Code.NUMBER_WRONG}


@mutation(SYSTEMS)
def swap_counts(case: Case) -> Mutated:
    name = case.pick(lambda record: record.observed_present != record.observed_absent)
    return case.put(name, swap(case.body(name), "present", "absent")), {Code.NUMBER_WRONG}


@mutation(SYSTEMS)
def percentage(case: Case) -> Mutated:
    name = case.pick()
    record = case.records[name]
    share = f"{100 * record.observed_present // record.trials}%"
    body = re.sub(
        rf"\b{record.observed_present}\b(?! or)(?=( of| and|,|;|\.| ended| had))", share, case.body(name), count=1
    )
    return (case.put(name, body), {Code.ROUNDED}) if share in body else None


@mutation(SYSTEMS)
def collapse(case: Case) -> Mutated:
    name = case.pick()
    record = case.records[name]
    steps = ", then ".join(case.names[event] for event in record.events)
    levels = ", ".join(f"{case.names[key]} {level}" for key, level in record.attributes.items())
    return case.put(name, f"With {levels}, {steps}: present."), {Code.NUMBER_MISSING, Code.LABEL_MISSING}


@mutation(WORLDS)
def reverse_relation(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) in ("ABOVE", "SUBSET", "MEMBER"))
    one, other = (case.names[symbol] for symbol in case.symbols(name)[:2])
    return case.put(name, swap(case.body(name), one, other)), {Code.DIRECTION}


@mutation(WORLDS)
def reverse_word(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) == "ABOVE")
    words = "above|higher than|superior to|senior to|ahead of|more urgent than|of higher priority than"
    backward = "below|lower than|inferior to|junior to|behind|less urgent than|of lower priority than"
    body = case.body(name)
    if re.search(rf"\b({words})\b", body):
        return case.put(name, re.sub(rf"\b({words})\b", "below", body)), {Code.DIRECTION}
    return case.put(name, re.sub(rf"\b({backward})\b", "above", body)), {Code.DIRECTION}


@mutation(WORLDS)
def reverse_query(case: Case) -> Mutated:
    one, other = (case.names[symbol] for symbol in case.payload.query.arguments)
    return case.with_line(case.query_line, swap(case.lines[case.query_line], one, other)), {Code.DIRECTION}


@mutation(WORLDS)
def reverse_move(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) == "MOVE")
    arguments = case.records[name].arguments
    one, other = case.names[arguments["origin"]], case.names[arguments["destination"]]
    return case.put(name, swap(case.body(name), one, other)), {Code.DIRECTION}


@mutation(WORLDS)
def reverse_place(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) == "LOCATED_IN")
    one, other = (case.names[symbol] for symbol in case.symbols(name))
    return case.put(name, swap(case.body(name), one, other)), {Code.DIRECTION, Code.RELATION_MISSING}


@mutation(WORLDS)
def reverse_update(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) == "UPDATE_NUMBER")
    up = "increased by|plus|rose by|climbed by|grew by|was credited with|went up by|was raised by"
    down = "decreased by|minus|fell by|dropped by|shrank by|was debited with|went down by|was lowered by"
    body = case.body(name)
    changed = re.sub(up, "minus", body) if re.search(up, body) else re.sub(down, "plus", body)
    return case.put(name, changed), {Code.DIRECTION}


@mutation(WORLDS)
def swap_before_and_after(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) == "UPDATE_NUMBER")
    arguments = case.records[name].arguments
    return case.put(name, swap(case.body(name), str(arguments["before"]), str(arguments["after"]))), {Code.NUMBER_WRONG}


@mutation(WORLDS)
def swap_states(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) == "SET_STATE")
    body = case.body(name)
    words = [("ticked", "crossed out"), ("raised", "lowered"), ("true", "false"), ("on", "off")]
    one, other = next(pair for pair in words if all(re.search(rf"\b{word}\b", body) for word in pair))
    pattern = rf"\b((?:from|to|now|was|previously) )({one}|{other})\b"
    return case.put(name, re.sub(pattern, lambda m: m[1] + (other if m[2] == one else one), body)), {Code.DIRECTION}


@mutation(WORLDS)
def change_flag(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) == "SET_STATE")
    return case.put(name, swap(case.body(name), "active", "sealed")), {Code.RELATION_EXTRA}


@mutation(WORLDS)
def change_relation(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) in ("SUBSET", "DISJOINT"))
    one, other = (case.names[symbol] for symbol in case.symbols(name))
    word = "disjoint from" if case.kind(case.records[name]) == "SUBSET" else "a subset of"
    return case.put(name, f"{one} is {word} {other}"), {Code.RELATION_EXTRA, Code.RELATION_MISSING}


@mutation(WORLDS)
def unknown_relation(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) in ("ABOVE", "MEMBER", "SUBSET", "DISJOINT", "CONNECTED"))
    called = [case.names[symbol] for symbol in case.symbols(name)]
    return case.put(name, f"{called[0]} met {' and '.join(called[1:])}"), {Code.RELATION_MISSING}


@mutation(WORLDS)
def end_relation(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) in ("MEMBER", "CONNECTED", "SUBSET"))
    ended = case.choose(["is no longer", "resigned as", "is now the former"])
    return case.put(name, re.sub(r"\bis\b( now)?|turns out to be|was(?! found)", ended, case.body(name), count=1)), {
        Code.NEGATED
    }


@mutation(WORLDS)
def stray_fact(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) in ("ABOVE", "MEMBER", "SUBSET"))
    return case.add(f"Also, {case.body(name)}"), {Code.STRAY_EVIDENCE, Code.QUERY_ASSERTED}


@mutation(WORLDS)
def turn_round_by_an_odd_word(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) in ("ABOVE", "MEMBER", "SUBSET", "DISJOINT", "CONNECTED"))
    first = min((case.names[symbol] for symbol in case.symbols(name)[:2]), key=case.body(name).index)
    odd = case.choose(["hardly ever", "yearns to be", "is a foe of what is", "stays anything save", "un"])
    body = re.sub(rf"\b{re.escape(first)}\b", lambda match: f"{match[0]} {odd}", case.body(name), count=1)
    codes = {Code.WORDING_UNKNOWN, Code.NEGATED, Code.HEDGED}
    return case.put(name, body), codes


@mutation(WORLDS)
def undo(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) in ("MOVE", "SET_STATE"))
    more = case.choose(["and back", "then it returned", "or the other way round", "vice versa", "until then"])
    return case.put(name, f"{case.body(name).rstrip('.')}, {more}."), {Code.NEGATED}


@mutation(WORLDS)
def assert_the_query_by_a_synonym(case: Case) -> Mutated:
    one, other = (case.names[symbol] for symbol in case.payload.query.arguments)
    how = case.choose(["turns up among", "goes together with", "trumps", "appertains to"])
    return case.add(f"{one} {how} {other}."), {Code.QUERY_ASSERTED}


@mutation(WORLDS)
def put_a_third_name_between(case: Case) -> Mutated:
    name = case.pick(lambda record: case.kind(record) in ("ABOVE", "MEMBER", "SUBSET"))
    second = max((case.names[symbol] for symbol in case.symbols(name)[:2]), key=case.body(name).index)
    other = next(case.names[symbol] for symbol in case.names if symbol not in case.symbols(name))
    body = case.body(name).replace(second, f"{other} and {second}", 1)
    return case.put(name, body), {Code.PARTICIPANT_EXTRA, Code.DIRECTION_UNCLEAR}


@mutation(WORLDS)
def remark_after_the_events(case: Case) -> Mutated:
    said = case.choose(["It holds.", "It is so.", "Clearly the case.", "One can see it is so.", "It is still so."])
    return case.add(said, len(case.lines)), {Code.QUERY_ASSERTED}


@mutation(BOTH)
def answer_in_other_words(case: Case) -> Mutated:
    yes, marked = ("Yes", "up") if case.family == WORLDS else ("Present", "absent")
    remarks = [f"{yes} is what a careful reader says.", f"So {yes.lower()}.", f"{yes}.", f"The sign stays {marked}."]
    remarks += ["It is more likely absent than present."] if case.family != WORLDS else ["One can see yes."]
    return case.add(case.choose(remarks), len(case.lines)), {Code.ANSWER_GIVEN, Code.WORDING_UNKNOWN}


REMARKS = ["Choose the first.", "So it is the last one.", "There is none.", "We see it there at the end.", "It was."]
REMARKS += ["Expect the first of the two.", "Choose the last one.", "They are.", "It is.", "So it is.", "The former."]
REMARKS += ["Certainly.", "Agreed.", "Absolutely.", "Select option 2.", "Pick the one above.", "This.", "Is it not?"]
REMARKS += [
    "Whether it is so: it is.",
    "Tell which it is: it is so.",
    "Which is it? It is.",
    "Decide whether it is so, as it is.",
]
REMARKS += [
    "Which is it, as the sign is there?",
    "All signs point up.",
    "The records show so.",
    "Reply with the longer word.",
]
REMARKS += [
    "Out.",
    "Begin the answer with an A.",
    "Reply as in this record.",
    "Answer with the word in line one.",
    "Does it still hold?",
    "Is it not there?",
]
REMARKS += ["Choose the other.", "Answer: the last of them.", "The question settles it.", "Number 2."]


@mutation(BOTH)
def point_at_an_option(case: Case) -> Mutated:
    said, line = case.choose(REMARKS), case.lines[case.query_line]
    codes = {Code.ANSWER_GIVEN, Code.QUERY_ASSERTED, Code.WORDING_UNKNOWN, Code.NUMBER_EXTRA, Code.NUMBER_WRONG}
    if case.rng.random() < 0.5:
        return case.with_line(case.query_line, f"{line} {said}"), codes
    return case.add(said, len(case.lines)), codes


@mutation(BOTH)
def single_an_option_out(case: Case) -> Mutated:
    one, other = case.payload.answer_options
    said = [f"{one} and not {other}.", f"{one} over {other}.", f"{one} before {other}.", f"{one}, never {other}."]
    said += [
        f"Prefer {one} to {other}.",
        f"{one} (this) or {other}.",
        f"{one} \u2713 {other} \u2717",
        f"Of {one} {other} the last.",
    ]
    return case.add(case.choose(said), len(case.lines)), {Code.ANSWER_GIVEN, Code.QUERY_ASSERTED, Code.WORDING_UNKNOWN}


@mutation(SYSTEMS)
def tell_the_outcome_of_the_query(case: Case) -> Mutated:
    line = case.lines[case.query_line]
    if "Suppose that" in line:
        more = case.choose(["it is there and", "we see the sign and", "there it stands and", "we find so and"])
        return case.with_line(case.query_line, line.replace("Suppose that", f"Suppose that {more}")), {
            Code.QUERY_ASSERTED
        }
    more = case.choose(["It is there.", "Expect it there.", "So it is.", "It is up.", "Record: not known, but there."])
    return case.with_line(case.query_line, line.replace("Which", f"{more} Which")), {Code.QUERY_ASSERTED}


@mutation(SYSTEMS)
def tell_the_outcome_before_the_cases(case: Case) -> Mutated:
    said = ["The last one is more likely absent than present.", "Certainly the last is present.", "It ends present."]
    said += ["PRESENT is more likely than ABSENT.", "Go with the first.", "PRESENT it is, ABSENT it is."]
    said += ["At the start the last is present.", "The last entry is more likely to glow.", "Mostly absent."]
    return case.add(case.choose(said), min(case.places.values())), {Code.ANSWER_GIVEN, Code.PROBABILITY_GIVEN}


INTRODUCTIONS = {
    SYSTEMS: [
        "In the last entry the sign stays.",
        "At the start of every run the band is absent, and it is present after it.",
        "A positive outcome is likely.",
        "Whenever the sum of two settings is high the sign appears.",
        "The sign is seen in the final run.",
        "Answer with the word of the first entry.",
        "Reply: absent.",
        "The sign tends to appear at the end.",
        "Only the first setting matters.",
        "A positive outcome is common.",
    ],
    WORLDS: [
        "YES is more likely than NO.",
        "Pick YES, not NO.",
        "Say yes.",
        "The statement at the end is false.",
        "The statement asked about is true.",
        "The question at the end has a positive reply.",
        "In the end it still holds.",
        "Events late in the record undo the early ones.",
    ],
}


@mutation(BOTH)
def speak_of_the_query_before_the_records(case: Case) -> Mutated:
    codes = {Code.ANSWER_GIVEN, Code.QUERY_ASSERTED, Code.PROBABILITY_GIVEN, Code.LAW_CLAIMED, Code.WORDING_UNKNOWN}
    return case.add(case.choose(INTRODUCTIONS[case.family]), min(case.places.values())), codes


@mutation(WORLDS)
def add_a_sentence_to_a_record(case: Case) -> Mutated:
    name = case.pick()
    said = ["It was only for a day.", "That ended soon.", "It changed afterwards.", "This decides the question."]
    said += ["It stays so to the last.", "As asked.", "Remember it."]
    return case.put(name, f"{case.body(name)} {case.choose(said)}"), {Code.WORDING_UNKNOWN}


@mutation(WORLDS)
def grant_the_question_within_it(case: Case) -> Mutated:
    line = case.lines[case.query_line]
    said = ["It ended.", "The last event ended it.", "So it was, and so it is.", "Reports say they are:"]
    within = [
        ", as all the records show it is?",
        ", as the entries show?",
        ", or has it ended?",
        ", as it is recorded?",
    ]
    codes = {Code.QUERY_ASSERTED, Code.NEGATED, Code.WORDING_UNKNOWN}
    if case.rng.random() < 0.5:
        return case.with_line(case.query_line, re.sub("^Question:", f"Question: {case.choose(said)}", line)), codes
    return case.with_line(case.query_line, line.replace("?", case.choose(within), 1)), codes


@mutation(SYSTEMS)
def take_a_history_for_a_plan(case: Case) -> Mutated:
    name = case.pick()
    lead = case.choose(["Suppose that", "Think:", "As we expect,", "As planned again,", "When told to,"])
    return case.put(name, f"{lead} {case.body(name)}"), {Code.HEDGED}


@mutation(SYSTEMS)
def repeat_the_last_step_of_the_query(case: Case) -> Mutated:
    called = case.names[case.payload.query_case.events[-1]]
    more = case.choose(["again", "once more", "ending the same", "as likely"])
    line = re.sub(
        rf"\b{re.escape(called)}\b(?!.*\b{re.escape(called)}\b)", f"\\g<0> {more}", case.lines[case.query_line]
    )
    return case.with_line(case.query_line, line), {Code.QUERY_ASSERTED}


@mutation(SYSTEMS)
def tell_different_meanings(case: Case) -> Mutated:
    one, other = case.payload.answer_options
    said = [f"{one}: it is so.\n{other}: it is hard to say.", f"{one}: likely.\n{other}: less likely."]
    return case.add(case.choose(said), len(case.lines)), {Code.ANSWER_GIVEN}


FAITHFUL = {
    "hidden-system": [
        "What is the more likely outcome?",
        "Based on the histories above, what do you expect?",
        "Which of the two outcomes is more likely?",
        "Predict which outcome is more likely.",
    ],
    "dynamic-world": [
        "Is it true?",
        "Based on the records above, is it true?",
        "Consider the state after the last event.",
    ],
}
FAITHFUL_OF_BOTH = [
    "Please reply with {0} or {1} only.",
    "Reply with exactly one word: {0} or {1}.",
    "Answer {0} or {1}.",
    "Your answer must be either {0} or {1}.",
    "Please answer with one of the following: {0}, {1}.",
    "Base your answer on the records above.",
    "Explain your reasoning step by step, and then choose between {0} and {1}.",
    "The two possible answers are {0} and {1}.",
    "({0}/{1})",
    "Select one: {0} / {1}.",
    "Reply in one line.",
    "Use only the information above.",
    "Is it {0} or {1}?",
    "Options: {0}, {1}",
    'Give your answer as "{0}" or "{1}", in capital letters.',
    "Choose one of the two options: {0} / {1}.",
    "Think it over, then write either `{0}` or `{1}` on a line.",
    "Read the entries carefully and answer the question.",
]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_remark_may_say_how_to_reply(family: str) -> None:
    for payload, rendering in renderings(family)[:4]:
        case = Case(family, payload, rendering, np.random.default_rng(3))
        for remark in [*FAITHFUL[family], *FAITHFUL_OF_BOTH]:
            said = remark.format(*payload.answer_options)
            asked = f"{case.lines[case.query_line]} {said}"
            for text in (f"{rendering.text}\n{said}", case.with_line(case.query_line, asked)):
                assert SPECIAL[family][0](payload, text, rendering.names) == [], remark


LEADS = [
    "On a fresh sample each time,",
    "In another group:",
    "Similarly,",
    "Specifically,",
    "Altogether,",
    "Meanwhile,",
    "Details:",
    "Setup:",
    "Data:",
    "Once more:",
]


def test_a_case_may_begin_with_an_ordinary_word() -> None:
    for payload, rendering in renderings(SYSTEMS):
        case = Case(SYSTEMS, payload, rendering, np.random.default_rng(3))
        for lead in LEADS:
            name = case.pick()
            faults = SPECIAL[SYSTEMS][0](payload, case.put(name, f"{lead} {case.body(name)}"), rendering.names)
            assert faults == [], lead


@mutation(SYSTEMS)
def open_with_an_odd_word(case: Case) -> Mutated:
    name = case.pick()
    odd = case.choose(["Mirrored", "Tail end foremost", "Upside up", "Topsy"])
    return case.put(name, f"{odd}: {case.body(name)}"), {Code.WORDING_UNKNOWN}


@mutation(WORLDS)
def take_the_query_for_granted(case: Case) -> Mutated:
    line = case.lines[case.query_line]
    more = case.choose(["It does.", "It is so.", "Surely so.", "As everyone knows.", "Why?"])
    return case.with_line(case.query_line, f"{line} {more}"), {Code.QUERY_ASSERTED}


@mutation(BOTH)
def hide_a_character(case: Case) -> Mutated:
    name = case.pick()
    return case.put(name, case.body(name).replace(" ", " \u200b", 1)), {Code.UNREADABLE}


@pytest.mark.parametrize(
    ("family", "kind"), [(family, kind) for kind, (families, _) in MUTATIONS.items() for family in families.split()]
)
def test_every_mutation_is_caught(family: str, kind: str) -> None:
    rng = np.random.default_rng([17, *kind.encode()])
    mutate, done, tried = MUTATIONS[kind][1], 0, 0
    pool = renderings(family)
    while done < CASES:
        tried += 1
        assert tried <= 20 * CASES + 100
        payload, rendering = pool[rng.integers(len(pool))]
        case = Case(family, payload, rendering, rng)
        mutated = mutate(case)
        if mutated is None:
            continue
        text, expected = mutated
        assert text != rendering.text
        codes = check(family, payload, text, case.names)
        changed = [line for line in text.split("\n") if line not in case.lines]
        assert codes & expected, (kind, rendering.skin, codes, changed)
        done += 1


NAME_FAULTS = {
    Code.NAME_MISSING: lambda names, one, other: {key: name for key, name in names.items() if key != one},
    Code.NAME_UNKNOWN: lambda names, one, other: {**names, "Z99": "brass gong"},
    Code.NAME_SHARED: lambda names, one, other: {**names, one: names[other].upper()},
    Code.NAME_INSIDE_NAME: lambda names, one, other: {**names, one: f"old {names[other]}"},
    Code.NAME_IS_LABEL: lambda names, one, other: {**names, one: "not yet done"},
    Code.NAME_UNUSABLE: lambda names, one, other: {**names, one: "12"},
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("code", NAME_FAULTS)
def test_a_table_of_names_must_be_a_bijection(family: str, code: Code) -> None:
    for payload, rendering in renderings(family)[:4]:
        one, other = list(rendering.names)[:2]
        assert check(family, payload, rendering.text, NAME_FAULTS[code](rendering.names, one, other)) == {code}
