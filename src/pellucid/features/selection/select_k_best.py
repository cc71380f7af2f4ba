"""Keep the columns that tell most of the target, each judged alone.

The scores are those of ``scores.py`` (or any function of X and y); ``score_filter.py`` asks for
them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.warn import warn
from pellucid.features.selection.score_filter import ScoreFilter
from pellucid.features.selection.scores import f_classif


class SelectKBest(ScoreFilter):
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

    def __init__(self, score_func: Callable[..., Any] = f_classif, *, k: int | str = 10) -> None:
        self.score_func = score_func
        self.k = k

    def _check_parameters(self, p: int | None) -> None:
        if isinstance(self.k, str):
            check.one_of(("all",), k=self.k)
        else:
            check.whole(at_least=0, k=self.k)
            if p is not None and self.k > p:
                what = f"k={self.k} is greater than n_features={p}"
                warn(f"{what}. All the features will be returned.")

    def _best(self, scores: Array) -> Any:
        p = len(scores)
        mask = np.zeros(p, dtype=bool)
        k = p if isinstance(self.k, str) else self.k
        mask[np.argsort(scores, kind="stable")[max(p - k, 0) :]] = True
        return mask
