"""The ladder of agents as a table of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from veilgym.agents.comparison import Comparison
    from veilgym.agents.results import Bench
    from veilgym.agents.statistics import Interval


def print_bench(result: Bench) -> None:
    """Print the table, and a note on what is missing from it, or for an agent that failed or ran into the limit."""
    Console().print(ladder_table(result))
    if result.ideal is not None and all(run.agent != result.ideal for run in result.runs):
        note = f"note: {result.ideal!r} has not played these instances, so nothing is measured against it"
        Console().print(note, highlight=False, markup=False)
    for run in result.runs:
        if run.errors:
            place = min(run.errors, key=int)
            failed = f"note: {run.agent} failed on {len(run.errors)} of {result.episodes} instances, which count as 0"
            note = f"{failed}; the first, {result.instances[int(place)]}: {run.errors[place]}"
            Console().print(note, highlight=False, markup=False)
    for line in result.standings:
        if line.truncated:
            note = f"note: {line.agent} ran into the step limit in {line.truncated} of {result.episodes} episodes"
            Console().print(note, highlight=False, markup=False)


def ladder_table(result: Bench) -> Table:
    """A line for each agent, in the order of the results."""
    title = f"{result.title}: {result.episodes} {result.split} instances, seed {result.seed}"
    table = Table(title=escape(title), title_style="bold", box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    # Ids without experiments have nothing to lose by choosing them.
    has_experiments = any(line.regret.inference is not None for line in result.standings)
    losses = ("exper-\niments", "lost by\nchoice", "lost by\ninfer.") if has_experiments else ("below\nideal",)
    table.add_column("\nagent", no_wrap=True)
    for heading in ("\nscore", "95 %\ninterval", "\nnorm.", *losses, "episodes\n/ s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in result.standings:
        lost = (f"{line.experiments:.1f}", number_text(line.regret.experiments), number_text(line.regret.inference))
        table.add_row(
            escape(line.agent),
            f"{line.score:.4f}",
            interval_text(line.interval),
            number_text(line.normalised),
            *(lost if has_experiments else (number_text(line.regret.total),)),
            f"{line.episodes_per_second:,.0f}",
        )
    return table


def comparison_text(found: Comparison) -> str:
    """A paired comparison in a sentence."""
    return (
        f"{found.first} scores {found.difference:+.4f} ({interval_text(found.interval)}) beside {found.second}, "
        f"and is better on a share of {found.improvement:.3f} ({interval_text(found.improvement_interval)}) of the "
        f"same {found.instances:,} instances, ties counted half"
    )


def interval_text(interval: Interval) -> str:
    """An interval in three digits; "-" for none."""
    if interval is None:
        return "-"
    low, high = (number_text(end) for end in interval)
    return f"{low} to {high}" if low.startswith("-") or high.startswith("-") else f"{low}-{high}"


def number_text(value: float | None) -> str:
    """A number in three digits without a negative zero; "-" for none."""
    return "-" if value is None else f"{value:.3f}".replace("-0.000", "0.000")
