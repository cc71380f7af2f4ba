r"""Odd rows are those to which a density gives little.

    score(x) = log p(x),    odd if score(x) < offset = the ``contamination`` quantile of the scores

Any estimator with ``score_samples`` serves as the density.
"""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.base import Estimator, with_callbacks
from pellucid.core.arrays.quantiles import quantiles
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import is_unit
from pellucid.core.records import Card
from pellucid.mixture.gaussian.gaussian_mixture import GaussianMixture


def check_contamination(value: object) -> float:
    """A share of odd rows in (0, 0.5]."""
    if isinstance(value, bool | str) or not isinstance(value, Real) or not 0 < float(value) <= 0.5:
        raise ValueError(f"contamination must be a number in (0, 0.5], got {value!r}")
    return float(value)


class DensityOutlier(OutlierMixin, Estimator):
    """Find the rows that a density gives least.

    Parameters
    ----------
    density : estimator, default=None
        Anything with ``fit(X)`` and ``score_samples(X)``: a mixture, PCA as a density, a kernel
        density, a Bayesian network; None: ``GaussianMixture(1)``.
    contamination : float in (0, 0.5], default=0.1
        Share of odd rows in the training data, which sets ``offset_``.

    Attributes
    ----------
    density_ : estimator
        The fitted density.
    offset_ : float
        ``decision_function = score_samples - offset_``; below 0 is odd.
    training_scores_ : ndarray
        Sorted scores of the training rows, for ``p_values``.

    Examples
    --------
    >>> from pellucid import DensityOutlier
    >>> X = [[0.0], [0.1], [0.2], [0.1], [0.15], [9.0]]
    >>> DensityOutlier(contamination=0.2).fit(X).predict([[0.1], [9.0]])
    array([ 1, -1])
    """

    def __init__(self, density: BaseEstimator | None = None, *, contamination: float = 0.1) -> None:
        self.density = density
        self.contamination = contamination

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        share = check_contamination(self.contamination)
        density = GaussianMixture(1) if self.density is None else self.density
        for method in ("fit", "score_samples"):
            if isinstance(density, type) or not hasattr(density, method):
                raise ValueError(f"density must have fit and score_samples, got {density!r}")
        rows = self._check_training(X, None, sample_weight)
        data: dict[str, Any] = {"X": X, "sample_weight": sample_weight}
        context = FitContext(self, **data, attributes=lambda _: dict(vars(self)))
        density = clone(density)
        if sample_weight is None or is_unit(rows.w):
            self.density_ = density.fit(rows.X)
        elif has_fit_parameter(density, "sample_weight"):
            self.density_ = density.fit(rows.X, sample_weight=rows.w)
        else:
            raise ValueError(f"{type(density).__name__} takes no sample_weight; fit it without")
        scores = np.asarray(self.density_.score_samples(rows.X), dtype=np.float64)
        w = np.ascontiguousarray(rows.w)
        self.offset_ = float(quantiles(scores.copy(), np.array([share]), w)[0])
        order = np.argsort(scores, kind="stable")
        self.training_scores_ = scores[order]
        self._below = np.cumsum(w[order]) / w.sum()
        context.end()
        return self

    def score_samples(self, X: ArrayLike) -> Array:
        """log p(x) (or what the density calls so): high is ordinary."""
        rows = self._check_input(X)
        return np.asarray(self.density_.score_samples(rows), dtype=np.float64)

    def decision_function(self, X: ArrayLike) -> Array:
        """``score_samples - offset_``: below 0 is odd."""
        check_is_fitted(self)
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> Any:
        """1 for ordinary rows, -1 for odd ones."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: ArrayLike) -> Array:
        """Share of the training scores at or below that of each row."""
        check_is_fitted(self)
        at = np.searchsorted(self.training_scores_, self.score_samples(X), side="right")
        return np.concatenate([[0.0], self._below])[at]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            f"odd if log p(x) < {self.offset_:.6g}, with p a {type(self.density_).__name__}",
            f"the density's own; the offset is the {self.contamination:g} quantile of its training "
            "scores; an odd row is one unlike the bulk, not necessarily an error",
            "the density's own",
            {
                "rows": len(self.training_scores_),
                "offset": self.offset_,
                "odd training rows": int(np.count_nonzero(self.training_scores_ < self.offset_)),
            },
        )
