"""Scoring a file of answers to a data set."""

from __future__ import annotations

import json
import tempfile
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec
import numpy as np

from veilgym import __version__
from veilgym.agents.statistics import score_interval, wilson_interval
from veilgym.envs.core.dataset.files import Digest, digest_of
from veilgym.envs.core.dataset.manifest import Manifest, read_manifest, verify
from veilgym.envs.core.dataset.storage import Row, read_lines
from veilgym.envs.core.family import Family

Status = Literal["correct", "wrong", "scored", "unparsed", "missing"]


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one problem's answer is worth.

    Attributes:
        id: The problem's.
        status: "correct" or "wrong" for a query, "scored" for an answer that may be right in part; "unparsed" if the
            answer cannot be read, "missing" if there is none.
        score: 0 to 1; 0 if unparsed or missing.
        reason: Why it is unparsed.
    """

    id: str
    status: Status
    score: float
    reason: str = ""


class Scores(msgspec.Struct, frozen=True):
    """The scores of a file of answers: a function of that file and the data set.

    Attributes:
        veilgym: Version of the package that scored.
        family, split, count: Of the data set.
        skeletons, answers: Digests of the file of skeletons and of the file of answers.
        statuses: How many rows have each status.
        score: Mean over all rows; of a query family this is the accuracy.
        interval: 95 %: Wilson's for an accuracy, bootstrap for a mean score; None for very few scores.
        normalised, normalised_interval: The same on the scale from `floor` (0) to `ideal` (1), see `Family`; None for
            tasks for which the ends of that scale are not known.
        floor, ideal: The ends of that scale.
        rows: One verdict a row, in the order of the data set.
    """

    veilgym: str
    family: str
    split: str
    count: int
    skeletons: Digest
    answers: Digest
    statuses: dict[str, int]
    score: float
    interval: tuple[float, float] | None
    normalised: float | None
    normalised_interval: tuple[float, float] | None
    floor: float | None
    ideal: float | None
    rows: list[Verdict]


def score_answers(folder: Path, answers: Path, progress: Callable[[int], None] = lambda rows: None) -> Scores:
    """Score a file of answers, one JSON object with an `id` and an `answer` a line, in any order.

    An answer is a string, which may be the raw reply of a language model, or JSON. Further fields are not looked at.

    Args:
        folder: A finished data set; its files are checked against the manifest first.
        answers: The file; read line by line.
        progress: Called with the number of lines that have just been scored.

    Raises:
        ValueError: the data set is damaged, or a line of the answers is no such object, has an unknown id or one that
            another line has had; the message names the line.
    """
    manifest = read_manifest(folder)
    verify(folder, manifest, *dict.fromkeys([manifest.skeletons, *_present(folder, manifest)]))
    family = manifest.problem_family
    with _Skeletons(folder / manifest.skeletons, family) as skeletons:
        verdicts: list[Verdict | None] = [None] * len(skeletons.places)
        lines = array("q", bytes(8 * len(verdicts)))
        for number, row_id, raw in _read_answers(answers):
            row = skeletons.places.get(row_id)
            if row is None:
                raise ValueError(f"{answers} line {number}: id {row_id!r} is not in the data set")
            if lines[row]:
                raise ValueError(f"{answers} line {number}: id {row_id!r} has an answer on line {lines[row]} already")
            lines[row] = number
            verdicts[row] = _judge(row_id, _answer(raw, family), skeletons.read(row), family)
            progress(1)
        rows = [verdicts[row] or Verdict(row_id, "missing", 0.0) for row_id, row in skeletons.places.items()]
    return _summarise(manifest, family, digest_of(answers), rows)


def _present(folder: Path, manifest: Manifest) -> list[str]:
    """The files that are there; the public ones may have been left elsewhere."""
    return [name for name in manifest.files if (folder / name).exists()]


def _judge(row_id: str, answer: Any, skeleton: Any, family: Family[Any, Any]) -> Verdict:
    from veilgym.envs.core.replies import Unparsed

    found = family.read_answer(answer, family.payload(skeleton))
    if isinstance(found, Unparsed):
        return Verdict(row_id, "unparsed", 0.0, found.sentence)
    score = family.score(skeleton, found)
    if family.is_graded:
        return Verdict(row_id, "scored", score)
    return Verdict(row_id, "correct" if score == 1.0 else "wrong", score)


def _summarise(manifest: Manifest, family: Family[Any, Any], answers: Digest, rows: list[Verdict]) -> Scores:
    kinds: tuple[Status, ...] = ("scored",) if family.is_graded else ("correct", "wrong")
    statuses: dict[str, int] = dict.fromkeys([*kinds, "unparsed", "missing"], 0)
    for row in rows:
        statuses[row.status] += 1
    scores = np.array([row.score for row in rows])
    mean = float(scores.mean())
    interval = score_interval(scores) if family.is_graded else wilson_interval(statuses["correct"], len(rows))
    has_scale = family.has_scale(manifest.parameters)
    return Scores(
        veilgym=__version__,
        family=manifest.family,
        split=manifest.split,
        count=manifest.count,
        skeletons=manifest.files[manifest.skeletons],
        answers=answers,
        statuses=statuses,
        score=mean,
        interval=interval,
        normalised=family.normalise(mean) if has_scale else None,
        normalised_interval=_normalised(interval, family) if has_scale else None,
        floor=family.floor if has_scale else None,
        ideal=family.ideal if has_scale else None,
        rows=rows,
    )


def _normalised(interval: tuple[float, float] | None, family: Family[Any, Any]) -> tuple[float, float] | None:
    return None if interval is None else (family.normalise(interval[0]), family.normalise(interval[1]))


class _Skeletons:
    """The skeletons of a data set by row; they stay on disk.

    Attributes:
        places: The row of each id, in the order of the rows.
    """

    def __init__(self, path: Path, family: Family[Any, Any]) -> None:
        self._type = family.skeleton_type
        self._offsets = array("q")
        self.places: dict[str, int] = {}
        # A column of Parquet cannot be read row by row.
        self._file: BinaryIO = path.open("rb") if path.suffix == ".jsonl" else _spool(path)
        offset, decoder = 0, msgspec.json.Decoder(Row)
        for line in self._file:
            self.places[msgspec.json.decode(decoder.decode(line)["id"], type=str)] = len(self._offsets)
            self._offsets.append(offset)
            offset += len(line)

    def read(self, row: int) -> Any:
        """The skeleton of a row."""
        self._file.seek(self._offsets[row])
        fields = msgspec.json.decode(self._file.readline(), type=Row)
        return msgspec.json.decode(fields["skeleton"], type=self._type)

    def __enter__(self) -> _Skeletons:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _spool(path: Path) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115, closed by the skeletons
    for line in read_lines(path):
        file.write(line)
    file.seek(0)
    return file


def _read_answers(path: Path) -> Iterator[tuple[int, str, bytes]]:
    """Number, id and answer of each line; the answer as JSON text."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                yield number, *_read_line(f"{path} line {number}", line)
    except OSError as error:
        raise ValueError(f"answers file {str(path)!r} cannot be read: {error.strerror}") from None


