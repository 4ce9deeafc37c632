"""`veilgym report`: results as tables, or as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veilgym.commands.ladder_table import comparison_text, print_bench
from veilgym.commands.terminal import check_writable, plain_errors, write_text

if TYPE_CHECKING:
    from veilgym.agents.ledger import Ledger
    from veilgym.agents.results import Results

Files = Annotated[list[Path], typer.Argument(help="Results of `veilgym bench`, one version, seed and split.")]
Out = Annotated[Path | None, typer.Option(help="Where the HTML page goes; without it only tables are printed.")]
Compare = Annotated[
    list[str] | None, typer.Option(help="Two agents, 'A,B': how A does beside B on the same instances; repeatable.")
]
Ledgers = Annotated[
    Path | None,
    typer.Option("--ledger", help="Folder with the ledgers of `veilgym ledger`; those of a checkout if not given."),
]
Training = Annotated[
    list[Path] | None, typer.Option(help="Folder of `veilgym train` with learning curves; repeatable.")
]


def report(
    results: Files,
    out: Out = None,
    compare: Compare = None,
    ledgers: Ledgers = None,
    training: Training = None,
) -> None:
    """Print the tables of results again, without playing, and write them as one self-contained HTML page."""
    with plain_errors():
        from veilgym.agents.results import load_results, merge_results

        if out is None and (ledgers is not None or training):
            raise ValueError("--ledger and --training need --out: they are shown on the page alone")
        if out is not None:
            check_writable(out)
        merged = merge_results([load_results(path) for path in results])
        pairs = [_pair(text) for text in compare or []]
        lines = [line for pair in pairs for line in _compare(merged, *pair)]
        page = None
        if out is not None:
            from veilgym.agents.report.curves import read_curves
            from veilgym.agents.report.page import build_report

            curves = [curve for folder in training or [] for curve in read_curves(folder)]
            page = build_report(merged, _ledgers(ledgers, merged), curves)
        if out is not None and page is not None:
            write_text(out, page)  # first, as whoever reads the tables may close the pipe
        for result in merged.benches:
            print_bench(result)
        for line in lines:
            typer.echo(line)
        if out is not None:
            typer.echo(f"report: {out}")


def _pair(text: str) -> tuple[str, str]:
    names = tuple(name.strip() for name in text.split(","))
    if len(names) != 2 or not all(names):
        raise ValueError(f"--compare must name two agents with a comma between them, got {text!r}")
    return names[0], names[1]


def _compare(results: Results, first: str, second: str) -> list[str]:
    """A line for each id that has both agents; an error if none has."""
    from veilgym.agents.comparison import compare

    known = [{run.agent for run in bench.runs} for bench in results.benches]
    both = [bench for bench, names in zip(results.benches, known, strict=True) if {first, second} <= names]
    if not both:
        compare(results.benches[0], first, second)  # says which agents there are
        raise ValueError(f"--compare needs two agents of one id, got {first!r} and {second!r}")
    return [f"{bench.title}: {comparison_text(compare(bench, first, second))}" for bench in both]


def _ledgers(folder: Path | None, results: Results) -> list[Ledger]:
    """The ledgers of the ids in the results: those in `folder`, or in the checkout if there is one."""
    import veilgym
    from veilgym.agents.ledger import read_ledger

    if folder is not None and not folder.is_dir():
        raise ValueError(f"--ledger must be a folder with the files of `veilgym ledger`, got {str(folder)!r}")
    root = folder if folder is not None else Path(veilgym.__file__).with_name("benchmarks") / "ledger"
    ids = dict.fromkeys(bench.env_id for bench in results.benches)
    found = [read_ledger(path) for path in (root / f"{name}.json" for name in ids) if path.is_file()]
    if folder is not None and not found:
        allowed = ", ".join(f"{name}.json" for name in ids)
        raise ValueError(f"--ledger must be a folder with {allowed}, got {str(folder)!r}, which has none of them")
    return found
