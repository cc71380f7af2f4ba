r"""Attention: every query looks at all keys and takes a mean of the values.

    weights = softmax(Q K' / sqrt(d))          (queries, keys), rows add up to 1
    output  = weights V

A mask says where a query may look; ``causal_mask`` lets position i see positions 0..i only.
Reference: Vaswani et al. (2017).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray


class Attention(NamedTuple):
    """output (queries, d_v) and weights (queries, keys)."""

    output: Array
    weights: Array


def attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, *, mask: ArrayLike | None = None
) -> Attention:
    """Scaled dot-product attention.

    Parameters
    ----------
    query : array (..., queries, d)
        What is asked at each position.
    key : array (..., keys, d)
        What a query is compared with.
    value : array (..., keys, d_v)
        What is averaged by the weights.
    mask : array (queries, keys) of bool, optional
        True where attention is allowed; every query needs one such key.

    Returns
    -------
    Attention(output, weights)

    Examples
    --------
    >>> from pellucid.deep import attention
    >>> attention([[1, 0]], [[1, 0], [0, 1]], [[1, 2], [3, 4]]).output.round(4)
    array([[1.6605, 2.6605]])
    """
    Q, K, V = (np.asarray(a, dtype=np.float64) for a in (query, key, value))
    if min(Q.ndim, K.ndim, V.ndim) < 2 or Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError(
            "attention needs query (q, d), key (k, d) and value (k, v), "
            f"got {Q.shape}, {K.shape} and {V.shape}"
        )
    if not all(np.isfinite(a).all() for a in (Q, K, V)):
        raise ValueError("query, key and value must be finite numbers, got NaN or infinity")
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        allowed = np.broadcast_to(np.asarray(mask, dtype=bool), scores.shape)
        if not allowed.any(axis=-1).all():
            raise ValueError("mask must allow at least one key for every query")
        scores = np.where(allowed, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    return Attention(weights @ V, weights)


def causal_mask(n: int) -> BoolArray:
    """``n`` x n, True where attention is allowed: position i may look at 0..i.

    Examples
    --------
    >>> from pellucid.deep import causal_mask
    >>> causal_mask(3).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [1, 1, 1]])
    """
    check.whole(n=n)
    return np.tri(n, dtype=bool)
