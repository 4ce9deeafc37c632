"""Files that are written whole or not at all, and their digests."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

_PIECE = 1 << 20


class Digest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Size and SHA-256 (64 hexadecimal digits) of a file."""

    bytes: int
    sha256: str


def digest_of(path: Path) -> Digest:
    """The digest of a file."""
    with path.open("rb") as file:
        found, size = hashlib.sha256(), 0
        while piece := file.read(_PIECE):
            found.update(piece)
            size += len(piece)
    return Digest(size, found.hexdigest())


@contextlib.contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which gets its name at the end, or is removed if anything goes wrong.

    The name it has until then carries the process's number, so that two processes never write to the same file.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and (error.filename is None or str(error.filename) == str(partial)):
            error.filename = str(path)  # a full disk does not say which file it was, and nobody knows the other name
        raise


def write(path: Path, data: bytes) -> Digest:
    """Write a whole file or nothing."""
    with whole(path) as file:
        file.write(data)
    return Digest(len(data), hashlib.sha256(data).hexdigest())


def remove_partial(path: Path) -> None:
    """Remove what processes that were killed have left of a file."""
    for partial in path.parent.glob(f"{path.name}.*.part"):
        partial.unlink()
