r"""Evidence against a linear model, found in its residuals.

With residuals e, leverages h, s^2 = RSS/(n - df):

    internally studentised   t_i = e_i/(s sqrt(1 - h_i))
    externally studentised   t_i sqrt((n - df - 1)/(n - df - t_i^2)) ~ t(n - df - 1)
    Cook's distance          t_i^2 h_i/((1 - h_i) df)
    Breusch-Pagan            n R^2 of the regression of e^2 on D ~ chi^2(q - 1)   (Koenker's form)
    Ramsey's RESET           F of yhat^2 added to the design
    Durbin-Watson            d = sum (e_i - e_{i-1})^2/sum e^2, by the beta distribution on [0, 4]
                             with the exact mean and variance of d under this design

References: Cook & Weisberg (1982); Breusch & Pagan (1979); Koenker (1981); Ramsey (1969);
Durbin & Watson (1950, 1971).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betainc, chdtrc, stdtr
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_number_target
from pellucid.core.algebra.least_squares import joint_moments, normal_system
from pellucid.core.algebra.linalg import EPS, orthonormal, solve_cholesky
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.core.runtime.threads import map_threads
from pellucid.linear.diagnostics.collinear import CONDITION, INFLATION, collinearity
from pellucid.linear.least_squares.inference import f_tail
from pellucid.linear.least_squares.smoother import hat_matrix, linear_smoother, scores


class Problem(NamedTuple):
    """One thing that is wrong, with its evidence and what to do."""

    name: str
    statistic: float
    p_value: float  # NaN for collinear, which is no test
    evidence: str
    remedy: str


class ResidualHealth(NamedTuple):
    """Residuals with their influence, and the problems they show (none: an empty tuple)."""

    residuals: Array
    leverage: Array
    studentized: Array  # externally; infinite where the rest fits exactly
    cooks_distance: Array
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        if not self.problems:
            return "no problem found in the residuals"
        return "\n".join(f"{p.name}: {p.evidence}; {p.remedy}" for p in self.problems)


def studentize(e: Array, h: Array, df: float) -> tuple[Array, Array]:
    """Internally and externally studentised residuals; infinite where the rest fits exactly.

    >>> inner, outer = studentize(np.array([1.0, -1.0, 0.0]), np.full(3, 1 / 3), 1.0)
    >>> inner.round(4), outer.round(4)
    (array([ 1.2247, -1.2247,  0.    ]), array([ 1.7321, -1.7321,  0.    ]))
    """
    n, rss = len(e), e @ e
    free = n - df
    room = np.maximum(1 - h, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where((room > 1e-10) & (rss > 0), e / np.sqrt(rss / free * room), 0.0)
        rest = free - inner**2
        outer = inner * np.sqrt((free - 1) / rest)
    exact = rest <= 1e-9 * free  # without this row nothing is left over
    return inner, np.where(exact, np.copysign(np.inf, inner), outer)


def explained_squares(Q: Array, v: Array) -> float:
    """Squares of v in the span of the orthonormal columns of Q."""
    return float(((Q.T @ v) ** 2).sum())


def durbin_watson(e: Array, Q: Array) -> tuple[float, float]:
    """d and its two-sided p-value; Q is an orthonormal basis of the design."""
    n, k = Q.shape
    d = float((np.diff(e) ** 2).sum() / (e @ e))

    D = Q[1:] - Q[:-1]  # A = the differences, transposed and squared: Q'AQ = D'D
    B = D.T @ D
    first = 2 * (n - 1) - np.trace(B)  # tr(M A), M = I - QQ'
    again = 2 * (np.trace(B) - np.einsum("ij,ij->", D[:-1], D[1:]))  # |AQ|^2
    squares = (6 * n - 8) - 2 * again + (B**2).sum()  # tr(M A M A)
    free = n - k
    mean = first / free
    variance = 2 * (squares - first * mean) / (free * (free + 2))
    share = mean / 4
    total = share * (1 - share) * 16 / variance - 1
    tail = float(betainc(share * total, (1 - share) * total, min(max(d / 4, 0.0), 1.0)))
    return d, min(1.0, 2 * min(tail, 1 - tail))


def residual_health(model: BaseEstimator, X: Any, y: Any, *, alpha: float = 0.05) -> ResidualHealth:
    """Diagnose a fitted linear model from its residuals on the training data.

    Parameters
    ----------
    model : a fitted linear smoother (LinearRegression, Ridge, RidgeCV, ...)
        Of one target.
    X, y : table of shape (n, p) and target of shape (n,)
        The training data.
    alpha : float, default=0.05
        Level of each test.

    Returns
    -------
    ResidualHealth with the problems found, each with its evidence and remedy. Names:
    uninformative, nonlinear, outliers, heteroscedastic, autocorrelated, collinear.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.linear import residual_health
    >>> x = np.linspace(0, 4, 30)
    >>> model = LinearRegression().fit(x[:, None], np.exp(x))
    >>> [problem.name for problem in residual_health(model, x[:, None], np.exp(x)).problems]
    ['nonlinear', 'heteroscedastic', 'autocorrelated']
    """
    check.fraction(alpha=alpha)
    if getattr(type(model), "hat_matrix", None) is not hat_matrix:
        name = type(model).__name__
        raise TypeError(f"residual_health needs a fitted linear model of pellucid, got {name}")
    check_is_fitted(model)
    names, smoother = model._feature_names(), linear_smoother(model)
    fit = np.ravel(model.predict(X))  # before the frame loses its column names
    X = model._dense_input(X)
    y = check_number_target(y, len(X), True, model)
    if y.ndim == 2 and y.shape[1] > 1:
        raise ValueError(f"residual_health looks at one target at a time, got {y.shape[1]}")
    S = scores(X, smoother)
    e, h = np.ravel(y) - fit, np.ravel(S**2 @ smoother.gain)
    n, df = len(e), float(h.sum())
    if abs(df - float(np.max(model.df_))) > 1e-6 * n:
        raise ValueError("X and y must be the training data of a fit without sample_weight")
    if n - df <= 1 + 1e-9:
        few = f"{n} rows and {df:.4g} parameters leave too few residuals to judge"
        raise ValueError(f"{few}: at least two more rows than parameters are needed")
    if e @ e <= (n * EPS) ** 2 * (y.ravel() @ y.ravel()):
        e = np.zeros(n)  # an exact fit: what is left is rounding error
    inner, outer = studentize(e, h, df)
    with np.errstate(divide="ignore", invalid="ignore"):
        cook = np.where(h < 1 - 1e-10, inner**2 * h / ((1 - h) * df), np.inf)
    plain = (smoother.gain == 1).all() and getattr(model, "condition_", np.inf) < 1e4
    Q = S if plain else orthonormal(np.column_stack([np.ones(n), X]) if smoother.intercept else X)
    P = Q if smoother.intercept else orthonormal(np.column_stack([np.ones(n), X]))
    found = [uninformative(Q, np.ravel(y), smoother.intercept, alpha)]
    if e.any():
        found += [nonlinear(Q, fit, np.ravel(y), alpha), outliers(outer, n, df, alpha)]
        found += [heteroscedastic(P, e, alpha), autocorrelated(Q, e, alpha)]
    found.append(collinear(X, names, smoother.intercept))
    return ResidualHealth(e, h, outer, cook, tuple(problem for problem in found if problem))


def uninformative(Q: Array, y: Array, intercept: bool, alpha: float) -> Problem | None:
    """The overall F-test does not reject: the inputs explain nothing."""
    n, q = len(y), Q.shape[1] - intercept
    v = y - y.mean() if intercept else y
    rss = max(v @ v - explained_squares(Q, v), 0.0)
    free = n - Q.shape[1]
    if q == 0 or free <= 0:
        return None
    F = np.inf if rss == 0 else float(explained_squares(Q, v) / q / (rss / free))
    p = float(f_tail(F, q, free)) if v.any() else 1.0
    if p <= alpha:
        return None
    what = "together the inputs explain no more of y than chance would"
    evidence = f"{what} (F = {F:.3g}, p = {p:.2g})"
    return Problem("uninformative", F, p, evidence, "look for other inputs, or more rows")


def nonlinear(Q: Array, fit: Array, y: Array, alpha: float) -> Problem | None:
    """The square of the fit, added as a column, explains more (RESET)."""
    centred = fit - fit.mean()
    scale = np.abs(centred).max(initial=0.0)
    if scale == 0:
        return None
    z = (centred / scale) ** 2
    z = z - Q @ (Q.T @ z)
    z -= Q @ (Q.T @ z)
    free = len(y) - Q.shape[1] - 1
    if free < 1 or np.linalg.norm(z) <= 1e-8 * np.sqrt(len(y)):
        return None
    r = y - Q @ (Q.T @ y)
    gain = float((z @ r) ** 2 / (z @ z))
    rest = max(float(r @ r) - gain, 0.0)
    F = np.inf if rest == 0 else gain / (rest / free)
    p = float(f_tail(F, 1, free))
    if p > alpha:
        return None
    what = "the square of the prediction explains what the line leaves over"
    evidence = f"{what} (F = {F:.3g}, p = {p:.2g}): the relation bends"
    remedy = "add basis functions: squares, logarithms, splines"
    return Problem("nonlinear", F, p, evidence, remedy)


def outliers(outer: Array, n: int, df: float, alpha: float) -> Problem | None:
    """A residual too large for the largest of n."""
    row = int(np.argmax(np.abs(outer)))
    t = float(outer[row])
    p = 0.0 if np.isinf(t) else min(1.0, n * 2 * float(stdtr(n - df - 1, -abs(t))))
    if p > alpha:
        return None
    tails = np.where(np.isinf(outer), 0.0, 2 * stdtr(n - df - 1, -np.abs(outer)))
    rows = np.flatnonzero(n * tails <= alpha)
    shown = ", ".join(str(i) for i in rows[:5]) + (", ..." if len(rows) > 5 else "")
    far = "the other rows fit exactly" if np.isinf(t) else f"{abs(t):.3g} standard errors away"
    what = f"row {row} does not follow the others ({far}; p = {p:.2g} for the largest of {n})"
    remedy = "inspect these rows; if they are no mistakes, use median (L1) regression"
    return Problem("outliers", t, p, f"{what}; rows beyond the level: {shown}", remedy)


def heteroscedastic(Q: Array, e: Array, alpha: float) -> Problem | None:
    """The size of the residuals depends on the inputs (Breusch-Pagan); Q holds a constant."""
    v = e**2 - (e**2).mean()
    q = Q.shape[1] - 1
    if q < 1 or not v @ v > 0:
        return None
    lagrange = len(e) * explained_squares(Q, v) / float(v @ v)
    p = float(chdtrc(q, lagrange))
    if p > alpha:
        return None
    test = f"Breusch-Pagan {lagrange:.3g}, p = {p:.2g}"
    what = f"the scatter around the line is not the same everywhere ({test})"
    remedy = "use summary(covariance='HC3', X=X, y=y), transform y (log), or weight the rows"
    evidence = f"{what}: ordinary standard errors are wrong"
    return Problem("heteroscedastic", lagrange, p, evidence, remedy)


def autocorrelated(Q: Array, e: Array, alpha: float) -> Problem | None:
    """Neighbouring residuals resemble each other (rows in the order of time)."""
    if len(e) < Q.shape[1] + 3:
        return None
    d, p = durbin_watson(e, Q)
    if p > alpha:
        return None
    how = "follow" if d < 2 else "alternate around"
    what = f"neighbouring residuals {how} each other (Durbin-Watson {d:.3g}, p = {p:.2g})"
    evidence = f"{what}; this means something if the rows are in the order of time or place"
    remedy = "add time or lagged inputs, give noise_covariance, or use cluster errors"
    return Problem("autocorrelated", d, p, evidence, remedy)


def clearly_independent(X: Array, intercept: bool) -> bool:
    """Whether the cross-products alone show that no column nearly follows from others."""
    rows = Rows(X, np.zeros(len(X)), unit_weights(len(X)))
    p = X.shape[1]
    G = normal_system(joint_moments(rows, map_threads), p, "centred" if intercept else "slopes").G
    scale = np.sqrt(np.diag(G))
    if len(X) <= p or not (scale > 0).all():
        return False
    solved = solve_cholesky(G / np.outer(scale, scale), np.zeros((p, 0)))
    if solved is None or solved.condition > CONDITION:
        return False
    return bool(((solved.root**2).sum(axis=1) <= INFLATION).all())


def collinear(X: Array, names: tuple[str, ...], intercept: bool) -> Problem | None:
    """The inputs nearly follow from each other."""
    if clearly_independent(X, intercept):
        return None
    found = collinearity(X, fit_intercept=intercept)
    worst = float(found.vif.max())
    if found.condition_number <= CONDITION and worst <= INFLATION:
        return None
    loose = [name for name, v in zip(names, found.vif, strict=True) if v > INFLATION]
    what = f"the inputs {', '.join(loose) or 'together'} nearly follow from each other"
    sizes = f"condition number {found.condition_number:.3g}, largest VIF {worst:.3g}"
    evidence = f"{what} ({sizes}): their single coefficients are loose"
    remedy = "use Ridge, principal components or partial least squares, or drop a column"
    return Problem("collinear", found.condition_number, np.nan, evidence, remedy)
