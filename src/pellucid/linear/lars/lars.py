r"""Least angle regression (Lars) and the lasso by its walk (LassoLars).

The path itself is ``least_angle.py``; here are the estimators. X and y are centred for the
intercept and not scaled (``ScaledRegressor`` with ``UnitNormScaler`` gives the textbook's unit
norm). Several targets are walked one after the other.

    Lars        stops after ``n_nonzero_coefs`` steps
    LassoLars   stops where alpha = max_j |x_j'r| / n; then w = argmin RSS/(2n) + alpha |w|_1
"""

from abc import abstractmethod
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext, History
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.linear.lars import least_angle
from pellucid.linear.lars.least_angle import LarsPath, Rule, Walk, interpolate
from pellucid.linear.lars.problem import Problems, problems
from pellucid.linear.linear_model import LinearModel


class LeastAngle(LinearModel):
    """Base of the two estimators: everything but where the path ends."""

    @abstractmethod
    def _rule(self) -> Rule:
        """Check the parameters and say where the path ends."""

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, Xy: ArrayLike | None = None, sample_weight: Any = None
    ) -> Self:
        """Fit the path; ``Xy`` is accepted for scikit-learn's sake (X'y is computed anyway)."""
        rule = self._rule()
        rows = self._open(X, y, sample_weight)
        if self.jitter is not None:
            rows = jittered(rows, self.jitter, generator(self.random_state))
        steps = int(rule.max_iter) if rule.max_iter < np.inf else None
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight, max_steps=steps)
        self._walk(rows, map_threads, context)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        if self.jitter is not None:
            raise ValueError("jitter needs the rows in memory: use fit, or jitter=None")
        self._walk(rows, map_, None)

    def _walk(self, rows: Source, map_: Map, context: FitContext | None) -> None:
        rule, p = self._rule(), self.n_features_in_
        total = self._sums(rows, map_) if rows.n_rows > p else None
        found = problems(rows, map_, total, p, intercept=self.fit_intercept)
        self.n_observations_ = found.parts[0].n
        paths: list[LarsPath] = []
        for t, problem in enumerate(found.parts):
            task = context
            if context is not None and len(found.parts) > 1:
                task = context.subtask(f"target {t}", None)
            if task is not None:
                task.attributes = partial(self._attributes, rule, found, paths)
            path = least_angle.walk_path(problem, rule, whole=self.fit_path, context=task)
            paths.append(path)
            if task is not None and task is not context:
                task.end()
        self._set(paths, found)

    def _attributes(
        self, rule: Rule, found: Problems, done: list[LarsPath], walk: Walk | None
    ) -> dict[str, Any]:
        """Coefficients as if the fit had stopped here; targets not walked yet are at 0."""
        coef = np.zeros((len(found.parts), self.n_features_in_))
        for t, path in enumerate(done):
            coef[t] = path.coefs[:, -1]
        if walk is not None and len(done) < len(coef):
            coef[len(done)] = least_angle.last_coefficient(walk, rule)
        coef, b = self._line(found, coef)
        return {"coef_": coef, "intercept_": b, "n_observations_": self.n_observations_}

    def _line(self, found: Problems, coef: Array) -> tuple[Array, Any]:
        """``coef_`` and ``intercept_`` of coefficients (k, p)."""
        intercept = found.intercept(coef) if self.fit_intercept else np.zeros(len(coef))
        return (coef[0], float(intercept[0])) if len(coef) == 1 else (coef, intercept)

    def _set(self, paths: list[LarsPath], found: Problems) -> None:
        pick = (lambda values: values[0]) if len(paths) == 1 else (lambda values: values)
        coef = np.array([path.coefs[:, -1] for path in paths])
        self.coef_, self.intercept_ = self._line(found, coef)
        self.alphas_ = pick([path.alphas for path in paths])
        self.active_ = pick([path.active for path in paths])
        self.moves_ = pick([path.moves for path in paths])
        self.n_iter_ = pick([max(path.n_iter, 1) for path in paths])
        self.skipped_ = pick([path.dependent for path in paths])
        rows = [{**row, "target": t} for t, path in enumerate(paths) for row in path.history]
        self.history_ = paths[0].history if len(paths) == 1 else History(rows)
        self._constant = [int(j) for j in np.flatnonzero(found.parts[0].norm == 0)]
        self.__dict__.pop("coef_path_", None)
        if self.fit_path:
            self.coef_path_ = pick([np.ascontiguousarray(path.coefs) for path in paths])

    def coef_at(self, alpha: float) -> Array:
        """The coefficients at ``alpha`` on the path, (p,) or (k, p): linear between knots."""
        check_is_fitted(self)
        check.non_negative(alpha=alpha)
        if not hasattr(self, "coef_path_"):
            raise ValueError("coef_at needs the whole path: fit with fit_path=True")
        if isinstance(self.coef_path_, list):
            pairs = zip(self.alphas_, self.coef_path_, strict=True)
            return np.array([interpolate(alphas, coefs, alpha) for alphas, coefs in pairs])
        return interpolate(self.alphas_, self.coef_path_, alpha)

    def _check_shared(self) -> None:
        check.boolean(fit_intercept=self.fit_intercept, copy_X=self.copy_X, fit_path=self.fit_path)
        check.non_negative(eps=self.eps)
        if self.jitter is not None:
            check.non_negative(jitter=self.jitter)
            generator(self.random_state)
        check_precompute(self.precompute)

    def _notes(self) -> tuple[str, ...]:
        names = self._feature_names()
        parts = [self.skipped_] if np.ndim(self.coef_) == 1 else self.skipped_
        left_out = {
            "skipped, combinations of active columns": sorted({j for part in parts for j in part}),
            "constant columns have coefficient 0": self._constant,
        }
        listed = {why: ", ".join(names[j] for j in js[:10]) for why, js in left_out.items()}
        return tuple(f"{why}: {which}" for why, which in listed.items() if which)

    def _numbers(self) -> dict[str, Any]:
        alphas = self.alphas_ if np.ndim(self.coef_) == 1 else self.alphas_[0]
        numbers = {"n": self.n_observations_, "steps": int(np.max(self.n_iter_))}
        numbers |= {"non-zero": int(np.count_nonzero(self.coef_)), "last alpha": float(alphas[-1])}
        return {**numbers, "objective": float(self.history_["objective"][-1])}


