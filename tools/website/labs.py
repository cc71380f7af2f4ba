"""Pages of the lab inside the site: written by ``pellucid.lab.export``, shown in a frame.

In a page of the documentation a fence ```` ```{lab} kmeans ```` becomes the frame; its text names
the preset to begin with, as the lab's own list does. The lab itself says how it is framed. Which
page belongs to which class is said by the lab's own list and by ``lab_pages.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

FENCE = re.compile(r"^```\{lab\} ([a-z_0-9]+)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
LINKED = re.compile(r"_static/lab/([a-z_0-9]+)\.html")
SENTENCES = {
    "relative": "The lab shows a relative of `{name}`, *{title}*:",
    "companion": "The lab shows a method that `{name}` is used with, *{title}*:",
}


def wanted(text: str) -> set[str]:
    """The names of the lab's pages that a page shows or links to."""
    return {match[1] for match in FENCE.finditer(text)} | set(LINKED.findall(text))


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


@cache
def belonging() -> dict[str, dict[str, str]]:
    """Tables of ``lab_pages.toml``: own, relative, companion, none."""
    text = Path(__file__).with_name("lab_pages.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def own(names: Iterable[str]) -> list[str]:
    """The lab's pages of these classes and functions themselves, in the order of the names.

    >>> own(["SGDClassifier", "PolicyIteration", "ValueIteration"])
    ['policy_iteration', 'value_iteration']
    """
    from pellucid.lab.pages import SHOWN

    more = belonging()["own"]
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys([more[name]] if name in more else [])
        found |= dict.fromkeys(page for page, shown in SHOWN.items() if name in shown)
    return list(found)


def akin(names: Iterable[str]) -> tuple[str, str] | None:
    """A page that is not theirs but near, and the sentence that says how near.

    >>> akin(["KMedoids"])
    ('kmeans', 'The lab shows a relative of `KMedoids`, *k-means*:')
    """
    from pellucid.lab.pages import PAGES

    for name in names:
        for kind, sentence in SENTENCES.items():
            page = belonging()[kind].get(name)
            if page:
                return page, sentence.format(name=name, title=PAGES[page])
    return None


def broken(pages: Iterable[str], up: str) -> str:
    """What breaks a method, with links to the scenes of the lab that break it; "" without any."""
    from pellucid.lab.pages import PAGES

    found = {page: listed for page in pages if (listed := breaking(page, up))}
    if len(found) < 2:
        return "".join(f"The lab breaks it: {listed}." for listed in found.values())
    lines = [f"- *{escape(PAGES[page])}*: {listed}." for page, listed in found.items()]
    return "\n".join(["The lab breaks it:", "", *lines])


def breaking(page: str, up: str) -> str:
    """The presets that break one page of the lab, each with the questions that are asked of it.

    >>> breaking("perceptron", "")
    'XOR, perceptron (<a href="_static/lab/perceptron.html#story=4">And after twice as many?</a>)'
    """
    from pellucid.lab.pages import page_of

    asked: dict[str, list[str]] = {}
    for i, scene in enumerate(page_of(page).story, 1):
        if scene.kind == "Break":
            question = escape(without_numbers(scene.question.text))
            link = f'<a href="{up}_static/lab/{page}.html#story={i}">{question}</a>'
            asked.setdefault(escape(scene.preset.removeprefix("Break it: ")), []).append(link)
    return "; ".join(f"{preset} ({' '.join(links)})" for preset, links in asked.items())


def without_numbers(question: str) -> str:
    """A question as it can be read beside no frame: the sentences that need no number of one.

    >>> without_numbers("J falls to {-1: J}. Was the band learned?")
    'Was the band learned?'
    >>> without_numbers("What happens to the cost {J}?")
    'What happens to the cost?'
    """
    sentences = re.split(r"(?<=[.?!]) (?=\S)", question)
    kept = [sentence for sentence in sentences if "{" not in sentence]
    return " ".join(kept) or re.sub(r" ?\{[^{}]*\}", "", question)
