"""The blocks of an unfinished data set on disk, so that a second run goes on where the first was stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from veilgym.envs.core.dataset.blocks import KINDS, block
from veilgym.envs.core.dataset.files import Digest, digest_of, write
from veilgym.envs.core.dataset.plan import Plan
from veilgym.envs.core.records import to_json

FOLDER = ".veilgym-parts"


class Work(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plan, and how its rows are divided into blocks."""

    plan: Plan
    block_size: int

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return -(-self.plan.count // self.block_size)

    def rows(self, number: int) -> int:
        """The number of rows in a block."""
        return min(self.block_size, self.plan.count - number * self.block_size)


def read_work(folder: Path) -> Work | None:
    """What was begun in a folder of parts; None if nothing was.

    Raises:
        ValueError: the file that says so is damaged, or of another version.
    """
    path = folder / "work.json"
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Work)
    except msgspec.MsgspecError:
        raise ValueError(f"{str(path)!r} is damaged or of another version; --force starts anew") from None


def begin(folder: Path, work: Work) -> None:
    """Make the folder of parts."""
    folder.mkdir(exist_ok=True)
    write(folder / "work.json", to_json(work))


def make_part(folder: Path, work: Work, number: int) -> int:
    """Make a block and write it; its receipt comes last, so a block with a receipt is whole. Returns its rows."""
    rows = work.rows(number)
    made = block(work.plan, number * work.block_size, rows)
    receipt = {kind: write(part(folder, number, kind), data) for kind, data in made.items()}
    write(_receipt(folder, number), msgspec.json.encode(receipt))
    return rows


def missing(folder: Path, work: Work, damaged: Callable[[int], None]) -> Iterator[int]:
    """The blocks that have to be made: those without a receipt, and those (`damaged` is told) that do not fit it."""
    for number in range(work.blocks):
        if not _receipt(folder, number).exists():
            yield number
        elif not _is_whole(folder, number):
            damaged(number)
            yield number


def part(folder: Path, number: int, kind: str) -> Path:
    """The file of one kind of a block."""
    return folder / f"{number:07d}.{kind}.jsonl"


def remove(folder: Path) -> None:
    """Remove the parts, the mark that they are parts last."""
    for path in folder.iterdir():
        if path.name != "work.json":
            path.unlink()
    shutil.rmtree(folder)


def _receipt(folder: Path, number: int) -> Path:
    return folder / f"{number:07d}.json"


def _is_whole(folder: Path, number: int) -> bool:
    try:
        receipt = msgspec.json.decode(_receipt(folder, number).read_bytes(), type=dict[str, Digest])
        return set(receipt) == set(KINDS) and all(
            digest_of(part(folder, number, kind)) == digest for kind, digest in receipt.items()
        )
    except (OSError, msgspec.MsgspecError):
        return False
