"""What is shown of an instance: complete, of one shape, legible, and blind to the hidden half until the answer."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled
from msgspec.structs import replace

from veilgym.envs.core.canvas import Box, Canvas
from veilgym.envs.core.page import Page, _stamp, contrast, measure, shade
from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
from veilgym.envs.hidden_system.grammar import (
    ABSENT,
    PRESENT,
    BehaviorCase,
    BehaviorPayload,
    BehaviorSkeleton,
    ObservationProtocol,
)
from veilgym.envs.hidden_system.rendering import case_list, support_table
from veilgym.envs.hidden_system.rendering.cells import HEAT, count_text, ink_on, style_of
from veilgym.envs.hidden_system.rendering.viewer import Verdict, group_cases, render_instance

LENGTHS = range(4, 11)
EVERY_LENGTH = pytest.mark.parametrize("length", LENGTHS)
EVERY_MODE = pytest.mark.parametrize("mode", ["ansi", "rgb_array"])


def skeletons(length: int, count: int = 2, **fields: Any) -> list[BehaviorSkeleton]:
    return generate_skeletons(count, length, 11, **fields)


def payloads(length: int, count: int = 2, **fields: Any) -> list[BehaviorPayload]:
    return [renderer_payload(skeleton) for skeleton in skeletons(length, count, **fields)]


def verdict_on(skeleton: BehaviorSkeleton, answer: str = PRESENT, reward: float = 0.0) -> Verdict:
    return Verdict(answer, skeleton.gold_answer, skeleton.gold_present_probability, reward)


def written(
    events: Sequence[str], attributes: dict[str, tuple[int, ...]], cases: int, query: Sequence[str], longest: int = 4
) -> BehaviorPayload:
    """A payload as a person may write it, with counts and sequences of every size."""
    rng = np.random.default_rng(5)

    def levels() -> dict[str, int]:
        return {name: int(rng.choice(values)) for name, values in attributes.items()}

    def case(i: int) -> BehaviorCase:
        trials, sequence = int(rng.integers(1, 3000)), rng.choice(events, rng.integers(1, longest + 1)).tolist()
        present = int(rng.integers(0, trials + 1))
        return BehaviorCase(f"case-{i}", levels(), tuple(sequence), trials, present, trials - present)

    return BehaviorPayload(
        family="hidden_system",
        complexity=len(set(query)),
        event_vocabulary=tuple(events),
        attribute_vocabulary=attributes,
        observation_protocol=ObservationProtocol(),
        support_cases=tuple(case(i) for i in range(cases)),
        query_case=BehaviorCase("asked", levels(), tuple(query)),
        answer_options=(ABSENT, PRESENT),
    )


CODES = [f"E{i}" for i in range(1, 13)]
WRITTEN = {
    "words": written(
        ["heat", "stir it well", "salt", "close the lid"],
        {"temperature": (-20, 0, 30, 100), "an attribute of a long name": (1, 2)},
        14,
        ["salt", "close the lid"],
    ),
    "no attributes": written(["a", "b"], {}, 3, ["b", "b", "a", "b"]),
    "one of each": written(["go"], {"x": (3,)}, 1, ["go"]),
    "many": written(CODES, {f"X{i}": (-32768, 5, 32767) for i in range(1, 7)}, 300, CODES * 2, longest=12),
    "wide": written(CODES[:4], {f"X{i}": (1, 5) for i in range(1, 16)}, 40, CODES[:2]),
    "odd": written(["$\\frac$", "\x1b[31m \u00e9", "\u901f\n"], {"#": (0, 1)}, 9, ["\u901f\n"]),
}
EVERY_WRITTEN = pytest.mark.parametrize("payload", WRITTEN.values(), ids=WRITTEN.keys())

ENTRY = re.compile(r"(\S+) +([^|>]*?(?: > [^|>]*?)*?) {2,}((?:-?\d+ +)*)(\d+)/(\d+) ([#.]{7})(?:$|  \|)")


def parse_entries(text: str, attributes: Sequence[str]) -> Iterator[BehaviorCase]:
    for line in text[: text.index("\n\nQuery")].splitlines():
        for name, events, levels, present, trials, bar in ENTRY.findall(line):
            assert bar.count("#") == round(7 * int(present) / int(trials))
            values = dict(zip(attributes, map(int, levels.split()), strict=True))
            counts = int(trials), int(present), int(trials) - int(present)
            yield BehaviorCase(name, values, tuple(events.split(" > ")), *counts)


def parse_query(text: str) -> tuple[str, tuple[str, ...], dict[str, int], tuple[str, ...]]:
    part = text[text.index("\n\nQuery") + 2 :].split("\n\n")[0]
    name, body = part.removeprefix("Query ").split("\n", 1)
    fields = dict(re.findall(r"^  (events|levels|record) +((?:.|\n {10})*)", body, re.MULTILINE))
    fields = {key: " ".join(value.split()) for key, value in fields.items()}
    levels = {key: int(value) for key, value in re.findall(r"(\S.*?)=(-?\d+)(?: |$)", fields.get("levels", ""))}
    assert fields["record"].startswith("? ")
    options = tuple(fields["record"].removeprefix("? ").split(" or "))
    return name, tuple(fields["events"].split(" > ")), levels, options


def check_text(text: str, payload: BehaviorPayload) -> None:
    cases = list(parse_entries(text, tuple(payload.attribute_vocabulary)))
    assert sorted(cases, key=lambda case: case.id) == sorted(payload.support_cases, key=lambda case: case.id)
    query = payload.query_case
    assert parse_query(text) == (query.id, query.events, query.attributes, payload.answer_options)


@EVERY_LENGTH
def test_text_tells_every_case_and_the_query(length: int) -> None:
    for payload in payloads(length):
        text = render_instance(payload, None, "ansi")
        assert isinstance(text, str)
        check_text(text, payload)
        assert text.isascii()
        lines = text.splitlines()
        assert max(map(len, lines)) <= 100
        assert all(line.isprintable() and line == line.rstrip() for line in lines)
        # Several cases on a line, or the longest table would have a line for each.
        assert len(lines) < 0.75 * len(payload.support_cases) + 30


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "odd"])
def test_text_tells_every_case_of_a_written_payload(name: str) -> None:
    text = render_instance(WRITTEN[name], None, "ansi")
    assert isinstance(text, str)
    check_text(text, WRITTEN[name])


def test_text_shows_no_character_that_a_terminal_obeys() -> None:
    text = render_instance(WRITTEN["odd"], None, "ansi")
    assert isinstance(text, str)
    assert text.isascii()
    assert all(line.isprintable() for line in text.splitlines())


def test_cases_of_one_sequence_stand_side_by_side() -> None:
    payload = payloads(5)[0]
    groups = group_cases(payload.support_cases)
    assert [group.title for group in groups] == [
        "One event",
        "Two events",
        "Two events again",
        "Three events",
    ]
    assert {case.id for group in groups for case in group.cases} == {case.id for case in payload.support_cases}
    for group in groups:
        sequences = [case.events for case in group.cases]
        assert {len(events) for events in sequences} == {group.length}
        changes = sum(one != other for one, other in pairwise(sequences))
        assert changes == len(set(sequences)) - 1
        assert group.is_again or group.length > 2 or len(set(sequences)) == len(sequences)


def test_text_of_a_small_payload() -> None:
    payload = BehaviorPayload(
        family="hidden_system",
        complexity=2,
        event_vocabulary=("E1", "E2"),
        attribute_vocabulary={"X1": (2, 9)},
        observation_protocol=ObservationProtocol(),
        support_cases=(
            BehaviorCase("C1", {"X1": 9}, ("E1",), 48, 38, 10),
            BehaviorCase("C2", {"X1": 2}, ("E2", "E1"), 48, 0, 48),
            BehaviorCase("C3", {"X1": 9}, ("E2", "E1"), 48, 48, 0),
        ),
        query_case=BehaviorCase("Q", {"X1": 2}, ("E1", "E2")),
        answer_options=(PRESENT, ABSENT),
    )
    assert render_instance(payload, Verdict("0.73 PRESENT", ABSENT, 0.25, 0.4671), "ansi") == "\n".join(
        [
            "Hidden system of 2 events",
            "  count   in how many of the trials the record was present after the last event",
            "  levels  X1 is 2 or 9",
            "",
            "One event",
            "  id events  X1  count present",
            "  C1 E1       9  38/48 ######.",
            "",
            "Two events",
            "  id events   X1  count present",
            "  C2 E2 > E1   2   0/48 .......",
            "",
            "Two events again",
            "  id events   X1  count present",
            "  C3 E2 > E1   9  48/48 #######",
            "",
            "Query Q",
            "  events  E1 > E2",
            "  levels  X1=2",
            "  record  ?  PRESENT or ABSENT",
            "",
            "Answer",
            "  said    0.73 PRESENT: wrong",
            "  exact   0.2500 PRESENT, 0.2500 from one half: ABSENT",
            "  reward  0.4671",
        ]
    )


@pytest.mark.parametrize(
    ("answer", "gold", "stated", "judgement"),
    [
        (PRESENT, PRESENT, None, "right"),
        (PRESENT, ABSENT, None, "wrong"),
        (ABSENT, ABSENT, None, "right"),
        ("0.73 PRESENT", PRESENT, 0.73, "right"),
        ("0.73 PRESENT", ABSENT, 0.73, "wrong"),
        ("0.12 PRESENT", ABSENT, 0.12, "right"),
        ("0.12 PRESENT", PRESENT, 0.12, "wrong"),
        ("0.50 PRESENT", ABSENT, 0.5, "takes no side"),
        ("1.00 PRESENT", PRESENT, 1.0, "right"),
    ],
)
def test_judgement(answer: str, gold: str, stated: float | None, judgement: str) -> None:
    verdict = Verdict(answer, gold, 0.75 if gold == PRESENT else 0.25, 1.0)
    assert (verdict.stated_probability, verdict.judgement, verdict.margin) == (stated, judgement, 0.25)


@EVERY_LENGTH
def test_pictures_of_a_length_have_one_shape_before_and_after(length: int) -> None:
    frames = []
    for skeleton in skeletons(length, 3):
        payload = renderer_payload(skeleton)
        for verdict in (None, verdict_on(skeleton), verdict_on(skeleton, "0.04 PRESENT", -1.5)):
            frames.append(render_instance(payload, verdict, "rgb_array"))
    assert len({(frame.shape, frame.dtype) for frame in frames}) == 1
    height, width, channels = frames[0].shape
    assert (width, channels, frames[0].dtype) == (1280, 3, np.uint8)
    assert height % 2 == 0
    assert 720 <= height <= 1080
    assert length > 7 or height == 720
    assert all(frame.flags.owndata or frame.base.flags.owndata for frame in frames)
    assert all((one != other).any() for one, other in combinations(frames, 2))


@EVERY_WRITTEN
@EVERY_MODE
def test_written_payloads_have_one_shape_and_are_drawn_the_same_every_time(payload: BehaviorPayload, mode: str) -> None:
    verdict = Verdict("0.50 PRESENT", PRESENT, 1.0, 0.75)
    before, after = render_instance(payload, None, mode), render_instance(payload, verdict, mode)
    assert np.array_equal(before, render_instance(payload, None, mode))
    assert np.array_equal(after, render_instance(payload, verdict, mode))
    assert not np.array_equal(before, after)
    assert np.shape(before) == np.shape(after)


def test_table_and_list_of_one_layout_have_one_shape() -> None:
    for length in (4, 10):
        payload = payloads(length)[0]
        # Without pairs there is no matrix to draw.
        singles = tuple(replace(case, events=case.events[:1] * 3) for case in payload.support_cases)
        listed = replace(payload, support_cases=singles)
        table, row = (render_instance(p, None, "rgb_array") for p in (payload, listed))
        assert np.shape(table) == np.shape(row)


def test_frames_are_not_shared() -> None:
    payload = payloads(4)[0]
    frame = render_instance(payload, None, "rgb_array")
    assert isinstance(frame, np.ndarray)
    kept = frame.copy()
    frame[:] = 0
    assert np.array_equal(render_instance(payload, None, "rgb_array"), kept)


def neighbours(payload: BehaviorPayload) -> Iterator[BehaviorPayload]:
    """Payloads that differ from `payload` in one count, one level or one order."""
    for i, case in enumerate(payload.support_cases):
        present = case.observed_present or 0
        other = present - 1 if present == case.trials else present + 1
        changed = [replace(case, observed_present=other, observed_absent=case.trials - other)]
        for name, levels in payload.attribute_vocabulary.items():
            level = sum(levels) - case.attributes[name]
            changed.append(replace(case, attributes={**case.attributes, name: level}))
        if len(set(case.events)) > 1:
            changed.append(replace(case, events=case.events[::-1]))
        for one in changed:
            cases = payload.support_cases
            yield replace(payload, support_cases=(*cases[:i], one, *cases[i + 1 :]))
    query = payload.query_case
    yield replace(payload, query_case=replace(query, events=query.events[::-1]))
    for name, levels in payload.attribute_vocabulary.items():
        level = sum(levels) - query.attributes[name]
        yield replace(payload, query_case=replace(query, attributes={**query.attributes, name: level}))
    yield replace(payload, answer_options=payload.answer_options[::-1])


def test_pictures_tell_every_count_level_and_order() -> None:
    payload = payloads(4, 1)[0]
    frame = render_instance(payload, None, "rgb_array")
    for other in neighbours(payload):
        assert (render_instance(other, None, "rgb_array") != frame).any(), other


class Words:
    """Notes every line that a page is asked to write, with the room that it takes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.boxes: list[tuple[str, Box]] = []
        self.short: list[str] = []
        write = Page.write

        def note(page: Page, at: Any, text: str, size: float = 11, *args: Any, **fields: Any) -> float:
            width = write(page, at, text, size, *args, **fields)
            align = fields.get("align", "left")
            left = at[0] - width * {"left": 0, "center": 0.5, "right": 1}[align]
            self.boxes.append((text, Box(left, at[1] - 0.38 * size, left + width, at[1] + 0.38 * size)))
            bold = fields.get("bold", False)
            if measure(text, size, bold) > fields.get("room", 1e9):
                self.short.append(text)
            return width

        monkeypatch.setattr(Page, "write", note)

    def overlaps(self) -> list[tuple[str, str]]:
        """Pairs of lines that share an area, apart from half a pixel on either side."""
        left, top, right, bottom = np.array([box for _, box in self.boxes]).T[:, :, None]
        is_before, is_above = left + 0.5 < right.T - 0.5, top < bottom.T
        shared = is_before & is_before.T & is_above & is_above.T
        return [(self.boxes[i][0], self.boxes[j][0]) for i, j in np.argwhere(np.triu(shared, 1)).tolist()]


