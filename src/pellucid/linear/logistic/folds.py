r"""Cross-validated paths of logistic regression: every fold, every C, every l1_ratio.

A fold is one path from the smallest C to the largest (``logistic_paths``, or for an L2 penalty
``logistic_ridge_paths``), and one product with the rows left out gives the scores of all its
points. The folds and shares are independent tasks of the thread pool.

A class without training rows in a fold gets weights 0 and a probability of almost nothing.
"""

import inspect
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.metrics import get_scorer, make_scorer
from sklearn.utils.validation import _check_method_params

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.selection import one_standard_error
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.linear.logistic.paths import solve_path
from pellucid.linear.logistic.proximal import ProximalNewton, relative_gap
from pellucid.linear.logistic.ridge_paths import fit_ridge_path
from pellucid.linear.logistic.rule import LogisticRule, log_probabilities

ABSENT = -30.0  # log-odds of a class without training rows

Along = tuple[Array, Array, IntArray, bool]  # coefficients, intercepts, rounds, all converged


class FoldPath(NamedTuple):
    """One fold and one l1_ratio."""

    coefs: Array  # (L, k, p)
    intercepts: Array  # (L, k)
    scores: Array  # (L,)
    n_iter: IntArray  # (L,)
    converged: bool


class Task(NamedTuple):
    """What every fold is fitted with."""

    Cs: Array  # (L,) in the order asked for
    fit_intercept: bool
    tol: float
    max_iter: int


class FoldRule(LogisticRule):
    """A point of a path as scikit-learn's scorers want it."""

    def __init__(
        self, classes: np.ndarray | None = None, coef: Any = None, intercept: Any = None
    ) -> None:
        self.classes = classes
        self.coef = coef
        self.intercept = intercept

    def fit(self, X: np.ndarray, y: np.ndarray | None = None) -> "FoldRule":
        self.classes_, self.coef_, self.intercept_ = self.classes, self.coef, self.intercept
        self.n_features_in_ = X.shape[1]
        return self

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        return Card("log-odds linear in x", "log-loss", "a point of a path")


def weights_along(
    X: ArrayLike, codes: IntArray, n_classes: int, w: Array, task: Task, l1_ratio: float
) -> Along:
    """Coefficients (L, k, p), intercepts (L, k), rounds and whether all points converged."""
    order = np.argsort(task.Cs, kind="stable")
    place = np.argsort(order, kind="stable")
    Cs = task.Cs[order]
    finite = Cs[np.isfinite(Cs)] if l1_ratio > 0 else Cs[:0]
    parts: list[Any] = []
    fine = True
    if len(finite):
        problem = ProximalNewton(X, codes, n_classes, w, fit_intercept=task.fit_intercept)
        limits: dict[str, Any] = {"tol": task.tol, "max_iter": task.max_iter}
        found, gaps, rounds = solve_path(problem, finite, l1_ratio, **limits)
        fine = bool((gaps <= relative_gap(task.tol)).all())
        parts.append((np.array([c for c, _ in found]), np.array([b for _, b in found]), rounds))
    if len(finite) < len(Cs):
        task = task._replace(Cs=Cs[len(finite) :])
        path = fit_ridge_path(X, codes, n_classes, w, **task._asdict())
        fine &= path.converged
        parts.append((path.coefs, path.intercepts, path.n_iter))
    coefs, intercepts, rounds = (np.concatenate([part[i] for part in parts]) for i in range(3))
    if not task.fit_intercept:
        intercepts = np.zeros_like(intercepts)
    return coefs[place], intercepts[place], rounds[place], fine


def present_classes(
    X: np.ndarray, codes: IntArray, n_classes: int, w: Array, task: Task, l1_ratio: float
) -> Along:
    """``weights_along`` on the classes that have rows; the others are put far away."""
    live = np.flatnonzero(np.bincount(codes, weights=w, minlength=n_classes) > 0)
    if len(live) == 0:
        raise ValueError("a fold leaves no rows with a weight > 0 to learn from: use fewer folds")
    if len(live) == n_classes:
        return weights_along(X, codes, n_classes, w, task, l1_ratio)
    L, p, k = len(task.Cs), X.shape[1], 1 if n_classes == 2 else n_classes
    coefs, intercepts = np.zeros((L, k, p)), np.zeros((L, k))
    if len(live) == 1:
        intercepts += -ABSENT if k == 1 and live[0] == 1 else ABSENT
        if k > 1:
            intercepts[:, live[0]] = 0.0
        return coefs, intercepts, np.ones(L, np.intp), True
    inside = np.isin(codes, live)
    small, some = np.searchsorted(live, codes[inside]), np.ascontiguousarray(w[inside])
    W, b, rounds, fine = weights_along(X[inside], small, len(live), some, task, l1_ratio)
    if len(live) == 2:
        W, b = np.concatenate([-W, W], axis=1) / 2, np.concatenate([-b, b], axis=1) / 2
    coefs[:, live], intercepts[:, live] = W, b
    absent = np.setdiff1d(np.arange(n_classes), live)
    intercepts[:, absent] = b.min(axis=1, keepdims=True) + ABSENT
    return coefs, intercepts, rounds, fine


