"""Worlds in natural language: a text can be read back, tells nothing else, and no change of it goes unnoticed."""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from veilgym.envs.core.prose import Rendering
from veilgym.envs.core.records import to_json
from veilgym.envs.dynamic_world import generate_worlds, renderer_payload
from veilgym.envs.dynamic_world.grammar import (
    EVENT_FORMS,
    Observation,
    Query,
    WorldEvent,
    WorldPayload,
    WorldSkeleton,
    decode,
)
from veilgym.envs.dynamic_world.prose import LEXICONS, SKINS, parse, render
from veilgym.envs.dynamic_world.prose.forms import SKIN_TABLE, TOKEN, skeleton_of, surface_of
from veilgym.envs.dynamic_world.task_file import load_task

FORBIDDEN = re.compile(
    r"gold|proof|prove|probab|chance|\brule|hidden|latent|level|simul|transit|infer[^i]|impl[iy]|program|generat|seed|"
    r"skeleton|therefore|follows|float64|int64|np\.|none"
)
RELATED = {
    "ABOVE": ("higher", "lower"),
    "MEMBER": ("entity", "set"),
    "SUBSET": ("child_set", "parent_set"),
    "DISJOINT": ("left_set", "right_set"),
    "CONNECTED": ("left_entity", "right_entity"),
}


DECIDING = set(re.findall(r"\w+", str([*LEXICONS.values()])))


