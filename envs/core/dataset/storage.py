"""Rows in files of either format: JSON lines, or Parquet with one column a field and records as JSON text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from veilgym.envs.core.dataset.files import whole

_GROUP = 1 << 24  # bytes of text after which a group of rows is closed; does not depend on the blocks

OBJECTS = ("skeleton", "payload", "names")
"""The fields of rows that are objects; all others are strings."""

Row = dict[str, msgspec.Raw]


def file_name(kind: str, storage: str) -> str:
    """The name of a file of rows."""
    return f"{kind}.{storage}"


def check_storage(storage: str) -> None:
    """Fail early if a format needs what is not installed."""
    if storage == "parquet":
        _parquet()


def write_rows(path: Path, lines: Iterable[bytes]) -> None:
    """Write JSON lines, each an object with the same fields, in the format of the path's suffix; whole or not at all.

    In Parquet a string stays a string, and an object becomes JSON text.
    """
    with whole(path) as file:
        if path.suffix == ".parquet":
            _write_parquet(file, lines)
        else:
            for line in lines:
                file.write(line)


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file of either format, one after another; each value is JSON text."""
    decoder = msgspec.json.Decoder(Row)
    for line in read_lines(path):
        yield decoder.decode(line)


def read_lines(path: Path) -> Iterator[bytes]:
    """The rows of a file of either format as JSON lines."""
    if path.suffix == ".parquet":
        yield from _read_parquet(path)
    else:
        with path.open("rb") as file:
            yield from file


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise ValueError("format 'parquet' needs pyarrow: pip install 'veilgym[data]'") from None
    return pyarrow


def _write_parquet(file: BinaryIO, lines: Iterable[bytes]) -> None:
    pyarrow, writer = _parquet(), None
    decoder = msgspec.json.Decoder(Row)
    for group in _groups(lines):
        rows = [decoder.decode(line) for line in group]
        columns = {name: [_text(name, row[name]) for row in rows] for name in rows[0]}
        schema = pyarrow.schema([(name, pyarrow.string()) for name in columns])
        writer = writer or pyarrow.parquet.ParquetWriter(file, schema, compression="zstd")
        writer.write_table(pyarrow.table(columns, schema))
    if writer is not None:
        writer.close()


def _groups(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    size = 0
    for line in lines:
        group.append(line)
        size += len(line)
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def _text(name: str, value: msgspec.Raw) -> str:
    raw = bytes(value)
    return raw.decode() if name in OBJECTS else msgspec.json.decode(raw, type=str)


def _read_parquet(path: Path) -> Iterator[bytes]:
    pyarrow = _parquet()
    with pyarrow.parquet.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            for row in file.read_row_group(group).to_pylist():
                yield msgspec.json.encode({name: _value(name, text) for name, text in row.items()}) + b"\n"


def _value(name: str, text: str) -> str | msgspec.Raw:
    return msgspec.Raw(text.encode()) if name in OBJECTS else text
