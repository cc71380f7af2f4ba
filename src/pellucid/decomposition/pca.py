r"""Principal component analysis: the few directions that hold most of the spread.

Model        x = mean + diag(scale) V'z + rest;  rows of V are d orthonormal directions
Objective    min over V of sum_i w_i |x_i - rebuilt x_i|^2, which is max of the variance of z = V x
Solution     the leading eigenvectors of S = Z'Z/(n - ddof), Z the centred (standardised) table;
             variance of z_k = l_k;  error = sum of the dropped |Z v|^2 = (n - ddof) sum_{k>d} l_k
Algorithm    one read of the rows for (n, mean, scatter) and an eigen decomposition, or another
             solver of ``spectrum``.    n p^2 / 2 + p^3
Density      N(mean, V'(L - s2 I)V + s2 I), s2 the mean of the dropped eigenvalues

References: Pearson (1901); Hotelling (1933); Tipping & Bishop (1999); Anderson (1963).
"""

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtri
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.core.algebra.shifted import Shifted
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.tensors import like
from pellucid.core.arrays.typing import Array, ArrayLike, Map, MaybeArray, Seed
from pellucid.core.loops import statistics
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Moments, Rows, Source, Statistic
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.decomposition import row_sums, spectrum
from pellucid.decomposition.dimension import check_components, enough, most_probable
from pellucid.decomposition.spectrum import Spectrum
from pellucid.decomposition.subspace import hoeffding_bound, spectral_bound

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized", "greedy")
NORMALIZERS = ("auto", "QR", "LU", "none")
FROM_SUMS = ("covariance_eigh", "greedy")
WIDE = 2000  # columns from which "auto" no longer makes the p x p matrix
SMALL = 500  # rows (or columns) up to which the whole SVD is taken: it is exact and cheap
INTRINSIC = 0.95  # share of the variance that counts as the intrinsic dimension in the card


