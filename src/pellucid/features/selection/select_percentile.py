"""Keep a share of the columns, those that tell most of the target, each judged alone.

    keep j with score_j > q,    q the (100 - percentile) % quantile of the scores

Of columns that score exactly q the first stay, as many as the share allows. The scores are those
of ``scores.py``, as in SelectKBest.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.features.selection.score_filter import ScoreFilter
from pellucid.features.selection.scores import f_classif


class SelectPercentile(ScoreFilter):
    """Keep the share of the columns with the highest scores.

    Parameters
    ----------
    score_func : callable, default=f_classif
        Function of (X, y) that gives scores, or (scores, p-values): ``f_classif``,
        ``f_regression``, ``r_regression``, ``mutual_info_regression`` or your own.
    percentile : float, default=10
        Percentage of the columns to keep, 0 to 100.

    Attributes
    ----------
    scores_, pvalues_ : (n_features,); pvalues_ is None if the function gives none

    Examples
    --------
    >>> from pellucid.features import SelectPercentile, f_regression
    >>> X = [[1.0, 0.3], [2.0, 0.1], [3.0, 0.4], [4.0, 0.2]]
    >>> model = SelectPercentile(f_regression, percentile=50).fit(X, [1.0, 2.1, 2.9, 4.2])
    >>> model.get_support()
    array([ True, False])
    """

    def __init__(
        self, score_func: Callable[..., Any] = f_classif, *, percentile: float = 10
    ) -> None:
        self.score_func = score_func
        self.percentile = percentile

    def _check_parameters(self, p: int | None) -> None:
        check.non_negative(percentile=self.percentile)
        if self.percentile > 100:
            raise ValueError(f"percentile must be at most 100, got {self.percentile!r}")

    def _best(self, scores: Array) -> Any:
        if self.percentile in (0, 100):
            return np.full(len(scores), self.percentile == 100)
        q = np.percentile(scores, 100 - self.percentile)
        mask = scores > q
        room = int(len(scores) * self.percentile / 100) - int(mask.sum())
        mask[np.flatnonzero(scores == q)[: max(room, 0)]] = True
        return mask
