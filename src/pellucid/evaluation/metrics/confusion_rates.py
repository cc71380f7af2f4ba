r"""The rates of a two-by-two table, and the table itself for any number of classes.

Row = truth, column = prediction. With the positive label first a binary table reads
[[TP, FN], [FP, TN]].

    accuracy = (TP + TN) / n                        error = 1 - accuracy
    rebalanced accuracy: every positive counts N/P  = (TP N/P + TN) / (2N) = balanced accuracy
    F_beta = (1 + b^2) precision recall / (b^2 precision + recall)
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import plain, text_table
from pellucid.evaluation.metrics import point_scores as ps
from pellucid.evaluation.metrics import prepared
from pellucid.evaluation.metrics.metrics import warn_undefined


@readable
class Rates(NamedTuple):
    """What the four counts of a binary table say.

    >>> print(rates(8, 2, 30, 60))
    Of 100 examples 10 are positive and 38 were called positive.
    accuracy             0.68   share of right answers
    error                0.32   share of wrong answers
    rebalanced_accuracy  0.733333   right answers if both classes were equally frequent
    balanced_accuracy    0.733333   the mean of recall and specificity
    precision            0.210526   share of the called positives that are positive
    recall               0.8   share of the positives that were found
    specificity          0.666667   share of the negatives that were left alone
    f_beta               0.333333   precision and recall in one number
    mcc                  0.28843   correlation of truth and answer
    kappa                0.207921   accuracy above chance
    prevalence           0.1   share of positives
    """

    accuracy: float  # share of right answers
    error: float  # share of wrong answers
    rebalanced_accuracy: float  # as if both classes were equally frequent
    balanced_accuracy: float  # mean of recall and specificity
    precision: float  # share of the called positives that are positive
    recall: float  # share of the positives that were found
    specificity: float  # share of the negatives that were left alone
    f_beta: float  # precision and recall in one number
    mcc: float  # correlation of truth and answer
    kappa: float  # accuracy above chance
    prevalence: float  # share of positives
    beta: float  # of f_beta
    tp: float  # true positives
    fn: float  # misses
    fp: float  # false alarms
    tn: float  # true negatives

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        n, P, called = self.tp + self.fn + self.fp + self.tn, self.tp + self.fn, self.tp + self.fp
        head = f"Of {n:g} examples {P:g} are positive and {called:g} were called positive."
        lines = [f"{name:<20} {getattr(self, name):.6g}   {why}" for name, why in _WORDS.items()]
        return "\n".join([head, *lines])


_WORDS = {
    "accuracy": "share of right answers",
    "error": "share of wrong answers",
    "rebalanced_accuracy": "right answers if both classes were equally frequent",
    "balanced_accuracy": "the mean of recall and specificity",
    "precision": "share of the called positives that are positive",
    "recall": "share of the positives that were found",
    "specificity": "share of the negatives that were left alone",
    "f_beta": "precision and recall in one number",
    "mcc": "correlation of truth and answer",
    "kappa": "accuracy above chance",
    "prevalence": "share of positives",
}


def rates(tp: float, fn: float, fp: float, tn: float, *, beta: float = 1.0) -> Rates:
    """The rates of a binary table; what is undefined is NaN with a warning.

    ``tp``, ``fn``, ``fp`` and ``tn`` count true positives, false negatives (misses), false
    positives (false alarms) and true negatives; ``beta`` is how much recall counts against
    precision in f_beta.

    >>> round(rates(8, 2, 30, 60, beta=2).f_beta, 10)
    0.5128205128
    """
    check.non_negative(tp=tp, fn=fn, fp=fp, tn=tn)
    check.positive(beta=beta)
    C = np.array([[tp, fn], [fp, tn]], dtype=np.float64)
    if C.sum() == 0:
        raise ValueError("all four counts are zero: at least one example is needed")
    c = ps.ClassCounts(*(np.asarray(v, dtype=np.float64) for v in (tp, fn, fp, tn)))
    found, spared = float(ps.recall(c)), float(ps.specificity(c))
    P, N = c.tp + c.fn, c.fp + c.tn
    rebalanced = float(ps.ratio(c.tp * ps.ratio(N, P) + c.tn, 2 * N))
    accuracy = ps.accuracy(C)
    balanced, f = (found + spared) / 2, float(ps.f_beta(c, beta))
    rates_ = accuracy, 1 - accuracy, rebalanced, balanced, float(ps.precision(c)), found, spared, f
    given = [float(v) for v in (P / C.sum(), beta, tp, fn, fp, tn)]
    result = Rates(*rates_, ps.mcc(C), ps.kappa(C), *given)
    undefined = [name for name in _WORDS if np.isnan(getattr(result, name))]
    if undefined:
        warn_undefined(", ".join(undefined), "for these counts")
    return result


@readable
class ConfusionTable(NamedTuple):
    """Counts of truth (rows) against prediction (columns), and tp, fn, fp, tn of every class.

    >>> print(confusion_table(["sick", "well", "well"], ["sick", "sick", "well"], positive="sick"))
    truth \\ prediction  sick  well
    sick                   1     0
    well                   1     1
    """

    labels: Any  # (K,) in the order of rows and columns
    counts: Array  # (K, K)
    tp: Array  # (K,) true positives of each class
    fn: Array  # (K,) misses
    fp: Array  # (K,) false alarms
    tn: Array  # (K,) true negatives

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def to_frame(self) -> Any:
        """A polars frame: the truth, then one column per predicted label."""
        import polars

        names = [str(label) for label in self.labels]
        columns = {name: self.counts[:, j] for j, name in enumerate(names)}
        return polars.DataFrame({"truth": names, **columns})

    def __str__(self) -> str:
        names = [str(label) for label in self.labels]
        rows = [(name, *row) for name, row in zip(names, self.counts.tolist(), strict=True)]
        return text_table(("truth \\ prediction", *names), rows)


def confusion_table(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    positive: object = None,
    sample_weight: ArrayLike | None = None,
) -> ConfusionTable:
    """Count truth against prediction.

    ``labels`` are those of ``y_true`` and ``y_pred`` in the order wanted, sorted when not given.
    ``positive`` comes first, so that a binary table reads [[TP, FN], [FP, TN]]. ``sample_weight``
    says how often each row counts.

    >>> confusion_table([0, 0, 1, 1, 1], [0, 1, 1, 1, 0], positive=1).counts
    array([[2, 1],
           [1, 1]])
    """
    y, p = prepared.column(y_true, "y_true"), prepared.column(y_pred, "the prediction")
    prepared.same_length(len(y), len(p))
    w = prepared.weights(sample_weight, len(y))
    classes, t, q = prepared.common_codes(y, p, labels)
    order = np.arange(len(classes))
    if labels is not None:
        names = prepared.check_labels(np.asarray(labels), "labels")
        unknown = set(classes.tolist()) - set(names.tolist())
        if unknown or len(set(names.tolist())) != len(names):
            what = f"{sorted(unknown)[0]!r} is not in labels" if unknown else "labels repeats one"
            raise ValueError(f"{what}; it must name every label once")
        order = np.searchsorted(classes, names)
    if positive is not None:
        first = np.flatnonzero(classes == positive)
        if len(first) == 0:
            raise ValueError(f"positive={positive!r} is not among the labels {list(classes)}")
        order = np.concatenate([first, order[order != first[0]]])
    counts = ps.confusion_counts(t, q, len(classes), w)[np.ix_(order, order)]
    return ConfusionTable(classes[order], counts, *ps.class_counts(counts))
