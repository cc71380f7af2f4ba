"""Pages of the lab inside the site: written by ``pellucid.lab.export``, shown in a frame.

In a page of the documentation a fence ```` ```{lab} kmeans ```` becomes the frame; its text names
the preset to begin with, as the lab's own list does. The lab itself says how it is framed.
"""

from __future__ import annotations

import re
from pathlib import Path

FENCE = re.compile(r"^```\{lab\} ([a-z_0-9]+)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


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
    from pellucid.lab.exporting import frame_html

    preset = " ".join(match[2].split())
    return f"```{{raw}} html\n{frame_html(match[1], preset, folder=f'{up}_static/lab')}\n```"
