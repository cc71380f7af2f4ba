"""Pages of the lab inside the site: written by ``pellucid.lab.export``, shown in a frame.

In a page of the documentation a fence ```` ```{lab} clusters ```` becomes the frame; its text is
the caption. ```` ```{lab} clusters?preset=2 ```` begins with another preset, ``&step=end`` at its
end.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

FENCE = re.compile(r"^```\{lab\} ([a-z_]+)(?:\?(\S*))?\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


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

    name, query, words = match.groups()
    words = " ".join(words.split())
    title = PAGES[name]
    hash_ = "#" + urlencode({"page": name, **dict(parse_qsl(query))}) if query else ""
    address = escape(f"{up}_static/lab/{name}.html{hash_}")
    return (
        '```{raw} html\n<figure class="lab">'
        f'<iframe src="{address}" title="Lab: {escape(title)}" loading="lazy"></iframe>\n'
        f'<figcaption>{escape(words or title)}: <a href="{address}">open it on its own page</a>; '
        f"with your own data: <code>pellucid lab {name}</code></figcaption></figure>\n```"
    )
