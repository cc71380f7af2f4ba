r"""Several models on identical folds: which differences are more than chance?

Every pair is tested on its fold differences (``t_tests``, ``five_by_two``, ``paired_labels``) and
the p-values of all pairs are adjusted together (``multiple``). "i is better than j" means: its mean
score is better and the adjusted p-value is below alpha.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.reading import row_table
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Folds, Seed
from pellucid.core.figures import figures
from pellucid.core.readable import readable
from pellucid.core.records import plain, text_table
from pellucid.evaluation.hypotheses.five_by_two import five_by_two_test
from pellucid.evaluation.hypotheses.multiple import METHODS, adjust_p_values
from pellucid.evaluation.hypotheses.paired_labels import mcnemar_test
from pellucid.evaluation.hypotheses.t_tests import corrected_t_test, paired_t_test
from pellucid.evaluation.metrics.metrics import MetricLike, resolve_metric, task_of
from pellucid.evaluation.splits import folds
from pellucid.evaluation.splits.folds import FoldScore, Split
from pellucid.evaluation.validation.fold_summary import CvSummary, cv_summary

FEW_FOLDS = 20  # below which the corrected test rejects a true null far less often than alpha
MOST_NAMED = 5  # models named in a sentence
TESTS = ("corrected_t", "paired_t", "5x2cv", "mcnemar")


@readable
class Comparison(NamedTuple):
    """Models on the same folds, with a test for every pair.

    ``p_values``, ``adjusted`` and ``better`` are (models, models) tables; ``better[i, j]`` is True
    where model i is significantly better than model j.

    >>> import numpy as np
    >>> from pellucid import LinearRegression, Ridge
    >>> from pellucid.evaluation import compare
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> models = {"ols": LinearRegression(), "stiff": Ridge(1e3)}
    >>> compare(models, X, X.sum(axis=1), metric="rmse").better
    array([[False,  True],
           [False, False]])
    """

    names: tuple[str, ...]  # of the models
    scores: Array  # (models, folds)
    summaries: tuple[CvSummary, ...]  # one per model
    p_values: Array
    adjusted: Array
    better: BoolArray
    sentence: str  # the result in words
    metric: str = ""  # name of the score
    greater_is_better: bool = True  # False for losses
    test: str = "corrected_t"  # of every pair
    correction: str = "holm"  # of the p-values
    alpha: float = 0.05  # level of the tests

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict() | {"summaries": [s.to_dict() for s in self.summaries]})

    def to_frame(self) -> Any:
        """One row per model, as a Polars frame."""
        import polars

        columns = ("mean", "standard_error", "low", "high")
        table = {c: [getattr(s, c) for s in self.summaries] for c in columns}
        return polars.DataFrame({"name": list(self.names), **table})

    def __str__(self) -> str:
        named = zip(self.names, self.summaries, strict=True)
        rows = [(name, s.mean, s.low, s.high) for name, s in named]
        table = text_table(("model", self.metric or "score", "low", "high"), rows)
        return "\n".join([table, self.sentence, *([self.caution] if self.caution else [])])

    @property
    def caution(self) -> str:
        """What the level of the test is worth, where it is known not to be ``alpha``."""
        k = self.scores.shape[1]
        if self.test == "corrected_t" and k < FEW_FOLDS:
            share = "rejects equal models far less often than alpha"
            more = "repeated folds (3 x 10) come nearer to it and find more"
            return f"The corrected t-test on {k} folds is cautious: it {share}; {more}."
        if self.test == "paired_t":
            return "Folds share training rows: the paired t-test rejects equal models too often."
        return ""


def compare(
    models: dict[str, Any],
    X: Any,
    y: Any,
    *,
    metric: MetricLike = None,
    cv: Folds = 10,
    test: str = "corrected_t",
    correction: str = "holm",
    random_state: Seed = None,
    alpha: float = 0.05,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    callbacks: object = (),
) -> Comparison:
    """Score a dict of models on identical folds and test every difference.

    Parameters
    ----------
    models : dict of name -> estimator
        At least two, unfitted.
    metric : str, callable or None, default=None
        r2 for regressors, accuracy for classifiers.
    cv : int, splitter or list of splits, default=10
        Not used by ``test="5x2cv"``, which halves the data five times.
    test : {"corrected_t", "paired_t", "5x2cv", "mcnemar"}, default="corrected_t"
        "corrected_t" is cautious for one run of folds: with 10 folds it calls about 1 in 100 pairs
        of equal models different at alpha 0.05; repeated folds (``RepeatedKFold``, 3 x 10) come to
        about 3 in 100. "mcnemar" compares the labels predicted for the rows held out (classifiers
        only).
    correction : {"holm", "bonferroni", "sidak", "benjamini_hochberg"}, default="holm"
        How p-values are adjusted for the number of pairs.
    alpha : float, default=0.05
        Adjusted p-values below it are significant.
    X, y : array-like
        The data.
    random_state : int, Generator or None, default=None
        None leaves the folds unshuffled.
    groups : array, optional
        For splitters that keep groups together.
    n_jobs : int or None, default=None
        Workers of joblib; the numbers do not depend on it.
    callbacks : scikit-learn callbacks, optional
        Such as ``sklearn.callback.ProgressBar()``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression, Ridge
    >>> from pellucid.evaluation import compare
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + rng.normal(size=100)
    >>> result = compare({"ols": LinearRegression(), "stiff": Ridge(1e3)}, X, y, random_state=0)
    >>> print(result.sentence)
    ols is best (r2 0.92) and significantly better than stiff.
    """
    check.one_of(TESTS, test=test)
    check.one_of(METHODS, correction=correction)
    check.fraction(alpha=alpha)
    if not isinstance(models, dict) or len(models) < 2:
        raise ValueError(f"models must be a dict of at least two estimators, got {models!r}")
    X = row_table(X)
    y = folds.check_data(X, y)
    classifier = folds.classifies(models.values())
    if test == "mcnemar" and not classifier:
        raise ValueError("test='mcnemar' compares classifiers, but not all models are")
    measure = resolve_metric(metric, task_of(next(iter(models.values()))) if not metric else None)
    options: dict[str, Any] = {"classifier": classifier, "random_state": random_state}
    if test == "5x2cv":
        options["random_state"] = 0 if random_state is None else random_state
        splits = folds.half_splits(X, y, repeats=5, **options)
    else:
        splits = folds.make_splits(cv, X, y, groups=groups, **options)
    work: dict[str, Any] = {"n_jobs": n_jobs, "callbacks": callbacks}
    wanted = folds.Wanted(prediction=test == "mcnemar")
    found = folds.run_folds(models, X, y, splits, measure, wanted=wanted, **work)
    better = measure.greater_is_better
    rule: dict[str, Any] = {"test": test, "correction": correction, "alpha": alpha}
    return compare_folds(found, y, splits, **rule, metric=measure.name, greater_is_better=better)


def compare_folds(
    found: dict[str, list[FoldScore]],
    y: np.ndarray,
    splits: list[Split],
    *,
    test: str,
    correction: str,
    alpha: float,
    metric: str,
    greater_is_better: bool,
) -> Comparison:
    """The comparison of scores that are already there."""
    names = tuple(found)
    scores = np.array([[fold.test for fold in each] for each in found.values()])
    _refuse_undefined(names, scores, metric)
    m, ratio = len(names), folds.ratio_of(splits)
    pairs = list(combinations(range(m), 2))
    right: list[Any] = []
    if test == "mcnemar":
        truth = np.concatenate([y[rows] for _, rows in splits])
        said = [np.concatenate([fold.prediction for fold in each]) for each in found.values()]
        right = [truth == labels for labels in said]

    def p_value(i: int, j: int) -> float:
        if test == "mcnemar":
            return mcnemar_test(right[i], right[j]).p_value
        if test == "5x2cv":
            return five_by_two_test((scores[i] - scores[j]).reshape(5, 2), statistic="f").p_value
        if test == "paired_t":
            return paired_t_test(scores[i], scores[j]).p_value
        return corrected_t_test(scores[i], scores[j], test_ratio=ratio).p_value

    p, adjusted = np.ones((m, m)), np.ones((m, m))
    raw = [p_value(i, j) for i, j in pairs]
    for (i, j), value, new in zip(pairs, raw, adjust_p_values(raw, correction), strict=True):
        p[i, j] = p[j, i] = value
        adjusted[i, j] = adjusted[j, i] = new
    mean = scores.mean(axis=1) * (1 if greater_is_better else -1)
    if right:
        mean = np.array([column.mean() for column in right])
    better = (adjusted < alpha) & (mean[:, None] > mean[None, :])
    summaries = tuple(cv_summary(row, test_ratio=ratio) for row in scores)
    best = int(np.argmax(scores.mean(axis=1) * (1 if greater_is_better else -1)))
    sentence = _sentence(names, best, float(scores[best].mean()), better[best], metric)
    found_ = names, scores, summaries, p, adjusted, better, sentence
    return Comparison(*found_, metric, bool(greater_is_better), test, correction, float(alpha))


def _refuse_undefined(names: tuple[str, ...], scores: Array, metric: str) -> None:
    bad = np.argwhere(~np.isfinite(scores))
    if len(bad):
        model, fold = bad[0]
        raise ValueError(f"{metric} of {names[model]} is undefined in fold {fold}")


def _sentence(names: tuple[str, ...], best: int, mean: float, beats: BoolArray, metric: str) -> str:
    beaten = [name for name, lost in zip(names, beats, strict=True) if lost]
    level = [n for i, n in enumerate(names) if i != best and not beats[i]]
    text = f"{names[best]} is best ({metric} {figures(mean, 3, plain=True, commas=1e4)})"
    if beaten:
        text += f" and significantly better than {_named(beaten)}"
    if level:
        text += f"{'; ' if beaten else ', but '}{_named(level)} cannot be told apart from it"
    return text + "."


def _named(names: list[str]) -> str:
    """The names; of a long list the first ones.

    >>> _named(["average of a, b and c", "a", "b"])
    'average of a, b and c; a; and b'
    """
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"]
    if len(names) > 1 and any("," in name for name in names):
        return f"{'; '.join(names[:-1])}; and {names[-1]}"
    last = ", and " if any(" and " in name for name in names) else " and "
    return last.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
