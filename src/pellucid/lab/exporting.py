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
from importlib.resources import files
from pathlib import Path
from typing import Any

from pellucid.core.visible import visible
from pellucid.lab.page import Page, make_trace
from pellucid.lab.pages import PAGES, page_of
from pellucid.lab.trace import Trace

SCRIPTS = ("scene.js", "graph.js", "rows.js", "lab.js")  # in the order in which they are read
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
    text = page_html(file_content(trace, seed=seed))
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
    made = (make_trace(page, i, seed) for i in range(len(page.presets)))
    traces = [{"preset": i, "trace": trace.to_dict()} for i, trace in enumerate(made)]
    return content("file", page=page, traces=traces, seed=seed)


def content(
    mode: str,
    *,
    page: Page | None = None,
    traces: list[dict[str, Any]] | None = None,
    seed: int = 0,
    token: str = "",
    table: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """What the script reads: ``mode`` "file" or "server"; ``table`` columns that it offers."""
    pages = [{"name": name, "title": title} for name, title in PAGES.items()]
    shown = {"page": None if page is None else page.to_dict(), "traces": traces or []}
    return {"mode": mode, "pages": pages, **shown, "seed": seed, "token": token, "table": table}


def page_html(content: dict[str, Any], *, nonce: str | None = None) -> str:
    """The page with everything inside; with ``nonce`` the policy is left to the server's header."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    style = static("lab.css")
    script = "\n".join(static(name) for name in SCRIPTS)
    page, traces = content["page"], content["traces"]
    title = page["title"] if page else traces[0]["trace"]["algorithm"] if traces else "Lab"
    inside = {"style": style, "script": script, "content": json_block(content)}
    return environment.from_string(static("page.html")).render(
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
