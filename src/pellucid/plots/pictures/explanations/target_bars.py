r"""How strongly each input goes with the target, one input at a time.

    numbers      Pearson's r, with Fisher's interval tanh(atanh r +- z/sqrt(n - 3))
    classes      the correlation ratio, sqrt(between/(between + within)) from 0 to 1

Rows with a missing cell are left out of their own column only.
"""

from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import column_or_1d

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.matrices import column_names
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.features.selection.scores import f_classif, r_regression
from pellucid.plots.panels.style import GREY, Picture, axes, colour, heading, legend

MOST = 30  # bars drawn; of more, the longest


class TargetBars(Picture):
    """Inputs, the strongest first."""

    names: tuple[str, ...]
    association: Array  # (m,)
    low: Array  # (m,) interval; NaN where there is none
    high: Array  # (m,)
    rows: Array  # (m,) rows with a value
    measure: str

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax, figsize=(6.0, 1.5 + 0.28 * len(self.names)))
        at = np.arange(len(self.names))
        for sign, word, hatch in ((1, "rises with it", ""), (-1, "falls with it", "///")):
            rows = self.association >= 0 if sign > 0 else self.association < 0
            if rows.any():
                shade = colour(0 if sign > 0 else 4)
                look = {"height": 0.7, "hatch": hatch, "alpha": 0.75, "edgecolor": "white"}
                ax.barh(at[rows], self.association[rows], label=word, color=shade, **look)
        known = np.isfinite(self.low)
        if known.any():
            low, high = self.low[known], self.high[known]
            ax.hlines(at[known], low, high, color="black", linewidth=1, label="95 % interval")
        ax.axvline(0, color=GREY, lw=1)
        ax.set_yticks(at, self.names)
        ax.set(ylim=(len(at) - 0.4, -0.6), xlabel=self.measure)
        heading(ax, self.title)
        if self.measure.startswith("correlation with"):
            legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return ax


def interval(r: Array, n: Array, confidence: float = 0.95) -> tuple[Array, Array]:
    """Fisher's interval of a correlation; NaN for fewer than four rows."""
    room = np.where(n > 3, n - 3, np.nan)
    half = ndtri((1 + confidence) / 2) / np.sqrt(room)
    with np.errstate(divide="ignore"):
        z = np.arctanh(np.clip(r, -1, 1))
    return np.tanh(z - half), np.tanh(z + half)


def classes_of(y: ArrayLike) -> bool:
    """Whether y holds classes: text, truth values or categories."""
    values = np.asarray(y)
    return values.dtype.kind not in "iuf" and not all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in values.ravel()[:100]
    )


def one_column(x: Array, y: np.ndarray, classes: bool) -> float:
    """r, or the correlation ratio, of one column without missing cells."""
    if len(x) < 2 or x.min() == x.max():
        return 0.0
    if not classes:
        return float(r_regression(x[:, None], y)[0])
    k = len(np.unique(y))
    if k < 2 or len(x) <= k:
        return 0.0
    F = float(np.asarray(f_classif(x[:, None], y)[0])[0])
    return float(np.sqrt(F * (k - 1) / (F * (k - 1) + len(x) - k))) if np.isfinite(F) else 1.0


def target_bars(X: ArrayLike, y: ArrayLike, *, classes: bool | None = None) -> TargetBars:
    """Association of each input with the target, the strongest first.

    ``X``: table of numbers; missing cells are left out column by column; ``y``: numbers or classes;
    ``classes``: whether y holds classes; default: it does if it is not numeric.

    Examples
    --------
    >>> from pellucid.plots import target_bars
    >>> picture = target_bars([[1.0, 3.0], [2.0, 1.0], [3.0, 2.0]], [1.0, 2.0, 3.0])
    >>> picture.names, picture.association
    (('x0', 'x1'), array([ 1. , -0.5]))
    """
    try:
        M = frame_matrix(X) if is_frame(X) else np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers, encode text first: {error}") from None
    if M.ndim != 2 or 0 in M.shape:
        raise ValueError(f"X must be a table with rows and columns, got shape {M.shape}")
    target = getattr(y, "name", None) or "the target"
    classes = classes_of(y) if classes is None else classes
    check.boolean(classes=classes)
    values = column_or_1d(y) if classes else column_or_1d(y).astype(np.float64)
    if len(values) != len(M):
        raise ValueError(f"X and y must have as many rows, got {len(M)} and {len(values)}")
    if not classes and not np.isfinite(values).all():
        raise ValueError("y must hold finite numbers, got NaN or infinity")
    seen = np.isfinite(M)
    columns = ((M[rows, j], values[rows]) for j, rows in enumerate(seen.T))
    found = np.array([one_column(*pair, classes) for pair in columns])
    counts = seen.sum(axis=0).astype(np.float64)
    nothing = np.full(len(found), np.nan)
    low, high = (nothing, nothing) if classes else interval(found, counts)
    names = column_names(X, M.shape[1])
    order = np.argsort(-np.abs(found), kind="stable")[:MOST]
    shown = tuple(names[j] for j in order)
    measure = f"correlation ratio with {target}" if classes else f"correlation with {target}"
    title = f"Each input by itself, {len(M)} rows"
    title += f": the {MOST} strongest of {len(names)}" if len(names) > MOST else ""
    top = order[0]
    alt = (
        f"Bars of the {measure} of {len(names)} inputs; the strongest is {names[top]} at "
        f"{found[top]:.3f}."
    )
    return TargetBars(
        alt, shown, found[order], low[order], high[order], counts[order], measure, title=title
    )
