"""Data sets as files: the same bytes however they are made, whatever kills them; nothing secret where it is public."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from veilgym.envs.core.dataset import blocks, engines, generation, parts, storage
from veilgym.envs.core.dataset.engines import in_processes
from veilgym.envs.core.dataset.generation import generate
from veilgym.envs.core.dataset.manifest import read_manifest, verify
from veilgym.envs.core.dataset.plan import Plan, make_plan
from veilgym.envs.core.family import load_family
from veilgym.envs.core.records import content_id, to_json

SMALL_WORLD = {"entity_count": 48, "simulation_steps": 300}


def plan_of(count: int = 40, **arguments: Any) -> Plan:
    return make_plan("hidden-system", count, **arguments)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module", name="made")
def made_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of 40 hidden systems."""
    folder = tmp_path_factory.mktemp("made") / "set"
    generate(plan_of(), folder)
    return folder


# What is in the files.


def test_the_files_and_what_the_manifest_says_of_them(made: Path) -> None:
    assert sorted(contents(made)) == ["README.md", "manifest.json", "payloads.jsonl", "skeletons.jsonl"]
    manifest = read_manifest(made)
    assert manifest.plan == plan_of()
    assert (manifest.family, manifest.seed, manifest.split, manifest.count) == ("hidden-system", 0, "train", 40)
    verify(made, manifest, "payloads.jsonl", "skeletons.jsonl")
    assert len(rows_of(made / "payloads.jsonl")) == len(rows_of(made / "skeletons.jsonl")) == 40


@pytest.mark.parametrize(
    ("family", "length", "parameters"),
    [
        ("hidden-system", 4, {"task": {"attributes": 5}}),
        ("dynamic-world", 4, SMALL_WORLD),
        ("causal-circuits", None, {}),
    ],
)
def test_rows_are_the_records_of_the_family_in_another_order(
    family: str, length: int | None, parameters: dict[str, Any], tmp_path: Path
) -> None:
    found, count = load_family(family), 12
    generate(make_plan(family, count, length, seed=7, split="test", **parameters), tmp_path)
    records = {
        content_id(found.payload(record)): record
        for record in found.generate(0, count, length, seed=7, split="test", **parameters)
    }
    public, secret = rows_of(tmp_path / "payloads.jsonl"), rows_of(tmp_path / "skeletons.jsonl")
    assert [row["id"] for row in public] == [row["id"] for row in secret]
    assert {row["id"] for row in public} == set(records)
    for row, answer_bearing in zip(public, secret, strict=True):
        record = records[row["id"]]
        assert list(row) == ["id", "payload"]
        assert list(answer_bearing) == ["id", "skeleton"]
        assert msgspec.json.encode(row["payload"]) == to_json(found.payload(record))
        assert msgspec.convert(answer_bearing["skeleton"], found.skeleton_type) == record


def test_a_seed_or_a_split_or_a_length_more_shares_no_row(tmp_path: Path) -> None:
    ids = []
    for i, arguments in enumerate(({}, {"seed": 1}, {"split": "test"}, {"length": "medium"})):
        generate(plan_of(**arguments), tmp_path / str(i))
        ids += [row["id"] for row in rows_of(tmp_path / str(i) / "payloads.jsonl")]
    assert len(set(ids)) == len(ids) == 160


# The same bytes.


@pytest.mark.parametrize(("workers", "block_size"), [(1, 1), (1, 7), (1, 40), (1, 1000), (2, 9)])
def test_neither_workers_nor_blocks_change_a_byte(made: Path, workers: int, block_size: int, tmp_path: Path) -> None:
    rows: list[int] = []
    generate(plan_of(), tmp_path, engine=in_processes(workers), block_size=block_size, progress=rows.append)
    assert contents(tmp_path) == contents(made)
    assert sum(rows) == 40


def test_a_block_is_a_function_of_the_plan_and_its_place(made: Path) -> None:
    pieces = [blocks.block(plan_of(), first, count) for first, count in ((0, 13), (13, 1), (14, 26))]
    for kind in ("skeletons", "payloads"):
        assert b"".join(piece.data[kind] for piece in pieces) == (made / f"{kind}.jsonl").read_bytes()
    stored = msgspec.json.decode(to_json(plan_of()), type=Plan)
    assert blocks.block(stored, 3, 2) == blocks.block(plan_of(), 3, 2)


# Order and ids.


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 17, 1000, 4097])
def test_the_order_is_a_permutation(count: int) -> None:
    assert sorted(blocks.shuffled(row, count, 3) for row in range(count)) == list(range(count))


