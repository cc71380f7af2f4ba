"""The gallery of the lab: the methods by chapter, each with a small picture that moves.

A picture is the main panel of a page's first preset, with some of its frames: what a reader will
see there, made by the same run.
"""

from typing import Any

import numpy as np

from pellucid.core.records import plain
from pellucid.lab.page import Page, make_trace
from pellucid.lab.pages import ENTRIES

FRAMES = 7  # of a card, the first and the last among them
MOST = 1500  # numbers in a mark; more cannot be seen in a card


def chapters() -> list[dict[str, Any]]:
    """Chapters with the addresses, titles and estimators of their methods.

    >>> chapters()[0]["pages"][0]["name"]
    'linear_regression'
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for name, entry in ENTRIES.items():
        about = {"name": name, "title": entry.title, "shows": list(entry.shows)}
        found.setdefault(entry.chapter, []).append(about)
    return [{"title": title, "pages": pages} for title, pages in found.items()]


def card_of(page: Page) -> dict[str, Any]:
    """The main panel of a page's first run: what stays, and some of the frames."""
    trace = make_trace(page)
    chosen = np.unique(np.linspace(0, len(trace.frames) - 1, FRAMES).round().astype(int))
    still = trace.data.get("panels", [])
    moving = [trace.frames[i].state.get("panels", []) for i in chosen]
    drawn = [panel for panel in [*still, *moving[-1]] if panel["kind"] != "table"]
    name = drawn[0]["name"]
    base = [light(panel) for panel in still if panel["name"] == name]
    frames = [[light(panel) for panel in panels if panel["name"] == name] for panels in moving]
    frames = [panels for panels in frames if panels or base]  # a card is never empty
    card: dict[str, Any] = plain({"words": page.summary, "base": base, "frames": frames})
    return card


def light(panel: dict[str, Any]) -> dict[str, Any]:
    """A panel without marks too fine for a card, and without words."""
    if panel["kind"] != "plane":
        return panel
    marks = [m for m in panel["marks"] if m["mark"] != "text" and size(m) <= MOST]
    return {**panel, "marks": marks}


def size(mark: dict[str, Any]) -> int:
    return max((len(v) for v in mark.values() if isinstance(v, list)), default=0)
