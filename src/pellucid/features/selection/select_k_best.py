"""Keep the columns that tell most of the target, each judged alone.

The scores are those of ``scores.py`` (or any function of X and y). A filter looks at one
column at a time: it is cheap, and blind to columns that only tell something together.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.features.selection.scores import f_classif
from pellucid.features.selection.selector import Selector
from pellucid.features.selection.supervised import INSIDE, check_any_target


class SelectKBest(Selector):
    """Keep the k columns with the highest scores.

    Parameters
    ----------
    score_func : callable, default=f_classif
        Function of (X, y) that gives scores, or (scores, p-values): ``f_classif``,
        ``f_regression``, ``r_regression``, ``mutual_info_regression`` or your own.
    k : int or "all", default=10
        How many columns to keep.

    Attributes
    ----------
    scores_, pvalues_ : (n_features,); pvalues_ is None if the function gives none

    Examples
    --------
    >>> from pellucid.features import SelectKBest, f_regression
    >>> X = [[1.0, 0.3], [2.0, 0.1], [3.0, 0.4], [4.0, 0.2]]
    >>> model = SelectKBest(f_regression, k=1).fit(X, [1.0, 2.1, 2.9, 4.2])
    >>> model.get_support(), model.pvalues_.round(3)
    (array([ True, False]), array([0.004, 0.923]))
    """

    _accepts_sparse = True
    _check_target = check_any_target

    def __init__(self, score_func: Callable[..., Any] = f_classif, *, k: int | str = 10) -> None:
        self.score_func = score_func
        self.k = k

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.score_func is f_classif
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Score every column of X."""
        if not callable(self.score_func):
            raise ValueError(f"score_func must be a function of (X, y), got {self.score_func!r}")
        if isinstance(self.k, str):
            check.one_of(("all",), k=self.k)
        else:
            check.whole(at_least=0, k=self.k)
        rows = self._check_training(X, y)
        context = FitContext(self, X=rows.X, y=rows.y)
        p = self.n_features_in_
        if self.k != "all" and self.k > p:
            warn(f"k={self.k} but there are {p} columns: all are kept")
        found = self.score_func(rows.X, rows.y) if y is not None else self.score_func(rows.X)
        scores, p_values = found if isinstance(found, tuple) else (found, None)
        self.scores_ = np.asarray(scores, dtype=np.float64)
        self.pvalues_ = None if p_values is None else np.asarray(p_values, dtype=np.float64)
        if self.scores_.shape != (p,):
            raise ValueError(f"score_func must give {p} scores, got shape {self.scores_.shape}")
        context.end()
        return self

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        p = self.n_features_in_
        if self.k == "all":
            return np.ones(p, dtype=bool)
        scores = np.nan_to_num(self.scores_, nan=-np.inf)  # a column without score comes last
        mask = np.zeros(p, dtype=bool)
        mask[np.argsort(scores, kind="stable")[max(p - self.k, 0) :]] = True
        return mask

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"scores_": (self.n_features_in_,)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        name = getattr(self.score_func, "__name__", type(self.score_func).__name__)
        kept = self.get_support(indices=True)
        best = [self._feature_names()[j] for j in kept[np.argsort(-self.scores_[kept])][:5]]
        alone = "one at a time: blind to columns that only tell something together"
        return Card(
            f"{len(kept)} of {self.n_features_in_} columns, as they are",
            f"{name} of each column with the target, {alone}",
            "one score per column; the highest are kept",
            {"kept": len(kept), "of": self.n_features_in_, "best": ", ".join(best)},
            warnings=(INSIDE,),
        )
