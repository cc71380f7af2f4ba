r"""EM in general: a mixture of any densities.

Model        p(x) = sum_k pi_k f_k(x; theta_k)
Algorithm    E: r_ik = pi_k f_k(x_i) / p(x_i), Bayes' rule
             M: pi_k = mean r_k;  theta_k = argmax sum_i r_ik log f_k(x_i), weighted maximum
             likelihood, which each component does for itself
             The log-likelihood never falls as long as each M step raises its own sum.
Start        the parameters the components bring; else rows far apart: each component is fitted
             to the rows nearest to one of them, softened so that none is certain

References: Dempster, Laird & Rubin (1977).
"""

from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.cluster.kmeans.seeding import kmeans_plusplus
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray, Rng, Seed
from pellucid.core.functions.distances import sqeuclidean
from pellucid.core.loops.iterate import FitContext, Iteration, iterate, strictly_below
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.mixture.gaussian.starts import checked_weights
from pellucid.mixture.mixture_model import MixtureModel, log_sum, posterior, warn_of_limit

SOFT = 0.5  # share of a row that the start gives to all components alike
METHODS = ("log_density", "fit", "sample")


class GeneralState(NamedTuple):
    """Where a run stands: parameters and the E step at them."""

    step: int
    weights: Array  # (k,)
    components: list[Any]
    responsibilities: Array  # (n, k)
    value: float  # log-likelihood
    before: float | None


def joint_of(X: Array, weights: Array, components: Sequence[Any]) -> Array:
    """log pi_k f_k(x_i), shape (n, k)."""
    with np.errstate(divide="ignore"):
        prior = np.log(weights)
    return np.column_stack([c.log_density(X) for c in components]) + prior


def expect(
    X: Array, w: Array, weights: Array, components: list[Any], step: int, before: float | None
) -> GeneralState:
    """The E step."""
    J = joint_of(X, weights, components)
    used = w > 0
    value = float((w[used] * log_sum(J[used])).sum())
    return GeneralState(step, weights, components, posterior(J, weights), value, before)


def refit(component: Any, X: Array, w: Array) -> Any:
    """The component fitted to weighted rows; the one given is left as it is."""
    fresh = deepcopy(component)
    fitted = fresh.fit(X, w)
    return fresh if fitted is None else fitted


def general_step(X: Array, w: Array, state: GeneralState) -> tuple[GeneralState, float]:
    """One M step and the E step after it; the gap is the change of the mean log-likelihood."""
    R = w[:, None] * state.responsibilities
    N = R.sum(axis=0)
    components = [refit(c, X, R[:, k]) if N[k] > 0 else c for k, c in enumerate(state.components)]
    new = expect(X, w, N / N.sum(), components, state.step + 1, state.value)
    return new, abs(new.value - state.value) / float(w.sum())


