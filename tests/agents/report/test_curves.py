"""Learning curves: what is read, and what is passed over."""

import json

import pytest

from veilgym.agents.report.curves import read_curves

TRAINED = {
    "veilgym": "0.1.0",
    "recipe": {"env_id": "HiddenSystem-v0", "algo": "ppo", "arguments": {"length": "short"}},
    "seed": 3,
    "episodes": 500,
    "references": {"floor": 0.5, "ideal": 0.99},
    "points": [
        {"steps": 0, "score": 0.5, "interval": [0.4, 0.6], "seconds": 0.0},
        {"steps": 100, "score": 0.7, "interval": [0.65, 0.75], "seconds": 2.0},
    ],
}


def write(folder, **documents):
    for name, document in documents.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")


def test_read_curves__what_training_has_written(tmp_path):
    write(tmp_path, run__curve=TRAINED, run__settings={"seed": 3})
    (curve,) = read_curves(tmp_path)
    assert (curve.name, curve.title) == ("ppo (run), seed 3", "HiddenSystem-v0 short")
    assert (curve.steps, curve.scores) == ((0.0, 100.0), (0.5, 0.7))
    assert curve.intervals == ((0.4, 0.6), (0.65, 0.75))
    assert curve.levels == (("floor", 0.5), ("ideal", 0.99))
    assert read_curves(tmp_path / "run")[0].name == "ppo (run), seed 3"


def test_read_curves__columns(tmp_path):
    write(
        tmp_path, mine={"steps": [1, 5], "score": [[0, 1], [1, 1, 1]]}, named={"steps": [1], "score": [1], "name": "n"}
    )
    first, second = read_curves(tmp_path)
    assert (first.name, first.title, first.scores, first.intervals) == ("mine", "", (0.5, 1.0), ())
    assert second.name == "n"


@pytest.mark.parametrize(
    "document",
    [
        "{",
        [],
        {"steps": [], "score": []},
        {"steps": [1, 2], "score": [1]},
        {"steps": [2, 1], "score": [1, 1]},
        {"steps": [1, 2], "score": [1, "x"]},
        {"steps": [1, 2], "score": [1, None]},
        {"steps": [1, 2], "score": [1, []]},
        {"points": [1, 2]},
        {"points": [{"steps": 1}]},
        '{"steps": [1, 2], "score": [1, 1e999]}',
    ],
)
def test_read_curves__passes_over_other_files(tmp_path, document):
    write(tmp_path, other=document, run__curve=TRAINED)
    assert len(read_curves(tmp_path)) == 1
    (tmp_path / "run" / "curve.json").unlink()
    with pytest.raises(ValueError, match="has no learning curve"):
        read_curves(tmp_path)


def test_read_curves__odd_extras_do_no_harm(tmp_path):
    write(tmp_path, c=TRAINED | {"recipe": [], "references": None, "seed": None})
    write(tmp_path, d={"steps": [1, 2], "score": [0, 1], "interval": [[0, 1]], "ideal": "high", "algo": 7})
    first, second = read_curves(tmp_path)
    assert (first.name, first.title, first.levels) == ("c", "", ())
    assert (second.name, second.intervals, second.levels) == ("7 (d)", (), ())


def test_read_curves__no_folder(tmp_path):
    with pytest.raises(ValueError, match="is no folder"):
        read_curves(tmp_path / "none")
