r"""All numbers of a classification in one call, each with its interval.

Everything comes from the K x K counts and, with scores, from one sort per curve. The bootstrap of
the table metrics draws whole tables (multinomial in the cells), all metrics from the same draws;
the jackknife takes one example out of each cell. Areas under the precision-recall curve are
bootstrapped up to 5000 rows and take the jackknife's standard error beyond, where the two agree.

More than two classes: accuracy = trace / total; precision, recall, f_beta are means over the
classes ("macro"); ``_micro`` pools the counts, ``_weighted`` weighs classes by their frequency.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.intervals import bootstrap_intervals as bootstrap
from pellucid.evaluation.intervals import intervals as limits
from pellucid.evaluation.intervals.intervals import Interval, MetricTable, mean_interval
from pellucid.evaluation.intervals.metric_intervals import (
    curve_ranks,
    delong_interval,
    smallest_class,
)
from pellucid.evaluation.intervals.resampled import curve_statistic
from pellucid.evaluation.metrics import point_scores as ps
from pellucid.evaluation.metrics.confusion_rates import ConfusionTable
from pellucid.evaluation.metrics.delong import Ranking
from pellucid.evaluation.metrics.metrics import warn_undefined
from pellucid.evaluation.metrics.prepared import Prepared, prepare
from pellucid.evaluation.metrics.registry import check_both_classes, counts_of

RESAMPLES = 2000
JACKKNIFE_ROWS = 5000
FEW_CALLED = 5  # predicted positives below which a precision says little
CELLS = 2_000_000  # numbers in a stack of tables


class ClassificationTable(MetricTable):
    """A ``MetricTable`` with a table per class and the confusion table.

    Parameters
    ----------
    intervals, notes
        As for ``MetricTable``.
    per_class : dict
        Label -> MetricTable.
    confusion : ConfusionTable
        Counts of truth against prediction.
    beta : float
        Of ``f_beta``.

    >>> table = classification_metrics([0, 1] * 10, [0, 1] * 9 + [1, 1])
    >>> table.per_class[1]["precision"].n, table.confusion.counts.tolist()
    (11, [[9, 1], [0, 10]])
    """

    per_class: dict[Any, MetricTable]
    confusion: ConfusionTable
    beta: float

    def __init__(
        self,
        intervals: dict[str, Interval],
        per_class: dict[Any, MetricTable],
        confusion: ConfusionTable,
        beta: float,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(intervals, notes)
        object.__setattr__(self, "per_class", per_class)
        object.__setattr__(self, "confusion", confusion)
        object.__setattr__(self, "beta", beta)

    def __getitem__(self, name: str) -> Interval:
        if name.startswith("f1") and self.beta == 1.0:
            name = name.replace("f1", "f_beta", 1)
        return super().__getitem__(name)

    def to_dict(self) -> dict[str, Any]:
        """The whole table as plain numbers and text, ready for JSON."""
        return {
            **super().to_dict(),
            "per_class": {str(label): table.to_dict() for label, table in self.per_class.items()},
            "confusion": self.confusion.to_dict(),
        }

    def __str__(self) -> str:
        return f"{super().__str__()}\n\n{self.confusion}"

    __repr__ = __str__


class TableMeasures(NamedTuple):
    """Measures of one table, or of a stack of tables (...,); ``f_class`` is (..., K)."""

    scalars: dict[str, Array]
    f_class: Array


def table_measures(C: Array, positive: int | None, beta: float) -> TableMeasures:
    """Every measure of confusion counts C (..., K, K) at once."""
    row, column = C.sum(axis=-1), C.sum(axis=-2)
    tp = np.diagonal(C, axis1=-2, axis2=-1)
    n, right = row.sum(axis=-1), tp.sum(axis=-1)
    P, R = ps.ratio(tp, column), ps.ratio(tp, row)
    b2 = beta * beta
    F = ps.ratio((1 + b2) * tp, b2 * row + column)
    S = ps.ratio(n[..., None] - row - column + tp, n[..., None] - row)
    accuracy = right / n
    chance = (row * column).sum(axis=-1) / n**2
    spread = (n**2 - (column**2).sum(axis=-1)) * (n**2 - (row**2).sum(axis=-1))
    out = {
        "accuracy": accuracy,
        "error": 1 - accuracy,
        "balanced_accuracy": _mean_over(R, row > 0),
        "mcc": ps.ratio(n * right - (row * column).sum(axis=-1), np.sqrt(np.maximum(spread, 0))),
        "kappa": ps.ratio(accuracy - chance, 1 - chance),
    }
    rates = {"precision": P, "recall": R, "specificity": S, "f_beta": F}
    if positive is not None:
        out |= {name: rate[..., positive] for name, rate in rates.items()}
    else:
        out |= {name: _mean_over(rate, row + column > 0) for name, rate in rates.items()}
        for name, rate in (("precision", P), ("f_beta", F)):
            share = row / n[..., None]
            out[f"{name}_weighted"] = np.where(share > 0, share * rate, 0.0).sum(axis=-1)
    return TableMeasures(out, F)


def _mean_over(rate: Array, where: Array) -> Array:
    return ps.ratio(np.where(where, rate, 0.0).sum(axis=-1), where.sum(axis=-1))


def _stacks(tables: Array, k: int) -> Iterator[Array]:
    size = max(1, CELLS // (k * k))
    yield from (tables[start : start + size] for start in range(0, len(tables), size))


class _Resampled(NamedTuple):
    """The measures of the table, of resampled tables, and of tables less one example."""

    here: TableMeasures
    replicates: TableMeasures
    without: TableMeasures
    multiplicity: Array

    def interval(self, name: str, n: float, confidence: float, j: int | None = None) -> Interval:
        if j is None:
            parts = [m.scalars[name] for m in (self.here, self.replicates, self.without)]
        else:
            parts = [m.f_class[..., j] for m in (self.here, self.replicates, self.without)]
        estimate, replicates, without = float(parts[0]), parts[1], parts[2]
        fine = replicates[np.isfinite(replicates)]
        if math.isnan(estimate) or len(fine) < 2:
            return Interval(estimate, math.nan, math.nan, math.nan, "bca", n, confidence)
        a = bootstrap.acceleration(without, self.multiplicity)
        low, high = bootstrap.bca_limits(estimate, fine, a, confidence)
        return Interval(estimate, low, high, float(fine.std(ddof=1)), "bca", n, confidence)


def _resample(C: Array, positive: int | None, beta: float, rng: Rng) -> _Resampled:
    K = len(C)
    flat = C.ravel().astype(np.float64)
    used = np.flatnonzero(flat)
    total = flat.sum()
    draws = max(1, round(total))

    def measure(tables: Array) -> TableMeasures:  # (m, used) -> measures
        parts = []
        for part in _stacks(tables, K):
            full = np.zeros((len(part), K * K))
            full[:, used] = part
            parts.append(table_measures(full.reshape(-1, K, K), positive, beta))
        names = parts[0].scalars
        scalars = {name: np.concatenate([p.scalars[name] for p in parts]) for name in names}
        return TableMeasures(scalars, np.concatenate([p.f_class for p in parts]))

    drawn = rng.multinomial(draws, flat[used] / total, size=RESAMPLES) * (total / draws)
    without = np.maximum(flat[used] - np.eye(len(used)), 0.0)
    if total <= 1:
        without = without + 1e-300  # one example: nothing is left, and nothing is accelerated
    here = table_measures(flat.reshape(K, K), positive, beta)
    return _Resampled(here, measure(drawn), measure(without), flat[used])


def classification_metrics(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    positive: object = None,
    beta: float = 1.0,
    cost_matrix: ArrayLike | None = None,
    confidence: float = 0.95,
    random_state: Seed = 0,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> ClassificationTable:
    """Every metric of a classification, with intervals, per class and as a confusion table.

    Parameters
    ----------
    y_true, y_pred : array of labels
        Truth and prediction.
    y_score : array of shape (n,) or (n, K), optional
        Scores or probabilities (of the positive class, or one column per sorted label). Adds
        roc_auc (one against the rest for K > 2), average_precision and pr_area; probabilities
        also add log_loss, log_loss_sum and brier.
    positive : label, optional
        The later of two labels when not given; with more classes: precision and the like are
        those of this class instead of means.
    beta : float, default=1.0
        How much recall counts against precision in ``f_beta``.
    cost_matrix : array of shape (K, K), optional
        Row = truth, column = prediction, sorted labels; adds mean_cost.
    confidence : float, default=0.95
        Of the intervals.
    random_state : int, Generator or None, default=0
        Seed of the bootstrap.
    sample_weight : array, optional
        Repetitions of the rows.
    labels : sequence, optional
        The labels in the order of the columns of ``y_score``, where it is not the sorted one.

    Examples
    --------
    >>> y, yhat = [0, 0, 1, 1, 1, 0, 1, 0, 1, 1], [0, 1, 1, 1, 0, 0, 1, 0, 1, 1]
    >>> table = classification_metrics(y, yhat)
    >>> table["accuracy"].estimate, round(table["f1"].estimate, 4)
    (0.8, 0.8333)
    >>> table.per_class[1]["recall"].n, table.confusion.counts.tolist()
    (6, [[3, 1], [1, 5]])
    """
    check.positive(beta=beta)
    check.fraction(confidence=confidence)
    marks: dict[str, Any] = {"labels": labels, "positive": positive, "cost_matrix": cost_matrix}
    data = prepare("classes", y_true, y_pred, sample_weight, **marks)
    if data.kind != "classes":
        raise ValueError("classification_metrics needs one label per row; see multilabel_metrics")
    rng = generator(random_state)
    C = counts_of(data)
    draws = _resample(C, data.positive, beta, rng)
    intervals = _label_intervals(data, C, draws, confidence)
    if cost_matrix is not None:
        losses = data.cost[data.y, data.prediction]
        intervals["mean_cost"] = mean_interval(losses, confidence=confidence, sample_weight=data.w)
    notes: tuple[str, ...] = ()
    if y_score is not None:
        marks = {"labels": data.labels if labels is None else labels, "positive": positive}
        given = np.asarray(y_true), y_score, sample_weight
        more, notes = _score_intervals(given, marks, confidence, rng)
        intervals |= more
    _warn_about(data, C, intervals)
    confusion = ConfusionTable(data.labels, C, *ps.class_counts(C))
    tables = _per_class(data, C, draws, confidence)
    return ClassificationTable(intervals, tables, confusion, beta, notes)


def _share(hits: float, out_of: float, confidence: float) -> Interval:
    """Wilson's interval; undefined when there is nothing to count."""
    if out_of == 0:
        return Interval(math.nan, math.nan, math.nan, math.nan, "wilson", 0, confidence)
    return limits.proportion_interval(hits, limits.counted(out_of), confidence=confidence)


