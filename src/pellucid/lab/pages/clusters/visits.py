"""OPTICS on the page of clusters: a walk from dense to thin, and the valleys on its way."""

from typing import Any

import numpy as np

from pellucid.cluster.density.optics import OPTICS
from pellucid.lab.drawing import literal, number, short, told
from pellucid.lab.page import LabData
from pellucid.lab.pages.clusters.parts import rows_panel
from pellucid.lab.scene import Mark, bars, circles, plane, points, segments
from pellucid.lab.trace import Frame, Trace

MOST = 40  # frames of the walk


def visits_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """Row after row in the order of the visits; at the end the clusters that the valleys make."""
    X, enough = data.X, params["min_rows"]
    if not 2 <= enough <= len(X):
        raise ValueError(f"rows that make a core must be 2 to {len(X)}, got {enough}")
    model = OPTICS(min_samples=enough, xi=params["xi"]).fit(X)
    n = len(X)
    counts = np.unique(np.r_[1, 2, 3, np.linspace(1, n, min(n, MOST)).round()]).astype(int)
    counts = counts[counts <= n].tolist()
    frames = [walked(data, model, k, i, enough) for i, k in enumerate(counts)]
    frames.append(divided(data, model, len(frames), params["xi"]))
    numbers = frames[-1].numbers
    spans = [right - left + 1 for left, right in model.cluster_hierarchy_.tolist()]
    inside = sum(a < b for a in spans for b in spans if a < b)
    verdict = (
        f"Valleys that are clusters: {numbers['clusters']}, rows of noise: {numbers['noise']}; no "
        "radius and no number of clusters was asked for."
    )
    if not numbers["clusters"]:
        verdict = "No valley is steep enough on both sides: every row is noise."
    elif inside and len(spans) > numbers["clusters"]:
        verdict += f" {len(spans)} valleys in all, some inside others."
    title = "Distance at which each row was reached, by visit"
    alt = "A bar per visit: low where rows are dense, high between the clusters."
    top = 1.15 * max(float(reach_of(model).max()), 1e-12)
    box = (0.0, n + 1.0, 0.0, top)
    panels = [
        rows_panel(data, "Rows and the walk", held=False, alt="Rows, joined in order of visits."),
        plane("reach", [], title=title, x="visit", y="distance", box=box, alt=alt),
    ]
    code = (
        f"import numpy as np\n\nfrom pellucid import OPTICS\n\nX = {literal(X)}\n"
        f"model = OPTICS(min_samples={enough}, xi={params['xi']!r}).fit(X)\n"
        "objective = float((model.labels_ == -1).mean())\n"
    )
    shown = told(data, "points", panels)
    words = ("share of rows that are noise", verdict, code)
    return Trace("OPTICS", params, shown, model.card().to_dict(), tuple(frames), "OPTICS", *words)


def reach_of(model: Any) -> Any:
    """By visit; where no row reached it, as high as the highest."""
    reach = model.reachability_[model.ordering_]
    known = reach[np.isfinite(reach)]
    return np.where(np.isfinite(reach), reach, known.max() if len(known) else 1.0)


def walk_marks(data: LabData, model: Any, k: int) -> list[Mark]:
    """From where every visited row was reached."""
    X, order = data.X, model.ordering_[:k]
    source = model.predecessor_[order]
    there = source >= 0
    marks: list[Mark] = []
    if there.any():
        a, b = X[source[there]], X[order[there]]
        marks.append(segments(*a.T, *b.T, width=1.2, label="reached from"))
    return marks


def bar_marks(model: Any, k: int, colours: Any) -> list[Mark]:
    shown = reach_of(model)
    return [bars(np.arange(1, k + 1), shown[:k], colour=colours, width=0.9, label="reach")]


def walked(data: LabData, model: Any, k: int, step: int, enough: int) -> Frame:
    X, order = data.X, model.ordering_
    i = int(order[k - 1])
    core, reach, source = (
        float(v[i]) for v in (model.core_distances_, model.reachability_, model.predecessor_)
    )
    if source < 0:
        formula = (
            f"visit {k}: nothing reaches the row {i + 1}; its {enough} nearest, itself included, "
            f"lie within core = {number(core)}"
        )
    else:
        j = int(source)
        far = float(np.linalg.norm(X[i] - X[j]))
        before = float(model.core_distances_[j])
        formula = (
            f"visit {k}: row {i + 1}, reach = max(core of row {j + 1}, distance to it) = "
            f"max({number(before)}, {number(far)}) = {number(reach)}, the least of all left"
        )
    numbers: dict[str, Any] = {"visits": k, "rows left": len(X) - k, "core distance": short(core)}
    numbers["reach"] = short(reach) if np.isfinite(reach) else "none"
    marks = [
        *walk_marks(data, model, k),
        points(*X[order[:k]].T, group="accent", label="visited"),
        circles([X[i, 0]], [X[i, 1]], [core], colour="warn", label="core distance"),
        points([X[i, 0]], [X[i, 1]], group="warn", ring=[True], label="this row"),
    ]
    colours = ["quiet"] * (k - 1) + ["warn"]
    panels = [plane("rows", marks), plane("reach", bar_marks(model, k, colours))]
    return Frame(step, None, None, formula, numbers, {"panels": panels})


def divided(data: LabData, model: Any, step: int, xi: float) -> Frame:
    """The valleys, and their rows."""
    X, labels, order = data.X, model.labels_, model.ordering_
    noise = labels < 0
    found = int(labels.max()) + 1
    seen = labels[order]
    colours = ["quiet" if c < 0 else int(c) for c in seen.tolist()]
    sizes = np.bincount(labels[~noise], minlength=max(found, 1))
    formula = (
        f"a valley whose sides change by ξ = {number(xi)} from one visit to the next is a cluster: "
        f"{found} of them, {int(noise.sum())} rows in none"
    )
    numbers: dict[str, Any] = {"clusters": found, "noise": int(noise.sum())}
    if found:
        numbers["sizes"] = ", ".join(map(str, sizes.tolist()))
        wide = widths(model, found)
        numbers["thinnest cluster: median reach"] = short(max(wide))
        numbers["densest cluster: median reach"] = short(min(wide))
    marks = [points(*X[~noise].T, group=labels[~noise], size=1.2, label="clusters")]
    panels = [plane("rows", marks), plane("reach", bar_marks(model, len(X), colours))]
    return Frame(step, float(noise.mean()), None, formula, numbers, {"panels": panels})


def widths(model: Any, found: int) -> list[float]:
    """The middle distance at which the rows of each cluster were reached."""
    reach = reach_of(model)
    seen = model.labels_[model.ordering_]
    return [float(np.median(reach[seen == c])) for c in range(found)]
