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


@pytest.mark.parametrize("arguments", [[], ["bench"], ["bound"], ["ledger"], ["report"], ["train"]])
def test_help(arguments):
    result = run(*arguments, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_bench__table_results_and_picture(tmp_path):
    result = run("bench", "--episodes", 5, "--out", tmp_path / "results.json")
    assert result.exit_code == 0
    results = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [bench["env_id"] for bench in results["benches"]] == IDS
    assert results["veilgym"] == __version__
    for bench in results["benches"]:
        assert len(bench["instances"]) == 5
        for line in bench["runs"]:
            assert line["agent"] in result.stdout
            assert f"{sum(line['scores']) / 5:.4f}" in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines() if not line.startswith(("results:", "picture:")))
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
    assert bench["runs"][-1]["experiments"] == [2, 2, 2]


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


def interrupting(monkeypatch, after):
    """Let Ctrl-C come when so many ids have been played."""
    played = []

    def run_bench(name, *arguments):
        if len(played) == after:
            raise KeyboardInterrupt
        played.append(name)
        return original(name, *arguments)

    command = sys.modules["veilgym.commands.bench"]
    original = command._run_bench
    monkeypatch.setattr(command, "_run_bench", run_bench)


def test_bench__what_is_finished_survives_an_interruption(tmp_path, monkeypatch):
    interrupting(monkeypatch, after=1)
    result = run("bench", "--episodes", 2, "--out", tmp_path / "r.json")
    assert result.exit_code == 130
    assert f"veilgym: interrupted; not in the results: {', '.join(IDS[1:])}\n" in result.stderr
    assert IDS[0] in result.stdout
    (bench,) = json.loads((tmp_path / "r.json").read_text("utf-8"))["benches"]
    assert bench["env_id"] == IDS[0]


def test_bench__an_interruption_leaves_earlier_results_as_they_were(tmp_path, monkeypatch):
    interrupting(monkeypatch, after=1)
    (tmp_path / "r.json").write_text("before", "utf-8")
    result = run("bench", "--episodes", 2, "--out", tmp_path / "r.json")
    assert result.exit_code == 130
    assert (tmp_path / "r.json").read_text("utf-8") == "before"
    (bench,) = json.loads((tmp_path / "r-partial.json").read_text("utf-8"))["benches"]
    assert bench["env_id"] == IDS[0]
    assert "r-partial.json" in result.stdout


def test_bench__an_early_interruption_writes_nothing(tmp_path, monkeypatch):
    interrupting(monkeypatch, after=0)
    (tmp_path / "r.json").write_text("before", "utf-8")
    result = run("bench", "--episodes", 2, "--out", tmp_path / "r.json")
    assert result.exit_code == 130
    assert result.stderr.endswith("veilgym: interrupted\n")
    assert (tmp_path / "r.json").read_text("utf-8") == "before"


def test_bench__an_existing_file_survives_a_mistake(tmp_path):
    (tmp_path / "results.json").write_text("kept", "utf-8")
    refused("bench", "--split", "validation", "--out", tmp_path / "results.json")
    assert (tmp_path / "results.json").read_text("utf-8") == "kept"


