r"""Quadratic discriminant analysis.

Model        x | k ~ N(m_k, S_k), k ~ pi
Rule         argmax_k -log|S_k|/2 - (x - m_k)'S_k^-1(x - m_k)/2 + log pi_k
Estimator    class means; S_k with divisor n_k (maximum likelihood) or n_k - 1 ("unbiased"), then
             (1 - reg_param) S_k + reg_param I, or shrunk towards tr(S_k)/p I
Algorithm    one pass for the class moments, an eigendecomposition per class.  n p^2/2 + O(K p^3)

A class with no more rows than columns has a singular covariance and is refused by name; between
QDA and LDA lies ``RegularizedDiscriminantAnalysis``.

References: Hastie, Tibshirani, Friedman, ESL, section 4.3.
"""

from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card
from pellucid.discriminant import covariance
from pellucid.discriminant.moments import ClassScatter, pooled, sum_norm_fourths
from pellucid.discriminant.quadratic import QuadraticRule, principal_axes

REGULARIZED = "RegularizedDiscriminantAnalysis (alpha < 1 or gamma > 0)"


class QuadraticDiscriminantAnalysis(QuadraticRule):
    """Gaussian classes with a covariance each: quadratic boundaries.

    ``fit``, ``partial_fit`` (exact) and ``fit_blocks`` give the same model; ``sample_weight`` of
    ``fit`` equals repetition.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Accepted for scikit-learn's sake: both are the eigendecomposition of each covariance.
    shrinkage : float in [0, 1] or "auto", default=None
        Share of tr(S_k)/p I in each covariance; "auto" is Ledoit and Wolf's.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None: the shares of the classes.
    reg_param : float in [0, 1], default=0.0
        (1 - reg_param) S_k + reg_param I, in the units of the columns.
    store_covariance : bool, default=False
        Keep ``covariance_``.
    tol : float, default=1e-4
        A covariance is singular if an eigenvalue of its correlations is at most tol^2; units do
        not matter (scikit-learn compares variances with tol).
    covariance_estimator : "unbiased" or estimator, default=None
        None divides by n_k, "unbiased" by n_k - 1; an estimator with ``covariance_`` is fitted to
        each class.

    Attributes
    ----------
    means_, priors_, class_count_ : ndarray
        Means (n_classes, n_features), probabilities and weights of the classes.
    covariance_ : list of ndarray of shape (n_features, n_features)
        With ``store_covariance`` only.
    scalings_, rotations_ : list of ndarray
        Variances along the principal axes of each class, and these axes as columns.
    whitening_ : ndarray of shape (n_classes, n_features, n_features)
        T_k with T_k'S_k T_k = I.
    n_parameters_ : int
        (K - 1)(p(p + 3)/2 + 1), what the rule needs.

    Examples
    --------
    >>> from pellucid import QuadraticDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]]), model.n_parameters_
    (array([1]), 6)
    """

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: float | Literal["auto"] | None = None,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Literal["unbiased"] | BaseEstimator | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def _check_parameters(self) -> None:
        check.one_of(("svd", "eigen"), solver=self.solver)
        check.boolean(store_covariance=self.store_covariance)
        check.non_negative(tol=self.tol, reg_param=self.reg_param)
        if self.reg_param > 1:
            raise ValueError(f"reg_param must be at most 1, got {self.reg_param!r}")
        covariance.check_shrinkage(self.shrinkage, self.covariance_estimator, ("unbiased",))

    def _unbiased(self) -> bool:
        return isinstance(self.covariance_estimator, str)

    def _from_moments(self) -> bool:
        return self.covariance_estimator is None or self._unbiased()

    def _regularised(self) -> bool:
        return bool(self.reg_param or self.shrinkage) or not self._from_moments()

    def _tolerance(self) -> float:
        return self.tol

    def _not_yet(self, stat: ClassScatter) -> str | None:
        if self.shrinkage == "auto" or not self._from_moments():
            raise ValueError(covariance.MOMENTS_ONLY)
        n, p = stat.weight[stat.weight > 0], stat.mean.shape[1]
        if self._regularised():
            return None if (n > 1).all() else "a class has one row"
        return None if (n > p).all() else "a class has no more rows than columns"

    def _covariances(
        self, stat: ClassScatter, priors: Array, rows: Source | None, map_: Map
    ) -> Array:
        n, p = stat.weight, stat.mean.shape[1]
        few = (n > 0) & (n <= (1 if self._regularised() else p))
        if few.any():
            raise np.linalg.LinAlgError(self._singular(stat, int(np.argmax(few)), ()))
        if not self._from_moments():
            if not isinstance(rows, Rows):
                raise ValueError("a covariance estimator needs rows in memory: use fit")
            S = np.array(covariance.estimated_covariances(self.covariance_estimator, rows, len(n)))
        else:
            divisor = np.where(n > 0, n - 1 if self._unbiased() else n, 1.0)
            S = stat.scatter / divisor[:, None, None]
        S[n == 0] = pooled(stat) / n.sum()  # never predicted: its prior is 0
        if self.shrinkage == "auto":
            assert rows is not None
            fourths = sum_norm_fourths(rows, map_, stat.mean, covariance.deviations(S))
            each = zip(S, np.maximum(n, 1), fourths, strict=True)
            S = np.array([covariance.ledoit_wolf(*one) for one in each])
        elif self.shrinkage is not None:
            S = np.array([covariance.shrunk(one, self.shrinkage) for one in S])
        return (1 - self.reg_param) * S + self.reg_param * np.eye(p)

    def _singular(self, stat: ClassScatter, k: int, free: tuple[int, ...]) -> str:
        n, p, label = stat.weight[k], stat.mean.shape[1], self.classes_[k]
        if n <= p and not (self._regularised() and n > 1):
            rows = f"{n:g} row{'' if n == 1 else 's'}"
            return (
                f"class {label} has {rows} for {p} columns, so its covariance is not full rank; "
                f"use {REGULARIZED}, reg_param > 0 or shrinkage > 0"
            )
        return (
            f"The covariance matrix of class {label} ({n:g} rows) is not full rank: columns "
            f"{self._columns(free)} are collinear or constant there; drop some, raise reg_param "
            f"or shrinkage, or use {REGULARIZED}"
        )

    def _report(self, covariances: Array) -> None:
        K, p = covariances.shape[:2]
        self.scalings_, self.rotations_ = principal_axes(covariances)
        self.n_parameters_ = (K - 1) * (p * (p + 3) // 2 + 1)
        self.__dict__.pop("covariance_", None)
        if self.store_covariance:
            self.covariance_ = list(covariances)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        divisor = "n_k - 1" if self._unbiased() else "n_k"
        kind = f"divisor {divisor}" if self._from_moments() else "of an estimator"
        return Card(
            representation="argmax_k -log|S_k|/2 - (x - m_k)'S_k^-1(x - m_k)/2 + log pi_k, "
            "quadratic in x",
            evaluation=f"likelihood of Gaussian classes, covariances {kind}, reg_param = "
            f"{self.reg_param:g}, shrinkage = {self.shrinkage}; {self._prior_words()}",
            optimisation="closed form: one pass for the class moments, an eigendecomposition per "
            "class",
            numbers={
                **self._numbers(),
                "parameters": self.n_parameters_,
                "smallest class": float(self.class_count_.min()),
                "largest condition": max(float(s[0] / s[-1]) for s in self.scalings_),
            },
            scales=("divisor n_k here; the course's n_k - 1 is covariance_estimator='unbiased'",),
        )
