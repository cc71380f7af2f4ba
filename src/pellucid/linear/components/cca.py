r"""Canonical correlation analysis: what two tables of the same rows have in common.

Model        t_k = X g_k and u_k = Y h_k, uncorrelated with all other scores but each other
Objective    rho_1 = max corr(X g, Y h), then the same in what is uncorrelated with the pairs before
Algorithm    centred (and standardised) X = U R_x, Y = W R_y with orthonormal U (n, r), W (n, s):
                 U'W = A diag(rho) B',    t_k = U a_k,    u_k = W b_k
             on a few rows that stand for all [X Y], so one pass over the data is enough; columns
             without a spread of their own are left out by rank.              O(n (p + q)^2)
Scale        scikit-learn's. It takes each pair off X and Y and looks again, with weights of least
             norm and length 1. What is left has the same scores t_k, and its weights are the g_k
             made orthogonal to those before: g = Q T (Gram-Schmidt), so with T_kk > 0
                 weights Q_k,    scores t_k / T_kk,    rotations g_k / T_kk,    loadings X't_k T_kk
Ties         the scores of equal rho may be turned into each other. The power method starts at the
             first column of y: its part along them is the first, that of the next column the next.
Tests        rho_k = rho_(k+1) = ... = 0: Wilks' Lambda = prod_(j >= k) (1 - rho_j^2), Rao's F

scikit-learn iterates each pair to ``tol``; here they are exact, so ``n_iter_`` is 1.

References: Hotelling (1936); Wegelin (2000); Rao (1951); Mardia, Kent & Bibby, ch. 10.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from pellucid.base import Transformer, with_callbacks
from pellucid.core.algebra.least_squares import (
    FACTOR_ABOVE,
    coordinates,
    tsqr,
    wide_system,
)
from pellucid.core.algebra.linalg import EPS, solve_cholesky, solve_svd
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.statistics import Moments, Source
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.components import scores
from pellucid.linear.components.scores import deviations, refuse_components, warn_used_up
from pellucid.linear.least_squares.inference import cut, f_tail
from pellucid.linear.linear_model import LinearModel, one_dimensional

RANK = 1e6 * EPS  # of the widest direction of unit columns; scikit-learn's bar
TIED = 1e-10  # correlations that differ by less are equal


class Joint(NamedTuple):
    """A few centred rows of [X Y] with the cross-products of all."""

    A: Array  # (m, p)
    C: Array  # (m, q)
    x_mean: Array
    y_mean: Array
    weight: float


def joint_rows(rows: Source, map_: Map, total: Moments | None, p: int) -> Joint:
    """By the sums of products, or by QR of the rows where the sums would lose digits.

    ``total`` is needed for tables with more rows than columns of X.
    """
    if total is None:
        wide = wide_system(rows, "centred")
        return Joint(*wide)
    scale = np.sqrt(np.diag(total.scatter))
    live = np.flatnonzero(scale)
    S = np.zeros((len(live), len(scale)))
    G = total.scatter[np.ix_(live, live)] / np.outer(scale[live], scale[live])
    solved = solve_cholesky(G, np.zeros((len(live), 0))) if len(live) else None
    if solved is not None and solved.condition <= FACTOR_ABOVE:
        S[:, live] = np.linalg.cholesky(G).T * scale[live]
    else:
        at = coordinates(total, p, intercept=True)
        R = tsqr(rows, map_, at)[1:, 1:]
        S = np.zeros((len(R), len(scale)))
        S[:, at.active], S[:, p:] = (
            R[:, : len(at.active)] * at.scale[at.active],
            R[:, len(at.active) :],
        )
    return Joint(S[:, :p], S[:, p:], total.mean[:p], total.mean[p:], total.weight)


class Side(NamedTuple):
    """One of the two tables: M components; those beyond the rank are 0."""

    weights: Array  # (p, M)
    loadings: Array  # (p, M)
    rotations: Array  # (p, M)


class CanonicalFit(NamedTuple):
    """Both tables, and all canonical correlations."""

    x: Side
    y: Side
    rho: Array  # (min(r, s),)
    ranks: tuple[int, int]


def fit_canonical(A: Array, C: Array, n_components: int) -> CanonicalFit:
    """Canonical pairs of centred rows A (m, p) and C (m, q).

    >>> A = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> fit_canonical(A, A @ [[0.0], [2.0]], 1).rho
    array([1.])
    """
    roots = [solve_svd(Z, np.zeros((len(Z), 0)), RANK).root for Z in (A, C)]  # (p, r), (q, s)
    U, W = A @ roots[0], C @ roots[1]
    a, rho, b = np.linalg.svd(U.T @ W, full_matrices=False)
    b = b.T
    rho = np.minimum(rho, 1.0)
    start = W.T @ C
    k = 0
    while k < min(len(rho), n_components):
        ties = slice(k, int((rho >= rho[k] - TIED).sum()))
        turn = turned(b[:, ties].T @ start)
        a[:, ties], b[:, ties] = a[:, ties] @ turn, b[:, ties] @ turn
        k = ties.stop
    used = min(len(rho), n_components)
    x = one_side(A, U @ a[:, :used], roots[0] @ a[:, :used], n_components)
    y = one_side(C, W @ b[:, :used], roots[1] @ b[:, :used], n_components)
    largest = x.weights[np.abs(x.weights).argmax(axis=0), np.arange(n_components)]
    sign = np.where(largest < 0, -1.0, 1.0)
    x, y = (Side(*(sign * part for part in side)) for side in (x, y))
    return CanonicalFit(x, y, rho, (len(U.T), len(W.T)))


def turned(Z: Array) -> Array:
    """An orthonormal basis (d, d): the columns of Z (d, q) one after the other, of rank d.

    >>> turned(np.array([[2.0, 2.0, 1.0], [0.0, 0.0, -3.0]]))
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    d = len(Z)
    Q = np.zeros((d, d))
    k = 0
    for z in Z.T / np.linalg.norm(Z):
        for _ in range(2):  # once more takes off what the first time left by rounding
            z = z - Q[:, :k] @ (Q[:, :k].T @ z)
        if k < d and (length := np.linalg.norm(z)) > RANK:
            Q[:, k], k = z / length, k + 1
    return Q if k == d else np.eye(d)


