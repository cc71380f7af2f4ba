"""Laplace's normal approximation over the true posterior, with the mode.

Two parameters: the contours that hold given shares of the normal approximation, and the contours of
the posterior at the same densities relative to the mode, others held at the mode. One parameter:
both curves.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_weights
from pellucid.core.arrays.typing import Array, Columns, Model
from pellucid.core.loops.statistics import Rows
from pellucid.inference.estimation.laplace import LaplaceApproximation
from pellucid.linear.bayes.bayesian_logistic import BayesianLogisticRegression, Walker, check_prior
from pellucid.linear.bayes.posterior_mode import kernel_rows, label_pull
from pellucid.plots.panels.inputs import given_names, read_table, two_columns
from pellucid.plots.panels.marks import isolines
from pellucid.plots.panels.planes import labels_of
from pellucid.plots.panels.posteriors import parameter_label
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading, legend

SHARES = (0.5, 0.8, 0.95)  # of the normal approximation inside each ellipse
REACH = 4.5  # standard deviations shown
SIDE = 121


class Laplace(Picture):
    """Log densities relative to the mode on a grid, true and approximate."""

    lines: tuple[Array, ...]  # one or two axes
    exact: Array  # (g,) or (gy, gx) log density less that of the mode
    normal: Array  # same shape
    mode: Array  # (1,) or (2,)
    covariance: Array  # of the shown parameters, the others held at the mode
    gap: float  # share of the probability that lies elsewhere (total variation on the grid)
    names: tuple[str, ...]

    def plot(self, ax: Axes | None = None) -> Any:
        ax = axes(ax, figsize=(7.4, 4.8) if len(self.lines) == 2 else (6.0, 4.0))
        if len(self.lines) == 1:
            x = self.lines[0]
            ax.plot(x, np.exp(self.exact), color=colour(0), lw=2.2, label="posterior")
            label = "normal approximation"
            ax.plot(x, np.exp(self.normal), color=colour(1), lw=2, ls="--", label=label)
            ax.axvline(self.mode[0], color="black", lw=1, ls=":", label="mode (MAP)")
            ax.set(xlabel=parameter_label(self.names[0]), ylabel="density over that of the mode")
            legend(ax)
        else:
            levels = sorted(np.log1p(-s) for s in SHARES)  # exp(-r^2/2) of the ellipse of share s
            top = max(self.exact.max(), 0.0)
            tints = [colour(5), colour(0), "#003f66"]
            look: Any = {"alpha": 0.35, "colors": tints}
            ax.contourf(*self.lines, self.exact, levels=[*levels, top + 1e-9], **look)
            isolines(ax, *self.lines, self.exact, levels=levels, tint=colour(0), lw=1.2, ls="-")
            isolines(ax, *self.lines, self.normal, levels=levels, tint=colour(1), lw=1.8, ls="--")
            ax.plot([], [], color=colour(0), lw=5, alpha=0.5, label="posterior")
            label = "normal: " + ", ".join(f"{s:.0%}" for s in SHARES)
            ax.plot([], [], color=colour(1), lw=1.8, ls="--", label=label)
            ax.plot(*self.mode, "P", color="black", ms=10, mec="white", label="mode (MAP)")
            ax.set(xlabel=parameter_label(self.names[0]), ylabel=parameter_label(self.names[1]))
            legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        heading(ax, f"Laplace's approximation: off by {self.gap:.1%}", self.note)
        return ax


def conditional(mean: Array, cov: Array, shown: list[int]) -> Array:
    """The covariance of some coordinates of a normal density, the others held at the mean."""
    A = np.linalg.inv(cov)
    return np.linalg.inv(A[np.ix_(shown, shown)])


def logistic_posterior(
    E: Model, X: np.ndarray, y: np.ndarray
) -> tuple[Callable[[Array], Array], Array, Array]:
    """Log posterior of rows of coefficients, its mode and the covariance of the approximation."""
    if len(E.classes_) != 2:
        raise ValueError(f"laplace draws a posterior of two classes, got {len(E.classes_)}")
    if X is None or y is None:
        raise ValueError("laplace needs the data of the fit to know the posterior: give X and y")
    table = read_table(X, E)
    codes = labels_of(y, len(table.X), E.classes_).codes
    q = table.X.shape[1] + bool(E.fit_intercept)
    rows = Rows(table.X, codes, check_weights(None, table.X))
    prior = check_prior(E.prior, q, 2)
    XT, w = kernel_rows(rows, E.fit_intercept)
    walker = Walker(XT, w, label_pull(rows, 2, E.fit_intercept), prior, False)
    off = float(np.abs(slope(walker.values, E.map_)).max())
    if off > 1e-2 * (1 + np.sqrt(len(codes))):
        raise ValueError("X and y must be those of the fit: its mode is no mode of their posterior")
    again = BayesianLogisticRegression(prior=E.prior, fit_intercept=E.fit_intercept)
    model = again.fit(table.given, y) if E.method == "metropolis" else E
    cov = model.posterior_covariance_
    return walker.values, np.asarray(E.map_), np.asarray(cov)


def slope(values: Callable[[Array], Array], theta: Array) -> Array:
    """The gradient by central differences."""
    h = 1e-5 * np.maximum(1.0, np.abs(theta))
    steps = np.diag(h)
    return (values(theta + steps) - values(theta - steps)) / (2 * h)


def row_by_row(log_density: Any) -> Callable[[Array], Array]:
    """A log density of one point, for rows of points."""
    return lambda theta: np.array([float(log_density(t)) for t in theta])


def laplace(
    E: Any,
    X: Any = None,
    y: Any = None,
    *,
    columns: Columns | None = None,
    log_density: Any = None,
    names: Any = None,
) -> Laplace:
    """A normal approximation over the posterior that it stands for.

    ``E``: fitted BayesianLogisticRegression of two classes; or what ``laplace_approximation``
    returned; ``X``, ``y``: the data of the fit, for the former; ``log_density``: callable x -> log
    density, for what ``laplace_approximation`` returned; ``names``: names of its coordinates,
    optional.

    Parameters
    ----------
    columns : two names or positions of parameters, optional
        "intercept" is number 0 where there is one; the others are held at the mode. Default: the
        first two; one parameter is drawn as a curve.

    Examples
    --------
    >>> from pellucid.inference import laplace_approximation
    >>> from pellucid.plots import laplace
    >>> f = lambda x: -0.5 * float(x @ x)
    >>> picture = laplace(laplace_approximation(f, [1.0, 1.0]), log_density=f)
    >>> round(picture.gap, 6)  # a normal density is its own approximation
    0.0
    """
    if isinstance(E, LaplaceApproximation):
        if not callable(log_density):
            raise ValueError("laplace needs log_density= to draw what was approximated")
        mode, cov = E.mode, E.cov
        labels = given_names(names, len(mode))
        values = row_by_row(log_density)
    elif isinstance(E, BayesianLogisticRegression):
        check_is_fitted(E)
        values, mode, cov = logistic_posterior(E, X, y)
        labels = E._names()
    else:
        raise ValueError(
            "laplace draws a BayesianLogisticRegression or a LaplaceApproximation, got "
            f"{type(E).__name__}"
        )
    wanted = (0, 1) if columns is None else columns
    shown = [0] if len(mode) == 1 else list(two_columns(wanted, labels))
    return _record(values, mode, cov, labels, shown)


def _record(
    values: Callable[[Array], Array], mode: Array, cov: Array, labels: Any, shown: list[int]
) -> Laplace:
    S = conditional(mode, cov, shown)
    sd = np.sqrt(np.diag(S))
    side = 401 if len(shown) == 1 else SIDE
    ends = ((mode[j] - REACH * s, mode[j] + REACH * s) for j, s in zip(shown, sd, strict=True))
    lines = tuple(np.linspace(low, high, side) for low, high in ends)
    places = np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, len(shown))
    shape = (len(lines[0]),) if len(lines) == 1 else (len(lines[1]), len(lines[0]))
    theta = np.tile(mode, (len(places), 1))
    theta[:, shown] = places
    exact = values(theta) - values(mode[None])[0]
    gap = places - mode[shown]
    normal = -0.5 * np.einsum("ni,ij,nj->n", gap, np.linalg.inv(S), gap)
    p, q = np.exp(exact), np.exp(normal)
    off = float(np.abs(p / p.sum() - q / q.sum()).sum() / 2)  # total variation on the grid
    names = tuple(labels[j] for j in shown)
    note = "other parameters held at the mode" if len(mode) > len(shown) else ""
    said = ", ".join(f"{n} {v:.4g}" for n, v in zip(names, mode[shown], strict=True))
    alt = (
        f"Posterior of {' and '.join(names)} with Laplace's normal approximation at the mode "
        f"({said}); {off:.1%} of the probability lies elsewhere."
    )
    densities = (exact.reshape(shape), normal.reshape(shape))
    return Laplace(alt, lines, *densities, mode[shown], S, off, names, note=note)
