"""Problems of a data set in natural language: from the public file alone, one for each row, whole or not at all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from veilgym.envs.core.dataset import storage
from veilgym.envs.core.dataset.generation import generate
from veilgym.envs.core.dataset.manifest import read_manifest, verify
from veilgym.envs.core.dataset.plan import make_plan
from veilgym.envs.core.dataset.rendering import render
from veilgym.envs.core.family import load_family

COUNT = 12


@pytest.fixture(scope="module", name="sets")
def sets_fixture(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A data set of each family."""
    folder = tmp_path_factory.mktemp("sets")
    plans = {
        "hidden-system": make_plan("hidden-system", COUNT),
        "dynamic-world": make_plan("dynamic-world", COUNT, entity_count=48, simulation_steps=300),
        "causal-circuits": make_plan("causal-circuits", COUNT),
    }
    for name, plan in plans.items():
        generate(plan, folder / name)
    return {name: folder / name for name in plans}


@pytest.fixture(name="folder", params=["hidden-system", "dynamic-world", "causal-circuits"])
def folder_fixture(request: pytest.FixtureRequest, sets: dict[str, Path], tmp_path: Path) -> Path:
    """A copy without the file that bears the answers."""
    shutil.copytree(sets[request.param], tmp_path / "set")
    (tmp_path / "set" / "skeletons.jsonl").unlink()
    return tmp_path / "set"


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_row_is_told_in_order_and_can_be_read_back(folder: Path) -> None:
    family = load_family(read_manifest(folder).family)
    for skin in family.skins:
        done: list[int] = []
        render(folder, skin, force=True, progress=done.append)
        assert sum(done) == COUNT
        payloads, problems = rows_of(folder / "payloads.jsonl"), rows_of(folder / "problems.jsonl")
        assert [row["id"] for row in problems] == [row["id"] for row in payloads]
        for row, public in zip(problems, payloads, strict=True):
            assert list(row) == ["id", "prompt", "skin", "names"]
            assert row["skin"] == skin
            told = family.parse(row["prompt"], skin, row["names"])
            assert told == msgspec.convert(public["payload"], family.payload_type)
            assert row["id"] not in row["prompt"]


def test_problems_hold_nothing_hidden(folder: Path, sets: dict[str, Path]) -> None:
    family = read_manifest(folder).family
    render(folder, load_family(family).skins[-1])
    problems = rows_of(folder / "problems.jsonl")
    for row, secret in zip(problems, rows_of(sets[family] / "skeletons.jsonl"), strict=True):
        skeleton = secret["skeleton"]
        text = json.dumps(row)
        assert skeleton["id"] not in text
        if family == "causal-circuits":
            targets = [number for numbers in skeleton["targets"] for number in numbers]
            numbers = [*skeleton["coefficients"].values(), *targets]
            assert not any(str(number)[:8] in text for number in numbers if number not in (0.6, -0.6))  # the clamped x
        else:
            # Both options are named as often, so that counting them tells nothing.
            assert len({text.count(f"Answer: {option}") for option in skeleton["answer_options"]}) == 1


def test_mixed_draws_a_skin_for_each_row_by_its_content(folder: Path) -> None:
    family = load_family(read_manifest(folder).family)
    render(folder, "mixed")
    mixed = {row["id"]: row for row in rows_of(folder / "problems.jsonl")}
    assert len({row["skin"] for row in mixed.values()}) > 1 or len(family.skins) == 1
    for skin in family.skins:
        render(folder, skin, force=True)
        for row in rows_of(folder / "problems.jsonl"):
            assert mixed[row["id"]]["skin"] != skin or mixed[row["id"]] == row


def test_manifest_and_card_name_the_problems(folder: Path) -> None:
    before = read_manifest(folder)
    after = render(folder, "mixed")
    assert read_manifest(folder) == after
    assert (after.plan, after.skin) == (before.plan, "mixed")
    assert list(after.files) == [*before.files, "problems.jsonl"]
    verify(folder, after, "problems.jsonl")
    assert "path: problems.jsonl" in (folder / "README.md").read_text()
    assert not list(folder.glob("*.part"))


def test_a_card_that_was_edited_is_left_alone(folder: Path) -> None:
    (folder / "README.md").write_text("mine")
    notes: list[str] = []
    render(folder, "mixed", note=notes.append)
    assert (folder / "README.md").read_text() == "mine"
    assert len(notes) == 1
    assert "has been edited" in notes[0]
    (folder / "README.md").unlink()
    render(folder, "mixed", force=True, note=notes.append)
    assert "path: problems.jsonl" in (folder / "README.md").read_text()
    assert len(notes) == 1


