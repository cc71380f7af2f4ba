r"""Permutation importance: how much worse the score gets when a column is shuffled.

    importance_j = score(y, f(X)) - mean_r score(y, f(X with column j permuted by P_r))

(the other way round for losses, so that more is always more important). The same permutations
serve all columns, scikit-learn's for the same seed, so the numbers agree with it.

A model that is linear in its columns, f(x) = b + sum_j c_j x_j, is not asked again: shuffling
column j adds c_j (x_P(i)j - x_ij) to its score, O(n) instead of O(n p) per shuffle. Other models
predict on one buffer whose column is put back afterwards.

Interval: where the metric is a mean over the rows (and for r2) it holds for new rows of the same
kind. A row counts twice, once with its own loss and once as the one that lends its x; the mean's
variance is that of the sum of both (the projection of a U-statistic of order two),

    T_i = own growth of row i + growth of the rows that got its x
    Var(mean) = sum (T_i - 2 mean)^2 / n^2

For other metrics it is Student's over the repeats, which is only the noise of shuffling.

References: Breiman (2001); Fisher, Rudin & Dominici (2019).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.records import plain, show, text_table
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads
from pellucid.evaluation.metrics import metrics
from pellucid.evaluation.metrics.metrics import Metric, MetricLike, classes_of, predictions_for
from pellucid.evaluation.splits.folds import legacy_state
from pellucid.evaluation.validation.cv_scores import metric_for, open_data
from pellucid.evaluation.workers import run_tasks
from pellucid.linear.linear_model import LinearModel


class PermutationImportance(NamedTuple):
    """Importance of every column, most of it read as: how much the score needs the column."""

    names: tuple[str, ...]  # of the columns
    importances_mean: Array  # (p,)
    importances_std: Array  # (p,) over the repeats, 1/n as scikit-learn
    importances: Array  # (p, repeats)
    standard_error: Array  # (p,)
    low: Array  # (p,) limits of the importance
    high: Array  # (p,)
    baseline: float  # score of the columns as they are
    metric: str  # name of the score
    greater_is_better: bool  # False for losses
    interval: str  # rows or repeats

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def to_frame(self) -> Any:
        """One row per column, the most important first."""
        import polars

        order = np.argsort(-self.importances_mean, kind="stable")
        columns = {"importance": self.importances_mean, "low": self.low, "high": self.high}
        ordered = {name: values[order] for name, values in columns.items()}
        return polars.DataFrame({"column": [self.names[j] for j in order], **ordered})

    def __str__(self) -> str:
        rows = [tuple(row) for row in self.to_frame().rows()]
        of = "of new rows" if self.interval == "rows" else "of shuffling only"
        what = (
            f"How much worse {self.metric} ({show(self.baseline)}) gets when a column is shuffled"
        )
        table = text_table(("column", "importance", "low", "high"), rows)
        return f"{what}; intervals for the chance {of}\n{table}"


def permutations(n: int, repeats: int, random_state: Seed) -> list[IntArray]:
    """The row orders of every repeat: scikit-learn shuffles one index on and on, and so do we."""
    given = legacy_state(random_state)
    if given is None:
        given = np.random.RandomState()
    state = given if isinstance(given, np.random.RandomState) else np.random.RandomState(given)
    rng = np.random.RandomState(state.randint(np.iinfo(np.int32).max + 1))
    index, order, found = np.arange(n), np.arange(n), []
    for _ in range(repeats):
        rng.shuffle(index)
        order = order[index]
        found.append(order)
    return found


# --- models that are linear in their columns ---------------------------------------------------


class Additive(NamedTuple):
    """A model whose scores are b + sum_j c_j x_j, and how its answers follow from the scores."""

    coef: Array  # (p, k)
    scores: Array  # (n, k)
    single: bool
    classes: Any


def additive(estimator: BaseEstimator, X: ArrayLike, metric: Metric) -> Additive | None:
    """The scores of a linear model, where the metric can be had from them; else None."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or not hasattr(estimator, "coef_"):
        return None
    coef = np.asarray(estimator.coef_, dtype=np.float64)
    if coef.shape[-1] != X.shape[1] or coef.ndim > 2:
        return None
    if is_regressor(estimator) and metric.needs == "labels":
        said, classes = np.asarray(estimator.predict(X), dtype=np.float64), None
    elif is_classifier(estimator) and metric.needs in ("labels", "scores"):
        classes = classes_of(estimator)
        if classes is None or not hasattr(estimator, "decision_function"):
            return None
        said = np.asarray(estimator.decision_function(X))
    else:
        return None
    S, C = said.reshape(len(X), -1), np.atleast_2d(coef).T  # (n, k), (p, k)
    if S.shape[1] != C.shape[1] or not _is_linear(estimator, X, S, C):
        return None
    return Additive(C, S, said.ndim == 1, classes)