class Mixture(MixtureModel):
    """A mixture of any densities, fitted by EM.

    Parameters
    ----------
    components : list
        One object for each: ``log_density(X)``, ``fit(X, sample_weight)`` (weighted maximum
        likelihood) and ``sample(n, rng)``. ``pellucid.mixture`` has ``BernoulliComponent``,
        ``CategoricalComponent``, ``PoissonComponent``, ``BinomialComponent``,
        ``ExponentialComponent`` and ``GaussianComponent``; with parameters they are the start,
        without they get one.
    weights : array-like of shape (n_components,), default=None
        Weights at the start; 1/k.
    max_iter : int, default=100
        Most iterations.
    tol : float, default=1e-6
        Stop when the mean log-likelihood changes by less; 0 runs ``max_iter`` rounds.
    n_init : int, default=1
        Starts; those after the first are random.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    components_ : list
    converged_, n_iter_, lower_bound_, lower_bounds_, n_parameters_, history_
        As in ``GaussianMixture``.

    Examples
    --------
    >>> from pellucid import Mixture
    >>> from pellucid.mixture import PoissonComponent
    >>> X = [[0], [1], [2], [1], [20], [22], [18], [20]]
    >>> model = Mixture([PoissonComponent(), PoissonComponent()], random_state=0).fit(X)
    >>> sorted(round(float(c.rates[0]), 2) for c in model.components_)
    [1.0, 20.0]
    """

    def __init__(
        self,
        components: Sequence[Any],
        *,
        weights: MaybeArray = None,
        max_iter: int = 100,
        tol: float = 1e-6,
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.components = components
        self.weights = weights
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find the parameters that make the rows of X likely."""
        given = self._checked_components()
        rows = self._check_training(X, None, sample_weight)
        rows = Rows(rows.X, None, np.ascontiguousarray(rows.w))
        if rows.n_rows < len(given):
            k, n = len(given), rows.n_rows
            raise ValueError(f"{k} components need as many rows, got n_samples={n}")
        total = float(rows.w.sum())
        steps, attributes = self.n_init, partial(_attributes, total)
        data: dict[str, Any] = {"X": X, "sample_weight": sample_weight, "attributes": attributes}
        context = FitContext(self, max_steps=self.max_iter if steps == 1 else steps, **data)
        best = self._best_run(rows, given, context)
        for name, value in attributes(best.state).items():
            setattr(self, name, value)
        self.history_, self.converged_ = best.history, best.converged
        self.n_iter_ = max(best.n_iter, 1)
        self.lower_bounds_ = (best.history["log_likelihood"][1:] / total).tolist()
        if best.reason == "max_iter" and self.tol > 0:
            change = best.history[-1]["gap"] if best.n_iter else np.inf
            warn_of_limit(self, "mean log-likelihood", change)
        context.end(best.state)
        return self

    def _checked_components(self) -> list[Any]:
        check.whole(n_init=self.n_init)
        check.whole(at_least=0, max_iter=self.max_iter)
        check.non_negative(tol=self.tol)
        if not isinstance(self.components, list | tuple) or not self.components:
            raise ValueError(f"components must be a list of densities, got {self.components!r}")
        for component in self.components:
            for method in METHODS:
                if isinstance(component, type) or not hasattr(component, method):
                    raise ValueError(f"components must have {', '.join(METHODS)}: {component!r}")
        return list(self.components)

    def _best_run(self, rows: Rows, given: list[Any], context: FitContext) -> Iteration:
        X, _, w = rows
        rng, best = generator(self.random_state), None
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": strictly_below(self.tol)}
        limits |= {"record": _record, "name": "Mixture", "warn": False}
        for i in range(self.n_init):
            task = context if self.n_init == 1 else context.subtask(f"start {i}", self.max_iter)
            start = self._start(rows, given, i, rng)
            run = iterate(partial(general_step, X, w), start, context=task, **limits)
            if best is None or run.state.value > best.state.value:
                best = run
            if self.n_init > 1 and task.end(run.state):
                break
        assert best is not None
        return best

    def _start(self, rows: Rows, given: list[Any], i: int, rng: Rng) -> GeneralState:
        X, _, w = rows
        k = len(given)
        weights = np.full(k, 1 / k) if self.weights is None else checked_weights(self.weights, k)
        ready = all(getattr(c, "is_fitted", True) for c in given)
        if i > 0 or not ready:
            seed = int(rng.integers(2**32))
            C = kmeans_plusplus(X, k, sample_weight=w, random_state=seed).centers
            near = np.eye(k)[sqeuclidean.pairwise(X, C).argmin(axis=1)]
            R = w[:, None] * ((1 - SOFT) * near + SOFT / k)
            given = [refit(c, X, R[:, j]) for j, c in enumerate(given)]
        return expect(X, w, weights, given, 0, None)

    def _log_joint(self, X: Any) -> Array:
        return joint_of(X, self.weights_, self.components_)

    def component_log_density(self, X: ArrayLike) -> Array:
        """log f_k(x_i), shape (n, k)."""
        rows = self._check_input(X)
        return np.column_stack([c.log_density(rows) for c in self.components_])

    def sample(self, n_samples: int = 1, *, random_state: Seed = None) -> tuple[Array, IntArray]:
        """Draw rows and the component of each, ordered by component."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng = generator(self.random_state if random_state is None else random_state)
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        drawn = [c.sample(int(m), rng) for c, m in zip(self.components_, counts, strict=True) if m]
        return np.vstack(drawn), np.repeat(np.arange(len(counts)), counts)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weights_": (len(self.components_),)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        kinds = ", ".join(dict.fromkeys(type(c).__name__ for c in self.components_))
        many = len(self.components_) > 1
        return Card(
            f"p(x) = weighted sum of {len(self.components_)} densities ({kinds})",
            "log-likelihood of the rows" + (", a function with many local maxima" if many else ""),
            f"EM: Bayes' rule, then weighted maximum likelihood of each component; at most "
            f"{self.max_iter} rounds or a change below {self.tol:g}; {self.n_init} start(s)",
            {
                "components": len(self.components_),
                "mean log-likelihood": self.lower_bound_,
                "rounds": self.n_iter_,
                "smallest weight": float(self.weights_.min()),
            },
        )


def _record(state: GeneralState) -> dict[str, Any]:
    return {"objective": state.value, "log_likelihood": state.value, "before": state.before}


def _attributes(total: float, state: GeneralState) -> dict[str, Any]:
    found = {"weights_": state.weights, "components_": state.components}
    found |= {"lower_bound_": state.value / total, "n_iter_": state.step}
    if all(hasattr(c, "n_parameters") for c in state.components):
        own = sum(c.n_parameters for c in state.components)
        found["n_parameters_"] = own + len(state.components) - 1
    return found
