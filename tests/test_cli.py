"""The command line: what it prints and writes, and that a mistake gets one sentence and a non-zero status."""

import json
import sys

import pytest
from typer.testing import CliRunner

from veilgym import __version__
from veilgym.cli import app
from veilgym.envs.causal_circuits.task import read_document
from veilgym.registry import ENTRIES

IDS = [entry.id for entry in ENTRIES]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(*arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.stderr


def test_version():
    assert run("--version").stdout == f"veilgym {__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["bench", "--help"], ["bound", "--help"], ["ledger", "--help"]])
def test_help(arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_bench__table_results_and_picture(tmp_path):
    result = run("bench", "--episodes", 5, "--out", tmp_path / "results.json")
    assert result.exit_code == 0
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [bench["env_id"] for bench in results["benches"]] == IDS
    assert results["veilgym"] == __version__
    for bench in results["benches"]:
        for standing in bench["standings"]:
            assert standing["agent"] in result.stdout
            assert f"{standing['score']:.4f}" in result.stdout
            assert standing["score"] == pytest.approx(sum(standing["scores"]) / 5)
    assert (tmp_path / "results.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.json", "results.png"]


def test_bench__picture_of_another_format(tmp_path):
    assert (
        run("bench", IDS[0], "--episodes", 2, "--out", tmp_path / "r.json", "--picture", tmp_path / "l.svg").exit_code
        == 0
    )
    assert "<svg" in (tmp_path / "l.svg").read_text("utf-8")
    assert not (tmp_path / "r.png").exists()


def test_bench__without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("bench", "--episodes", 2, "--out", tmp_path / "r.json").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
    asked = refused("bench", "--episodes", 2, "--out", tmp_path / "r.json", "--picture", tmp_path / "l.png")
    assert "veilgym[plot]" in asked


def test_bench__task_file(tmp_path):
    document = read_document() | {"budget": 2}
    (tmp_path / "task.json").write_text(json.dumps(document), "utf-8")
    arguments = ("CausalCircuits-v0", "--episodes", 3, "--task", tmp_path / "task.json", "--out", tmp_path / "r.json")
    assert run("bench", *arguments).exit_code == 0
    (bench,) = json.loads((tmp_path / "r.json").read_text("utf-8"))["benches"]
    assert bench["standings"][-1]["experiments"] == 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPole-v1"], "CartPole-v1"),
        (["--episodes", "0"], "episodes"),
        (["--episodes", "many"], "episodes"),
        (["--num-envs", "0"], "num-envs"),
        (["--seed", "-1"], "seed"),
        (["--split", "validation"], "validation"),
        (["CausalCircuits-v0", "--task", "nowhere.json"], "nowhere.json"),
        (["--out", "no/such/folder/results.json"], "no/such/folder"),
        (["--picture", "ladder.xyz"], "xyz"),
        (["--out", "results.png"], "two different files"),
        (["--out", "a.svg", "--picture", "a.svg"], "two different files"),
        (["--out", "."], "cannot write"),
        (["--nonsense"], "nonsense"),
    ],
)
def test_bench__mistakes(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused("bench", *arguments, *([] if "--episodes" in arguments else ["--episodes", "1"]))
    assert not list(tmp_path.iterdir())


def test_bench__an_existing_file_survives_a_mistake(tmp_path):
    (tmp_path / "results.json").write_text("kept", "utf-8")
    refused("bench", "--split", "validation", "--out", tmp_path / "results.json")
    assert (tmp_path / "results.json").read_text("utf-8") == "kept"


def test_bench__length(tmp_path):
    arguments = ("HiddenSystem-v0", "--episodes", 2, "--out", tmp_path / "r.json")
    for length, expected in (("6", 6), ("medium", "medium")):
        result = run("bench", *arguments, "--length", length)
        assert result.exit_code == 0
        assert f"HiddenSystem-v0 {length}: 2 instances" in " ".join(result.stdout.split())
        (bench,) = json.loads((tmp_path / "r.json").read_text("utf-8"))["benches"]
        assert bench["arguments"] == {"length": expected}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["HiddenSystem-v0", "--length", "11"], "length"),
        (["HiddenSystem-v0", "--length", "huge"], "'huge'"),
        (["CausalCircuits-v0", "--length", "short"], "HiddenSystem-v0"),
        (["--length", "short"], "CausalCircuits-v0"),
    ],
)
def test_bench__length_mistakes(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error = refused("bench", *arguments, "--episodes", 1)
    (sentence,) = (line for line in error.splitlines() if line and not line.startswith("preparing"))
    assert sentence.startswith("veilgym: ")
    assert message in sentence
    assert not list(tmp_path.iterdir())


def test_ledger__table_and_page(tmp_path):
    result = run("ledger", "HiddenSystem-v0", "--episodes", 3, "--training", 100, "--seed", 5, "--out", tmp_path)
    assert result.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["HiddenSystem-v0.json", "HiddenSystem-v0.md"]
    document = json.loads((tmp_path / "HiddenSystem-v0.json").read_text("utf-8"))
    assert (document["env_id"], document["veilgym"], document["seed"]) == ("HiddenSystem-v0", __version__, 5)
    assert (document["episodes"], document["training"]) == (3, 100)
    assert {line["setting"] for line in document["lines"]} == {"short", "medium", "long"}
    page = (tmp_path / "HiddenSystem-v0.md").read_text("utf-8")
    for line in document["lines"]:
        assert line["instances"] == 3
        assert f"| {line['strategy']} | " in page
        if line["gate"] is not None:
            kind, bound = line["gate"]
            fails = line["score"] > bound if kind == "at most" else line["score"] < bound
            told = (
                f"gate: {line['strategy']} ({line['setting']}) scores {line['score']:.3f}, allowed is {kind} {bound:g}"
            )
            assert (told in result.stdout) == fails
    assert f"ledger: {tmp_path / 'HiddenSystem-v0.md'}" in result.stdout.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPole-v1"], "CartPole-v1"),
        (["CausalCircuits-v0"], "no shortcut ledger"),
        (["HiddenSystem-v0", "CausalCircuits-v0"], "no shortcut ledger"),
        (["--out", "no/such/folder"], "no/such/folder"),
        (["--out", "file"], "cannot write"),
        (["--episodes", "0"], "episodes"),
        (["--training", "0"], "training"),
        (["--training", "9"], "training must be an integer of at least 100, got 9"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_ledger__mistakes(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("kept", "utf-8")
    error = refused("ledger", *arguments)
    assert message in error
    if "0" not in arguments and "-1" not in arguments:  # these are refused by the parser, which draws a box
        assert error.startswith("veilgym: ")
        assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_ledger__without_scikit_learn(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    error = refused("ledger", "--out", tmp_path)
    assert "pip install 'veilgym[ledger]'" in error
    assert not list(tmp_path.iterdir())


def test_bound__report(tmp_path):
    document = read_document() | {"budget": 1}
    (tmp_path / "task.json").write_text(json.dumps(document), "utf-8")
    result = run("bound", "--circuits", 4, "--episodes", 10, "--task", tmp_path / "task.json")
    assert result.exit_code == 0
    assert "designs compared        12" in result.stdout
    assert "bound, to first order" in result.stdout


def test_bound__mistakes(tmp_path):
    (tmp_path / "task.json").write_text("{", "utf-8")
    assert "not JSON" in refused("bound", "--task", tmp_path / "task.json")
    assert "circuits" in refused("bound", "--circuits", 1)
