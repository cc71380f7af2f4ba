"""PCA of more columns than two: the rows seen by several noisy instruments, rebuilt from few."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.decomposition.pca import PCA
from pellucid.lab.drawing import literal, number, short, told
from pellucid.lab.page import LabData
from pellucid.lab.pages.projections.parts import feet, rows_panel
from pellucid.lab.scene import bars, line, plane, points
from pellucid.lab.trace import Frame, Trace

COLUMNS = 6


class Seen(NamedTuple):
    """The table that the instruments give, and how to go back to the plane."""

    Z: Any  # (n, COLUMNS)
    mean: Any  # (2,) of the rows drawn
    back: Any  # (COLUMNS, 2) least squares
    train: Any  # (n,) mask


def columns_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """PCA with 0, 1, ... components of a table of six columns."""
    seen = _measured(data, params["noise"], seed)
    Z = seen.Z[seen.train]
    whole = PCA(ddof=0).fit(Z)
    frames = tuple(_frame(data, seen, whole, d) for d in range(len(whole.eigenvalues_) + 1))
    share = np.cumsum(whole.eigenvalues_) / whole.eigenvalues_.sum()
    enough = int(np.searchsorted(share, 0.9) + 1)
    d = len(whole.eigenvalues_)
    look: dict[str, Any] = {"colour": ["quiet"] * d, "width": 0.6, "label": "λ"}
    marks = [bars(np.arange(1, d + 1), whole.eigenvalues_, **look)]
    scree = "Scree: eigenvalues of six columns"
    bars_alt = "The eigenvalues of six columns as bars; those in use are coloured."
    title = "The ringed row, column by column"
    alt = "The six values of a row and their reconstruction."
    panels = [
        rows_panel(data, "Rows, and where the rebuilt ones lie"),
        plane("scree", marks, title=scree, x="component", y="variance", alt=bars_alt),
        plane("row", [], title=title, x="column", y="value", alt=alt),
    ]
    verdict = (
        f"{enough} of {COLUMNS} components hold {share[enough - 1]:.0%} of the variance; "
        "those after the elbow carry noise."
    )
    code = (
        f"import numpy as np\n\nfrom pellucid import PCA\n\nX = {literal(Z)}\n"
        f"model = PCA({d}, ddof=0).fit(X)\n"
        "objective = float(model.reconstruction_errors(X).mean())\n"
    )
    title, objective = "PCA of six columns that measure two", "mean squared reconstruction error"
    shown, words = told(data, "points", panels), (title, objective, verdict, code)
    return Trace("PCA", params, shown, whole.card().to_dict(), frames, *words)


def _measured(data: LabData, noise: float, seed: int) -> Seen:
    """Each instrument sees the plane from another side and adds noise."""
    turn = np.pi * np.arange(COLUMNS) / COLUMNS
    A = np.array([np.cos(turn), np.sin(turn)])  # (2, COLUMNS)
    train = np.ones(len(data.X), bool) if data.held_out is None else ~data.held_out
    mean = data.train[0].mean(axis=0)
    size = float(data.train[0].std())
    drawn = np.random.default_rng([seed, 11]).normal(size=(len(data.X), COLUMNS))
    Z = ((data.X - mean) @ A + noise * size * drawn).round(3) + 0.0
    if not (np.ptp(Z[train], axis=0) > 0).all():
        raise ValueError("the rows differ too little to be told apart to three decimals")
    return Seen(Z, mean, np.linalg.pinv(A), train)


def _rebuilt(seen: Seen, whole: Any, d: int) -> Any:
    """The table from the first d components."""
    V = whole.components_[:d]
    if not d:
        return np.repeat(whole.mean_[None], len(seen.Z), axis=0)
    model = PCA.from_components(V, mean=whole.mean_)
    return model.inverse_transform(model.transform(seen.Z))


def _frame(data: LabData, seen: Seen, whole: Any, d: int) -> Frame:
    R = _rebuilt(seen, whole, d)
    errors = ((seen.Z - R) ** 2).sum(axis=1)
    error, values = float(errors[seen.train].mean()), whole.eigenvalues_
    error = error if error > 1e-14 * float(values.sum()) else 0.0  # all components: rounding only
    X, at = data.train[0], seen.mean + R @ seen.back
    F = at[seen.train]
    marks = [feet(X, F), points(*F.T, group=0, size=0.7, label="rebuilt")]
    row = int(((X - seen.mean) ** 2).sum(axis=1).argmax())
    ring = points(*X[[row]].T, group="warn", ring=[True])
    column = np.arange(1, COLUMNS + 1)
    used = bars(np.arange(1, d + 1), values[:d], colour=[0] * d, width=0.6, label="in use")
    measured = points(column, seen.Z[seen.train][row], group="quiet", label="measured")
    panels = [
        plane("rows", [*marks, ring]),
        plane("scree", [used] if d else []),
        plane("row", [measured, line(column, R[seen.train][row], label="rebuilt")]),
    ]
    left = " + ".join(number(v) for v in values[d:]) or "0"
    sums = "".join(f" + z{i} v{i}" for i in range(1, min(d, 3) + 1)) + (" + …" if d > 3 else "")
    formula = f"d = {d}: x̂ = x̄{sums}; mean |x − x̂|² = dropped λ = {left} = {number(error)}"
    explained = round(float(values[:d].sum() / values.sum()), 4)
    numbers = {"components": d, "error": short(error), "share explained": explained}
    held = float(errors[~seen.train].mean()) if (~seen.train).any() else None
    return Frame(d, error, None, formula, numbers, {"panels": panels}, held)
