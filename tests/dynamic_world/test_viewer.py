"""What is shown of a world: complete, of one shape, legible, and blind to the hidden half until the answer."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from msgspec.structs import replace
from numpy.typing import NDArray

from veilgym.envs.core.canvas import BLUE, ORANGE, Box
from veilgym.envs.core.page import Page, measure, spread
from veilgym.envs.dynamic_world import generate_worlds, renderer_payload
from veilgym.envs.dynamic_world.grammar import (
    FORM_INDEX,
    Observation,
    Query,
    WorldEvent,
    WorldPayload,
    WorldSkeleton,
    check_event,
)
from veilgym.envs.dynamic_world.rendering import graph_panel
from veilgym.envs.dynamic_world.rendering.graph_panel import Graph
from veilgym.envs.dynamic_world.rendering.neighbourhood import Fan, edges_of, fans_of
from veilgym.envs.dynamic_world.rendering.viewer import Verdict, event_text, render_world

SIZES = {
    "short": (4, 128, 1000),
    "medium": (6, 128, 1000),
    "long": (8, 128, 1000),
    "small": (4, 32, 300),
    "large": (4, 512, 4000),
    "large and long": (8, 512, 4000),
    "very long": (20, 512, 4000),
}
EVERY_SIZE = pytest.mark.parametrize("size", SIZES)
EVERY_MODE = pytest.mark.parametrize("mode", ["ansi", "rgb_array"])


@cache
def worlds(size: str) -> list[WorldSkeleton]:
    """Worlds in which both public families and both answers occur."""
    length, entities, steps = SIZES[size]
    made = list(generate_worlds(6, length, 3, entity_count=entities, simulation_steps=steps))
    assert {world.query.predicate for world in made} == {"ABOVE", "MEMBER"}
    assert {world.gold_answer for world in made} == {"YES", "NO"}
    return made


def verdict_on(world: WorldSkeleton, answer: str = "YES", reward: float = 0.0) -> Verdict:
    return Verdict(answer, world.gold_answer, tuple(world.proof_event_ids), reward)


def picture(payload: WorldPayload, verdict: Verdict | None = None) -> NDArray[np.uint8]:
    frame = render_world(payload, verdict, "rgb_array")
    assert isinstance(frame, np.ndarray)
    return frame


def chronicle(payload: WorldPayload, verdict: Verdict | None = None) -> str:
    text = render_world(payload, verdict, "ansi")
    assert isinstance(text, str)
    return text


def event(number: int, time: int, kind: Any, **arguments: Any) -> WorldEvent:
    values = (value for name, value in arguments.items() if name not in ("relation", "operator", "flag"))
    participants = [value for value in values if isinstance(value, str)]
    made = WorldEvent(f"V{number:05d}", time, kind, participants, arguments)
    check_event(made)
    return made


TOWER = WorldPayload(
    family="spatial_order",
    complexity=2,
    entity_types={"E1": "Entity", "E2": "Entity", "E3": "Entity", "S1": "Set", "R1": "Region", "C1": "Number"},
    initial_observations=[Observation("I0001", "LOCATED_IN", ("E1", "R1")), Observation("I0002", "EQUAL", ("C1", 7))],
    events=[
        event(1, 2, "RELATE", relation="ABOVE", higher="E3", lower="E1", region="R1"),
        event(2, 13, "UPDATE_NUMBER", counter="C1", operator="SUBTRACT", amount=3, before=7, after=4),
        event(3, 14, "SET_STATE", entity="E2", flag="sealed", before=False, after=True),
        event(4, 15, "RELATE", relation="ABOVE", higher="E1", lower="E2", region="R1"),
        event(5, 16, "RELATE", relation="MEMBER", entity="E1", set="S1"),
        event(6, 17, "MOVE", entity="E1", origin="R1", destination="R1"),
    ],
    query=Query("ABOVE", ("E2", "E3"), 20),
    answer_options=("YES", "NO"),
)
CHRONICLE = """\
Dynamic world of 6 symbols
  3 entities, 1 set, 1 region, 1 counter; 6 events in 20 steps

At the start
  I0001 E1 in R1   I0002 C1 = 7

