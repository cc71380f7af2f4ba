r"""What all naive Bayes classifiers share.

Model        p(x, c) = pi_c prod_j p(x_j | c)
Posterior    p(c | x) = p(x, c) / p(x),     p(x) = sum_c p(x, c)          (all in logs)
Prediction   argmax_c log p(x, c); the first of equals

A subclass gives log p(x, c); posterior, prediction, evidence and samples follow. A missing cell
(NaN) is integrated out, which under independence means that its factor is left out. A row to which
every class gives density 0 tells nothing: its posterior is the prior.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, check_labels, check_weights
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.inference.decisions.linear_rule import all_classes, encode_known
from pellucid.naive_bayes.count_kernels import cut_rows

Finish = Callable[[Array, Array, Any], None]  # joint (n, K), log prior (K,), where to write


@jit
def largest(row):
    """The largest of a row: taken off before exp, so that nothing overflows."""
    top = row[0]
    for c in range(1, len(row)):
        top = max(top, row[c])
    return top


@jit
def write_posterior(joint, log_prior, out):
    """out[i, c] = p(c | x_i) of a joint log density (n, K)."""
    n, K = joint.shape
    for i in range(n):
        row = joint[i]
        top = largest(row)
        if top == -np.inf:  # density 0 in every class: the prior decides
            row, top = log_prior, 0.0
        total = 0.0
        for c in range(K):
            out[i, c] = np.exp(row[c] - top)
            total += out[i, c]
        for c in range(K):
            out[i, c] /= total


@jit
def write_log_posterior(joint, log_prior, out):
    """out[i, c] = log p(c | x_i)."""
    n, K = joint.shape
    for i in range(n):
        row = joint[i]
        top = largest(row)
        if top == -np.inf:
            row, top = log_prior, 0.0
        total = 0.0
        for c in range(K):
            total += np.exp(row[c] - top)
        for c in range(K):
            out[i, c] = row[c] - top - np.log(total)


@jit
def write_evidence(joint, log_prior, out):
    """out[i] = log p(x_i)."""
    n, K = joint.shape
    for i in range(n):
        top = largest(joint[i])
        total = 0.0
        if top > -np.inf:
            for c in range(K):
                total += np.exp(joint[i, c] - top)
        out[i] = top + np.log(total) if top > -np.inf else -np.inf


@jit
def write_decision(joint, log_prior, out):
    """out[i] = argmax_c log p(x_i, c)."""
    n, K = joint.shape
    for i in range(n):
        best = 0
        for c in range(1, K):
            if joint[i, c] > joint[i, best]:
                best = c
        if joint[i, best] == -np.inf:
            for c in range(K):
                if log_prior[c] > log_prior[best]:
                    best = c
        out[i] = best


def write_joint(joint: Array, log_prior: Array, out: Array) -> None:
    """out[i, c] = log p(x_i, c)."""
    out[:] = joint


class NaiveBayes(Classifier):
    """Base of naive Bayes: a subclass gives log p(x, c), everything else follows."""

    _accepts_nan = True

    @abstractmethod
    def _joint_log_likelihood(self) -> Callable[[Array], Array]:
        """The function X -> log p(x_i, c), shape (n, K); missing cells are left out.

        X is some rows of an array, or ``naive_bayes.count_kernels.Entries`` of a sparse matrix.
        """

    @abstractmethod
    def _contributions(self, X: Array) -> Array:
        """log p(x_ij | c), shape (n, K, p); 0 for a missing cell."""

    @abstractmethod
    def _draw(self, codes: IntArray, rng: Rng) -> Array:
        """One row of X for each class code."""

    @abstractmethod
    def _update(self, rows: Rows, *, first: bool) -> None:
        """Merge checked rows into the fit, or start it."""

    def predict(self, X: ArrayLike) -> Any:
        """Predict for each row of ``X``."""
        codes = self._evaluate(X, write_decision, dtype=np.intp)
        return self.classes_[codes]

    def predict_proba(self, X: ArrayLike) -> Array:
        """P(c | x), shape (n, K); rows sum to 1."""
        return self._evaluate(X, write_posterior, per_class=True)

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log P(c | x), shape (n, K)."""
        return self._evaluate(X, write_log_posterior, per_class=True)

    def predict_joint_log_proba(self, X: ArrayLike) -> Array:
        """log p(x, c), shape (n, K), not normalised."""
        return self._evaluate(X, write_joint, per_class=True)

    def score_samples(self, X: ArrayLike) -> Array:
        """The log evidence log p(x) of each row under the whole model, shape (n,)."""
        return self._evaluate(X, write_evidence)

    def explain(self, X: ArrayLike) -> Array:
        """log p(x_j | c) of every cell, shape (n, K, p); 0 for a missing cell.

        ``log(class_prior_)`` plus the sum over the last axis is ``predict_joint_log_proba``.
        """
        return self._contributions(self._check_input(X))

    def _numbers(self) -> dict[str, Any]:
        """The numbers that every card of the family has."""
        check_is_fitted(self)
        rows, K = float(self.class_count_.sum()), len(self.classes_)
        return {"rows": rows, "classes": K, "features": self.n_features_in_}

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> tuple[Array, Any]:
        """Draw (X, y) from the fitted model: a class from the prior, then each feature."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng = generator(random_state)
        prior = self.class_prior_ / self.class_prior_.sum()  # the sum is 1 to rounding
        codes = rng.choice(len(self.classes_), size=n_samples, p=prior)
        return self._draw(codes, rng), self.classes_[codes]

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add rows to the fit; all rows in any number of calls give the fit of all at once.

        ``classes`` lists all labels and is needed in the first call unless ``fit`` came before.
        """
        first = not self.__sklearn_is_fitted__()
        labels = all_classes(self, classes, first)
        matrix = self._check_batch(X, first)
        codes = encode_known(check_labels(y, matrix.shape[0], self), labels)
        rows = Rows(matrix, codes, check_weights(sample_weight, matrix))
        if first:
            self.classes_ = labels
        self._update(rows, first=first)
        return self

    def _check_batch(self, X: ArrayLike, first: bool) -> Any:
        """Check the rows of one call of ``partial_fit``."""
        return self._check_matrix(X, reset=first, finite=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "class_count_")

    def _log_prior(self) -> Array:
        return self.class_log_prior_

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("class_count_", "class_log_prior_"), (len(self.classes_),))

    def _evaluate(
        self, X: Any, finish: Finish, *, per_class: bool = False, dtype: Any = np.float64
    ) -> Any:
        """Joint log density and ``finish``, leaf by leaf in threads; no temporary grows with n."""
        check_is_fitted(self)
        X = self._check_matrix(X, reset=False, finite=False)
        n, K = X.shape[0], len(self.classes_)
        out = np.empty((n, K) if per_class else n, dtype=dtype)
        log_prior = self._log_prior()
        log_joint = self._joint_log_likelihood()

        def leaf(start: int) -> bool:
            rows = slice(start, start + LEAF_ROWS)
            joint = log_joint(cut_rows(X, start, start + LEAF_ROWS))
            finish(joint, log_prior, out[rows])
            return bool(np.isfinite(joint).all())

        if not all(list(map_threads(leaf, range(0, n, LEAF_ROWS)))):
            self._refuse_nonfinite(X)  # an infinite cell leaves no finite joint density in its row
        return out