class PCA(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Principal component analysis.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=None
        How many; between 0 and 1: as many as explain more than this share of the variance;
        "mle": Minka's most probable dimension; None: all that the table has.
    copy : ignored
        X is never changed.
    whiten : bool, default=False
        Divide the scores by their standard deviations.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized", "greedy"}, \
default="auto"
        "auto" takes the eigenvectors of the covariance where rows are many, the whole SVD for
        small tables, the randomised one for wide tables of which few components are wanted.
        "greedy" finds one direction at a time and keeps ``history_``. "arpack" and "randomized"
        know the leading eigenvalues only.
    tol : float, default=0.0
        Of "arpack".
    iterated_power : int or "auto", default="auto"
        Power rounds of "randomized".
    n_oversamples : int, default=10
        Further random vectors of "randomized".
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Between the power rounds of "randomized"; "auto" is "QR".
    random_state : int, RandomState, Generator or None
        Of "arpack" and "randomized".
    ddof : {0, 1}, default=1
        Variances are sums of squares divided by n - ddof.
    standardize : bool, default=False
        Divide the columns by their standard deviations (1/n) first. What follows is then in
        these working units, except ``inverse_transform``, ``get_covariance`` and ``score``.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Unit vectors; the entry of largest size in each is positive.
    mean_, scale_ : ndarray of shape (n_features,)
        Taken off, divided by (ones without ``standardize``).
    explained_variance_, explained_variance_ratio_, singular_values_ : of the components
    eigenvalues_ : ndarray
        The whole spectrum (the leading part for "arpack" and "randomized").
    loadings_ : ndarray of shape (n_features, n_components_)
        Correlation of every column with every component.
    reconstruction_error_ : float
        Total squared residual of the training rows.
    noise_variance_ : float
        Mean of the dropped eigenvalues.
    n_components_, n_samples_ : int
    history_ : History
        Only "greedy": one row per direction.

    Examples
    --------
    >>> from pellucid import PCA
    >>> model = PCA(1, ddof=0).fit([[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]])
    >>> model.eigenvalues_.round(9), model.components_.round(4)
    (array([4., 1.]), array([[0.7071, 0.7071]]))
    """

    _accepts_sparse = True
    _keeps_single = True

    fit_blocks, score = fit_blocks, row_sums.mean_log_density

    def __init__(
        self,
        n_components: float | Literal["mle"] | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Seed = None,
        ddof: int = 1,
        standardize: bool = False,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.ddof = ddof
        self.standardize = standardize

    @classmethod
    def from_components(cls, components: ArrayLike, *, mean: ArrayLike, scale: Any = None) -> Self:
        """A model of hand-chosen directions: ``inverse_transform(a)`` = mean + scale (a V).

        The directions need not be orthogonal or of length 1; ``transform`` gives the coefficients
        of the nearest point of their span.

        >>> model = PCA.from_components([[3.0, -3.0], [1.0, 1.0]], mean=[5.0, 4.0])
        >>> model.inverse_transform([[1.0, 1.0]])
        array([[9., 2.]])
        """
        V = check_array(components, dtype=np.float64, input_name="components")
        m = check_array(np.atleast_2d(mean), dtype=np.float64, input_name="mean")[0]
        s = np.ones(V.shape[1]) if scale is None else np.asarray(scale, dtype=np.float64)
        if m.shape != (V.shape[1],) or s.shape != m.shape or not (s > 0).all():
            need = f"one number per column ({V.shape[1]}), scale above 0"
            raise ValueError(f"mean and scale need {need}, got shapes {m.shape} and {s.shape}")
        model = cls(len(V))
        model.components_, model.mean_, model.scale_ = V, m, s
        model.n_components_, model.n_features_in_ = V.shape
        model._projection = np.linalg.pinv(V)
        return model

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._check_parameters()
        deferred = sample_weight is None and not issparse(X)
        rows = self._check_training(X, None, sample_weight, defer_finite=deferred)
        context = FitContext(self, X=X, sample_weight=sample_weight)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def _check_parameters(self) -> None:
        d = self.n_components
        check.boolean(whiten=self.whiten, standardize=self.standardize, copy=self.copy)
        check.one_of(SOLVERS, svd_solver=self.svd_solver)
        check.one_of(NORMALIZERS, power_iteration_normalizer=self.power_iteration_normalizer)
        check.non_negative(tol=self.tol)
        check.whole(n_oversamples=self.n_oversamples)
        if self.iterated_power != "auto":
            check.whole(at_least=0, iterated_power=self.iterated_power)
        if self.ddof not in (0, 1) or isinstance(self.ddof, bool):
            raise ValueError(f"ddof must be 0 or 1, got {self.ddof!r}")
        if isinstance(d, str):
            check.one_of(("mle",), n_components=d)
        elif isinstance(d, Real) and not isinstance(d, Integral):
            check.fraction(n_components=d)
        elif d is not None:
            check.whole(at_least=0, n_components=d)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        n, p = row_sums.count_rows(rows), self.n_features_in_
        solver = self._solver(rows, n, p)
        if solver in ("arpack", "randomized"):  # they see the rows there are, not repetitions
            n = min(n, rows.n_rows)
        most = min(n, p) - (solver == "arpack")
        check_components(self.n_components, most, n, p, solver)
        from_sums = solver in FROM_SUMS
        total = self._sums(rows, map_, whole=from_sums)
        if not total.weight > self.ddof:
            given = f"n_samples={total.weight:g}; one row has no variance"
            raise ValueError(f"ddof={self.ddof} needs more than {self.ddof} row(s), got {given}")
        squares = np.diag(total.scatter) if from_sums else total.scatter
        scale = self._scale(squares, total.weight)
        if not from_sums and isinstance(rows, Rows):
            rows = rows.double()
        with single_threaded_blas():
            found = self._directions(rows, total, scale, solver, min(n, p))
        self.n_samples_, self._solved_by = rows.n_rows, solver
        self._norms = row_sums.row_norms(rows, total.mean, scale)
        self._set(found, total, scale, squares / scale**2, min(n, p))

    def _solver(self, rows: Source, n: int, p: int) -> str:
        """The solver "auto" stands for; what the source allows."""
        solver, d = self.svd_solver, self.n_components
        in_memory = isinstance(rows, Rows)
        sparse = isinstance(rows, Rows) and issparse(rows.X)
        if solver == "auto":
            few = isinstance(d, Integral) and 1 <= int(d) < 0.8 * min(n, p)
            if not in_memory or ((n >= p or sparse) and p <= WIDE):
                return "covariance_eigh"
            if sparse:
                return "arpack" if d is None or few else "covariance_eigh"
            return "randomized" if few and min(n, p) > SMALL else "full"
        if not in_memory and solver not in FROM_SUMS:
            known = "svd_solver must be 'auto', 'covariance_eigh' or 'greedy'"
            raise ValueError(f"fit_blocks works from sums: {known}, got {solver!r}")
        if solver == "full" and sparse:
            raise TypeError("a sparse X needs another svd_solver: 'full' would make it dense")
        if solver in ("arpack", "randomized") and isinstance(d, str):
            why = "it does not know the whole spectrum"
            raise ValueError(
                f"n_components={d!r} cannot be a string with svd_solver={solver!r}: {why}"
            )
        if solver in ("arpack", "randomized") and not (d is None or isinstance(d, Integral)):
            why = f"got {d!r}: it does not know the whole spectrum"
            raise ValueError(f"svd_solver={solver!r} needs a whole number n_components, {why}")
        if solver in ("arpack", "randomized") and d == 0:
            limit = f"must be between 1 and min(n_samples, n_features)={min(n, p)}"
            raise ValueError(f"n_components=0 {limit} with svd_solver={solver!r}")
        if solver == "arpack" and min(n, p) < 2:
            raise ValueError(f"svd_solver='arpack' needs n_samples, n_features >= 2, got {n} x {p}")
        return solver

    def _sums(self, rows: Source, map_: Map, *, whole: bool) -> Moments:
        """Mean and scatter of the columns, or their sums of squares alone."""
        spread = Statistic(row_sums.leaf_spread, row_sums.merge_spread)
        moments = Statistic(row_sums.leaf_moments, statistics.merge_moments)
        with np.errstate(all="ignore"):
            total = statistics.reduce_rows(moments if whole else spread, rows, map_)
        if not (np.isfinite(total.mean).all() and np.isfinite(total.scatter).all()):
            if isinstance(rows, Rows) and statistics.is_unit(rows.w):
                self._refuse_nonfinite(rows.X)
            row_sums.refuse_overflow(np.inf)
        return total

    def _scale(self, squares: Array, weight: float) -> Array:
        if not self.standardize:
            return np.ones(len(squares))
        flat = np.flatnonzero(squares == 0)
        if len(flat):
            raise ValueError(f"{self._column_name(flat[0])} is constant: it cannot be standardized")
        return np.sqrt(squares / weight)

    def _directions(
        self, rows: Source, total: Moments, scale: Array, solver: str, count: int
    ) -> Spectrum:
        d = self.n_components
        if solver in FROM_SUMS:
            scatter = total.scatter / np.outer(scale, scale)
            return (spectrum.by_greed if solver == "greedy" else spectrum.by_eigen)(scatter, count)
        assert isinstance(rows, Rows)
        table = Shifted(rows.X, total.mean, scale, rows.w)
        if solver == "full":
            return spectrum.by_svd(table, count)
        spread = float((total.scatter / scale**2).sum())
        rng = generator(self.random_state)
        if solver == "arpack":
            d = count - 1 if d is None else int(d)
            return spectrum.by_lanczos(table, d, spread, float(self.tol), rng)
        d = count if d is None else int(d)
        power, normalizer = self.iterated_power, self.power_iteration_normalizer
        if power == "auto":
            power = 7 if d < 0.1 * count else 4
        how: dict[str, Any] = {"extra": self.n_oversamples, "power": int(power)}
        how["normalizer"] = "QR" if normalizer == "auto" else normalizer
        return spectrum.by_random_range(table, d, spread, rng=rng, **how)

    def _chosen(self, found: Spectrum, weight: float) -> int:
        """How many components to keep."""
        d = self.n_components
        if d is None:
            return len(found.V)
        if isinstance(d, str):
            return most_probable(found.squares / (weight - self.ddof), weight)
        return int(d) if isinstance(d, Integral) else enough(d, found.squares, found.total)

    def _set(
        self, found: Spectrum, total: Moments, scale: Array, squares: Array, count: int
    ) -> None:
        d, p = self._chosen(found, total.weight), len(scale)
        free = total.weight - self.ddof
        kept = found.squares[:d]
        self.components_ = found.V[:d].copy()
        self._projection = np.ascontiguousarray(self.components_.T)
        self.mean_, self.scale_ = total.mean, scale
        self.eigenvalues_ = found.squares / free
        self.explained_variance_ = kept / free
        self.explained_variance_ratio_ = kept / found.total if found.total > 0 else np.zeros(d)
        self.singular_values_ = np.sqrt(kept)
        dropped = max(found.total - float(kept.sum()), 0.0)
        if len(found.squares) == count:  # the whole spectrum: no difference of large numbers
            dropped = float(found.squares[d:].sum())
        self.reconstruction_error_ = dropped
        self.noise_variance_ = dropped / free / (count - d) if d < count else 0.0
        self.n_components_ = d
        share = np.sqrt(np.divide(1.0, squares, out=np.zeros(p), where=squares > 0))
        self.loadings_ = self.components_.T * np.sqrt(kept) * share[:, None]
        self._weight, self._count = total.weight, count
        self.__dict__.pop("history_", None)
        if found.history is not None:
            self.history_ = found.history

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def _by_leaves(self, X: ArrayLike, function: Callable[..., Any]) -> Array:
        """``function`` of the rows in working units, leaf by leaf in threads."""
        rows, mean, scale = self._check_input(X), self.mean_, self.scale_
        return row_sums.by_leaves(rows, lambda part: function((part - mean) / scale))

    def _transform_tensor(self, X: Any) -> Any:
        A = self._projection / self._deviations() if self.whiten else self._projection
        return ((X - like(self.mean_, X)) / like(self.scale_, X)) @ like(A, X)

    def transform(self, X: ArrayLike) -> Any:
        """Scores of the rows, shape (n, n_components_)."""
        check_is_fitted(self)
        A = self._projection / self._deviations() if self.whiten else self._projection
        return self._by_leaves(X, lambda Z: Z @ A)

    def _deviations(self) -> Array:
        """Standard deviations of the scores; those of directions without spread are not 0."""
        s = np.sqrt(self.explained_variance_)
        return np.maximum(s, np.finfo(np.float64).eps)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The points of given scores, in the units of the training table."""
        check_is_fitted(self)
        A = row_sums.checked_scores(X, self.n_components_)
        V = self.components_ * self._deviations()[:, None] if self.whiten else self.components_
        return self.mean_ + A @ V * self.scale_

    def reconstruction_errors(self, X: ArrayLike) -> Array:
        """Squared distance of every row from what its scores rebuild, in working units."""
        check_is_fitted(self)
        P, V = self._projection, self.components_
        return self._by_leaves(X, lambda Z: ((Z - (Z @ P) @ V) ** 2).sum(axis=1))

    def projection_bound(self, X: ArrayLike, *, radius: float, delta: float = 0.05) -> float:
        """A bound on the expected squared residual of a new row, from rows NOT used in the fit.

        mean residual + radius^2 sqrt(ln(1/delta)/(2 n)) holds with probability 1 - delta if every
        row lies within ``radius`` of the mean (in working units).
        """
        check_is_fitted(self)
        check.positive(radius=radius)
        check.fraction(delta=delta)
        self._check_radius(self._by_leaves(X, lambda Z: (Z**2).sum(axis=1)), radius)
        return hoeffding_bound(self.reconstruction_errors(X), radius, delta)

    def spectrum_bound(self, *, radius: float, delta: float = 0.05) -> float:
        """The same from the training spectrum alone (Shawe-Taylor et al. 2005); usually loose.

        Of tables in memory of up to 4 million cells sum |x_i|^4 is known; of larger ones its bound
        radius^2 sum |x_i|^2 is used.
        """
        self._check_fitted_to_rows("spectrum_bound")
        check.positive(radius=radius)
        check.fraction(delta=delta)
        n = self._weight
        values = self.eigenvalues_ * (n - self.ddof) / n
        total = self._total() * (n - self.ddof) / n
        if len(values) < self._count:  # what is not known lies beyond the components
            values = np.append(values, max(total - float(values.sum()), 0.0))
        fourth = radius**2 * n * total
        if self._norms is not None:
            self._check_radius(np.array([self._norms[1]]), radius)
            fourth = self._norms[0]
        return spectral_bound(values, self.n_components_, n, fourth, radius, delta)

    @staticmethod
    def _check_radius(squares: Array, radius: float) -> None:
        if squares.max() > radius**2 * (1 + 1e-12):
            far = float(np.sqrt(squares.max()))
            raise ValueError(f"radius={radius:g} is too small: a row lies {far:.6g} from the mean")

    def eigenvalue_intervals(self, confidence: float = 0.95) -> Array:
        """l exp(-+ z sqrt(2/n)) for every eigenvalue, shape (r, 2); for many normal rows."""
        self._check_fitted_to_rows("eigenvalue_intervals")
        check.fraction(confidence=confidence)
        half = ndtri((1 + confidence) / 2) * np.sqrt(2 / self._weight)
        return self.eigenvalues_[:, None] * np.exp([-half, half])

    def _check_fitted_to_rows(self, what: str) -> None:
        check_is_fitted(self)
        if not hasattr(self, "eigenvalues_"):
            raise ValueError(f"{what} needs a model fitted to rows, not from_components")

    def get_covariance(self) -> Array:
        """The covariance of the model in the units of the training table, (p, p)."""
        self._check_fitted_to_rows("get_covariance")
        V, s2 = self.components_, self.noise_variance_
        C = V.T * np.maximum(self.explained_variance_ - s2, 0.0) @ V
        C[np.diag_indices_from(C)] += s2
        return C * np.outer(self.scale_, self.scale_)

    def get_precision(self) -> Array:
        """The inverse of ``get_covariance()``; its singular form is refused."""
        V, l_kept, rest, _ = self._gaussian("get_precision")
        P = V.T * (1 / l_kept - rest) @ V
        P[np.diag_indices_from(P)] += rest
        return P / np.outer(self.scale_, self.scale_)

    def _gaussian(self, what: str) -> tuple[Array, Array, float, float]:
        """V, its variances, 1/s2 of the rest and log |C|, in working units."""
        self._check_fitted_to_rows(what)
        V, s2 = self.components_, self.noise_variance_
        d, p = V.shape
        kept = np.maximum(self.explained_variance_, s2)
        tiny = p * np.finfo(np.float64).eps * max(float(kept.max(initial=0.0)), s2)
        flat = int((kept <= tiny).sum()) + (p - d if s2 <= tiny else 0)
        if flat:
            normal = f"the fitted normal is flat in {flat} of {p} directions"
            raise ValueError(f"{normal}, so there is no density; keep fewer components")
        log_det = float(np.log(kept).sum() + (p - d) * np.log(s2) if p > d else np.log(kept).sum())
        return V, kept, 1 / s2 if p > d else 0.0, log_det

    def score_samples(self, X: ArrayLike) -> Array:
        """Log-density of every row under the fitted normal distribution."""
        check_is_fitted(self)
        V, kept, rest, log_det = self._gaussian("score_samples")
        constant = log_det + 2 * np.log(self.scale_).sum() + V.shape[1] * np.log(2 * np.pi)
        return self._by_leaves(X, partial(row_sums.log_density, V, kept, rest, constant))

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        d, p = self.n_components_, self.n_features_in_
        shapes: dict[str, tuple[int, ...]] = {"components_": (d, p), "_projection": (p, d)}
        shapes |= {"mean_": (p,), "scale_": (p,)}
        return shapes | ({"explained_variance_": (d,)} if hasattr(self, "eigenvalues_") else {})

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        check_is_fitted(self)
        d, p = self.components_.shape
        units = "standardised" if (self.scale_ != 1).any() else "centred"
        representation = f"x = mean + scores times directions ({d}) of the {units} columns + rest"
        if not hasattr(self, "eigenvalues_"):
            given = "none: the directions were given"
            return Card(representation, given, "none", {"components": d})
        reached = np.cumsum(self.eigenvalues_) / max(self._total(), 1e-300)
        most = np.searchsorted(reached, INTRINSIC - 1e-12) + 1
        intrinsic = int(most) if most <= len(reached) else None
        notes = []
        if len(self.eigenvalues_) < self._count:
            notes.append("only the leading eigenvalues are known")
        if self._solved_by == "randomized":
            notes.append("random projections: the directions are approximate")
        kept = float(self.explained_variance_ratio_.sum())
        return Card(
            representation,
            "squared distance of the rows from what their scores rebuild = "
            f"{self.reconstruction_error_:.6g} (no {d} directions leave less)",
            f"{HOW[self._solved_by]}; variances are sums of squares over n - {self.ddof}",
            {
                "n": self._weight,
                "ambient dimension": p,
                f"intrinsic dimension ({INTRINSIC:.0%} of the variance)": intrinsic,
                "components": d,
                "share of the variance": kept,
                "noise variance": self.noise_variance_,
            },
            ("standardised by the 1/n standard deviation",) if units == "standardised" else (),
            tuple(notes),
        )

    def _total(self) -> float:
        """The variance of all columns together."""
        free = self._weight - self.ddof
        return float(self.explained_variance_.sum()) + self.reconstruction_error_ / free


HOW = {
    "covariance_eigh": "eigenvectors of the covariance matrix: exact",
    "full": "singular value decomposition of the centred table: exact",
    "arpack": "Lanczos iteration for the leading directions",
    "randomized": "singular value decomposition of a random projection",
    "greedy": "one direction at a time by power iteration with repeated squaring: exact",
}
