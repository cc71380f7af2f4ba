"""Sphinx extension: formulas become MathML when the site is built, so that no script draws them."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

UNKNOWN = re.compile(r"\\(arg|tr|sd|se)\b")  # operators that the converter has no name for
BAR = re.compile(r"(<mo[^>]*)(>(?:\||&#x0007C;)</mo>)")


def mathml(tex: str, *, block: bool) -> str:
    """A formula as a ``math`` element.

    >>> mathml("x^2", block=False)[:36]
    '<math xmlns="http://www.w3.org/1998/'
    """
    tex = UNKNOWN.sub(r"\\operatorname{\1}", tex.strip())
    text = convert(tex, display="block" if block else "inline")
    if "\\" in text:
        raise ValueError(f"the formula {tex!r} has a command that latex2mathml does not know")
    return BAR.sub(r'\1 lspace="0" rspace="0"\2', text)  # |x| is no relation


def keep_stops(app: Any, doctree: nodes.document, page: str) -> None:
    """Let a full stop or comma belong to the formula before it: no line begins with one."""
    for node in list(doctree.findall(nodes.math)):
        at = node.parent.index(node) + 1
        text = node.parent[at] if at < len(node.parent) else None
        if isinstance(text, nodes.Text) and text[:1] in set(".,;:"):
            node["after"] = text[0]
            node.parent[at] = nodes.Text(text[1:])


def visit_inline(self: Any, node: nodes.math) -> None:
    """Write an inline formula."""
    after = node.get("after", "")
    self.body.append(f'<span class="math">{mathml(node.astext(), block=False)}{after}</span>')
    raise nodes.SkipNode


def visit_block(self: Any, node: nodes.math_block) -> None:
    """Write a displayed formula, in a box that scrolls where the screen is narrow."""
    tex = node.astext()
    if "\\\\" in tex and "\\begin" not in tex:
        tex = r"\begin{aligned}" + tex + r"\end{aligned}"
    formula = mathml(tex, block=True)
    self.body.append(f'<div class="math-block" tabindex="0" role="group">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("doctree-resolved", keep_stops)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
