"""Two models on the same folds: their difference fold by fold, its mean and interval."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.hypotheses.significance import SignificanceTest
from pellucid.evaluation.hypotheses.t_tests import corrected_t_test, paired_t_test
from pellucid.evaluation.splits.folds import ratio_of
from pellucid.evaluation.validation.cv_scores import CrossValidation
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend_below


class FoldDifferences(Panel, size=(6.4, 4.0)):
    differences: Array  # (k,)
    test: SignificanceTest
    names: tuple[str, str]
    metric: str
    greater_is_better: bool

    def _draw(self, ax: Axes) -> None:
        d, k = self.differences, len(self.differences)
        x = np.arange(1, k + 1)
        good = d > 0 if self.greater_is_better else d < 0
        for rows, tint, shape, who in (
            (good, colour(0), "o", self.names[0]),
            (~good & (d != 0), colour(1), "s", self.names[1]),
            (d == 0, GREY, "D", ""),
        ):
            if rows.any():
                ax.vlines(x[rows], 0, d[rows], color=tint, lw=1.4, alpha=0.6)
                name = f"{who} is better" if who else "equal"
                ax.plot(x[rows], d[rows], shape, color=tint, ms=6, label=f"{name}: {rows.sum()}")
        ax.axhline(0, color="black", lw=1)
        test = self.test
        if test.low is not None and test.high is not None:
            ax.axhspan(test.low, test.high, color=colour(2), alpha=0.15, lw=0)
        ax.axhline(test.estimate, color=colour(2), lw=2, ls="--", label="mean, with its interval")
        if k <= 20:
            ax.set_xticks(x)
        a, b = self.names
        ax.set(xlabel="fold", ylabel=f"{self.metric} of {a} less that of {b}")
        verdict = "significant" if test.reject else "may be chance"
        title = f"mean difference {test.estimate:.3g}, p = {test.p_value:.3g}: {verdict}"
        heading(ax, title, test.method)
        legend_below(ax, ncols=4)


def fold_differences(
    a: Any,
    b: Any,
    *,
    test_ratio: float | None = None,
    names: tuple[str, str] = ("a", "b"),
    metric: str = "score",
    greater_is_better: bool = True,
    alpha: float = 0.05,
) -> FoldDifferences:
    """The differences of two models on the same folds, with the test of their mean.

    ``names``: pair of str, default=("a", "b"); ``metric``: the name of the scores, "score" by
    default; ``greater_is_better``: whether a larger score is better, True by default; ``alpha``:
    level of the test, 0.05 by default.

    Parameters
    ----------
    a, b : records of ``evaluation.cross_validated``, or scores of shape (k,)
        Records must have the same folds; metric and ratio are read from them.
    test_ratio : float, optional
        n_test / n_train: corrects for training sets that overlap (``corrected_t_test``). Without
        it scores are compared by the paired t-test, right for independent test sets only.

    Examples
    --------
    >>> a, b = [0.90, 0.85, 0.88, 0.92, 0.87], [0.86, 0.84, 0.85, 0.88, 0.86]
    >>> picture = fold_differences(a, b, test_ratio=1 / 4, names=("ridge", "lasso"))
    >>> picture.differences.round(2), round(picture.test.p_value, 4)
    (array([0.04, 0.01, 0.03, 0.04, 0.01]), 0.0629)
    """
    records = [isinstance(one, CrossValidation) for one in (a, b)]
    if any(records):
        if not all(records):
            raise ValueError("a and b must both be records of cross_validated, or both scores")
        same = len(a.folds) == len(b.folds) and all(
            np.array_equal(p, q)
            for one, two in zip(a.folds, b.folds, strict=True)
            for p, q in zip(one, two, strict=True)
        )
        if not same or a.metric != b.metric:
            what = "metrics" if same else "folds"
            raise ValueError(f"a and b have different {what}: their scores are not paired")
        test_ratio = ratio_of(a.folds) if test_ratio is None else test_ratio
        metric, greater_is_better = a.metric, a.greater_is_better
        a, b = a.scores, b.scores
    if test_ratio is None:
        test = paired_t_test(a, b, alpha=alpha)
    else:
        test = corrected_t_test(a, b, test_ratio=test_ratio, alpha=alpha)
    d = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    first, second = (str(name) for name in names)
    won = int((d > 0).sum() if greater_is_better else (d < 0).sum())
    alt = (
        f"Differences of {metric} between {first} and {second} on {len(d)} folds: {first} is "
        f"better in {won}; mean {test.estimate:.4g}, p = {test.p_value:.3g} ({test.method}), "
        f"{'significant' if test.reject else 'it may be chance'}."
    )
    return FoldDifferences(alt, d, test, (first, second), metric, bool(greater_is_better))
