"""Pages of the lab inside the site: written by ``pellucid.lab.export``, shown in a frame.

In a page of the documentation a fence ```` ```{lab} clusters ```` becomes the frame; its text names
the preset to begin with, as the lab's own list does.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from urllib.parse import urlencode

FENCE = re.compile(r"^```\{lab\} ([a-z_]+)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def number_of(name: str, preset: str) -> int:
    """The number of a preset of a page, by its title; the first where none is named."""
    from pellucid.lab.pages import page_of

    titles = [found.name for found in page_of(name).presets]
    if preset and preset not in titles:
        raise ValueError(f"the lab's page {name} has no preset {preset!r}; it has {titles}")
    return titles.index(preset) if preset else 0


def wanted(text: str) -> set[str]:
    """The names of the lab's pages that a page shows."""
    return {match[1] for match in FENCE.finditer(text)}


def write(names: set[str], state: str, folder: Path) -> None:
    """Export the pages that were not yet exported from this state of the sources."""
    from pellucid.lab import export

    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(names):
        stamp = folder / f".{name}"
        if not stamp.exists() or stamp.read_text() != state:
            export(name, folder / f"{name}.html")
            stamp.write_text(state)


def frame(match: re.Match[str], up: str) -> str:
    """The frame of one page; ``up`` leads from the page to the root of the site."""
    from pellucid.lab.pages import PAGES

    name, preset = match[1], " ".join(match[2].split())
    title = PAGES[name]
    hash_ = urlencode({"step": 0, "page": name, "preset": number_of(name, preset)})
    address = escape(f"{up}_static/lab/{name}.html#{hash_}")
    return (
        '```{raw} html\n<figure class="lab">'
        f'<iframe src="{address}" title="Lab: {escape(title)}" loading="lazy"></iframe>\n'
        f"<figcaption>{escape(preset or title)}, step by step. "
        f'<a href="{address}">Open it alone</a>, or with your own data: '
        f"<code>pellucid lab {name}</code></figcaption></figure>\n```"
    )
