"""The picture of an instance: the support table, and beneath it the query and the verdict."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veilgym.envs.core.canvas import MUTED, RULE, Box
from veilgym.envs.core.page import Page, shade
from veilgym.envs.hidden_system.grammar import BehaviorPayload
from veilgym.envs.hidden_system.rendering.case_list import list_height
from veilgym.envs.hidden_system.rendering.cells import HEAT, Style, style_of
from veilgym.envs.hidden_system.rendering.query_panel import draw_query, draw_verdict, query_height
from veilgym.envs.hidden_system.rendering.support_table import draw_support
from veilgym.envs.hidden_system.rendering.viewer import Verdict, title_text

WIDTH, LOWEST = 1280, 720

_MARGIN = 36
_TOP = 84
_GAP = 30
_VERDICT = 430  # width
_KEY = 110  # width of the bar of colours


def draw_picture(payload: BehaviorPayload, verdict: Verdict | None) -> NDArray[np.uint8]:
    """Draw an instance.

    Returns:
        (H, 1280, 3) uint8, where an even H of at least 720 depends on the names and levels, on the number of cases, and
        on how many events and trials these have; not on the verdict.
    """
    beneath = query_height(payload)
    height = max(LOWEST, _TOP + list_height(payload, WIDTH - 2 * _MARGIN) + _GAP + beneath + _MARGIN)
    height += height % 2  # video codecs want even numbers
    page = Page(WIDTH, height)
    style = style_of(payload)
    _draw_head(page, payload, style, verdict)
    query = Box(_MARGIN, height - _MARGIN - beneath, WIDTH - _MARGIN, height - _MARGIN)
    has_marks = draw_support(page, payload, style, Box(_MARGIN, _TOP, WIDTH - _MARGIN, query.top - _GAP))
    page.fill([Box(_MARGIN, query.top - _GAP / 2, WIDTH - _MARGIN, query.top - _GAP / 2 + 1)], RULE)
    draw_query(page, payload, query._replace(right=query.right - _VERDICT - _GAP), has_marks)
    draw_verdict(page, payload, verdict, query._replace(left=query.right - _VERDICT))
    return page.pixels()


def _draw_head(page: Page, payload: BehaviorPayload, style: Style, verdict: Verdict | None) -> None:
    page.write((_MARGIN, 40), title_text(payload), 20, bold=True)
    status = "answered" if verdict else "waiting for the answer"
    page.write((WIDTH - _MARGIN, 40), status, 13, MUTED, align="right")
    _draw_key(page, style, Box(640, 34, 640 + _KEY, 46))
    page.fill([Box(_MARGIN, 62, WIDTH - _MARGIN, 63)], RULE)


def _draw_key(page: Page, style: Style, bar: Box) -> None:
    """What the colours and numbers of the cells mean."""
    middle = (bar.top + bar.bottom) / 2
    page.write((bar.left - 20, middle), "trials with the record present at the end:", 10.5, MUTED, align="right")
    for x in range(_KEY):
        page.fill([bar._replace(left=bar.left + x, right=bar.left + x + 1)], shade(x / (_KEY - 1), HEAT))
    page.write((bar.left - 6, middle), "0", 10.5, MUTED, align="right")
    most = "all" if style.trials is None else f"{style.trials} of {style.trials}"
    page.write((bar.right + 6, middle), most, 10.5, MUTED)
