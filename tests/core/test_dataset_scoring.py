"""Scores of answer files: each line judged once and exactly; mistakes in the file named by their line."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy.stats import binomtest

from veilgym.agents.statistics import wilson_interval
from veilgym.envs.core.dataset.generation import generate
from veilgym.envs.core.dataset.plan import make_plan
from veilgym.envs.core.dataset.scoring import Scores, score_answers

COUNT = 24


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture(scope="module", name="systems")
def systems_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("systems") / "set"
    generate(make_plan("hidden-system", COUNT), folder)
    return folder


@pytest.fixture(scope="module", name="circuits")
def circuits_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("circuits") / "set"
    generate(make_plan("causal-circuits", COUNT), folder)
    return folder


def golds(folder: Path) -> dict[str, str]:
    return {row["id"]: row["skeleton"]["gold_answer"] for row in rows_of(folder / "skeletons.jsonl")}


def other(answer: str) -> str:
    return {"PRESENT": "ABSENT", "ABSENT": "PRESENT", "YES": "NO", "NO": "YES"}[answer]


def write_answers(path: Path, answers: Sequence[tuple[Any, Any]]) -> Path:
    path.write_text("".join(json.dumps({"id": name, "answer": answer}) + "\n" for name, answer in answers), "utf-8")
    return path


def score_lines(folder: Path, path: Path, *lines: str) -> Scores:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return score_answers(folder, path)


def test_each_row_gets_its_verdict(systems: Path, tmp_path: Path) -> None:
    gold = list(golds(systems).items())
    answers = [
        *((name, answer) for name, answer in gold[:10]),
        *((name, other(answer)) for name, answer in gold[10:14]),
        *((name, f"Let me see.\n\n**Answer: {answer.lower()}**") for name, answer in gold[14:18]),
        (gold[18][0], "It is hard to say."),
        (gold[19][0], "PRESENT or ABSENT"),
        (gold[20][0], None),
        (gold[21][0], ["PRESENT"]),
    ]
    random.Random(0).shuffle(answers)
    done: list[int] = []
    scores = score_answers(systems, write_answers(tmp_path / "a.jsonl", answers), done.append)
    assert [row.id for row in scores.rows] == [name for name, _ in gold]
    expected = ["correct"] * 10 + ["wrong"] * 4 + ["correct"] * 4 + ["unparsed"] * 4 + ["missing"] * 2
    assert [row.status for row in scores.rows] == expected
    assert [row.score for row in scores.rows] == [float(status == "correct") for status in expected]
    assert all(bool(row.reason) == (row.status == "unparsed") for row in scores.rows)
    assert scores.statuses == {"correct": 14, "wrong": 4, "unparsed": 4, "missing": 2}
    assert sum(done) == len(answers)
    assert scores.score == 14 / 24
    assert scores.normalised == pytest.approx((14 / 24 - 0.5) / 0.5)
    exact = binomtest(14, 24).proportion_ci(method="wilson")
    assert scores.interval == pytest.approx((exact.low, exact.high), abs=1e-12)
    assert scores.normalised_interval == pytest.approx((2 * exact.low - 1, 2 * exact.high - 1))


def test_worlds(tmp_path: Path) -> None:
    generate(make_plan("dynamic-world", 6, entity_count=48, simulation_steps=300), tmp_path / "set")
    gold = golds(tmp_path / "set")
    answers = [(name, answer if i % 2 else other(answer)) for i, (name, answer) in enumerate(gold.items())]
    scores = score_answers(tmp_path / "set", write_answers(tmp_path / "a.jsonl", answers))
    assert [row.status for row in scores.rows] == ["wrong", "correct"] * 3
    assert scores.normalised == 0.0


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 50), (50, 50), (7, 9), (500, 100_000)])
def test_wilson_interval_is_that_of_scipy(successes: int, trials: int) -> None:
    exact = binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_circuits_are_scored_by_the_formula(circuits: Path, tmp_path: Path) -> None:
    skeletons = [(row["id"], np.array(row["skeleton"]["targets"])) for row in rows_of(circuits / "skeletons.jsonl")]
    answers, expected = [], []
    for i, (name, targets) in enumerate(skeletons[:20]):
        guess = targets + 0.035 * i / 10
        answers.append((name, guess.tolist() if i % 2 else json.dumps({"prediction": guess.tolist()})))
        expected.append(1 / (1 + ((guess - targets) ** 2).mean() / 0.035**2))
    answers += [(skeletons[20][0], np.zeros((2, 8)).tolist()), (skeletons[21][0], [[True] * 2] * 8)]
    scores = score_answers(circuits, write_answers(tmp_path / "a.jsonl", answers))
    assert [row.score for row in scores.rows] == pytest.approx([*expected, 0, 0, 0, 0], abs=1e-12)
    assert scores.statuses == {"scored": 20, "unparsed": 2, "missing": 2}
    assert "transposed" in scores.rows[20].reason
    assert scores.score == pytest.approx(math.fsum(expected) / 24)
    assert scores.interval is not None
    assert scores.interval[0] < scores.score < scores.interval[1]
    assert scores.floor is not None
    assert scores.ideal is not None
    assert scores.normalised == pytest.approx((scores.score - scores.floor) / (scores.ideal - scores.floor))


def test_another_circuit_has_no_normalised_score(tmp_path: Path) -> None:
    generate(make_plan("causal-circuits", 3, task={**_circuit(), "budget": 2}), tmp_path / "set")
    scores = score_lines(tmp_path / "set", tmp_path / "a.jsonl")
    assert (scores.normalised, scores.normalised_interval, scores.floor, scores.ideal) == (None,) * 4


def _circuit() -> dict[str, Any]:
    from veilgym.envs.causal_circuits.task import read_document

    return read_document()


def test_structured_answers_are_read_as_strictly_as_text(circuits: Path, tmp_path: Path) -> None:
    names = [row["id"] for row in rows_of(circuits / "payloads.jsonl")]
    rows = ", ".join(["[0, 0]"] * 8)
    lines = [
        f'{{"id": "{names[0]}", "answer": [{rows}]}}',
        f'{{"id": "{names[1]}", "answer": {{"prediction": [{rows}], "prediction": [{rows}]}}}}',
        f'{{"id": "{names[2]}", "answer": [[1e999, 0], {rows[8:]}]}}',
        f'{{"id": "{names[3]}", "answer": ["0", 0]}}',
        f'{{"id": "{names[4]}", "answer": 1}}',
    ]
    statuses = [row.status for row in score_lines(circuits, tmp_path / "a.jsonl", *lines).rows]
    assert statuses == ["scored", *["unparsed"] * 4, *["missing"] * 19]


def test_no_answers_at_all(systems: Path, tmp_path: Path) -> None:
    scores = score_lines(systems, tmp_path / "a.jsonl")
    assert scores.statuses == {"correct": 0, "wrong": 0, "unparsed": 0, "missing": COUNT}
    assert scores.score == 0.0


def test_scoring_again_gives_the_same_bytes(systems: Path, tmp_path: Path) -> None:
    path = write_answers(tmp_path / "a.jsonl", list(golds(systems).items()))
    first = msgspec.json.encode(score_answers(systems, path))
    copy = tmp_path / "elsewhere"
    shutil.copytree(systems, copy)
    assert msgspec.json.encode(score_answers(copy, path)) == first
    assert tmp_path.name.encode() not in first


def test_order_of_lines_and_further_fields_change_no_verdict(systems: Path, tmp_path: Path) -> None:
    answers = list(golds(systems).items())
    first = score_answers(systems, write_answers(tmp_path / "a.jsonl", answers)).rows
    lines = [json.dumps({"cost": [1], "answer": answer, "id": name}) for name, answer in reversed(answers)]
    assert score_lines(systems, tmp_path / "b.jsonl", *lines).rows == first
    (tmp_path / "c.jsonl").write_bytes((tmp_path / "a.jsonl").read_bytes().removesuffix(b"\n").replace(b"\n", b"\r\n"))
    assert score_answers(systems, tmp_path / "c.jsonl").rows == first


def test_parquet_is_scored_like_json_lines(systems: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow.parquet")
    generate(make_plan("hidden-system", COUNT, storage="parquet"), tmp_path / "set")
    path = write_answers(tmp_path / "a.jsonl", [(name, "PRESENT") for name in golds(systems)])
    assert score_answers(tmp_path / "set", path).rows == score_answers(systems, path).rows


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("PRESENT", "is not JSON"),
        ('{"id": "A"', "is not JSON"),
        ('{"id": "A", "answer": NaN}', "is not JSON"),
        ('{"id": "A", "answer": "\\ud800"}', "is not JSON"),
        ("[" * 100_000, r"got \[\[.*\.\.\., allowed is an object"),
        ('{"id": "A", "answer": ' + "[" * 100_000, "is not JSON"),
        ('["A", "PRESENT"]', r'got \["[0-9a-f]{32}", "PRESENT"\], allowed is an object'),
        ('"A"', "got .*, allowed is an object"),
        ('{"id": "A"}', "has no field 'answer', allowed is one"),
        ('{"answer": "PRESENT"}', "has no field 'id'"),
        ('{"ID": "A", "answer": "PRESENT"}', "has no field 'id'"),
        ('{"id": "A", "answer": "PRESENT", "answer": "ABSENT"}', "has 2 times the field 'answer'"),
        ('{"id": "A", "id": "A", "answer": "PRESENT"}', "has 2 times the field 'id'"),
        ('{"id": 1, "answer": "PRESENT"}', "id is 1 of type int, allowed is a string"),
        ('{"id": 1e999, "answer": "PRESENT"}', "id is 1e999 of type float"),
        ('{"id": null, "answer": "PRESENT"}', "id is null of type NoneType"),
        ('{"id": ["A"], "answer": "PRESENT"}', r"id is \[.*\] of type list"),
        ('{"id": "1", "answer": "PRESENT"}', "id '1' is not in the data set"),
        ('{"id": "A", "answer": "ABSENT"}', "id '[0-9a-f]{32}' has an answer on line 1 already"),
    ],
)
def test_a_wrong_line_is_named(line: str, message: str, systems: Path, tmp_path: Path) -> None:
    first, *_ = golds(systems)
    good = json.dumps({"id": first, "answer": "PRESENT"})
    with pytest.raises(ValueError, match=rf"^.*a\.jsonl line 2: {message}"):
        score_lines(systems, tmp_path / "a.jsonl", good, line.replace('"A"', f'"{first}"', 1), good)


def test_an_id_in_another_case_is_unknown(systems: Path, tmp_path: Path) -> None:
    name = next(name for name in golds(systems) if name.upper() != name)
    with pytest.raises(ValueError, match="is not in the data set"):
        score_answers(systems, write_answers(tmp_path / "a.jsonl", [(name.upper(), "PRESENT")]))


def test_a_damaged_or_incomplete_data_set_is_refused(systems: Path, tmp_path: Path) -> None:
    path = write_answers(tmp_path / "a.jsonl", [])
    with pytest.raises(ValueError, match="is no finished data set"):
        score_answers(tmp_path, path)
    with pytest.raises(ValueError, match=r"b.jsonl' cannot be read: No such file"):
        score_answers(systems, tmp_path / "b.jsonl")
    for name in ("payloads.jsonl", "skeletons.jsonl"):
        copy = tmp_path / name
        shutil.copytree(systems, copy)
        data = (copy / name).read_bytes()
        (copy / name).write_bytes(data.replace(b"PRESENT", b"ABSENT", 1))
        with pytest.raises(ValueError, match=rf"{name}' is not what manifest.json says"):
            score_answers(copy, path)
        (copy / name).unlink()
        if name == "skeletons.jsonl":
            with pytest.raises(ValueError, match=r"skeletons.jsonl' is missing"):
                score_answers(copy, path)
        else:
            assert score_answers(copy, path).statuses["missing"] == COUNT
