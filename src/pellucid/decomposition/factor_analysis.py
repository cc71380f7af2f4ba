r"""Factor analysis: a normal density with few common factors and noise of its own per column.

Model        z ~ N(0, I_d),  x | z ~ N(W'z + mu, Psi), Psi diagonal, so x ~ N(mu, C), C = W'W + Psi
Likelihood   l = -n/2 [m log 2 pi + log |C| + tr(C^-1 S)],  S the 1/n covariance of m columns
Round        given Psi: S' = Psi^-1/2 S Psi^-1/2 = V L V',  W = (L_d - I)_+^1/2 V_d' Psi^1/2, which
             is the best W; then Psi = diag(S - W'W), floored
Posterior    z | x ~ N(G W Psi^-1 (x - mu), G),  G = (I + W Psi^-1 W')^-1
Rotation     R W has the same C for every rotation R; varimax and quartimax look for a W with few
             large entries

Unlike PCA the answer does not depend on the units of a column. One read of the rows, n m^2 / 2; a
round costs O(m^3), whatever n.

References: Barber (2012), Algorithm 21.1; Kaiser (1958).
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, MaybeArray, Seed
from pellucid.core.loops.iterate import UNKNOWN, FitContext
from pellucid.core.loops.statistics import Moments, Source, Statistic, merge_moments, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.decomposition import row_sums
from pellucid.decomposition.row_sums import by_leaves, leaf_moments
from pellucid.decomposition.spectrum import by_eigen

LOG_2PI = float(np.log(2 * np.pi))
SMALL = 1e-12  # least noise variance, as a share of the variance of the column


class Factors(NamedTuple):
    """W and the noise it was found with; the noise of the next round; l per row of W and noise."""

    W: Array  # (d, m)
    noise: Array  # (m,) Psi
    next_noise: Array  # (m,)
    mean_log_likelihood: float


def best_loadings(S: Array, noise: Array, d: int) -> Factors:
    """The best W for given noise.

    >>> S = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> best_loadings(S, np.ones(2), 1).W.round(6)
    array([[1., 1.]])
    """
    variance = np.diag(S)
    unit = np.where(variance > 0, variance, 1.0)
    root = np.sqrt(noise) + SMALL * np.sqrt(unit)
    found = by_eigen(S / np.outer(root, root), len(S))
    values = np.maximum(found.squares, 0.0)
    W = np.sqrt(np.maximum(values[:d] - 1.0, 0.0))[:, None] * found.V[:d] * root
    # |C| and tr(C^-1 S) with the eigenvalues max(values, 1) of Psi^-1/2 C Psi^-1/2
    scale = np.maximum(values[:d], 1.0)
    log_det = float(np.log(scale).sum() + 2.0 * np.log(root).sum())
    trace = float((values[:d] / scale).sum() + values[d:].sum())
    value = -0.5 * (len(S) * LOG_2PI + log_det + trace)
    return Factors(W, noise, np.maximum(variance - (W**2).sum(axis=0), SMALL * unit), value)


def rotated(W: Array, method: str, *, tol: float = 1e-6, max_iter: int = 100) -> Array:
    """Rows of W turned so that each is large in few columns.

    >>> W = np.array([[1.0, 1.0, 0.1, 0.0], [1.0, 0.9, 0.0, 0.1]]) @ np.eye(4)
    >>> R = rotated(W, "varimax")
    >>> bool(np.allclose(R.T @ R, W.T @ W))
    True
    """
    A = W.T  # (m, d)
    R, size = np.eye(A.shape[1]), 0.0
    for _ in range(max_iter):
        B = A @ R
        mean = B * ((B**2).sum(axis=0) / len(B)) if method == "varimax" else 0.0
        U, s, V = np.linalg.svd(A.T @ (B**3 - mean))
        R = U @ V
        if size != 0 and s.sum() < size * (1 + tol):
            break
        size = float(s.sum())
    return np.ascontiguousarray((A @ R).T)


class FactorAnalysis(ClassNamePrefixFeaturesOutMixin, Transformer):
    """A few common factors, and noise of its own for every column.

    Parameters
    ----------
    n_components : int or None, default=None
        d; None: as many as columns.
    tol : float, default=1e-2
        Stop when a round raises the log-likelihood of all rows by less.
    copy : ignored
        X is never changed.
    max_iter : int, default=1000
        Most iterations.
    noise_variance_init : array-like of shape (n_features,), default=None
        Where the noise starts; None: 1.
    svd_method : {"lapack", "randomized"}, default="randomized"
        Without effect: every round is solved exactly.
    iterated_power, random_state : ignored
        Of scikit-learn's randomised solver.
    rotation : {None, "varimax", "quartimax"}, default=None
        How the loadings are rotated.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        W.
    noise_variance_ : ndarray of shape (n_features,)
        Psi.
    mean_ : ndarray of shape (n_features,)
    loglike_ : list of float
        Log-likelihood of the training rows, per round.
    n_iter_ : int
    history_ : History

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import FactorAnalysis
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> X = z @ [[3.0, 2.0, 1.0]] + rng.normal(size=(500, 3)) * [0.1, 1.0, 2.0]
    >>> np.abs(FactorAnalysis(1).fit(X).components_).round(0)
    array([[3., 2., 1.]])
    """

    _accepts_sparse = False

    fit_blocks, score = fit_blocks, row_sums.mean_log_density

    def __init__(
        self,
        n_components: int | None = None,
        *,
        tol: float = 1e-2,
        copy: bool = True,
        max_iter: int = 1000,
        noise_variance_init: MaybeArray = None,
        svd_method: str = "randomized",
        iterated_power: int = 3,
        rotation: str | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.copy = copy
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.svd_method = svd_method
        self.iterated_power = iterated_power
        self.rotation = rotation
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        self._fit_sums(rows, map_threads, X=X, sample_weight=sample_weight)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_sums(rows, map_)

    def _check_parameters(self) -> None:
        check.whole(max_iter=self.max_iter)
        check.whole(at_least=0, iterated_power=self.iterated_power)
        check.non_negative(tol=self.tol)
        check.boolean(copy=self.copy)
        check.one_of(("lapack", "randomized"), svd_method=self.svd_method)
        check.one_of(("varimax", "quartimax"), **check.given(rotation=self.rotation))
        check.whole(at_least=0, **check.given(n_components=self.n_components))

    def _fit_sums(self, rows: Source, map_: Map, **data: Any) -> None:
        with np.errstate(all="ignore"):
            total = reduce_rows(Statistic(leaf_moments, merge_moments), rows, map_)
        row_sums.refuse_overflow(total.scatter)
        S, n = total.scatter / total.weight, total.weight
        m = len(S)
        d = m if self.n_components is None else min(int(self.n_components), m)
        attributes = partial(self._attributes, total)
        context = FitContext(self, max_steps=self.max_iter, attributes=attributes, **data)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "start_row": False}
        limits["tol"] = float(np.nextafter(self.tol, 0.0))
        limits["record"] = lambda state: {"objective": n * state.mean_log_likelihood}
        with single_threaded_blas():
            step = partial(self._round, S, d, n)
            run = self._iterate(step, self._start(m), context=context, **limits)
        found = self._attributes(total, run.state)
        self.components_, self.noise_variance_ = found["components_"], found["noise_variance_"]
        self.mean_, self._weight = total.mean, n
        self._projection, self._precision = found["_projection"], found["_precision"]
        self.loglike_ = self.history_["objective"].tolist()

    def _start(self, m: int) -> Factors:
        noise = np.ones(m)
        if self.noise_variance_init is not None:
            noise = np.array(self.noise_variance_init, dtype=np.float64)
            if noise.shape != (m,) or not (noise > 0).all():
                need = f"must hold {m} numbers > 0 (n_features)"
                raise ValueError(f"noise_variance_init {need}, got {self.noise_variance_init!r}")
        return Factors(np.zeros((0, m)), noise, noise, -np.inf)

    def _round(self, S: Array, d: int, n: float, state: Factors) -> tuple[Factors, float]:
        new = best_loadings(S, state.next_noise, d)
        if state.mean_log_likelihood == -np.inf:  # the first value: nothing to compare it with
            return new, UNKNOWN
        return new, n * (new.mean_log_likelihood - state.mean_log_likelihood)

    def _attributes(self, total: Moments, state: Factors) -> dict[str, Any]:
        """The fitted attributes as if the fit had stopped at ``state``."""
        W, noise = state.W, state.noise
        if self.rotation is not None and len(W):
            W = rotated(W, self.rotation)
        A = W / noise  # W Psi^-1
        projection = np.linalg.solve(np.eye(len(W)) + A @ W.T, A).T  # (m, d)
        found = {"components_": W, "noise_variance_": noise, "mean_": total.mean}
        precision = np.diag(1.0 / noise) - A.T @ projection.T
        return {**found, "_projection": projection, "_precision": precision}

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def get_covariance(self) -> Array:
        """C = W'W + Psi."""
        check_is_fitted(self)
        return self.components_.T @ self.components_ + np.diag(self.noise_variance_)

    def get_precision(self) -> Array:
        """The inverse of C."""
        check_is_fitted(self)
        return self._precision

    def transform(self, X: ArrayLike) -> Any:
        """The posterior means of the factors, (n, n_components)."""
        rows = self._check_input(X)
        mean, projection = self.mean_, self._projection
        return by_leaves(rows, lambda part: (part - mean) @ projection)

    def score_samples(self, X: ArrayLike) -> Array:
        """The log-density of every row."""
        rows = self._check_input(X)
        mean, P = self.mean_, self._precision
        constant = len(P) * LOG_2PI + float(np.linalg.slogdet(self.get_covariance())[1])

        def leaf(part: Array) -> Array:
            return -0.5 * (constant + np.einsum("ij,ij->i", (part - mean) @ P, part - mean))

        return by_leaves(rows, leaf)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        m, d = self.n_features_in_, len(self.components_)
        own = {"components_": (d, m), "noise_variance_": (m,), "mean_": (m,)}
        return {**own, "_projection": (m, d), "_precision": (m, m)}

    def card(self) -> Card:
        """The model, its likelihood and how it was found."""
        check_is_fitted(self)
        d = len(self.components_)
        common = float((self.components_**2).sum())
        share = common / (common + float(self.noise_variance_.sum()))
        return Card(
            f"x ~ N(mu, W'W + Psi): {d} common factors z ~ N(0, I), noise of its own per column",
            f"log-likelihood = {self.loglike_[-1]:.6g}",
            f"{self.n_iter_} rounds: the best W for the noise, then the noise; until a round gains "
            f"less than {self.tol:g}",
            {"n": self._weight, "factors": d, "share of the variance that is common": share},
            ("W is known up to a rotation: compare models by W'W",),
        )