def _read_line(place: str, line: bytes) -> tuple[str, bytes]:
    if not line.strip():
        raise ValueError(f"{place}: is empty; allowed is an object with an id and an answer")
    try:
        fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        names = [name for name, _ in json.loads(line, object_pairs_hook=list)]
    except msgspec.ValidationError:
        raise ValueError(f"{place}: got {_short(line)}, allowed is an object with an id and an answer") from None
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise ValueError(f"{place}: is not JSON: {error}") from None
    for name in ("id", "answer"):
        if names.count(name) != 1:
            how = "no" if name not in names else f"{names.count(name)} times the"
            raise ValueError(f"{place}: has {how} field {name!r}, allowed is one")
    row_id = json.loads(bytes(fields["id"]))
    if not isinstance(row_id, str):
        raise ValueError(f"{place}: id is {_short(fields['id'])} of type {type(row_id).__name__}, allowed is a string")
    return row_id, bytes(fields["answer"])


def _answer(raw: bytes, family: Family[Any, Any]) -> Any:
    """What the reader of replies gets: a matrix as its JSON text, on which that reader is strict."""
    if family.is_graded and raw[:1] in (b"[", b"{"):
        return raw.decode()
    return json.loads(raw)


def _short(data: Any) -> str:
    text = bytes(data).decode(errors="replace").strip()
    return text if len(text) <= 60 else f"{text[:57]}..."
