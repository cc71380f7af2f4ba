r"""Probabilities of a linear rule by the logistic link.

    two classes     P(classes_[1] | x) = 1 / (1 + exp(-f(x)))
    K classes       P(k | x) = exp f_k(x) / sum_l exp f_l(x)

computed in logs, so that they are finite for any score and sum to 1.
"""

from typing import Any

import numpy as np
import scipy

from pellucid.core.arrays.tensors import namespace
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.inference.decisions.linear_rule import LinearClassifier


def log_probabilities(scores: Array) -> Array:
    """log P of each class, (n, K), from scores (n, 1) or (n, K).

    >>> np.exp(log_probabilities(np.array([[0.0], [800.0]])))
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    if scores.shape[1] == 1:
        return np.column_stack(
            [scipy.special.log_expit(-scores[:, 0]), scipy.special.log_expit(scores[:, 0])]
        )
    return np.asarray(scipy.special.log_softmax(scores, axis=1))


def tensor_probabilities(scores: Any) -> Any:
    """P of each class, (n, K), from a tensor of scores (n, 1) or (n, K)."""
    xp = namespace(scores)
    if scores.shape[1] == 1:
        scores = xp.concat([xp.zeros_like(scores), scores], axis=1)
    P = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    return P / xp.sum(P, axis=1, keepdims=True)


class LogisticRule(LinearClassifier):
    """A linear rule whose scores are log-odds."""

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log P of each class, (n, K)."""
        return log_probabilities(self._scores(self._check_input(X)))

    def _predict_proba_tensor(self, X: Any) -> Any:
        return tensor_probabilities(self._tensor_scores(X))

    def predict_proba(self, X: ArrayLike) -> Array:
        """P of each class, (n, K); rows sum to 1."""
        P = np.exp(self.predict_log_proba(X))
        return P / P.sum(axis=1, keepdims=True)
