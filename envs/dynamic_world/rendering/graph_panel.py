"""The neighbourhoods of the two arguments side by side, and the proof on them after the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from veilgym.envs.core.canvas import BLUE, FAINT, INK, MUTED, ORANGE, PANEL, PAPER, Box, Canvas, Point
from veilgym.envs.core.page import Page, measure, spread
from veilgym.envs.dynamic_world.grammar import WorldPayload
from veilgym.envs.dynamic_world.rendering.neighbourhood import Edge, Fan, fans_of
from veilgym.envs.dynamic_world.rendering.viewer import Verdict

_TYPE = 11.0  # at this size a digit is seven pixels wide
_SMALL = 9.5
_HALF = 9  # half the height of a symbol's box
_PADDING, _WIDEST_SYMBOL = 5, 90.0
_GAP, _WIDEST_PITCH = 9, 96.0  # between two symbols of a row, and between their middles
_HIGHEST_ROW = 120.0
_CAPTION, _BETWEEN, _MARGIN = 14, 16, 14
_NARROWEST_FAN = 4  # symbols
_LINE, _PROOF_LINE, _ARROW = 1.2, 3.0, 7.0

Places = Mapping[str, Point]


def proof_color(verdict: Verdict) -> str:
    """Blue where the proposition is proved, orange where it is refuted."""
    return BLUE if verdict.gold == "YES" else ORANGE


class Graph:
    """Both neighbourhoods laid out in a box, by the public facts alone.

    Attributes:
        fans: One for each argument.
        boxes: Where each fan stands.
        places: For each fan the middle of each symbol's box.
        symbol_width: Of every symbol's box.
    """

    def __init__(self, payload: WorldPayload, box: Box) -> None:
        self._arguments = payload.query.arguments
        widest = max((spread(name, _TYPE) for name in payload.entity_types), default=0.0)
        self.symbol_width = 2 * math.ceil(min(widest + 2 * _PADDING, _WIDEST_SYMBOL) / 2)
        room = (box.width - _BETWEEN) / 2 - _MARGIN
        self.fans = fans_of(payload, most=max(int(room // self._pitch), 2))
        self.boxes = _side_by_side(self.fans, box._replace(top=box.top + _CAPTION))
        self.places = self._placed(is_level=payload.query.predicate != "MEMBER")

    @property
    def _pitch(self) -> float:
        return self.symbol_width + _GAP

    def _placed(self, is_level: bool) -> list[Places]:
        """Place the fans; those that are level have both arguments at one height, whichever is the higher in truth."""
        ranges = [(min(fan.rows), max(fan.rows)) for fan in self.fans]
        if is_level:
            ranges = [(min(low for low, _ in ranges), max(high for _, high in ranges))] * 2
        room = self.boxes[0].height - 2 * _MARGIN - 2 * _HALF
        height = min(room / max(1, *(high - low for low, high in ranges)), _HIGHEST_ROW)
        places: list[Places] = []
        for fan, box, (low, high) in zip(self.fans, self.boxes, ranges, strict=True):
            zero = (box.top + box.bottom) / 2 - height * (low + high) / 2
            places.append(
                {
                    name: (x, round(zero + row * height))
                    for row, names in fan.rows.items()
                    for name, x in zip(names, self._spread_out(fan, row, box), strict=True)
                }
            )
        return places

    def _spread_out(self, fan: Fan, row: int, box: Box) -> list[float]:
        """The middles of a row's symbols: evenly spaced and centred, with room for how many are left out."""
        count = len(fan.rows[row])
        cells = count + (row in fan.left_out)
        step = min(max((box.width - _MARGIN) / cells, self._pitch), _WIDEST_PITCH)
        left = (box.left + box.right) / 2 - step * (cells - 1) / 2
        return [round(left + i * step) for i in range(count)]

    def draw_edges(self, canvas: Canvas, verdict: Verdict | None) -> None:
        """Draw the facts, those of the proof over the others."""
        canvas.rectangles(self.boxes, PANEL)
        for fan, places in zip(self.fans, self.places, strict=True):
            proved = _proved(fan, verdict)
            self._draw_arrows(canvas, (edge for edge in fan.edges if edge not in proved), places, FAINT, _LINE)
            if verdict is not None:
                self._draw_arrows(canvas, proved, places, proof_color(verdict), _PROOF_LINE)

    def _draw_arrows(self, canvas: Canvas, edges: Iterable[Edge], places: Places, color: str, width: float) -> None:
        solid: list[tuple[Point, Point]] = []
        dashed: list[tuple[Point, Point]] = []
        heads: list[Sequence[Point]] = []
        for edge in edges:
            start, end = _clipped(places[edge.left], places[edge.right], self.symbol_width / 2)
            head = _head(start, end, _ARROW + width)
            neck = (head[1][0] + head[2][0]) / 2, (head[1][1] + head[2][1]) / 2
            (dashed if edge.relation == "DISJOINT" else solid).append((start, neck))
            heads.append(head)
        canvas.lines(solid, color, width)
        canvas.lines(dashed, color, width, is_dashed=True)
        canvas.polygons(heads, color)

    def draw_symbols(self, page: Page, verdict: Verdict | None) -> None:
        """Draw the symbols, and the ids of the proof's events on its facts."""
        for name, fan, places, box in zip(self._arguments, self.fans, self.places, self.boxes, strict=True):
            page.caption((box.left, box.top - _CAPTION), f"around {name}")
            proved = _proved(fan, verdict)
            on_proof = {name for edge in proved for name in (edge.left, edge.right)}
            for symbol, place in places.items():
                border = proof_color(verdict) if verdict is not None and symbol in on_proof else None
                draw_symbol(page, place, symbol, self.symbol_width, symbol in self._arguments, border)
            for row, count in fan.left_out.items():
                x, y = places[fan.rows[row][-1]]
                page.write((x + self.symbol_width / 2 + 5, y), f"+{count}", _SMALL, MUTED)
            for edge in proved:
                _write_id(page, places[edge.left], places[edge.right], edge.event_id)


