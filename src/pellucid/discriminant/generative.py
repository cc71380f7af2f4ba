r"""Bayes' rule with any density.

    p(k | x) = pi_k f_k(x) / sum_l pi_l f_l(x)

f_k is fitted to the rows of class k alone. The densities meet only here, in logs; a row to which
every class gives density 0 gets the priors.
"""

import inspect
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.base import Classifier, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, is_unit
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.discriminant import gaussian_rules


class GenerativeClassifier(Classifier):
    """Bayes' rule with a density of your choice for each class.

    Parameters
    ----------
    density : estimator or dict
        Anything with ``fit(X)`` and ``score_samples(X)`` (log density): a mixture, a kernel
        density, your own. It is cloned for each class; a dict names one for each label.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None: the shares of the classes.

    Attributes
    ----------
    densities_ : list
        The fitted density of each class, in the order of ``classes_``.
    priors_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from pellucid import GenerativeClassifier
    >>> from pellucid.discriminant import GaussianDensity
    >>> X, y = [[1], [2], [3], [6], [7], [8]], [0, 0, 0, 1, 1, 1]
    >>> GenerativeClassifier(GaussianDensity()).fit(X, y).predict_proba([[4.4]]).round(4)
    array([[0.6792, 0.3208]])
    """

    def __init__(
        self,
        density: BaseEstimator | Mapping[Any, BaseEstimator],
        *,
        priors: ArrayLike | None = None,
    ) -> None:
        self.density = density
        self.priors = priors

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        rows = self._check_training(X, y, sample_weight)
        gaussian_rules.check_two_classes(self, rows.n_rows)
        K = len(self.classes_)
        context = FitContext(
            self, X=X, y=y, sample_weight=sample_weight, attributes=lambda _: dict(vars(self))
        )
        weight = np.bincount(rows.y, rows.w, minlength=K).astype(np.float64)
        if not (weight > 0).all():
            label = self.classes_[np.argmin(weight > 0)]
            raise ValueError(f"class {label} has no row of positive weight")
        self.priors_ = gaussian_rules.checked_priors(self.priors, weight)
        self.densities_ = [self._fit_density(rows, k) for k in range(K)]
        context.end()
        return self

    def _fit_density(self, rows: Rows, k: int) -> Any:
        label, given = self.classes_[k], self.density
        if isinstance(given, dict):
            keys = {label, label.item()} & given.keys()
            if not keys:
                raise ValueError(f"density names no estimator for class {label}")
            given = given[keys.pop()]
        complete = hasattr(given, "fit") and hasattr(given, "score_samples")
        if isinstance(given, type) or not complete:
            raise ValueError(f"density must have fit and score_samples, got {given!r}")
        density, own = clone(given), rows.y == k
        if is_unit(rows.w):
            return density.fit(rows.X[own])
        if not has_fit_parameter(density, "sample_weight"):
            name = type(density).__name__
            raise ValueError(f"{name} takes no sample_weight; fit it without weights")
        own &= rows.w > 0
        return density.fit(rows.X[own], sample_weight=rows.w[own])

    def _log_joint(self, X: ArrayLike) -> Array:
        X = self._check_input(X)
        logs = np.column_stack([density.score_samples(X) for density in self.densities_])
        return gaussian_rules.log_prior(self.priors_) + logs

    def _joint(self, X: ArrayLike) -> Array:
        joint = self._log_joint(X)
        nowhere = ~np.isfinite(joint).any(axis=1, keepdims=True)
        return np.where(nowhere, gaussian_rules.log_prior(self.priors_), joint)

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        joint = self._joint(X)
        if joint.shape[1] == 2:  # an even chance is classes_[1]
            return self.classes_[(joint[:, 1] >= joint[:, 0]).astype(np.intp)]
        return self.classes_[joint.argmax(axis=1)]

    def decision_function(self, X: ArrayLike) -> Array:
        """log pi_k f_k(x), (n, K); for two classes the log-odds of ``classes_[1]``, (n,)."""
        joint = self._joint(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log p(k | x), shape (n, K)."""
        return gaussian_rules.log_posterior(self._joint(X))

    def predict_proba(self, X: ArrayLike) -> Array:
        """p(k | x), shape (n, K)."""
        return np.exp(self.predict_log_proba(X))

    def score_samples(self, X: ArrayLike) -> Array:
        """log p(x) = log sum_k pi_k f_k(x), shape (n,)."""
        return logsumexp(self._log_joint(X), axis=1)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[Array, Any]:
        """Draw (X, y): a class from the priors, then a row from its density's ``sample``."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng = generator(random_state)
        codes = rng.choice(len(self.classes_), size=n_samples, p=self.priors_)
        X = np.empty((n_samples, self.n_features_in_))
        for k in np.unique(codes):
            own = codes == k
            X[own] = draw(self.densities_[k], int(own.sum()), int(rng.integers(2**31)))
        return X, self.classes_[codes]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        kinds = sorted({type(density).__name__ for density in self.densities_})
        return Card(
            representation=f"argmax_k log pi_k + log f_k(x), f_k from {', '.join(kinds)}",
            evaluation="each density by its own criterion on the rows of its class; priors: "
            + ("shares of the classes" if self.priors is None else "given"),
            optimisation="one fit per class; Bayes' rule in logs",
            numbers={"classes": len(self.classes_), "features": self.n_features_in_},
        )


def draw(density: Any, n: int, seed: int) -> Array:
    """Rows from a fitted density, whichever way it takes its seed."""
    if not hasattr(density, "sample"):
        raise ValueError(f"{type(density).__name__} has no method sample")
    if "random_state" in inspect.signature(density.sample).parameters:
        rows = density.sample(n, random_state=seed)
    else:
        before = {name: v for name, v in density.get_params().items() if name == "random_state"}
        if before:
            density.set_params(random_state=seed)
        rows = density.sample(n)
        if before:
            density.set_params(**before)
    return np.asarray(rows[0] if isinstance(rows, tuple) else rows, dtype=np.float64).reshape(n, -1)