Events
  V00001 t=2   E3 ABOVE E1 in R1
  V00002 t=13  C1 SUBTRACT 3: 7 -> 4
  V00003 t=14  E2 sealed: false -> true
  V00004 t=15  E1 ABOVE E2 in R1
  V00005 t=16  E1 MEMBER S1
  V00006 t=17  E1 moves R1 -> R1

Query
  Is E2 above E3?  YES or NO
  as of t=20"""
VERDICT = """

Answer
  said    0.73 YES: wrong
  gold    NO
  reward  0.4671
  proof   2 events
    V00001 t=2   E3 ABOVE E1 in R1
    V00004 t=15  E1 ABOVE E2 in R1"""


def test_chronicle_of_a_written_world() -> None:
    verdict = Verdict("0.73 YES", "NO", ("V00001", "V00004"), 0.4671)
    assert chronicle(TOWER) == CHRONICLE
    assert chronicle(TOWER, verdict) == CHRONICLE + VERDICT


EVENT = re.compile(r"^  (V\d+) t=(\d+) +(.+)$", re.MULTILINE)
PHRASES = (
    r"(?P<entity>\S+) moves (?P<origin>\S+) -> (?P<destination>\S+)",
    r"(?P<higher>\S+) (?P<relation>ABOVE) (?P<lower>\S+) in (?P<region>\S+)",
    r"(?P<entity>\S+) (?P<relation>MEMBER) (?P<set>\S+)",
    r"(?P<child_set>\S+) (?P<relation>SUBSET) (?P<parent_set>\S+)",
    r"(?P<left_set>\S+) (?P<relation>DISJOINT) (?P<right_set>\S+)",
    r"(?P<left_entity>\S+) (?P<relation>CONNECTED) (?P<right_entity>\S+)",
    r"(?P<counter>\S+) (?P<operator>ADD|SUBTRACT) (?P<amount>\d+): (?P<before>\d+) -> (?P<after>\d+)",
    r"(?P<entity>\S+) (?P<flag>active|sealed): (?P<before>true|false) -> (?P<after>true|false)",
)


def parse_events(text: str) -> Iterator[tuple[str, int, str, dict[str, str | int | bool]]]:
    """The id, time, kind and arguments of each event."""
    for name, when, what in EVENT.findall(text):
        ((match, kind),) = (
            (match, kind)
            for phrase, (kind, _) in zip(PHRASES, FORM_INDEX, strict=True)
            if (match := re.fullmatch(phrase, what))
        )
        values = {"true": True, "false": False}
        arguments = {k: int(v) if v.isdigit() else values.get(v, v) for k, v in match.groupdict().items()}
        yield name, int(when), kind, arguments


def parse_observations(text: str) -> Iterator[Observation]:
    for name, symbol, verb, value in re.findall(r"(I\d+) (\S+) (in|=) (\S+)", text):
        if verb == "in":
            yield Observation(name, "LOCATED_IN", (symbol, value))
        else:
            yield Observation(name, "EQUAL", (symbol, int(value)))


@EVERY_SIZE
def test_chronicle_tells_every_observation_and_event(size: str) -> None:
    for world in worlds(size):
        payload = renderer_payload(world)
        text = chronicle(payload)
        told = list(parse_events(text))
        assert told == [(event.id, event.time, event.kind, event.arguments) for event in payload.events]
        assert list(parse_observations(text.split("\n\nEvents")[0])) == payload.initial_observations
        left, right = payload.query.arguments
        verb = "above" if payload.query.predicate == "ABOVE" else "a member of"
        question = f"Is {left} {verb} {right}?  YES or NO\n  as of t={payload.query.time}"
        assert text.endswith(f"\n\nQuery\n  {question}")
        lines = text.splitlines()
        assert text.isascii()
        assert max(map(len, lines)) <= 100
        assert all(line.isprintable() and line == line.rstrip() for line in lines)
        assert len(lines) < len(payload.events) + len(payload.initial_observations) / 4 + 15


@EVERY_SIZE
def test_chronicle_tells_the_proof_after_the_answer(size: str) -> None:
    for world in worlds(size):
        payload = renderer_payload(world)
        before, after = chronicle(payload), chronicle(payload, verdict_on(world))
        assert after.startswith(before)
        proof = after[len(before) :].split("events\n")[1]
        assert [line.split()[0] for line in proof.splitlines()] == world.proof_event_ids
        times = {event.id: event.time for event in world.events}
        assert all(f"{name} t={times[name]} " in proof for name in world.proof_event_ids)


def test_chronicle_shows_no_character_that_a_terminal_obeys() -> None:
    odd = replace(TOWER, entity_types={"\x1b[31m\n": "Entity"}, query=Query("ABOVE", ("\x1b[31m\n", "\u901f"), 20))
    text = chronicle(odd)
    assert text.isascii()
    assert all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize(
    ("answer", "gold", "judgement"),
    [
        ("YES", "YES", "right"),
        ("YES", "NO", "wrong"),
        ("NO", "NO", "right"),
        ("NO", "YES", "wrong"),
        ("0.73 YES", "YES", "right"),
        ("0.73 YES", "NO", "wrong"),
        ("0.12 YES", "NO", "right"),
        ("0.12 YES", "YES", "wrong"),
        ("0.50 YES", "NO", "takes no side"),
        ("1.00 YES", "YES", "right"),
    ],
)
def test_judgement(answer: str, gold: str, judgement: str) -> None:
    assert Verdict(answer, gold, (), 1.0).judgement == judgement


@EVERY_SIZE
def test_pictures_have_one_shape_before_and_after(size: str) -> None:
    for world in worlds(size):
        payload = renderer_payload(world)
        frames = [
            picture(payload),
            picture(payload, verdict_on(world)),
            picture(payload, verdict_on(world, "0.04 YES")),
        ]
        assert {(frame.shape, frame.dtype.name) for frame in frames} == {((720, 1280, 3), "uint8")}
        assert all((one != other).any() for one, other in zip(frames, frames[1:] + frames[:1], strict=True))


@EVERY_MODE
def test_drawing_is_deterministic(mode: str) -> None:
    for world in worlds("short"):
        payload = renderer_payload(world)
        for verdict in (None, verdict_on(world)):
            assert np.array_equal(render_world(payload, verdict, mode), render_world(payload, verdict, mode))


def test_frames_are_not_shared() -> None:
    frame = picture(TOWER)
    kept = frame.copy()
    frame[:] = 0
    assert np.array_equal(picture(TOWER), kept)


def hidden_twin(world: WorldSkeleton) -> WorldSkeleton:
    """A record with the same public half and all else different."""
    state = world.initial_state
    levels = {name: level + 1 for name, level in state.hidden_generation_attributes["levels"].items()}
    return replace(
        world,
        id="another",
        family={
            "membership_inheritance": "membership_disjointness",
            "membership_disjointness": "membership_inheritance",
        }.get(world.family, world.family),
        initial_state=replace(state, boolean_flags={}, hidden_generation_attributes={"levels": levels}),
        final_state=state,
        gold_answer="NO" if world.gold_answer == "YES" else "YES",
        proof_event_ids=world.proof_event_ids[:1],
        proof_facts=[],
    )


@EVERY_MODE
def test_the_hidden_half_is_not_seen_before_the_answer(mode: str) -> None:
    for world in worlds("short"):
        twin = hidden_twin(world)
        assert twin != world
        frames = [render_world(renderer_payload(one), None, mode) for one in (world, twin)]
        assert np.array_equal(*frames)
        frames = [render_world(renderer_payload(one), verdict_on(one), mode) for one in (world, twin)]
        assert not np.array_equal(*frames)


def count_of(frame: NDArray[np.uint8], color: str) -> int:
    return int((frame == tuple(bytes.fromhex(color[1:]))).all(axis=-1).sum())


@EVERY_SIZE
def test_the_colours_of_the_proof_are_seen_only_after_the_answer(size: str) -> None:
    for world in worlds(size):
        payload = renderer_payload(world)
        before, after = picture(payload), picture(payload, verdict_on(world, world.gold_answer))
        assert count_of(before, BLUE) == count_of(before, ORANGE) == 0
        # The mark of a right answer is blue in any case.
        left = after[:, :930]
        proof, other = (BLUE, ORANGE) if world.gold_answer == "YES" else (ORANGE, BLUE)
        assert count_of(left, proof) > 500
        assert count_of(left, other) == 0


@EVERY_SIZE
def test_symbols_stand_where_they_stood_before_the_answer(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for world in worlds(size):
        places = []
        for verdict in (None, verdict_on(world)):
            symbols = Symbols(monkeypatch)
            picture(renderer_payload(world), verdict)
            places.append([(name, box) for name, box in symbols.boxes if box.bottom < 570])
            monkeypatch.undo()
        assert places[0] == places[1]


def check_fan(fan: Fan, payload: WorldPayload, symbol: str, most: int) -> None:
    rows = {name: row for row, names in fan.rows.items() for name in names}
    assert fan.rows[0] == [symbol]
    assert len(rows) == sum(map(len, fan.rows.values()))
    assert sorted(fan.rows) == list(range(min(fan.rows), max(fan.rows) + 1))
    assert set(fan.edges) <= set(edges_of(payload))
    assert all(rows[edge.right] == rows[edge.left] + 1 for edge in fan.edges)
    # Every symbol hangs on one that is nearer to the argument.
    for name, row in rows.items():
        side = [edge for edge in fan.edges if (edge.right if row > 0 else edge.left) == name]
        assert (row == 0) is (name == symbol)
        assert side or row == 0
    assert max(len(names) for names in fan.rows.values()) <= fan.widest <= most
    assert all(len(fan.rows[row]) == most - 1 and count > 1 for row, count in fan.left_out.items())


@EVERY_SIZE
@pytest.mark.parametrize("most", [3, 9])
def test_fans_are_the_public_facts_around_the_arguments(size: str, most: int) -> None:
    for world in worlds(size):
        payload = renderer_payload(world)
        for fan, symbol in zip(fans_of(payload, most), payload.query.arguments, strict=True):
            check_fan(fan, payload, symbol, most)
        left, right = fans_of(payload, most)
        assert max(left.rows) > 0
        assert min(right.rows) < 0


@EVERY_SIZE
def test_fans_without_a_bound_hold_the_ends_of_the_proof(size: str) -> None:
    """All of it up to eight events."""
    for world in worlds(size):
        payload = renderer_payload(world)
        drawn = {edge.event_id for fan in fans_of(payload, 1000) for edge in fan.edges}
        proof = world.proof_event_ids
        assert set(proof[:4] + proof[-4:]) <= drawn
        assert all(not fan.left_out for fan in fans_of(payload, 1000))


def related(relation: str, pairs: str) -> list[WorldEvent]:
    """The events that state a relation of sets, or of an entity and sets, for pairs such as "AB"."""
    sides = {"MEMBER": ("entity", "set"), "SUBSET": ("child_set", "parent_set"), "DISJOINT": ("left_set", "right_set")}
    left, right = sides[relation]
    return [event(1, 1, "RELATE", relation=relation, **{left: one, right: other}) for one, other in pairs.split()]


def test_fans_of_sets_follow_what_a_proof_may_use() -> None:
    events = [
        *related("MEMBER", "xA xB yG xQ"),
        *related("SUBSET", "BD AC EF GQ HI IJ QL LN KG"),
        *related("DISJOINT", "AE DB IQ PG QM"),
    ]
    types: Any = {name: "Entity" if name.islower() else "Set" for name in "xyABCDEFGHIJKLMNPQ"}
    payload = replace(
        TOWER, family="membership", entity_types=types, events=events, query=Query("MEMBER", ("x", "Q"), 20)
    )
    member, group = fans_of(payload, 9)
    # E is disjoint with A, which says nothing of F; D stands beneath B, C and E beneath A.
    assert member.rows == {0: ["x"], 1: ["A", "B", "Q"], 2: ["C", "E", "D", "L", "M"], 3: ["N"]}
    # Neither J, nor P, which is disjoint with a part of Q only, nor another member.
    assert group.rows == {0: ["Q"], 1: ["L", "M"], -1: ["G", "I"], -2: ["K", "H"]}
    assert [(edge.left + edge.right) for edge in group.edges] == ["QL", "QM", "GQ", "IQ", "HI", "KG"]


def test_a_later_event_than_the_query_is_not_drawn() -> None:
    early = replace(TOWER, query=replace(TOWER.query, time=14))
    assert [edge.event_id for edge in edges_of(TOWER)] == ["V00001", "V00004"]
    assert [edge.event_id for edge in edges_of(early)] == ["V00001"]


class Symbols:
    """Notes every box of a symbol."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.boxes: list[tuple[str, Box]] = []
        draw = graph_panel.draw_symbol

        def note(page: Page, at: Any, name: str, width: float, *args: Any) -> None:
            draw(page, at, name, width, *args)
            self.boxes.append((name, Box(at[0] - width / 2, at[1] - 9, at[0] + width / 2, at[1] + 9)))

        monkeypatch.setattr("veilgym.envs.dynamic_world.rendering.graph_panel.draw_symbol", note)
        monkeypatch.setattr("veilgym.envs.dynamic_world.rendering.proof_panel.draw_symbol", note)


