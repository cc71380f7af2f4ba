"""Words and pictures of ``pellucid reduce``, each from the plain data of its report.json."""

import math
from typing import Any

from pellucid.report.charts import Frame, circle, limits, rect, short
from pellucid.report.pictures import Picture
from pellucid.report.tables.pages import Page, Section, row_words

ARROWS, BARS, COLUMNS = 8, 20, 8


def reduce_page(r: dict[str, Any]) -> Page:
    d = r["components"]
    facts = (
        (str(d), "components", f"of {len(r['eigenvalues'])}"),
        (f"{sum(r['share']):.0%}", "of the spread", "is kept"),
        (f"{r['error_share']:.0%}", "is lost", "when rows are rebuilt"),
        (str(r["suggested"]), "beyond noise", "parallel analysis"),
    )
    columns = ("feature", *(f"component {k + 1}" for k in range(min(d, COLUMNS))))
    loadings = [
        (name, *(round(v, 3) for v in row[:COLUMNS]))
        for name, row in zip(r["features"], r["loadings"], strict=True)
    ]
    sections = (
        Section(
            "How many directions",
            "Each bar is the share of one component; the line is what shuffled columns reach.",
            (scree(r), cumulative(r)),
        ),
        Section(
            "What they mean",
            "The correlation of every feature with every component: near 1 "
            "or -1 the component says the same as the feature, near 0 it says nothing of it.",
            (drawn_map(r),),
            ((columns, loadings),),
        ),
    )
    details = (("method", r["card"]), ("error", r["error"]), *row_words(r["rows"], r["left_out"]))
    kind = "inconclusive" if r["suggested"] == 0 else ""
    subtitle = f"{r['source']}: {r['rows']:,} rows, {len(r['columns'])} columns"
    return Page(
        "In which directions do the rows differ?",
        subtitle,
        kind,
        tuple(r["verdict"]),
        facts,
        sections,
        (),
        r["command"],
        details,
    )


def scree(r: dict[str, Any]) -> Picture:
    """Eigenvalues with their intervals and the line of noise."""
    values, spans = r["eigenvalues"][:BARS], r["eigenvalue_intervals"][:BARS]
    noise = r["noise_eigenvalues"][: len(values)]
    xs = list(range(1, len(values) + 1))
    top = limits([0.0, *(high for _, high in spans), *noise])[1]
    f = Frame((0.4, len(xs) + 0.6), (0.0, top), width=470, height=300, left=56)
    f.axes("component", "eigenvalue (variance)")
    wide = 0.62 * (f.x(2) - f.x(1))
    for x, value, (low, high) in zip(xs, values, spans, strict=True):
        kind = "bar accent" if x <= r["components"] else "bar quiet"
        tall = max(f.bottom - f.y(value), 0.5)
        f.shapes.append(rect(f.x(x) - wide / 2, f.y(value), wide, tall, kind, 2))
        f.line([x, x], [low, high], "ink")
    f.line(xs, noise, "warn", dashed=True)
    rows = [(x, v, *span, z) for x, v, span, z in zip(xs, values, spans, noise, strict=True)]
    caption = (
        "Variance along each component with its 95 % interval; dark bars are kept. Dashes: what "
        "columns without connection reach."
    )
    columns = ("component", "eigenvalue", "low", "high", "noise")
    return Picture(f.svg("scree plot"), caption, columns, rows)


def cumulative(r: dict[str, Any]) -> Picture:
    """What is kept and what is lost with d components."""
    total, kept = sum(r["eigenvalues"]) or 1.0, [0.0]
    for value in r["eigenvalues"][:BARS]:
        kept.append(kept[-1] + value / total)
    xs = list(range(len(kept)))
    f = Frame((0, max(xs)), (0, 1.02), width=400, height=300).axes("components", "share kept")
    f.band(xs, [0.0] * len(xs), kept)
    f.line(xs, kept)
    f.dots(xs, kept, r=3)
    f.mark(r["components"], "warn", f"{kept[min(r['components'], len(kept) - 1)]:.0%}")
    rows = [(x, k, max(0.0, 1 - k)) for x, k in zip(xs, kept, strict=True)]
    caption = "The share of the spread that so many components keep; the rest is the error."
    return Picture(
        f.svg("share kept against components"), caption, ("components", "kept", "lost"), rows
    )


def drawn_map(r: dict[str, Any]) -> Picture:
    """Biplot: rows as dots, the features with the largest loadings as arrows."""
    seen, flat = r["map"], r["components"] == 1
    f = Frame(limits(seen["x"]), limits(seen["y"]), width=620, height=420)
    f.axes("component 1", "" if flat else "component 2")
    for x, y in zip(seen["x"], seen["y"], strict=True):
        f.shapes.append(circle(f.x(x), f.y(y), 2.6, "quiet faint"))
    arrows = [(row[0], 0.0 if flat else row[1]) for row in r["loadings"]]
    reach = 0.85 * min(seen["reach"])
    rows = []
    for j in sorted(range(len(arrows)), key=lambda j: -math.hypot(*arrows[j]))[:ARROWS]:
        name, (a, b) = r["features"][j], (reach * v for v in arrows[j])
        f.line([0.0, a], [0.0, b], "accent")
        f.shapes.append(circle(f.x(a), f.y(b), 3, "accent"))
        f.text(
            f.x(a) + (5 if a >= 0 else -5),
            f.y(b) - 4,
            short(name, 24),
            "start" if a >= 0 else "end",
            "name",
        )
        rows.append((name, *arrows[j]))
    caption = (
        "Dots are rows. A line points to where its feature is large; long lines are well told by "
        "these two components, and lines in one direction go together."
    )
    return Picture(
        f.svg("biplot of the first two components"),
        caption,
        ("feature", "component 1", "component 2"),
        rows,
    )