def _label_intervals(
    data: Prepared, C: Array, draws: _Resampled, confidence: float
) -> dict[str, Interval]:
    n, right = limits.counted(C.sum()), float(np.trace(C))
    accuracy = _share(right, n, confidence)
    out = {"accuracy": accuracy, "error": _share(n - right, n, confidence)}
    for name in ("balanced_accuracy", "mcc", "kappa"):
        out[name] = draws.interval(name, n, confidence)
    if data.positive is not None:
        tp, fn, fp, tn = (float(part[data.positive]) for part in ps.class_counts(C))
        out["precision"] = _share(tp, tp + fp, confidence)
        out["recall"] = _share(tp, tp + fn, confidence)
        out["specificity"] = _share(tn, tn + fp, confidence)
        out["f_beta"] = draws.interval("f_beta", n, confidence)
        out["prevalence"] = _share(tp + fn, n, confidence)
    else:
        for name in ("precision", "recall", "specificity", "f_beta"):
            out[name] = draws.interval(name, n, confidence)
        for name in ("precision", "recall", "f_beta"):  # one label per row: all pool to accuracy
            out[f"{name}_micro"] = accuracy
        out["precision_weighted"] = draws.interval("precision_weighted", n, confidence)
        out["recall_weighted"] = accuracy
        out["f_beta_weighted"] = draws.interval("f_beta_weighted", n, confidence)
    counts = C.sum(axis=1)
    least = float(counts[counts > 0].min())
    return {name: limits.with_room(name, found, least) for name, found in out.items()}


