"""The arithmetic of committees: draws with replacement, averages, votes, diversity."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc, betaln, xlog1py, xlogy
from sklearn.base import is_classifier
from sklearn.metrics import r2_score

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable


def expected_unique_fraction(n: int) -> float:
    """The expected share of distinct rows in ``n`` draws from ``n`` rows: 1 - (1 - 1/n)^n.

    It falls from 1 to 1 - 1/e = 0.632: about a third of the rows is left out of every draw, which
    is what out-of-bag estimates live on.

    >>> round(expected_unique_fraction(10), 10), round(expected_unique_fraction(1000), 10)
    (0.6513215599, 0.6323045752)
    """
    check.whole(n=n)
    return float(-np.expm1(n * np.log1p(-1 / n))) if n > 1 else 1.0


def variance_of_average(variance: float, n_members: int, correlation: float = 0.0) -> float:
    """The variance of the mean of B equally correlated numbers: r s^2 + (1 - r) s^2 / B.

    Parameters
    ----------
    variance : float
        s^2 of one member.
    n_members : int
        B.
    correlation : float, default=0.0
        r between any two members, at least -1 / (B - 1).

    Examples
    --------
    >>> round(variance_of_average(4, 10, 0.3), 10)
    1.48
    """
    check.non_negative(variance=variance)
    check.whole(n_members=n_members)
    lowest = -1.0 / (n_members - 1) if n_members > 1 else -1.0
    if not lowest - 1e-12 <= correlation <= 1:
        limits = f"in [{lowest:.4g}, 1], got {correlation!r}"
        raise ValueError(f"correlation of {n_members} members must be {limits}")
    return float(correlation * variance + (1 - correlation) * variance / n_members)


def majority_accuracy(accuracy: float, n_members: int) -> float:
    """How often the majority of independent members is right; a tie counts one half.

    Parameters
    ----------
    accuracy : float in [0, 1]
        Of each member, for two classes.
    n_members : int
        Number of members.

    Examples
    --------
    >>> round(majority_accuracy(0.7, 3), 10), round(majority_accuracy(0.7, 21), 4)
    (0.784, 0.9736)
    """
    check.non_negative(accuracy=accuracy)
    check.whole(n_members=n_members)
    if accuracy > 1:
        raise ValueError(f"accuracy must be in [0, 1], got {accuracy!r}")
    half = n_members // 2
    above = float(bdtrc(half, n_members, accuracy))
    if n_members % 2:
        return above
    log_ways = -betaln(half + 1, half + 1) - np.log(n_members + 1)
    tie = np.exp(log_ways + xlogy(half, accuracy) + xlog1py(half, -accuracy))
    return above + 0.5 * float(tie)


@readable
class DiversityReport(NamedTuple):
    """Whether members are better than chance, and how independent they are.

    >>> DiversityReport(np.array([0.8]), np.array([True]), np.eye(1), np.eye(1)).accuracies
    array([0.8])
    """

    accuracies: Array  # (B,) accuracy; numbers: R squared
    better_than_chance: Any  # (B,) bool
    disagreement: Array  # (B, B) share of rows with other answers; numbers: mean squared gap
    error_correlation: Array  # (B, B) of being wrong; numbers: of the residuals; nan if constant


def ensemble_diversity(members: Sequence[Any], X: ArrayLike, y: ArrayLike) -> DiversityReport:
    """Say of fitted members whether they are better than random, and how independent.

    A committee gains from members that are better than chance and err on different rows.

    Parameters
    ----------
    members : sequence of estimators
        Fitted classifiers, or fitted regressors.
    X, y : array-like
        Data that the members have not seen.

    Examples
    --------
    >>> from pellucid import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 1, 1]
    >>> members = [DecisionTreeClassifier().fit(X, target) for target in (y, [0, 1, 1, 1])]
    >>> ensemble_diversity(members, X, y).disagreement.tolist()
    [[0.0, 0.25], [0.25, 0.0]]
    """
    if len(members) == 0:
        raise ValueError("members must hold at least one fitted model, got none")
    y = np.asarray(y)
    answers = [np.asarray(member.predict(X)) for member in members]
    if is_classifier(members[0]):
        wrong = np.array([a != y for a in answers]).astype(np.float64)  # (B, n)
        accuracy = 1.0 - wrong.mean(axis=1)
        chance = 1.0 / max(len(np.unique(y)), 1)
        better = accuracy > chance
        apart = np.array([[float((a != b).mean()) for b in answers] for a in answers])
    else:
        wrong = np.array([a - y for a in answers], np.float64)
        accuracy = np.array([r2_score(y, a) for a in answers])
        better = accuracy > 0
        apart = np.array([[float(((a - b) ** 2).mean()) for b in answers] for a in answers])
    correlation = np.full(apart.shape, np.nan)
    if len(y) > 1:
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.atleast_2d(np.corrcoef(wrong))
    return DiversityReport(accuracy, better, apart, correlation)
