"""Coefficient profiles: how the coefficients of a model grow as its penalty falls, or step by step.

It draws what the path functions return and what the path-walking estimators keep. The models that
choose their penalty by cross-validation keep no path: given X and y, it is computed for their own
penalties, and the best and the one-standard-error choice are marked.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.core.loops.selection import one_standard_error
from pellucid.linear.lasso.lasso_cv import PenalisedCV
from pellucid.linear.lasso.paths import enet_path
from pellucid.linear.logistic.logistic_cv import LogisticRegressionCV
from pellucid.linear.logistic.paths import LogisticPath, logistic_path
from pellucid.linear.ridge.paths import RidgePath, ridge_path
from pellucid.linear.ridge.ridge_cv import RidgeCV
from pellucid.plots.panels.inputs import given_names, model_names, one_target, response, table
from pellucid.plots.panels.marks import STYLES, thinned
from pellucid.plots.panels.style import GREY, LIGHT, Axes, Panel, colour, heading, legend

AXES = ("lambda", "df", "t/t0", "arc", "step")
NAMED = 10  # profiles with a colour and a name; of more, the largest


class CoefficientPath(Panel, size=(7.6, 4.2)):
    """Profiles over ``at``; ``marks`` are (place, words) of the values that were chosen."""

    at: Array  # (m,)
    coefs: Array  # (p, m)
    names: tuple[str, ...]
    marks: tuple[tuple[float, str], ...]
    axis: str  # lambda, df, t/t0, arc or step
    label: str

    def _draw(self, ax: Axes) -> None:
        ax.axhline(0, color=GREY, lw=0.8)
        largest = np.argsort(-np.abs(self.coefs).max(axis=1), kind="stable")
        named = set(np.sort(largest[:NAMED]).tolist())
        few = len(self.at) <= 30
        for j in sorted(set(range(len(self.names))) - named):
            ax.plot(self.at, self.coefs[j], color=LIGHT, lw=1)
        for i, j in enumerate(sorted(named)):
            y, tint, ls = self.coefs[j], colour(i % 7), STYLES[i // 7 % 4]
            label = self.names[j]
            ax.plot(self.at, y, color=tint, ls=ls, lw=1.6, marker="." if few else None, label=label)
        if len(self.names) > NAMED:
            ax.plot([], [], color=LIGHT, label=f"{len(self.names) - NAMED} more")
        for i, (place, word) in enumerate(self.marks):
            ax.axvline(place, color="black", lw=1.1, ls=(":", "--", "-.")[i % 3], label=word)
        if self.axis == "lambda":
            if self.at.min() > 0:
                ax.set_xscale("log")
            ax.invert_xaxis()  # the model grows to the right on every axis
        ax.set(xlabel=self.label, ylabel="coefficient")
        heading(ax, self.title)
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


class Profile(NamedTuple):
    """Coefficients from the smallest model to the largest."""

    coefs: Array  # (p, m)
    alphas: Array | None  # (m,) falling
    df: Array | None
    names: tuple[str, ...]
    marks: tuple[tuple[int, str], ...]  # positions on the path
    axis: str  # the usual one
    what: str
    step: str = "step"
    power: int = 1  # t = sum |w|^power


def of_ridge(path: Any, names: Any, target: int, marks: Any = None) -> Profile:
    alphas = np.asarray(path.alphas)
    order = np.argsort(-alphas, kind="stable")
    coefs = one_target(path.coefs, target, 2)[:, order]
    if marks is None:
        loo, gcv = (np.argmin(one_target(v, target, 1)[order]) for v in (path.loocv, path.gcv))
        marks = [(loo, "least LOO error"), (gcv, "least gcv")]
        marks = [(loo, "least LOO error and gcv")] if loo == gcv else marks
    marks = tuple((int(i), f"{word}: λ = {alphas[order][i]:.3g}") for i, word in marks)
    df, names = np.asarray(path.df)[order], given_names(names, len(coefs))
    return Profile(coefs, alphas[order], df, names, marks, "lambda", "Ridge", power=2)


def of_tuple(path: tuple[Any, ...], names: Sequence[str], target: int) -> Profile:
    """(alphas, coefs, gaps) of lasso_path or enet_path; (alphas, active, coefs) of lars_path."""
    lars = np.ndim(path[1]) == 1 and np.ndim(path[2]) == 2
    alphas = np.asarray(path[0], dtype=np.float64)
    found = path[2] if lars else path[1]
    if alphas.ndim != 1 or np.ndim(found) not in (2, 3) or np.shape(found)[-1] != len(alphas):
        raise ValueError(
            "a path is (alphas, coefs, ...) with one column of coefs per alpha, got shapes "
            f"{alphas.shape} and {np.shape(found)}"
        )
    order = np.argsort(-alphas, kind="stable")
    coefs = one_target(found, target, 2)[:, order]
    what = "Least angle path" if lars else "Lasso or elastic net path"
    axis = "t/t0" if lars else "lambda"
    return Profile(coefs, alphas[order], None, given_names(names, len(coefs)), (), axis, what)


def of_logistic(path: LogisticPath, names: Sequence[str], target: int) -> Profile:
    """Weights along a rising C, drawn against lambda = 1/C; of several classes one."""
    coefs = np.asarray(path.coefs)
    if coefs.ndim == 3:
        coefs = one_target(np.moveaxis(coefs, 1, 0), target, 2)  # (L, p) of one class
    coefs = coefs.T
    what = "Logistic regression path"
    what += f", class {target}" if np.ndim(path.coefs) == 3 else ""
    names = given_names(names, len(coefs))
    return Profile(coefs, 1 / np.asarray(path.Cs), None, names, (), "lambda", what)


def of_logistic_search(E: Any, X: ArrayLike, y: ArrayLike, names: Any, target: int) -> Profile:
    """LogisticRegressionCV: the path over its own grid, the chosen C marked."""
    if X is None or y is None:
        raise ValueError("LogisticRegressionCV keeps no path: give its training data X and y too")
    names = table(X)[1] if names is None else names
    ratio = float(np.ravel(E.l1_ratio_)[0])
    C = float(np.ravel(E.C_)[0])
    path = logistic_path(X, y, Cs=np.asarray(E.Cs_), l1_ratio=ratio, fit_intercept=E.fit_intercept)
    found = of_logistic(path, names, target)
    at = int(np.abs(np.log(path.Cs / C)).argmin())
    return found._replace(marks=((at, f"chosen: C = {C:.3g}"),), what="LogisticRegressionCV")


def choices(mean: Array, error: Array, alphas: Array) -> list[tuple[int, str]]:
    """Positions of the best penalty and of the strongest within one standard error of it."""
    best = int(np.nanargmin(np.where(np.isfinite(mean), mean, np.nan)))
    if not np.isfinite(error[best]):
        return [(best, "best")]
    simple = one_standard_error(mean, error, -alphas, greater_is_better=False)
    if simple == best:
        return [(best, "best and one-standard-error")]
    return [(best, "best"), (simple, "one-standard-error")]


def of_search(E: Any, X: ArrayLike, y: ArrayLike, names: Any, target: int) -> Profile:
    """RidgeCV, LassoCV or ElasticNetCV: the path over their own penalties, from the data."""
    if X is None or y is None:
        raise ValueError(f"{type(E).__name__} keeps no path: give its training data X and y too")
    M, found = table(X)
    names = found if names is None else names
    if isinstance(E, RidgeCV):
        path = ridge_path(M, y, alphas=E.alphas_, fit_intercept=E.fit_intercept)
        order = np.argsort(-path.alphas, kind="stable")
        mean, error = (one_target(v, target, 1)[order] for v in (E.criterion_, E.criterion_se_))
        chosen = choices(mean, error, path.alphas[order])
        return of_ridge(path, names, target, chosen)._replace(what="RidgeCV")
    values, _ = response(y, len(M))
    ratio = getattr(E, "l1_ratio_", 1.0)
    ratios = np.atleast_1d(getattr(E, "l1_ratio", 1.0))
    row = int(np.argmin(np.abs(ratios - ratio)))
    alphas = np.asarray(E.alphas_)
    alphas = alphas if alphas.ndim == 1 else alphas[row]
    errors = np.reshape(E.mse_path_, (len(ratios), len(alphas), -1))[row]  # (alphas, folds)
    A, c = (M - M.mean(axis=0), values - values.mean()) if E.fit_intercept else (M, values)
    _, coefs, _ = enet_path(
        A, c, l1_ratio=ratio, alphas=alphas, positive=E.positive, tol=E.tol, max_iter=E.max_iter
    )
    k = errors.shape[1]
    error = errors.std(axis=1, ddof=1) / np.sqrt(k) if k > 1 else np.full(len(alphas), np.nan)
    chosen = choices(errors.mean(axis=1), error, alphas)
    marks = tuple((i, f"{word}: λ = {alphas[i]:.3g}") for i, word in chosen)
    what = f"{type(E).__name__}, l1_ratio {ratio:g}" if ratio != 1 else type(E).__name__
    return Profile(coefs, alphas, None, given_names(names, len(coefs)), marks, "lambda", what)


def of_walker(E: Model, names: Any, target: int) -> Profile:
    """Lars, LassoLars, LassoLarsIC, stagewise, PCR, PLS: the path that the model kept."""
    what = type(E).__name__
    names = model_names(E) if names is None else names
    kept, alphas = E.coef_path_, getattr(E, "alphas_", None)
    if isinstance(kept, list):  # several targets of least angle regression
        one_target(np.empty((len(kept), 1, 1)), target, 2)
        kept, alphas = kept[target], alphas[target] if alphas is not None else None
    coefs = one_target(kept, target, 2)
    names = given_names(names, len(coefs))
    if alphas is not None:
        marks: tuple[tuple[int, str], ...] = ()
        if hasattr(E, "alpha_") and np.ndim(E.alpha_) == 0:
            at = int(np.argmin(np.abs(np.asarray(alphas) - E.alpha_)))
            marks = ((at, f"chosen: λ = {E.alpha_:.3g}"),)
        return Profile(coefs, np.asarray(alphas), None, names, marks, "t/t0", what)
    if not hasattr(E, "n_components"):
        return Profile(coefs, None, None, names, (), "step", what, "number of moves")
    marks = ()
    if hasattr(E, "criterion_"):
        sizes = np.arange(len(E.criterion_))
        found = choices(E.criterion_, E.criterion_se_, -sizes.astype(np.float64))
        marks = tuple((i, f"{word}: {i}") for i, word in found)
    return Profile(coefs, None, None, names, marks, "step", what, "number of components")


def along(found: Profile, axis: str) -> tuple[Array, str]:
    """The places of the path on an axis, and its label."""
    coefs = found.coefs
    if axis == "lambda":
        if found.alphas is None:
            raise ValueError(f"{found.what} has no penalty: use x='t/t0', 'arc' or 'step'")
        return found.alphas, "λ (penalty), falling to the right"
    if axis == "df":
        if found.df is not None:
            return found.df, "degrees of freedom"
        return np.count_nonzero(coefs, axis=0).astype(np.float64), "coefficients that are not 0"
    if axis == "step":
        return np.arange(coefs.shape[1], dtype=np.float64), found.step
    if axis == "arc":
        moved = np.abs(np.diff(coefs, axis=1)).sum(axis=0)
        return np.append(0.0, np.cumsum(moved)), "arc length, Σ|steps of w|"
    size = (np.abs(coefs) ** found.power).sum(axis=0)
    term = "Σw²" if found.power == 2 else "Σ|w|"
    return size / (size.max() or 1.0), f"t/t₀ = {term} over its largest value on the path"


def coefficient_path(
    path: Any,
    X: Any = None,
    y: Any = None,
    *,
    x: str | None = None,
    names: Any = None,
    target: int = 0,
) -> CoefficientPath:
    """Coefficients against the penalty, degrees of freedom, size of the model, or step.

    ``X``, ``y``: training data, for the last four only.

    Parameters
    ----------
    path : what ``ridge_path``, ``lasso_path``, ``enet_path``, ``lars_path`` or ``logistic_path``
        (against lambda = 1/C) returned; or a fitted Lars, LassoLars, LassoLarsIC,
        StagewiseRegression, PrincipalComponentRegression, PLSRegression; or, with X and y, a fitted
        RidgeCV, LassoCV, ElasticNetCV or LogisticRegressionCV
    x : {"lambda", "df", "t/t0", "arc", "step"}, optional
        The horizontal axis. Default: the usual one of the method.
    names : names of the columns, optional
        Default: those of the frame the model was fitted on, or x0, x1, ...
    target : int, default=0
        Which of several targets; of a logistic path which of several classes.

    Examples
    --------
    >>> from pellucid import Lars
    >>> from pellucid.plots import coefficient_path
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]]
    >>> picture = coefficient_path(Lars().fit(X, [1.0, 3.0, 4.0, 6.0]))
    >>> picture.at.round(2), picture.coefs[:, -1].round(2)
    (array([0.  , 0.75, 1.  ]), array([ 1.75, -0.25]))
    """
    if isinstance(path, RidgePath):
        found = of_ridge(path, names, target)
    elif isinstance(path, LogisticPath):
        found = of_logistic(path, names, target)
    elif isinstance(path, LogisticRegressionCV):
        check_is_fitted(path)
        found = of_logistic_search(path, X, y, names, target)
    elif isinstance(path, tuple) and len(path) >= 3:
        found = of_tuple(path, names, target)
    elif isinstance(path, RidgeCV | PenalisedCV):
        check_is_fitted(path)
        found = of_search(path, X, y, names, target)
    elif hasattr(path, "fit"):
        check_is_fitted(path)
        if not hasattr(path, "coef_path_"):
            raise ValueError(
                f"{type(path).__name__} keeps no path of coefficients; draw ridge_path(X, y), "
                "lasso_path(X, y) or a fitted Lars, LassoCV, RidgeCV"
            )
        found = of_walker(path, names, target)
    else:
        raise ValueError(f"coefficient_path needs a path or a fitted model, got {path!r:.60}")
    if x is not None:
        check.one_of(AXES, x=x)
    axis = x or found.axis
    at, label = along(found, axis)
    rows: IntArray = thinned(len(at))
    marks = tuple((float(at[i]), word) for i, word in found.marks)
    p = len(found.names)
    last = found.coefs[:, -1]
    alt = f"Profiles of {p} coefficients, {found.what}, against {label}; at the end "
    alt += f"{np.count_nonzero(last)} are not 0, the largest {found.names[np.abs(last).argmax()]}"
    alt += f" at {last[np.abs(last).argmax()]:.4g}."
    alt += "".join(f" Marked: {word}." for _, word in marks)
    title = f"{found.what}: {p} coefficients"
    drawn = (at[rows], found.coefs[:, rows], found.names, marks)
    return CoefficientPath(alt, *drawn, axis, label, title=title)
