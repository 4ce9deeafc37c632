"""A data set's payloads told by a language model: problems for the faithful renderings, a list of the others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from veilgym.envs.core.dataset.files import write
from veilgym.envs.core.dataset.rendering import Problem, open_payloads, write_problems
from veilgym.envs.core.dataset.storage import read_rows
from veilgym.wrappers.model_run import Progress, Report, Settings, render_with_model

JOURNAL = "problems.journal.jsonl"
REJECTED = "rejected.jsonl"


def render_dataset(
    folder: Path,
    model: Any,
    settings: Settings,
    *,
    force: bool = False,
    again: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
    note: Callable[[str], None] = lambda text: None,
    **model_args: Any,
) -> Report:
    """Let a model tell the payloads of a data set; the file of skeletons is not looked at.

    What is finished is kept in the folder's journal, and a second run does the rest. When every row is finished, the
    faithful renderings become the data set's problems, in the order of its rows, and the rejected rows a list with
    their faults. The journal stays: with it, `again` asks only for what was rejected.

    Args:
        folder: A finished data set of a query family.
        model: As for `render_with_model`.
        settings: How the model renders.
        force: Whether to replace problems that are there.
        again: Whether to ask again for rows that were rejected before.
        progress, note: As for `render_with_model` and the rendering of skins.
        **model_args: For inspect-ai's `get_model`.

    Raises:
        ValueError: an argument is wrong, the data set or the journal is damaged, or the model cannot be reached.
    """
    manifest = open_payloads(folder, force or again)
    family = manifest.problem_family
    rows = [
        (msgspec.json.decode(row["id"]), msgspec.json.decode(row["payload"], type=family.payload_type))
        for row in read_rows(folder / manifest.payloads)
    ]
    report = render_with_model(rows, model, folder / JOURNAL, settings, again=again, progress=progress, **model_args)
    if not report.is_finished:
        return report
    write(folder / REJECTED, b"".join(msgspec.json.encode(row) + b"\n" for row in report.rejected.values()))
    if report.renderings:
        problems = (Problem(row_id, r.text, r.skin, r.names) for row_id, r in report.renderings.items())
        skin = next(iter(report.renderings.values())).skin
        lines = (msgspec.json.encode(problem, order="deterministic") + b"\n" for problem in problems)
        write_problems(folder, manifest, skin, lines, note)
    return report
