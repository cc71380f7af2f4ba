r"""Kernel principal components: PCA of the features a kernel stands for.

Model        phi(x), known by k(x, z) = phi(x).phi(z) alone; centred in feature space:
             Kc = K - 1 K - K 1 + 1 K 1,   1 the n x n matrix of 1/n
Objective    directions of largest variance of phi;  v = sum_i a_i phi(x_i) lies in their span
Solution     Kc = A diag(l) A':  score j of row i is sqrt(l_j) A_ij;  of a new row x
             sum_i (k(x, x_i) centred) A_ij / sqrt(l_j).  The variance of score j is l_j/n.
Pre-images   no x need have given scores; ``inverse_transform`` is kernel ridge regression of the
             rows on their scores.
A similarity that is no kernel has negative eigenvalues: they have no direction in any space of
real numbers and get the score 0; the card says how large they are.

n^2 kernel values and n^3 for all components; for few of many rows a block Krylov space, and
Lanczos where that is not enough.

Reference: Schoelkopf, Smola & Mueller (1998).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import cosine_similarity, pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.algebra.eigen import largest_pairs
from pellucid.core.algebra.graph import product, row_chunks
from pellucid.core.algebra.krylov import leading
from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Seed
from pellucid.core.functions.kernels import Kernel, gamma_number, kernel_from
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.decomposition.row_sums import checked_scores
from pellucid.decomposition.spectrum import with_signs

KERNELS = ("linear", "poly", "rbf", "sigmoid", "cosine", "precomputed")
SMALL = 600  # rows up to which all eigenvectors are computed
NOTHING = 1e-12  # share of the largest eigenvalue that is rounding


class Eigenmap(NamedTuple):
    """Leading eigenpairs of the centred Gram matrix."""

    values: Array  # (d,) falling, never negative
    vectors: Array  # (n, d)
    negative: float  # the most negative eigenvalue seen, by the largest


class Centre(NamedTuple):
    """What centring in feature space takes off; K itself is never changed."""

    columns: Array  # (n,) mean of k(x_i, .) over the training rows
    all: float

    def of(self, K: Array) -> Array:
        """K (m, n) between other rows and the training rows, centred."""
        return K - K.mean(axis=1, keepdims=True) - self.columns + self.all


def centre_of(K: Array) -> Centre:
    """Means of a Gram matrix.

    >>> centre_of(np.array([[1.0, 0.0], [0.0, 3.0]]))
    Centre(columns=array([0.5, 1.5]), all=1.0)
    """
    columns = K.mean(axis=0)
    return Centre(columns, float(columns.mean()))


def centred_product(K: Array) -> Callable[[Array], Array]:
    """F -> H K H F with H = I - 1/n, without a centred copy of K.

    >>> centred_product(np.diag([2.0, 4.0]))(np.array([[1.0], [0.0]]))
    array([[ 1.5],
           [-1.5]])
    """
    times = product(K)

    def centred(F: Array) -> Array:
        out = times(F - F.mean(axis=0))
        out -= out.mean(axis=0)
        return out

    return centred


def eigenmap(K: Array, d: int, dense: bool, tol: float, max_iter: int | None) -> Eigenmap:
    """The d leading eigenpairs of a Gram matrix, centred."""
    n = len(in_range(K, "the kernel"))
    if dense or d >= n // 3:
        first = 0 if n <= SMALL else n - d  # all values where they are cheap: negative ones show
        values, V = largest_pairs(centre_of(K).of(K), n - first)
    else:
        times = centred_product(K)
        found = leading(times, n, d)
        values, V = by_lanczos(times, n, d, tol, max_iter) if found is None else found
    order = np.argsort(-values, kind="stable")
    largest = max(float(values[order[0]]), 0.0)
    negative = -min(float(values.min()), 0.0) / largest if largest > 0 else 0.0
    values, V = values[order[:d]], V[:, order[:d]]
    values = np.where(values > NOTHING * largest, values, 0.0)
    return Eigenmap(values, with_signs(V.T).T, negative)


def by_lanczos(
    times: Callable[[Array], Array], n: int, d: int, tol: float, max_iter: int | None
) -> tuple[Array, Array]:
    """The d largest eigenpairs, one product at a time."""
    operator = LinearOperator(
        (n, n), matvec=lambda v: times(np.reshape(v, (-1, 1)))[:, 0], dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(n)
    return eigsh(operator, d, which="LA", v0=start, tol=tol, maxiter=max_iter)


class KernelPCA(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Principal components in the space of a kernel.

    Parameters
    ----------
    n_components : int or None, default=None
        None: all with a positive eigenvalue.
    kernel : str, Kernel or callable, default="linear"
        "linear", "poly", "rbf", "sigmoid", "cosine"; "precomputed" (X is a matrix of similarities);
        a kernel of ``pellucid.kernel``; or a function of two rows.
    gamma : float or None, default=None
        Of "rbf", "poly" and "sigmoid"; None is 1/n_features.
    degree, coef0 : default=3, 1
        Of "poly"; ``coef0`` of "sigmoid" too.
    kernel_params : dict or None, default=None
        Keywords of a function.
    alpha : float, default=1.0
        Ridge penalty of the pre-images.
    fit_inverse_transform : bool, default=False
        Learn ``inverse_transform``.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        "auto": all of up to 600 rows; few components of more by a block Krylov space or Lanczos.
        "arpack" and "randomized" are "auto" for any number of rows.
    tol, max_iter : default=0, None
        Of Lanczos.
    iterated_power, random_state : ignored
        Nothing is random.
    remove_zero_eig : bool, default=False
        Drop components without spread (always if ``n_components`` is None).
    copy_X, n_jobs : ignored
        X is never changed.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centred Gram matrix, falling.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        The entry of largest size in each is positive.
    X_fit_ : the training rows
    gamma_ : float
    dual_coef_, X_transformed_fit_ : with ``fit_inverse_transform``
        The ridge weights of the pre-images, and the scores of the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelPCA
    >>> angle = np.linspace(0, 6, 12)
    >>> rings = np.vstack([np.c_[np.cos(angle), np.sin(angle)] * r for r in (1, 4)])
    >>> scores = KernelPCA(1, kernel="rbf", gamma=0.5).fit_transform(rings)[:, 0]
    >>> bool(min(scores[:12]) > max(scores[12:]))
    True
    """

    _accepts_sparse = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: str | Kernel | Callable[..., float] = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict | None = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Seed = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check_parameters(self) -> None:
        if isinstance(self.kernel, str) or not callable(self.kernel):
            check.one_of(KERNELS, kernel=self.kernel)
        check.one_of(("auto", "dense", "arpack", "randomized"), eigen_solver=self.eigen_solver)
        check.boolean(fit_inverse_transform=self.fit_inverse_transform, copy_X=self.copy_X)
        check.boolean(remove_zero_eig=self.remove_zero_eig)
        check.non_negative(alpha=self.alpha, degree=self.degree, tol=self.tol)
        if self.iterated_power != "auto":
            check.whole(at_least=0, iterated_power=self.iterated_power)
        if not isinstance(self.coef0, int | float | np.number) or self.coef0 != self.coef0:
            raise ValueError(f"coef0 must be a number, got {self.coef0!r}")
        check.whole(**check.given(n_components=self.n_components))
        check.whole(**check.given(max_iter=self.max_iter))
        if self.kernel_params is not None and not isinstance(self.kernel_params, dict):
            raise ValueError(f"kernel_params must be a dict or None, got {self.kernel_params!r}")
        if self.fit_inverse_transform and self._precomputed:
            raise ValueError(
                "Cannot fit_inverse_transform with a precomputed kernel: it needs the rows"
            )

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._check_parameters()
        A = self._check_training(X).X
        if self._precomputed and A.shape[0] != A.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square matrix, got shape {A.shape}")
        if self.fit_inverse_transform and issparse(A):
            raise ValueError("fit_inverse_transform=True needs a dense X, got a sparse matrix")
        context = FitContext(self, X=X)
        self.gamma_ = gamma_number(self.gamma, A.shape[1], 1.0)
        self.X_fit_ = A.copy()  # the caller may change its own
        with single_threaded_blas():
            K = self._gram(A, A)
            self._centre = centre_of(K)
            self._set(eigenmap(K, *self._how(A.shape[0])))
            if self.fit_inverse_transform:
                self._learn_inverse(A)
        context.end()
        return self

    def _how(self, n: int) -> tuple[int, bool, float, int | None]:
        d = n if self.n_components is None else min(int(self.n_components), n)
        dense = self.eigen_solver == "dense" or (self.eigen_solver == "auto" and n <= SMALL)
        return d, dense, float(self.tol), self.max_iter

    def _set(self, found: Eigenmap) -> None:
        keep = np.full(len(found.values), True)
        if self.remove_zero_eig or self.n_components is None:
            keep = found.values > 0
        if not keep.any():
            n = len(found.vectors)
            raise ValueError(f"the rows do not differ under this kernel (n_samples={n})")
        self.eigenvalues_ = found.values[keep]
        self.eigenvectors_ = np.ascontiguousarray(found.vectors[:, keep])
        self._negative = found.negative
        root = np.sqrt(self.eigenvalues_)
        inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
        self._projection = self.eigenvectors_ * inverse

    def _learn_inverse(self, X: Array) -> None:
        self.X_transformed_fit_ = self._fitted_scores()
        K = self._gram(self.X_transformed_fit_, self.X_transformed_fit_)
        K[np.diag_indices_from(K)] += self.alpha
        if self.alpha > 0 and np.linalg.eigvalsh(K)[0] > 0:
            self.dual_coef_ = cho_solve(cho_factor(K), X)
        else:  # no kernel, or no penalty
            self.dual_coef_ = np.linalg.lstsq(K, X, rcond=None)[0]

    def _fitted_scores(self) -> Array:
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def _gram(self, X: Any, Z: Any) -> Array:
        """The kernel of all pairs of rows, a few rows of X at a time."""
        if self._precomputed:
            return to_dense(X)
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            keywords = self.kernel_params or {}
            return np.asarray(pairwise_kernels(X, Z, metric=self.kernel, **keywords))
        if isinstance(self.kernel, str) and self.kernel == "cosine":
            return np.asarray(cosine_similarity(X, Z, dense_output=True))
        kernel = kernel_from(self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0)  # type: ignore[arg-type]
        out = np.empty((X.shape[0], Z.shape[0]))

        def fill(rows: slice) -> None:
            out[rows] = kernel(X[rows], Z)

        list(map_threads(fill, row_chunks(*out.shape)))
        return out

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def fit_transform(self, X: ArrayLike, y: MaybeArray = None) -> Any:
        """The scores of the training rows."""
        return self.fit(X)._fitted_scores()

    def transform(self, X: ArrayLike) -> Any:
        """Scores of the rows; for "precomputed" X holds their similarities to the fitted rows."""
        Q = self._check_input(X)

        def scores(rows: slice) -> Array:
            K = self._gram(Q[rows], self.X_fit_)
            return self._centre.of(K) @ self._projection

        chunks = row_chunks(Q.shape[0], self.X_fit_.shape[0])
        with single_threaded_blas():
            return np.concatenate([scores(rows) for rows in chunks])

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Rows that have about these scores, by ridge regression of the rows on their scores."""
        check_is_fitted(self)
        if not self.fit_inverse_transform:
            need = "the inverse transform was not fitted: set fit_inverse_transform=True before fit"
            raise NotFittedError(need)
        A = checked_scores(X, self._n_features_out)
        return self._gram(A, self.X_transformed_fit_) @ self.dual_coef_

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n, d = self.X_fit_.shape[0], len(self.eigenvalues_)
        shapes: dict[str, tuple[int, ...]] = {"_projection": (n, d)}
        if not issparse(self.X_fit_):
            shapes["X_fit_"] = (n, self.n_features_in_)
        return shapes

    def card(self) -> Card:
        """The kernel, its spectrum and what was kept."""
        check_is_fitted(self)
        n, d = self.eigenvectors_.shape
        name = self.kernel if isinstance(self.kernel, str) else type(self.kernel).__name__
        notes = []
        if self._negative > NOTHING * n:
            what = f"no kernel: an eigenvalue is {-self._negative:.3g} times the largest"
            notes.append(f"{what}; directions of negative ones have the score 0")
        return Card(
            f"{d} directions in the feature space of the kernel {name!r}, centred",
            "variance of the scores = eigenvalue of the centred Gram matrix / n",
            "eigenvectors of the n x n Gram matrix: exact",
            {
                "n": n,
                "components": d,
                "first eigenvalue / n": float(self.eigenvalues_[0] / n),
                "last eigenvalue / n": float(self.eigenvalues_[-1] / n),
                "gamma": self.gamma_,
            },
            warnings=tuple(notes),
        )
