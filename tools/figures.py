"""Write the figures of the README, and the chart beside them, from what was measured.

    python tools/figures.py [--check]

Counts come from the tables of names and of the textbook, seconds from ``benchmarks/results.json``.
"""

import json
import re
import statistics
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README, CHART = ROOT / "README.md", ROOT / "docs/benchmarks.svg"
MARKS = re.compile(r"(<!-- figures -->\n).*?(\n<!-- /figures -->)", re.DOTALL)
CASES = (  # the plain case of each family; where it loses it stays
    "LinearRegression 1,000,000 x 50",
    "Lasso 1000 x 10000",
    "LogisticRegression 200,000 x 50",
    "LogisticRegression, sparse 20,000 x 50,000",
    "SVC rbf 50,000 x 20",
    "RandomForestClassifier 50,000 x 20, 100 trees",
    "HistGradientBoostingClassifier 1,000,000 x 30",
    "KMeans 200,000 x 20, k = 20, groups",
    "PCA 500,000 x 100, 10 components",
)


def measured():
    """Case -> (our seconds, seconds of the fastest peer with the same answer, its name)."""
    found = {}
    for case in json.loads((ROOT / "benchmarks/results.json").read_text(encoding="utf-8")):
        rows = [row for row in case["rows"] if row.get("seconds") and row.get("same")]
        ours = [row["seconds"] for row in rows if row["contender"].startswith("pellucid")]
        peers = [row for row in rows if not row["contender"].startswith("pellucid")]
        if ours and peers:
            best = min(peers, key=lambda row: row["seconds"])
            found[case["case"]] = (min(ours), best["seconds"], best["contender"])
    return found


def sentence():
    """The figures as one paragraph."""
    cases = measured()
    ratios = [peer / ours for ours, peer, _ in cases.values()]
    ahead, times = sum(ratio > 1 for ratio in ratios), statistics.median(ratios)
    book = (ROOT / "src/pellucid/textbook").rglob("*.py")
    methods = sum(path.name != "__init__.py" for path in book)
    pages = sum(path.name != "index.md" for path in (ROOT / "docs/algorithms").rglob("*.md"))
    return (
        f"{methods} methods in the textbook, {pages} pages of algorithms. Against the fastest peer "
        f"with the same answer, {len(ratios)} cases: ahead in {ahead}, behind in "
        f"{len(ratios) - ahead}, median {times:.1f} times as fast "
        "([all of them](benchmarks/RESULTS.md))."
    )


def chart():
    """Seconds of the fastest peer and ours, for a few cases, as SVG."""
    cases, row = measured(), 40
    bars = []
    for i, name in enumerate(CASES):
        ours, peer, who = cases[name]
        scale, y = 330 / max(ours, peer), i * row + 26
        for j, (seconds, label, fill) in enumerate(
            ((ours, "pellucid", "#0072b2"), (peer, who, "#8a8f98"))
        ):
            top, width = y + 13 * j, max(1.0, seconds * scale)
            said = escape(f"{seconds:.3g} s, {label}")
            bars.append(
                f'<rect x="330" y="{top}" width="{width:.0f}" height="11" fill="{fill}"/>'
                f'<text x="{336 + width:.0f}" y="{top + 10}">{said}</text>'
            )
        bars.append(f'<text x="322" y="{y + 17}" text-anchor="end">{escape(name)}</text>')
    height = row * len(CASES) + 26
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 {height}" width="880" '
        f'height="{height}" font-family="sans-serif" font-size="12" fill="#1f2933">'
        f'<rect width="880" height="{height}" fill="#fff"/>'
        '<text x="330" y="16">seconds, each case on its own scale; short is fast</text>'
        f"{''.join(bars)}</svg>\n"
    )


def main():
    """Write both, or say whether they are as they should be."""
    old = README.read_text(encoding="utf-8")
    new = MARKS.sub(lambda match: match[1] + sentence() + match[2], old)
    if "--check" in sys.argv:
        same = new == old and CHART.read_text(encoding="utf-8") == chart()
        print("figures are up to date" if same else "run python tools/figures.py")
        return 0 if same else 1
    README.write_text(new, encoding="utf-8")
    CHART.write_text(chart(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
