"""Sphinx extension: a link ``source:pellucid/a/b.py#L7`` leads to a page with that file.

The pages are written from ``src/`` when the HTML is collected; ``source_files`` of ``conf.py``
lists them.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes

SCHEME = "source:"


def page_name(path: str) -> str:
    """The page of a source file.

    >>> page_name("pellucid/cluster/kmeans/kmeans.py")
    '_source/pellucid/cluster/kmeans/kmeans'
    """
    return "_source/" + path.removesuffix(".py")


def resolve(app: Any, doctree: nodes.document, docname: str) -> None:
    """Turn the links of one page into relative addresses."""
    for node in doctree.findall(nodes.reference):
        target = node.get("refuri", "")
        if target.startswith(SCHEME):
            path, _, line = target.removeprefix(SCHEME).partition("#")
            address = app.builder.get_relative_uri(docname, page_name(path))
            node["refuri"] = address + (f"#{line}" if line else "")
            node["internal"] = True


def pages(app: Any) -> Iterator[tuple[str, dict[str, str], str]]:
    """One page for each file that something links to."""
    if app.builder.format != "html":
        return
    root = Path(app.config.source_root)
    for path in app.config.source_files:
        text = (root / path).read_text(encoding="utf-8")
        marked = app.builder.highlighter.highlight_block(
            text, "python", linenos=False, location=path
        )
        lines = marked.split("\n")
        start = lines[0].index("<pre>") + len("<pre>")
        first = lines[0][:start], lines[0][start:]
        numbered = [first[0] + f'<span id="L1"></span>{first[1]}']
        numbered += [f'<span id="L{i}"></span>{line}' for i, line in enumerate(lines[1:], 2)]
        body = f"<h1>{escape(path)}</h1>\n" + "\n".join(numbered)
        yield page_name(path), {"title": path, "body": body}, "page.html"


def setup(app: Any) -> dict[str, bool]:
    """Register the links and the pages."""
    app.add_config_value("source_root", "", "html")
    app.add_config_value("source_files", [], "html")
    app.connect("doctree-resolved", resolve)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