def _per_class(
    data: Prepared, C: Array, draws: _Resampled, confidence: float
) -> dict[Any, MetricTable]:
    counts, n = ps.class_counts(C), limits.counted(C.sum())
    tables = {}
    for j, label in enumerate(data.labels.tolist()):
        tp, fn, fp, _ = (float(part[j]) for part in counts)
        share = _share(tp + fn, n, confidence)
        ends = share.low * n, share.high * n, share.standard_error * n
        found = {
            "precision": _share(tp, tp + fp, confidence),
            "recall": _share(tp, tp + fn, confidence),
            "f_beta": draws.interval("f_beta", n, confidence, j),
            "support": Interval(limits.counted(tp + fn), *ends, "wilson", n, confidence),
        }
        tables[label] = MetricTable(found)
    return tables


def _score_intervals(
    given: tuple[Any, Any, Any], marks: dict[str, Any], confidence: float, rng: Rng
) -> tuple[dict[str, Interval], tuple[str, ...]]:
    """Areas for any scores; losses for probabilities only. given: truth, scores, weights."""
    data = prepare("scores", *given, **marks)
    n = data.n if data.w is None else limits.counted(data.w.sum())
    check_both_classes(data)
    ranks = curve_ranks(data)  # one sort for everything below
    out = {"roc_auc": delong_interval(data, confidence, ranks=ranks)}
    units = bootstrap.make_units(data.n, data.w)
    curves = [cumulative_of(rank, data.w) for rank in ranks]
    for name, area in (("average_precision", ps.step_area), ("pr_area", ps.trapezoid_area)):
        estimate = float(np.mean([area(curve) for curve in curves]))
        statistic = curve_statistic(name, ranks, units, estimate)
        if data.n <= JACKKNIFE_ROWS:
            options: dict[str, Any] = {"n_resamples": RESAMPLES, "random_state": rng, "name": name}
            out[name] = bootstrap.bootstrap_interval(
                statistic, n=n, confidence=confidence, **options
            )
        else:
            out[name] = _jackknife_interval(estimate, *statistic.jackknife(), n, confidence)
        out[name] = limits.with_room(name, out[name], smallest_class(data))
    S = np.asarray(given[1], dtype=np.float64)
    chances = S.min() >= 0 and S.max() <= 1
    if chances and S.ndim == 2:
        chances = bool(np.abs(S.sum(axis=1) - 1).max() <= 1e-3)
    if not chances:
        return out, ("the scores are no probabilities: no log_loss and brier",)
    p = prepare("probabilities", *given, **marks)

    def mean(losses: Array) -> Interval:
        return mean_interval(losses, confidence=confidence, sample_weight=p.w)

    loss = mean(ps.log_losses(p.y, p.prediction))
    out |= {"log_loss": loss, "log_loss_sum": limits.n_times(loss, n)}
    out["brier"] = mean(ps.brier_losses(p.y, p.prediction))
    return out, ()


