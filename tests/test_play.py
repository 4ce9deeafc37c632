"""`veilgym play`: a scripted person, the text they see, and what nonsense gets."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time

import pytest
from typer.testing import CliRunner

from veilgym.cli import app
from veilgym.envs.causal_circuits import generate_skeletons as generate_circuits
from veilgym.envs.causal_circuits.task import read_document
from veilgym.envs.dynamic_world import generate_worlds
from veilgym.envs.hidden_system import generate_skeletons as generate_systems
from veilgym.wrappers.text_action import TextAction


def play(typed, *arguments):
    return CliRunner().invoke(app, ["play", *map(str, arguments)], input="".join(f"{line}\n" for line in typed))


def test_a_circuit_row_by_row_as_id_and_as_json():
    (skeleton,) = generate_circuits(1, 3)
    rows = [f"{x} {y}" for x, y in skeleton.targets]
    typed = ["help", "what?", "CLAMP-U-0", '{"action_id": "clamp-x-1"}', "initial", '{"action_id"', "again"]
    typed += ["predict", "back", "predict", "1 2", "back", rows[0], "x y", "1", *rows[1:], "maybe", "y"]
    result = play(typed, "CausalCircuits-v0", "--seed", 3)
    assert result.exit_code == 0
    first = skeleton.potential_readouts["clamp-u-0"][0]
    assert "clamp-u-0, run 1: x = " in result.stdout
    assert f"{first[0]:.5f}"[:6] in result.stdout
    for said in (
        "'what?' is not understood. Experiments are clamp-u-0, clamp-u-1",
        "Refused, at no cost: not JSON",
        "Nothing is submitted.",
        "2 of 8, u = -0.8, v = 0.8: x, y? 'x y' is not understood; allowed are 2 numbers, such as 0.1 0.1.",
        "Its score is 1.0000.",
        "Type y or n.",
        f"bx = {skeleton.coefficients['bx']:.4f}",
        "This is CausalCircuits-v0 with seed 3 of the train split.",
    ):
        assert said in result.stdout
    assert result.stdout.count("What to predict") == 2  # at the start and again
    assert result.stdout.count("- clamp-x-1, run 1: ") == 1
    assert "Credits left: 6 of 8." in result.stdout


@pytest.mark.parametrize("name", ["Causal-Circuits", "CAUSALCIRCUITS-V0", "veilgym:CausalCircuits-v0"])
def test_names_may_be_in_letters_of_either_size(name):
    assert "This is CausalCircuits-v0 with seed 1" in play(["quit"], name, "--seed", 1).stdout


@pytest.mark.parametrize("line", ["{0.1 0.2}", '{"action_id": "clamp-u-0"}'])
def test_a_line_that_is_no_prediction_loses_no_row(line):
    result = play(["predict", "0 0", line, *["0 0"] * 7, "n"], "CausalCircuits-v0", "--seed", 1)
    assert result.exit_code == 0
    assert "is not understood; allowed are 2 numbers" in result.stdout
    assert "The prediction is accepted. " in result.stdout


def test_the_truth_of_a_circuit_is_not_shown_before_it_is_asked_for():
    result = play(["predict", *["0 0"] * 8, "n"], "causal-circuits", "--seed", 3)
    assert result.exit_code == 0
    assert "bx = " not in result.stdout


@pytest.mark.parametrize("skin", ["notebook", "technical"])
def test_a_system_and_its_truth(skin):
    (skeleton,) = generate_systems(1, "short", 4, balance="drawn", split="test")
    typed = ["again", "PRESENT or ABSENT", f"answer: {skeleton.gold_answer.lower()}", "yes"]
    result = play(typed, "HiddenSystem-v0", "--seed", 4, "--skin", skin, "--split", "test", "--length", "short")
    assert result.exit_code == 0
    assert "Refused, at no cost: the reply names the options beside each other" in result.stdout
    assert f"The answer {skeleton.gold_answer} is accepted. It is right." in result.stdout
    assert f"with a probability of {skeleton.gold_present_probability:.4f}" in result.stdout
    rules = result.stdout.partition("The hidden rules were")[2].strip().split("\n")
    assert len(rules) == len(skeleton.hidden_system.rules)
    for line, rule in zip(rules, skeleton.hidden_system.rules, strict=True):
        assert f"with a probability of {rule.probability:g}" in line


def test_a_world_and_its_proof():
    (world,) = generate_worlds(1, "short", 5)
    result = play([world.gold_answer, "y"], "dynamic-world", "--seed", 5, "--length", "short")
    assert result.exit_code == 0
    assert "It is right." in result.stdout
    proof = result.stdout.partition("These entries settle it:")[2].strip().split("\n")
    assert [line.split(",")[0].strip() for line in proof] == world.proof_event_ids


def test_a_task_file_and_a_seed_that_is_drawn(tmp_path):
    (tmp_path / "task.json").write_text(json.dumps(read_document() | {"budget": 2}), "utf-8")
    result = play(["quit"], "CausalCircuits-v0", "--task", tmp_path / "task.json")
    assert result.exit_code == 1
    assert "Credits left: 2 of 2." in result.stdout
    assert "with seed " in result.stdout
    assert result.stdout.endswith("You left before the end.\n")


@pytest.mark.parametrize("typed", [[], ["help"], ["predict", "0 0"]])
def test_the_end_of_input_is_said(typed):
    result = play(typed, "CausalCircuits-v0", "--seed", 1)
    assert result.exit_code == 1
    assert result.stdout.endswith("The input has ended before the episode.\n")
    assert "Traceback" not in result.output


def test_the_end_of_input_after_the_episode_is_a_no():
    result = play(["predict", *["0 0"] * 8], "CausalCircuits-v0", "--seed", 1)
    assert result.exit_code == 0
    assert result.stdout.endswith("Show the truth? [y/n] \n")


def test_a_prediction_as_json_may_be_typed_for_a_row():
    prediction = json.dumps({"prediction": [[0.0, 0.0]] * 8})
    rows = play(["predict", *["0 0"] * 8, "n"], "CausalCircuits-v0", "--seed", 1)
    whole = play(["predict", "0.5 0.5", prediction, "n"], "CausalCircuits-v0", "--seed", 1)
    verdict = "The prediction is accepted. " + rows.stdout.partition("The prediction is accepted. ")[2]
    assert "Its score is 0." in verdict
    assert whole.stdout.endswith(verdict)


@pytest.mark.parametrize(
    "typed",
    [["\x00\x1b[A"], ["[" * 5000], ["1e999 1e999"], ['{"prediction": [[NaN]]}'], ["\u2603" * 300], ["{" * 3000]],
)
def test_nonsense_is_answered(typed):
    for name in ("causal-circuits", "hidden-system"):
        result = play([*typed, "predict", *typed, "quit"], name, "--seed", 1)
        assert result.exit_code == 1
        assert isinstance(result.exception, SystemExit)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPole-v1"], "id must be one of CausalCircuits-v0"),
        (["causal-circuits", "--skin", "attic"], "skin must be one of 'plain'"),
        (["causal-circuits", "--length", "short"], "--length needs a family that has one"),
        (["hidden-system", "--length", "huge"], "huge"),
        (["hidden-system", "--split", "dev"], "split"),
        (["hidden-system", "--task", "nowhere.json"], "nowhere.json"),
        (["hidden-system", "--seed", "-1"], "seed"),
    ],
)
def test_mistakes_are_one_sentence(arguments, message):
    result = play([], *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_ctrl_c_is_said(monkeypatch):
    def interrupted(self, action):
        raise KeyboardInterrupt

    monkeypatch.setattr(TextAction, "step", interrupted)
    result = play(["yes"], "dynamic-world", "--seed", 1)
    assert (result.exit_code, result.stderr) == (130, "veilgym: interrupted\n")


def test_in_a_terminal_of_its_own():
    """A real terminal: echo, prompt, then Ctrl-C."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from veilgym.cli import main; main()", "play", "causal-circuits", "--seed", "3"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(slave)
    try:
        seen = _read_until(master, r"train split\..*> ")
        os.write(master, b"clamp-u-0\r")
        seen += _read_until(master, r"clamp-u-0, run 1: x = .*> ")
        # Python takes no notice of a signal between its prompt and its wait for a key, so a person presses again.
        seen += _read_until(master, "interrupted", press=b"\x03")
        assert process.wait(30) == 130
    finally:
        process.kill()
        process.wait()
        os.close(master)
    assert "Traceback" not in seen


def _take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test run in the background has it ignored


def _read_until(master, pattern, press=b""):
    """What the terminal shows until the pattern; `press` is typed before it and again after each second of silence."""
    seen, end = "", time.monotonic() + 60
    os.write(master, press)
    while not re.search(pattern, seen, re.DOTALL):
        ready, _, _ = select.select([master], [], [], 1)
        if ready:
            seen += os.read(master, 4096).decode("utf-8", "replace")
        else:
            assert time.monotonic() < end, f"not within a minute: {pattern!r} in {seen!r}"
            os.write(master, press)
    return seen