def one_side(Z: Array, T: Array, G: Array, n_components: int) -> Side:
    """Weights, loadings and rotations of the unit scores T = Z G."""
    weights, R = np.linalg.qr(G)
    size = np.diag(R)  # of either sign, which goes with the weights
    weights, size = weights * np.sign(size), np.abs(size)
    parts = weights, Z.T @ T * size, G / size
    filled = np.zeros((3, Z.shape[1], n_components))
    filled[:, :, : len(size)] = parts
    return Side(*filled)


class WilksTests(NamedTuple):
    """The test of every k that no correlation from the k-th on differs from 0."""

    wilks: Array
    statistic: Array
    df_numerator: Array
    df_denominator: Array
    p_value: Array


def wilks_tests(rho: Array, n: float, r: int, s: int) -> WilksTests:
    """Rao's F of Wilks' Lambda for n rows of tables of ranks r and s; exact where r or s - k <= 2.

    >>> wilks_tests(np.array([0.5]), 12, 1, 1).statistic.round(6)  # (0.25/0.75) 10
    array([3.333333])
    """
    p, q = r - np.arange(float(len(rho))), s - np.arange(float(len(rho)))
    wilks = np.asarray(np.cumprod((1 - rho**2)[::-1])[::-1], dtype=np.float64)
    five = p**2 + q**2 - 5.0
    t = np.sqrt(np.where(five > 0, (p**2 * q**2 - 4.0) / np.where(five > 0, five, 1.0), 1.0))
    down = (n - (r + s + 3) / 2) * t - p * q / 2 + 1
    with np.errstate(divide="ignore"):
        root = wilks ** (1 / t)
        F = (1 - root) / root * down / (p * q)
    return WilksTests(wilks, F, p * q, down, f_tail(F, p * q, down))


