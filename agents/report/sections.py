"""The sections of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

import numpy as np

from veilgym.agents.comparison import Comparison, aggregate, neighbours
from veilgym.agents.ledger import Ledger
from veilgym.agents.reliability import reliability
from veilgym.agents.report.charts import UNIT, Mark, Scale, Series, bar, dot, plot, scale_of
from veilgym.agents.report.curves import LearningCurve
from veilgym.agents.report.markup import Child, node, table
from veilgym.agents.results import Bench
from veilgym.agents.standings import Standing
from veilgym.agents.statistics import Interval, has_quartiles, interquartile_mean, performance_profile

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"

Cell = tuple[str, Child]
"""A column's heading and what stands under it."""


def bench_section(bench: Bench, anchor: str) -> Element:
    """The ladder of an id, its comparisons, and what else its scores allow."""
    return node(
        "section",
        node("h2", bench.title, id=anchor),
        node("p", f"{bench.episodes:,} instances of the {bench.split} split, the same for all agents.", class_="muted"),
        *_ladder(bench),
        *_comparisons(bench),
        *_profiles(bench),
        *_reliabilities(bench),
    )


def _ladder(bench: Bench) -> Iterator[Element]:
    lines = sorted(bench.standings, key=lambda line: -line.score)
    has_experiments = any(line.regret.inference is not None for line in lines)
    scale = scale_of([0.0, 1.0, *(line.score for line in lines)]) if lines[-1].score < 0.0 else UNIT
    ends = [end for end in bench.ends if end is not None]
    yield node("h3", "The ladder")
    if has_experiments:
        keys = [("score", "score"), ("inference", "lost by inference"), ("choice", "lost by choice of experiments")]
        items = [node("li", node("span", class_=f"key {kind}"), name) for kind, name in keys]
        yield node("ul", *items, class_="legend")
    caption = f"Mean scores with 95 % intervals, best first. Bars run from {scale.low:g} to {scale.high:g}"
    caption += "; dotted lines: floor and ideal." if ends else "."
    yield _rows(caption, [_ladder_row(line, has_experiments, ends, scale) for line in lines])
    for run in bench.runs:
        if run.errors:
            count, first = len(run.errors), run.errors[min(run.errors, key=int)]
            text = f"{run.agent} failed on {count:,} of {bench.episodes:,} instances, which count as 0; first: {first}"
            yield node("p", node("strong", text))
    if all(not has_quartiles(np.array(run.scores)) for run in bench.runs):
        text = "A score is 0 or 1 here, so there is no interquartile mean: it would be the mean, stretched and cut off."
        yield node("p", node("small", text))


def _ladder_row(line: Standing, has_experiments: bool, ends: Sequence[float], scale: Scale) -> list[Cell]:
    parts = [(line.score, "score")]
    lost = [("below ideal", _number(line.regret.total))]
    if has_experiments:
        choice, inference = line.regret.experiments, line.regret.inference
        parts += [(max(inference or 0.0, 0.0), "inference"), (max(choice or 0.0, 0.0), "choice")]
        lost = [("lost by choice", _number(choice)), ("lost by inference", _number(inference))]
        lost.append(("experiments", f"{line.experiments:.1f}"))
    middle = interquartile_mean(np.array(line.scores)) if has_quartiles(np.array(line.scores)) else None
    label = f"{line.agent}: {line.score:.3f}"
    return [
        ("agent", node("span", line.agent, node("small", line.description, class_="muted"))),
        ("", bar(parts, line.interval, ends, scale, label)),
        ("score", _with_interval(_number(line.score, 4), line.interval)),
        *([("IQM", _with_interval(_number(middle[0], 4), middle[1]))] if middle is not None else []),
        ("normalised", _number(line.normalised)),
        *lost,
        *([("truncated", f"{line.truncated:,}")] if line.truncated else []),
    ]


def _comparisons(bench: Bench) -> Iterator[Element]:
    if len(bench.runs) < 2:
        return
    pairs = neighbours(bench)
    reach = [end for pair in pairs for end in (pair.interval or (pair.difference,))]
    scale = scale_of([0.0, *reach])
    yield node("h3", "Paired comparisons")
    caption = "Each agent beside the next one below it, on the same instances. "
    caption += f"Charts run from {scale.low:g} to {scale.high:g}, with a line at 0."
    yield _rows(caption, [_comparison_row(pair, scale) for pair in pairs])
    yield _matrix(bench)


