"""The report: what it says, that it is harmless and complete, and that Chromium shows it without complaint."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from veilgym.agents.ledger import Ledger, LedgerLine
from veilgym.agents.report.charts import Scale, scale_of
from veilgym.agents.report.curves import LearningCurve
from veilgym.agents.report.page import build_report
from veilgym.agents.results import Results

EVIL = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">'&amp;"
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Counts tags, checks that they are closed, and collects attributes, and text by the tag around it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def everything(make_bench, make_run):
    """Results with experiments, probabilities, several settings; a ledger; curves. Every name is an attack."""
    rng = np.random.default_rng(0)
    scores = {EVIL: rng.random(30) * 0.3, "middle": rng.random(30) * 0.8, "best": 0.5 + rng.random(30) / 2}
    runs = tuple(
        make_run(name, values, inferred=tuple(values + 0.05), experiments=(8,) * 30) for name, values in scores.items()
    )
    circuits = make_bench(scores, env_id="CausalCircuits-v0", runs=runs)
    right = {
        name: (rng.random(30) < share).astype(float) for name, share in (("chance", 0.5), (EVIL, 0.7), ("all", 1.0))
    }
    claims = rng.uniform(0.5, 1.0, 30)
    runs = tuple(
        make_run(name, values, claimed=tuple(claims), observed=tuple(values))
        if name == EVIL
        else make_run(name, values)
        for name, values in right.items()
    )
    short = make_bench(right, runs=runs)
    long = make_bench(right, arguments={"length": EVIL})
    lines = (LedgerLine(EVIL, EVIL, 0.7, (0.6, 0.8), 100, ("at most", 0.62)), LedgerLine("s", "t", 0.5, None, 5, None))
    ledger = Ledger("HiddenSystem-v0", 0, 100, 100, lines, {EVIL: EVIL}, EVIL)
    curve = LearningCurve(
        EVIL, EVIL, (0.0, 1000.0), (0.5, 0.9), ((0.4, 0.6), (0.8, 1.0)), (("floor", 0.5), (EVIL, 0.99))
    )
    return Results((circuits, short, long)), [ledger], [curve]


def test_build_report__the_numbers_are_those_of_the_results(everything):
    results, ledgers, curves = everything
    page = Page(build_report(results, ledgers, curves))
    for bench in results.benches:
        for line in bench.standings:
            assert line.agent in page.texts
            assert f"{line.score:.4f}" in page.texts
            assert line.description in page.texts
    assert f"{results.benches[0].standings[1].regret.experiments:.3f}".replace("-", "\N{MINUS SIGN}") in page.texts
    for heading in ("Paired comparisons", "Performance profiles", f"Reliability of {EVIL}", "Learning curves"):
        assert heading in page.texts
    assert "HiddenSystem-v0, all settings" in page.texts
    assert "0.700 (0.600 to 0.800) fails" in page.texts
    assert f"{EVIL}: {EVIL}" in page.texts


def test_build_report__same_results_same_page(everything):
    assert build_report(*everything) == build_report(*everything)


def test_build_report__has_nothing_that_runs_or_loads(everything):
    page = Page(build_report(*everything))
    assert not {"script", "img", "link", "iframe", "object", "base", "form", "image", "use"} & set(page.tags)
    for tag, name, value in page.attributes:
        assert not name.startswith("on"), (tag, name)
        if name in ("href", "src", "srcset", "action", "data"):
            assert re.fullmatch("#[a-z0-9]+", value)
        assert "url(" not in (value or "")
    style = next(text for text in page.texts if ":root" in text)
    assert not re.search(r"@import|url\(|https?:|//", style)


def test_build_report__every_anchor_is_there_and_ids_are_unique(everything):
    page = Page(build_report(*everything))
    ids = [value for _, name, value in page.attributes if name == "id"]
    links = [value[1:] for _, name, value in page.attributes if name == "href"]
    assert len(set(ids)) == len(ids)
    assert set(links) <= set(ids)
    assert len(links) == 6


def test_build_report__is_accessible(everything):
    page = Page(build_report(*everything))
    assert page.tags.count("table") == page.tags.count("caption")
    assert ("html", "lang", "en") in page.attributes
    charts = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert len(charts) == sum((tag, name) == ("svg", "role") for tag, name, _ in page.attributes) > 10
    assert all(charts)
    assert page.tags.count("h1") == 1


def test_build_report__one_agent_and_few_instances(make_bench):
    bench = make_bench({"alone": [0.0, 0.0]}, floor=None, ideal=None)
    page = Page(build_report(Results((bench,))))
    assert "0.0000" in page.texts
    assert "Paired comparisons" not in page.texts
    negative = make_bench({"a": [-2.0, -1.0, 0.5] * 5, "b": [-0.1, 0.2, 0.3] * 5})
    assert "\N{MINUS SIGN}0.8333" in Page(build_report(Results((negative,)))).texts


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.0, 1.0), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ((-0.03, 0.26), (-0.1, 0.0, 0.1, 0.2, 0.3)),
        ((0.0, 1_000_000.0), (0.0, 200_000.0, 400_000.0, 600_000.0, 800_000.0, 1_000_000.0)),
        ((0.0, 0.0), (-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6)),
    ],
)
def test_scale_of__round_ticks(values, ticks):
    assert scale_of(values).ticks == pytest.approx(ticks)


def test_scale__shares():
    scale = Scale(-1.0, 1.0, ())
    assert [scale.share(value) for value in (-2.0, -1.0, 0.0, 0.5, 3.0)] == [0.0, 0.0, 50.0, 75.0, 100.0]


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_chromium__shows_it_without_complaint(chromium, everything, tmp_path, width, dark):
    path = tmp_path / "report.html"
    path.write_text(build_report(*everything), "utf-8")
    chromium.open(path, width, dark)
    assert chromium.evaluate("document.title") == "VeilGym report"
    assert chromium.evaluate("document.querySelectorAll('script, img').length") == 0
    chromium.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    # Nothing but tables in their own boxes is wider than the page.
    assert chromium.evaluate("document.documentElement.scrollWidth") <= width
    texts = "[...document.querySelectorAll('td, th, p, h1, h2, h3, li, dd, svg text')]"
    hidden = f"{texts}.filter(e => e.textContent && !e.closest('thead') && !e.getBoundingClientRect().height).length"
    assert chromium.evaluate(hidden) == 0
    background, ink = json.loads(
        chromium.evaluate("(s => JSON.stringify([s.backgroundColor, s.color]))(getComputedStyle(document.body))")
    )
    brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (background, ink)]
    assert (brightness[0] < brightness[1]) == dark
    assert chromium.requests() == [path.as_uri()]
    assert chromium.complaints() == []
    chromium.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_chromium__would_complain(chromium, everything, tmp_path):
    """The test above can fail: a script, a picture and a style sheet from elsewhere are refused and reported."""
    page = build_report(*everything)
    intruders = "<script>document.title = 'taken'</script><img src='nowhere.png'><script>throw 1</script>"
    path = tmp_path / "report.html"
    path.write_text(page.replace("<main>", f"<main>{intruders}", 1), "utf-8")
    chromium.open(path, 390)
    assert chromium.evaluate("document.title") == "VeilGym report"  # the page's own policy
    assert chromium.complaints()
    path.write_text(page.replace("Content-Security-Policy", "X").replace("<main>", f"<main>{intruders}", 1), "utf-8")
    chromium.open(path, 390)
    assert chromium.evaluate("document.title") == "taken"
    assert len(chromium.requests()) == 2


def test_build_report__says_where_an_agent_has_failed(make_bench, make_run):
    runs = (make_run("sound", [1.0, 0.0]), make_run("frail", [0.0, 1.0], errors={"0": f"KeyError: {EVIL}"}))
    bench = make_bench({"sound": [1.0, 0.0], "frail": [0.0, 1.0]}, runs=runs)
    page = Page(build_report(Results((bench,))))
    text = f"frail failed on 1 of 2 instances, which count as 0; first: KeyError: {EVIL}"
    assert [found for found in page.texts if "failed on" in found] == [text]