@EVERY_LENGTH
@pytest.mark.parametrize("attributes", [4, 8])
@pytest.mark.parametrize("answer", [None, PRESENT, "0.93 PRESENT"])
def test_words_keep_apart_and_whole(
    length: int, attributes: int, answer: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for skeleton in skeletons(length, task={"attributes": attributes, "trials": 1000}):
        words = Words(monkeypatch)
        verdict = None if answer is None else verdict_on(skeleton, answer, 0.123456)
        frame = render_instance(renderer_payload(skeleton), verdict, "rgb_array")
        height, width = np.shape(frame)[:2]
        assert words.short == []
        page = Box(20, 20, width - 20, height - 20)
        for _, box in words.boxes:
            assert page.left <= box.left
            assert box.right <= page.right
            assert page.top <= box.top
            assert box.bottom <= page.bottom
        assert words.overlaps() == []
        monkeypatch.undo()


@EVERY_WRITTEN
def test_words_of_written_payloads_keep_apart(payload: BehaviorPayload, monkeypatch: pytest.MonkeyPatch) -> None:
    words = Words(monkeypatch)
    frame = render_instance(payload, Verdict(PRESENT, PRESENT, 1.0, -0.123456), "rgb_array")
    assert words.overlaps() == []
    assert isinstance(frame, np.ndarray)
    border = np.concatenate([part.reshape(-1, 3) for part in (frame[:20], frame[-20:], frame[:, :20], frame[:, -20:])])
    assert (border == 255).all()


def drawn_cells(payload: BehaviorPayload, monkeypatch: pytest.MonkeyPatch) -> list[tuple[BehaviorCase, Box]]:
    """Every case with the box that it is drawn into."""
    cells: list[tuple[BehaviorCase, Box]] = []
    for module, name in ((support_table, "draw_cell"), (case_list, "draw_heat")):
        monkeypatch.setattr(module, name, lambda page, case, style, box: cells.append((case, box)))
    render_instance(payload, None, "rgb_array")
    monkeypatch.undo()
    return cells


@pytest.mark.parametrize("payload", [payloads(n)[0] for n in (4, 7, 10)] + list(WRITTEN.values()))
def test_every_case_has_a_cell_of_its_own(payload: BehaviorPayload, monkeypatch: pytest.MonkeyPatch) -> None:
    height, width = np.shape(render_instance(payload, None, "rgb_array"))[:2]
    cells = drawn_cells(payload, monkeypatch)
    assert sorted(case.id for case, _ in cells) == sorted(case.id for case in payload.support_cases)
    boxes = [box for _, box in cells]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert min(box.left for box in boxes) >= 36
    assert max(box.right for box in boxes) <= width - 36
    assert min(box.height for box in boxes) >= 14
    assert max(box.bottom for box in boxes) <= height - 150


def test_cells_stand_where_their_events_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = payloads(6)[0]
    groups = {(group.length, group.is_again): group.cases for group in group_cases(payload.support_cases)}
    boxes = {case.id: box for case, box in drawn_cells(payload, monkeypatch)}
    lefts = [boxes[case.id].left for case in sorted(groups[1, False], key=lambda case: case.events)]
    assert lefts == sorted(set(lefts))
    columns = dict(zip(payload.event_vocabulary, lefts, strict=True))
    tops: dict[str, set[float]] = {}
    for case in groups[2, False]:
        assert boxes[case.id].left == columns[case.events[1]]
        tops.setdefault(case.events[0], set()).add(boxes[case.id].top)
    rows = [top for name in payload.event_vocabulary for top in tops[name]]
    assert rows == sorted(set(rows))
    assert len(rows) == len(payload.event_vocabulary)


def test_words_of_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = payloads(4)[0]
    for verdict, judgement in (
        (Verdict("0.93 PRESENT", ABSENT, 0.25, -0.125), "\u2717 wrong, it is ABSENT"),
        (Verdict(PRESENT, PRESENT, 0.75, 1.0), "\u2713 right"),
        (Verdict("0.50 PRESENT", PRESENT, 0.875, 0.25), "\u2717 takes no side, it is PRESENT"),
    ):
        words = Words(monkeypatch)
        frame = render_instance(payload, verdict, "rgb_array")
        exact = f"exact {verdict.present_probability:.3f}, {verdict.margin:.3f} from \u00bd"
        wanted = {verdict.answer, judgement, exact, f"reward {verdict.reward:.4g}"}
        assert wanted <= {text for text, _ in words.boxes}
        # The mark of the exact probability reaches above the bar, as that of one half does.
        dark = np.flatnonzero((frame[646, 814:1244] == (31, 41, 51)).all(axis=1))
        assert dark.mean() == pytest.approx(430 * verdict.present_probability, abs=1.5)
        monkeypatch.undo()


def test_a_page_writes_what_a_canvas_writes() -> None:
    page, canvas = Page(120, 40), Canvas(120, 40)
    assert page.write((10, 20), "E12 > 48", 11, "#0072b2", bold=True) == canvas.text(
        (10, 20), "E12 > 48", 11, "#0072b2", bold=True
    )
    difference = page.pixels().astype(int) - canvas.pixels()
    assert abs(difference).max() <= 3
    assert page.pixels().min() < 40


@pytest.mark.parametrize("attributes", [4, 5, 8])
def test_generated_payloads_get_the_table(attributes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for length in LENGTHS:
        words = Words(monkeypatch)
        render_instance(payloads(length, task={"attributes": attributes})[0], None, "rgb_array")
        captions = [text for text, _ in words.boxes if text.isupper() and " " in text]
        assert captions[:4] == ["ONE EVENT", "TWO EVENTS", "TWO EVENTS AGAIN", "THREE EVENTS"]
        monkeypatch.undo()


def test_numbers_read_well_on_every_colour_and_colours_only_get_darker() -> None:
    colors = [shade(share, HEAT) for share in np.linspace(0, 1, 65)]
    darkness = [contrast(color, "#ffffff") for color in colors]
    assert darkness == sorted(set(darkness))
    assert darkness[-1] > 7 * darkness[0]
    assert [ink_on(color) for color in colors] == sorted(ink_on(color) for color in colors)
    assert min(contrast(ink_on(color), color) for color in colors) >= 3.5


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@EVERY_MODE
def test_every_field_of_the_verdict_shows(mode: str) -> None:
    skeleton = skeletons(6)[0]
    payload = renderer_payload(skeleton)
    opposite = ABSENT if skeleton.gold_answer == PRESENT else PRESENT
    verdicts = [
        Verdict(PRESENT, skeleton.gold_answer, skeleton.gold_present_probability, 1.0),
        Verdict(ABSENT, skeleton.gold_answer, skeleton.gold_present_probability, 1.0),
        Verdict(PRESENT, opposite, 1 - skeleton.gold_present_probability, 1.0),
        Verdict(PRESENT, skeleton.gold_answer, 1 - skeleton.gold_present_probability, 1.0),
        Verdict(PRESENT, skeleton.gold_answer, skeleton.gold_present_probability, 0.5),
    ]
    shown = [render_instance(payload, verdict, mode) for verdict in (None, *verdicts)]
    assert all(not np.array_equal(one, other) for one, other in combinations(shown, 2))


def test_text_before_the_answer_says_nothing_of_it() -> None:
    for skeleton in skeletons(6):
        payload = renderer_payload(skeleton)
        before = render_instance(payload, None, "ansi")
        after = render_instance(payload, verdict_on(skeleton), "ansi")
        assert isinstance(before, str)
        assert isinstance(after, str)
        assert after.startswith(before)
        assert not any(word in before.lower() for word in ("answer", "exact", "reward", "right", "wrong", "said"))
        assert f"{skeleton.gold_present_probability:.4f} PRESENT" in after.removeprefix(before)
        assert f": {skeleton.gold_answer}\n" in after.removeprefix(before)
        assert not any(rule.id in before for rule in skeleton.hidden_system.rules)


def test_place_of_the_verdict_is_the_same_for_every_instance_before_the_answer() -> None:
    """Whichever answer is right, and however sure."""
    made = skeletons(4, 6)
    assert {skeleton.gold_answer for skeleton in made} == {PRESENT, ABSENT}
    places = [render_instance(renderer_payload(s), None, "rgb_array")[572:, 800:] for s in made]
    assert all(np.array_equal(place, places[0]) for place in places)
    answered = render_instance(renderer_payload(made[0]), verdict_on(made[0]), "rgb_array")
    assert not np.array_equal(answered[572:, 800:], places[0])
    assert np.array_equal(answered[64:572], render_instance(renderer_payload(made[0]), None, "rgb_array")[64:572])


@EVERY_MODE
def test_only_public_fields_are_read(mode: str) -> None:
    """A stand-in for the payload that has its fields and complains of any other."""

    class Public:
        def __init__(self, payload: BehaviorPayload) -> None:
            self._payload = payload

        def __getattr__(self, name: str) -> Any:
            assert name in BehaviorPayload.__struct_fields__, name
            return getattr(self._payload, name)

    payload = payloads(4)[0]
    shown = render_instance(Public(payload), None, mode)  # type: ignore[arg-type]
    assert np.array_equal(shown, render_instance(payload, None, mode))


def test_counts_are_written_with_their_trials_where_these_differ() -> None:
    payload = payloads(4)[0]
    case = payload.support_cases[0]
    other = replace(case, trials=case.trials + 1, observed_absent=(case.observed_absent or 0) + 1)
    style = style_of(replace(payload, support_cases=(other, *payload.support_cases[1:])))
    assert count_text(case, style_of(payload)) == f"{case.observed_present}"
    assert count_text(other, style) == f"{other.observed_present}/{other.trials}"


def test_missing_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    payload = payloads(4)[0]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DependencyNotInstalled, match=re.escape("pip install 'veilgym[plot]'")):
        render_instance(payload, None, "rgb_array")
    assert render_instance(payload, None, "ansi")


def test_matplotlib_is_left_as_it_was_and_does_not_matter() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    payload = payloads(4)[0]
    plain = render_instance(payload, None, "rgb_array")
    loud = {"figure.dpi": 31, "font.size": 30, "font.style": "italic", "text.color": "red", "text.usetex": True}
    with matplotlib.rc_context(loud):
        before = dict(matplotlib.rcParams), dict.__getitem__(matplotlib.rcParams, "backend")
        _stamp.cache_clear()
        assert np.array_equal(render_instance(payload, None, "rgb_array"), plain)
        assert (dict(matplotlib.rcParams), dict.__getitem__(matplotlib.rcParams, "backend")) == before


def test_pyplot_is_not_imported() -> None:
    script = """
import sys
from veilgym.envs.hidden_system import generate_skeletons, renderer_payload
from veilgym.envs.hidden_system.rendering.viewer import render_instance
payload = renderer_payload(generate_skeletons(1, 4, 0)[0])
render_instance(payload, None, "ansi")
assert "matplotlib" not in sys.modules, "imported before it is needed"
render_instance(payload, None, "rgb_array")
assert "matplotlib" in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