def _comparison_row(pair: Comparison, scale: Scale) -> list[Cell]:
    label = f"{pair.first} minus {pair.second}: {pair.difference:+.3f}"
    return [
        ("agents", node("span", pair.first, node("small", f"beside {pair.second}", class_="muted"))),
        ("", dot(pair.difference, pair.interval, 0.0, scale, label)),
        ("difference", _with_interval(_number(pair.difference, 4, "+"), pair.interval)),
        ("P(better)", _with_interval(_number(pair.improvement), pair.improvement_interval)),
    ]


def _matrix(bench: Bench) -> Element:
    """The probability of improvement of every pair."""
    ranked = sorted(bench.standings, key=lambda line: -line.score)
    scores = np.array([line.scores for line in ranked])
    shares = [(np.sign(row - scores).mean(axis=1) + 1.0) / 2.0 for row in scores]
    rows = [[line.agent, *(f"{share:.2f}" for share in row)] for line, row in zip(ranked, shares, strict=True)]
    caption = "How often the agent of a row scores higher than that of a column, ties counted half"
    found = table(caption, ["", *(line.agent for line in ranked)], rows, "matrix")
    cells = found.findall(".//td")
    for cell, share in zip(cells, np.concatenate(shares), strict=True):
        cell.set("style", f"--v:{100 * share:.0f}%")
    return node("details", node("summary", "All pairs"), found)


def _profiles(bench: Bench) -> Iterator[Element]:
    """Performance profiles, where a score is more than right or wrong."""
    runs = [run for run in bench.runs if has_quartiles(np.array(run.scores))]
    if not runs:
        return
    scores = [value for run in runs for value in run.scores]
    low, high = min(0.0, *scores), max(1.0, *scores)
    profiles = [performance_profile(np.array(run.scores), np.linspace(low, high, 41)) for run in runs]
    series = [
        Series(run.agent, tuple((at, share) for at, share, _ in profile), tuple(interval for *_, interval in profile))
        for run, profile in zip(runs, profiles, strict=True)
    ]
    yield node("h3", "Performance profiles")
    label = "Share of instances with a score above a threshold, for each agent"
    x = UNIT if (low, high) == (0.0, 1.0) else scale_of([low, high])
    yield plot(label, ("threshold", "share of instances that score above it"), (x, UNIT), series)
    every = range(0, 41, 4)
    head = ["above", *(run.agent for run in runs)]
    rows = [[f"{profiles[0][k][0]:.2f}", *(f"{profile[k][1]:.3f}" for profile in profiles)] for k in every]
    yield node("details", node("summary", "The profiles in numbers"), table(label, head, rows))


def _reliabilities(bench: Bench) -> Iterator[Element]:
    for run in bench.runs:
        if run.claimed is None or run.observed is None:
            continue
        found = reliability(run.claimed, run.observed)
        most = max(b.instances for b in found.bins)
        marks = [Mark(b.claimed, b.observed, b.interval, b.instances / most) for b in found.bins]
        title = f"Reliability of {run.agent}"
        yield node("h3", title)
        text = (
            f"Of the answers that it holds to be right with a probability, how many are? On the line it is right as "
            f"often as it claims. Mean squared error {found.squared:.4f}, mean gap {found.gap:.4f}; the area of a "
            f"point grows with its instances."
        )
        yield node("p", text)
        chart = plot(title, ("claimed", "observed"), (UNIT, UNIT), marks=marks, diagonal=True)
        chart.set("class", "square")
        yield chart
        rows = [[f"{b.claimed:.3f}", f"{b.observed:.3f}", _range(b.interval), f"{b.instances:,}"] for b in found.bins]
        yield table(f"{title}, in numbers", ["claimed", "observed", "95 % interval", "instances"], rows)


def aggregate_section(benches: list[Bench], anchor: str) -> Element | None:
    """The agents of one id over several settings; None where there are no two with a scale."""
    lines = aggregate(benches) if len(benches) > 1 else []
    if not lines:
        return None
    scale = scale_of([0.0, 1.0, *(line.score for line in lines)])
    rows: list[list[Cell]] = [
        [
            ("agent", line.agent),
            ("", bar([(line.score, "score")], line.interval, [0.0, 1.0], scale, f"{line.agent}: {line.score:.3f}")),
            ("normalised", _with_interval(_number(line.score, 4), line.interval)),
        ]
        for line in lines
    ]
    caption = f"Mean normalised score over {len(benches)} settings, each counting the same; intervals are stratified"
    settings = ", ".join(bench.title for bench in benches)
    return node(
        "section",
        node("h2", f"{benches[0].env_id}, all settings", id=anchor),
        node("p", f"{settings}.", class_="muted"),
        _rows(caption, rows),
    )