def correlation_intervals(rho: Array, n: float, confidence: float) -> tuple[Array, Array, Array]:
    """Standard errors (1 - rho^2)/sqrt(n - 1), and tanh(atanh rho -+ z/sqrt(n - 3)).

    >>> np.round(correlation_intervals(np.array([0.5]), 103, 0.95)[1:], 3).ravel()
    array([0.339, 0.632])
    """
    half = cut(confidence, np.inf, "normal") / np.sqrt(n - 3)
    with np.errstate(divide="ignore"):
        z = np.arctanh(rho)
    return (1 - rho**2) / np.sqrt(n - 1), np.tanh(z - half), np.tanh(z + half)


class CCA(ClassNamePrefixFeaturesOutMixin, Transformer, LinearModel):
    """Canonical correlation analysis: directions of X and y whose scores correlate most.

    Parameters
    ----------
    n_components : int, default=2
        Pairs of directions, at most min(n, p, q).
    scale : bool, default=True
        Divide the columns of X and y by their standard deviation (n - 1) first. The correlations
        are the same; weights and scores have other lengths.
    max_iter, tol
        Accepted for scikit-learn's sake; the directions are exact, not iterated.
    copy : bool, default=True
        Accepted for scikit-learn's sake; X and y are never changed.

    Attributes
    ----------
    canonical_correlations_ : (min(rank X, rank y),), falling; all of them, not only the kept ones
    x_weights_, x_loadings_, x_rotations_ : (p, M); transform is standardised X @ x_rotations_
    y_weights_, y_loadings_, y_rotations_ : (q, M)
    coef_, intercept_ : (q, p) and (q,), y = X @ coef_.T + intercept_
    n_iter_ : 1 for each component

    Examples
    --------
    >>> from pellucid import CCA
    >>> X = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [3.0, 5.0, 4.0], [1.0, 1.0, 3.0]]
    >>> y = [[0.1, -0.2], [0.9, 1.1], [6.2, 5.9], [11.9, 12.3], [2.5, 3.1]]
    >>> CCA(n_components=1).fit(X, y).canonical_correlations_.round(3)
    array([1.   , 0.543])
    """

    _check_parameters = scores.check_parameters
    _state_shapes = scores.state_shapes
    predict = scores.predict
    transform = scores.transform
    fit_transform = scores.fit_transform
    inverse_transform = scores.inverse_transform

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: bool = True,
        max_iter: int = 500,
        tol: float = 1e-06,
        copy: bool = True,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the pairs of directions."""
        return self._fit_memory(X, y, sample_weight)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        p, single = self.n_features_in_, one_dimensional(rows)
        if single:
            refuse_components(self, min(rows.n_rows, p, 1), rows.n_rows)
        total = self._sums(rows, map_) if rows.n_rows > p else None
        with single_threaded_blas():
            joint = joint_rows(rows, map_, total, p)
            refuse_components(self, min(rows.n_rows, p, joint.C.shape[1]), rows.n_rows)
            x_std, y_std = (
                deviations((Z**2).sum(axis=0), joint.weight, scale=self.scale)
                for Z in (joint.A, joint.C)
            )
            fit = fit_canonical(joint.A / x_std, joint.C / y_std, self.n_components)
        self._set(joint, fit, x_std, y_std, single)

    def _set(
        self, joint: Joint, fit: CanonicalFit, x_std: Array, y_std: Array, single: bool
    ) -> None:
        self.x_weights_, self.x_loadings_, self.x_rotations_ = fit.x
        self.y_weights_, self.y_loadings_, self.y_rotations_ = fit.y
        self.canonical_correlations_, self._ranks = fit.rho, fit.ranks
        coef = self.x_rotations_ @ self.y_loadings_.T
        self.coef_ = np.ascontiguousarray((coef * y_std / x_std[:, None]).T)
        self.intercept_ = joint.y_mean - self.coef_ @ joint.x_mean
        self._x_mean, self._y_mean = joint.x_mean, joint.y_mean
        self._x_std, self._y_std, self._single = x_std, y_std, single
        used = min(len(fit.rho), self.n_components)
        self.n_iter_: Any = [1] * max(used, 1)
        self.n_observations_, self._n_features_out = joint.weight, self.n_components
        ranks = f"the ranks of X and y are {fit.ranks[0]} and {fit.ranks[1]}"
        warn_used_up(self, used, "y" if fit.ranks[1] == used else "X", ranks)

    def summary(self, confidence: float = 0.95) -> Summary:
        """Every canonical correlation, its interval, and Wilks' test of it and all smaller ones.

        ``dimensions`` counts the correlations up to the first that is not significant at
        ``1 - confidence``. Directions have no standard errors here.
        """
        check.fraction(confidence=confidence)
        rho, (r, s) = self.canonical_correlations_, self._ranks
        n, needed, ranks = self.n_observations_, r + s + 2, f"X and y of ranks {r} and {s}"
        reason = f"{n:g} rows for {ranks}: at least {needed} are needed, and many more to be of use"
        reason = reason if len(rho) else f"{ranks} have nothing in common: a column must vary"
        valid = bool(n >= needed and len(rho))
        error, low, high = correlation_intervals(rho, n if valid else np.nan, confidence)
        found = wilks_tests(rho, n if valid else np.nan, r, s)
        tests = found._asdict()
        arrays = {"estimate": rho, "standard_error": error, "statistic": tests.pop("statistic")}
        arrays |= {"p_value": tests.pop("p_value"), "low": low, "high": high, **tests}
        below = found.p_value < 1 - confidence
        first = self._feature_names()[int(np.abs(self.x_weights_[:, 0]).argmax())]
        dimensions = int(np.argmin(np.append(below, False))) if valid else np.nan
        notes: tuple[str, ...] = (
            f"the first direction of X weighs {first} most",
            "statistic is Rao's F of Wilks' Lambda that this and all smaller correlations are 0, "
            "for independent rows whose X or y is normal given the other",
            "intervals are of Fisher's z, for many rows and true correlations apart from 0 and "
            "from each other: with few rows correlations come out too large",
        )
        return Summary(
            title="CCA: canonical correlations",
            names=tuple(f"rho_{k + 1}" for k in range(len(rho))),
            arrays=arrays,
            scalars={"n": n, "dimensions": dimensions},
            valid=valid,
            reason="" if valid else reason,
            notes=notes if valid else notes[:1],
        )

    def card(self) -> Card:
        """What is maximised and how, with the numbers of this fit."""
        rho, (r, s) = self.canonical_correlations_, self._ranks
        used = min(len(rho), self.n_components)
        notes = []
        if used < self.n_components:
            notes.append(f"ranks {r} and {s} of X and y leave {used} components; others are 0")
        if len(rho) and rho[0] >= 1 - TIED:
            why = f"n = {self.n_observations_:g} rows, ranks {r} and {s}"
            notes.append(f"a correlation of 1: X fits a combination of y exactly ({why})")
        if len(rho) > 1 and (np.diff(rho[: used + 1]) >= -TIED).any():
            notes.append("equal correlations: their directions may be turned into each other")
        numbers = {"n": self.n_observations_, "components": used, "rank of X": r, "rank of y": s}
        numbers |= {f"rho_{k + 1}": float(rho[k]) for k in range(used)}
        kind = "standardised" if self.scale else "centred"
        return Card(
            representation=f"{used} pairs of scores t = X g, u = y h of the {kind} columns; "
            "y is predicted from t by the loadings of y",
            evaluation="corr(t, u), each pair uncorrelated with those before",
            optimisation="singular values of the whitened cross-covariance: exact",
            numbers=numbers,
            scales=("weights have length 1 and are orthogonal, as in scikit-learn's deflation",),
            warnings=tuple(notes),
        )
