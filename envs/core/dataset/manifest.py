"""What a finished data set says of itself: its plan, and the digest of each file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from veilgym.envs.core.dataset.blocks import PAYLOADS, SKELETONS
from veilgym.envs.core.dataset.files import Digest, digest_of, write
from veilgym.envs.core.dataset.plan import LAYOUT, Plan
from veilgym.envs.core.dataset.storage import file_name
from veilgym.envs.core.family import Family, load_family
from veilgym.envs.core.records import from_json

NAME = "manifest.json"
PROBLEMS = "problems"


class Manifest(Plan, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The plan of a data set and what was made by it.

    Attributes:
        files: Digest by name of file.
        skin: In which the problems are told; None if there are none yet.
    """

    files: dict[str, Digest]
    skin: str | None = None

    @property
    def plan(self) -> Plan:
        """What the data set is a function of."""
        return Plan(**{name: getattr(self, name) for name in Plan.__struct_fields__})

    @property
    def skeletons(self) -> str:
        """The name of the file that bears the answers."""
        return file_name(SKELETONS, self.storage)

    @property
    def payloads(self) -> str:
        """The name of the public file."""
        return file_name(PAYLOADS, self.storage)

    @property
    def problems(self) -> str:
        """The name of the file of problems in natural language."""
        return file_name(PROBLEMS, self.storage)

    @property
    def problem_family(self) -> Family:  # type: ignore[type-arg]
        """The family of the problems."""
        return load_family(self.family)


def make_manifest(plan: Plan, files: dict[str, Digest]) -> Manifest:
    """The manifest of a data set without problems in natural language."""
    return Manifest(**{name: getattr(plan, name) for name in Plan.__struct_fields__}, files=files)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, whole or not at all."""
    write(folder / NAME, msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a data set.

    Raises:
        ValueError: the folder has none, or one that is damaged or of another layout.
    """
    path = folder / NAME
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{str(folder)!r} is no finished data set: it has no {NAME}") from None
    manifest = from_json(data, Manifest, str(path))
    if manifest.layout != LAYOUT:
        raise ValueError(f"{path} layout: got {manifest.layout}, allowed is {LAYOUT}")
    return manifest


def verify(folder: Path, manifest: Manifest, *names: str) -> None:
    """Check files against their digests.

    Args:
        folder: The data set.
        manifest: Its manifest.
        *names: The files; a file that is not there is an error.

    Raises:
        ValueError: a file is missing or differs; the message names it.
    """
    for name in names:
        path, expected = folder / name, manifest.files.get(name)
        if expected is None or not path.is_file():
            raise ValueError(f"{str(path)!r} is missing")
        found = digest_of(path)
        if found != expected:
            raise ValueError(
                f"{str(path)!r} is not what {NAME} says: got {found.bytes} bytes with SHA-256 {found.sha256[:12]}..., "
                f"allowed are {expected.bytes} with {expected.sha256[:12]}..."
            )