def _is_linear(estimator: BaseEstimator, X: Array, S: Array, C: Array) -> bool:
    """Ours are by construction; of others the scores must be X c plus a constant."""
    if isinstance(estimator, LinearModel):
        return True
    rest = S - X @ C
    size = np.abs(S).max(initial=0.0) + np.abs(X).max(initial=0.0) * np.abs(C).max(initial=0.0)
    return bool(np.abs(rest - rest[0]).max(initial=0.0) <= 1e-9 * max(size, 1.0))


def answer(model: Additive, scores: Array, metric: Metric) -> Any:
    """What the model says at these scores: numbers, labels or the scores themselves."""
    if model.classes is None or metric.needs == "scores":
        return scores[:, 0] if model.single else scores
    if model.single:
        return model.classes[(scores[:, 0] > 0).astype(np.intp)]
    return model.classes[scores.argmax(axis=1)]


# --- the loop ----------------------------------------------------------------------------------


class Shuffles(NamedTuple):
    """What every column needs."""

    estimator: Any
    X: Any
    y: Any
    w: Any
    metric: Metric
    orders: list[IntArray]
    model: Additive | None
    labels: Any

    def outcomes(self, j: int) -> Any:
        """What the model says with column j shuffled, one repeat after the other."""
        if self.model is not None:
            x = np.ascontiguousarray(self.X[:, j])
            for order in self.orders:
                moved = (x[order] - x)[:, None] * self.model.coef[j]
                yield answer(self.model, np.add(moved, self.model.scores, out=moved), self.metric)
            return
        X = self.X.copy() if isinstance(self.X, np.ndarray) else self.X
        for order in self.orders:
            if isinstance(X, np.ndarray):
                X[:, j] = self.X[order, j]
                yield predictions_for(self.metric, self.estimator, X)
            else:
                yield predictions_for(self.metric, self.estimator, _with_column(X, j, order))


def _with_column(X: Any, j: int, order: IntArray) -> Any:
    """A frame or sparse matrix with one column in another order."""
    if is_frame(X):
        if hasattr(X, "with_columns"):
            return X.with_columns(X[:, j].gather(order).alias(X.columns[j]))
        shuffled = X.copy()
        shuffled.isetitem(j, X.iloc[order, j].to_numpy())
        return shuffled
    shuffled = X.tolil(copy=True)
    shuffled[:, [j]] = X.tocsc()[:, [j]].tocsr()[order]
    return shuffled.tocsr()


@jit
def squared_growth(x, order, coef, residual, w, growth):
    """Add the growth of squared residuals to its row and to the row whose x it got; the sum."""
    total = 0.0
    for i in range(len(x)):
        moved = coef * (x[order[i]] - x[i])
        more = moved * (moved - 2.0 * residual[i])
        growth[i] += w[i] * more
        growth[order[i]] += w[i] * more
        total += w[i] * more
    return total


class Column(NamedTuple):
    scores: Array  # (repeats,)
    increase: Array | None  # (n,) growth of its own loss and of those it lent its x to


def one_column(work: Shuffles, losses: Metric | None, base: Array | None, j: int) -> Column:
    """Scores with column j shuffled, and how much each row's loss grew."""
    scores = []
    growth = None if base is None else np.zeros(len(base))
    w = np.ones(len(work.y)) if work.w is None else work.w
    for order, said in zip(work.orders, work.outcomes(j), strict=True):
        if losses is None or growth is None:
            scores.append(work.metric.score(work.y, said, work.w, labels=work.labels))
            continue
        each: Any = losses.losses(work.y, said, labels=work.labels)
        more = w * (each - base)
        growth += more
        growth[order] += more
        if losses is work.metric:  # the score is the mean of its terms
            scores.append(float(np.average(each, weights=work.w)))
        else:
            scores.append(work.metric.score(work.y, said, work.w, labels=work.labels))
    if growth is not None and base is not None:
        growth /= len(work.orders)
    return Column(np.array(scores), growth)


def squared_column(work: Shuffles, baseline: float, j: int) -> Column:
    """The same for mse and r2 of a linear model with one target, from the residuals alone."""
    assert work.model is not None
    y = work.y.reshape(len(work.y)).astype(np.float64)
    w = np.ones(len(y)) if work.w is None else work.w
    x = np.ascontiguousarray(work.X[:, j], dtype=np.float64)
    residual, growth = y - work.model.scores[:, 0], np.zeros(len(y))
    unit = w.sum()
    if work.metric.name == "r2":
        unit = -(w * (y - np.average(y, weights=w)) ** 2).sum()
    coef = float(work.model.coef[j, 0])
    sums = [squared_growth(x, order, coef, residual, w, growth) for order in work.orders]
    return Column(baseline + np.array(sums) / unit, growth / len(sums))


