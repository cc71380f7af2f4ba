r"""Nystroem's approximation of a kernel: as many features as landmarks.

Landmarks    m rows B drawn without replacement;  K_B = U D U'
Features     phi(x) = k(x, B) K_B^(-1/2), so that phi(x).phi(z) = k(x, B) K_B^-1 k(B, z),
             the best approximation of k in the span of the landmarks, exact on them
Cost         m^3 once, O(m (p + m)) a row; rows go through in blocks

With a linear machine behind it (``LinearSVC``, ``SGDClassifier``, ``Ridge``) it is a kernel machine
for a million rows.

References: Williams & Seeger (2001); Yang et al. (2012).
"""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.functions.kernels import Kernel, KernelLike, is_precomputed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.kernel.functions.named import named_kernel

SMALLEST = 1e-12  # of the largest eigenvalue of the landmarks' Gram matrix: smaller ones are raised


def inverse_root(K: Array) -> Array:
    """K^(-1/2) of a symmetric matrix, its small singular values raised to that share.

    >>> inverse_root(np.diag([4.0, 1.0]))
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    U, d, Vt = np.linalg.svd(in_range(K, "the kernel"))
    return np.asarray((U / np.sqrt(np.maximum(d, SMALLEST * (d[0] or 1.0)))) @ Vt)


class Nystroem(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Features whose dot products approximate a kernel, from landmarks among the rows.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As in KernelRidge.
    gamma, coef0, degree : numbers or None, default=None
        Of the named kernels; None is 1/n_features, 1 and 3.
    kernel_params : dict or None, default=None
        Further arguments of a callable.
    n_components : int, default=100
        Landmarks; at most the number of rows.
    random_state : None, int, RandomState or Generator
        Draws the landmarks.
    n_jobs : int or None, default=None
        Accepted for scikit-learn's sake; blocks of rows always run in threads.

    Attributes
    ----------
    components_ : the landmarks
    component_indices_ : their row numbers
    normalization_ : K_B^(-1/2)

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Nystroem
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> F = Nystroem(gamma=0.5, n_components=60, random_state=0).fit_transform(X)
    >>> K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    >>> bool(np.abs(F @ F.T - K).mean() < 0.01)
    True
    """

    _accepts_sparse = True

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        *,
        gamma: float | None = None,
        coef0: float | None = None,
        degree: float | None = None,
        kernel_params: dict[str, Any] | None = None,
        n_components: int = 100,
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.kernel_params = kernel_params
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self.kernel)

    def _kernel(self) -> Kernel:
        coef0 = 1.0 if self.coef0 is None else self.coef0
        degree = 3 if self.degree is None else self.degree
        numbers = self.gamma, degree, coef0
        return named_kernel(self.kernel, *numbers, self.kernel_params, self.n_features_in_)

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[0])

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the landmarks; y is ignored."""
        check.whole(n_components=self.n_components)
        rng = generator(self.random_state)
        X = self._check_training(X).X
        kernel, n = self._kernel(), X.shape[0]
        context = FitContext(self, X=X)
        m = min(self.n_components, n)
        if m < self.n_components:
            warn(f"n_components={self.n_components} is more than the {n} rows: {n} are used")
        chosen = rng.permutation(n)[:m]
        if self._precomputed:
            self.components_, K = None, np.asarray(X[np.ix_(chosen, chosen)])
        else:
            self.components_ = X[chosen]
            K = np.asarray(kernel(self.components_))
        self.component_indices_ = chosen
        self.normalization_ = inverse_root(K)
        context.end()
        return self

    def transform(self, X: ArrayLike) -> Array:
        """k(x, B) K_B^(-1/2), block by block."""
        rows = self._check_input(X)
        kernel, B, N = self._kernel(), self.components_, self.normalization_.T
        if B is None:
            return np.asarray(rows[:, self.component_indices_] @ N)
        out = np.empty((rows.shape[0], len(N)))

        def block(start: int) -> None:
            part = slice(start, start + LEAF_ROWS)
            np.matmul(np.asarray(kernel(rows[part], B)), N, out=out[part])

        list(map_threads(block, range(0, rows.shape[0], LEAF_ROWS)))
        return out

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        m = len(self.component_indices_)
        shapes: dict[str, tuple[int, ...]] = {"normalization_": (m, m)}
        if isinstance(self.components_, np.ndarray):
            shapes["components_"] = (m, self.n_features_in_)
        return shapes

    def card(self) -> Card:
        """What the features approximate, with the numbers of this fit."""
        check_is_fitted(self)
        return Card(
            representation="phi(x) = k(x, B) K_B^(-1/2) for landmarks B among the rows",
            evaluation=f"phi(x).phi(z) is the projection of k(x, z), kernel = {self.kernel}",
            optimisation="landmarks drawn at random, one singular value decomposition",
            numbers={"landmarks": len(self.component_indices_)},
        )
