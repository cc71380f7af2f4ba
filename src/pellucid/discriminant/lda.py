r"""Linear discriminant analysis, with all coordinates or the best few.

Model        x | k ~ N(m_k, S), one covariance for all classes, k ~ pi
Rule         argmax_k delta_k(x),   delta_k(x) = x'S^-1 m_k - m_k'S^-1 m_k/2 + log pi_k
Boundary     S^-1(m_k - m_l).x = (m_k + m_l)'S^-1(m_k - m_l)/2 - log(pi_k/pi_l)
Estimator    m_k the class means, S = sum_k S_k/N (maximum likelihood), /(N - K) ("unbiased"), or
             sum_k pi_k S_k/(n_k - 1) ("weighted"); shrunk: (1 - s) S + s tr(S)/p I
Algorithm    one pass for the class moments, then sphere S (``discriminant.covariance``): directions
             without spread are dropped, everything else is geometry of the sphered means
             (``discriminant.reduced``).    n p^2/2 + O(p^3)

Two classes: with D^2 = (m_1 - m_0)'S^-1(m_1 - m_0) the rule errs with probability
pi_0 Phi(-(D/2 + c/D)) + pi_1 Phi(-(D/2 - c/D)), c = log(pi_0/pi_1): the overlap of the Gaussians.

References: Fisher (1936); Rao (1948); Hastie, Tibshirani, Friedman, ESL, section 4.3.
"""

from collections.abc import Hashable
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.algebra.hyperplane import Hyperplane
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Rng
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.discriminant.covariance import (
    MOMENTS_ONLY,
    Sphere,
    check_shrinkage,
    deviations,
    estimated_covariance,
    estimated_covariances,
    ledoit_wolf,
    shrunk,
    sphere,
    sphere_rows,
)
from pellucid.discriminant.gaussian_rules import GaussianDiscriminant, Scores, log_prior
from pellucid.discriminant.moments import (
    ClassScatter,
    between,
    class_means,
    pooled,
    sum_norm_fourths,
)
from pellucid.discriminant.reduced import Coordinates, Scatter, scatter_directions, sphered_means

DIVISORS = ("unbiased", "weighted")
WIDE = 500  # columns from which no p x p matrix is made of fewer rows


class Within(NamedTuple):
    """The covariance within the classes, and that of all rows where it defines the directions."""

    covariance: Any  # (p, p); None where it is too large to be made
    total: Array | None


class LinearRule(NamedTuple):
    """One linear score per class."""

    coef: Array  # (K, p)
    intercept: Array  # (K,)


def pooled_covariance(stat: ClassScatter, priors: Array, kind: Any, by_prior: bool) -> Array:
    """S of one of the four divisors; ``by_prior``: sum_k pi_k S_k/n_k."""
    n, N = stat.weight, stat.weight.sum()
    if kind == "unbiased":
        return pooled(stat) / (N - (n > 0).sum())
    if kind == "weighted":
        return np.tensordot(np.where(n > 1, priors / np.where(n > 1, n - 1, 1), 0), stat.scatter, 1)
    if by_prior:
        return np.tensordot(priors / n, stat.scatter, 1)
    return pooled(stat) / N


def linear_rule(A: Array, means: Array, center: Array, priors: Array) -> LinearRule:
    """delta_k about ``center`` with the inverse covariance A A'; a common term is left out."""
    M = (means - center) @ A
    coef = M @ A.T
    return LinearRule(coef, log_prior(priors) - 0.5 * (M**2).sum(axis=1) - coef @ center)


