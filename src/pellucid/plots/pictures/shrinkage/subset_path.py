"""A criterion against the number of columns: the best subsets, or the moves of a stepwise run.

With the training data and few columns every subset is a dot, so that one sees what the search had
to choose from.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.core.loops.selection import gaussian_criteria
from pellucid.plots.panels.inputs import model_names, response, table
from pellucid.plots.panels.marks import beside, ring
from pellucid.plots.panels.style import GREY, Panel, colour, heading, legend

MOST_COLUMNS = 12  # up to which all subsets are fitted: 4096 of them
QUANTITIES = ("rss", "r2", "adjusted_r2", "aic", "bic", "cp")
LABELS = {
    "rss": "residual sum of squares",
    "r2": "R²",
    "adjusted_r2": "adjusted R²",
    "aic": "AIC",
    "bic": "BIC",
    "cp": "Mallows' Cp",
    "cv": "mean squared error over the folds",
}


class SubsetPath(Panel, size=(6.4, 4.4)):
    """Sizes with their values in the order of the search, and all subsets where they were few."""

    size: Array  # (m,)
    value: Array  # (m,)
    error: Array | None  # (m,) standard errors, cross-validation only
    labels: tuple[str, ...]  # "+a", "-b" for the moves of a stepwise run, else empty
    chosen: int  # position in size and value
    dots: Array  # (s, 2) size and value of every subset, or (0, 2)
    quantity: str
    columns: tuple[str, ...]  # of the chosen model

    def _draw(self, ax: Any) -> None:
        if len(self.dots):
            ax.scatter(*self.dots.T, s=9, color=GREY, alpha=0.45, linewidths=0, label="all subsets")
        if any(self.labels):
            self._moves(ax)
        elif self.error is not None:
            x, y, label = self.size, self.value, "best of its size, ± standard error"
            ax.errorbar(x, y, yerr=self.error, color=colour(0), marker="o", capsize=3, label=label)
        else:
            ax.plot(self.size, self.value, color=colour(0), marker="o", label="best of its size")
        x, y = self.size[self.chosen], self.value[self.chosen]
        ring(ax, x, y, size=130, tint=colour(1), lw=2, zorder=4, label="chosen")
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set(xlabel="number of columns", ylabel=LABELS[self.quantity])
        heading(ax, self.title)
        legend(ax)

    def _moves(self, ax: Any) -> None:
        places = np.column_stack([self.size, self.value])
        ax.scatter(*places.T, s=30, color=colour(0), zorder=3, label="moves")
        for (a, b), (c, d), label in zip(places[:-1], places[1:], self.labels[1:], strict=True):
            shade = colour(0) if label.startswith("+") else colour(1)
            ls = "-" if label.startswith("+") else "--"
            look = {"arrowstyle": "->", "color": shade, "lw": 1.5, "ls": ls}
            ax.annotate("", (c, d), (a, b), arrowprops=look)
            middle, by = ((a + c) / 2, (b + d) / 2), (0, 8 if label.startswith("+") else -15)
            box = {"fc": "white", "ec": "none", "pad": 0.6, "alpha": 0.85}
            beside(ax, label, middle, by, color=shade, ha="center", bbox=box)
        ax.margins(x=0.12, y=0.12)


def subset_squares(M: Array, v: Array, *, intercept: bool) -> list[tuple[tuple[int, ...], float]]:
    """RSS of every subset, on the triangle of the rows.

    >>> [(s, round(r, 3)) for s, r in subset_squares(np.eye(2), np.array([1.0, 2.0]), intercept=0)]
    [((), 5.0), ((0,), 4.0), ((1,), 1.0), ((0, 1), 0.0)]
    """
    W = np.column_stack([M, v])
    W = W - W.mean(axis=0) if intercept else W
    R = np.asarray(np.linalg.qr(W, mode="r"))
    p, found = M.shape[1], []
    for mask in range(1 << p):
        chosen = [j for j in range(p) if mask >> j & 1]
        b = np.linalg.lstsq(R[:, chosen], R[:, p], rcond=None)[0] if chosen else np.zeros(0)
        found.append((tuple(chosen), float(((R[:, p] - R[:, chosen] @ b) ** 2).sum())))
    return found


def values_of(name: str, rss: Any, size: Any, n: float, intercept: bool, full: Any) -> Array:
    """A criterion from RSS; ``full`` is (RSS of no column, noise variance of all columns)."""
    tss, sigma2 = full
    rss, k = np.asarray(rss, dtype=np.float64), np.asarray(size, dtype=np.float64) + intercept
    if name == "rss":
        return rss
    if name in ("r2", "adjusted_r2"):
        r2 = 1 - rss / tss
        with np.errstate(divide="ignore", invalid="ignore"):
            adjusted = np.where(n > k, 1 - (1 - r2) * (n - intercept) / (n - k), np.nan)
        return r2 if name == "r2" else adjusted
    return np.asarray(getattr(gaussian_criteria(rss, k, n, sigma2), name))


def every_subset(E: Model, X: ArrayLike, y: ArrayLike, quantity: str) -> Array:
    """Size and criterion of all subsets: (2^p, 2); none where there are too many."""
    M, _ = table(X)
    v, _ = response(y, len(M))
    n, p = M.shape
    if p != E.n_features_in_:
        raise ValueError(f"X must have the {E.n_features_in_} columns of the fit, got {p}")
    if p > MOST_COLUMNS or quantity == "cv":
        return np.empty((0, 2))
    found = subset_squares(M, v, intercept=E.fit_intercept)
    squares = dict(found)
    known = E.subsets_ if hasattr(E, "subsets_") else E.steps_
    pairs = np.array([(squares[one.support], one.rss) for one in known])
    if not np.allclose(pairs[:, 0], pairs[:, 1], rtol=1e-6, atol=1e-9 * found[0][1]):
        raise ValueError("X and y must be the training data of a fit without sample_weight")
    size = np.array([len(columns) for columns, _ in found], dtype=np.float64)
    rss = np.array(list(squares.values()))
    free = n - p - E.fit_intercept
    full = rss[0], rss[-1] / free if free > 0 else np.nan
    dots = np.column_stack([size, values_of(quantity, rss, size, n, E.fit_intercept, full)])
    return dots[np.isfinite(dots).all(axis=1)]


def best_subsets(
    E: Model, quantity: str
) -> tuple[Array, Array, Array | None, tuple[str, ...], int]:
    """Sizes, values, errors, labels and the chosen one of a best-subset search."""
    size = np.array([subset.size for subset in E.subsets_], dtype=np.float64)
    error = None
    if quantity == "cv":
        value, error = np.asarray(E.criterion_), getattr(E, "criterion_se_", None)
    else:
        value = np.array([getattr(subset, quantity) for subset in E.subsets_])
    return size, value, error, ("",) * len(size), int(np.sum(E.support_))


def stepwise_moves(
    E: Model, quantity: str
) -> tuple[Array, Array, Array | None, tuple[str, ...], int]:
    """Sizes, values, labels of the moves of a stepwise run; the last is the choice."""
    names = model_names(E)
    size = np.array([len(step.support) for step in E.steps_], dtype=np.float64)
    if quantity == E.criterion:
        value = np.array([step.value for step in E.steps_])
    else:
        rss = np.array([step.rss for step in E.steps_])
        tss = E.rss_ / (1 - E.r2_) if E.r2_ < 1 else np.nan
        value = values_of(quantity, rss, size, E.n_observations_, E.fit_intercept, (tss, np.nan))
    signs = {"add": "+", "drop": "−", "start": "start"}
    labels = tuple(
        signs[step.move] + ("" if step.feature is None else names[step.feature])
        for step in E.steps_
    )
    return size, value, None, labels, len(size) - 1


def subset_path(
    selection: Any, X: Any = None, y: Any = None, *, criterion: str | None = None
) -> SubsetPath:
    """A criterion by size of subset; every subset a dot where X, y are given and p <= 12.

    ``selection``: fitted BestSubsetRegression or StepwiseRegression; ``X``, ``y``: training data,
    optional. ``criterion``: {"rss", "r2", "adjusted_r2", "aic", "bic", "cp", "cv"}: default: the
    one that chose ("rss" where a test did). "cv" only where it chose.

    Examples
    --------
    >>> from pellucid import BestSubsetRegression
    >>> from pellucid.plots import subset_path
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0], [5.0, 6.0], [6.0, 4.0]]
    >>> y = [1.2, 2.1, 2.8, 4.2, 5.1, 5.8]
    >>> picture = subset_path(BestSubsetRegression().fit(X, y), X, y)
    >>> picture.columns, len(picture.dots)
    (('x0',), 4)
    """
    check_is_fitted(selection)
    exhaustive = hasattr(selection, "subsets_")
    if not exhaustive and not (hasattr(selection, "steps_") and hasattr(selection, "rss_")):
        raise ValueError(
            "subset_path needs a fitted BestSubsetRegression or StepwiseRegression, got "
            f"{type(selection).__name__}"
        )
    own = selection.criterion
    quantity = criterion or ("rss" if own in ("f", "z") else own)
    allowed = QUANTITIES if exhaustive or own == "cp" else QUANTITIES[:-1]
    check.one_of((*allowed, "cv") if own == "cv" else allowed, criterion=quantity)
    read = best_subsets if exhaustive else stepwise_moves
    size, value, error, labels, chosen = read(selection, quantity)
    given = X is not None and y is not None
    dots = every_subset(selection, X, y, quantity) if given else np.empty((0, 2))
    names = model_names(selection)
    columns = tuple(names[j] for j in np.flatnonzero(selection.support_))
    what = type(selection).__name__
    shown = ", ".join(columns[:6]) + (", ..." if len(columns) > 6 else "")
    title = f"{what}: {len(columns)} of {len(names)} columns chosen ({shown or 'none'})"
    alt = (
        f"{LABELS[quantity]} against the number of columns for {what}; chosen: "
        f"{', '.join(columns) or 'no column'} with {value[chosen]:.4g}."
        + (f" Moves: {', '.join(labels[1:])}." if any(labels[1:]) else "")
        + (f" {len(dots)} subsets are shown as dots." if len(dots) else "")
    )
    return SubsetPath(alt, size, value, error, labels, chosen, dots, quantity, columns, title=title)
