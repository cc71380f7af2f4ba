"""Words and pictures of ``pellucid reduce``."""

import numpy as np

from pellucid.cli.inputs import Inputs
from pellucid.cli.pages import Page, Section, row_words
from pellucid.cli.reducing import SHUFFLES, Reduced, error_share
from pellucid.report.charts import Frame, circle, limits, short
from pellucid.report.pictures import Picture
from pellucid.report.words import listed

SHOWN_ROWS, ARROWS, BARS = 1500, 8, 20
STRONG = 0.5  # a correlation worth a word


def verdict(found: Reduced, inputs: Inputs) -> tuple[str, ...]:
    """What the first directions are, and how many count."""
    m = found.model
    d, p = m.n_components_, len(inputs.names)
    share = m.explained_variance_ratio_.sum()
    what = "direction holds" if d == 1 else "directions hold"
    lines = [f"{d} {what} {share:.0%} of what varies in {p} features."]
    if found.suggested == 0:
        lines[0] = "The columns do not hang together: no direction stands out."
    if found.suggested > 0:
        more = "component stands" if found.suggested == 1 else "components stand"
        lines.append(
            f"{found.suggested} {more} out of what shuffled columns give (parallel analysis with "
            f"{SHUFFLES} shuffles)."
        )
    else:
        lines.append(
            "Shuffled columns give eigenvalues as large as these: a table of independent columns "
            "would look the same."
        )
    if found.suggested > 0:
        lines += [
            f"Component {k + 1}: {component_words(found, inputs, k)}." for k in range(min(d, 2))
        ]
    return tuple(lines)


def component_words(found: Reduced, inputs: Inputs, k: int) -> str:
    """The columns that go with a component and those that go against it."""
    r = found.model.loadings_[:, k]
    order = np.argsort(-np.abs(r), kind="stable")
    strong = [j for j in order[:5] if abs(r[j]) >= STRONG] or list(order[:1])
    up = [inputs.names[j] for j in strong if r[j] > 0]
    down = [inputs.names[j] for j in strong if r[j] <= 0]
    words = [f"high {listed(up)}"] if up else []
    words += [f"low {listed(down)}"] if down else []
    return " with ".join(words)


def reduce_page(found: Reduced, inputs: Inputs, data: str, command: str) -> Page:
    m = found.model
    d = m.n_components_
    facts = (
        (str(d), "components", f"of {len(m.eigenvalues_)}"),
        (f"{m.explained_variance_ratio_.sum():.0%}", "of the spread", "is kept"),
        (f"{error_share(m):.0%}", "is lost", "when rows are rebuilt"),
        (str(found.suggested), "beyond noise", "parallel analysis"),
    )
    columns = ("feature", *(f"component {k + 1}" for k in range(min(d, 8))))
    loadings = [
        (name, *(round(float(v), 3) for v in row[:8]))
        for name, row in zip(inputs.names, m.loadings_, strict=True)
    ]
    sections = (
        Section("How many directions", "Each bar is the share of one component; the line is what "
                "shuffled columns reach.", (scree(found), cumulative(found))),
        Section("What they mean", "The correlation of every feature with every component: near 1 "
                "or -1 the component says the same as the feature, near 0 it says nothing of it.",
                (drawn_map(found, inputs),), ((columns, loadings),)),
    )  # fmt: skip
    details = (
        ("method", str(m.card().optimisation)),
        ("error", str(m.card().evaluation)),
        *row_words(m.n_samples_, inputs.left_out),
    )
    kind = "inconclusive" if found.suggested == 0 else ""
    subtitle = f"{data}: {m.n_samples_:,} rows, {len(inputs.frame.columns)} columns"
    return Page("In which directions do the rows differ?", subtitle, kind,
                verdict(found, inputs), facts, sections, (), command, details)  # fmt: skip


