"""Who makes a data set changes no byte of it: processes, Ray, workers that are killed, rows that cannot be made."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from veilgym.envs.core.cluster import connect
from veilgym.envs.core.dataset import blocks
from veilgym.envs.core.dataset.engines import Engine, engine_of, in_this_process, on_ray
from veilgym.envs.core.dataset.generation import RowsFailedError, generate
from veilgym.envs.core.dataset.plan import make_plan
from veilgym.envs.core.family import load_family

# Of Ray's own code.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{kind}") for kind in ("DeprecationWarning", "FutureWarning", "ResourceWarning")
]

PLAN = make_plan("hidden-system", 60)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module", name="serial")
def serial_fixture(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("serial") / "set"
    generate(PLAN, folder)
    return contents(folder)


@pytest.fixture(scope="module", name="cluster")
def cluster_fixture() -> Iterator[None]:
    """A Ray of two workers, which the engines use as they find it."""
    pytest.importorskip("ray", reason="the extra ray is not installed")
    with connect(workers=2):
        yield


def test_the_engines_and_their_arguments() -> None:
    assert engine_of("local") is in_this_process
    for arguments, message in [
        (("rye",), "engine must be one of 'local', 'ray', got 'rye'"),
        (("local", None, "auto"), "address: got 'auto', but only the engine 'ray' takes one"),
        (("local", 0), "workers must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            engine_of(*arguments)


def test_what_ray_is_refused() -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    with pytest.raises(ValueError, match="workers: got 2 with address 'auto'; allowed is one of the two"):
        engine_of("ray", 2, "auto")
    with pytest.raises(ValueError, match="workers must be"):
        engine_of("ray", 0)
    for address in ("ray://head:10001", "local", "", "nonsense", "127.0.0.1", "127.0.0.1:notaport"):
        with pytest.raises(ValueError, match=f"address must be 'auto' or 'host:port', got '{address}'"):
            engine_of("ray", None, address)


def test_no_cluster_at_an_address_is_said_at_once(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    with pytest.raises(OSError, match=r"no Ray cluster at '127\.0\.0\.1:9'"):
        generate(PLAN, tmp_path / "set", engine=on_ray(address="127.0.0.1:9"))


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'veilgym\[ray\]'"):
        engine_of("ray")


@pytest.mark.usefixtures("cluster")
def test_ray_gives_the_same_bytes(serial: dict[str, bytes], tmp_path: Path) -> None:
    counted: list[int] = []
    generate(PLAN, tmp_path / "set", engine=on_ray(), block_size=7, progress=counted.append)
    assert contents(tmp_path / "set") == serial
    assert sum(counted) == 60


@pytest.mark.usefixtures("cluster")
def test_a_killed_worker_repeats_its_block(serial: dict[str, bytes], tmp_path: Path) -> None:
    killed: list[int] = []
    counted: list[int] = []

    def kill_once() -> None:
        give_up = time.monotonic() + 60
        while not killed and time.monotonic() < give_up:
            for pid in _workers_at_work():
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                return
            time.sleep(0.002)

    assassin = threading.Thread(target=kill_once)
    assassin.start()
    generate(PLAN, tmp_path / "set", engine=on_ray(), block_size=1, progress=counted.append)
    assassin.join()
    assert killed
    assert contents(tmp_path / "set") == serial
    assert sum(counted) == 60


def _workers_at_work() -> list[int]:
    """Ray's workers that run a task of Ray Data at this moment, by the title they give themselves."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                title = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if title.startswith(b"ray::") and b"as_row" in title:
                found.append(int(entry.name))
    return found


def fail_on(index: int, how: Callable[[], None]) -> Callable[[str], Any]:
    """`load_family`, but with a record of that index that cannot be made."""
    family = load_family(PLAN.family)

    def records(document: Any, seed: int, split: str, indices: Any) -> Iterator[Any]:
        for i in indices:
            if i == index:
                how()
            yield from family.records(document, seed, split, [i])

    return lambda name: replace(family, records=records)


def fail() -> None:
    raise ZeroDivisionError("no such world")


def die() -> None:
    os._exit(1)


def test_a_row_that_cannot_be_made_is_reported_and_the_others_are_kept(
    serial: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(blocks, "load_family", fail_on(5, fail))
        with pytest.raises(RowsFailedError, match=r"1 of 60 .* index 5 \(ZeroDivisionError: no such world\)") as caught:
            generate(PLAN, tmp_path / "set", block_size=4, progress=counted.append)
    assert [failure.index for failure in caught.value.failed] == [5]
    assert sum(counted) == 59
    assert not (tmp_path / "set" / "payloads.jsonl").exists()
    generate(PLAN, tmp_path / "set", resume=True)
    assert contents(tmp_path / "set") == serial


def ray_with(how: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine with workers in which index 5 cannot be made: the block function carries the fault there."""
    from veilgym.envs.core.dataset import engines

    whole = engines.make_block

    def make_block(work: Any, number: int) -> Any:
        blocks.load_family = fail_on(5, how)  # type: ignore[assignment]
        try:
            return whole(work, number)
        finally:
            blocks.load_family = load_family

    def as_row(work: Any, row: dict[str, Any]) -> dict[str, Any]:
        import msgspec

        return {"number": row["number"], "block": msgspec.msgpack.encode(make_block(work, row["number"]))}

    monkeypatch.setattr(engines, "_as_row", as_row)
    return on_ray()


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(("how", "failures"), [(fail, 1), (die, 4)])
def test_what_always_fails_on_ray_is_reported_and_nothing_else_is_lost(
    how: Callable[[], None],
    failures: int,
    serial: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[int] = []
    with monkeypatch.context() as patch:
        engine = ray_with(how, patch)
        with pytest.raises(RowsFailedError) as caught:
            generate(PLAN, tmp_path / "set", engine=engine, block_size=4, progress=counted.append)
    # A worker that dies takes the rows of its block with it, one that raises only its own.
    assert len(caught.value.failed) == failures
    assert sum(counted) == 60 - failures
    generate(PLAN, tmp_path / "set", resume=True)
    assert contents(tmp_path / "set") == serial