class Data(NamedTuple):
    """The rows of all folds."""

    X: Any
    y: Any  # labels
    codes: IntArray
    classes: NDArray[Any]
    w: Array  # to train with
    given: Array | None  # to weight the scores with


class Scoring(NamedTuple):
    """How a point is scored: by name where all points are done at once, else by a scorer."""

    name: str  # accuracy, neg_log_loss or other
    scorer: Any
    params: dict[str, Any]


def make_scoring(
    scoring: str | Callable[..., float] | None, classes: NDArray[Any], params: dict[str, Any]
) -> Scoring:
    """scikit-learn's scorer; one that asks for the labels gets all of them."""
    plain = not set(params) - {"sample_weight"}
    if scoring is None or (scoring == "accuracy" and plain):
        return Scoring("accuracy", None, params)
    scorer = get_scorer(scoring)
    if isinstance(scoring, str) and scoring == "neg_log_loss" and plain:
        return Scoring("neg_log_loss", scorer, params)
    function = getattr(scorer, "_score_func", None)
    accepted = inspect.signature(function).parameters if function is not None else {}
    if "labels" in accepted:
        extra = {"pos_label": classes[-1]} if len(classes) == 2 and "pos_label" in accepted else {}
        how = {"greater_is_better": scorer._sign == 1, "response_method": scorer._response_method}
        known = {"labels": classes, **extra, **getattr(scorer, "_kwargs", {})}
        scorer = make_scorer(function, **how, **known)
    return Scoring("other", scorer, params)


def score_points(
    scoring: Scoring, data: Data, test: IntArray, coefs: Array, intercepts: Array
) -> Array:
    """The score of every point of a path on the rows ``test``."""
    X, classes = data.X, data.classes
    rows, truth = X[test], data.codes[test]
    if scoring.name == "other":
        params = _check_method_params(X, params=scoring.params, indices=test)
        rules = (FoldRule(classes, W, b).fit(X) for W, b in zip(coefs, intercepts, strict=True))
        return np.array([scoring.scorer(rule, rows, data.y[test], **params) for rule in rules])
    weight = None if data.given is None else data.given[test]
    if weight is not None and not weight.any():
        raise ValueError("every fold of the cross-validation needs rows of positive weight")
    L, k, p = coefs.shape
    Z = np.asarray(rows @ coefs.reshape(L * k, p).T).reshape(len(truth), L, k) + intercepts
    if scoring.name == "accuracy":
        guess = Z.argmax(axis=2) if k > 1 else (Z[:, :, 0] > 0).astype(np.intp)
        return np.average(guess == truth[:, None], axis=0, weights=weight)
    index = np.arange(len(truth))
    own = np.stack([log_probabilities(Z[:, i])[index, truth] for i in range(L)], axis=1)
    return np.average(np.maximum(own, np.log(np.finfo(float).eps)), axis=0, weights=weight)


def cross_validate(
    data: Data,
    folds: list[tuple[IntArray, IntArray]],
    ratios: list[float],
    task: Task,
    scoring: Scoring,
) -> list[list[FoldPath]]:
    """[fold][ratio]."""
    X, K = data.X, len(data.classes)

    def one(item: tuple[Any, float]) -> FoldPath:
        (train, test), ratio = item
        rows = X[train] if issparse(X) else np.ascontiguousarray(X[train])
        codes, w = data.codes[train], np.ascontiguousarray(data.w[train])
        coefs, intercepts, rounds, fine = present_classes(rows, codes, K, w, task, ratio)
        scores = score_points(scoring, data, test, coefs, intercepts)
        return FoldPath(coefs, intercepts, scores, rounds, fine)

    found = list(map_threads(one, list(product(folds, ratios))))
    return [found[i : i + len(ratios)] for i in range(0, len(found), len(ratios))]


def choose(scores: Array, Cs: Array, rule: str) -> tuple[int, int]:
    """(place of C, place of l1_ratio); scores (folds, L, ratios), larger is better."""
    total = scores.sum(axis=0)
    best = np.unravel_index(int(np.argmax(total)), total.shape)
    if rule == "best":
        return int(best[0]), int(best[1])
    column = scores[:, :, best[1]]
    error = column.std(axis=0, ddof=1) / np.sqrt(len(column))
    return one_standard_error(column.mean(axis=0), error, Cs), int(best[1])