class Lars(LeastAngle):
    """Least angle regression: columns join as soon as they are as correlated as the active ones.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    n_nonzero_coefs : int, default=500
        Steps, and so active columns, at most; ``np.inf`` for no limit. All of them: least squares.
    eps : float
        A column nearer than this (relative to its length) to the span of the active ones is
        skipped; at least max(n, p) times the precision of float64.
    fit_path : bool, default=True
        False keeps the last knot only.
    jitter : float, optional
        Uniform noise up to this is added to y (from ``random_state``), to break ties.
    random_state : int, RandomState or Generator, optional
        Draws the noise of ``jitter``.
    verbose, precompute, copy_X
        Accepted for scikit-learn's sake; nothing is printed or overwritten, and the
        cross-products are used where they cost no digits.

    Attributes
    ----------
    coef_, intercept_ : at the end of the path
    coef_path_ : (p, n_iter_ + 1), one column per knot; column 0 is the empty model
    alphas_ : (n_iter_ + 1,), max_j |x_j'r| / n at each knot
    active_, moves_ : active columns in order; [("add", j), ...]
    skipped_ : columns left out because they are combinations of active ones
    n_iter_, history_ : steps; objective RSS/(2n), alpha and number of active columns at each knot

    With several targets ``alphas_ active_ moves_ coef_path_ n_iter_`` are lists, one per target.

    Examples
    --------
    >>> from pellucid import Lars
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]]
    >>> model = Lars().fit(X, [1.0, 3.0, 4.0, 6.0])
    >>> model.moves_, model.coef_.round(6)
    ([('add', 0), ('add', 1)], array([ 1.75, -0.25]))
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        verbose: int = False,
        precompute: bool | Literal["auto"] | ArrayLike = "auto",
        n_nonzero_coefs: float = 500,
        eps: float = EPS,
        copy_X: bool = True,
        fit_path: bool = True,
        jitter: float | None = None,
        random_state: Seed = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.n_nonzero_coefs = n_nonzero_coefs
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.jitter = jitter
        self.random_state = random_state

    def _rule(self) -> Rule:
        self._check_shared()
        if not (isinstance(self.n_nonzero_coefs, float) and self.n_nonzero_coefs == np.inf):
            check.whole(n_nonzero_coefs=self.n_nonzero_coefs)
        return Rule(False, False, 0.0, self.n_nonzero_coefs, self.eps)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        done = np.ndim(self.coef_) == 1 and self.alphas_[-1] == 0
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation="squared error; no single objective: at each knot the active columns are "
            "equally correlated with the residual, and no other column is more",
            optimisation="least angle steps: the active coefficients move along "
            "(X_A'X_A)^-1 X_A'r until another column is as correlated"
            + ("; all the way to least squares" if done else ""),
            numbers=self._numbers(),
            warnings=self._notes(),
        )


class LassoLars(LeastAngle):
    """The lasso, solved exactly by walking its path from the empty model down to ``alpha``.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty: minimises RSS/(2n) + alpha |w|_1; 0 walks down to least squares.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=500
        Steps at most (entries and exits); a path cut short ends at a larger alpha.
    eps : float
        A column nearer than this (relative to its length) to the span of the active ones is
        skipped; at least max(n, p) times the precision of float64.
    fit_path : bool, default=True
        False keeps the last knot only.
    positive : bool, default=False
        Coefficients >= 0; the path then ends in non-negative least squares.
    jitter : float, optional
        Uniform noise up to this is added to y (from ``random_state``), to break ties.
    random_state : int, RandomState or Generator, optional
        Draws the noise of ``jitter``.
    verbose, precompute, copy_X
        Accepted for scikit-learn's sake; nothing is printed or overwritten, and the
        cross-products are used where they cost no digits.

    Attributes
    ----------
    coef_, intercept_ : at ``alpha``
    coef_path_ : (p, n_iter_ + 1), one column per knot; column 0 is the empty model
    alphas_ : (n_iter_ + 1,), falling to ``alpha``
    active_, moves_ : active columns in order; [("add", j), ("drop", j), ...]
    skipped_ : columns left out because they are combinations of active ones
    n_iter_, history_ : steps; objective, alpha and number of active columns at each knot

    With several targets ``alphas_ active_ moves_ coef_path_ n_iter_`` are lists, one per target.

    Examples
    --------
    >>> from pellucid import LassoLars
    >>> model = LassoLars(alpha=0.01).fit([[-1.0, 1.0], [0.0, 0.0], [1.0, 1.0]], [-1.0, 0.0, -1.0])
    >>> model.coef_.round(4), model.moves_
    (array([ 0.   , -0.955]), [('add', 1)])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        verbose: int = False,
        precompute: bool | Literal["auto"] | ArrayLike = "auto",
        max_iter: float = 500,
        eps: float = EPS,
        copy_X: bool = True,
        fit_path: bool = True,
        positive: bool = False,
        jitter: float | None = None,
        random_state: Seed = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.positive = positive
        self.jitter = jitter
        self.random_state = random_state

    def _rule(self) -> Rule:
        self._check_shared()
        check.non_negative(alpha=self.alpha)
        check.boolean(positive=self.positive)
        if not (isinstance(self.max_iter, float) and self.max_iter == np.inf):
            check.whole(at_least=0, max_iter=self.max_iter)
        return Rule(True, self.positive, float(self.alpha), self.max_iter, self.eps)

    def _set(self, paths: list[LarsPath], found: Problems) -> None:
        super()._set(paths, found)
        ends = [path.alphas[-1] for path in paths if path.n_iter >= self.max_iter]
        if ends and max(ends) > self.alpha:
            warn_cut(self, max(ends))

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        n, alpha = self.n_observations_, float(self.alpha)
        both = "in RSS + lambda sum |w_j| and in RSS/2 + (lambda/2) sum |w_j|"
        above = ""
        if np.ndim(self.coef_) == 1 and not self.alphas_[-1] <= alpha:
            above = f"; max_iter ended the path at alpha = {self.alphas_[-1]:.6g}"
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=f"RSS/(2n) + {alpha:.6g} sum |w_j|" + (", w >= 0" * self.positive),
            optimisation="the exact path from the empty model: columns enter as they become as "
            f"correlated as the active ones, and leave where their coefficient is 0{above}",
            numbers={"alpha": alpha, **self._numbers()},
            scales=(
                f"lambda = {2 * n * alpha:.6g} {both}",
                f"lambda = {2 * alpha:.6g} in RSS/n + lambda sum |w_j|",
            ),
            warnings=self._notes(),
        )


def warn_cut(model: Any, end: float) -> None:
    """Say that a path ended above the penalties that were asked for."""
    late = f"no end of the path in max_iter={model.max_iter} steps"
    warn(f"{type(model).__name__}: {late}: it stops at alpha = {end:.6g}", ConvergenceWarning)


def jittered(rows: Rows, jitter: float, rng: np.random.Generator) -> Rows:
    """The rows with uniform noise added to y, the same for every target."""
    noise = rng.uniform(0.0, jitter, size=rows.n_rows) if jitter > 0 else np.zeros(rows.n_rows)
    return rows._replace(y=rows.y + (noise if rows.y.ndim == 1 else noise[:, None]))


def check_precompute(value: object) -> None:
    """Raise ValueError for a value that scikit-learn does not accept either."""
    words = value is None or isinstance(value, bool | np.bool_) or hasattr(value, "__array__")
    if not (words or (isinstance(value, str) and value == "auto")):
        known = "'auto', True, False, None or an array"
        raise ValueError(f"precompute must be one of {known}, got {value!r}")
