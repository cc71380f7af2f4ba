r"""What the Gaussian rules share: one statistic, Bayes' rule in logs, samples.

    p(k | x) = pi_k f_k(x) / sum_l pi_l f_l(x),     f_k = N(m_k, S_k)

A leaf of the class tree says the discriminants of rows (log pi_k f_k up to a term that is the same
for all classes) and solves its parameters from the class moments of ``discriminant.moments``;
``fit``, ``partial_fit`` and ``fit_blocks`` are then one computation.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, check_labels, check_weights, fit_blocks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Source
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.discriminant.moments import ClassScatter, merge_class_scatter, sum_classes
from pellucid.inference.decisions.linear_rule import all_classes, encode_known

Scores = Callable[[Array], Array]  # rows (n, p) -> (n, K)


def checked_priors(priors: ArrayLike | None, weight: Array) -> Array:
    """The shares of the classes, or the given numbers made to sum to 1 (as scikit-learn does)."""
    if priors is None:
        return weight / weight.sum()
    try:
        prior = np.array(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"priors must be numbers, one per class, got {priors!r}") from None
    if prior.shape != weight.shape:
        raise ValueError(f"priors must have {len(weight)} numbers, one per class, got {priors!r}")
    if not (prior >= 0).all() or not 0 < prior.sum() < np.inf:
        raise ValueError(f"priors must be non-negative numbers and not all 0, got {priors!r}")
    if abs(prior.sum() - 1.0) > 1e-5:
        warn("The priors do not sum to 1. Renormalizing")
    return prior / prior.sum()


def log_prior(priors: Array) -> Array:
    """log pi_k; -inf for a class that cannot occur."""
    with np.errstate(divide="ignore"):
        return np.log(priors)


def check_two_classes(model: Classifier, n_rows: int) -> None:
    """Refuse a target of one class."""
    if len(model.classes_) < 2:
        raise ValueError(
            f"{type(model).__name__} needs at least 2 classes, got 1 class in {n_rows} samples "
            f"(n_samples={n_rows})"
        )


class GaussianDiscriminant(Classifier):
    """Base: a subclass gives its discriminants and solves from the class moments."""

    fit_blocks = fit_blocks

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    @abstractmethod
    def _keeps_each(self) -> bool:
        """Whether the scatter of each class is needed, not only their sum."""

    @abstractmethod
    def _solve(self, stat: ClassScatter, priors: Array, rows: Source | None, map_: Map) -> None:
        """Set the fitted attributes; ``rows`` is None in partial_fit."""

    @abstractmethod
    def _not_yet(self, stat: ClassScatter) -> str | None:
        """Why the moments do not determine the fit, beyond the number of classes and rows."""

    @abstractmethod
    def _score_function(self) -> Scores:
        """Discriminants up to a term that is the same for all classes."""

    @abstractmethod
    def _discriminant_function(self) -> Scores:
        """The discriminants delta_k(x) of the textbook."""

    @abstractmethod
    def _joint_function(self) -> Scores:
        """log pi_k f_k(x)."""

    @abstractmethod
    def _draw(self, codes: IntArray, rng: Rng) -> Array:
        """One row for each class code."""

    # --- fit ---

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike) -> Self:
        self._check_parameters()
        deferred = sample_weight is None  # NaN and inf show in the sums
        rows = self._check_training(X, y, sample_weight, defer_finite=deferred)
        context = FitContext.of_one_step(self, X, y, sample_weight)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        check_two_classes(self, rows.n_rows)
        stat = self._statistic(rows, map_)
        reason = self._too_little(stat)
        if reason is not None:
            raise ValueError(reason)
        self._finish(stat, rows, map_)

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows; all rows in any number of calls give the fit of all at once.

        ``classes`` lists all labels and is needed in the first call unless ``fit`` came before.
        The model predicts as soon as the rows seen so far determine it.
        """
        self._check_parameters()
        first = not hasattr(self, "class_count_")
        labels = all_classes(self, classes, first)
        matrix = self._check_matrix(X, reset=first, finite=True)
        codes = encode_known(check_labels(y, len(matrix), self), labels)
        rows = Rows(matrix, codes, check_weights(sample_weight, matrix))
        self.classes_ = labels
        each = self._keeps_each()
        stat = sum_classes(rows, map_threads, len(labels), each)
        if not first:
            stat = merge_class_scatter(self._stored(each), stat)
        self._check_finite(stat)
        if self._too_little(stat) is None and self._not_yet(stat) is None:
            self._finish(stat, None, map_threads)
        else:
            self._keep(stat)
            self.__dict__.pop("priors_", None)  # not fitted until more rows come
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "priors_")

    def _statistic(self, rows: Source, map_: Map) -> ClassScatter:
        stat = sum_classes(rows, map_, len(self.classes_), self._keeps_each())
        if not self._is_finite(stat) and isinstance(rows, Rows):
            self._refuse_nonfinite(rows.X)
        self._check_finite(stat)
        return stat

    def _is_finite(self, stat: ClassScatter) -> bool:
        return bool(np.isfinite(stat.mean).all() and np.isfinite(stat.scatter).all())

    def _check_finite(self, stat: ClassScatter) -> None:
        if not self._is_finite(stat):
            raise ValueError("the squares of X overflow float64; scale the columns down")

    def _too_little(self, stat: ClassScatter) -> str | None:
        present, total = int((stat.weight > 0).sum()), float(stat.weight.sum())
        if present < 2:
            name = type(self).__name__
            return f"{name} needs rows of at least 2 classes, got {present} of positive weight"
        if total <= present:
            counts = f"got {total:g} and {present}"
            return f"The number of samples must be more than the number of classes, {counts}"
        if self.priors is not None and present < len(stat.weight):
            missing = self.classes_[np.argmin(stat.weight > 0)]
            return f"class {missing} has a prior but no rows; leave it out or give it rows"
        return None

    def _finish(self, stat: ClassScatter, rows: Source | None, map_: Map) -> None:
        empty = stat.weight == 0
        if empty.any():  # a class of prior 0: any mean will do
            stat.mean[empty] = stat.weight @ stat.mean / stat.weight.sum()
        priors = checked_priors(self.priors, stat.weight)
        with single_threaded_blas():  # small matrices, and the same bits on any machine
            self._solve(stat, priors, rows, map_)
        self._keep(stat)
        self.priors_ = priors

    def _keep(self, stat: ClassScatter) -> None:
        self.class_count_, self.means_, self.class_scatter_ = stat

    def _stored(self, each: bool) -> ClassScatter:
        scatter = self.class_scatter_
        if len(scatter) != (len(self.class_count_) if each else 1):
            if each or len(scatter) == 0:
                raise ValueError("the fit kept no scatter to add to: start again with partial_fit")
            scatter = scatter.sum(axis=0, keepdims=True)
        mean = np.where(self.class_count_[:, None] > 0, self.means_, 0.0)
        return ClassScatter(self.class_count_, mean, scatter)

    # --- prediction ---

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        scores = self._evaluate(X, self._score_function)
        if scores.shape[1] == 2:
            return self.classes_[(scores[:, 1] > scores[:, 0]).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of the classes, (n, K); for two classes the log-odds of ``classes_[1]``, (n,)."""
        scores = self._evaluate(X, self._score_function)
        return log_odds(scores) if scores.shape[1] == 2 else scores

    def discriminants(self, X: ArrayLike) -> Array:
        """delta_k(x) of the textbook, shape (n, K), also for two classes."""
        return self._evaluate(X, self._discriminant_function)

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log p(k | x), shape (n, K)."""
        return self._evaluate(X, self._score_function, log_posterior)

    def predict_proba(self, X: ArrayLike) -> Array:
        """p(k | x), shape (n, K), computed in logs."""
        return self._evaluate(X, self._score_function, posterior)

    def score_samples(self, X: ArrayLike) -> Array:
        """log p(x) under the fitted mixture of the classes, shape (n,)."""
        return self._evaluate(X, self._joint_function, evidence)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[Array, Any]:
        """Draw (X, y): a class from the priors, then a row from its Gaussian."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng = generator(random_state)
        codes = rng.choice(len(self.classes_), size=n_samples, p=self.priors_)
        return self._draw(codes, rng), self.classes_[codes]

    def _evaluate(
        self, X: Any, function: Callable[[], Scores], finish: Scores | None = None
    ) -> Array:
        """Scores of rows, leaf by leaf in threads: the same bits for any number of them."""
        check_is_fitted(self)
        X = self._check_matrix(X, reset=False, finite=True)
        with single_threaded_blas():
            scores = function()

        def leaf(start: int) -> Array:
            found = scores(X[start : start + LEAF_ROWS])
            return found if finish is None else finish(found)

        return np.concatenate(list(map_threads(leaf, range(0, len(X), LEAF_ROWS))))

    def _columns(self, free: tuple[int, ...]) -> str:
        """The names of some columns, ten at most."""
        names = self._feature_names()
        more = f" and {len(free) - 10} more" if len(free) > 10 else ""
        return ", ".join(names[j] for j in free[:10]) + more

    def _prior_words(self) -> str:
        return f"priors: {'shares of the classes' if self.priors is None else 'given'}"

    def _numbers(self) -> dict[str, Any]:
        """The numbers that every card of the family has."""
        rows, K = float(self.class_count_.sum()), len(self.classes_)
        return {"rows": rows, "classes": K, "features": self.n_features_in_}

    def _code(self, label: Hashable) -> int:
        found = np.flatnonzero(self.classes_ == label)
        if len(found) == 0:
            raise ValueError(f"{label!r} is no class; the classes are {self.classes_.tolist()}")
        return int(found[0])

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        K, p = len(self.classes_), self.n_features_in_
        return {"class_count_": (K,), "priors_": (K,), "means_": (K, p)}


def log_odds(scores: Array) -> Array:
    """The difference of two columns."""
    return scores[:, 1] - scores[:, 0]


def log_posterior(scores: Array) -> Array:
    """Scores less the logarithm of the sum of their exponentials.

    >>> log_posterior(np.array([[1000.0, 0.0]]))
    array([[    0., -1000.]])
    """
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def posterior(scores: Array) -> Array:
    """Exponentials of scores, made to sum to 1."""
    odds = np.ascontiguousarray(scores.T)  # few classes, many rows: whole rows of (K, n) are fast
    odds = np.exp(odds - odds.max(axis=0))
    odds /= odds.sum(axis=0)
    return np.ascontiguousarray(odds.T)


def evidence(joint: Array) -> Array:
    """log sum_k exp(joint_k)."""
    return logsumexp(joint, axis=1)