class Words:
    """Notes every line and every number that a page is asked to write, with the room that it takes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.boxes: list[tuple[str, Box]] = []
        self.short: list[str] = []
        write = Page.write

        def note(page: Page, at: Any, text: str, size: float = 11, *args: Any, **fields: Any) -> float:
            width = write(page, at, text, size, *args, **fields)
            left = at[0] - width * {"left": 0, "center": 0.5, "right": 1}[fields.get("align", "left")]
            self._add(text, left, at[1], width, size)
            if measure(text, size, fields.get("bold", False)) > fields.get("room", 1e9):
                self.short.append(text)
            return width

        def note_number(page: Page, centre: Any, text: str, size: float, color: str, room: float) -> None:
            width = spread(text, size)
            self._add(text, centre[0] - width / 2, centre[1], width, size)
            if width > room:
                self.short.append(text)

        monkeypatch.setattr(Page, "write", note)
        monkeypatch.setattr(Page, "write_number", note_number)

    def _add(self, text: str, left: float, middle: float, width: float, size: float) -> None:
        self.boxes.append((text, Box(left, middle - 0.38 * size, left + width, middle + 0.38 * size)))


def overlaps(boxes: list[tuple[str, Box]]) -> list[tuple[str, str]]:
    """Pairs that share an area, apart from half a pixel on either side."""
    left, top, right, bottom = np.array([box for _, box in boxes]).T[:, :, None]
    is_before, is_above = left + 0.5 < right.T - 0.5, top < bottom.T
    shared = is_before & is_before.T & is_above & is_above.T
    return [(boxes[i][0], boxes[j][0]) for i, j in np.argwhere(np.triu(shared, 1)).tolist()]


@EVERY_SIZE
@pytest.mark.parametrize("answer", [None, "YES", "0.93 YES"])
def test_words_keep_apart_and_whole(size: str, answer: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for world in worlds(size):
        words, symbols = Words(monkeypatch), Symbols(monkeypatch)
        picture(renderer_payload(world), None if answer is None else verdict_on(world, answer, -0.123456))
        monkeypatch.undo()
        assert words.short == []
        assert overlaps(words.boxes) == []
        assert overlaps(symbols.boxes) == []
        named = {name for name, _ in symbols.boxes}
        others = [(text, box) for text, box in words.boxes if text not in named]
        assert [pair for pair in overlaps([*symbols.boxes, *others]) if set(pair) & named] == []
        for _, box in words.boxes + symbols.boxes:
            assert box.left >= 20
            assert box.right <= 1260
            assert box.top >= 20
            assert box.bottom <= 700


@EVERY_SIZE
def test_fans_keep_to_their_halves(size: str) -> None:
    for world in worlds(size):
        graph = Graph(renderer_payload(world), Box(40, 80, 940, 570))
        half = graph.symbol_width / 2
        assert [box.top for box in graph.boxes] == [94, 94]
        assert graph.boxes[0].right + 16 == pytest.approx(graph.boxes[1].left)
        for fan, box, places in zip(graph.fans, graph.boxes, graph.places, strict=True):
            assert sorted(places) == sorted(name for names in fan.rows.values() for name in names)
            for x, y in places.values():
                assert box.left + half < x < box.right - half
                assert box.top + 9 < y < box.bottom - 9
        (left, right), (first, second) = world.query.arguments, graph.places
        # Of two entities neither is seen to be the higher one.
        assert world.query.predicate == "MEMBER" or first[left][1] == second[right][1]


def test_full_rows_tell_how_many_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"E{i:03d}" for i in range(42)]
    events = [
        event(i, i, "RELATE", relation="ABOVE", higher=names[i % 2], lower=low, region="R1")
        for i, low in enumerate(names[2:], 2)
    ]
    types: Any = dict.fromkeys(names, "Entity")
    payload = replace(TOWER, entity_types=types, events=events, query=Query("ABOVE", (names[0], names[1]), 50))
    words, symbols = Words(monkeypatch), Symbols(monkeypatch)
    picture(payload)
    monkeypatch.undo()
    drawn = len(symbols.boxes) // 2 - 1
    assert 5 < drawn < 15
    assert [text for text, _ in words.boxes].count(f"+{20 - drawn}") == 2
    assert overlaps(symbols.boxes) == overlaps(words.boxes) == []


def test_words_of_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words(monkeypatch)
    picture(TOWER)
    told = [text for text, _ in words.boxes]
    assert {"Is E2 above E3?", "Is E2 above E3,", "3 entities", "1 set", "YES or NO?"} <= set(told)
    assert not any(text.startswith("V0000") for text in told)
    words.boxes.clear()
    picture(TOWER, Verdict("0.73 YES", "NO", ("V00001", "V00004"), 0.46714))
    told = [text for text, _ in words.boxes]
    wanted = {"0.73 YES", "\u2717 wrong", "the answer is NO: the contrary follows", "reward 0.4671"}
    assert wanted <= set(told)
    # In the chain and in both fans, each of which reaches the other argument.
    assert told.count("V00001") == told.count("V00004") == 3
    monkeypatch.undo()


def test_a_picture_tells_when_events_happened_and_which_are_the_proof() -> None:
    frames = []
    for moved in (13, 8):
        events = [event if event.time != 13 else replace(event, time=moved) for event in TOWER.events]
        frames.append(picture(replace(TOWER, events=events)))
    rows, columns = np.nonzero((frames[0] != frames[1]).any(axis=-1))
    assert rows.size > 20
    assert columns.min() > 1090
    verdict = Verdict("YES", "NO", ("V00001", "V00004"), 0.0)
    frame = picture(TOWER, verdict)[200:420, 1106:1244]
    marks = (frame == tuple(bytes.fromhex(ORANGE[1:]))).all(axis=-1).any(axis=0)
    # Each mark begins a pixel before its tick; the events happened at the 2nd and the 15th of 20 steps.
    ticks = np.flatnonzero(np.diff(marks.astype(int)) == 1) + 2
    assert ticks / 138 == pytest.approx([1 / 20, 14 / 20], abs=0.02)


def test_written_names_of_any_length_are_drawn() -> None:
    long = "a name of a good many words and more"
    events = [
        event(1, 2, "RELATE", relation="ABOVE", higher=long, lower="\u901f $\\frac$", region="R"),
        event(2, 3, "RELATE", relation="ABOVE", higher="\u901f $\\frac$", lower="E", region="R"),
    ]
    types: Any = {long: "Entity", "\u901f $\\frac$": "Entity", "E": "Entity", "R": "Region"}
    payload = replace(TOWER, entity_types=types, events=events, query=Query("ABOVE", (long, "E"), 3))
    frame = picture(payload, Verdict("YES", "YES", ("V00001", "V00002"), 1.0))
    border = np.concatenate([part.reshape(-1, 3) for part in (frame[:20], frame[-20:], frame[:, :20], frame[:, -20:])])
    assert (border == 255).all()


def test_a_world_without_facts_is_drawn() -> None:
    payload = replace(TOWER, events=[], initial_observations=[])
    assert picture(payload).shape == (720, 1280, 3)
    assert "Events" not in chronicle(payload)


def test_event_texts_differ_whenever_events_do() -> None:
    for world in worlds("short"):
        texts = {event_text(event) for event in world.events}
        assert len(texts) == len({(event.kind, *event.arguments.values()) for event in world.events})


@pytest.mark.parametrize("size", ["short", "large and long"])
def test_a_frame_takes_less_than_a_tenth_of_a_second(size: str) -> None:
    world = worlds(size)[0]
    seconds = []
    for _ in range(4):
        start = time.process_time()
        picture(renderer_payload(world), verdict_on(world))
        seconds.append(time.process_time() - start)
    assert min(seconds[1:]) < 0.1


def test_the_chronicle_needs_no_matplotlib() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; import veilgym.envs.dynamic_world.rendering.viewer"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_picture_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DependencyNotInstalled, match="plot"):
        render_world(TOWER, None, "rgb_array")
