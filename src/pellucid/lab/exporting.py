r"""One HTML file that replays traces, from the disk or from the lab's own server.

``static/page.html`` is the frame; the style sheet, the scripts and the traces are put into it, so
that nothing is fetched. What a page may run is said by a content security policy: in a file the
SHA-256 of our one style and one script, from the server a nonce. Text of the traces reaches the
page as JSON in a data block, with every character escaped that HTML could read, and the script
only ever puts it in place as text.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pellucid.core.visible import visible
from pellucid.lab.gallery import card_of, chapters
from pellucid.lab.page import Page, make_trace
from pellucid.lab.pages import PAGES, page_of
from pellucid.lab.trace import Trace

DRAWING = ("scene.js", "graph.js")  # in the order of reading
PLAYER = ("math.js", "rows.js", "story.js", "lab.js")
MOST_BYTES = 10_000_000
# what HTML, or JavaScript before ES2019, could take for its own
ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def export(trace: Any, path: Any, *, seed: int = 0) -> Path:
    """Write a trace, or a page with the traces of all its presets, as one HTML file.

    Parameters
    ----------
    trace : Trace, Page or str
        What ``record`` returned, or a page of the lab or its name.
    path : str or Path
        The file; one that is there is replaced. It opens from the disk, without a server.
    seed : int, default=0
        Of the presets' data, for a page.

    Examples
    --------
    >>> import tempfile
    >>> from pellucid.lab import Trace, export
    >>> from pellucid.lab.trace import Frame
    >>> frame = Frame(0, 1.0, None, "w = 0", {"w": 0.0}, {})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = export(Trace("Nothing", {}, {}, {}, (frame,)), f"{folder}/run.html")
    ...     print(written.name, written.read_text("utf-8")[:15])
    run.html <!doctype html>
    """
    return write_page(file_content(trace, seed=seed), path)


def export_gallery(folder: str | Path, *, seed: int = 0) -> Path:
    """Write the gallery and every page of the lab into a folder, to be opened from ``index.html``.

    Nothing in it is fetched from elsewhere: it works from the disk and under any static server, and
    a link that was copied from the lab opens there too.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    cards = {}
    for name in PAGES:
        page = page_of(name)
        write_page({**file_content(page, seed=seed), "alone": False}, folder / f"{name}.html")
        cards[name] = card_of(page)
    index = folder / "index.html"
    index.write_text(gallery_html(gallery_content("file", cards)), encoding="utf-8")
    return index


def frame_html(name: str, preset: str = "", *, folder: str = ".") -> str:
    """An exported page inside another page: its frame, what it shows, and the link to it alone.

    ``folder`` leads from the other page to the exported files; ``preset`` is a title of the page's
    list, the story of the method where it is empty.

    >>> print(frame_html("kmeans", folder="lab")[:75])
    <figure class="lab"><iframe src="lab/kmeans.html#embed=1" title="Lab: k-mea
    """
    page = page_of(name)
    found = {choice.name: choice.id for choice in page.presets}
    if preset and preset not in found:
        raise ValueError(f"the lab's page {name} has no preset {preset!r}; it has {[*found]}")
    shown = {"preset": found[preset], "step": 0} if preset else {}
    address = escape(f"{folder}/{name}.html#{urlencode({**shown, 'embed': 1})}")
    alone = escape(f"{folder}/{name}.html#{urlencode(shown)}".rstrip("#"))
    title = escape(page.title)
    return (
        f'<figure class="lab"><iframe src="{address}" title="Lab: {title}" loading="lazy"></iframe>'
        f"\n<figcaption>{escape(preset) or title}, step by step. "
        f'<a href="{alone}">The whole page</a>, or with your own data: '
        f"<code>pellucid lab {escape(name)}</code></figcaption></figure>"
    )


def write_page(found: dict[str, Any], path: str | Path) -> Path:
    text = page_html(found)
    size = len(text.encode())
    if size > MOST_BYTES:
        raise ValueError(
            f"the page would have {size / 1e6:.1f} MB, at most {MOST_BYTES / 1e6:g} MB are "
            "written; record fewer frames (max_frames) or fewer rows"
        )
    path = Path(path)
    path.write_text(text, encoding="utf-8")
    return path


def file_content(trace: Any, *, seed: int = 0) -> dict[str, Any]:
    """What a file knows: one trace, or a page and the trace of each preset."""
    if isinstance(trace, Trace):
        return content("file", traces=[{"preset": None, "trace": trace.to_dict()}])
    page = page_of(trace) if isinstance(trace, str) else trace
    if not isinstance(page, Page):
        raise TypeError(f"export takes a Trace, a Page or a page's name, got {type(page).__name__}")
    if seed:  # what a story says was checked on the rows of seed 0
        page = page._replace(story=())
    made = (make_trace(page, i, seed) for i in range(len(page.presets)))
    traces = [{"preset": i, "trace": trace.to_dict()} for i, trace in enumerate(made)]
    return content("file", page=page, traces=traces, seed=seed)


def content(
    mode: str,
    *,
    page: Page | None = None,
    traces: list[dict[str, Any]] | None = None,
    seed: int = 0,
    table: bool = False,
    alone: bool = True,
) -> dict[str, Any]:
    """What the script of a page reads: ``mode`` "file" or "server"; ``table``: one is offered;
    ``alone``: no gallery lies beside the file."""
    shown = {"page": None if page is None else page.to_dict(), "traces": traces or []}
    return {"mode": mode, **shown, "seed": seed, "table": table, "alone": alone and mode == "file"}


def gallery_content(mode: str, cards: dict[str, Any] | None = None) -> dict[str, Any]:
    """What the script of the gallery reads; the server makes a card when it is looked at."""
    return {"mode": mode, "chapters": chapters(), "cards": cards or {}}


def page_html(content: dict[str, Any], *, nonce: str | None = None) -> str:
    """The page with everything inside; with ``nonce`` the policy is left to the server's header."""
    page, traces = content["page"], content["traces"]
    title = page["title"] if page else traces[0]["trace"]["algorithm"] if traces else "Lab"
    return filled("page.html", (*DRAWING, *PLAYER), title, content, nonce)


def gallery_html(content: dict[str, Any], *, nonce: str | None = None) -> str:
    """The gallery: a card per method."""
    return filled("gallery.html", (*DRAWING, "gallery.js"), "Methods", content, nonce)


def filled(
    frame: str, scripts: Sequence[str], title: str, content: dict[str, Any], nonce: str | None
) -> str:
    """One of the two frames with style, script and content inside."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    style = static("lab.css")
    script = "\n".join(static(name) for name in scripts)
    inside = {"style": style, "script": script, "content": json_block(content)}
    return environment.from_string(static(frame)).render(
        title=visible(title),
        nonce=nonce,
        policy=None if nonce else policy(style, script),
        **{name: Markup(text) for name, text in inside.items()},
    )


def policy(style: str, script: str) -> str:
    """Only this style and this script; pictures only from the page itself; nothing fetched."""
    return (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """SHA-256 as a content security policy writes it.

    >>> digest("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def json_block(value: Any) -> str:
    r"""JSON that can stand inside a script element.

    >>> json_block("</script>")
    '"\\u003c/script\\u003e"'
    """
    return json.dumps(value, allow_nan=False, separators=(",", ":")).translate(ESCAPES)


def static(name: str) -> str:
    """The text of one of the page's files."""
    return files("pellucid.lab").joinpath("static", name).read_text("utf-8")
