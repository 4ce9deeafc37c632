"""The report: one HTML page without scripts, fonts or anything else from outside."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from xml.etree.ElementTree import Element

from veilgym.agents.ledger import Ledger
from veilgym.agents.report.curves import LearningCurve
from veilgym.agents.report.markup import node, print_page
from veilgym.agents.report.sections import aggregate_section, bench_section, curves_section, ledger_section
from veilgym.agents.results import Results

# The browser itself then refuses whatever is not in the file.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
GUIDE = (
    ("Score", "the mean over instances, each played once; every agent plays the same ones."),
    (
        "Normalised",
        "the score on the scale from the floor, an agent that uses no evidence (0), to the ideal observer (1).",
    ),
    ("IQM", "the interquartile mean: of the middle half of the instances, ordered by score."),
    (
        "95 % interval",
        "a bootstrap over instances; in a ladder Wilson's where all scores are 0, or all 1. Differences are paired.",
    ),
    (
        "P(better)",
        "the share of instances on which the first agent scores higher, ties counted half: 0.5 is no difference.",
    ),
    (
        "Lost by choice, lost by inference",
        "what separates an agent from the ideal observer: the data that it gathered, and what it made of them.",
    ),
)


def build_report(results: Results, ledgers: Sequence[Ledger] = (), curves: Sequence[LearningCurve] = ()) -> str:
    """The page as text; equal results make equal pages.

    Args:
        results: As of `load_results` or `merge_results`.
        ledgers: Shortcut ledgers.
        curves: Learning curves.
    """
    sections = _sections(results, ledgers, curves)
    links = [node("li", node("a", title, href=f"#{anchor}")) for anchor, title, _ in sections]
    style = files("veilgym.agents.report").joinpath("style.css").read_text("utf-8")
    head = node(
        "head",
        node("meta", charset="utf-8"),
        node("meta", http_equiv="Content-Security-Policy", content=POLICY),
        node("meta", name="viewport", content="width=device-width, initial-scale=1"),
        node("meta", name="color-scheme", content="light dark"),
        node("title", "VeilGym report"),
        node("style", style),
    )
    body = node(
        "body",
        node("header", node("h1", "VeilGym report"), _facts(results)),
        node("nav", node("ul", *links), aria_label="Sections"),
        node("main", *(section for *_, section in sections), _guide()),
    )
    return print_page(node("html", head, body, lang="en"))


def _sections(
    results: Results, ledgers: Sequence[Ledger], curves: Sequence[LearningCurve]
) -> list[tuple[str, str, Element]]:
    found: list[tuple[str, str, Element]] = []
    for bench in results.benches:
        anchor = f"s{len(found)}"
        found.append((anchor, bench.title, bench_section(bench, anchor)))
    for env_id in dict.fromkeys(bench.env_id for bench in results.benches):
        anchor = f"s{len(found)}"
        section = aggregate_section([bench for bench in results.benches if bench.env_id == env_id], anchor)
        if section is not None:
            found.append((anchor, f"{env_id}, all settings", section))
    if curves:
        anchor = f"s{len(found)}"
        found.append((anchor, "Learning curves", curves_section(curves, anchor)))
    for ledger in ledgers:
        anchor = f"s{len(found)}"
        found.append((anchor, f"Shortcut ledger of {ledger.env_id}", ledger_section(ledger, anchor)))
    return found


def _facts(results: Results) -> Element:
    first = results.benches[0]
    facts = {"veilgym": results.veilgym, "split": first.split, "seed": str(first.seed)}
    return node("dl", *(node("div", node("dt", k), node("dd", v)) for k, v in facts.items()), class_="meta")


def _guide() -> Element:
    items = [part for name, text in GUIDE for part in (node("dt", name), node("dd", text))]
    return node("section", node("h2", "How to read this", id="guide"), node("dl", *items))
