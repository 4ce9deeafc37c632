"""The commands for data sets: what they print and write, and that a mistake gets one sentence and a non-zero status."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from veilgym.cli import app
from veilgym.envs.core.dataset.parts import FOLDER as PARTS


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeeds(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    return result.stderr


def sentence(*arguments):
    """The sentence of a mistake that the library found; before it there may be a line on the progress."""
    (line,) = (line for line in refused(*arguments).splitlines() if line.startswith("veilgym: "))
    return line


@pytest.fixture(scope="module", name="made")
def made_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "set"
    stdout = succeeds("generate", "hidden-system", "--count", 8, "--seed", 3, "--out", folder)
    return folder, stdout


@pytest.mark.parametrize("command", ["generate", "render", "score"])
def test_help(command):
    assert "Usage" in succeeds(command, "--help")


def test_generate__says_what_it_made(made):
    folder, stdout = made
    assert stdout.startswith("8 problems of hidden-system, train split, seed 3\n")
    assert str(folder / "skeletons.jsonl") in stdout
    assert stdout.count("with the answers") == 1
    assert len((folder / "payloads.jsonl").read_bytes().splitlines()) == 8


@pytest.mark.parametrize("has_begun", [True, False])
def test_generate__an_interruption_says_how_to_go_on_if_anything_is_kept(has_begun, tmp_path, monkeypatch):
    def interrupted(plan, folder, **more):
        if has_begun:
            (folder / PARTS).mkdir(parents=True)
        raise KeyboardInterrupt

    monkeypatch.setattr("veilgym.envs.core.dataset.generation.generate", interrupted)
    result = run("generate", "hidden-system", "--count", 8, "--out", tmp_path / "set")
    assert result.exit_code == 130
    kept = "; what is done is kept, --resume goes on" if has_begun else ""
    assert result.stderr.endswith(f"veilgym: interrupted{kept}\n")


def test_generate__options_reach_the_plan(tmp_path):
    (tmp_path / "task.json").write_text('{"trials": 12}')
    arguments = ("--length", 5, "--split", "test", "--task", tmp_path / "task.json", "--workers", 2)
    succeeds("generate", "hidden-system", "--count", 2, *arguments, "--out", tmp_path / "a")
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    assert (manifest["parameters"]["length"], manifest["parameters"]["trials"], manifest["split"]) == (5, 12, "test")
    sizes = ("--entity-count", 48, "--simulation-steps", 300, "--format", "parquet")
    succeeds("generate", "dynamic-world", "--count", 1, *sizes, "--out", tmp_path / "b")
    manifest = json.loads((tmp_path / "b" / "manifest.json").read_text())
    assert (manifest["parameters"]["entity_count"], manifest["parameters"]["simulation_steps"]) == (48, 300)
    assert (tmp_path / "b" / "payloads.parquet").exists()
    succeeds(
        "generate", "causal-circuits", "--count", 1, "--experiments", "clamp-u-0, clamp-u-0", "--out", tmp_path / "c"
    )
    payload = json.loads((tmp_path / "c" / "payloads.jsonl").read_text())["payload"]
    assert [measurement["experiment"] for measurement in payload["measurements"]] == ["clamp-u-0", "clamp-u-0"]


def test_generate__resume_and_force(made, tmp_path):
    folder, _ = made
    arguments = ("generate", "hidden-system", "--count", 8, "--seed", 3, "--out", folder)
    before = (folder / "manifest.json").read_bytes()
    assert "is not empty; allowed is an empty folder, or --resume or --force" in sentence(*arguments)
    succeeds(*arguments, "--resume")
    succeeds(*arguments, "--force")
    assert (folder / "manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPole-v1"], "causal-circuits, hidden-system, dynamic-world"),
        (["hidden-system", "--length", "huge"], "length"),
        (["causal-circuits", "--length", "short"], "length"),
        (["hidden-system", "--entity-count", "64"], "entity_count"),
        (["causal-circuits", "--experiments", "clamp-u-0,clamp-q"], "experiments[1]"),
        (["hidden-system", "--split", "validation"], "'validation'"),
        (["hidden-system", "--format", "csv"], "'csv'"),
        (["hidden-system", "--task", "nowhere.json"], "nowhere.json"),
        (["hidden-system", "--resume", "--force"], "--resume and --force"),
    ],
)
def test_generate__mistakes(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in sentence("generate", *arguments, "--count", 2, "--out", "set")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", [["--count", "0"], ["--seed", "-1"], ["--workers", "0"]])
def test_generate__numbers_out_of_range(option, tmp_path):
    arguments = [*option, *([] if "--count" in option else ["--count", "2"])]
    assert option[0] in refused("generate", "hidden-system", *arguments, "--out", tmp_path / "set")
    assert not list(tmp_path.iterdir())


def test_from_generating_to_scoring(made, tmp_path):
    folder, _ = made
    assert "8 problems, skin mixed" in succeeds("render", folder, "--skin", "mixed", "--force")
    assert "problems.jsonl' exists; --force replaces it" in sentence("render", folder, "--skin", "mixed")
    assert "skin must be one of" in sentence("render", folder, "--skin", "attic")
    ids = [json.loads(line)["id"] for line in (folder / "problems.jsonl").read_text().splitlines()]
    answers = tmp_path / "answers.jsonl"
    lines = [{"id": name, "answer": "Answer: PRESENT"} for name in ids[:7]]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    stdout = succeeds("score", folder, answers)
    scores = json.loads((tmp_path / "answers.scores.json").read_text())
    assert "hidden-system: 8 problems of the train split" in stdout
    for status, rows in scores["statuses"].items():
        assert [line.split()[1] for line in stdout.splitlines() if line.startswith(status)] == [str(rows)]
    assert f"{scores['score']:.4f}" in stdout
    first = (tmp_path / "answers.scores.json").read_bytes()
    succeeds("score", folder, answers, "--out", tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == first


def test_score__mistakes(made, tmp_path):
    folder, _ = made
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": 1, "answer": "PRESENT"}\n')
    assert "line 1: id is 1 of type int" in sentence("score", folder, answers)
    assert "verdicts cannot go to" in sentence("score", folder, answers, "--out", answers)
    assert "verdicts cannot go to" in sentence("score", folder, answers, "--out", folder / "manifest.json")
    assert "no finished data set" in sentence("score", tmp_path, answers)
    assert "cannot be read" in sentence("score", folder, tmp_path / "other.jsonl")
    assert "cannot write" in sentence("score", folder, answers, "--out", Path("no/such/folder/scores.json"))
    assert [path.name for path in tmp_path.iterdir()] == ["answers.jsonl"]
