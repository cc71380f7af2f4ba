r"""Bernoulli naive Bayes: each feature is there or not.

Model        k ~ pi,   x_j | k ~ Bernoulli(theta_kj), independent over j
Estimator    theta_kj = (N_kj + alpha_kj) / (n_kj + 2 alpha_kj), N_kj the weight of the rows of
             class k with x_j = 1, n_kj that of the rows whose x_j is not missing
Joint        log p(x, k) = log pi_k + sum_j [x_j log theta_kj + (1 - x_j) log(1 - theta_kj)]
Algorithm    one pass for the sums (compiled.counts).    O(n p), sparse rows O(entries)

An absent feature counts: that is the difference from the multinomial model. alpha = 1 is
Laplace's rule of succession.

References: McCallum & Nigam (1998); Manning, Raghavan & Schuetze (2008), section 13.3.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Numbers, Rng
from pellucid.core.records import Card
from pellucid.naive_bayes.count_kernels import ClassCounts
from pellucid.naive_bayes.counts import CountNB, LogTables, log_shares


class BernoulliFit(NamedTuple):
    on: Array  # (K, p)  log theta
    off: Array  # (K, p)  log(1 - theta)


def fit_bernoulli(count: Array, weight: Array, alpha: Any) -> BernoulliFit:
    """Both logarithms from the weight of the ones and of all rows.

    >>> fit = fit_bernoulli(np.array([[1.0]]), np.array([[3.0]]), 1.0)
    >>> np.exp(fit.on).round(4), np.exp(fit.off).round(4)
    (array([[0.4]]), array([[0.6]]))
    """
    total = weight + 2 * alpha
    rest = np.maximum(weight - count, 0.0)  # rounding of fractional weights
    return BernoulliFit(log_shares(count + alpha, total, 2), log_shares(rest + alpha, total, 2))


class BernoulliNB(CountNB):
    """Naive Bayes for features that are there or not.

    NaN is accepted as a missing cell in fit and prediction and left out. ``sample_weight`` equals
    repetition. Sparse rows stay sparse.

    Parameters
    ----------
    alpha : float, array of shape (n_features,) or (n_classes, n_features), default=1.0
        Pseudo-counts, ``>= 0``: as many rows with the feature and as many without are added to
        each class. 0 is maximum likelihood.
    binarize : float or None, default=0.0
        A value above it counts as 1, others as 0, ``>= 0``; None: X holds 0 and 1 only.
    force_alpha : bool, default=True
        False raises pseudo-counts below 1e-10 to it, with a warning.
    fit_prior : bool, default=True
        Whether the prior is the shares of the classes; False: all equal.
    class_prior : array of shape (n_classes,), default=None
        Class probabilities that replace both.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Sum of the weights of each class; logarithm of its prior.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weight of the rows of each class in which the feature is 1.
    missing_count_ : ndarray of shape (n_classes, n_features)
        Weight of the rows of each class in which the feature is missing.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        log P(x_j = 1 | k).
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> model.predict_proba([[1, 0]]).round(4)
    array([[0.871, 0.129]])
    """

    _signed = True

    def __init__(
        self,
        *,
        alpha: Numbers = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _threshold(self) -> float:
        if self.binarize is None:
            return 0.0  # of zeros and ones: the same marks
        check.non_negative(binarize=self.binarize)
        return float(self.binarize)

    def _check_matrix(self, X: np.ndarray, *, reset: bool, finite: bool) -> Any:
        X = super()._check_matrix(X, reset=reset, finite=finite)
        if self.binarize is None:
            values = X if isinstance(X, np.ndarray) else X.data
            wrong = values[~((values == 0) | (values == 1) | np.isnan(values))]
            if wrong.size:
                self._refuse_nonfinite(X)
                got = f"got {wrong.flat[0]!r}; give a number to cut at"
                raise ValueError(f"binarize=None needs an X of 0 and 1 only, {got}")
        return X

    def _smooth(self, counts: ClassCounts, alpha: ArrayLike) -> tuple[BoolArray, str] | None:
        self.feature_count_ = counts.sums
        self.missing_count_ = np.broadcast_to(counts.missing, counts.sums.shape).copy()
        weight = counts.total[:, None] - self.missing_count_
        self.feature_log_prob_, self._log_absent = fit_bernoulli(counts.sums, weight, alpha)
        rows = counts.total[:, None] > 0
        for logs, value in ((self.feature_log_prob_, "= 1"), (self._log_absent, "= 0")):
            zero = (logs == -np.inf) & rows
            if zero.any():
                return zero, value
        return None

    def _tables(self) -> LogTables:
        return LogTables(self.class_log_prior_, self.feature_log_prob_, self._log_absent)

    def _stored(self) -> ClassCounts:
        return ClassCounts(self.class_count_, self.feature_count_, self.missing_count_, -1)

    def _draw(self, codes: IntArray, rng: Rng) -> Array:
        theta = np.exp(self.feature_log_prob_)
        return (rng.random((len(codes), theta.shape[1])) < theta[codes]).astype(np.float64)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        shape = (len(self.classes_), self.n_features_in_)
        return super()._state_shapes() | {"missing_count_": shape, "_log_absent": shape}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> BernoulliNB().fit([[1], [0]], [0, 1]).card().numbers["parameters"]
        3
        """
        numbers = self._numbers()
        K, p = numbers["classes"], numbers["features"]
        above = "" if self.binarize is None else f", x_j = [value > {self.binarize:g}]"
        return Card(
            representation="p(x, k) = pi_k prod_j theta_kj^x_j (1 - theta_kj)^(1 - x_j), "
            f"a linear rule in x{above}",
            evaluation="maximise the likelihood of the rows, missing cells left out, with "
            f"pseudo-counts alpha = {self._alpha_text()} for 1 and for 0",
            optimisation="closed form, one pass over the rows; the maximum is unique",
            numbers=numbers | {"parameters": K * p + K - 1},
        )