def overlap(distance: float, priors: Array) -> float:
    """The probability of error of the best rule between two Gaussians ``distance`` apart.

    >>> round(overlap(2.0, np.array([0.5, 0.5])), 4)
    0.1587
    """
    if distance == 0 or not priors.all():
        return float(priors.min())
    c = np.log(priors[0] / priors[1]) / distance
    return float(priors @ ndtr([-(distance / 2 + c), -(distance / 2 - c)]))


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, GaussianDiscriminant, Transformer
):
    """Gaussian classes with one covariance: linear boundaries and discriminant coordinates.

    ``fit``, ``partial_fit`` (exact) and ``fit_blocks`` give the same model; ``sample_weight`` of
    ``fit`` equals repetition. Directions in which no class varies are left out with a warning.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        All sphere the covariance. As in scikit-learn, "svd" pools the classes by their sizes and
        centres ``transform``; "lsqr" and "eigen" weigh the class covariances by ``priors``, and
        "eigen" takes its directions from the total covariance and does not centre.
    shrinkage : float in [0, 1] or "auto", default=None
        Share of tr(S)/p I in the covariance; "auto" is Ledoit and Wolf's, class by class.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None: the shares of the classes.
    n_components : int, default=None
        Coordinates of ``transform``, at most min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Keep ``covariance_`` even for very wide data; otherwise it is always there.
    tol : float, default=1e-4
        Singular values of the standardised rows, divided by sqrt(N), up to this are no spread.
        For "svd" only; the others drop what rounding alone would leave.
    covariance_estimator : {"unbiased", "weighted"} or estimator, default=None
        None divides by N, "unbiased" by N - K, "weighted" is sum_k pi_k S_k with divisor n_k - 1;
        an estimator with ``covariance_`` is fitted to each class.
    reduced : bool, default=False
        Predict with the first ``n_components`` coordinates only.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_rules, n_features) and (n_rules,)
        One rule for two classes (log-odds of ``classes_[1]``), else one per class.
    means_, priors_, class_count_ : ndarray
        Means (n_classes, n_features), probabilities and weights of the classes.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance used.
    scalings_ : ndarray of shape (n_features, rank)
        Discriminant directions, orthonormal with respect to ``covariance_``.
    eigenvalues_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Eigenvalues of W^-1 B and their shares.
    whitening_ : ndarray of shape (n_features, rank)
        T with T'ST = I.
    rank_ : int
        Directions in which the class means differ ("eigen": in which the rows vary).
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means, weighted by ``priors_``.
    scatter_ : Scatter
        Sums of squares ``within``, ``between`` and ``total``.
    n_parameters_ : int
        (K - 1)(p + 1), what the rule needs.
    expected_error_ : float
        Two classes: the overlap of the fitted Gaussians.

    Examples
    --------
    >>> from pellucid import LinearDiscriminantAnalysis
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 2], [3, 3], [4, 3], [3, 5], [5, 4], [4, 4], [6, 5]]
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    >>> model = LinearDiscriminantAnalysis(covariance_estimator="unbiased").fit(X, y)
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[2.8525, 2.7954]]), array([-12.8894]))
    >>> model.boundary().equation()
    '2.85255 x0 + 2.79535 x1 - 12.8894 = 0'
    """

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | Literal["auto"] | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Literal["unbiased", "weighted"] | BaseEstimator | None = None,
        *,
        reduced: bool = False,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.reduced = reduced

    def _check_parameters(self) -> None:
        check.one_of(("svd", "lsqr", "eigen"), solver=self.solver)
        check.boolean(store_covariance=self.store_covariance, reduced=self.reduced)
        check.non_negative(tol=self.tol)
        if self.n_components is not None:
            check.whole(n_components=self.n_components)
        check_shrinkage(self.shrinkage, self.covariance_estimator, DIVISORS)

    # --- fit ---

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        return self._fit(X, y, sample_weight)

    def _keeps_each(self) -> bool:
        by_prior = self.covariance_estimator is None and self._by_prior()
        return self.shrinkage == "auto" or self._divisor() == "weighted" or by_prior

    def _by_prior(self) -> bool:
        return self.solver != "svd" and self.priors is not None

    def _divisor(self) -> str | None:
        kind = self.covariance_estimator
        return kind if isinstance(kind, str) else None

    def _not_yet(self, stat: ClassScatter) -> str | None:
        if self.shrinkage == "auto" or not self._from_moments():
            raise ValueError(MOMENTS_ONLY)
        return None if np.diagonal(pooled(stat)).any() else "no column varies within the classes"

    def _from_moments(self) -> bool:
        return self.covariance_estimator is None or self._divisor() is not None

    def _statistic(self, rows: Source, map_: Map) -> ClassScatter:
        p = self.n_features_in_
        wide = isinstance(rows, Rows) and rows.n_rows <= p and p > WIDE
        simple = self.solver == "svd" and self.shrinkage is None and self._from_moments()
        if not (wide and simple) or self._divisor() == "weighted":
            return super()._statistic(rows, map_)
        assert isinstance(rows, Rows)
        self._refuse_nonfinite(rows.X)
        K = len(self.classes_)
        stat = ClassScatter(np.zeros(K), np.zeros((K, p)), np.zeros((0, p, p)))
        class_means(np.array(rows.X), np.array(rows.y), np.array(rows.w), True, *stat[:2])
        return stat

    def _solve(self, stat: ClassScatter, priors: Array, rows: Source | None, map_: Map) -> None:
        K, p = stat.mean.shape
        most = min(K - 1, p)
        if self.n_components is not None and self.n_components > most:
            limit = f"min(n_features, n_classes - 1) = {most}"
            raise ValueError(f"n_components cannot be larger than {limit}, got {self.n_components}")
        center = priors @ stat.mean
        if len(stat.scatter) == 0:
            assert isinstance(rows, Rows)
            found, spread = self._sphere_rows(stat, rows)
            covariance = spread @ spread.T if self.store_covariance or p <= 4 * WIDE else None
            total = None
        else:
            covariance, total = self._within(stat, priors, rows, map_)
            found = sphere(covariance, self.tol if self.solver == "svd" else 0.0)
            spread = covariance @ found.whitening
        self._warn_null(found, stat)
        T = found.whitening
        axes = self._directions(T, stat, priors, Within(covariance, total))
        most = self.n_components or most
        if self.reduced:
            rule = linear_rule(axes.scalings[:, :most], stat.mean, center, priors)
        elif self.solver == "svd":
            rule = linear_rule(axes.scalings, stat.mean, center, priors)
        else:
            rule = linear_rule(T, stat.mean, np.zeros(p), priors)
        if K == 2:  # the log-odds of the second class
            with np.errstate(invalid="ignore"):
                rule = LinearRule(*(part[1:] - part[:1] for part in rule))
        self.coef_, self.intercept_ = rule
        self.scalings_, self.xbar_, self.rank_ = axes.scalings, center, axes.scalings.shape[1]
        self.eigenvalues_ = axes.eigenvalues[:most]
        self.explained_variance_ratio_ = axes.ratio[:most]
        self.whitening_, self.spread_, self.log_determinant_ = T, spread, found.log_determinant
        self.n_parameters_ = (K - 1) * (p + 1)
        self.__dict__.pop("covariance_", None)
        if covariance is not None:
            self.covariance_ = covariance

    def _sphere_rows(self, stat: ClassScatter, rows: Rows) -> tuple[Sphere, Array]:
        C = np.sqrt(rows.w)[:, None] * (rows.X - stat.mean[rows.y])
        divisor = stat.weight.sum()
        if self._divisor() == "unbiased":
            divisor -= (stat.weight > 0).sum()
        found = sphere_rows(C, divisor, self.tol)
        return found, C.T @ (C @ found.whitening) / divisor

    def _within(self, stat: ClassScatter, priors: Array, rows: Source | None, map_: Map) -> Within:
        """The covariance of the parameters; with "eigen" also that of all rows."""
        N, asks_total = stat.weight.sum(), self.solver == "eigen" and self._divisor() is None
        if not self._from_moments():
            if not isinstance(rows, Rows):
                raise ValueError("a covariance estimator needs rows in memory: use fit")
            each = estimated_covariances(self.covariance_estimator, rows, len(priors))
            every = estimated_covariance(self.covariance_estimator, rows, slice(None))
            S = np.tensordot(priors, np.array(each), 1)
            return Within(S, every if asks_total else None)
        total = (pooled(stat) + between(stat.weight, stat.mean)) / N if asks_total else None
        if self.shrinkage == "auto":
            assert rows is not None
            return self._ledoit_wolf(stat, priors, total, rows, map_)
        S = pooled_covariance(stat, priors, self._divisor(), self._by_prior())
        if self.shrinkage is None:
            return Within(S, total)
        s = self.shrinkage
        return Within(shrunk(S, s), None if total is None else shrunk(total, s))

    def _ledoit_wolf(
        self, stat: ClassScatter, priors: Array, total: Array | None, rows: Source, map_: Map
    ) -> Within:
        n = stat.weight
        each = stat.scatter / np.where(n > 0, n, 1.0)[:, None, None]
        fourths = sum_norm_fourths(rows, map_, stat.mean, deviations(each))
        there = np.flatnonzero(priors * n)
        S = sum(priors[k] * ledoit_wolf(each[k], n[k], fourths[k]) for k in there)
        if total is None:
            return Within(S, None)
        center = n @ stat.mean / n.sum()
        fourth = sum_norm_fourths(rows, map_, center[None], deviations(total)[None])
        return Within(S, ledoit_wolf(total, n.sum(), fourth[0]))

    def _directions(
        self, T: Array, stat: ClassScatter, priors: Array, given: Within
    ) -> Coordinates:
        scale = stat.weight.sum() / ((stat.weight > 0).sum() - 1)
        if given.total is not None and given.covariance is not None:
            return scatter_directions(T, given.total - given.covariance, scale)
        tol = self.tol if self.solver == "svd" else 1e-12
        return sphered_means(T, stat.mean, priors @ stat.mean, priors * scale, tol)

    def _warn_null(self, found: Sphere, stat: ClassScatter) -> None:
        p, r = found.whitening.shape
        if r == 0:
            raise ValueError("no column varies within the classes: no direction can be judged")
        if r == p:
            return
        if stat.weight.sum() - (stat.weight > 0).sum() < p:
            why = f"{stat.weight.sum():g} rows cannot show the spread of {p} columns"
        else:
            shown = self._columns(found.free)
            why = f"columns {shown} are collinear or constant within the classes"
        what = f"{p - r} of {p} directions have no spread and are left out"
        warn(f"{why}: {what}; shrinkage > 0 would keep them", LinAlgWarning)

    # --- rules ---

    def _inverse_root(self) -> Array:
        """A with A A' the inverse covariance that the rule uses, (p, L)."""
        if self.reduced:
            return self.scalings_[:, : self._n_features_out]
        return self.whitening_

    def _score_function(self) -> Scores:
        coef, intercept = self.coef_.T, self.intercept_
        if len(self.classes_) > 2:
            return lambda X: X @ coef + intercept
        return lambda X: np.hstack([np.zeros((len(X), 1)), X @ coef + intercept])

    def _discriminant_function(self) -> Scores:
        origin = np.zeros(self.n_features_in_)
        rule = linear_rule(self._inverse_root(), self.means_, origin, self.priors_)
        return lambda X: X @ rule.coef.T + rule.intercept

    def _joint_function(self) -> Scores:
        T, center = self.whitening_, self.xbar_
        M = (self.means_ - center) @ T
        constant = -0.5 * (T.shape[1] * np.log(2 * np.pi) + self.log_determinant_)
        constant += log_prior(self.priors_) - 0.5 * (M**2).sum(axis=1)

        def joint(X: Array) -> Array:
            Z = (X - center) @ T
            return Z @ M.T - 0.5 * (Z**2).sum(axis=1, keepdims=True) + constant

        return joint

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of the classes, (n, K); for two classes the log-odds of ``classes_[1]``, (n,)."""
        return super().decision_function(X)

    def transform(self, X: ArrayLike) -> Any:
        """Discriminant coordinates, shape (n, n_components)."""
        check_is_fitted(self)
        A = self.scalings_[:, : self._n_features_out]
        offset = 0.0 if self.solver == "eigen" else self.xbar_ @ A
        return self._evaluate(X, lambda: lambda rows: rows @ A - offset)

    def whiten(self, X: ArrayLike) -> Array:
        """Rows in coordinates in which the covariance within the classes is the identity."""
        check_is_fitted(self)
        T, center = self.whitening_, self.xbar_
        return self._evaluate(X, lambda: lambda rows: (rows - center) @ T)

    def boundary(self, k: Hashable = None, l: Hashable = None) -> Hyperplane:  # noqa: E741
        """The hyperplane between two labels, k on its positive side; two classes need none."""
        check_is_fitted(self)
        if k is None and l is None and len(self.classes_) == 2:
            k, l = self.classes_[1], self.classes_[0]  # noqa: E741
        if k is None or l is None:
            raise ValueError(f"name two of the classes {self.classes_.tolist()}")
        i, j = self._code(k), self._code(l)
        if i == j:
            raise ValueError(f"a boundary lies between two different classes, got {k!r} twice")
        A = self._inverse_root()
        middle, odds = (self.means_[i] + self.means_[j]) / 2, log_prior(self.priors_)
        normal = A @ (A.T @ (self.means_[i] - self.means_[j]))
        return Hyperplane(normal, odds[i] - odds[j] - middle @ normal)

    def explain(self, X: ArrayLike) -> Array:
        """What each feature adds to the score of each class, shape (n, K, p).

        The sum over features plus the score at ``xbar_`` is the discriminant up to a common term,
        so differences between two classes split their log-odds.
        """
        centred = self._check_input(X) - self.xbar_
        rule = linear_rule(self._inverse_root(), self.means_, self.xbar_, self.priors_)
        return centred[:, None, :] * rule.coef

    @property
    def scatter_(self) -> Scatter:
        if not hasattr(self, "class_scatter_"):
            raise AttributeError("scatter_ exists after fit only")
        if len(self.class_scatter_) == 0:
            raise AttributeError(f"scatter_ was not made of fewer rows than {WIDE}+ columns")
        within = self.class_scatter_.sum(axis=0)
        means = between(self.class_count_, self.means_)
        return Scatter(within, means, within + means)

    @property
    def expected_error_(self) -> float:
        if not self.__sklearn_is_fitted__() or len(self.classes_) != 2:
            raise AttributeError("expected_error_ exists after fit with two classes only")
        gap = (self.means_[1] - self.means_[0]) @ self._inverse_root()
        return overlap(float(np.linalg.norm(gap)), self.priors_)

    @property
    def _n_features_out(self) -> int:
        most = min(len(self.classes_) - 1, self.n_features_in_)
        return min(self.n_components or most, self.scalings_.shape[1])

    def _draw(self, codes: IntArray, rng: Rng) -> Array:
        noise = rng.standard_normal((len(codes), self.spread_.shape[1]))
        return self.means_[codes] + noise @ self.spread_.T

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        K, p = len(self.classes_), self.n_features_in_
        rules, r = (1 if K == 2 else K), self.whitening_.shape[1]
        most = min(self.n_components or p, K - 1, p)
        rule = {"coef_": (rules, p), "intercept_": (rules,), "xbar_": (p,)}
        sphere = {"whitening_": (p, r), "spread_": (p, r), "scalings_": (p, self.rank_)}
        spread = {"eigenvalues_": (min(most, r, K),)}
        return super()._state_shapes() | rule | sphere | spread

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        p, r = self.whitening_.shape
        kind = self._divisor() or ("ML (divisor N)" if self._from_moments() else "an estimator's")
        shrink = "" if self.shrinkage is None else f", shrunk towards tr(S)/p I by {self.shrinkage}"
        used = self._n_features_out if self.reduced else r
        numbers = {
            **self._numbers(),
            "parameters": self.n_parameters_,
            "directions": used,
            "eigenvalues": ", ".join(f"{value:.6g}" for value in self.eigenvalues_[:5]),
        }
        if len(self.classes_) == 2:
            numbers["expected error"] = self.expected_error_
        return Card(
            representation="argmax_k x'S^-1 m_k - m_k'S^-1 m_k/2 + log pi_k, linear in x"
            + (f", in the first {used} discriminant coordinates" if self.reduced else ""),
            evaluation="likelihood of Gaussian classes with one covariance; "
            f"covariance {kind}{shrink}; {self._prior_words()}",
            optimisation="closed form: one pass for the class moments, then the covariance is "
            f"sphered ({p - r} directions without spread left out)",
            numbers=numbers,
            scales=("divisor N here; the course's N - K is covariance_estimator='unbiased'",),
        )