@pytest.mark.parametrize("count", [2, 4, 7])
def test_every_place_comes_up_as_often_over_the_keys(count: int) -> None:
    keys = 4000
    for row in range(count):
        seen = np.bincount([blocks.shuffled(row, count, key) for key in range(keys)], minlength=count)
        # Chi-square with up to six degrees of freedom: beyond 30 once in 25,000.
        assert ((seen - keys / count) ** 2 / (keys / count)).sum() < 30


def test_the_order_tells_neither_the_index_nor_its_parity() -> None:
    count = 20_000
    for key in (1, 2):
        places = np.array([blocks.shuffled(row, count, key) for row in range(count)])
        rows = np.arange(count)
        # Standard errors: 1 / sqrt(count) = 0.007 for each of these correlations.
        for one in (rows, rows % 2, rows % 4 // 2, rows < count // 2):
            for other in (places, places % 2, np.roll(places, 1) % 2):
                assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
        assert abs(np.corrcoef(places[1:] % 2, places[:-1] % 2)[0, 1]) < 0.03


def test_the_answers_to_one_set_tell_nothing_of_another_of_the_same_seed() -> None:
    count = 4000
    others = ({"length": "long"}, {"task": {"trials": 50}}, {"split": "test"}, {"seed": 1})
    plans = [plan_of(count), *(plan_of(count, **arguments) for arguments in others)]
    # Labels alternate by the index, in each of the sets.
    labels = [
        np.array([blocks.shuffled(row, count, blocks.order_key(plan)) % 2 for row in range(count)]) for plan in plans
    ]
    for i, one in enumerate(labels):
        for other in labels[:i]:
            assert abs(np.corrcoef(one, other)[0, 1]) < 0.08  # five standard errors
    assert blocks.order_key(plans[0]) == blocks.order_key(plan_of(count, storage="parquet"))


def test_neither_order_nor_id_tells_the_answer(tmp_path: Path) -> None:
    count = 3000
    generate(plan_of(count, seed=11), tmp_path)
    rows = rows_of(tmp_path / "skeletons.jsonl")
    is_present = np.array([row["skeleton"]["gold_answer"] == "PRESENT" for row in rows])
    assert is_present.sum() == count // 2
    place = np.arange(count)
    bits = np.array([[int(digit, 16) >> bit & 1 for digit in row["id"] for bit in range(4)] for row in rows])
    features = {"row": place, "parity": place % 2, "half": place < count // 2, "before": np.roll(is_present, 1)}
    for name, feature in [*features.items(), *((f"bit {i}", bits[:, i]) for i in range(128))]:
        # Standard error 0.018; of 132 features one is beyond four of them once in 120 times.
        assert abs(np.corrcoef(feature, is_present)[0, 1]) < 0.08, name
    indices = np.array([int(row["skeleton"]["id"].rpartition("/")[2]) for row in rows])
    assert abs(np.corrcoef(indices, [int(row["id"][:8], 16) for row in rows])[0, 1]) < 0.08


# What is public.


every_set = pytest.mark.parametrize(
    ("family", "parameters"), [("hidden-system", {}), ("dynamic-world", SMALL_WORLD), ("causal-circuits", {})]
)


@every_set
def test_the_public_rows_hold_nothing_hidden(family: str, parameters: dict[str, Any], tmp_path: Path) -> None:
    generate(make_plan(family, 10, seed=23, **parameters), tmp_path)
    text = (tmp_path / "payloads.jsonl").read_text()
    for word in ("gold", "hidden_program", "probability", "proof", "trace", "rules", "final_state", "coefficients"):
        assert f'"{word}' not in text
    for row in rows_of(tmp_path / "skeletons.jsonl"):
        assert row["skeleton"]["id"] not in text
    fields = set(load_family(family).payload_type.__struct_fields__)
    assert not fields & {"id", "seed", "index", "split"}
    for row in rows_of(tmp_path / "payloads.jsonl"):
        assert set(row["payload"]) <= fields


@every_set
def test_exchanging_all_that_is_hidden_changes_no_public_byte(
    family: str, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, found = make_plan(family, 12, **parameters), load_family(family)
    before = blocks.block(plan, 0, 12)
    hidden = {
        "hidden-system": ("id", "hidden_system", "gold_answer", "gold_present_probability", "latent_trace"),
        "dynamic-world": ("id", "hidden_program", "final_state", "gold_answer", "proof_event_ids", "proof_facts"),
        "causal-circuits": ("id", "index", "coefficients", "targets", "potential_readouts"),
    }[family]

    def exchanged(document: Any, seed: int, split: str, indices: Any) -> Iterator[Any]:
        records = list(found.records(document, seed, split, indices))
        for record, other in zip(records, records[::-1], strict=True):
            yield msgspec.structs.replace(record, **{name: getattr(other, name) for name in hidden})

    monkeypatch.setattr(blocks, "load_family", lambda name: dataclasses.replace(found, records=exchanged))
    after = blocks.block(plan, 0, 12)
    assert after.data["payloads"] == before.data["payloads"]
    assert after.data["skeletons"] != before.data["skeletons"]


# Stopped and gone on with.

SCRIPT = """
import sys
from pathlib import Path
from veilgym.envs.core.dataset.engines import in_processes
from veilgym.envs.core.dataset.generation import generate
from veilgym.envs.core.dataset.plan import make_plan

if __name__ == "__main__":
    folder, workers, resume = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "resume"
    generate(make_plan("hidden-system", 2000), folder, engine=in_processes(workers), resume=resume, block_size=20)
"""


@pytest.fixture(scope="module", name="two_thousand")
def two_thousand_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two-thousand") / "set"
    generate(plan_of(2000), folder)
    return folder


@pytest.mark.parametrize(("workers", "moments"), [(1, (1, 40, 99)), (2, (5,))])
def test_killed_at_any_moment_and_resumed(
    workers: int, moments: tuple[int, ...], two_thousand: Path, tmp_path: Path
) -> None:
    script, folder = tmp_path / "make.py", tmp_path / "set"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(folder), str(workers)]
    for i, receipts in enumerate(moments):
        process = subprocess.Popen([*command, "resume" if i else "begin"])
        while process.poll() is None and len(list(folder.glob(".veilgym-parts/*[0-9].json"))) < receipts:
            time.sleep(0.002)
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert not (folder / "manifest.json").exists()
    generate(plan_of(2000), folder, resume=True)
    assert contents(folder) == contents(two_thousand)


@pytest.mark.parametrize("last", ["payloads.jsonl", "README.md", "manifest.json"])
def test_stopped_while_the_parts_are_joined(last: str, made: Path, tmp_path: Path) -> None:
    real, stopped = os.replace, KeyboardInterrupt()

    def replace(self: Path, target: Path) -> Path:
        if Path(target).name == last:
            raise stopped
        real(self, target)
        return Path(target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        with pytest.raises(KeyboardInterrupt):
            generate(plan_of(), tmp_path, block_size=7)
    assert not list(tmp_path.glob("*.part"))
    (tmp_path / "skeletons.jsonl.4711.part").write_text("left by a process that was killed")
    generate(plan_of(), tmp_path, resume=True)
    assert contents(tmp_path) == contents(made)


def test_stopped_while_the_parts_are_removed(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(parts, "remove", lambda folder: None)
        generate(plan_of(), tmp_path, block_size=7)
    next((tmp_path / parts.FOLDER).glob("*.jsonl")).unlink()
    manifest = generate(plan_of(), tmp_path, resume=True)
    assert manifest == read_manifest(made)
    assert contents(tmp_path) == contents(made)


def stopped_half_way(folder: Path, monkeypatch: pytest.MonkeyPatch, **arguments: Any) -> None:
    """Leave a folder with 4 of 6 parts."""
    real = engines.make_block

    def make_block(work: parts.Work, number: int) -> blocks.Block:
        if number == 4:
            raise KeyboardInterrupt
        return real(work, number)

    with monkeypatch.context() as patch:
        patch.setattr(engines, "make_block", make_block)
        with pytest.raises(KeyboardInterrupt):
            generate(plan_of(**arguments), folder, block_size=7)


@pytest.mark.parametrize("name", ["0000001.payloads.jsonl", "0000002.skeletons.jsonl", "0000003.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_part_is_made_anew(
    name: str, damage: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_half_way(tmp_path, monkeypatch)
    path = tmp_path / parts.FOLDER / name
    data = path.read_bytes()
    path.unlink()
    if damage != "gone":
        path.write_bytes(data[:-10] if damage == "cut" else data.replace(b"1", b"2", 1))
    notes: list[str] = []
    generate(plan_of(), tmp_path, resume=True, note=notes.append)
    assert contents(tmp_path) == contents(made)
    is_told = not (name.endswith("3.json") and damage == "gone")
    assert notes == ([f"block {int(name[:7])} was damaged and is made anew"] if is_told else [])


def test_a_resumed_run_makes_only_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_half_way(tmp_path, monkeypatch)
    made: list[int] = []
    real = parts.block
    monkeypatch.setattr(parts, "block", lambda plan, first, count: made.append(first) or real(plan, first, count))
    rows: list[int] = []
    generate(plan_of(), tmp_path, resume=True, progress=rows.append)
    assert made == [28, 35]
    assert rows == [28, 7, 5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": 1}, "seed is 0 there and 1 here"),
        ({"split": "test"}, "split is 'train' there and 'test' here"),
        ({"count": 41}, "count is 40 there and 41 here"),
        ({"length": "long"}, "parameters.length is 'short' there and 'long' here"),
        ({"task": {"margin": 0.2}}, "parameters.margin is 0.08 there and 0.2 here"),
        ({"storage": "parquet"}, "storage is 'jsonl' there and 'parquet' here"),
    ],
)
@pytest.mark.parametrize("is_finished", [False, True])
def test_another_plan_is_not_resumed(
    arguments: dict[str, Any], message: str, is_finished: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_finished:
        generate(plan_of(), tmp_path)
    else:
        stopped_half_way(tmp_path, monkeypatch)
    before = contents(tmp_path) if is_finished else {}
    with pytest.raises(ValueError, match=f"holds another data set: .*{message}; --force replaces it"):
        generate(plan_of(**arguments), tmp_path, resume=True)
    assert not is_finished or contents(tmp_path) == before


def test_another_version_is_not_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_half_way(tmp_path, monkeypatch)
    newer = msgspec.structs.replace(plan_of(), veilgym="9.9.9")
    with pytest.raises(ValueError, match=r"veilgym is '[0-9.]+' there and '9.9.9' here"):
        generate(newer, tmp_path, resume=True)
    (tmp_path / parts.FOLDER / "work.json").write_text('{"plan": {}}')
    with pytest.raises(ValueError, match=r"work.json' is damaged or of another version; --force starts anew"):
        generate(plan_of(), tmp_path, resume=True)


# Folders in use, and what goes wrong.


def test_a_folder_in_use_is_refused_unless_told(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "thesis.txt").write_text("kept")
    for arguments, message in (({}, "is not empty"), ({"resume": True}, "holds no data set to resume")):
        with pytest.raises(ValueError, match=message):
            generate(plan_of(), tmp_path, **arguments)
        assert sorted(contents(tmp_path)) == ["thesis.txt"]
    generate(plan_of(seed=5), tmp_path, force=True)
    generate(plan_of(), tmp_path, force=True)
    assert contents(tmp_path) == {**contents(made), "thesis.txt": b"kept"}
    generate(plan_of(storage="parquet"), tmp_path, force=True)
    assert sorted(contents(tmp_path)) == [
        "README.md", "manifest.json", "payloads.parquet", "skeletons.parquet", "thesis.txt",
    ]  # fmt: skip
    stopped_half_way(tmp_path / "new", monkeypatch)
    with pytest.raises(ValueError, match=r"holds an unfinished data set; allowed is .* --resume or --force"):
        generate(plan_of(), tmp_path / "new")
    generate(plan_of(seed=1), tmp_path / "new", force=True)
    assert read_manifest(tmp_path / "new").seed == 1
    with pytest.raises(ValueError, match="exclude"):
        generate(plan_of(), tmp_path / "new", force=True, resume=True)


def test_resuming_what_is_complete_checks_it(made: Path, tmp_path: Path) -> None:
    generate(plan_of(), tmp_path)
    generate(plan_of(), tmp_path, resume=True)
    assert contents(tmp_path) == contents(made)
    data = (tmp_path / "payloads.jsonl").read_bytes()
    (tmp_path / "payloads.jsonl").write_bytes(data.replace(b"1", b"2", 1))
    with pytest.raises(ValueError, match=r"payloads.jsonl' is not what manifest.json says.*--force generates anew"):
        generate(plan_of(), tmp_path, resume=True)


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ValueError, match=r"it is a file; allowed is a folder"):
        generate(plan_of(), tmp_path / "file")
    with pytest.raises(OSError, match=r"cannot write .*Not a directory$"):  # nothing that could be resumed
        generate(plan_of(), tmp_path / "file" / "set")


def test_two_rows_with_the_same_payload_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = load_family("hidden-system")

    def repeat(document: Any, seed: int, split: str, indices: Any) -> Iterator[Any]:
        return found.records(document, seed, split, [index % 30 for index in indices])

    monkeypatch.setattr(blocks, "load_family", lambda name: dataclasses.replace(found, records=repeat))
    with pytest.raises(ValueError, match=r"rows \d+ and \d+ are the same problem \(10 such pairs among 40 rows\)"):
        generate(plan_of(), tmp_path)
    assert not (tmp_path / "skeletons.jsonl").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("kind", ["part", "file"])
def test_a_full_disk(kind: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def full(self: Path, mode: str = "r", **arguments: Any) -> Any:
        is_part = parts.FOLDER in self.parts
        is_meant = ("w" in mode) and "payloads" in self.name and (is_part == (kind == "part"))
        return real(Path("/dev/full"), mode, **arguments) if is_meant else real(self, mode, **arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.raises(
            OSError, match=r"^cannot write '.*payloads\.jsonl': No space left on device; what is done is kept"
        ):
            generate(plan_of(), tmp_path, block_size=7)
    assert not (tmp_path / "payloads.jsonl").exists()
    assert not (tmp_path / "manifest.json").exists()
    generate(plan_of(), tmp_path, resume=True)
    assert contents(tmp_path) == contents(made)


DYING = """
import os, sys
from pathlib import Path
from veilgym.envs.core.dataset import engines
from veilgym.envs.core.dataset.engines import in_processes
from veilgym.envs.core.dataset.generation import generate
from veilgym.envs.core.dataset.plan import make_plan

real = engines.make_block


def die(work, number):
    if number == 3:
        os._exit(9)
    return real(work, number)


engines.make_block = die  # the workers import this file as well

if __name__ == "__main__":
    try:
        generate(make_plan("hidden-system", 40), Path(sys.argv[1]), engine=in_processes(2), block_size=7)
    except OSError as error:
        print(error)
"""


def test_a_worker_that_dies(made: Path, tmp_path: Path) -> None:
    (tmp_path / "die.py").write_text(DYING)
    result = subprocess.run(
        [sys.executable, str(tmp_path / "die.py"), str(tmp_path / "set")], capture_output=True, text=True, check=True
    )
    assert result.stdout == "a worker process has died (killed, or out of memory); --resume goes on\n"
    assert result.stderr == ""
    generate(plan_of(), tmp_path / "set", resume=True)
    assert contents(tmp_path / "set") == contents(made)


def test_wrong_arguments_are_named_before_anything_is_written(tmp_path: Path) -> None:
    for arguments, message in (
        ({"count": 0}, "count"),
        ({"count": 10**18}, "count must be at most 1000000000, got 1000000000000000000"),
        ({"seed": -1}, "seed"),
        ({"split": "all"}, "'all'"),
        ({"storage": "csv"}, "'csv'"),
        ({"length": "huge"}, "length"),
        ({"entity_count": 9}, "entity_count: got 9, but hidden-system takes only length, task"),
    ):
        with pytest.raises(ValueError, match=message):
            plan_of(**arguments)
    with pytest.raises(ValueError, match="block_size"):
        generate(plan_of(), tmp_path, block_size=0)
    assert not list(tmp_path.iterdir())


def test_worlds_that_have_no_such_question_are_refused(tmp_path: Path) -> None:
    plan = make_plan("dynamic-world", 2, 4, entity_count=48, simulation_steps=5)
    with pytest.raises(ValueError, match="no question"):
        generate(plan, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [parts.FOLDER]


# Formats.


def test_parquet_holds_the_same_rows(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(storage, "_GROUP", 50_000)
    generate(plan_of(storage="parquet"), tmp_path / "a")
    generate(plan_of(storage="parquet"), tmp_path / "b", block_size=3)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    for kind, field in (("payloads", "payload"), ("skeletons", "skeleton")):
        path = tmp_path / "a" / f"{kind}.parquet"
        assert parquet.ParquetFile(path).num_row_groups > 3
        table = parquet.read_table(path)
        assert {name: str(table.schema.field(name).type) for name in table.column_names} == dict.fromkeys(
            ("id", field), "string"
        )
        assert b"".join(storage.read_lines(path)) == (made / f"{kind}.jsonl").read_bytes()


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ValueError, match=r"pip install 'veilgym\[data\]'"):
        generate(plan_of(storage="parquet"), tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_the_size_of_a_block_is_that_of_the_first_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_half_way(tmp_path, monkeypatch)
    assert generation.BLOCK_SIZE != 7
    rows: list[int] = []
    generate(plan_of(), tmp_path, resume=True, block_size=1, progress=rows.append)
    assert rows == [28, 7, 5]
