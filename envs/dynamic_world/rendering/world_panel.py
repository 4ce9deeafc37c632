"""What is told of the world as a whole: the question in words, its symbols, and its events by form over time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from veilgym.envs.core.canvas import FAINT, INK, MUTED, PANEL, Box
from veilgym.envs.core.page import Page, shade
from veilgym.envs.dynamic_world.grammar import EVENT_FORMS, EventForm, WorldEvent, WorldPayload, form_of
from veilgym.envs.dynamic_world.rendering.graph_panel import proof_color
from veilgym.envs.dynamic_world.rendering.viewer import Verdict, census_texts, counted

_TYPE, _SMALL = 12.0, 10.0
_LINE, _SMALL_LINE = 19, 17
_NAME = 138  # width of the names and counts of forms
_ROW = 19
_TICK = 2
_FEW = 4  # events in a tick that need not be dark
_VERBS = {"MOVE": "moves", "UPDATE_NUMBER": "number changes", "SET_STATE": "flag changes"}
_KEYS = {
    "ABOVE": ("\u2192  from the higher to the lower",),
    "BELOW": ("\u2192  from the higher to the lower",),
    "MEMBER": ("\u2192  from a member or subset to the set", "\u21e2  from a set to one that is disjoint with it"),
}
_KEY = ("\u25a0  asked about", "+n  as many more in this row", "What is near both stands in both halves.")


def draw_world(page: Page, payload: WorldPayload, verdict: Verdict | None, box: Box) -> None:
    """Draw the panel; after the answer, the events of the proof stand out in time."""
    y = _draw_question(page, payload, box)
    y = _draw_census(page, payload, box._replace(top=y + 26))
    y = _draw_events(page, payload, verdict, box._replace(top=y + 26))
    _draw_key(page, payload, box._replace(top=y + 26))


def question_lines(payload: WorldPayload) -> list[str]:
    """What is asked, in words."""
    left, right = payload.query.arguments
    what = {"ABOVE": "above", "BELOW": "below", "MEMBER": "a member of"}[payload.query.predicate]
    return [f"Is {left} {what} {right},", f"from the events up to step {payload.query.time:,}?"]


def _draw_question(page: Page, payload: WorldPayload, box: Box) -> float:
    page.caption((box.left, box.top), "Question")
    lines = question_lines(payload)
    page.write((box.left, box.top + 24), lines[0], 13, bold=True, room=box.width)
    page.write((box.left, box.top + 24 + _LINE), lines[1], _TYPE, room=box.width)
    return box.top + 24 + _LINE


def _draw_census(page: Page, payload: WorldPayload, box: Box) -> float:
    page.caption((box.left, box.top), "World")
    y = box.top + 3.0
    texts = census_texts(payload)
    for pair in (texts[:2], texts[2:]):
        y += _LINE
        for text, x in zip(pair, (box.left, box.left + box.width / 2), strict=True):
            page.write((x, y), text, _TYPE, room=box.width / 2 - 6)
    return y


def form_name(form: EventForm) -> str:
    """Such as "ABOVE" or "moves"."""
    return form.relation or _VERBS[form.kind]


def _draw_events(page: Page, payload: WorldPayload, verdict: Verdict | None, box: Box) -> float:
    """A line for each form: its name, how many events, and when."""
    page.caption((box.left, box.top), f"{counted(len(payload.events), 'event', 'events')} over time")
    by_form: defaultdict[EventForm, list[WorldEvent]] = defaultdict(list)
    for event in payload.events:
        by_form[form_of(event)].append(event)
    line = Box(box.left + _NAME, 0, box.right, 0)
    ticks = {form: Counter(_tick(event, payload, line) for event in by_form[form]) for form in EVENT_FORMS}
    most = max((count for counts in ticks.values() for count in counts.values()), default=1)
    y = box.top + 22.0
    for form in EVENT_FORMS:
        page.write((box.left, y), form_name(form), _SMALL)
        page.write((line.left - 8, y), f"{len(by_form[form]):,}", _SMALL, align="right")
        bar = line._replace(top=y - 6, bottom=y + 6)
        _draw_ticks(page, ticks[form], most, bar)
        if verdict is not None:
            proof = [event for event in by_form[form] if event.id in verdict.proof]
            _mark(page, (_tick(event, payload, line) for event in proof), proof_color(verdict), bar)
        y += _ROW
    page.write((line.left, y - 2), "step 1", _SMALL, MUTED)
    page.write((line.right, y - 2), f"{payload.query.time:,}", _SMALL, MUTED, align="right")
    return y


def _tick(event: WorldEvent, payload: WorldPayload, line: Box) -> int:
    """Where on the line an event is, in ticks."""
    ticks = int(line.width) // _TICK
    return min((event.time - 1) * ticks // max(payload.query.time, 1), ticks - 1)


def _draw_ticks(page: Page, counts: Mapping[int, int], most: int, bar: Box) -> None:
    """Ticks, the darker the more events there are; the darkest for `most` of them."""
    page.fill([bar], PANEL)
    for place, count in counts.items():
        x = bar.left + place * _TICK
        color = shade((count - 1) / max(most - 1, _FEW), (FAINT, INK))
        page.fill([bar._replace(left=x, right=x + _TICK)], color)


def _mark(page: Page, places: Iterable[int], color: str, bar: Box) -> None:
    """Coloured ticks that stand out of the line."""
    xs = [bar.left + place * _TICK for place in places]
    page.fill((Box(x - 1, bar.top - 3, x + _TICK + 1, bar.bottom + 3) for x in xs), color)


def _draw_key(page: Page, payload: WorldPayload, box: Box) -> None:
    page.caption((box.left, box.top), "Key")
    for i, line in enumerate((*_KEYS[payload.query.predicate], *_KEY), 1):
        page.write((box.left, box.top + 3 + i * _SMALL_LINE), line, _SMALL, room=box.width)
