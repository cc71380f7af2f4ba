r"""Probabilistic principal components: a normal density with few directions and round noise.

Model        z ~ N(0, I_d),   x | z ~ N(W z + mu, s2 I),   so   x ~ N(mu, C),  C = W W' + s2 I
Likelihood   l = -n/2 [m log 2 pi + log |C| + tr(C^-1 S)],  S the 1/n covariance of m columns
Closed form  S = Q L Q':  s2 = mean of the m - d smallest eigenvalues, W = Q_d (L_d - s2 I)^(1/2)
EM           M = W'W + s2 I;   W+ = S W (s2 I + M^-1 W'S W)^-1;   s2+ = tr(S - S W M^-1 W+')/m
Posterior    z | x ~ N(M^-1 W'(x - mu), s2 M^-1)
Freedom      W R has the same C for every rotation R: models are compared by W W'. Here R is such
             that the columns of W are orthogonal, the longest first (M is then diagonal: l_k).

Both solvers work on (n, mean, scatter), so one read of the rows is all they need: n m^2/2.
NaN cells are summed out by EM (``probabilistic_missing``), which then reads the rows every round.
As s2 -> 0 the posterior mean becomes the orthogonal projection of PCA.

References: Tipping & Bishop (1999), Probabilistic principal component analysis; Minka (2000).
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.gaps import filled
from pellucid.core.arrays.typing import Array, ArrayLike, Map, MaybeArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Moments, Source, Statistic, merge_moments, reduce_rows
from pellucid.core.readable import readable
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.decomposition import row_sums
from pellucid.decomposition.dimension import most_probable
from pellucid.decomposition.probabilistic_missing import (
    GapState,
    Plane,
    expect,
    gap_step,
    given,
    latent_covariances,
    repair,
)
from pellucid.decomposition.row_sums import by_leaves, leaf_moments, log_density
from pellucid.decomposition.spectrum import by_eigen, with_signs

LOG_2PI = float(np.log(2 * np.pi))


@readable
class Latent(NamedTuple):
    """What is known of z when x is: a mean for every row, one covariance for all.

    >>> Latent(np.zeros((3, 1)), np.eye(1)).means.shape
    (3, 1)
    """

    means: Array  # (n, d)
    covariance: Array  # (d, d)


class Loadings(NamedTuple):
    """W and s2; the state of EM."""

    W: Array  # (m, d)
    noise: float  # s2

    @property
    def covariance(self) -> Array:
        C = self.W @ self.W.T
        C[np.diag_indices_from(C)] += self.noise
        return C


def closed_form(values: Array, V: Array, d: int) -> Loadings:
    """The maximum of the likelihood; V (m, m) unit rows with the eigenvalues of S, falling.

    >>> closed_form(np.array([5.0, 1.0, 1.0]), np.eye(3), 1)
    Loadings(W=array([[2.],
           [0.],
           [0.]]), noise=1.0)
    """
    s2 = float(values[d:].mean())
    return Loadings(V[:d].T * np.sqrt(np.maximum(values[:d] - s2, 0.0)), s2)


def em_start(S: Array, d: int, rng: Rng) -> Loadings:
    """Random loadings of the size of the data."""
    s2 = float(np.trace(S)) / len(S)
    return Loadings(rng.standard_normal((len(S), d)) * np.sqrt(s2 / d), s2)


def em_step(S: Array, state: Loadings) -> tuple[Loadings, float]:
    """One round of EM; the gap is the relative change of C."""
    W, s2 = state
    eye = np.eye(W.shape[1])
    SW = S @ W  # (m, d)
    M = W.T @ W + s2 * eye
    new_W = np.linalg.solve(s2 * eye + np.linalg.solve(M, W.T @ SW).T, SW.T).T
    fitted = float((np.linalg.solve(M, SW.T) * new_W.T).sum())
    new = Loadings(np.asarray(new_W, dtype=np.float64), (float(np.trace(S)) - fitted) / len(S))
    change = new_W @ new_W.T - W @ W.T
    change[np.diag_indices_from(change)] += new.noise - s2
    return new, float(np.linalg.norm(change) / np.linalg.norm(new.covariance))


def log_likelihood(S: Array, state: Loadings, n: float) -> float:
    """l of the model for n rows with the 1/n covariance S about their mean."""
    W, s2 = state
    m, d = W.shape
    M = W.T @ W + s2 * np.eye(d)
    log_det = float(np.linalg.slogdet(M)[1]) + (m - d) * np.log(s2)
    trace = (np.trace(S) - float((np.linalg.solve(M, W.T) * (S @ W).T).sum())) / s2
    return float(-n / 2 * (m * LOG_2PI + log_det + trace))


def principal_axes(state: Loadings) -> Loadings:
    """The same model with orthogonal columns of W, the longest first, signs settled."""
    U, lengths, _ = np.linalg.svd(state.W, full_matrices=False)
    return Loadings(with_signs(U.T).T * lengths, state.noise)


class ProbabilisticPCA(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Principal components as a density: x = W z + mu + noise.

    Cells may be NaN (missing at random): then the observed likelihood is climbed by EM whatever
    the solver, ``transform`` and ``score_samples`` use the observed cells, ``impute`` fills them.

    Parameters
    ----------
    n_components : int or "evidence", default=1
        d, below the number of columns; "evidence": the most probable one (Minka).
    solver : {"closed_form", "em"}, default="closed_form"
        By eigenvectors, or by expectation-maximisation.
    max_iter, tol : default=1000, 1e-8
        Of "em" and of rows with NaN: stop when the relative change of C = W W' + s2 I is at most
        ``tol``.
    random_state : int, RandomState, Generator or None
        Where "em" starts.

    Attributes
    ----------
    loadings_ : ndarray of shape (n_features, n_components_)
        W; its columns are orthogonal, the longest first.
    noise_variance_ : float
        s2.
    mean_ : ndarray of shape (n_features,)
    covariance_ : ndarray of shape (n_features, n_features)
        C = W W' + s2 I.
    log_likelihood_ : float
        Of the training rows.
    eigenvalues_ : ndarray of shape (n_features,)
        Of the 1/n covariance of the columns.
    n_components_, n_samples_ : int
    n_iter_ : int
        Rounds of "em"; 1 in closed form.
    history_ : History
        Only of EM: the log-likelihood after every round; it never falls.

    Examples
    --------
    >>> from pellucid import ProbabilisticPCA
    >>> X = [[1, 2, 0], [2, 1, 1], [3, 5, 2], [4, 3, 3], [5, 6, 9]]
    >>> model = ProbabilisticPCA(1).fit(X)
    >>> round(model.noise_variance_, 6), round(model.log_likelihood_, 6)
    (0.704149, -26.133548)
    >>> model.posterior([[3, 3, 3]]).means.round(3)
    array([[-0.045]])
    """

    _accepts_sparse = True
    _accepts_nan = True

    fit_blocks, score = fit_blocks, row_sums.mean_log_density

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        solver: str = "closed_form",
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
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
        check.one_of(("closed_form", "em"), solver=self.solver)
        check.whole(max_iter=self.max_iter)
        check.non_negative(tol=self.tol)
        if isinstance(self.n_components, str):
            check.one_of(("evidence",), n_components=self.n_components)
        else:
            check.whole(n_components=self.n_components)

    def _fit_sums(self, rows: Source, map_: Map, **data: Any) -> None:
        with np.errstate(all="ignore"):
            total = reduce_rows(Statistic(leaf_moments, merge_moments), rows, map_)
        if not np.isfinite(total.scatter).all():
            table, seen = filled(rows, map_, self._feature_names())
            if (seen.weight == total.weight).all():
                raise ValueError("the squares of X overflow float64; scale the columns down")
            self._fit_gaps(rows, table, map_, **data)
            return
        S = total.scatter / total.weight
        with single_threaded_blas():
            found = by_eigen(S, len(S))
            d = self._dimension(found.squares, total.weight)
            steps, attributes = self.max_iter, partial(self._complete, total, S)
            steps = steps if self.solver == "em" else 0
            context = FitContext(self, max_steps=steps, attributes=attributes, **data)
            self.__dict__.pop("history_", None)
            self.n_iter_ = 1
            if self.solver == "em":
                state = self._by_em(S, d, total.weight, context)
            else:
                state = closed_form(found.squares, found.V, d)
                context.end(state)
            self._set(attributes(state))
        self.eigenvalues_, self.n_samples_, self._weight = found.squares, rows.n_rows, total.weight

    def _by_em(self, S: Array, d: int, n: float, context: FitContext) -> Loadings:
        def record(state: Loadings) -> dict[str, float]:
            return {"objective": log_likelihood(S, state, n), "noise_variance": state.noise}

        start = em_start(S, d, generator(self.random_state))
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol}
        step = partial(em_step, S)
        return self._iterate(step, start, record=record, context=context, **limits).state

    def _fit_gaps(self, rows: Source, table: Source, map_: Map, **data: Any) -> None:
        """EM over the missing cells; it starts from the columns' means in the gaps."""
        if isinstance(self.n_components, str):
            raise ValueError("n_components='evidence' needs rows without missing cells")
        total = reduce_rows(Statistic(leaf_moments, merge_moments), table, map_)
        S = total.scatter / total.weight
        with single_threaded_blas():
            found = by_eigen(S, len(S))
            d = self._dimension(found.squares, total.weight)
            start = Plane(total.mean, *closed_form(found.squares, found.V, d))
            context = FitContext(self, max_steps=self.max_iter, attributes=self._gap_state, **data)
            limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol}
            limits["context"] = context
            limits["record"] = GapState.row
            begin = GapState(start, expect(rows, map_, start), found.squares)
            state: GapState = self._iterate(partial(gap_step, rows, map_), begin, **limits).state
            self._set(self._gap_state(state))
        self.eigenvalues_, self.n_samples_ = state.eigenvalues, rows.n_rows
        self._weight = total.weight

    def _dimension(self, values: Array, n: float) -> int:
        """How many directions, such that some noise is left."""
        m, d = len(values), self.n_components
        if isinstance(d, str):
            if m < 2 or n <= m:
                given = f"n_samples={n:g} and n_features={m}"
                raise ValueError(f"'evidence' needs more rows than columns, 2 columns, got {given}")
            return most_probable(values, n)
        if d >= m:
            most = f"the number of columns (n_features={m})"
            raise ValueError(f"n_components must be below {most}: noise needs a direction; got {d}")
        spread = int((values > m * EPS * values[0]).sum()) if values[0] > 0 else 0
        if d >= spread:
            most = f"the {spread} directions in which the rows differ (n_samples={n:g})"
            raise ValueError(f"n_components must be below {most}, or noise variance is 0; got {d}")
        return int(d)

    def _complete(self, total: Moments, S: Array, state: Loadings) -> dict[str, Any]:
        """The fitted attributes as if the fit had stopped at ``state``."""
        return self._attributes(total.mean, log_likelihood(S, state, total.weight), state)

    def _gap_state(self, state: GapState) -> dict[str, Any]:
        """The same of a fit with missing cells."""
        mean, W, s2 = state.plane
        return self._attributes(mean, state.sums.value, Loadings(W, s2))

    def _attributes(self, mean: Array, value: float, state: Loadings) -> dict[str, Any]:
        W, s2 = principal_axes(state)
        variances = (W**2).sum(axis=0) + s2  # (d,) of x along the columns of W
        found = {"loadings_": W, "noise_variance_": s2, "mean_": mean, "log_likelihood_": value}
        found |= {"n_components_": W.shape[1], "_projection": W / variances}
        return {**found, "_variances": variances}

    def _set(self, found: dict[str, Any]) -> None:
        self.loadings_, self.noise_variance_ = found["loadings_"], found["noise_variance_"]
        self.mean_, self.log_likelihood_ = found["mean_"], found["log_likelihood_"]
        self.n_components_ = found["n_components_"]
        self._projection, self._variances = found["_projection"], found["_variances"]

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    @property
    def covariance_(self) -> Array:
        """C = W W' + s2 I."""
        return Loadings(self.loadings_, self.noise_variance_).covariance

    def posterior(self, X: ArrayLike) -> Latent:
        """The normal distribution of z given each row: means (n, d) and their covariance (d, d).

        Rows with NaN know less of z: if there are any, the covariances are (n, d, d).
        """
        check_is_fitted(self)
        rows = self._check_input(X)
        means, one = self._means(rows), np.diag(self.noise_variance_ / self._variances)
        if not np.isnan(rows.data if issparse(rows) else rows).any():
            return Latent(means, one)
        return Latent(means, by_leaves(rows, partial(latent_covariances, self._plane())))

    def _plane(self) -> Plane:
        return Plane(self.mean_, self.loadings_, self.noise_variance_)

    def _means(self, X: ArrayLike) -> Array:
        A, mean, plane = self._projection, self.mean_, self._plane()

        def leaf(rows: Array) -> Array:
            return repair((rows - mean) @ A, rows, lambda gaps: given(plane, gaps).z)

        return by_leaves(X, leaf)

    def impute(self, X: ArrayLike) -> Array:
        """X with every NaN replaced by its mean given the observed cells of the row."""
        check_is_fitted(self)
        plane = self._plane()

        def leaf(rows: Array) -> Array:
            return np.where(np.isnan(rows), given(plane, rows).D + plane.mean, rows)

        with single_threaded_blas():
            return by_leaves(self._check_input(X), leaf)

    def transform(self, X: ArrayLike) -> Any:
        """The posterior means of z, (n, n_components_): shrunken, not the scores of PCA."""
        check_is_fitted(self)
        return self._means(self._check_input(X))

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The mean of x given z: mu + W z."""
        check_is_fitted(self)
        return self.mean_ + row_sums.checked_scores(X, self.n_components_) @ self.loadings_.T

    def score_samples(self, X: ArrayLike) -> Array:
        """The log-density of every row."""
        check_is_fitted(self)
        m, d = self.loadings_.shape
        s2, variances, mean = self.noise_variance_, self._variances, self.mean_
        V = self._directions()
        constant = float(np.log(variances).sum()) + (m - d) * np.log(s2) + m * LOG_2PI
        plane = self._plane()

        def leaf(rows: Array) -> Array:
            found = log_density(V, variances, 1 / s2, constant, rows - mean)
            return repair(found, rows, lambda gaps: given(plane, gaps).log_density)

        return by_leaves(self._check_input(X), leaf)

    def _directions(self) -> Array:
        """Unit rows along the columns of W; one without length stands for any, so it may be 0."""
        lengths = np.sqrt((self.loadings_**2).sum(axis=0))
        return (self.loadings_ / np.where(lengths > 0, lengths, 1.0)).T

    def sample(self, n_samples: int = 1, *, random_state: Seed = None) -> Array:
        """Draw rows from the model: z, then W z + mu, then the noise."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng, (m, d) = generator(random_state), self.loadings_.shape
        z, e = rng.standard_normal((n_samples, d)), rng.standard_normal((n_samples, m))
        return self.mean_ + z @ self.loadings_.T + np.sqrt(self.noise_variance_) * e

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        m, d = self.n_features_in_, self.n_components_
        return {"loadings_": (m, d), "_projection": (m, d), "_variances": (d,), "mean_": (m,)}

    def card(self) -> Card:
        """The model, its likelihood and how it was found."""
        check_is_fitted(self)
        m, d = self.loadings_.shape
        how = "closed form: eigenvectors of the 1/n covariance, which is the maximum"
        if hasattr(self, "history_"):
            how = f"EM, {self.n_iter_} rounds to a relative change of C of {self.tol:g}"
        share = 1 - m * self.noise_variance_ / float(np.trace(self.covariance_))
        return Card(
            f"x ~ N(mu, W W' + s2 I): {d} directions of z ~ N(0, I), noise of variance s2 in all "
            f"{m} columns",
            f"log-likelihood = {self.log_likelihood_:.6g}",
            how,
            {
                "n": self._weight,
                "components": d,
                "noise variance": self.noise_variance_,
                "parameters": m * d - d * (d - 1) // 2 + m + 1,
                "share of the variance not noise": share,
            },
            ("W is known up to a rotation: compare models by W W'",),
        )