def scree(found: Reduced) -> Picture:
    """Eigenvalues with their intervals and the line of noise."""
    values = found.model.eigenvalues_[:BARS]
    spans = found.model.eigenvalue_intervals()[:BARS]
    xs = list(range(1, len(values) + 1))
    top = limits([0.0, *spans[:, 1].tolist(), *found.noise[:BARS].tolist()])[1]
    f = Frame((0.4, len(xs) + 0.6), (0.0, top), width=470, height=300, left=56)
    f.axes("component", "eigenvalue (variance)")
    wide = 0.62 * (f.x(2) - f.x(1))
    for x, value, (low, high) in zip(xs, values, spans, strict=True):
        kind = "bar accent" if x <= found.model.n_components_ else "bar quiet"
        tall = f.bottom - f.y(value)
        f.shapes.append(
            f'<rect class="{kind}" x="{f.x(x) - wide / 2:.1f}" y="{f.y(value):.1f}" '
            f'width="{wide:.1f}" height="{max(tall, 0.5):.1f}" rx="2"/>'
        )
        f.line([x, x], [low, high], "ink")
    f.line(xs, found.noise[:BARS].tolist(), "warn", dashed=True)
    rows = [
        (x, float(v), float(lo), float(hi), float(z))
        for x, v, (lo, hi), z in zip(xs, values, spans, found.noise, strict=False)
    ]
    caption = (
        "Variance along each component with its 95 % interval; dark bars are kept. Dashes: what "
        "columns without connection reach."
    )
    columns = ("component", "eigenvalue", "low", "high", "noise")
    return Picture(f.svg("scree plot"), caption, columns, rows)


def cumulative(found: Reduced) -> Picture:
    """What is kept and what is lost with d components."""
    values = found.model.eigenvalues_
    kept = np.concatenate([[0.0], np.cumsum(values) / max(values.sum(), 1e-300)])[: BARS + 1]
    xs = list(range(len(kept)))
    f = Frame((0, max(xs)), (0, 1.02), width=400, height=300).axes("components", "share kept")
    f.band(xs, [0.0] * len(xs), kept.tolist())
    f.line(xs, kept.tolist())
    f.dots(xs, kept.tolist(), r=3)
    f.mark(found.model.n_components_, "warn", f"{kept[min(found.model.n_components_, BARS)]:.0%}")
    rows = [(x, float(k), float(1 - k)) for x, k in zip(xs, kept, strict=True)]
    caption = "The share of the spread that so many components keep; the rest is the error."
    return Picture(f.svg("share kept against components"), caption,
                   ("components", "kept", "lost"), rows)  # fmt: skip


def drawn_map(found: Reduced, inputs: Inputs) -> Picture:
    """Biplot: rows as dots, the features with the largest loadings as arrows."""
    scores, L = found.scores, found.model.loadings_
    flat = scores.shape[1] == 1
    x, y = scores[:, 0], np.zeros(len(scores)) if flat else scores[:, 1]
    f = Frame(limits(x.tolist()), limits(y.tolist()), width=620, height=420)
    f.axes("component 1", "" if flat else "component 2")
    for i in np.random.default_rng(0).permutation(len(x))[:SHOWN_ROWS]:
        f.shapes.append(circle(f.x(x[i]), f.y(y[i]), 2.6, "quiet faint"))
    arrows = np.column_stack([L[:, 0], np.zeros(len(L)) if flat else L[:, 1]])
    strength = np.hypot(*arrows.T)
    reach = 0.85 * min(np.abs(x).max(), np.abs(y).max() if not flat else np.inf)
    rows = []
    for j in np.argsort(-strength, kind="stable")[:ARROWS]:
        a, b = arrows[j] * reach
        f.line([0.0, a], [0.0, b], "accent")
        f.shapes.append(circle(f.x(a), f.y(b), 3, "accent"))
        f.text(f.x(a) + (5 if a >= 0 else -5), f.y(b) - 4, short(inputs.names[j], 24),
               "start" if a >= 0 else "end", "name")  # fmt: skip
        rows.append((inputs.names[j], float(arrows[j, 0]), float(arrows[j, 1])))
    caption = (
        "Dots are rows. A line points to where its feature is large; long lines are well told by "
        "these two components, and lines in one direction go together."
    )
    return Picture(f.svg("biplot of the first two components"), caption,
                   ("feature", "component 1", "component 2"), rows)  # fmt: skip
