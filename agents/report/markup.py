"""HTML as a tree: what is written into it is escaped when it is printed, so no name can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

Child = Element | str


def node(tag: str, *children: Child | None, **attributes: object) -> Element:
    """An element with text and elements in it.

    Args:
        tag: Name.
        *children: In order; None is left out.
        **attributes: An underscore stands for a hyphen, and one at the end is dropped (`class_`); None is left out.
    """
    given = {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items() if value is not None}
    made = Element(tag, given)
    last: Element | None = None
    for child in children:
        if isinstance(child, Element):
            made.append(child)
            last = child
        elif child is not None and last is None:
            made.text = (made.text or "") + child
        elif child is not None and last is not None:
            last.tail = (last.tail or "") + child
    return made


def table(caption: str, head: Sequence[Child], rows: Iterable[Sequence[Child]], class_: str | None = None) -> Element:
    """A table that scrolls sideways by itself where the page is too narrow; the first cell of a row is its heading."""
    body = node("tbody", *(_row(row) for row in rows))
    columns = node("thead", node("tr", *(node("th", text, scope="col") for text in head)))
    found = node("table", node("caption", node("span", caption)), columns, body, class_=class_)
    return node("div", found, class_="scroll", role="region", aria_label=caption, tabindex="0")


def _row(cells: Sequence[Child]) -> Element:
    first, *others = cells
    return node("tr", node("th", first, scope="row"), *(node("td", cell) for cell in others))


def print_page(page: Element) -> str:
    """The HTML document as text."""
    return "<!DOCTYPE html>\n" + ElementTree.tostring(page, encoding="unicode", method="html") + "\n"
