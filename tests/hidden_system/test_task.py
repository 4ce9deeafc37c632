"""A task is data: the packaged file holds the defaults, a good one is taken, a bad one says what is wrong."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re

import msgspec
import pytest

from veilgym.envs.hidden_system.task import DEFAULT_TASK_FILE, PRESETS, Probabilities, Task, load_task

PARTS = ("add", "flag", "effect", "gated_add", "gated_veto")
TITLE = "Which outcome does a hidden system favour for a combination of events that has never been run?"


def document():
    return json.loads(DEFAULT_TASK_FILE.read_text(encoding="utf-8"))


def test_packaged_file__holds_the_defaults_of_the_record():
    assert load_task() == msgspec.structs.replace(Task(), title=load_task().title)
    assert set(document()) == set(Task.__struct_fields__)
    assert set(document()["probabilities"]) == set(Probabilities.__struct_fields__) == set(PARTS)


def test_default_task__has_the_published_figures():
    task = load_task()
    assert (task.complexity, task.trials_per_case, task.margin, task.attributes) == (4, 48, 0.08, 4)
    assert (task.pivotal_share, task.probability_steps, task.title) == (0.4, 20, TITLE)
    assert {part: getattr(task.probabilities, part) for part in PARTS} == {
        "add": (0.5, 0.95),
        "flag": (0.2, 0.95),
        "effect": (0.2, 0.95),
        "gated_add": (0.2, 0.95),
        "gated_veto": (0.1, 0.95),
    }


@pytest.mark.parametrize(("preset", "events"), [("short", 4), ("medium", 6), ("long", 8)])
def test_presets__are_those_of_the_specification(preset, events):
    assert PRESETS[preset] == load_task(length=preset).complexity == load_task(length=events).complexity == events
    assert len(PRESETS) == 3


@pytest.mark.parametrize("length", range(4, 11))
def test_trials__are_48_up_to_four_events_and_64_above(length):
    assert load_task(length=length).complexity == length
    assert load_task(length=length).trials_per_case == (48 if length == 4 else 64)
    assert load_task(length=length, trials=7).trials_per_case == 7


def test_load_task__takes_path_mapping_task_and_none(tmp_path):
    file = tmp_path / "task.json"
    file.write_text(json.dumps(document()), encoding="utf-8")
    assert load_task() == load_task(file) == load_task(str(file)) == load_task(document()) == load_task(load_task())
    assert load_task({"margin": 0.2}) == msgspec.structs.replace(Task(), margin=0.2)  # what is left out has its default
    assert load_task({}) == Task()


def test_load_task__overrides_replace_fields_and_none_leaves_them(tmp_path):
    file = tmp_path / "task.json"
    file.write_text(json.dumps({**document(), "length": "long", "margin": 0.1}), encoding="utf-8")
    for source in (file, {**document(), "length": "long", "margin": 0.1}, load_task(length="long", margin=0.1)):
        assert load_task(source, length=None) == load_task(source)
        changed = load_task(source, length=5, trials=None)
        assert (changed.complexity, changed.margin) == (5, 0.1)
        assert load_task(source, margin=0).margin == 0.0
        assert load_task(source, probabilities={"add": [0.5, 0.6]}).probabilities == Probabilities(add=(0.5, 0.6))


def test_load_task__leaves_the_callers_document_alone():
    original = document()
    before = copy.deepcopy(original)
    task = load_task(original, length="long")
    assert original == before
    original["probabilities"]["add"][0] = 0.9
    assert task.probabilities.add == (0.5, 0.95)


def test_task__is_frozen_hashable_and_picklable():
    task = load_task()
    with pytest.raises(AttributeError):
        task.margin = 0.2
    assert len({task, load_task(), load_task(margin=0.2)}) == 2
    assert pickle.loads(pickle.dumps(task)) == copy.deepcopy(task) == task


@pytest.mark.parametrize(
    ("bounds", "steps", "expected"),
    [
        ([0.4, 0.95], 20, (8, 19)),
        ([0.15, 0.15], 20, (3, 3)),
        ([0.55, 0.55], 20, (11, 11)),  # 0.55 * 20 is 11.000000000000002
        ([0.29, 0.29], 100, (29, 29)),  # 0.29 * 100 is 28.999999999999996
        ([0.41, 0.54], 20, (9, 10)),
        ([0.0, 1.0], 20, (0, 20)),
        ([0.0, 1.0], 1, (0, 1)),
        ([0.3, 0.7], 10, (3, 7)),
        ([0.3, 0.7], 1000, (300, 700)),
        ([0.1, 0.4], 3, (1, 1)),
    ],
)
def test_steps__are_the_multiples_within_the_range(bounds, steps, expected):
    wide = {part: [0.0, 1.0] for part in PARTS}
    task = load_task({"probability_steps": steps, "probabilities": {**wide, "effect": bounds}})
    assert task.steps_of("effect") == expected


BAD_FIELDS = [
    *(("length", v, "length", repr(v), "'medium'") for v in ("huge", "", "4", "Short")),
    *(("length", v, "length", repr(v), "4") for v in (3, 0, -1)),
    *(("length", v, "length", repr(v), "10") for v in (11, 10**9, 10**30)),
    *(("length", v, "length", repr(v), "int") for v in (4.5, True, [4], {"n": 4})),
    *(("trials", v, "trials", repr(v), "1") for v in (0, -1, 1001)),
    *(("trials", v, "trials", repr(v), "int") for v in ("48", 48.5, True, [48])),
    *(("margin", v, "margin", repr(v), "0") for v in (-0.01, math.nan, 0.5, 1, math.inf)),
    *(("margin", v, "margin", repr(v), "float") for v in ("0.1", None, True)),
    *(("attributes", v, "attributes", repr(v), "4") for v in (3, 0)),
    *(("attributes", v, "attributes", repr(v), "8") for v in (9, 10**6)),
    *(("attributes", v, "attributes", repr(v), "int") for v in (4.5, "4", None)),
    *(("pivotal_share", v, "pivotal_share", repr(v), "0") for v in (-0.1, math.nan)),
    *(("pivotal_share", v, "pivotal_share", repr(v), "1") for v in (1.1, math.inf)),
    *(("probability_steps", v, "probability_steps", repr(v), "1") for v in (0, 1001)),
    *(("probability_steps", v, "probability_steps", repr(v), "int") for v in (0.5, "20", None)),
    *(("task_id", v, "task_id", repr(v), "str") for v in ("", 3, None)),
    *(("version", v, "version", repr(v), "str") for v in ("", 0.2, None)),
    ("title", 3, "title", "3", "str"),
    ("colour", "red", "colour", "'red'", "margin"),
    ("probabilities", [0.4, 0.95], "probabilities", "[0.4, 0.95]", "object"),
    ("probabilities", None, "probabilities", "None", "object"),
    ("probabilities", {"veto": [0, 1]}, "probabilities.veto", "[0, 1]", "gated_veto"),
    *((f"probabilities {p}", [0.9, 0.4], f"probabilities.{p}", "[0.9, 0.4]", "1/20") for p in PARTS),
    *((f"probabilities {p}", [0.41, 0.44], f"probabilities.{p}", "[0.41, 0.44]", "1/20") for p in PARTS),
    ("probabilities add", [0.4], "probabilities.add", "[0.4]", "length 2"),
    ("probabilities add", [0.4, 0.5, 0.6], "probabilities.add", "[0.4, 0.5, 0.6]", "length 2"),
    ("probabilities add", 0.4, "probabilities.add", "0.4", "array"),
    ("probabilities add", [-0.1, 0.5], "probabilities.add[0]", "-0.1", "0"),
    ("probabilities add", [0.1, 1.5], "probabilities.add[1]", "1.5", "1"),
    ("probabilities add", [0.1, math.nan], "probabilities.add[1]", "nan", "0"),
    ("probabilities add", ["0.1", 0.5], "probabilities.add[0]", "'0.1'", "a number from 0 to 1"),
]


@pytest.mark.parametrize(("field", "value", "place", "shown", "allowed"), BAD_FIELDS)
def test_load_task__bad_field_is_named_with_its_value_and_what_is_allowed(field, value, place, shown, allowed):
    changed = document()
    outer, _, inner = field.partition(" ")
    changed[outer] = {**changed[outer], inner: value} if inner else value
    with pytest.raises(ValueError, match=rf"^task field {re.escape(place)}(?![\w])") as error:
        load_task(changed)
    before, _, after = str(error.value).partition("allowed is ")
    assert shown in before, str(error.value)
    assert allowed in after, str(error.value)
    if value is not None and not inner:
        with pytest.raises(ValueError, match=re.escape(str(error.value))):
            load_task(**{field: value})


def test_load_task__bad_override_of_a_good_file_is_refused(tmp_path):
    file = tmp_path / "task.json"
    file.write_text(json.dumps(document()), encoding="utf-8")
    with pytest.raises(ValueError, match="task field length: got 3"):
        load_task(file, length=3)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not JSON"),
        (b"margin", "is not JSON"),
        (b'{"margin": NaN}', "is not JSON"),
        (b'{"margin": 0.1', "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "must hold a JSON object, got list"),
        (b"3", "must hold a JSON object, got int"),
        (b'{"margin": 0.7}', "task field margin: got 0.7"),
    ],
)
def test_load_task__bad_file_is_named(tmp_path, content, says):
    file = tmp_path / "task.json"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(says)) as error:
        load_task(file)
    assert "task field" in says or str(file) in str(error.value)


@pytest.mark.parametrize("path", ["no such file.json", "\0", "."])
def test_load_task__unreadable_file_is_named(path):
    with pytest.raises(ValueError, match="cannot be read") as error:
        load_task(path)
    assert repr(path) in str(error.value)


@pytest.mark.parametrize("source", [3, 0.5, [], (), b"task.json", {"short"}, object])
def test_load_task__other_sources_are_refused(source):
    with pytest.raises(ValueError, match="task must be a path, a mapping, a Task or None") as error:
        load_task(source)
    assert repr(source) in str(error.value)


def test_load_task__checks_a_task_that_was_made_by_hand():
    with pytest.raises(ValueError, match="task field length: got 99"):
        load_task(Task(length=99))
