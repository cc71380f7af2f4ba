"""The gallery: every picture of ``pellucid.plots`` with the code that draws it, by chapter.

The code is that of a page which shows the picture, else the example of its docstring; where that
data is too small to look at, ``docs/gallery/<chapter>/<name>.py`` holds a better one.
"""

from __future__ import annotations

import doctest
import inspect
import re
from functools import cache
from pathlib import Path

from tools.website.blocks import python_blocks
from tools.website.names import ROOT
from tools.website.staging import write

EXAMPLES = ROOT / "docs/gallery"
TITLES = {
    "control": "Decisions and reinforcement",
    "graphical": "Graphical models",
    "maths": "Mathematics",
    "neighbors": "Neighbours",
}
WORDS = {
    "d_separation": "d-separation",
    "k_criteria": "criteria for k",
    "k_distances": "k-distances",
}
CAPITALS = re.compile(r"\b(em|kkt|mdp|ppca|q|roc|shap|svm)\b")
TORCH = re.compile(r"\bfrom pellucid\.deep\b")


def chapters() -> dict[str, list[str]]:
    """Chapter -> the names of its pictures."""
    import pellucid.plots

    return {chapter: names.split() for chapter, names in pellucid.plots._CHAPTERS.items()}


def spoken(name: str) -> str:
    """What a picture is called in words.

    >>> spoken("svm_margin"), spoken("d_separation"), spoken("learning_curve")
    ('SVM margin', 'd-separation', 'learning curve')
    """
    return WORDS.get(name) or CAPITALS.sub(lambda m: m[0].upper(), name.replace("_", " "))


def code(name: str) -> str:
    """The code that draws a picture; it ends in ``.plot()``."""
    own = list(EXAMPLES.glob(f"*/{name}.py"))
    if own:
        return own[0].read_text(encoding="utf-8")
    return on_a_page().get(name) or from_docstring(name)


@cache
def on_a_page() -> dict[str, str]:
    """Name -> the first block of the documentation that ends in that picture."""
    found: dict[str, str] = {}
    for folder in ("algorithms", "course"):
        for path in sorted((ROOT / "docs" / folder).rglob("*.md")):
            for block in python_blocks(path.read_text(encoding="utf-8")):
                ending = re.match(r"(\w+)\(.*\)\.plot\(\)", block.strip().split("\n")[-1])
                if ending:
                    found.setdefault(ending[1], block)
    return found


def from_docstring(name: str) -> str:
    """The docstring's example up to the picture, then its ``plot()``."""
    import pellucid.plots

    doc = inspect.getdoc(getattr(pellucid.plots, name)) or ""
    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(doc):
        source = example.source.rstrip()
        found = re.match(rf"(\w+) = (?:\w+\.)*{name}\(", source)
        if found:
            return "\n".join([*imports(name, lines), source, f"{found[1]}.plot()"]) + "\n"
        call = re.search(rf"(?<![\w.])(?:plots\.)?{name}\(", source)
        if call and "import" not in source:
            expression = balanced(source, call.start())
            return "\n".join([*imports(name, lines), f"{expression}.plot()"]) + "\n"
        lines.append(source)
    raise ValueError(f"the docstring of pellucid.plots.{name} does not call it")


def imports(name: str, lines: list[str]) -> list[str]:
    """The lines before the picture, with its import where the docstring leaves it out."""
    if any(re.search(rf"import .*\b(?:{name}|plots)\b", line) for line in lines):
        return lines
    return [f"from pellucid.plots import {name}", *lines]


def balanced(source: str, start: int) -> str:
    """The call that begins at ``start``, to its closing bracket.

    >>> balanced("f(g(1), 2).x", 0)
    'f(g(1), 2)'
    """
    depth = 0
    for i in range(start, len(source)):
        depth += {"(": 1, ")": -1}.get(source[i], 0)
        if source[i] == ")" and depth == 0:
            return source[start : i + 1]
    raise ValueError(f"no closing bracket in {source!r}")


def pages() -> dict[str, str]:
    """Chapter -> its page, with a Python block for each picture; to be run like any other page."""
    import pellucid.plots

    made = {}
    for chapter, names in chapters().items():
        text = [f"# {TITLES.get(chapter, chapter.capitalize())}\n"]
        for name in names:
            doc = inspect.getdoc(getattr(pellucid.plots, name)) or ""
            words = doc.split("\n\n")[0].replace("``", "`").replace("$", r"\$")
            reference = f"[`pellucid.plots.{name}`](../api/pellucid.plots.{name}.md)"
            text.append(f"(gallery-{name})=\n## {spoken(name)}\n\n{words}\n")
            block = code(name)
            fence = "py" if TORCH.search(block) else "python"
            text.append(f"```{fence}\n{block}```\n\n{reference}\n")
            if fence == "py":
                text.append("Drawn where PyTorch is installed; the site is built without it.\n")
        made[chapter] = "\n".join(text)
    return made


def write_index(folder: Path, thumbnails: dict[str, dict[str, tuple[str, str]]]) -> None:
    """The first page: every picture small, by chapter."""
    text = [
        "# Gallery\n\nEvery picture of `pellucid.plots`. A picture is a record of what it draws: "
        "`picture.plot()` draws it, its fields can be read, its `alt` says it in words.\n"
    ]
    for chapter, images in thumbnails.items():
        title = TITLES.get(chapter, chapter.capitalize())
        text.append(f"## {title}\n\n::::{{grid}} 2 3 4 4\n:gutter: 2\n")
        for name, (image, _) in images.items():
            words = spoken(name)
            text.append(
                f":::{{grid-item-card}} {words}\n:link: gallery-{name}\n:link-type: ref\n"
                f":img-bottom: ../_static/pictures/{image}\n:img-alt: {words}\n:::\n"
            )
        text.append("::::\n")
    listing = "\n".join(thumbnails)
    text.append(f"```{{toctree}}\n:hidden:\n\n{listing}\n```\n")
    write(folder / "index.md", "\n".join(text))
