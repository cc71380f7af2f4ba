"""Forests of classification trees, whatever their trees.

Probability   mean of the trees' leaf shares; the answer is its argmax
Vote          ``predict_vote``: the majority of the trees' own answers
Out of bag    shares and accuracy of the trees that have not seen a row
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from pellucid.base import Classifier, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, ClassWeight, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.ensemble.committees.bootstrap import Bootstrap, class_factor
from pellucid.ensemble.forest.block_fit import NOT_HERE, Gathered
from pellucid.ensemble.forest.forest_model import ForestEstimator, fingerprint, jobs
from pellucid.tree.classifier import DecisionTreeClassifier
from pellucid.tree.growing import Classes

Weights: TypeAlias = ClassWeight | Literal["balanced_subsample"] | Sequence[Mapping[Any, float]]


class ForestClassifier(ForestEstimator, Classifier):
    """What forests of classification trees share."""

    _labels = DecisionTreeClassifier._labels
    _check_target = DecisionTreeClassifier._check_target
    _class_lists = DecisionTreeClassifier._class_lists

    def _member(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier()

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees."""
        context = FitContext.of_one_step(self, X, y, sample_weight)
        before = getattr(self, "classes_", None) if self.warm_start else None
        rows = self._check_training(X, y, sample_weight)
        self._check_same_classes(before)
        w, codes = np.array(rows.w), rows.y.reshape(len(rows.y), -1)
        target = self._classes(codes, rows.y.ndim == 1)
        own = codes[:, 0] if self.n_outputs_ == 1 else None
        with jobs(self.n_jobs):
            self._grow(rows.X, target, w, own, self._factor(y, codes, w))
            self.training_rows_ = fingerprint(rows.X)
            self.training_target_ = fingerprint(np.ascontiguousarray(rows.y))
            if self.oob_score:
                self._oob(codes, w, rows.X)
        context.end()
        return self

    def _classes(self, codes: Any, one: bool) -> Classes:
        """The target of the trees; sets how many outputs and classes there are."""
        self.n_outputs_ = codes.shape[1]
        sizes = [len(c) for c in self._class_lists()]
        self.n_classes_ = sizes[0] if one else np.array(sizes)
        return Classes(codes, np.array(sizes))

    def _take_blocks(self, rows: Gathered, grow: Callable[..., Any]) -> None:
        codes = rows.y.astype(np.intp)[:, None]
        factor = self._factor(self.classes_[codes[:, 0]], codes, rows.w)
        grow(self._classes(codes, True), codes[:, 0], factor)
        self.training_rows_, self.training_target_ = NOT_HERE, fingerprint(codes[:, 0])

    def _check_same_classes(self, before: Any) -> None:
        lists = before if isinstance(before, list) else [before]
        same = before is None or (
            len(lists) == len(self._class_lists())
            and all(np.array_equal(a, b) for a, b in zip(lists, self._class_lists(), strict=True))
        )
        if not same:
            raise ValueError("warm_start=True needs the same classes as the fit before")

    def _factor(self, y: ArrayLike, codes: IntArray, w: Array) -> Any:
        """The factors of the classes: those of ``sampling`` win."""
        wanted = self.class_weight
        if isinstance(self.sampling, Bootstrap) and self.sampling.class_weight is not None:
            wanted = self.sampling.class_weight
        if isinstance(wanted, str) or wanted is None:
            return class_factor(wanted, codes, w)
        fixed = compute_sample_weight(wanted, self._labels(y))
        return lambda counts: fixed

    def _oob(self, codes: np.ndarray, w: Array, X: Array) -> None:
        n, forest = len(codes), self.forest_
        o, K = self.n_outputs_, forest.width
        shares, votes = np.zeros((n, o * K)), np.zeros(n)
        wrong = np.zeros((n, o), bool)
        curve = np.full(forest.n_trees, np.nan)
        for t, rows, leaves in self._oob_leaves(X, w):
            shares[rows] += forest.at(forest.start[t] + leaves)
            votes[rows] += 1
            found = shares[rows].reshape(-1, o, K).argmax(axis=2)
            wrong[rows] = found != codes[rows]
            seen = votes > 0
            if seen.any():
                curve[t] = np.average(wrong[seen].any(axis=1), weights=w[seen])
        seen = votes > 0
        self._warn_never(int(np.count_nonzero(~seen & (w > 0))))
        shares[seen] /= votes[seen, None]
        shares[~seen] = np.nan
        parts = [shares[:, j * K : j * K + len(c)] for j, c in enumerate(self._class_lists())]
        width = max(part.shape[1] for part in parts)
        stacked = np.full((n, width, o), np.nan)
        for j, part in enumerate(parts):
            stacked[:, : part.shape[1], j] = part
        self.oob_decision_function_ = stacked[:, :, 0] if o == 1 else stacked
        self.oob_curve_ = curve
        if not seen.any():
            self.oob_score_ = float("nan")
        elif callable(self.oob_score):
            truth, answer = codes[seen], np.nan_to_num(stacked[seen], nan=-1.0).argmax(axis=1)
            labels = [c[truth[:, j]] for j, c in enumerate(self._class_lists())]
            found = [c[answer[:, j]] for j, c in enumerate(self._class_lists())]
            both = [labels[0], found[0]] if o == 1 else [np.stack(v, 1) for v in (labels, found)]
            self.oob_score_ = float(self.oob_score(*both))
        else:
            self.oob_score_ = 1.0 - float(np.average(wrong[seen].any(axis=1), weights=w[seen]))

    def _shares(self, X: ArrayLike) -> list[Array]:
        rows = self._check_input(X)
        forest = self.forest_
        with jobs(self.n_jobs):
            total = forest.sum_values(rows) / forest.n_trees
        K = forest.width
        return [total[:, j * K : j * K + len(c)] for j, c in enumerate(self._class_lists())]

    def predict_proba(self, X: ArrayLike) -> Any:
        """Mean of the trees' class shares, (n, K); a list of these for several outputs."""
        found = self._shares(X)
        return found[0] if self.n_outputs_ == 1 else found

    def predict_log_proba(self, X: ArrayLike) -> Any:
        """Logarithms of the class shares."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(p) for p in shares] if isinstance(shares, list) else np.log(shares)

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest mean share; the first of equals."""
        return self._answers([p.argmax(axis=1) for p in self._shares(X)])

    def vote_counts(self, X: ArrayLike) -> Any:
        """How many trees answer each class, (n, K); a list of these for several outputs."""
        rows, sizes = self._check_input(X), [len(c) for c in self._class_lists()]
        with jobs(self.n_jobs):
            found = [self.forest_.count_votes(rows, j, K) for j, K in enumerate(sizes)]
        return found[0] if self.n_outputs_ == 1 else found

    def predict_vote(self, X: ArrayLike) -> Any:
        """The class that most trees answer; the first of equals."""
        votes = self.vote_counts(X)
        parts = votes if isinstance(votes, list) else [votes]
        return self._answers([v.argmax(axis=1) for v in parts])

    def _answers(self, codes: list[Any]) -> Any:
        found = [c[k] for c, k in zip(self._class_lists(), codes, strict=True)]
        return found[0] if self.n_outputs_ == 1 else np.stack(found, axis=1)

    def _known_target(self, y: ArrayLike, n: int) -> Any:
        labels = self._labels(y)
        columns = labels.reshape(len(labels), -1).T
        codes = []
        for classes, column in zip(self._class_lists(), columns, strict=True):
            place = np.minimum(np.searchsorted(classes, column), len(classes) - 1)
            if len(column) != n or (classes[place] != column).any():
                raise ValueError("y must be the training targets, in the order of the rows")
            codes.append(place)
        return np.ascontiguousarray(codes[0] if labels.ndim == 1 else np.stack(codes, axis=1))

    def _errors(self, target: Any) -> Any:
        codes = target.reshape(len(target), -1)
        forest, shape = self.forest_, (-1, self.n_outputs_, self.forest_.width)

        def errors(t: int, leaves: IntArray, rows: IntArray) -> float:
            found = forest.at(forest.start[t] + leaves).reshape(shape).argmax(axis=2)
            return float((found != codes[rows]).mean())

        return errors

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "forest_"):
            sizes = [len(classes) for classes in self._class_lists()]
            if self.forest_.value.shape[1] != len(sizes) * max(sizes):
                raise ValueError(f"forest_ must have shares of {sizes} classes")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        return self._card(
            "the mean of the class shares of many deep trees: smooth votes over axis-parallel "
            "boxes; no scaling, no assumption on the form"
        )
