"""Copy ``docs/`` to the folder that Sphinx reads, and fill in what is made.

The copy stands in ``build/site/docs`` beside links to ``src`` and ``benchmarks`` and copies of the
files of the root, so that a relative path means the same in both places. On the way a page gets

- the output and the picture of each Python block (``blocks.py``);
- the frames of the lab (``labs.py``);
- links into ``src/`` that lead to pages of the site (``sources.py``);
- on a page of an algorithm, the sections of the template that can be derived (``template.py``).
"""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

from tools.website import blocks, chapters, labs, names, textbook, topics
from tools.website.names import ROOT
from tools.website.template import with_template

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]*)?\)")
ELSEWHERE = {  # files of the repository that are pages of the site
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security.md",
    "benchmarks/CALIBRATION.md": "results-calibration.md",
    "benchmarks/GPU.md": "results-gpu.md",
    "benchmarks/RESULTS.md": "benchmarks.md",
    "benchmarks/STUDY.md": "results-study.md",
    "docs/algorithms": "algorithms/index.md",
    "src/pellucid/textbook": "textbook/index.md",
}
BESIDE = ("src", "benchmarks", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")

MOST = 100  # columns of an output that can be read without scrolling


def sources() -> dict[str, Path]:
    """Page, relative to ``docs/``, -> its file."""
    docs = ROOT / "docs"
    return {str(p.relative_to(docs)): p for p in sorted(docs.rglob("*.md"))}


def up(page: str) -> str:
    """What leads from a page to the root of the site: ``../`` for each folder."""
    return "../" * page.count("/")


def texts() -> dict[str, str]:
    """Page -> its text with all sections, before its blocks were run."""
    found = {}
    for page, path in sources().items():
        text = path.read_text(encoding="utf-8")
        if page.startswith("algorithms/") and page != "algorithms/index.md":
            text = with_template(page.removesuffix(".md"), text)
        if page.startswith("course/"):
            text = chapters.with_further_pages(page[len("course/") : -len(".md")], text)
        found[page] = with_made_parts(page, text)
    return found


def stage(pages: dict[str, str], target: Path, state: str, results: Path) -> set[str]:
    """Write every page of ``docs/`` below ``target``; the source files that pages link to."""
    linked: set[str] = set()
    for page, text in pages.items():
        text = with_results(page, text, state, results)
        text = labs.FENCE.sub(lambda match, page=page: labs.frame(match, up(page)), text)
        text = with_links(page, text, linked)
        write(target / "docs" / page, text)
    for name in BESIDE:
        beside = target / name
        if name.endswith(".md"):  # a link would lead Sphinx, and the links in it, out of its folder
            write(beside, (ROOT / name).read_text(encoding="utf-8"))
        elif not beside.exists():
            beside.symlink_to(ROOT / name)
    return linked


def write(path: Path, text: str) -> None:
    """Write a file unless it already says so: what did not change is not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def with_results(page: str, text: str, state: str, results: Path) -> str:
    """The page with the output and the picture of each block under it."""

    def shown(match: re.Match[str]) -> str:
        code = match[1]
        if ">>>" in code:
            return match[0]
        result = blocks.kept(code, state, results)
        parts = [match[0]]
        if result["printed"]:
            printed = folded(result["printed"])
            parts.append(f"```{{code-block}} text\n:class: output\n\n{printed}\n```")
        if result["image"]:
            alt = " ".join(result["alt"].split()) or names.title_of(text)
            image = f"{up(page)}_static/pictures/{result['image']}"
            parts.append(f"```{{image}} {image}\n:alt: {alt}\n:class: picture\n```")
        return "\n\n".join(parts)

    return blocks.BLOCK.sub(shown, text)


def folded(printed: str) -> str:
    """What a block printed, with long sentences on several lines; tables stay as they are.

    >>> [len(line) for line in folded("Yes. " * 25).splitlines()]
    [99, 24]
    """
    lines = []
    for line in printed.split("\n"):
        sentence = len(line) > MOST and "  " not in line
        lines += textwrap.wrap(line, MOST) if sentence else [line]
    return "\n".join(lines)


def with_links(page: str, text: str, linked: set[str]) -> str:
    """The page with links to files of the repository turned into links within the site."""

    def mapped(match: re.Match[str]) -> str:
        words, target, tail = match[1], match[2], match[3] or ""
        if "://" in target or target.startswith(("mailto:", "source:")):
            return match[0]
        path = Path(os.path.normpath(ROOT / "docs" / page / ".." / target))
        if not path.is_relative_to(ROOT):
            return match[0]
        inside = path.relative_to(ROOT).as_posix()
        if inside in ELSEWHERE:
            return f"[{words}]({up(page)}{ELSEWHERE[inside]}{tail})"
        if inside.startswith("src/pellucid/textbook/") and inside.endswith(".py"):
            book = inside.removeprefix("src/pellucid/textbook/").removesuffix(".py")
            return f"[{words}](#{textbook.anchor(book)})"
        if inside.startswith("src/"):
            file = f"{inside}/__init__.py" if path.is_dir() else inside
            linked.add(file.removeprefix("src/"))
            return f"[{words}](source:{file.removeprefix('src/')})"
        return match[0]

    return blocks.outside_fences(text, lambda part: LINK.sub(mapped, part))


def with_made_parts(page: str, text: str) -> str:
    """Fill in ```` ```{made} name ```` fences."""
    from tools.website import charts

    makers = {
        "topics": topics.listing,
        "benchmarks": charts.listing,
        "families": families,
    }
    return re.sub(
        r"^```\{made\} (\w+)\n```[ \t]*$", lambda m: makers[m[1]](up(page)), text, flags=re.M
    )


def families(up: str) -> str:
    """The list of all pages of algorithms, a heading and a toctree for each family."""
    order: dict[str, list[str]] = {}
    for page in names.pages():
        order.setdefault(page.split("/")[0], []).append(page)
    words = {"naive_bayes": "Naive Bayes", "neural": "Neural networks", "deep": "Deep models"}
    text = []
    for family, pages in order.items():
        title = words.get(family, family.replace("_", " ").capitalize())
        entries = "\n".join(pages)
        tree = f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n{entries}\n```\n"
        text.append(f"## {title}\n\n{tree}")
    return "\n".join(text)