def draw_symbol(page: Page, at: Point, name: str, width: float, is_argument: bool, border: str | None = None) -> None:
    """Draw a name in a box around `at`: dark for what is asked about, with a strong border where there is a colour."""
    thickness = 1 if border is None else 2
    box = Box(at[0] - width / 2, at[1] - _HALF, at[0] + width / 2, at[1] + _HALF)
    page.fill([box], INK if is_argument else border or FAINT)
    if not is_argument:
        page.fill([inset(box, thickness)], PAPER)
    half = spread(name, _TYPE) / 2
    # Letters from a whole pixel on are evenly spaced.
    middle = round(at[0] - half) + 0.1 + half
    page.write_number((middle, at[1]), name, _TYPE, PAPER if is_argument else INK, width - 4)


def inset(box: Box, by: float) -> Box:
    """A box without its border."""
    return Box(box.left + by, box.top + by, box.right - by, box.bottom - by)


def _side_by_side(fans: Sequence[Fan], box: Box) -> tuple[Box, Box]:
    """The box in two, with more room for the wider fan."""
    left, right = (max(fan.widest, _NARROWEST_FAN) for fan in fans)
    middle = box.left + box.width * left / (left + right)
    return box._replace(right=middle - _BETWEEN / 2), box._replace(left=middle + _BETWEEN / 2)


def _proved(fan: Fan, verdict: Verdict | None) -> list[Edge]:
    """The facts of the fan that the proof uses; none before the answer."""
    return [] if verdict is None else [edge for edge in fan.edges if edge.event_id in verdict.proof]


def _clipped(start: Point, end: Point, half: float) -> tuple[Point, Point]:
    """The line between two symbols without what is inside their boxes."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    across = (half + 1) / abs(dx) if dx else math.inf
    down = (_HALF + 1) / abs(dy) if dy else math.inf
    share = min(across, down, 0.45)
    return (start[0] + dx * share, start[1] + dy * share), (end[0] - dx * share, end[1] - dy * share)


def _head(start: Point, end: Point, size: float) -> Sequence[Point]:
    """A triangle that points at `end`: its tip, then its two other corners."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    scale = size / (math.hypot(dx, dy) or 1.0)
    dx, dy = dx * scale, dy * scale
    back = end[0] - dx, end[1] - dy
    return (end, (back[0] - dy * 0.45, back[1] + dx * 0.45), (back[0] + dy * 0.45, back[1] - dx * 0.45))


def _write_id(page: Page, start: Point, end: Point, event_id: str) -> None:
    """The id of an event in the middle of its fact."""
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    half = measure(event_id, _SMALL) / 2 + 3
    page.fill([Box(x - half, y - 7, x + half, y + 7)], PANEL)
    page.write((x, y), event_id, _SMALL, align="center")
