"""The data-set card: README.md with a head that Hugging Face's `datasets` reads."""

from __future__ import annotations

from veilgym.envs.core.dataset.blocks import FIELD, PAYLOADS, SKELETONS
from veilgym.envs.core.dataset.manifest import PROBLEMS, Manifest

NAME = "README.md"

_ABOUT = {
    PAYLOADS: "public: an opaque id and the payload, all that a solver may see",
    PROBLEMS: "public: an opaque id and the payload as a problem in natural language",
    SKELETONS: "complete records **with the answers**; keep them from whoever is to be tested",
}

_CLOSING = """\
`load_dataset(folder)` loads the payloads, `load_dataset(folder, "{other}")` another file; the folder must be an
absolute path. `manifest.json` has the parameters, the seed and the digest of each file. Whoever has the seed can make
the answers: where they are to stay secret, keep the manifest with the skeletons."""


def card(manifest: Manifest) -> str:
    """The text of the card, a function of the manifest."""
    kinds = [kind for kind in _ABOUT if f"{kind}.{manifest.storage}" in manifest.files]
    lines = ["---", "configs:"]
    for kind in kinds:
        lines += [f"- config_name: {kind}", *(["  default: true"] if kind == PAYLOADS else []), "  data_files:"]
        lines += [f"  - split: {manifest.split}", f"    path: {kind}.{manifest.storage}"]
    lines += ["dataset_info:"]
    for kind in kinds:
        lines += [f"- config_name: {kind}", "  features:"]
        lines += [line for field in _fields(kind) for line in _feature(field, manifest.storage)]
    lines += ["---", "", f"# {manifest.family}: {manifest.count} problems of the {manifest.split} split", ""]
    lines += [f"Made by `veilgym generate` {manifest.veilgym}.", "", "| file | rows |", "|---|---|"]
    lines += [f"| `{kind}.{manifest.storage}` | {_ABOUT[kind]} |" for kind in kinds]
    lines += ["", _CLOSING.format(other=kinds[-1])]
    if manifest.storage == "jsonl":
        lines += [
            "",
            "`datasets` keeps ten digits of the numbers in JSON lines; Parquet (`--format parquet`) keeps all.",
        ]
    return "\n".join(lines) + "\n"


def _fields(kind: str) -> tuple[str, ...]:
    return ("id", "prompt", "skin", "names") if kind == PROBLEMS else ("id", FIELD[kind])


def _feature(field: str, storage: str) -> list[str]:
    # Records differ in their keys and mix numbers with text, so they are no columns of Arrow: JSON values, or its text.
    is_object = field in ("names", *FIELD.values())
    return [f"  - name: {field}", f"    dtype: {'json' if is_object and storage == 'jsonl' else 'string'}"]