def test_the_same_bytes_again(folder: Path) -> None:
    render(folder, "mixed")
    first = (folder / "problems.jsonl").read_bytes(), (folder / "manifest.json").read_bytes()
    render(folder, load_family(read_manifest(folder).family).skins[0], force=True)
    render(folder, "mixed", force=True)
    assert ((folder / "problems.jsonl").read_bytes(), (folder / "manifest.json").read_bytes()) == first


def test_problems_are_not_replaced_unless_told(folder: Path) -> None:
    render(folder, "mixed")
    before = (folder / "problems.jsonl").read_bytes()
    with pytest.raises(ValueError, match=r"problems.jsonl' exists; --force replaces it"):
        render(folder, "mixed")
    assert (folder / "problems.jsonl").read_bytes() == before


def test_what_is_wrong_is_said_and_leaves_no_file(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"skin must be one of .*, 'mixed', got 'attic'"):
        render(folder, "attic")
    with pytest.raises(ValueError, match=r"is no finished data set: it has no manifest.json"):
        render(tmp_path, "mixed")
    data = (folder / "payloads.jsonl").read_bytes()
    (folder / "payloads.jsonl").write_bytes(data.replace(b"1", b"2", 1))
    with pytest.raises(ValueError, match=r"payloads.jsonl' is not what manifest.json says"):
        render(folder, "mixed")
    (folder / "payloads.jsonl").unlink()
    with pytest.raises(ValueError, match=r"payloads.jsonl' is missing"):
        render(folder, "mixed")
    for text, message in (("{", "is not JSON"), ('{"layout": 1}', "missing"), ("[]", "allowed is object")):
        (folder / "manifest.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            render(folder, "mixed")
    assert not (folder / "problems.jsonl").exists()


def test_stopped_half_way(folder: Path) -> None:
    def stop(rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        render(folder, "mixed", progress=stop)
    assert sorted(path.name for path in folder.iterdir()) == ["README.md", "manifest.json", "payloads.jsonl"]
    (folder / "problems.jsonl.4711.part").write_text("left by a process that was killed")
    render(folder, "mixed")
    assert not list(folder.glob("*.part"))


def test_problems_of_parquet_are_parquet(sets: dict[str, Path], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    generate(make_plan("hidden-system", COUNT, storage="parquet"), tmp_path)
    render(tmp_path, "mixed")
    render(sets["hidden-system"], "mixed", force=True)
    assert parquet.read_table(tmp_path / "problems.parquet").column_names == ["id", "prompt", "skin", "names"]
    lines = b"".join(storage.read_lines(tmp_path / "problems.parquet"))
    assert lines == (sets["hidden-system"] / "problems.jsonl").read_bytes()


# Hugging Face.


@pytest.mark.parametrize("family", ["hidden-system", "dynamic-world", "causal-circuits"])
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_datasets_loads_the_folder_without_a_network(
    family: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    datasets = pytest.importorskip("datasets")
    folder, cache = tmp_path / "set", str(tmp_path / "cache")
    sizes = {"entity_count": 48, "simulation_steps": 300} if family == "dynamic-world" else {}
    generate(make_plan(family, 5, split="test", storage=form, **sizes), folder)
    render(folder, "mixed")
    for kind, name in ((None, "payloads"), ("problems", "problems"), ("skeletons", "skeletons")):
        loaded = datasets.load_dataset(str(folder), kind, cache_dir=cache)
        assert list(loaded) == ["test"]
        lines = storage.read_lines(folder / f"{name}.{form}")
        for found, line in zip(loaded["test"], lines, strict=True):
            is_text = [key for key in found if key in storage.OBJECTS and form == "parquet"]
            row = {**found, **{key: json.loads(found[key]) for key in is_text}}
            # `datasets` itself rounds the numbers in JSON lines; those in payloads of queries are whole.
            is_rounded = form == "jsonl" and (name == "skeletons" or family == "causal-circuits")
            assert _agree(row, json.loads(line)) if is_rounded else row == json.loads(line)


def _agree(one: Any, other: Any) -> bool:
    """Whether two documents are equal but for the last digits of their numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_agree(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_agree, one, other))
    return bool(abs(one - other) < 1e-9) if isinstance(one, float) else bool(one == other)
