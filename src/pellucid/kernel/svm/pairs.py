r"""Classification by support vector machines: one machine for every pair of classes.

The machine of classes i < j is fitted to their rows; a row gets the class with most votes. The
layout is scikit-learn's: support vectors sorted by class, ``dual_coef_[j - 1]`` of a vector of
class i and ``dual_coef_[i]`` of one of class j belong to the pair (i, j), whose decision function
is positive for i; with two classes it is positive for ``classes_[1]``.
"""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.inference.decisions.linear_rule import class_weights
from pellucid.kernel.svm.platt import fit_sigmoid, held_out_scores, probabilities
from pellucid.kernel.svm.smo import Gram, Machine, Problem, offset
from pellucid.kernel.svm.svm_model import Opened, SupportVectorMachine


class Pair(NamedTuple):
    """Two classes and their rows among the distinct ones."""

    i: int
    j: int
    rows: IntArray
    sign: Array  # -1 for class i, +1 for class j


def _says_probabilities(model: Any) -> bool:
    if isinstance(model.probability, str) or not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


class PairClassifier(Classifier, SupportVectorMachine):
    """A subclass writes the problem of two classes and reads its solution."""

    _by_class = True
    _apart = False  # a machine needs the rows of its first class before those of the second

    class_weight: Any
    decision_function_shape: str
    break_ties: bool
    probability: Any
    random_state: Any

    @abstractmethod
    def _problem(self, sign: Array, w: Array, costs: Array, gram: Gram) -> Problem:
        """The quadratic programme of one pair: rows of weight w and class weight ``costs``."""

    @abstractmethod
    def _solution(self, machine: Machine) -> tuple[Array, float]:
        """The coefficients y a of the rows and the intercept b."""

    def _extras(
        self, opened: Opened, pairs: list[Pair], machines: Sequence[Machine], beta: Array
    ) -> dict[str, Any]:
        """Further attributes of a machine for two classes."""
        return {}

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Fit one machine to every pair of classes."""
        self._check_parameters()
        check.one_of(("ovo", "ovr"), decision_function_shape=self.decision_function_shape)
        check.boolean(break_ties=self.break_ties)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=None)
        rows = self._check_training(X, y, sample_weight, defer_finite=self._precomputed)
        opened = self._open(rows, np.asarray(rows.y, dtype=np.float64))
        codes = np.asarray(rows.y)[opened.rows.first]
        k = len(self.classes_)
        totals: Array = np.bincount(codes, opened.rows.w, minlength=k).astype(np.float64)
        self._need_classes(totals, rows.n_rows)
        self.class_weight_ = class_weights(self.class_weight, self.classes_, totals)
        w, costs = opened.rows.w, self.class_weight_[codes]
        pairs = class_pairs(codes, k, apart=self._apart)
        machines = []
        for pair in pairs:
            every = k == 2 and bool((pair.rows == np.arange(len(pair.rows))).all())
            gram = opened.gram if every else opened.gram.take(pair.rows)
            problem = self._problem(pair.sign, w[pair.rows], costs[pair.rows], gram)
            machines.append(self._machine(problem, gram))
        self.shape_fit_ = rows.X.shape
        self._solve(machines, context, lambda done: self._read(opened, codes, pairs, done))
        self._look_back(machines)
        for name in ("probA_", "probB_"):
            self.__dict__.pop(name, None)
        if self._wants_probabilities():
            self.probA_, self.probB_ = self._sigmoids(rows)
        return self

    def _wants_probabilities(self) -> bool:
        if isinstance(self.probability, str):
            check.one_of(("deprecated",), probability=self.probability)
            return False
        check.boolean(probability=self.probability)
        name = type(self).__name__
        instead = f"CalibratedClassifierCV({name}(), ensemble=False)"
        old = "The `probability` parameter was deprecated in scikit-learn 1.9"
        warn(f"{old}: use `{instead}` instead of `{name}(probability=True)`", FutureWarning)
        return bool(self.probability)

    def _sigmoids(self, rows: Rows) -> tuple[Array, Array]:
        """Platt's A and B of every pair, from scores of five folds."""
        k, codes, w = len(self.classes_), np.asarray(rows.y), rows.w
        rng, found = generator(self.random_state), []
        for i, j in combinations(range(k), 2):
            pair = np.flatnonzero(((codes == i) | (codes == j)) & (w > 0))
            positive = codes[pair] == (1 if k == 2 else i)
            template = self._of_two(i, j)

            def score(
                train: IntArray,
                test: IntArray,
                pair: IntArray = pair,
                positive: BoolArray = positive,
                template: Any = template,
            ) -> Array:
                a, b = pair[train], pair[test]
                columns = a if self._precomputed else slice(None)
                model = clone(template)
                model.fit(rows.X[a][:, columns], positive[train].astype(int), sample_weight=w[a])
                return model.decision_function(rows.X[b][:, columns])

            scores = held_out_scores(score, positive, rng)
            found.append(fit_sigmoid(scores, positive, w[pair]))
        A, B = np.array(found).T
        return A, B

    def _of_two(self, i: int, j: int) -> Any:
        """A machine for one pair of classes, coded 0 and 1, with the kernel of this fit."""
        costs = self.class_weight_[[i, j] if len(self.classes_) == 2 else [j, i]]
        kernel = self.kernel if self._precomputed else self.kernel_
        given = {"class_weight": dict(enumerate(costs.tolist())), "kernel": kernel}
        return clone(self).set_params(probability="deprecated", verbose=False, **given)

    @available_if(_says_probabilities)
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classes, with ``probability=True``."""
        check_is_fitted(self)
        if not hasattr(self, "probA_"):
            raise NotFittedError(
                "predict_proba is not available when fitted with probability=False"
            )
        return probabilities(self._scores(X), self.probA_, self.probB_, len(self.classes_))

    @available_if(_says_probabilities)
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of ``predict_proba``."""
        return np.log(self.predict_proba(X))

    def _look_back(self, machines: Sequence[Machine]) -> None:
        """A hook after all solutions are found, for warnings."""

    def _need_classes(self, totals: Array, n: int) -> None:
        check.two_classes(self, len(totals), n)
        if not (totals > 0).all():
            label = self.classes_[int(np.argmin(totals))]
            raise ValueError(f"all rows of class {label!r} have weight 0: a class needs one more")

    def _read(
        self, opened: Opened, codes: IntArray, pairs: list[Pair], machines: Sequence[Machine]
    ) -> dict[str, Any]:
        """scikit-learn's attributes from the solutions of all pairs."""
        k, n = len(self.classes_), len(opened.w)
        beta, intercept = np.zeros((n, len(pairs))), np.zeros(len(pairs))
        for p, (pair, machine) in enumerate(zip(pairs, machines, strict=True)):
            values = np.zeros(len(codes))
            values[pair.rows], intercept[p] = self._solution(machine)
            beta[:, p] = opened.rows.spread(values, opened.w)
        row_class = opened.y.astype(np.intp)
        used = np.flatnonzero(beta.any(axis=1))
        support = used[np.argsort(row_class[used], kind="stable")]
        dual = np.zeros((k - 1, len(support)))
        sign = 1.0 if k == 2 else -1.0
        for p, pair in enumerate(pairs):
            first, second = row_class[support] == pair.i, row_class[support] == pair.j
            dual[pair.j - 1, first] = sign * beta[support[first], p]
            dual[pair.i, second] = sign * beta[support[second], p]
        found = {
            **self._supported(opened.X, support, dual),
            "n_support_": np.bincount(row_class[support], minlength=k).astype(np.int32),
            "intercept_": sign * intercept,
            "n_iter_": np.array([max(1, m.n_steps) for m in machines], dtype=np.int32),
            "duality_gap_": max(duality_gap(machine) for machine in machines),
        }
        if k == 2:
            found |= self._extras(opened, pairs, machines, beta[:, 0])
        return found

    def _pair_coef(self) -> Array:
        k, dual = len(self.classes_), self._dense_coef()
        if k == 2:
            return dual.T
        of = np.repeat(np.arange(k), self.n_support_)
        pairs = combinations(range(k), 2)
        columns = (
            np.where(of == i, dual[j - 1], np.where(of == j, dual[i], 0.0)) for i, j in pairs
        )
        return np.column_stack(list(columns))

    def _scores(self, X: ArrayLike) -> Array:
        """The decision function of every pair, (n, pairs)."""
        X = self._check_input(X)
        return self._sums(X, self._pair_coef()) + self.intercept_

    def decision_function(self, X: ArrayLike) -> Array:
        """Positive for ``classes_[1]``; more classes: (n, K) votes, or (n, pairs) for "ovo"."""
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return scores[:, 0]
        if self.decision_function_shape == "ovo":
            return scores
        votes, confidence = pair_votes(scores, len(self.classes_))
        return decided(votes, confidence)

    def predict(self, X: ArrayLike) -> Any:
        """The class with most votes of the pairs."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        scores = self._scores(X)
        k = len(self.classes_)
        if k == 2:
            return self.classes_[(scores[:, 0] >= 0).astype(np.intp)]
        votes, confidence = pair_votes(scores, k)
        if self.break_ties:
            votes = decided(votes, confidence)
        return self.classes_[np.argmax(votes, axis=1)]

    def _coef_shapes(self, s: int) -> dict[str, tuple[int, ...]]:
        k = len(self.classes_)
        return {"dual_coef_": (k - 1, s), "intercept_": (k * (k - 1) // 2,)}


def class_pairs(codes: IntArray, k: int, *, apart: bool) -> list[Pair]:
    """All pairs of classes with their rows, class by class; two classes as they lie if they may."""
    if k == 2 and not apart:
        return [Pair(0, 1, np.arange(len(codes)), np.where(codes == 1, 1.0, -1.0))]
    rows = [np.flatnonzero(codes == c) for c in range(k)]
    pairs = []
    for i, j in combinations(range(k), 2):
        sign = np.concatenate([np.full(len(rows[i]), -1.0), np.ones(len(rows[j]))])
        pairs.append(Pair(i, j, np.concatenate([rows[i], rows[j]]), sign))
    return pairs


def pair_votes(scores: Array, k: int) -> tuple[Array, Array]:
    """Votes of the pairs for each class and the sums of their scores.

    >>> pair_votes(np.array([[1.0, -2.0, 0.5]]), 3)
    (array([[1., 1., 1.]]), array([[-1. , -0.5,  1.5]]))
    """
    votes, confidence = np.zeros((len(scores), k)), np.zeros((len(scores), k))
    for (i, j), score in zip(combinations(range(k), 2), scores.T, strict=True):
        first = score > 0
        votes[:, i] += first
        votes[:, j] += ~first
        confidence[:, i] += score
        confidence[:, j] -= score
    return votes, confidence


def decided(votes: Array, confidence: Array) -> Array:
    """The votes, equal ones told apart by the sums of scores, which count less than a vote."""
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))


def duality_gap(machine: Machine) -> float:
    """max over the box of the linearised problem: sum_v max over b_v of -(F_v + b)(b_v - beta_v).

    With the multiplier b of the sum it is primal minus dual for every machine of this package.
    """
    p, total = machine.problem, 0.0
    for a, z, _, g in p.segments:
        slope = machine.F[a:z] + offset(machine, g).value
        beta, lo, hi = machine.beta[a:z], p.lo[a:z], p.hi[a:z]
        total += float((np.maximum(slope, 0) * (beta - lo)).sum())
        total += float((np.maximum(-slope, 0) * (hi - beta)).sum())
    return total
