"""What multiple kernel learning made of its kernels: their weights, and the way there."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.inputs import last_step
from pellucid.plots.panels.marks import STYLES, words
from pellucid.plots.panels.style import Picture, colour, heading, legend, panels

MOST = 8  # lines of the history


class KernelWeights(Picture):
    """One entry per kernel."""

    names: tuple[str, ...]
    weights: Array  # (m,)
    history: Array  # (steps, m)
    objective: float

    def plot(self) -> Any:
        """Bars, and the weights step by step; the figure."""
        m = len(self.names)
        left, right = panels(2, columns=2, size=(5.4, max(2.8, 0.36 * m + 1.2)))
        places = np.arange(m)[::-1]
        left.barh(places, self.weights, color=[colour(i) for i in range(m)], height=0.65)
        for place, w in zip(places, self.weights, strict=True):
            left.text(w, place, f" {w:.3g}", va="center", fontsize="small")
        left.set_yticks(places, self.names)
        left.set(xlabel="weight", xlim=(0, 1.18 * max(float(self.weights.max()), 1e-9)))
        left.grid(False, axis="y")
        heading(left, f"{int((self.weights > 1e-6).sum())} of {m} kernels are used")
        for i in np.sort(np.argsort(-self.weights, kind="stable")[:MOST]):
            shape, label = "o" if len(self.history) < 30 else None, self.names[i]
            look = {"color": colour(i), "lw": 1.8, "marker": shape, "ms": 3}
            right.plot(self.history[:, i], STYLES[i % 4], label=label, **look)
        right.set(xlabel="step", ylabel="weight")
        legend(right)
        heading(right, f"The way there: objective {self.objective:.4g}")
        return left.figure


def _name(kernel: Any) -> str:
    """A kernel as it is written; one on some columns in fewer words."""
    if hasattr(kernel, "columns") and hasattr(kernel, "kernel"):
        return f"{kernel.kernel!r} on {words([str(c) for c in np.ravel(kernel.columns)], 3)}"
    return repr(kernel)


def kernel_weights(E: Model, *, names: Sequence[str] | None = None) -> KernelWeights:
    """The weights that multiple kernel learning gave its kernels.

    ``E``: fitted MultipleKernelClassifier, or a Pipeline that ends in one; ``names``: sequence of
    str; what to call the kernels; default as they are written.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import MultipleKernelClassifier
    >>> from pellucid.kernel import GaussianKernel
    >>> from pellucid.plots import kernel_weights
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> kernels = [GaussianKernel(1.0).on([0]), GaussianKernel(1.0).on([1])]
    >>> model = MultipleKernelClassifier(kernels).fit(X, X[:, 1] > 0)
    >>> kernel_weights(model, names=["first", "second"]).weights.round(2)
    array([0., 1.])
    """
    model = last_step(E)
    if not hasattr(model, "kernels") or not hasattr(model, "weights_"):
        raise ValueError(f"kernel_weights needs MultipleKernelClassifier, got {type(E).__name__}")
    m = len(model.kernels)
    said = tuple(_name(k) for k in model.kernels) if names is None else tuple(map(str, names))
    if len(said) != m:
        raise ValueError(f"names must hold one name per kernel ({m}), got {len(said)}")
    weights = np.asarray(model.weights_, dtype=np.float64)
    history = np.array([np.asarray(row["weights"]) for row in model.history_])
    order = np.argsort(-weights, kind="stable")
    most = words([f"{said[i]} {weights[i]:.3g}" for i in order], 3)
    alt = f"Weights of {m} kernels after {len(history) - 1} steps: {most}."
    return KernelWeights(alt, said, weights, history, float(model.objective_))
