"""Generating a data set: in blocks, by several processes, so that it can be stopped at any moment and gone on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import msgspec
import numpy as np

from veilgym.envs.core.arguments import check_count
from veilgym.envs.core.dataset import card, parts
from veilgym.envs.core.dataset import manifest as manifests
from veilgym.envs.core.dataset.blocks import KINDS, PAYLOADS, Failure
from veilgym.envs.core.dataset.engines import Engine, in_this_process
from veilgym.envs.core.dataset.files import digest_of, remove_partial, write
from veilgym.envs.core.dataset.manifest import Manifest, make_manifest, read_manifest, verify, write_manifest
from veilgym.envs.core.dataset.parts import Work
from veilgym.envs.core.dataset.plan import Plan, difference
from veilgym.envs.core.dataset.storage import Row, check_storage, file_name, write_rows

BLOCK_SIZE = 256

Report = Callable[[int], None]


class RowsFailedError(Exception):
    """Some rows cannot be made, however often they are tried; all others are kept for a later run.

    Attributes:
        failed: Which, by row.
    """

    def __init__(self, failed: list[Failure], count: int) -> None:
        self.failed = failed
        first = failed[0]
        super().__init__(
            f"{len(failed)} of {count} problems cannot be made, so the data set is not complete; the first is index "
            f"{first.index} ({first.error}); what is done is kept, --resume tries the others again"
        )


def generate(
    plan: Plan,
    folder: Path,
    *,
    engine: Engine = in_this_process,
    resume: bool = False,
    force: bool = False,
    block_size: int = BLOCK_SIZE,
    progress: Report = lambda rows: None,
    note: Callable[[str], None] = lambda text: None,
) -> Manifest:
    """Make the data set of a plan in a folder; the same plan gives the same bytes.

    While it is made its blocks are in `.veilgym-parts`; files get their names when they are whole, the manifest last.

    Args:
        plan: From `make_plan`.
        folder: Made if it does not exist.
        engine: Who makes the blocks, see `engines`; changes no byte.
        resume: Whether to go on with what a run with the same plan has left.
        force: Whether to replace the files of a data set in a folder that is not empty; others are left alone.
        block_size: Rows in a block; changes no byte.
        progress: Called with the number of rows that have just been made, or been found.
        note: Called with a sentence on what had to be repaired.

    Raises:
        ValueError: an argument is wrong, the folder is in use, or two rows are the same problem.
        OSError: a file cannot be written, or a worker has died. What is done is kept for `resume`.
        RowsFailedError: some rows cannot be made.
    """
    check_storage(plan.storage)
    work = Work(plan, check_count("block_size", block_size))
    try:
        done = _prepare(folder, work, resume, force)
        if done is None:
            _make_parts(folder / parts.FOLDER, engine, progress, note)
            done = _finish(folder)
        else:
            progress(plan.count)
    except BrokenProcessPool:
        raise ChildProcessError("a worker process has died (killed, or out of memory); --resume goes on") from None
    except OSError as error:
        if error.errno is None:
            raise
        where = error.filename if error.filename is not None else folder
        kept = "; what is done is kept, --resume goes on" if (folder / parts.FOLDER).exists() else ""
        raise type(error)(f"cannot write {str(where)!r}: {error.strerror}{kept}") from None
    return done


def _prepare(folder: Path, work: Work, resume: bool, force: bool) -> Manifest | None:
    """Decide whether to begin, to go on, or that nothing is left to do: then return the manifest."""
    if resume and force:
        raise ValueError("--resume and --force exclude each other")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"cannot write to {str(folder)!r}: it is a file; allowed is a folder")
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / parts.FOLDER
    entries = {path.name for path in folder.iterdir()}
    if force:
        _clear(folder)
    elif entries and not resume:
        what = "holds an unfinished data set" if place.exists() else "is not empty"
        raise ValueError(f"{str(folder)!r} {what}; allowed is an empty folder, or --resume or --force")
    elif manifests.NAME in entries:
        return _complete(folder, work)
    elif (begun := parts.read_work(place)) is not None:
        _check_same(folder, begun.plan, work.plan)
        return None
    elif entries - {parts.FOLDER}:
        raise ValueError(f"{str(folder)!r} holds no data set to resume; allowed is an empty folder, or --force")
    parts.begin(place, work)
    return None


def _complete(folder: Path, work: Work) -> Manifest:
    manifest = read_manifest(folder)
    _check_same(folder, manifest.plan, work.plan)
    try:
        verify(folder, manifest, *manifest.files)
    except ValueError as error:
        raise ValueError(f"{error}; --force generates anew") from None
    if (folder / parts.FOLDER).exists():
        parts.remove(folder / parts.FOLDER)
    return manifest


def _check_same(folder: Path, stored: Plan, asked: Plan) -> None:
    found = difference(stored, asked)
    if found is not None:
        raise ValueError(f"{str(folder)!r} holds another data set: {found}; --force replaces it")


def _clear(folder: Path) -> None:
    """Remove what a data set consists of; the manifest first, so that none is ever beside files that it is not of."""
    kinds = (*KINDS, manifests.PROBLEMS)
    names = [
        manifests.NAME,
        *(file_name(kind, storage) for kind in kinds for storage in ("jsonl", "parquet")),
        card.NAME,
    ]
    for name in names:
        (folder / name).unlink(missing_ok=True)
        remove_partial(folder / name)
    if (folder / parts.FOLDER).exists():
        parts.remove(folder / parts.FOLDER)


def _make_parts(place: Path, engine: Engine, progress: Report, note: Callable[[str], None]) -> None:
    work = parts.read_work(place)
    if work is None:
        raise ValueError(f"{str(place)!r} has gone")

    def damaged(number: int) -> None:
        note(f"block {number} was damaged and is made anew")

    missing = list(parts.missing(place, work, damaged))
    progress(work.plan.count - sum(map(work.rows, missing)))
    failed: list[Failure] = []
    for number, made in engine(work, missing):
        failed += made.failed
        if not made.failed:
            parts.keep(place, number, made)
        progress(work.rows(number) - len(made.failed))
    if failed:
        raise RowsFailedError(sorted(failed, key=lambda failure: failure.row), work.plan.count)


def _finish(folder: Path) -> Manifest:
    """Join the parts, check that no problem occurs twice, and write card and manifest."""
    place = folder / parts.FOLDER
    work = parts.read_work(place)
    if work is None:
        raise ValueError(f"{str(place)!r} has gone")
    _check_distinct(place, work)
    files = {}
    for kind in KINDS:
        path = folder / file_name(kind, work.plan.storage)
        remove_partial(path)
        write_rows(path, _lines(place, work, kind))
        files[path.name] = digest_of(path)
    manifest = make_manifest(work.plan, files)
    write(folder / card.NAME, card.card(manifest).encode())
    write_manifest(folder, manifest)
    parts.remove(place)
    return manifest


def _lines(place: Path, work: Work, kind: str) -> Iterator[bytes]:
    for number in range(work.blocks):
        with parts.part(place, number, kind).open("rb") as file:
            yield from file


def _check_distinct(place: Path, work: Work) -> None:
    """Refuse two rows with the same id: 16 bytes of memory a row."""
    decoder, digits = msgspec.json.Decoder(Row), bytearray()
    for line in _lines(place, work, PAYLOADS):
        digits += bytes.fromhex(msgspec.json.decode(decoder.decode(line)["id"]))
    ids = np.frombuffer(digits, ">u8").reshape(-1, 2)
    order = np.lexsort((ids[:, 1], ids[:, 0]))
    same = np.flatnonzero((ids[order[1:]] == ids[order[:-1]]).all(axis=1))
    if len(same):
        rows = sorted(order[same[0] : same[0] + 2].tolist())
        raise ValueError(
            f"rows {rows[0] + 1} and {rows[1] + 1} are the same problem ({len(same)} such pairs among "
            f"{work.plan.count} rows); allowed are parameters that have as many different problems, or a smaller count"
        )