def row_losses(metric: Metric) -> Metric | None:
    """The metric whose per-row terms make up this one: itself, or mse for r2."""
    if metric.definition is None:
        return None
    if metric.name == "r2":
        return metrics.resolve_metric("mse")
    return metric if metric.definition.losses is not None else None


def permutation_importance(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    *,
    metric: MetricLike = None,
    n_repeats: int = 5,
    confidence: float = 0.95,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    random_state: Seed = None,
    callbacks: object = (),
) -> PermutationImportance:
    """How much a fitted model relies on each column, with intervals.

    Judge on rows the model was not fitted on. Columns that stand in for each other share their
    importance: neither looks important alone.

    Parameters
    ----------
    estimator : estimator
        Fitted.
    n_repeats : int, default=5
        Shuffles of each column.
    confidence : float, default=0.95
        Of the intervals.
    sample_weight : array of shape (n,), optional
        How often each row counts.
    random_state : int, RandomState, Generator or None
        The same seed gives scikit-learn's permutations.
    X, y, metric, n_jobs, callbacks
        Rows to judge on; the others as in ``cross_validated``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.evaluation import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = 2 * X[:, 0] + rng.normal(size=200)
    >>> model = LinearRegression().fit(X[:100], y[:100])
    >>> found = permutation_importance(model, X[100:], y[100:], random_state=0)
    >>> found.importances_mean.argmax(), bool(found.low[0] > 0 > found.low[1])
    (np.int64(0), True)
    """
    check_is_fitted(estimator)
    check.whole(n_repeats=n_repeats)
    check.fraction(confidence=confidence)
    names = _names(estimator, X)
    X, y = open_data(X, y)
    if isinstance(X, np.ndarray) and X.dtype.kind in "iub":
        X = X.astype(np.float64)
    score = metric_for(metric, estimator)
    w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    labels, model = classes_of(estimator), additive(estimator, X, score)
    if model is None:
        said = predictions_for(score, estimator, X)
    else:
        said = answer(model, model.scores, score)
    baseline = score.score(y, said, w, labels=labels)
    losses = row_losses(score)
    base = None if losses is None else losses.losses(y, said, labels=labels)
    orders = permutations(_num_samples(X), n_repeats, random_state)
    work = Shuffles(estimator, X, y, w, score, orders, model, labels)
    job = partial(one_column, work, losses, base)
    squares = score.definition is not None and score.name in ("mse", "r2") and np.isfinite(baseline)
    if model is not None and model.classes is None and model.coef.shape[1] == 1 and squares:
        job = partial(squared_column, work, baseline)
    columns, name = range(len(names)), "PermutationImportance"
    if model is not None and not callbacks:
        found = list(map_threads(job, columns))
    else:
        found = run_tasks(job, columns, n_jobs=n_jobs, callbacks=callbacks, name=name)
    return _record(names, found, baseline, work, confidence)


def _record(
    names: tuple[str, ...], found: list[Column], baseline: float, work: Shuffles, confidence: float
) -> PermutationImportance:
    score, y, w = work.metric, work.y, work.w
    sign = 1.0 if score.greater_is_better else -1.0
    table = sign * (baseline - np.array([column.scores for column in found]))
    mean = table.mean(axis=1)
    by_rows = found[0].increase is not None and len(y) > 1
    if by_rows:
        scale = 1.0
        if score.name == "r2":  # 1 - mse/Var(y): a loss of mse counts 1/Var(y)
            centre = np.average(y, axis=0, weights=w)
            scale = float(np.mean(np.average((y - centre) ** 2, axis=0, weights=w)))
        error = np.array([_error(column.increase, w) for column in found]) / (scale or 1.0)
        df = float(len(y) - 1 if w is None else w.sum() - 1)
    else:
        repeats = table.shape[1]
        spread = table.std(axis=1, ddof=1) if repeats > 1 else np.full(len(table), np.nan)
        error, df = spread / np.sqrt(repeats), float(max(repeats - 1, 1))
    gap = float(stdtrit(df, (1 + confidence) / 2)) * error
    spread, low, high = table.std(axis=1), mean - gap, mean + gap
    named = baseline, score.name, score.greater_is_better, "rows" if by_rows else "repeats"
    return PermutationImportance(names, mean, spread, table, error, low, high, *named)


def _error(increase: Any, w: Array | None) -> float:
    """Standard error of the mean growth from the sums T of own and lent growth."""
    n = len(increase)
    w = np.ones(n) if w is None else w
    mean = increase.sum() / (2 * w.sum())
    spread = ((increase - 2 * w * mean) ** 2).sum() * n / (n - 1)
    return float(np.sqrt(spread) / w.sum())


def _names(estimator: BaseEstimator, X: ArrayLike) -> tuple[str, ...]:
    if hasattr(X, "columns"):
        return tuple(str(name) for name in X.columns)
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        return tuple(names)
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    return tuple(f"x{j}" for j in range(shape[1]))
