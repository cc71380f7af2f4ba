r"""Multinomial naive Bayes: counts of words, or of anything else.

Model        k ~ pi,   x | k ~ Multinomial(length; theta_k1 .. theta_kp), any length
Estimator    theta_kj = (N_kj + alpha_kj) / sum_l (N_kl + alpha_kl), N_kj the counts of feature j
             in class k
Joint        log p(x, k) = log pi_k + sum_j x_j log theta_kj
             (the multinomial coefficient is the same for every class and left out)
Algorithm    one pass for the sums (compiled.counts).    O(n p), sparse rows O(entries)

A feature that does not occur says nothing (contrast BernoulliNB). Fractions such as tf-idf values
are accepted as counts. A missing cell (NaN) is left out: its factor is 1, its count is not added.

References: McCallum & Nigam (1998); Manning, Raghavan & Schuetze (2008), section 13.2.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Numbers, Rng
from pellucid.core.records import Card
from pellucid.naive_bayes.count_kernels import ClassCounts
from pellucid.naive_bayes.counts import CountNB, LogTables, log_shares


def fit_multinomial(count: Array, alpha: Any) -> Array:
    """log theta (K, p) of the counts within the classes.

    >>> np.exp(fit_multinomial(np.array([[1.0, 2.0]]), 1.0)).round(4)
    array([[0.4, 0.6]])
    """
    smoothed = count + alpha
    return log_shares(smoothed, smoothed.sum(axis=1, keepdims=True), count.shape[1])


def draw_counts(theta: Array, lengths: Array, codes: IntArray, rng: Rng) -> Array:
    """A row of counts for each class code; its length is Poisson with the mean of the class."""
    length = rng.poisson(lengths[codes])
    return rng.multinomial(length, theta[codes]).astype(np.float64)


class MultinomialNB(CountNB):
    """Naive Bayes for counts: words of texts, events of any kind.

    NaN is accepted as a missing cell in fit and prediction and left out. ``sample_weight`` equals
    repetition. Sparse rows stay sparse. ``score_samples`` leaves out the multinomial coefficient.
    ``sample`` draws the length of a row from a Poisson distribution with the mean of its class.

    Parameters
    ----------
    alpha : float, array of shape (n_features,) or (n_classes, n_features), default=1.0
        Pseudo-counts added to the counts of each class, ``>= 0``; 0 is maximum likelihood.
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
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Counts of each feature in each class; log theta.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import MultinomialNB
    >>> model = MultinomialNB().fit([[2, 1, 0], [0, 1, 1], [0, 0, 3]], ["a", "a", "b"])
    >>> model.predict_proba([[1, 1, 0]]).round(4)
    array([[0.9101, 0.0899]])
    """

    def __init__(
        self,
        *,
        alpha: Numbers = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _smooth(self, counts: ClassCounts, alpha: ArrayLike) -> tuple[BoolArray, str] | None:
        self.feature_count_ = counts.sums
        self.feature_log_prob_ = fit_multinomial(counts.sums, alpha)
        zero = (self.feature_log_prob_ == -np.inf) & (counts.total[:, None] > 0)
        return (zero, "> 0") if zero.any() else None

    def _tables(self) -> LogTables:
        return LogTables(self.class_log_prior_, self.feature_log_prob_, None)

    def _draw(self, codes: IntArray, rng: Rng) -> Array:
        lengths = self.feature_count_.sum(axis=1) / np.maximum(self.class_count_, 1e-300)
        return draw_counts(np.exp(self.feature_log_prob_), lengths, codes, rng)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> MultinomialNB().fit([[1, 2], [0, 1]], [0, 1]).card().numbers["parameters"]
        3
        """
        numbers = self._numbers()
        K, p = numbers["classes"], numbers["features"]
        return Card(
            representation="p(x, k) = pi_k prod_j theta_kj^x_j, sum_j theta_kj = 1: "
            "a linear rule in the counts x",
            evaluation="maximise the likelihood of the counts with pseudo-counts alpha = "
            f"{self._alpha_text()}: the mode under Dirichlet(alpha + 1)",
            optimisation="closed form, one pass over the rows; the maximum is unique",
            numbers=numbers
            | {"counts": float(self.feature_count_.sum()), "parameters": K * (p - 1) + K - 1},
        )
