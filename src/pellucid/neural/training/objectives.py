r"""Losses of a network's outputs a = g(z) for targets t, one number per row, and output heads.

    SquaredError        c sum_k (a_k - t_k)^2,  c = 1/2 (half) or 1
    BinaryCrossEntropy  -sum_k t_k log a_k + (1 - t_k) log(1 - a_k)
    CrossEntropy        -sum_k t_k log a_k
    PoissonDeviance     sum_k a_k - t_k + t_k log(t_k / a_k), half the deviance

Each has a link g for which d loss/dz = a - t (times 2c for squared error): identity, logistic,
softmax, exp. With it, value and derivative are taken from z, so that nothing overflows.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array

SMALLEST = np.finfo(np.float64).tiny


class NetworkLoss(BaseEstimator, ABC):
    """Base of the losses: rows and derivatives; ``reduction`` is "mean" or "sum" over rows."""

    link: str  # the activation for which the derivative by z is a - t

    def __init__(self, reduction: str = "mean") -> None:
        self.reduction = reduction

    def validate(self) -> None:
        """Refuse parameters that are out of range."""
        check.one_of(("mean", "sum"), reduction=self.reduction)

    def words(self) -> str:
        """The loss of a row in a sentence."""
        return type(self).__name__

    @abstractmethod
    def rows(self, t: Array, a: Array) -> Array:
        """The loss of each row."""

    @abstractmethod
    def slope(self, t: Array, a: Array) -> Array:
        """d loss of a row / da."""

    def rows_from_z(self, t: Array, z: Array, a: Array) -> Array:
        """The loss of each row where a = link(z)."""
        return self.rows(t, a)

    def delta(self, t: Array, a: Array) -> Array:
        """d loss of a row / dz where a = link(z)."""
        return a - t


class SquaredError(NetworkLoss):
    """Squared error of a row, the sum over its outputs, times 1/2 where ``half``.

    >>> SquaredError().rows(np.array([[1.0, 0.0]]), np.array([[0.0, 3.0]]))
    array([5.])

    Parameters
    ----------
    half, reduction : bool, str
        Whether to halve it; "mean" or "sum" over the rows.
    """

    link = "identity"

    def __init__(self, half: bool = True, reduction: str = "mean") -> None:
        self.half = half
        self.reduction = reduction

    def words(self) -> str:
        """The loss of a row in a sentence, halved or not."""
        return "SquaredError / 2" if self.half else "SquaredError"

    def rows(self, t: Array, a: Array) -> Array:
        """The loss of each row: targets t, outputs a."""
        return (0.5 if self.half else 1.0) * ((a - t) ** 2).sum(axis=1)

    def slope(self, t: Array, a: Array) -> Array:
        """The derivative by the outputs a."""
        return (a - t) if self.half else 2 * (a - t)

    def delta(self, t: Array, a: Array) -> Array:
        """The derivative by the sums before the last activation."""
        return self.slope(t, a)


class BinaryCrossEntropy(NetworkLoss):
    """Cross-entropy of 0/1 targets, one or several per row.

    >>> BinaryCrossEntropy().rows(np.array([[1.0]]), np.array([[0.5]])).round(4)
    array([0.6931])

    Parameters
    ----------
    reduction : {"mean", "sum"}, default="mean"
        Over the rows.
    """

    link = "logistic"

    def rows(self, t: Array, a: Array) -> Array:
        """The loss of each row: targets t, outputs a."""
        return -(xlogy(t, a) + xlogy(1 - t, 1 - a)).sum(axis=1)

    def slope(self, t: Array, a: Array) -> Array:
        """The derivative by the outputs a."""
        return (a - t) / np.maximum(a * (1 - a), SMALLEST)

    def rows_from_z(self, t: Array, z: Array, a: Array) -> Array:
        """The same from the sums z before the last activation, without overflow."""
        return (np.logaddexp(0.0, z) - t * z).sum(axis=1)


class CrossEntropy(NetworkLoss):
    """Cross-entropy of one-hot targets.

    >>> z, a = np.array([[1.0, 2.0, 3.0]]), np.array([[0.0900305732, 0.2447284711, 0.6652409558]])
    >>> CrossEntropy().rows_from_z(np.array([[0.0, 0.0, 1.0]]), z, a).round(8)
    array([0.40760596])

    Parameters
    ----------
    reduction : {"mean", "sum"}, default="mean"
        Over the rows.
    """

    link = "softmax"

    def rows(self, t: Array, a: Array) -> Array:
        """The loss of each row: targets t, outputs a."""
        return -xlogy(t, a).sum(axis=1)

    def slope(self, t: Array, a: Array) -> Array:
        """The derivative by the outputs a."""
        return -t / np.maximum(a, SMALLEST)

    def rows_from_z(self, t: Array, z: Array, a: Array) -> Array:
        """The same from the sums z before the last activation, without overflow."""
        log_sum = z.max(axis=1) - np.log(a.max(axis=1))  # the largest a is 1 / sum exp(z - top)
        return t.sum(axis=1) * log_sum - np.einsum("ij,ij->i", t, z)

    def delta(self, t: Array, a: Array) -> Array:
        """The derivative by the sums before the last activation."""
        return a * t.sum(axis=1, keepdims=True) - t


class PoissonDeviance(NetworkLoss):
    """Half the Poisson deviance of counts.

    >>> PoissonDeviance().rows(np.array([[2.0]]), np.array([[2.0]]))
    array([0.])

    Parameters
    ----------
    reduction : {"mean", "sum"}, default="mean"
        Over the rows.
    """

    link = "exp"

    def rows(self, t: Array, a: Array) -> Array:
        """The loss of each row: targets t, outputs a."""
        return (a - t + xlogy(t, t) - xlogy(t, a)).sum(axis=1)

    def slope(self, t: Array, a: Array) -> Array:
        """The derivative by the outputs a."""
        return 1 - t / np.maximum(a, SMALLEST)

    def rows_from_z(self, t: Array, z: Array, a: Array) -> Array:
        """The same from the sums z before the last activation, without overflow."""
        return (a - t + xlogy(t, t) - t * z).sum(axis=1)


LOSSES: dict[str, type[NetworkLoss]] = {
    "squared_error": SquaredError,
    "binary_cross_entropy": BinaryCrossEntropy,
    "cross_entropy": CrossEntropy,
    "poisson": PoissonDeviance,
}


def get_loss(loss: Any) -> NetworkLoss:
    """The loss of a ``loss=`` parameter: a name or an object."""
    if isinstance(loss, NetworkLoss):
        loss.validate()
        return loss
    check.one_of(tuple(LOSSES), loss=loss)
    return LOSSES[loss]()


class Head(NamedTuple):
    """What the last layer does and how it is judged."""

    activation: str
    loss: NetworkLoss


def output_head(task: str) -> Head:
    """The output activation and loss of a ``task``.

    Parameters
    ----------
    task : {"regression", "binary", "multiclass", "multilabel"}

    Examples
    --------
    >>> output_head("multiclass")
    Head(activation='softmax', loss=CrossEntropy())
    """
    heads = {
        "regression": Head("identity", SquaredError()),
        "binary": Head("logistic", BinaryCrossEntropy()),
        "multiclass": Head("softmax", CrossEntropy()),
        "multilabel": Head("logistic", BinaryCrossEntropy()),
    }
    check.one_of(tuple(heads), task=task)
    return heads[task]