def cumulative_of(rank: Ranking, w: Array | None) -> ps.Cumulative:
    """Running counts at the distinct scores of a ranking; the thresholds are not needed here."""
    last = np.flatnonzero(rank.tie_end)
    v = np.ones(len(rank.order)) if w is None else w[rank.order]
    tp = np.cumsum(v * rank.positive)
    return ps.Cumulative(last.astype(np.float64), tp[last], (np.cumsum(v) - tp)[last])


def _jackknife_interval(
    estimate: float, values: Array, multiplicity: Array, n: float, confidence: float
) -> Interval:
    """Estimate -+ z s, s^2 = (n-1)/n sum (theta_(i) - mean)^2, inside [0, 1]."""
    m = multiplicity.sum()
    mean = multiplicity @ values / m
    error = math.sqrt((m - 1) / m * float(multiplicity @ (values - mean) ** 2))
    gap = float(ndtri((1 + confidence) / 2)) * error
    low, high = max(0.0, estimate - gap), min(1.0, estimate + gap)
    return Interval(estimate, low, high, error, "jackknife", n, confidence)


def _warn_about(data: Prepared, C: Array, intervals: dict[str, Interval]) -> None:
    """Undefined metrics, precision on few examples, accuracy with a rare class."""
    undefined = [name for name, value in intervals.items() if math.isnan(value.estimate)]
    if undefined:
        warn_undefined(", ".join(undefined))
    called = C.sum(axis=0)
    few = called[data.positive] if data.positive is not None else called[C.sum(axis=1) > 0].min()
    if few < FEW_CALLED:
        warn(f"precision rests on {few:g} predicted positives (of one class): it is easily gamed")
    rows = C.sum(axis=1)
    share, K = rows[rows > 0].min() / rows.sum(), (rows > 0).sum()
    if K > 1 and share < 0.4 / K:  # 20 % for two classes
        rare = f"the rarest class has {100 * share:.3g} % of the examples"
        warn(f"{rare}: accuracy says little; look at balanced_accuracy or average_precision")