def ledger_section(ledger: Ledger, anchor: str) -> Element:
    """A shortcut ledger as a table."""
    settings = list(dict.fromkeys(line.setting for line in ledger.lines))
    cells = {(line.setting, line.strategy): line for line in ledger.lines}
    rows = []
    for strategy in dict.fromkeys(line.strategy for line in ledger.lines):
        found = [cells.get((setting, strategy)) for setting in settings]
        gates = dict.fromkeys(f"{line.gate[0]} {line.gate[1]:g}" for line in found if line and line.gate)
        texts = ["" if line is None else f"{line.score:.3f} ({_range(line.interval)})" for line in found]
        marked = [
            text if line is None or line.is_kept else f"{text} fails" for line, text in zip(found, texts, strict=True)
        ]
        rows.append([strategy, *marked, ", ".join(gates) or "reported"])
    caption = (
        f"Mean score with its 95 % interval over {ledger.episodes:,} test instances a setting; classifiers trained on "
        f"{ledger.training:,}; seed {ledger.seed}; veilgym {ledger.veilgym}"
    )
    notes = [node("li", f"{name}: {value}") for name, value in ledger.notes.items()]
    return node(
        "section",
        node("h2", f"Shortcut ledger of {ledger.env_id}", id=anchor),
        node("p", "What strategies score that do not do what is asked for. A gate is what a score has to keep to."),
        table(caption, ["strategy", *settings, "gate"], rows, "wide-first"),
        node("details", node("summary", "Notes"), node("ul", *notes)) if notes else None,
    )


def curves_section(curves: Sequence[LearningCurve], anchor: str) -> Element:
    """Learning curves, a plot for each id and length."""
    parts: list[Element] = []
    for title in dict.fromkeys(curve.title for curve in curves):
        group = [curve for curve in curves if curve.title == title]
        levels = list(dict(level for curve in group for level in curve.levels).items())
        heights = [value for curve in group for value in curve.scores]
        heights += [end for curve in group for interval in curve.intervals if interval for end in interval]
        y = scale_of([*heights, *(value for _, value in levels)])
        most = max(curve.steps[-1] for curve in group)
        x = Scale(0.0, most, tuple(tick for tick in scale_of([0.0, most]).ticks if tick <= most))
        series = [Series(c.name, tuple(zip(c.steps, c.scores, strict=True)), c.intervals) for c in group]
        label = f"Learning curves{f' on {title}' if title else ''}"
        rows = [[c.name, f"{c.steps[-1]:,.0f}", _number(c.scores[-1]), _number(max(c.scores))] for c in group]
        parts += [
            node("h3", title or "Training"),
            plot(label, ("steps", "mean score"), (x, y), series, levels),
            table(f"{label}, where they end", ["run", "steps", "last score", "best score"], rows),
        ]
    return node("section", node("h2", "Learning curves", id=anchor), *parts)


def _rows(caption: str, rows: Sequence[Sequence[Cell]]) -> Element:
    """A table with a chart in each row, which becomes a list of cards on a phone."""
    heads = list(dict.fromkeys((k, name) for row in rows for k, (name, _) in enumerate(row)))
    width = max(map(len, rows))
    names = [next(name for k, name in heads if k == column) for column in range(width)]
    filled = [[*(cell for _, cell in row), *[""] * (width - len(row))] for row in rows]
    found = table(caption, names, filled, "rows")
    # With another display, browsers no longer take the parts of a table for what they are.
    for tag, role in (("table", "table"), ("thead", "rowgroup"), ("tbody", "rowgroup"), ("tr", "row"), ("td", "cell")):
        for part in found.iter(tag):
            part.set("role", role)
    for line in found.iter("tr"):
        for name, part in zip(names, list(line), strict=True):
            if part.tag == "td":
                part.set("data-label", name)
                part.set("class", "chart" if part.find("svg") is not None else "text")
            else:
                part.set("role", "columnheader" if part.get("scope") == "col" else "rowheader")
    return found


def _with_interval(text: str, interval: Interval) -> Element:
    return node("span", text, None if interval is None else node("small", _range(interval)))


def _number(value: float | None, digits: int = 3, sign: str = "") -> str:
    if value is None:
        return DASH
    text = f"{value:{sign}.{digits}f}"
    return text.lstrip("+-") if float(text) == 0.0 else text.replace("-", MINUS)


def _range(interval: Interval) -> str:
    if interval is None:
        return DASH
    low, high = interval
    digits = 3 if high - low >= 0.002 or low == high else 4
    return f"{_number(low, digits)} to {_number(high, digits)}"
