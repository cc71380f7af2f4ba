r"""Random Fourier features: an unbiased approximation of a kernel of x - z.

    phi(x) = sqrt(2/D) cos(W x + b),   b uniform on (0, 2 pi),   E phi(x).phi(z) = k(x - z)
    GaussianKernel(sigma)    entries of W from N(0, 1/sigma^2)
    LaplacianKernel(sigma)   entries of W Cauchy with scale 1/sigma

The error of k is O(1/sqrt D), whatever the rows: nothing but their number of columns is learned, so
that ``fit`` on a block serves all. Rows go through in blocks.

Reference: Rahimi & Recht (2007), Random features for large-scale kernel machines.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.functions.kernels import GaussianKernel, Kernel, LaplacianKernel
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.kernel.approximation.kernels import shifted_cosines

PIECE = 512  # rows whose features stay in cache


def draw_weights(kernel: Kernel, shape: tuple[int, int], rng: Rng) -> Array:
    """Frequencies (p, D) from the spectrum of the kernel."""
    if isinstance(kernel, GaussianKernel):
        return rng.normal(size=shape) / kernel.sigma
    return np.tan(np.pi * (rng.random(shape) - 0.5)) / kernel.sigma


class RandomFourierFeatures(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Features whose dot products approximate a Gaussian or Laplacian kernel.

    Parameters
    ----------
    sigma : float, GaussianKernel or LaplacianKernel, default=1.0
        The kernel, or the width of a Gaussian one (gamma = 1/(2 sigma^2)).
    n_components : int, default=100
        Number D of features.
    random_state : None, int, RandomState or Generator
        Draws the frequencies and the offsets.

    Attributes
    ----------
    random_weights_ : array (p, D)
    random_offset_ : array (D,)

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import RandomFourierFeatures
    >>> X = np.array([[0.0], [1.0]])
    >>> F = RandomFourierFeatures(1.0, n_components=20000, random_state=0).fit_transform(X)
    >>> (F @ F.T).round(1), round(float(np.exp(-0.5)), 1)
    (array([[1. , 0.6],
           [0.6, 1. ]]), 0.6)
    """

    _accepts_sparse = True

    def __init__(
        self, sigma: float | Kernel = 1.0, *, n_components: int = 100, random_state: Seed = None
    ) -> None:
        self.sigma = sigma
        self.n_components = n_components
        self.random_state = random_state

    def _kernel(self) -> Kernel:
        if isinstance(self.sigma, GaussianKernel | LaplacianKernel):
            return self.sigma
        if isinstance(self.sigma, Kernel):
            raise ValueError(f"sigma takes a GaussianKernel or LaplacianKernel, got {self.sigma!r}")
        check.positive(sigma=self.sigma)
        return GaussianKernel(self.sigma)

    @property
    def _n_features_out(self) -> int:
        return int(self.random_offset_.shape[0])

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the frequencies; y is ignored."""
        check.whole(n_components=self.n_components)
        kernel, rng = self._kernel(), generator(self.random_state)
        X = self._check_training(X).X
        context = FitContext(self, X=X)
        D = self.n_components
        self.random_weights_ = draw_weights(kernel, (X.shape[1], D), rng)
        self.random_offset_ = rng.uniform(0.0, 2.0 * np.pi, size=D)
        context.end()
        return self

    def transform(self, X: ArrayLike) -> Array:
        """sqrt(2/D) cos(W x + b), block by block."""
        rows = self._check_input(X)
        W, b = self.random_weights_, self.random_offset_
        out = np.empty((rows.shape[0], len(b)))
        scale = np.sqrt(2.0 / len(b))

        def block(start: int) -> None:
            Z = out[start : start + PIECE]
            part = rows[start : start + PIECE]
            if isinstance(part, np.ndarray):
                np.matmul(part, W, out=Z)
            else:
                Z[:] = part @ W
            if shifted_cosines(Z, b, scale):  # some angle is beyond a million
                Z[:] = scale * np.cos(part @ W + b)

        list(map_threads(block, range(0, rows.shape[0], PIECE)))
        return out

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        D = len(self.random_offset_)
        return {"random_weights_": (self.n_features_in_, D), "random_offset_": (D,)}

    def card(self) -> Card:
        """What the features approximate, with the numbers of this fit."""
        check_is_fitted(self)
        kernel = self._kernel()
        return Card(
            representation="phi(x) = sqrt(2/D) cos(W x + b)",
            evaluation=f"phi(x).phi(z) has the expectation k(x, z), kernel = {kernel}",
            optimisation="W and b are drawn, nothing is minimised",
            numbers={"features": len(self.random_offset_)},
        )
