"""Who plays changes no score: this process or Ray; workers that are killed, agents that fail on an instance."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veilgym.agents.agent import Agent
from veilgym.agents.bench import bench
from veilgym.agents.engines import engine_of, in_this_process, on_ray
from veilgym.agents.evaluation import Evaluation, evaluate
from veilgym.agents.playing import instance_ids
from veilgym.envs.core.cluster import connect

# Of Ray's own code.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{kind}") for kind in ("DeprecationWarning", "FutureWarning", "ResourceWarning")
]

ID = "HiddenSystem-v0"


class Parity(Agent):
    """Answers by the parity of the counts: a function of the observation, right half of the time."""

    name = "parity"
    description = "for tests"

    def act_batch(self, observations: Any) -> Any:
        return observations["present"].sum(axis=1) % 2


class Fails(Parity):
    """Raises, or takes its process down, on some instances."""

    name = "fails"

    def __init__(self, on: tuple[str, ...], how: str) -> None:
        self.on, self.how = on, how

    def act_batch(self, observations: Any) -> Any:
        if set(instance_ids(observations)) & set(self.on):
            if self.how == "die":
                os._exit(1)
            raise ZeroDivisionError("no idea")
        return super().act_batch(observations)


class Slow(Parity):
    def act_batch(self, observations: Any) -> Any:
        time.sleep(0.2)
        return super().act_batch(observations)


@pytest.fixture(scope="module", name="cluster")
def cluster_fixture() -> Iterator[None]:
    """A Ray of two workers, which the engine uses as it finds it."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    with connect(workers=2):
        yield


@pytest.fixture(scope="module", name="serial")
def serial_fixture() -> Evaluation:
    return evaluate(Parity(), ID, 30, num_envs=7)


def same(one: Evaluation, other: Evaluation) -> None:
    assert (one.seeds, one.instances, one.errors) == (other.seeds, other.instances, other.errors)
    np.testing.assert_array_equal(one.scores, other.scores)
    assert all((one.observations[key] == other.observations[key]).all() for key in one.observations)


def test_the_engines_and_their_arguments() -> None:
    assert engine_of("local") is in_this_process
    for arguments, message in [
        (("rye",), "engine must be one of 'local', 'ray', got 'rye'"),
        (("local", 2), "workers: got 2, but only the engine 'ray' takes it"),
        (("local", None, "auto"), "address: got 'auto', but only the engine 'ray' takes one"),
    ]:
        with pytest.raises(ValueError, match=message):
            engine_of(*arguments)


@pytest.mark.usefixtures("cluster")
def test_ray_gives_the_same_scores(serial: Evaluation) -> None:
    counted: list[int] = []
    same(evaluate(Parity(), ID, 30, num_envs=4, engine=on_ray(), progress=counted.append), serial)
    assert counted == [4, 4, 4, 4, 4, 4, 4, 2]


@pytest.mark.usefixtures("cluster")
def test_a_killed_worker_repeats_its_chunk(serial: Evaluation) -> None:
    killed: list[int] = []

    def kill_once() -> None:
        give_up = time.monotonic() + 60
        while not killed and time.monotonic() < give_up:
            for entry in Path("/proc").iterdir():
                title = entry / "cmdline"
                if entry.name.isdecimal() and title.exists() and b"_play_warm" in title.read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)
                    killed.append(int(entry.name))
                    return
            time.sleep(0.01)

    assassin = threading.Thread(target=kill_once)
    assassin.start()
    found = evaluate(Slow(), ID, 30, num_envs=5, engine=on_ray())
    assassin.join()
    assert killed
    same(found, serial)


def test_an_error_of_the_agent_is_raised_unless_told_to_go_on(serial: Evaluation) -> None:
    agent = Fails((serial.instances[5], serial.instances[29]), "raise")
    with pytest.raises(ZeroDivisionError):
        evaluate(agent, ID, 30, num_envs=7)
    found = evaluate(agent, ID, 30, num_envs=7, keep_going=True)
    check_failed(found, serial, "ZeroDivisionError: no idea")


def check_failed(found: Evaluation, serial: Evaluation, error: str) -> None:
    assert found.instances == serial.instances
    assert [i for i, text in enumerate(found.errors) if text] == [5, 29]
    assert found.errors[5] == found.errors[29] == error
    expected = serial.scores.copy()
    expected[[5, 29]] = 0.0
    np.testing.assert_array_equal(found.scores, expected)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("how", "error"), [("raise", "ZeroDivisionError: no idea"), ("die", "its worker died 3 times")]
)
def test_what_always_fails_on_ray_is_reported_and_nothing_else_is_lost(
    how: str, error: str, serial: Evaluation
) -> None:
    agent = Fails((serial.instances[5], serial.instances[29]), how)
    check_failed(evaluate(agent, ID, 30, num_envs=5, engine=on_ray(), keep_going=True), serial, error)


@pytest.mark.usefixtures("cluster")
def test_errors_are_raised_from_ray_as_they_are_here(serial: Evaluation) -> None:
    with pytest.raises(ZeroDivisionError, match="no idea"):
        evaluate(Fails(serial.instances, "raise"), ID, 30, engine=on_ray())
    with pytest.raises(ChildProcessError, match="a worker died 3 times"):
        evaluate(Fails(serial.instances, "die"), ID, 2, engine=on_ray())


def test_an_agent_that_fails_everywhere_is_no_line_of_a_table(serial: Evaluation) -> None:
    with pytest.raises(ValueError, match="agent 'fails' fails on every instance: ZeroDivisionError: no idea"):
        evaluate(Fails(serial.instances, "raise"), ID, 3, keep_going=True)


def test_failures_are_in_the_results(serial: Evaluation) -> None:
    agents = [Parity(), Fails(serial.instances[5:6], "raise")]
    found = bench(ID, 30, agents=agents)
    assert [run.errors for run in found.runs] == [{}, {"5": "ZeroDivisionError: no idea"}]
    assert found.runs[1].scores[5] == 0.0
