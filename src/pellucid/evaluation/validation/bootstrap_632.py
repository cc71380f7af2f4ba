r"""The bootstrap's estimates of error: out-of-bag, .632 and .632+.

    apparent       score of the model on the rows it was fitted on: too good
    out_of_bag     mean score on the rows a bootstrap sample left out: a little too bad
    632            w = .632
    632+           w = .632 / (1 - .368 R),
                   R = (oob - apparent) / (no_information - apparent) clipped to [0, 1]
    value          (1 - w) apparent + w oob

``no_information`` is the score when predictions and truth are paired at random: all n^2 pairs. The
formulas hold for losses and for scores alike, since R is a ratio of differences.

References: Efron (1983); Efron & Tibshirani (1997).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.metaestimators import _safe_split

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.meta import fitted
from pellucid.core.records import plain, show
from pellucid.evaluation.metrics.metrics import Metric, MetricLike, classes_of, predictions_for
from pellucid.evaluation.splits.bootstrap_split import BootstrapSplit
from pellucid.evaluation.splits.folds import FAILURES, Split
from pellucid.evaluation.validation.cv_scores import FoldJob, metric_for, open_data, run_fold
from pellucid.evaluation.workers import run_tasks

KINDS = ("oob", "632", "632+")
SHARE = 0.632
PAIRS = 2_000_000  # pairs of truth and prediction that are scored in one go


class BootstrapEstimate(NamedTuple):
    """A bootstrap estimate of performance; ``low`` and ``high`` span 95 % of the replicates."""

    value: float  # the estimate
    apparent: float  # score on the training rows
    out_of_bag: float  # mean score on the rows left out
    weight: float  # of out_of_bag in the value
    no_information: float | None  # score if truth and prediction were unrelated
    overfitting_rate: float | None  # R of .632+
    replicates: Array  # (B,) out-of-bag scores
    low: float  # 2.5 % quantile
    high: float  # 97.5 % quantile
    kind: str  # oob, 632 or 632+
    metric: str  # name of the score
    greater_is_better: bool  # False for losses

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        spread = f"95 % of {len(self.replicates)} replicates between {show(self.low)} and"
        parts = f"{show(self.apparent)} on the training rows and {show(self.out_of_bag)} out of bag"
        value = f"{self.metric} {show(self.value)} ({spread} {show(self.high)})"
        return f"{value}: {self.kind} estimate from {parts}"


class Combined(NamedTuple):
    value: float
    weight: float
    overfitting_rate: float | None


def combine(apparent: float, out_of_bag: float, no_information: float | None) -> Combined:
    """The weighted mean, its weight, and R where there is one."""
    if no_information is None:
        return Combined((1 - SHARE) * apparent + SHARE * out_of_bag, SHARE, None)
    room = no_information - apparent
    R = min(max((out_of_bag - apparent) / room, 0.0), 1.0) if room != 0 else 0.0
    w = SHARE / (1 - (1 - SHARE) * R)
    return Combined((1 - w) * apparent + w * out_of_bag, w, R)


def combine_632(apparent: float, out_of_bag: float, no_information: float | None = None) -> float:
    """The .632 estimate; with ``no_information`` the .632+ estimate.

    ``apparent`` is the score (or loss) on the training rows, ``out_of_bag`` the mean on the rows
    left out; ``no_information`` the score when truth and prediction are unrelated.

    >>> from pellucid.evaluation import combine_632
    >>> round(combine_632(0.05, 0.30), 6), round(combine_632(0.05, 0.30, 0.5), 6)
    (0.208, 0.248603)
    """
    given = {"apparent": apparent, "out_of_bag": out_of_bag, "no_information": no_information}
    for name, value in given.items():
        if value is not None and not np.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(combine(apparent, out_of_bag, no_information).value)


def no_information_score(
    metric: Metric, y: ArrayLike, said: ArrayLike, labels: ArrayLike | None = None
) -> float:
    """The score over all pairs of a truth and a prediction.

    Distinct truths are paired with every prediction, weighted by how often they occur; where that
    is too many, evenly spaced rotations of the predictions stand for all n of them.

    >>> from pellucid.evaluation.metrics.metrics import resolve_metric
    >>> no_information_score(resolve_metric("error"), np.array([0, 0, 1]), np.array([0, 1, 1]))
    0.5555555555555556
    """
    y, said = np.asarray(y), np.asarray(said)
    n = len(y)
    if y.ndim == 1:
        distinct, times = np.unique(y, return_counts=True)
        if len(distinct) * n <= PAIRS:
            truth = np.repeat(distinct, n)
            again = np.tile(said, (len(distinct), *[1] * (said.ndim - 1)))
            return metric.score(truth, again, np.repeat(times.astype(float), n), labels=labels)
    turns = np.unique(np.linspace(0, n, min(n, max(PAIRS // n, 1)), endpoint=False).astype(int))
    again = np.concatenate([np.roll(said, int(turn), axis=0) for turn in turns])
    return metric.score(np.concatenate([y] * len(turns)), again, labels=labels)


def _replicate(job: FoldJob, item: tuple[int, Split]) -> float:
    number, split = item
    try:
        return run_fold(job, {}, split).test
    except FAILURES as error:
        raise ValueError(f"bootstrap sample {number} failed: {error}") from error


def bootstrap_estimate(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    *,
    metric: MetricLike = None,
    n_resamples: int = 100,
    kind: str = "632+",
    n_jobs: int | None = None,
    random_state: Seed = None,
    callbacks: object = (),
) -> BootstrapEstimate:
    """Estimate performance from bootstrap samples and the rows they leave out.

    Parameters
    ----------
    n_resamples : int, default=100
        Bootstrap samples, >= 2.
    kind : {"oob", "632", "632+"}, default="632+"
        Out of bag, or weighted with the score on the training rows.
    estimator : estimator
        Unfitted.
    X, y : array-like
        The data.
    metric : str, scorer or callable, optional
        None: r2 for regressors, accuracy for classifiers.
    n_jobs : int, optional
        Workers of joblib; the numbers do not depend on it.
    random_state : int, RandomState, Generator or None
        Seed of the samples.
    callbacks : scikit-learn callbacks, optional
        Such as ``sklearn.callback.ProgressBar()``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import GaussianNB
    >>> from pellucid.evaluation import bootstrap_estimate
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 2)) + y[:, None]
    >>> found = bootstrap_estimate(GaussianNB(), X, y, metric="error", random_state=0)
    >>> found.apparent < found.value < found.no_information
    True
    """
    check.one_of(KINDS, kind=kind)
    check.whole(at_least=2, n_resamples=n_resamples)
    X, y = open_data(X, y)
    score = metric_for(metric, estimator)
    stratify = is_classifier(estimator) and np.ndim(y) == 1
    splitter = BootstrapSplit(n_resamples, stratify=stratify, random_state=random_state)
    job = FoldJob(estimator, X, y, score)
    splits = list(enumerate(splitter.split(X, y)))
    found = run_tasks(
        partial(_replicate, job), splits, n_jobs=n_jobs, callbacks=callbacks, name="Bootstrap"
    )
    replicates = np.array(found)
    everything = _safe_split(estimator, X, y, np.arange(len(y)))
    model = fitted(clone(estimator), *everything)
    said = predictions_for(score, model, everything[0])
    labels = classes_of(model)
    apparent = score.score(y, said, labels=labels)
    oob = float(replicates.mean())
    none = no_information_score(score, y, said, labels) if kind == "632+" else None
    value, w, R = Combined(oob, 1.0, None) if kind == "oob" else combine(apparent, oob, none)
    low, high = np.quantile((1 - w) * apparent + w * replicates, [0.025, 0.975])
    parts = float(value), float(apparent), oob, float(w), none, R, replicates
    named = kind, score.name, score.greater_is_better
    return BootstrapEstimate(*parts, float(low), float(high), *named)
