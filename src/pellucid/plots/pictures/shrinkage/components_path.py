"""Error against the number of components, for principal component and partial least squares.

The training error always falls; the cross-validated one shows how many components are worth having.
"""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, Folds, MaybeArray, Model
from pellucid.core.loops.selection import one_standard_error
from pellucid.plots.panels.inputs import one_target, response, table
from pellucid.plots.panels.marks import ring
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend


class ComponentsPath(Panel):
    """Mean squared errors of 0, 1, .. components."""

    number: Array  # (M + 1,)
    training: Array  # (M + 1,) RSS/n
    validated: Array | None  # (M + 1,) mean over the folds
    error: Array | None  # (M + 1,) its standard error
    best: int | None
    simplest: int | None  # fewest components within one standard error of the best
    used: int  # components of the model itself

    def _draw(self, ax: Axes) -> None:
        y = self.training
        ax.plot(self.number, y, color=colour(0), marker="o", ms=4, ls="--", label="training error")
        if self.validated is not None:
            at = np.arange(len(self.validated))
            word = "cross-validated, ± standard error"
            y, tint = self.validated, colour(1)
            ax.errorbar(at, y, yerr=self.error, color=tint, marker="s", ms=4, capsize=3, label=word)
            both = self.best == self.simplest
            look: Any = {"size": 130, "lw": 2, "zorder": 4}
            label = "best and one-standard-error" if both else "best"
            ring(ax, self.best, self.validated[self.best], tint=colour(2), label=label, **look)
            if not both:
                best, look["marker"], label = self.simplest, "D", "one-standard-error"
                ring(ax, best, self.validated[best], tint=colour(3), label=label, **look)
        ax.axvline(self.used, color="black", lw=1, ls=":", label=f"the model: {self.used}")
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=0)
        ax.set(xlabel="number of components", ylabel="mean squared error")
        heading(ax, self.title)
        legend(ax)


def fold_errors(E: Model, M: Array, v: Array, cv: Folds) -> Array:
    """Mean squared error of 0..M components on each fold: (folds, M + 1)."""
    splitter = KFold(cv, shuffle=True, random_state=0) if isinstance(cv, int) else check_cv(cv)
    found = []
    for train, test in splitter.split(M, v):
        path = np.asarray(clone(E).fit(M[train], v[train]).coef_path_)
        guess = v[train].mean() + (M[test] - M[train].mean(axis=0)) @ path
        found.append(((v[test, None] - guess) ** 2).mean(axis=0))
    most = min(len(errors) for errors in found)  # fewer rows may have fewer components
    return np.array([errors[:most] for errors in found])


def components_path(
    E: Model, X: MaybeArray = None, y: MaybeArray = None, *, cv: Folds = 5, target: int = 0
) -> ComponentsPath:
    """Training and cross-validated error by number of components.

    ``E``: fitted PrincipalComponentRegression or PLSRegression; ``cv``: folds as a number or a
    splitter, 5 by default. ``X``, ``y``: training data; with them the error is cross-validated here
    (rows are shuffled with a fixed seed), unless the model did so itself (``n_components="cv"``).
    ``target``: which of several targets (training error only).

    Examples
    --------
    >>> from pellucid import PrincipalComponentRegression
    >>> from pellucid.plots import components_path
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]]
    >>> model = PrincipalComponentRegression().fit(X, [0.0, 1.0, 4.0, 5.0])
    >>> components_path(model).training.round(3)
    array([4.25, 0.25, 0.  ])
    """
    check_is_fitted(E)
    what = type(E).__name__
    if not hasattr(E, "rss_path_"):
        raise ValueError(
            "components_path needs a fitted PrincipalComponentRegression or PLSRegression, got "
            f"{what}"
        )
    training = np.maximum(one_target(E.rss_path_, target, 1), 0.0) / E.n_observations_
    validated = error = best = simplest = None
    if hasattr(E, "criterion_"):
        validated, error = np.asarray(E.criterion_), np.asarray(E.criterion_se_)
    elif X is not None and y is not None:
        M, _ = table(X)
        v, _ = response(y, len(M))
        model = clone(E)
        if getattr(E, "n_components", None) is None:
            model.set_params(n_components=None)
        errors = fold_errors(model, M, v, cv)
        validated = errors.mean(axis=0)
        error = errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    alt = f"Mean squared error of {what} against the number of components: on the training rows "
    alt += f"from {training[0]:.4g} (none) to {training[-1]:.4g} ({len(training) - 1})"
    if validated is not None and error is not None:
        best = int(np.argmin(validated))
        sizes = np.arange(len(validated))
        simplest = one_standard_error(validated, error, sizes, greater_is_better=False)
        alt += f"; cross-validated least {validated[best]:.4g} with {best}, "
        alt += f"one-standard-error choice {simplest}"
    used = int(getattr(E, "n_components_", len(training) - 1))
    title = f"{what}: error by number of components"
    number = np.arange(len(training), dtype=np.float64)
    return ComponentsPath(
        f"{alt}.", number, training, validated, error, best, simplest, used, title=title
    )
