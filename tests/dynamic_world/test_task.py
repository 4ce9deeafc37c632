"""Parameters: the task file, what overrides it, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import veilgym  # noqa: F401 (registers the id)
from veilgym.envs.dynamic_world.task import DEFAULT_TRANSITIONS, Allocation, Task, Transition, allocate, make_task
from veilgym.envs.dynamic_world.task_file import DEFAULT_TASK_FILE, load_task

PROVING = ("above", "member", "subset", "disjoint")


def test_the_file_of_the_package_is_the_default() -> None:
    document = json.loads(DEFAULT_TASK_FILE.read_text("utf-8"))
    assert load_task() == load_task(DEFAULT_TASK_FILE) == load_task(document) == load_task({}) == Task() == make_task()


@pytest.mark.parametrize(("length", "complexity"), [("short", 4), ("medium", 6), ("long", 8), (5, 5)])
def test_lengths(length: Any, complexity: int) -> None:
    assert load_task(length=length).complexity == load_task({"length": length}).complexity == complexity


def test_a_file_controls_everything_and_arguments_override_it(tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    document = {
        "length": "medium",
        "entity_count": 100,
        "simulation_steps": 700,
        "allocation": {"entities": 40, "sets": 40, "regions": 5, "counters": 15},
        "transitions": {"move": {"weight": 10, "probability": 0.25}},
    }
    path.write_text(json.dumps(document), "utf-8")
    task = load_task(path)
    assert (task.complexity, task.simulation_steps, task.allocation) == (6, 700, Allocation(40, 40, 5, 15))
    assert task.transitions == {**DEFAULT_TRANSITIONS, "move": Transition(10, 0.25)}
    assert load_task(path, length=4, simulation_steps=np.int64(500)) == replace(
        task, complexity=4, simulation_steps=500
    )
    assert load_task(path, entity_count=64).allocation == allocate(64)
    env = gym.make("DynamicWorld-v0", task=str(path), length="short")
    assert env.unwrapped.task == replace(task, complexity=4)  # type: ignore[attr-defined]


def test_levels_of_a_task_are_kept() -> None:
    task = Task(entity_levels=12, set_levels=9)
    assert load_task(task, simulation_steps=900) == replace(task, simulation_steps=900)


@pytest.mark.parametrize("count", [8, 9, 16, 32, 100, 128, 1000, 4096])
def test_allocation_leaves_none_out(count: int) -> None:
    allocation = allocate(count)
    assert allocation.total == count
    assert min(vars(allocation).values()) >= 1


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"length": "tiny"}, "task field length: got 'tiny', allowed is one of 'short', 'medium', 'long'"),
        ({"length": 4.5}, "task field length: got 4.5"),
        ({"entity_count": 7}, "task field entity_count: got 7"),
        ({"entity_count": 8}, "task field length: got 4, allowed is a shorter one, .* a world has 2"),
        ({"simulation_steps": 0}, "task field simulation_steps: got 0"),
        ({"simulation_steps": 3}, "task field length: got 4, allowed is at most the number of steps, 3"),
        ({"lenght": 4}, "task field lenght: got 4, allowed is no other field than task_id"),
        ({"allocation": {"entities": 56}}, r"task field allocation\.sets: missing"),
        (
            {"allocation": {"entities": 56, "sets": 48, "regions": 8, "counters": 15}},
            "task field allocation: got 127 entities in all, allowed is 128",
        ),
        ({"transitions": {"fly": {"weight": 1, "probability": 1}}}, "task field transitions: got .*'fly'"),
        ({"transitions": {"move": {"weight": 1, "probability": 1.5}}}, "task field transitions.move.*got 1.5"),
        ({"transitions": {"move": {"weight": float("nan"), "probability": 1}}}, "task field transitions.move.*got nan"),
        *(
            (
                {"transitions": {name: {"weight": 0.0, "probability": 1}}},
                rf"task field transitions\.{name}\.weight: got 0.0, allowed is a positive number",
            )
            for name in PROVING
        ),
        ({"transitions": {"above": {"weight": 1, "probability": 0}}}, r"transitions\.above\.probability: got 0"),
        ([1], "task must be a path, a mapping, a Task or None"),
    ],
)
def test_mistakes_are_named(document: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_task(document)


@pytest.mark.parametrize(("text", "message"), [("{", "is not JSON"), ("[1]", "must hold a JSON object")])
def test_files_that_hold_no_task(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "task.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=message):
        load_task(path)
    with pytest.raises(ValueError, match="cannot be read"):
        load_task(tmp_path / "none.json")
