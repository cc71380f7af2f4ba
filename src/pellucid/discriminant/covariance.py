r"""Covariances of classes from their scatter: divisors, shrinkage, and what spheres them.

    shrunk(C, s) = (1 - s) C + s tr(C)/p I
    Ledoit-Wolf: the s that minimises E|shrunk - Sigma|^2, estimated on standardised columns from
                 sum |z|^4 and the squares of the correlations

Sphering: with D the standard deviations, R = D^-1 S D^-1 = V diag(l) V' and T = D^-1 V l^-1/2 over
the l > tol^2, T'ST = I and TT' is an inverse of S on the directions in which the data vary. Units
do not matter for which directions are kept.

References: Ledoit & Wolf (2004); Hastie, Tibshirani, Friedman, ESL, section 4.3.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Rows, is_unit

MOMENTS_ONLY = (
    "partial_fit knows the moments only; shrinkage='auto' and covariance estimators need all rows "
    "at once: use fit"
)


class Sphere(NamedTuple):
    """T with T'ST = I, and the logarithm of the determinant of S on the directions kept."""

    whitening: Array  # (p, r)
    log_determinant: float
    free: tuple[int, ...] = ()  # columns that take part in a direction without spread


def sphere(S: Array, tol: float) -> Sphere:
    """Sphere a covariance; directions whose correlation eigenvalue is at most tol^2 are dropped.

    >>> found = sphere(np.diag([4.0, 0.0]), 1e-4)
    >>> np.abs(found.whitening).ravel(), np.exp(found.log_determinant).round(12), found.free
    (array([0.5, 0. ]), np.float64(4.0), (1,))
    """
    variance = np.diag(S)
    d = np.sqrt(np.where(variance > 0, variance, 1.0))
    eigenvalues, V = eigh(S / np.outer(d, d))
    eigenvalues, V = eigenvalues[::-1], V[:, ::-1]
    keep = eigenvalues > max(tol**2, len(d) * EPS * max(eigenvalues[0], 0.0))
    T = V[:, keep] / d[:, None] / np.sqrt(eigenvalues[keep])
    if keep.all():
        return Sphere(T, float(2 * np.log(d).sum() + np.log(eigenvalues).sum()))
    taking_part = (V[:, ~keep] ** 2).sum(axis=1) > np.sqrt(EPS)
    free = tuple(int(j) for j in np.flatnonzero(taking_part))
    return Sphere(T, log_determinant(T), free)


def sphere_rows(C: Array, divisor: float, tol: float) -> Sphere:
    """The same from fewer centred (and weighted) rows than columns, without the p x p matrix."""
    d = np.sqrt((C**2).sum(axis=0) / divisor)
    d = np.where(d > 0, d, 1.0)
    _, s, Vt = np.linalg.svd(C / d / np.sqrt(divisor), full_matrices=False)
    keep = s > max(tol, max(C.shape) * EPS * s[0])
    T = (Vt[keep] / d).T / s[keep]
    taking_part = np.flatnonzero((Vt[keep] ** 2).sum(axis=0) < 1 - np.sqrt(EPS))
    return Sphere(T, log_determinant(T), tuple(int(j) for j in taking_part))


def log_determinant(T: Array) -> float:
    """log of the product of the variances in the directions of T, where T'ST = I."""
    return -2.0 * float(np.log(np.linalg.svd(T, compute_uv=False)).sum())


def shrunk(C: Array, intensity: float) -> Array:
    """(1 - s) C + s tr(C)/p I.

    >>> shrunk(np.diag([1.0, 3.0]), 0.5).diagonal()
    array([1.5, 2.5])
    """
    p = len(C)
    return (1 - intensity) * C + intensity * (np.trace(C) / p) * np.eye(p)


def ledoit_wolf(C: Array, n: float, fourth: float) -> Array:
    """C (divisor n) shrunk on standardised columns; ``fourth`` is their sum of |z|^4."""
    p = len(C)
    sd = deviations(C)
    R = C / np.outer(sd, sd)
    trace = float(np.trace(R))
    squares = float((R**2).sum())
    beta = (fourth / n - squares) / (p * n)
    delta = (squares - trace**2 / p) / p  # how far R is from mu I
    intensity = min(max(beta, 0.0) / delta, 1.0) if delta > 0 and p > 1 else 0.0
    return shrunk(R, intensity) * np.outer(sd, sd)


def deviations(C: Array) -> Array:
    """Standard deviations; 1 for a constant column."""
    variance = np.diagonal(C, axis1=-2, axis2=-1)
    return np.sqrt(np.where(variance > 0, variance, 1.0))


def estimated_covariances(estimator: BaseEstimator, rows: Rows, n_classes: int) -> list[Array]:
    """``covariance_`` of a clone of ``estimator`` fitted to the rows of each class."""
    return [estimated_covariance(estimator, rows, rows.y == k) for k in range(n_classes)]


def estimated_covariance(estimator: BaseEstimator, rows: Rows, own: Any) -> Array:
    """``covariance_`` of a clone of ``estimator`` fitted to some of the rows."""
    name = type(estimator).__name__
    fitted = clone(estimator, safe=False)
    if is_unit(rows.w):
        fitted.fit(rows.X[own])
    elif has_fit_parameter(fitted, "sample_weight"):
        fitted.fit(rows.X[own], sample_weight=rows.w[own])
    else:
        raise ValueError(f"{name} takes no sample_weight, so it cannot be used with weights")
    if not hasattr(fitted, "covariance_"):
        raise ValueError(f"{name} does not have a covariance_ attribute")
    return np.atleast_2d(np.asarray(fitted.covariance_, dtype=np.float64))


def check_shrinkage(shrinkage: Any, estimator: BaseEstimator, words: tuple[str, ...]) -> None:
    """Refuse what is neither None, "auto" nor a share, and what does not go together."""
    if isinstance(estimator, str):
        check.one_of(words, covariance_estimator=estimator)
    elif estimator is not None and not hasattr(estimator, "fit"):
        known = ", ".join(map(repr, words))
        accepted = f"None, {known} or have fit"
        raise ValueError(f"covariance_estimator must be {accepted}, got {estimator!r}")
    if shrinkage is None:
        return
    if isinstance(shrinkage, str):
        check.one_of(("auto",), shrinkage=shrinkage)
    else:
        check.non_negative(shrinkage=shrinkage)
        if shrinkage > 1:
            raise ValueError(f"shrinkage must be at most 1, got {shrinkage!r}")
    if estimator is not None and (not isinstance(estimator, str) or shrinkage == "auto"):
        both = "covariance_estimator and shrinkage parameters are not None"
        raise ValueError(f"{both}. Only one of the two can be set.")
