"""An append-only journal of finished ids, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

import msgspec

from veilgym.envs.core.fidelity import Fault
from veilgym.envs.core.records import to_json
from veilgym.wrappers.model_renderer import Spent


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the finished ids of a journal are a result of.

    Attributes:
        veilgym: Version of the package.
        payloads: SHA-256 of the payloads.
        model: As it was asked for.
        settings: Of the renderer and the model, as text.
    """

    veilgym: str
    payloads: str
    model: str
    settings: dict[str, str]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One finished id: a rendering, or the faults for which it was rejected.

    Attributes:
        id: The row's.
        text, names: The rendering; None and empty if there is none.
        faults: Of the last try.
        reply: The last reply, if it was rejected.
        spent: On it.
    """

    id: str
    text: str | None
    names: dict[str, str]
    faults: list[Fault]
    reply: str
    spent: Spent


class Journal:
    """A file with a header and one entry a line. Each line is on disk before the next id is begun.

    Attributes:
        entries: Those that are finished, by id.
    """

    def __init__(self, path: Path, header: Header) -> None:
        """Open the journal, or begin one.

        Raises:
            ValueError: it is damaged, or of other payloads, settings or another model or version.
        """
        self.entries: dict[str, Entry] = {}
        self._path = path
        kept = self._read(header) if path.exists() else 0
        self._file = path.open("ab")
        self._file.truncate(kept)
        if not kept:
            self._write(to_json(header))

    def add(self, entry: Entry) -> None:
        """Finish one more id."""
        self._write(to_json(entry))
        self.entries[entry.id] = entry

    def forget(self, ids: Iterable[str]) -> None:
        """Let ids be done again: later entries stand for earlier ones."""
        for name in list(ids):
            self.entries.pop(name, None)

    def _write(self, line: bytes) -> None:
        self._file.write(line + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read(self, header: Header) -> int:
        """Read what is there; return the length of its whole lines, without one that a stop has cut short."""
        data = self._path.read_bytes()
        kept = data.rfind(b"\n") + 1
        first, *rest = data[:kept].split(b"\n")[:-1] or [b""]
        if not first:
            return 0
        found = self._decode(first, Header, 1)
        for name in Header.__struct_fields__:
            old, new = getattr(found, name), getattr(header, name)
            if old != new:
                raise ValueError(f"{self._path} {name}: got {new!r}, allowed is that of the first run: {old!r}")
        for number, line in enumerate(rest, 2):
            entry = self._decode(line, Entry, number)
            self.entries[entry.id] = entry
        return kept

    def _decode(self, line: bytes, kind: type, number: int):  # type: ignore[no-untyped-def]
        try:
            return msgspec.json.decode(line, type=kind)
        except msgspec.MsgspecError as error:
            raise ValueError(f"{self._path} line {number} is damaged: {error}") from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()