def test_bench__length(tmp_path):
    arguments = ("HiddenSystem-v0", "--episodes", 2, "--out", tmp_path / "r.json")
    for length, expected in (("6", "medium"), ("medium", "medium"), ("5", 5)):
        result = run("bench", *arguments, "--length", length)
        assert result.exit_code == 0
        assert f"HiddenSystem-v0 {expected}: 2 test instances" in " ".join(result.stdout.split())
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
    (sentence,) = (line for line in error.splitlines() if not line.startswith("playing "))
    assert sentence.startswith("veilgym: ")
    assert message in sentence
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with results of two ids, and what `bench` has printed of each."""
    folder = tmp_path_factory.mktemp("results")
    tables = []
    for name, env_id in (("c", "CausalCircuits-v0"), ("w", "DynamicWorld-v0")):
        result = run("bench", env_id, "--episodes", 12, "--out", folder / f"{name}.json", "--picture", folder / "p.png")
        assert result.exit_code == 0
        tables.append(result.stdout.split("results: ")[0])
    return folder, tables


def test_report__prints_the_tables_again(measured):
    folder, tables = measured
    result = run("report", folder / "c.json", folder / "w.json")
    assert result.exit_code == 0
    assert result.stdout == "".join(tables)


def test_report__says_that_the_ladder_is_missing(measured, tmp_path):
    document = json.loads((measured[0] / "w.json").read_text("utf-8"))
    (bench,) = document["benches"]
    bench["runs"] = bench["runs"][:1]
    (tmp_path / "one.json").write_text(json.dumps(document), "utf-8")
    note = f"note: {bench['ideal']!r} has not played these instances"
    assert note in run("report", tmp_path / "one.json").stdout
    assert note not in run("report", measured[0] / "w.json").stdout


def test_report__compares(measured):
    folder, _ = measured
    result = run("report", folder / "c.json", folder / "w.json", "--compare", "ideal observer, random")
    assert "CausalCircuits-v0: ideal observer scores +0." in result.stdout
    assert "better on a share of 1.000 (0.758-1.000) of the same 12 instances" in result.stdout
    assert "DynamicWorld-v0: ideal observer" not in result.stdout
    result = run(
        "report", folder / "w.json", "--compare", "complete solver,random", "--compare", "random,majority class"
    )
    assert result.stdout.count("ties counted half") == 2


def test_report__page_with_ledger_and_training(measured, tmp_path):
    folder, _ = measured
    document = {"id": "DynamicWorld-v0", "steps": [0, 10], "score": [0.5, 0.6], "name": "my training"}
    (tmp_path / "curve.json").write_text(json.dumps(document), "utf-8")
    arguments = (folder / "w.json", "--out", tmp_path / "r.html", "--training", tmp_path)
    result = run("report", *arguments)
    assert result.exit_code == 0
    assert f"report: {tmp_path / 'r.html'}" in result.stdout.replace("\n", "")
    page = (tmp_path / "r.html").read_text("utf-8")
    for text in ("<!DOCTYPE html>", "my training", "Shortcut ledger of DynamicWorld-v0", "keyword overlap"):
        assert text in page
    assert "Shortcut ledger of HiddenSystem-v0" not in page
    (tmp_path / "empty").mkdir()
    refusal = refused("report", *arguments, "--ledger", tmp_path / "empty")
    assert "--ledger must be a folder with DynamicWorld-v0.json" in refusal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "'none.json' cannot be read"),
        (["bad.json"], "'bad.json': got the format 99, allowed is 1"),
        (["old.json", "good.json"], "more than one version of veilgym cannot be merged, got '0.0.1'"),
        (["good.json", "--out", "no/such/folder/r.html"], "cannot write"),
        (["good.json", "--compare", "random"], "two agents with a comma"),
        (["good.json", "--compare", "random,nobody"], "got 'nobody'"),
        (["good.json", "--out", "r.html", "--training", "none"], "'none' is no folder"),
        (["good.json", "--training", "."], "--ledger and --training need --out"),
        (["good.json", "--ledger", "."], "--ledger and --training need --out"),
        (["good.json", "--out", "r.html", "--training", "."], "no learning curve"),
        (["good.json", "--out", "r.html", "--ledger", "none"], "--ledger must be a folder"),
        (["good.json", "--out", "r.html", "--ledger", "ledgers"], "ledger 'ledgers/DynamicWorld-v0.json' is none"),
    ],
)
def test_report__mistakes(measured, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = json.loads((measured[0] / "w.json").read_text("utf-8"))
    (tmp_path / "ledgers").mkdir()
    changes = {"good": {}, "bad": {"format": 99}, "old": {"veilgym": "0.0.1"}, "ledgers/DynamicWorld-v0": {}}
    for name, change in changes.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document | change), "utf-8")
    error = refused("report", *arguments)
    assert error.startswith("veilgym: ")
    assert error.count("\n") == 1
    assert message in error
    assert not (tmp_path / "r.html").exists()


def test_ledger__table_and_page(tmp_path):
    folder = tmp_path / "not" / "yet"
    result = run("ledger", "HiddenSystem-v0", "--episodes", 3, "--training", 100, "--seed", 5, "--out", folder)
    assert result.exit_code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["HiddenSystem-v0.json", "HiddenSystem-v0.md"]
    document = json.loads((folder / "HiddenSystem-v0.json").read_text("utf-8"))
    assert (document["env_id"], document["veilgym"], document["seed"]) == ("HiddenSystem-v0", __version__, 5)
    assert (document["episodes"], document["training"]) == (3, 100)
    assert {line["setting"] for line in document["lines"]} == {"short", "medium", "long"}
    page = (folder / "HiddenSystem-v0.md").read_text("utf-8")
    for line in document["lines"]:
        assert line["instances"] == 3
        assert f"| {line['strategy']} | " in page
        if line["gate"] is not None:
            kind, bound = line["gate"]
            fails = line["score"] > bound if kind == "at most" else line["score"] < bound
            scores = f"scores {line['score']:.3f} on 3 instances"
            told = f"gate: {line['strategy']} ({line['setting']}) {scores}, allowed is {kind} {bound:g}"
            assert (told in result.stdout) == fails
    assert f"ledger: {folder / 'HiddenSystem-v0.md'}" in result.stdout.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPole-v1"], "CartPole-v1"),
        (["CausalCircuits-v0"], "no shortcut ledger"),
        (["HiddenSystem-v0", "CausalCircuits-v0"], "no shortcut ledger"),
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


def test_bench__compiles_ahead_what_comes_later(tmp_path, monkeypatch):
    started = []

    class Process:
        def __init__(self, command, **_):
            started.append(command[3:])

        def __enter__(self):
            return self

        def __exit__(self, *_):
            started.append("left")

        def kill(self):
            started.append("killed")

    monkeypatch.setattr("veilgym.commands.bench.subprocess.Popen", Process)
    monkeypatch.setattr("veilgym.commands.bench.os.cpu_count", lambda: 2)
    arguments = ("--episodes", 1, "--out", tmp_path / "r.json", "--picture", tmp_path / "r.png")
    assert run("bench", *IDS[1:], *arguments).exit_code == 0
    assert started == [IDS[2:], "killed", "left"]
    refused("bench", *IDS[1:], *arguments, "--split", "validation")
    assert started[3:] == [IDS[2:], "killed", "left"]
    assert run("bench", IDS[2], *arguments).exit_code == 0
    monkeypatch.setattr("veilgym.commands.bench.os.cpu_count", lambda: 1)
    assert run("bench", *IDS[1:], *arguments).exit_code == 0
    assert len(started) == 6
