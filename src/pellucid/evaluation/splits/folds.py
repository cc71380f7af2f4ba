r"""Models on the same folds: fit a clone, score it with a Metric, fold by fold.

    mean = sum S_i / k,    Var(mean) = sum (S_i - mean)^2 / (k (k - 1))          folds independent
                           Var(mean) = (1/k + n_test/n_train) s^2                corrected

Scikit-learn's splitters say which rows are held out. An integer ``cv`` is (stratified) k-fold,
unshuffled when ``random_state`` is None. Each fold is a task of its own; a fold that fails raises
with its number.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from pellucid.base import kind_of_target
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray, Seed
from pellucid.core.meta import fitted
from pellucid.core.runtime.random import generator
from pellucid.evaluation.metrics.metrics import Metric
from pellucid.evaluation.workers import run_tasks

Split = tuple[IntArray, IntArray]


def legacy_state(random_state: Seed) -> Any:
    """A ``random_state`` that scikit-learn's splitters take; Generators give them a seed."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32 - 1))
    check_random_state(random_state)
    return random_state


def splitter_of(cv: Folds, y: Any, *, classifier: bool, random_state: Seed = None) -> Any:
    """The splitter of ``cv``: a number of folds (None is 5), a splitter or a list of splits."""
    cv = 5 if cv is None else cv
    if not isinstance(cv, Integral) or isinstance(cv, bool):
        return check_cv(cv, y, classifier=classifier)
    if cv < 2:
        raise ValueError(f"cv must be at least 2 folds, got {cv!r}")
    stratify = classifier and kind_of_target(y) in ("binary", "multiclass")
    kind = StratifiedKFold if stratify else KFold
    if random_state is None:
        return kind(int(cv))
    return kind(int(cv), shuffle=True, random_state=legacy_state(random_state))


def make_splits(
    cv: Folds,
    X: np.ndarray,
    y: np.ndarray,
    *,
    classifier: bool,
    groups: ArrayLike | None = None,
    random_state: Seed = None,
) -> list[Split]:
    """The (train, test) rows of every fold; no row may lie on both sides."""
    splitter = splitter_of(cv, y, classifier=classifier, random_state=random_state)
    splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, y, groups)]
    for number, (train, test) in enumerate(splits):
        if not len(train) or not len(test):
            raise ValueError(f"fold {number} has no rows to train on or none to test on")
        inside = np.zeros(_num_samples(X), dtype=bool)
        inside[train] = True
        if inside[test].any():
            raise ValueError(f"fold {number} tests on rows that it trains on")
    if not splits:
        raise ValueError("the splitter makes no folds")
    return splits


def ratio_of(splits: Sequence[Split]) -> float:
    """Mean n_test / n_train over the folds."""
    return float(np.mean([len(test) / len(train) for train, test in splits]))


def fit_on(estimator: BaseEstimator, X: Any, y: Any, rows: IntArray) -> Any:
    """A clone fitted on these rows."""
    part = _safe_indexing(X, rows)
    return fitted(clone(estimator), *((part,) if y is None else (part, y[rows])))


class FoldScore(NamedTuple):
    """One model on one fold: its score on the rows held out, on its own rows, and what it said."""

    test: float
    train: float | None
    prediction: Any


class Wanted(NamedTuple):
    """What a fold computes beside its test score."""

    train: bool = False
    prediction: bool = False


TEST_ONLY = Wanted()
FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def score_fold(
    X: ArrayLike, y: ArrayLike, metric: Metric, wanted: Wanted, job: tuple[int, str, Any, Split]
) -> FoldScore:
    """Fit on the training rows of a fold, score on its test rows."""
    number, name, estimator, (train, test) = job
    try:
        model = fit_on(estimator, X, y, train)
        score = partial(_evaluate, metric, model, X, y)
        said = model.predict(_safe_indexing(X, test)) if wanted.prediction else None
        return FoldScore(score(test), score(train) if wanted.train else None, said)
    except FAILURES as error:
        label = f"{name}, " if name else ""
        raise ValueError(f"{label}fold {number} failed: {error}") from error


def _evaluate(metric: Metric, model: BaseEstimator, X: Any, y: Any, rows: IntArray) -> float:
    return metric.evaluate(model, _safe_indexing(X, rows), None if y is None else y[rows])


def run_folds(
    models: dict[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    splits: Sequence[Split],
    metric: Metric,
    *,
    n_jobs: int | None = None,
    callbacks: object = (),
    wanted: Wanted = TEST_ONLY,
) -> dict[str, list[FoldScore]]:
    """Every model on identical folds; the same numbers for any ``n_jobs``."""
    y = None if y is None else np.asarray(y)
    jobs = [(i, n, m, split) for n, m in models.items() for i, split in enumerate(splits)]
    work = partial(score_fold, X, y, metric, wanted)
    found = run_tasks(work, jobs, n_jobs=n_jobs, callbacks=callbacks, name="CrossValidation")
    k = len(splits)
    return {name: found[i * k : (i + 1) * k] for i, name in enumerate(models)}


def fold_scores(
    models: dict[str, Any],
    X: np.ndarray,
    y: np.ndarray,
    splits: Sequence[Split],
    metric: Metric,
    **options: Any,
) -> Array:
    """The test scores alone: (models, folds)."""
    found = run_folds(models, X, y, splits, metric, **options)
    return np.array([[score.test for score in folds] for folds in found.values()])


def check_data(X: ArrayLike, y: ArrayLike) -> Any:
    """y as an array of as many rows as X, none of them missing."""
    y = np.asarray(y)
    n = _num_samples(X)
    if n != len(y):
        raise ValueError(f"X and y need the same number of rows, got {n} and {len(y)}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        where = int(np.argwhere(~np.isfinite(y))[0][0])
        raise ValueError(f"y contains NaN or infinity in row {where}")
    return y


def classifies(models: Iterable[Any]) -> bool:
    """Whether the models are classifiers: then folds are stratified."""
    return all(is_classifier(model) for model in models)


def half_splits(
    X: np.ndarray, y: np.ndarray, *, classifier: bool, repeats: int, random_state: Seed
) -> list:
    """``repeats`` random halvings, each used both ways."""
    rng = generator(random_state)
    halves = (make_splits(2, X, y, classifier=classifier, random_state=rng) for _ in range(repeats))
    return [split for pair in halves for split in pair]
