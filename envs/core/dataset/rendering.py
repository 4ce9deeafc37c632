"""The payloads of a data set as problems in natural language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from veilgym.envs.core.dataset import card
from veilgym.envs.core.dataset.files import digest_of, remove_partial, write
from veilgym.envs.core.dataset.manifest import Manifest, read_manifest, verify, write_manifest
from veilgym.envs.core.dataset.storage import Row, read_rows, write_rows
from veilgym.envs.core.family import Family
from veilgym.envs.core.prose import Choices, check_skin

MIXED = "mixed"


class Problem(msgspec.Struct, frozen=True):
    """A row of the file of problems.

    Attributes:
        id: The payload's.
        prompt: The whole problem.
        skin: The surface it is told in.
        names: The name of each symbol of the payload.
    """

    id: str
    prompt: str
    skin: str
    names: dict[str, str]


def render(
    folder: Path,
    skin: str,
    *,
    force: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
    note: Callable[[str], None] = lambda text: None,
) -> Manifest:
    """Tell every payload of a data set in natural language; the file of skeletons is not looked at.

    Args:
        folder: A finished data set.
        skin: One of the family's, or "mixed": one for each row, drawn by its content.
        force: Whether to replace problems that are there.
        progress: Called with the number of rows that have just been rendered.
        note: Called with a sentence if the card was edited and is left as it is.

    Raises:
        ValueError: there is no such skin, no data set, problems are there already, or the payloads are damaged.
    """
    family = read_manifest(folder).problem_family
    check_skin(skin, (*family.skins, MIXED))
    manifest = open_payloads(folder, force)
    return write_problems(folder, manifest, skin, _lines(folder / manifest.payloads, family, skin, progress), note)


def open_payloads(folder: Path, force: bool) -> Manifest:
    """The manifest of a data set whose payloads are whole.

    Raises:
        ValueError: there is no data set, its payloads are damaged, or problems are there already and `force` is false.
    """
    manifest = read_manifest(folder)
    path = folder / manifest.problems
    if path.exists() and not force:
        raise ValueError(f"{str(path)!r} exists; --force replaces it")
    verify(folder, manifest, manifest.payloads)
    return manifest


def write_problems(
    folder: Path, manifest: Manifest, skin: str, lines: Iterable[bytes], note: Callable[[str], None]
) -> Manifest:
    """Write the file of problems and enter it in the manifest and the card.

    Args:
        folder: The data set.
        manifest: Its manifest.
        skin: What the manifest calls the surface.
        lines: A `Problem` as JSON each.
        note: As for `render`.
    """
    path = folder / manifest.problems
    remove_partial(path)
    write_rows(path, lines)
    files = {**manifest.files, manifest.problems: digest_of(path)}
    rendered = msgspec.structs.replace(manifest, files=files, skin=skin)
    write_manifest(folder, rendered)
    _write_card(folder, manifest, rendered, note)
    return rendered


def _lines(path: Path, family: Family[Any, Any], skin: str, progress: Callable[[int], None]) -> Iterator[bytes]:
    for row in read_rows(path):
        yield msgspec.json.encode(_problem(row, family, skin), order="deterministic") + b"\n"
        progress(1)


def _problem(row: Row, family: Family[Any, Any], skin: str) -> Problem:
    payload = msgspec.json.decode(row["payload"], type=family.payload_type)
    if skin == MIXED:
        skin = family.skins[Choices(payload, MIXED).variants("skin", 1)[0] % len(family.skins)]
    rendering = family.render(payload, skin)
    return Problem(msgspec.json.decode(row["id"]), rendering.text, rendering.skin, rendering.names)


def _write_card(folder: Path, before: Manifest, after: Manifest, note: Callable[[str], None]) -> None:
    path = folder / card.NAME
    if path.exists() and path.read_bytes() != card.card(before).encode():
        note(f"{str(path)!r} has been edited and is left as it is; it does not name the problems")
    else:
        write(path, card.card(after).encode())
