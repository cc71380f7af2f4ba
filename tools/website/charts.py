"""Benchmarks as charts: drawn as SVG from ``benchmarks/results.json`` when the site is built."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from tools.website.names import ROOT

RESULTS = ROOT / "benchmarks/results.json"
ROW, LEFT, WIDTH = 18, 190, 760
TITLES = {  # of families whose name is no heading
    "agents": "Learning agents",
    "bayes": "Bayesian regression",
    "bayesian": "Posteriors: Laplace and sampling",
    "boosting_use": "Boosting in use",
    "fast_ica": "Independent components",
    "glm": "Generalised linear models",
    "grouped": "Groups, bridges and the Dantzig selector",
    "incremental_pca": "Principal components in batches",
    "lars": "Least angle regression",
    "linear_svm": "Linear support vector machines",
    "lsh": "Locality-sensitive hashing",
    "maths": "Mathematics",
    "mds": "Multidimensional scaling",
    "naive_bayes": "Naive Bayes",
    "naive_bayes_counts": "Naive Bayes of counts",
    "nmf": "Non-negative factorisation",
    "ridge_cv": "Ridge and its penalty",
    "spectral": "Groups and labels on graphs",
    "svm": "Support vector machines",
    "tsne": "Maps by t-SNE",
}


def listing(up: str) -> str:
    """A chart for each case, by family, folded."""
    families: dict[str, list[dict[str, Any]]] = {}
    for case in json.loads(RESULTS.read_text(encoding="utf-8")):
        families.setdefault(case["family"], []).append(case)
    text = []
    for family in sorted(families):
        cases = families[family]
        dates = sorted({case["date"] for case in cases})
        spoken = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        title = heading(family)
        text.append(f"## {title}\n\nMeasured {spoken}.\n")
        text.append("```{raw} html\n" + "\n".join(chart(case) for case in cases) + "\n```\n")
    return "\n".join(text)


def heading(family: str) -> str:
    """What a family of cases is called.

    >>> heading("svm"), heading("adaptive_boosting")
    ('Support vector machines', 'Adaptive boosting')
    """
    return TITLES.get(family, family.replace("_", " ").capitalize())


def chart(case: dict[str, Any]) -> str:
    """One case: a bar for each contender with its seconds."""
    rows = [row for row in case["rows"] if row.get("seconds")]
    if not rows:
        return ""
    longest = max(row["seconds"] for row in rows)
    height = ROW * len(rows)
    bars = []
    for i, row in enumerate(rows):
        width = max(1.0, row["seconds"] / longest * (WIDTH - LEFT - 190))
        kind = "ours" if row["contender"].startswith("pellucid") else "peer"
        y = i * ROW
        said = f"{row['seconds']:.3g} s"
        if row.get("ratio"):
            said += f", {row['ratio']:.3g} times ours" if kind == "peer" else ""
        if row.get("same") is False:
            said += ", another answer"
        bars.append(
            f'<text x="{LEFT - 6}" y="{y + 13}" text-anchor="end">{escape(row["contender"])}</text>'
            f'<rect class="{kind}" x="{LEFT}" y="{y + 3}" width="{width:.1f}" height="{ROW - 5}"/>'
            f'<text x="{LEFT + width + 6:.1f}" y="{y + 13}">{escape(said)}</text>'
        )
    name = escape(case["case"])
    note = f"<figcaption>{escape(case['note'])}</figcaption>" if case.get("note") else ""
    return (
        f'<figure class="bench" tabindex="0"><p>{name}</p><svg role="img" aria-label="{name}" '
        f'viewBox="0 0 {WIDTH} {height}">{"".join(bars)}</svg>{note}</figure>'
    )