@pytest.fixture(params=SKINS)
def skin(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def payloads_of(worlds: SimpleNamespace, length: int, count: int = 8) -> list[WorldPayload]:
    return [renderer_payload(world) for world in worlds.records(length, count, 11)]


def assert_comes_back(payload: WorldPayload, skin: str) -> Rendering:
    rendering = render(payload, skin)
    again = parse(rendering.text, skin, rendering.names)
    assert again == payload
    assert to_json(again) == to_json(payload)
    return rendering


def entries(text: str) -> list[str]:
    return [line for line in text.split("\n") if re.match(r"[IV]\d+[:,]", line)]


# ---------------------------------------------------------------------------------------------------------------------
# Payloads by hand, of every legal kind


def typed(entities: int = 3, sets: int = 2, regions: int = 2, counters: int = 2) -> dict[str, Any]:
    counts = {"Entity": entities, "Set": sets, "Region": regions, "Number": counters}
    return {f"{kind[0]}{number}": kind for kind, count in counts.items() for number in range(1, count + 1)}


def event(number: int, time: int, kind: str, who: Sequence[str], **arguments: Any) -> WorldEvent:
    return WorldEvent(f"V{number:05d}", time, kind, list(who), arguments)  # type: ignore[arg-type]


def every_form(name: Callable[[str], str] = str) -> list[WorldEvent]:
    """One event of each form, both operators and all four changes of a mark."""
    e1, e2, s1, s2, r1, r2, c1 = map(name, ("E1", "E2", "S1", "S2", "R1", "R2", "N1"))
    made: list[tuple[str, list[str], dict[str, Any]]] = [
        ("MOVE", [e1, r1, r2], {"entity": e1, "origin": r1, "destination": r2}),
        ("RELATE", [e1, e2, r2], {"relation": "ABOVE", "higher": e1, "lower": e2, "region": r2}),
        ("RELATE", [e2, s1], {"relation": "MEMBER", "entity": e2, "set": s1}),
        ("RELATE", [s1, s2], {"relation": "SUBSET", "child_set": s1, "parent_set": s2}),
        ("RELATE", [s2, s1], {"relation": "DISJOINT", "left_set": s2, "right_set": s1}),
        ("RELATE", [e2, e1], {"relation": "CONNECTED", "left_entity": e2, "right_entity": e1}),
    ]
    for operator, amount, before, after in (("ADD", -3, -5, -8), ("SUBTRACT", 10**12, 0, -(10**12)), ("ADD", 1, 0, 7)):
        numbers = {"operator": operator, "amount": amount, "before": before, "after": after}
        made.append(("UPDATE_NUMBER", [c1], {"counter": c1, **numbers}))
    for before_, after_ in ((True, False), (False, True), (True, True), (False, False)):
        for flag in ("active", "sealed"):
            made.append(("SET_STATE", [e1], {"entity": e1, "flag": flag, "before": before_, "after": after_}))
    return [event(2 * i + 1, i // 2 + 1, kind, who, **named) for i, (kind, who, named) in enumerate(made)]


def by_hand(**changed: Any) -> WorldPayload:
    fields: dict[str, Any] = {
        "family": "spatial_order",
        "complexity": 1,
        "entity_types": typed(),
        "initial_observations": [
            Observation("I0002", "LOCATED_IN", ("E1", "R2")),
            Observation("I10000", "EQUAL", ("N1", -12)),
        ],
        "events": every_form(),
        "query": Query("ABOVE", ("E1", "E3"), 0),
        "answer_options": ("NO", "YES"),
    }
    return WorldPayload(**{**fields, **changed})


# ---------------------------------------------------------------------------------------------------------------------
# Fidelity


@pytest.mark.parametrize("length", range(2, 13))
def test_a_text_is_read_back_exactly(length: int, skin: str, worlds: SimpleNamespace) -> None:
    for payload in payloads_of(worlds, length):
        assert_comes_back(payload, skin)


@pytest.mark.parametrize("change", [
    {},
    {"events": [], "initial_observations": []},
    {"entity_types": {"E1": "Entity", "E3": "Entity"}, "events": [], "initial_observations": []},
    {"family": "membership", "query": Query("MEMBER", ("E3", "S2"), 10**9), "answer_options": ("YES", "NO")},
    {"complexity": 99},
    {"events": [event(99999, 1, "MOVE", ["E1", "R1", "R1"], entity="E1", origin="R1", destination="R1"),
                event(100000, 1, "MOVE", ["E1", "R1", "R2"], entity="E1", origin="R1", destination="R2")]},
])  # fmt: skip
def test_unusual_payloads_are_read_back_exactly(change: dict[str, Any], skin: str) -> None:
    assert_comes_back(by_hand(**change), skin)


@pytest.mark.parametrize("style", ["active{}", "%s{}", "YES {}", "V0000{}", "\N{SNOWMAN}{}", "a, b.\n\n{}"])
def test_symbols_may_be_called_anything(style: str, skin: str) -> None:
    def called(symbol: str) -> str:
        return "active" if (style, symbol) == ("active{}", "E1") else style.format(symbol)

    rendering = assert_comes_back(
        by_hand(
            entity_types={called(symbol): kind for symbol, kind in typed().items()},
            initial_observations=[Observation("I0001", "LOCATED_IN", (called("E2"), called("R1")))],
            events=every_form(called),
            query=Query("ABOVE", (called("E2"), called("E1")), 7),
        ),
        skin,
    )
    assert rendering.text.isascii()


def test_worlds_of_other_tasks_are_read_back_exactly(skin: str) -> None:
    tasks: list[dict[str, Any]] = [
        {"entity_count": 32, "length": 2, "simulation_steps": 3000},
        {"entity_count": 1000, "length": 4, "simulation_steps": 8000},
        {
            "entity_count": 100,
            "allocation": {"entities": 40, "sets": 57, "regions": 2, "counters": 1},
            "transitions": {"move": {"weight": 0, "probability": 0}, "set_state": {"weight": 900, "probability": 1}},
            "length": 3,
            "simulation_steps": 2500,
        },
    ]
    for task in tasks:
        for world in generate_worlds(1, seed=3, task=load_task(task)):
            assert_comes_back(renderer_payload(world), skin)


def test_every_id_stands_once_and_in_order(length: int, skin: str, worlds: SimpleNamespace) -> None:
    for payload in payloads_of(worlds, length):
        text = render(payload, skin).text
        ids = [fact.id for fact in payload.initial_observations] + [happened.id for happened in payload.events]
        assert re.findall(r"[IV]\d+", text) == ids
        assert [line.split(":")[0].split(",")[0] for line in entries(text)] == ids


def test_lines_say_what_the_lexicon_says(length: int, skin: str, worlds: SimpleNamespace) -> None:
    """A second reading of the events, by order of mention and the lexicon alone."""
    lexicon, articles = LEXICONS[skin], "(?:the )?"
    for payload in payloads_of(worlds, length):
        rendering = render(payload, skin)
        lines = {line.split(",")[0]: line for line in entries(rendering.text) if line[0] == "V"}
        for happened in payload.events:
            line, arguments = lines[happened.id], happened.arguments
            assert line.startswith(f"{happened.id}, step {happened.time}: ")
            told = sorted(happened.participants, key=lambda symbol: line.index(rendering.names[symbol]))
            assert all(line.count(rendering.names[symbol]) == 1 for symbol in told)
            if happened.kind == "RELATE":
                relation = str(arguments["relation"])
                pair = [symbol for symbol in told if symbol in [arguments[name] for name in RELATED[relation]]]
                between = line.split(rendering.names[pair[0]])[1].split(rendering.names[pair[1]])[0]
                words = getattr(lexicon, relation.lower())
                forward = [word for word in words.forward if f" {word} " in between]
                backward = [word for word in words.backward if f" {word} " in between]
                assert len(forward) + len(backward) == 1
                assert [arguments[name] for name in RELATED[relation]] == (pair if forward else pair[::-1])
            elif happened.kind == "MOVE":
                for end, words in (("origin", lexicon.origin), ("destination", lexicon.destination)):
                    name = rendering.names[str(arguments[end])]
                    assert re.search(f"({'|'.join(words)}) {articles}{name}", line)
            elif happened.kind == "UPDATE_NUMBER":
                words = lexicon.add if arguments["operator"] == "ADD" else lexicon.subtract
                assert re.search(f"({'|'.join(words)}) {arguments['amount']}\\b", line)
                numbers = [str(arguments[name]) for name in ("amount", "before", "after")]
                assert sorted(re.findall(r"-?\d+", line)[2:]) == sorted(numbers)
            else:
                values = [lexicon.true if arguments[name] else lexicon.false for name in ("before", "after")]
                assert f'"{arguments["flag"]}"' in line
                assert sorted(re.findall(f"\\b(?:{lexicon.true}|{lexicon.false})\\b", line)) == sorted(values)


def test_the_question_asks_for_both_arguments_in_order(length: int, skin: str, worlds: SimpleNamespace) -> None:
    for payload in payloads_of(worlds, length):
        rendering = render(payload, skin)
        asked = [line for line in rendering.text.split("\n") if "?" in line]
        left, right = (rendering.names[symbol] for symbol in payload.query.arguments)
        words = "|".join(getattr(LEXICONS[skin], payload.query.predicate.lower()).forward)
        assert len(asked) == 1
        assert re.fullmatch(
            f"Question: .*step {payload.query.time}\\b.*{left} (is )?({words}) (the )?{right}\\?", asked[0]
        )


def test_the_end_says_how_to_answer(skin: str) -> None:
    for options in (("YES", "NO"), ("NO", "YES")):
        text = render(by_hand(answer_options=options), skin).text
        assert f"Possible answers, in this order: {options[0]}, {options[1]}." in text
        assert text.endswith(f'end with one line of this form: "Answer: {options[0]}" or "Answer: {options[1]}"')
        assert text.count("YES") == text.count("NO") == 3


# ---------------------------------------------------------------------------------------------------------------------
# What must not be told


def test_the_hidden_half_changes_no_byte(length: int, skin: str, worlds: SimpleNamespace) -> None:
    records = worlds.records(length, 8, 11)
    for world, other in zip(records[:4], records[4:], strict=True):
        document, foreign = json.loads(to_json(world)), json.loads(to_json(other))
        for field in ("id", "hidden_program", "final_state", "proof_event_ids", "proof_facts", "gold_answer"):
            document[field] = foreign[field]
        for field in ("hidden_generation_attributes", "boolean_flags"):
            document["initial_state"][field] = foreign["initial_state"][field]
        if world.family != "spatial_order":
            document["family"] = "membership_disjointness" if "inherit" in world.family else "membership_inheritance"
        document["hidden_program"]["transition_rules"][0]["probability"] = 0.125
        changed = decode(json.dumps(document), WorldSkeleton)
        assert changed != world
        assert render(renderer_payload(changed), skin) == render(renderer_payload(world), skin)


def test_the_question_is_never_asserted(length: int, skin: str, worlds: SimpleNamespace) -> None:
    for payload in payloads_of(worlds, length):
        rendering = render(payload, skin)
        left, right = (rendering.names[symbol] for symbol in payload.query.arguments)
        both = [line for line in rendering.text.split("\n") if left in line and right in line]
        lists = [line for line in both if ": " in line and line.count(", ") > 20]
        together = {f for f in both if f not in lists and not f.startswith("Question: ")}
        # What is left are events that mention both, and none of them states the question.
        assert together <= set(entries(rendering.text))
        words = getattr(LEXICONS[skin], payload.query.predicate.lower())
        for word in (*words.forward, *words.backward):
            assert not any(f" {word} " in line for line in together)


def test_no_forbidden_word(length: int, skin: str, worlds: SimpleNamespace) -> None:
    for payload in payloads_of(worlds, length):
        text = render(payload, skin).text.lower()
        assert not FORBIDDEN.search(text)
        assert text.isascii()
        assert not re.search(r"\b(no|not|never|isn't)\b", text.replace("share not a single", "").rsplit("question:")[0])
        assert "  " not in text
        assert not re.search(r" [.,:?]|\ba [aeiou]|\ban [^aeiou]", text)


# ---------------------------------------------------------------------------------------------------------------------
# Names


@pytest.mark.parametrize("size", [32, 128, 1000, 10_000])
def test_names_are_different_and_none_is_in_another(size: int, skin: str) -> None:
    parts = size * 7 // 16, size * 3 // 8, max(2, size // 16)
    rendering = assert_comes_back(by_hand(entity_types=typed(*parts, size - sum(parts))), skin)
    names = list(rendering.names.values())
    assert len({name.lower() for name in names}) == len(names) == size
    everything = "\n".join(names).lower()
    assert all(everything.count(name.lower()) == 1 for name in names)


def test_there_are_10000_names_of_every_kind(skin: str) -> None:
    for kind in SKIN_TABLE[skin].kinds.values():
        pool = kind.pools[-1]
        assert len(pool) >= 10_000
        assert len(set(pool)) == len(pool)


def test_names_hold_no_word_that_decides(skin: str) -> None:
    lexicon = LEXICONS[skin]
    words = {"yes", "no", "not", "step", "active", "sealed", "gold", "proof", "level", lexicon.true, lexicon.false}
    for field in ("above", "member", "subset", "disjoint", "connected"):
        words |= {*getattr(lexicon, field).forward, *getattr(lexicon, field).backward}
    words |= {*lexicon.add, *lexicon.subtract, *lexicon.origin, *lexicon.destination}
    pattern = re.compile(rf"\b({'|'.join(sorted(words))})\b")
    for kind in SKIN_TABLE[skin].kinds.values():
        for pool in kind.pools:
            names = list(itertools.islice(pool, 0, None, max(1, len(pool) // 2000)))
            parts = {part for name in names for part in name.lower().split()}
            assert not [part for part in parts if pattern.search(part)]
            assert all(TOKEN.fullmatch(name) and not re.search(r"\d", name) for name in names)


def test_names_tell_their_kind(skin: str, worlds: SimpleNamespace) -> None:
    rendering = render(payloads_of(worlds, 4)[0], skin)
    kinds = SKIN_TABLE[skin].kinds
    for symbol, kind in payloads_of(worlds, 4)[0].entity_types.items():
        told = {other for other, words in kinds.items() if words.one in rendering.names[symbol].lower().split()}
        assert told <= {kind}
        assert told or kind == "Entity"


def test_more_symbols_than_names_are_refused() -> None:
    with pytest.raises(ValueError, match="names of the type Region must be at most"):
        render(by_hand(entity_types=typed(regions=200_000)), "ward")


def test_names_are_drawn_anew_for_each_world(worlds: SimpleNamespace) -> None:
    first, second = (render(payload, "ward").names for payload in payloads_of(worlds, 4)[:2])
    assert list(first) == list(second)
    assert sum(first[symbol] == second[symbol] for symbol in first) < 10


# ---------------------------------------------------------------------------------------------------------------------
# Sentences


def test_all_sentences_are_used_and_told_apart(skin: str, worlds: SimpleNamespace) -> None:
    surface = surface_of(skin)
    seen = set()
    for length in range(2, 13):
        for payload in payloads_of(worlds, length):
            text = render(payload, skin).text
            asked = next(line for line in text.split("\n") if "?" in line).removeprefix("Question: ")
            seen |= {skeleton_of(TOKEN.split(line)) for line in [*entries(text), asked]}
    # Nothing in these worlds leaves a mark as it was.
    changing = [form for key, forms in surface.events.items() if len(key) < 3 or key[1] != key[2] for form in forms]
    made = [
        *changing,
        *[form for table in (surface.observations, surface.questions) for f in table.values() for form in f],
    ]
    assert {form.skeleton for form in made} == seen
    everything = [form for forms in surface.events.values() for form in forms]
    assert len({form.skeleton for form in everything}) == len(everything)
    for form in EVENT_FORMS:
        heads = [made.skeleton for made in everything if made.head == (form.relation or form.kind)]
        assert len(heads) >= 3


def test_no_word_of_the_lexicon_is_in_one_of_another_side(skin: str) -> None:
    lexicon = LEXICONS[skin]
    sides: list[tuple[str, ...]] = [lexicon.add, lexicon.subtract, (lexicon.true,), (lexicon.false,)]
    for field in ("above", "member", "subset", "disjoint", "connected"):
        words = getattr(lexicon, field)
        sides += [side for side in (words.forward, words.backward) if side]
    for side in sides:
        for other in sides:
            if other is not side:
                assert not [(a, b) for a in side for b in other if re.search(rf"\b{a}\b", b)]


# ---------------------------------------------------------------------------------------------------------------------
# Purity


def test_the_text_is_a_function_of_payload_and_skin(worlds: SimpleNamespace) -> None:
    payload = payloads_of(worlds, 4)[0]
    read = decode(to_json(payload), WorldPayload)
    assert list(read.entity_types) != list(payload.entity_types)
    script = (
        "import sys; from veilgym.envs.dynamic_world.grammar import WorldPayload, decode; "
        "from veilgym.envs.dynamic_world.prose import SKINS, render; "
        "payload = decode(sys.stdin.buffer.read(), WorldPayload); "
        "sys.stdout.buffer.write('\\0'.join(render(payload, skin).text for skin in SKINS).encode())"
    )
    run = subprocess.run([sys.executable, "-c", script], input=to_json(payload), capture_output=True, check=True)
    texts = [render(payload, skin).text for skin in SKINS]
    assert texts == [render(read, skin).text for skin in SKINS] == run.stdout.decode().split("\0")
    assert len(set(texts)) == len(SKINS) >= 4


# ---------------------------------------------------------------------------------------------------------------------
# Changes of a text


def swap_names(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    at = draw.choice([i for i, line in enumerate(lines) if line[:1] == "V" and len(names_in(line, names)) > 1])
    one, other = draw.sample(names_in(lines[at], names), 2)
    lines[at] = re.sub(f"{one}|{other}", lambda found: other if found[0] == one else one, lines[at])


def names_in(line: str, names: dict[str, str]) -> list[str]:
    return [name for name in TOKEN.findall(line) if name in names.values()]


def rename(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    at = draw.choice([i for i, line in enumerate(lines) if re.match("[IV]|Question", line) and names_in(line, names)])
    old = draw.choice(names_in(lines[at], names))
    lines[at] = lines[at].replace(old, draw.choice([name for name in names.values() if name != old]))


def change_number(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    at = draw.choice([i for i, line in enumerate(lines) if re.search(r"\d", line)])
    found = draw.choice(list(re.finditer(r"\d+", lines[at])))
    changed = draw.choice([int(found[0]) + draw.choice((-1, 1, 10)), f"0{found[0]}", f"-{found[0]}", f"{found[0]}.0"])
    lines[at] = f"{lines[at][: found.start()]}{changed}{lines[at][found.end() :]}"


def drop_line(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    del lines[draw.randrange(len(lines))]


def duplicate_line(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    at = draw.randrange(len(lines))
    lines.insert(draw.randrange(len(lines)), lines[at])


def reorder(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    one, other = draw.sample(range(len(lines)), 2)
    if lines[one] == lines[other]:
        other = lines.index(next(line for line in lines if line != lines[one]))
    lines[one], lines[other] = lines[other], lines[one]


def negate(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    at = draw.choice([i for i, line in enumerate(lines) if line[:1] in ("I", "V")])
    words = lines[at].split(" ")
    words.insert(draw.randrange(1, len(words)), "not")
    lines[at] = " ".join(words)


def change_word(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    """To another word of the lines, but not to one of a lexicon, which may say the same."""
    at, source = draw.choices([i for i, line in enumerate(lines) if line], k=2)
    words = lines[at].split(" ")
    place = draw.randrange(len(words))
    others = [word for word in lines[source].split(" ") if word not in DECIDING and word != words[place]]
    words[place] = draw.choice(others or ["perhaps"])
    lines[at] = " ".join(words)


def drop_letter(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    at = draw.choice([i for i, line in enumerate(lines) if line])
    place = draw.randrange(len(lines[at]))
    lines[at] = lines[at][:place] + lines[at][place + 1 :]


def turn_options(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    at = draw.choice([i for i, line in enumerate(lines) if "YES" in line])
    lines[at] = re.sub("YES|NO", lambda found: "NO" if found[0] == "YES" else "YES", lines[at])


def turn_list(lines: list[str], names: dict[str, str], draw: random.Random) -> None:
    at = draw.randrange(2, 6)
    first, *listed = re.split(": |, ", lines[at].removesuffix("."))
    one, other = draw.sample(range(len(listed)), 2)
    listed[one], listed[other] = listed[other], listed[one]
    lines[at] = f"{first}: {', '.join(listed)}."


def read_or_refuse(text: str, skin: str, names: dict[str, str]) -> WorldPayload | None:
    try:
        return parse(text, skin, names)
    except ValueError as error:
        place = re.match(
            r"(line \d+|text|event V\d+ time|(initial_observations|events)\.id|query\.time): got ", str(error)
        )
        return None if place else pytest.fail(f"no place: {error}")


CHANGES = [
    swap_names, rename, change_number, drop_line, duplicate_line, reorder, negate, change_word, drop_letter,
    turn_options, turn_list,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_goes_unnoticed(change: Callable[..., None], skin: str, worlds: SimpleNamespace) -> None:
    draw = random.Random(f"{change.__name__} {skin}")
    for payload in payloads_of(worlds, 4)[:4]:
        rendering = render(payload, skin)
        for _ in range(10):
            lines = rendering.text.split("\n")
            change(lines, rendering.names, draw)
            text = "\n".join(lines)
            assert text != rendering.text
            assert read_or_refuse(text, skin, rendering.names) != payload


def test_swapped_names_of_a_ranking_turn_it(skin: str, worlds: SimpleNamespace) -> None:
    payload = payloads_of(worlds, 4)[0]
    rendering = render(payload, skin)
    for at, happened in enumerate(payload.events):
        if happened.arguments.get("relation") == "ABOVE":
            one, other = (rendering.names[symbol] for symbol in happened.participants[:2])
            line = next(line for line in entries(rendering.text) if line.startswith(happened.id))
            turned = re.sub(f"{one}|{other}", lambda found: other if found[0] == one else one, line)  # noqa: B023
            again = parse(rendering.text.replace(line, turned), skin, rendering.names).events
            assert again[at].participants[:2] == happened.participants[1::-1]
            assert [*again[:at], *again[at + 1 :]] == [*payload.events[:at], *payload.events[at + 1 :]]


# ---------------------------------------------------------------------------------------------------------------------
# Refusals


@pytest.mark.parametrize(("change", "message"), [
    ({"complexity": 0}, "complexity: got 0"),
    ({"answer_options": ("YES",)}, "answer_options: got"),
    ({"answer_options": ("YES", "YES")}, "answer_options: got"),
    ({"query": Query("MEMBER", ("E1", "S1"), 1)}, "query.predicate: got 'MEMBER'"),
    ({"query": Query("BELOW", ("E1", "E2"), 1)}, "query.predicate: got 'BELOW'"),
    ({"query": Query("ABOVE", ("E1", "E2"), -1)}, "query.time: got -1"),
    ({"query": Query("ABOVE", ("E1", "S1"), 1)}, "query.arguments: got 'S1', allowed is a symbol"),
    ({"initial_observations": [Observation("I0001", "EQUAL", ("N1", "R1"))]}, "observation I0001: got 'R1'"),
    ({"initial_observations": [Observation("I0001", "EQUAL", ("N1", True))]}, "observation I0001: got True"),
    ({"initial_observations": [Observation("I0001", "LOCATED_IN", ("N1", "R1"))]}, "observation I0001: got 'N1'"),
    ({"initial_observations": [Observation("I0001", "LOCATED_IN", ("E1", 3))]}, "observation I0001: got 3"),
    ({"initial_observations": [Observation("I0001", "EQUAL", ("N1", 1))] * 2}, "initial_observations.id: got 'I0001'"),
    ({"events": every_form()[::-1]}, "events.id: got"),
    ({"events": [msgspec.structs.replace(every_form()[0], time=5), every_form()[1]]}, "event V00003 time: got 1"),
    ({"events": [msgspec.structs.replace(every_form()[0], time=0)]}, "event V00001 time: got 0"),
    ({"events": [msgspec.structs.replace(every_form()[0], participants=["E1"])]}, "event V00001: participants must"),
    ({"entity_types": {**typed(), "E1": "Set"}}, "got 'E1', allowed is a symbol of entity_types of the type Entity"),
    ({"entity_types": {"E1": "Entity", "E3": "Entity"}}, "allowed is a symbol of entity_types of the type Region"),
])  # fmt: skip
def test_what_is_no_world_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        render(by_hand(**change), "ward")


def test_an_unknown_skin_is_refused() -> None:
    for call in (lambda: render(by_hand(), "attic"), lambda: parse("", "attic", {})):
        with pytest.raises(
            ValueError, match="skin must be one of 'notebook', 'ward', 'shipping', 'technical', got 'attic'"
        ):
            call()


@pytest.mark.parametrize(("old", "new", "message"), [
    ("\n\n", "\n", "text: got 1 blocks"),
    ("Patients: ", "People: ", "line 3: got "),
    ("V00003, step", "V00001, step", "events.id: got 'V00001'"),
    ("V00003, step", "I0003, step", "line 22: got 'I0003'"),
    ("I0002: ", "I2: ", "line 17: got 'I2'"),
    (", step 2: ", ", step two: ", "line 23: got "),
    ("YES means", "Yes means", "line 42: got 'Yes means"),
    ("combined): 1.", "combined): 0.", "line 40: got "),
])  # fmt: skip
def test_what_is_no_rendering_is_refused_with_its_place(old: str, new: str, message: str) -> None:
    rendering = render(by_hand(), "ward")
    assert old in rendering.text
    with pytest.raises(ValueError, match=re.escape(message)):
        parse(rendering.text.replace(old, new), "ward", rendering.names)


def test_names_that_are_not_those_of_the_text_are_refused() -> None:
    rendering = render(by_hand(), "ward")
    names = rendering.names
    for wrong in ({**names, "E9": "Ann Berg"}, {**names, "E1": names["E2"]}, dict(list(names.items())[1:]), {}):
        with pytest.raises(ValueError, match=r"^(names|line \d+): got "):
            parse(rendering.text, "ward", wrong)
    turned = {**names, "E1": names["E2"], "E2": names["E1"]}
    with pytest.raises(ValueError, match="allowed is the names in the order of their symbols"):
        parse(rendering.text, "ward", turned)
