r"""Complement naive Bayes: what the other classes do not say.

Shares       phi_kj = (sum over classes l != k of N_lj + alpha_kj) / its sum over j
Weights      w_kj = -log phi_kj, or with ``norm`` log phi_kj / sum_l log phi_kl
Score        sum_j x_j w_kj; the prior plays no part unless there is one class only
Algorithm    one pass for the sums (compiled.counts).    O(n p), sparse rows O(entries)

The complement of a class has more rows than the class, and of more even size over the classes, so
its shares are steadier than the class's own when classes are unequal. The score is no density:
``predict_proba`` normalises it as if it were one, ``score_samples`` is its log-sum, and ``sample``
draws from the class's own smoothed shares.

References: Rennie, Shih, Teevan & Karger (2003), Tackling the poor assumptions of naive Bayes.
"""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Numbers, Rng
from pellucid.core.records import Card
from pellucid.naive_bayes.count_kernels import ClassCounts
from pellucid.naive_bayes.counts import CountNB, LogTables, check_alpha
from pellucid.naive_bayes.multinomial import draw_counts, fit_multinomial

TINY = float(np.finfo(np.float64).tiny)


def fit_complement(count: Array, alpha: ArrayLike, norm: bool) -> Array:
    """The weights (K, p) of the counts within the classes.

    A share of 0 is replaced by the smallest number above 0, so that the weights stay finite.

    >>> fit_complement(np.array([[3.0, 1.0], [0.0, 2.0]]), 1.0, False).round(4)
    array([[1.3863, 0.2877],
           [0.4055, 1.0986]])
    """
    smoothed = count.sum(axis=0) + alpha - count
    total = smoothed.sum(axis=1, keepdims=True)
    logs = np.log(np.maximum(smoothed / np.where(total > 0, total, 1.0), TINY))
    return logs / logs.sum(axis=1, keepdims=True) if norm else -logs


class ComplementNB(CountNB):
    """Naive Bayes for counts that scores a class by all the others; good for unequal classes.

    NaN is accepted as a missing cell in fit and prediction and left out. ``sample_weight`` equals
    repetition. Sparse rows stay sparse. The score has no prior in it, so ``explain`` sums to
    ``predict_joint_log_proba`` without one.

    Parameters
    ----------
    alpha : float, array of shape (n_features,) or (n_classes, n_features), default=1.0
        Pseudo-counts added to the counts of each complement, ``>= 0``.
    force_alpha : bool, default=True
        False raises pseudo-counts below 1e-10 to it, with a warning.
    fit_prior : bool, default=True
        Used only if there is one class.
    class_prior : array of shape (n_classes,), default=None
        Used only for classes that no feature speaks for, and by ``sample``.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Sum of the weights of each class; logarithm of its prior.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Counts of each feature in each class; the weights.
    feature_all_ : ndarray of shape (n_features,)
        Counts of each feature in all classes.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import ComplementNB
    >>> model = ComplementNB().fit([[2, 1, 0], [0, 1, 1], [0, 0, 3]], ["a", "a", "b"])
    >>> model.predict([[1, 1, 0]])
    array(['a'], dtype='<U1')
    """

    def __init__(
        self,
        *,
        alpha: Numbers = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        norm: bool = False,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _smooth(self, counts: ClassCounts, alpha: ArrayLike) -> tuple[BoolArray, str] | None:
        check.boolean(norm=self.norm)
        self.feature_count_ = counts.sums
        self.feature_all_ = counts.sums.sum(axis=0)
        self.feature_log_prob_ = fit_complement(counts.sums, alpha, self.norm)
        zero = self.feature_all_ + alpha - counts.sums <= 0
        return (zero, "> 0 in the other classes") if zero.any() and len(zero) > 1 else None

    def _tables(self) -> LogTables:
        K = len(self.classes_)
        prior = self.class_log_prior_ if K == 1 else np.zeros(K)
        return LogTables(prior, self.feature_log_prob_, None)

    def _draw(self, codes: IntArray, rng: Rng) -> Array:
        alpha = check_alpha(self.alpha, self.force_alpha, self.feature_count_.shape)
        lengths = self.feature_count_.sum(axis=1) / np.maximum(self.class_count_, 1e-300)
        theta = np.exp(fit_multinomial(self.feature_count_, alpha))
        return draw_counts(theta, lengths, codes, rng)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return super()._state_shapes() | {"feature_all_": (self.n_features_in_,)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> ComplementNB().fit([[1, 2], [0, 1]], [0, 1]).card().numbers["parameters"]
        4
        """
        numbers = self._numbers()
        weight = "log phi_kj / sum_l log phi_kl" if self.norm else "-log phi_kj"
        return Card(
            representation=f"argmax_k sum_j x_j w_kj, w_kj = {weight}, phi_k the shares of the "
            "features in all classes but k: a linear rule in the counts x",
            evaluation="maximise the likelihood of the complements' counts with pseudo-counts "
            f"alpha = {self._alpha_text()}; no prior",
            optimisation="closed form, one pass over the rows; the maximum is unique",
            numbers=numbers | {"parameters": self.feature_log_prob_.size},
        )
