r"""Multiple kernel learning: the weights of several kernels, learned with the machine.

    min_b max_a  J = sum a - 1/2 sum_k b_k q_k,   q_k = sum_ij a_i a_j y_i y_j K_k(x_i, x_j)
    0 <= a <= C, sum a y = 0;   b >= 0, |b|_p = 1        (p = ``norm``; K > 2: summed over pairs)

Step         solve the support vector machine for the kernel sum b_k K_k, then
             b_k <- b_k q_k^s / |.|_p for p = 1;  b_k <- (b_k^2 q_k)^(1/(p + 1)) / |.|_p for p > 1
             With s = 1/2 this is a descent in b with |w_k|^2 = b_k^2 q_k fixed, so J never grows;
             a larger s is tried while it lowers J more.
Certificate  for the same a the best b gives sum a - |q|_{p*}/2 (p* the dual norm), a lower bound of
             the minimum: the gap is (|q|_{p*} - b.q)/2

With norm 1 useless kernels get weight 0 (below 1e-6 of the largest they are cut); with a larger
norm all take part.

References: Lanckriet et al. (2004); Rakotomamonjy et al. (2008), SimpleMKL; Kloft et al. (2011).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.functions.kernels import Kernel
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.inference.decisions.linear_rule import class_weights
from pellucid.kernel.svm.distinct import distinct_rows
from pellucid.kernel.svm.svc import SVC

LEAST, GROW, SHRINK = 0.5, 1.6, 0.25  # of the exponent s
NOTHING = 1e-6  # a weight below this share of the largest is cut to 0
EXACT = 1e-6  # tolerance of the machines inside


class MixState(NamedTuple):
    weights: Array
    q: Array  # (k,)
    objective: float
    gap: float
    power: float
    solved: bool  # the machine; if not, it has warned


class Mix(NamedTuple):
    """Gram matrices of the distinct rows, their labels, weights and costs."""

    grams: list[Array]
    y: Any
    v: Array
    C: float
    norm: float


def to_norm(b: Array, norm: float) -> Array:
    """b scaled to |b|_norm = 1.

    >>> to_norm(np.array([3.0, 4.0]), 2.0)
    array([0.6, 0.8])
    """
    return np.asarray(b / (b**norm).sum() ** (1.0 / norm))


def solve_machine(mix: Mix, b: Array, power: float) -> MixState:
    """The machine of one mixture: q of each kernel, J and the gap."""
    K = sum(weight * gram for weight, gram in zip(b, mix.grams, strict=True) if weight > 0)
    machine = SVC(C=mix.C, kernel="precomputed", tol=EXACT, max_iter=steps_of(len(mix.y)))
    machine.fit(K, mix.y, sample_weight=mix.v)
    beta, s = machine._pair_coef(), machine.support_  # (s, pairs)
    q = np.array([float((beta * (G[np.ix_(s, s)] @ beta)).sum()) for G in mix.grams])
    q = np.maximum(q, 0.0)
    objective = float(np.abs(beta).sum()) - 0.5 * float(b @ q)
    most = float(q.max())
    if mix.norm > 1 and most > 0:
        dual = mix.norm / (mix.norm - 1.0)
        most *= float(((q / most) ** dual).sum() ** (1.0 / dual))
    gap = max(0.5 * (most - float(b @ q)), 0.0)
    return MixState(b, q, objective, gap, power, machine.fit_status_ == 0)


def steps_of(n: int) -> int:
    """How many steps a machine may take; one that needs more would do so for every mixture."""
    return max(10**5, 200 * n)


def next_weights(state: MixState, norm: float, power: float) -> Array:
    b, q = state.weights, state.q / max(float(state.q.max()), 1e-300)
    if norm > 1:
        return to_norm((b**2 * q) ** (1.0 / (norm + 1.0)), norm)
    new = b * q**power
    return to_norm(np.where(new < NOTHING * new.max(), 0.0, new), 1.0)


def mix_step(mix: Mix, state: MixState) -> tuple[MixState, float]:
    """New weights and their machine; the gap is relative to J."""
    if not (state.q.any() and state.solved):
        return state, 0.0
    new = solve_machine(mix, next_weights(state, mix.norm, state.power), state.power * GROW)
    if mix.norm == 1 and new.objective > state.objective and state.power > LEAST:
        least = next_weights(state, mix.norm, LEAST)
        new = solve_machine(mix, least, max(LEAST, state.power * SHRINK))
    return new, new.gap / max(abs(new.objective), 1e-300)


class MultipleKernelClassifier(Classifier):
    """A support vector machine that learns the weights of its kernels.

    Parameters
    ----------
    kernels : list of Kernel
        The kernels to be weighted, at least one.
    C : float, default=1.0
        Price of the slack, as in SVC.
    norm : float, default=1
        p >= 1 of |b|_p = 1: 1 chooses few kernels, larger ones spread the weight.
    tol : float, default=1e-4
        Relative duality gap in the weights at which to stop.
    max_iter : int, default=200
        Largest number of updates of the weights.
    class_weight : None, "balanced" or dict, default=None
        Factor of C for each class; "balanced": inversely to its weight in the data.

    Attributes
    ----------
    weights_ : array (number of kernels,)
    kernel_ : the weighted sum, a Kernel
    objective_, duality_gap_ : J, and by how much at most it is above the minimum
    classifier_ : the SVC with ``kernel_``
    n_iter_, history_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import MultipleKernelClassifier
    >>> from pellucid.kernel import GaussianKernel
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> kernels = [GaussianKernel(1.0).on([0]), GaussianKernel(1.0).on([1])]
    >>> model = MultipleKernelClassifier(kernels).fit(X, X[:, 1] > 0)
    >>> model.weights_.round(2)
    array([0., 1.])
    """

    def __init__(
        self,
        kernels: Sequence[Kernel],
        *,
        C: float = 1.0,
        norm: float = 1,
        tol: float = 1e-4,
        max_iter: int = 200,
        class_weight: str | dict[Any, float] | None = None,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.norm = norm
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def _check_parameters(self) -> None:
        check.positive(C=self.C, tol=self.tol)
        check.whole(max_iter=self.max_iter)
        check.positive(norm=self.norm)
        if not 1 <= self.norm < np.inf:
            raise ValueError(f"norm must be a finite number >= 1, got {self.norm!r}")
        kernels = self.kernels
        if not isinstance(kernels, list | tuple) or len(kernels) == 0:
            raise ValueError(f"kernels must be a list of at least one Kernel, got {kernels!r}")
        if not all(isinstance(kernel, Kernel) for kernel in kernels):
            raise ValueError("kernels must hold Kernel objects only, such as GaussianKernel(1.0)")

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Learn the weights of the kernels, then the machine of their sum."""
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        k = len(self.classes_)
        totals = np.bincount(rows.y, weights=rows.w, minlength=k).astype(np.float64)
        live = int(np.count_nonzero(totals))
        check.two_classes(self, live, rows.n_rows, "samples of positive weight")
        costs = rows.w * class_weights(self.class_weight, self.classes_, totals)[rows.y]
        found = distinct_rows(rows.X, rows.y.astype(np.float64), costs)
        part = rows.X[found.first]
        grams = [np.asarray(kernel(part)) for kernel in self.kernels]
        mix = Mix(grams, rows.y[found.first], found.w.astype(np.float64), self.C, float(self.norm))

        def values(state: MixState) -> dict[str, Any]:
            kernel = mixture(self.kernels, state.weights)
            machine = SVC(C=self.C, kernel=kernel, tol=EXACT, max_iter=steps_of(len(part)))
            machine.fit(part, self.classes_[mix.y], sample_weight=mix.v)
            found = {"weights_": state.weights, "kernel_": kernel, "classifier_": machine}
            return {**found, "objective_": state.objective, "duality_gap_": state.gap}

        context = FitContext.of_rows(self, rows, sample_weight, self.max_iter, values)
        start = solve_machine(mix, to_norm(np.ones(len(grams)), mix.norm), LEAST)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "context": context}
        limits["record"] = lambda s: {"objective": s.objective, "weights": s.weights}
        run = self._iterate(partial(mix_step, mix), start, **limits)
        found_values = values(run.state)
        self.weights_, self.kernel_ = found_values["weights_"], found_values["kernel_"]
        self.objective_, self.duality_gap_ = run.state.objective, run.state.gap
        self.classifier_ = found_values["classifier_"]
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of ``classifier_``: (n,) for two classes, else (n, K)."""
        X = self._check_input(X)
        return np.asarray(self.classifier_.decision_function(X))

    def predict(self, X: ArrayLike) -> Any:
        """The class of each row."""
        X = self._check_input(X)
        return self.classifier_.predict(X)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        return Card(
            representation="the sign of sum_i a_i y_i sum_k b_k k_k(x_i, x) + intercept",
            evaluation="|w|^2/2 + C times the sum of the hinge losses, smallest over b >= 0 with "
            f"|b|_{self.norm:g} = 1, C = {self.C:g}",
            optimisation="a support vector machine and new weights in turn",
            numbers={
                "objective": self.objective_,
                "duality gap at most": self.duality_gap_,
                "weights": [round(float(b), 6) for b in self.weights_],
                "steps": self.n_iter_,
            },
        )


def mixture(kernels: Sequence[Kernel], weights: Array) -> Kernel:
    """sum b_k k_k of the kernels with a weight."""
    used: list[Any] = [float(b) * k for k, b in zip(kernels, weights, strict=True) if b > 0]
    total = used[0]
    for kernel in used[1:]:
        total = total + kernel
    return total
