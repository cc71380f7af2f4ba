"""What the Gaussian mixtures share: their parameters, their densities, and the way to fit them."""

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.cluster.kmeans.kmeans import RAW, problem_of
from pellucid.core.arrays import check
from pellucid.core.arrays.gaps import filled
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, MaybeArray, Rng, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext, Iteration
from pellucid.core.loops.statistics import Rows, Source, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.mixture.gaussian import gaussians, missing_cells, starts
from pellucid.mixture.gaussian.em import Climb, State, collapsed_components, lost_components
from pellucid.mixture.gaussian.gaussians import CollapseError, Factors, Gaussians
from pellucid.mixture.gaussian.gradients import MixtureGradient
from pellucid.mixture.gaussian.starts import Beginning, MixtureStart
from pellucid.mixture.mixture_model import MixtureModel, warn_of_limit


def parameters_of(model: Gaussians, structure: str) -> dict[str, Any]:
    """The fitted attributes of parameters."""
    with single_threaded_blas():
        roots = gaussians.precision_roots(model.covariances, structure)
        dense = structure in gaussians.DENSE
        precisions = roots @ np.swapaxes(roots, -1, -2) if dense else roots**2
    return {
        "weights_": model.weights,
        "means_": model.means,
        "covariances_": np.asarray(model.covariances),
        "precisions_cholesky_": np.asarray(roots),
        "precisions_": np.asarray(precisions),
        "n_parameters_": gaussians.count_parameters(structure, *model.means.shape),
    }


class GaussianModel(MixtureModel):
    """Base of Gaussian mixtures; a subclass improves one start."""

    _accepts_nan = True

    covariance_type: str
    n_components: int
    max_iter: int
    tol: float
    init_params: Any
    random_state: Any
    means_: Array
    precisions_cholesky_: Array

    fit_blocks = fit_blocks

    @abstractmethod
    def _run(self, task: Climb, start: Gaussians, context: FitContext) -> Iteration:
        """Improve one start."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters out of range."""

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find a mixture that makes the rows of X likely."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        self._fit_problem(rows, map_threads, X=X, sample_weight=sample_weight)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_problem(rows, map_)

    def _reg(self) -> float:
        return 1e-6

    def _n_starts(self) -> int:
        return 1

    def _starts(self, begin: Beginning, rng: Rng) -> Iterator[Gaussians]:
        if isinstance(self.init_params, MixtureStart):
            return iter([begin.completed(self.init_params, rng)])
        return begin.models(self.init_params, self._n_starts(), rng)

    def _fixed(self) -> tuple[str, ...]:
        given = self.init_params
        return starts.check_fixed(given.fixed) if isinstance(given, MixtureStart) else ()

    def _check_common(self) -> None:
        check.whole(n_components=self.n_components)
        check.whole(at_least=0, max_iter=self.max_iter)
        check.non_negative(tol=self.tol)
        check.one_of(gaussians.STRUCTURES, covariance_type=self.covariance_type)
        if not isinstance(self.init_params, MixtureStart):
            check.one_of(starts.STARTS, init_params=self.init_params)
        self._fixed()

    def _fit_problem(self, source: Source, map_: Map, **data: Any) -> None:
        """Fit from any source of rows; the best of several starts is kept."""
        problem = problem_of(source, map_, RAW)
        rows, missing = problem.source, bool(np.isnan(problem.box.mean).any())
        if missing:
            problem = problem_of(filled(rows, map_, self._feature_names())[0], map_, RAW)
        box, structure = problem.box, self.covariance_type
        starts.enough_rows(self.n_components, box)
        begin = Beginning(problem, map_, self.n_components, structure, self._reg())
        variances, limits = box.scatter / box.weight, (self.max_iter, self.tol, type(self).__name__)
        task = Climb(rows, map_, box.weight, variances, structure, *limits, missing)
        steps, attributes = self._n_starts(), partial(_as_if_stopped, structure, box.weight)
        steps = self.max_iter if steps == 1 else steps
        context = FitContext(self, max_steps=steps, attributes=attributes, **data)
        best = self._best_run(task, begin, context)
        state: State = best.state
        for name, value in attributes(state).items():
            setattr(self, name, value)
        self.history_, self.converged_ = best.history, best.converged
        self.lower_bounds_ = (best.history["log_likelihood"][1:] / box.weight).tolist()
        self.n_iter_ = max(best.n_iter, min(self.max_iter, 1))
        self._end = best.reason
        self._say(best)
        context.end(state)

    def _best_run(self, task: Climb, begin: Beginning, context: FitContext) -> Iteration:
        n_init = self._n_starts()
        best: Iteration | None = None
        broken: CollapseError | None = None
        for i, start in enumerate(self._starts(begin, generator(self.random_state))):
            below = context if n_init == 1 else context.subtask(f"start {i}", self.max_iter)
            try:
                run = self._run(task, start, below)
            except CollapseError as error:  # the start itself is singular
                broken = error
                continue
            if best is None or run.state.value > best.state.value:
                best = run
            if n_init > 1 and below.end(run.state):
                break
        if best is None:
            raise ValueError(f"no start could be used: {broken}") from broken
        return best

    def _say(self, best: Iteration) -> None:
        """Warn of what the user should know of the run that was kept."""
        if best.reason == "max_iter" and self.tol > 0:
            change = best.history[-1]["gap"] if best.n_iter else np.inf
            warn_of_limit(self, "mean log-likelihood", change)
        if lost := lost_components(best.state):
            who = f"component(s) {', '.join(map(str, lost))} explain no row any more (weight 0)"
            many = f"n_components={self.n_components} is too large for these rows"
            warn(f"{who}: {many}", ConvergenceWarning)
        reg = 0.0 if "covariances" in self._fixed() else self._reg()
        flat = collapsed_components(best.state, self.covariance_type, reg) if reg > 0 else []
        if flat:
            who = f"component(s) {', '.join(map(str, flat))} have collapsed"
            why = f"in some direction their variance is only reg_covar={reg:g} (a repeated row, a"
            why += " constant column, no more rows than columns)"
            cure = "take fewer components, a simpler covariance_type or a larger reg_covar"
            warn(f"{who}: {why}; {cure}", ConvergenceWarning)

    # --- known parameters ------------------------------------------------------------------

    @classmethod
    def from_parameters(
        cls,
        weights: ArrayLike,
        means: ArrayLike,
        covariances: ArrayLike,
        *,
        covariance_type: str = "full",
    ) -> Self:
        """A mixture with known parameters, ready without ``fit``.

        >>> from pellucid import GaussianMixture
        >>> model = GaussianMixture.from_parameters(
        ...     [0.7, 0.3], [[0.0], [6.0]], [1.0, 4.0], covariance_type="spherical")
        >>> (17 * model.predict_proba([[2.0]])).round(6)
        array([[14.,  3.]])
        """
        check.one_of(gaussians.STRUCTURES, covariance_type=covariance_type)
        m = starts.checked_means(means, None, None)
        k, p = m.shape
        C = starts.checked_covariances(covariances, covariance_type, k, p)
        model = cls(n_components=k, covariance_type=covariance_type)
        known = Gaussians(starts.checked_weights(weights, k), m, C)
        for name, value in parameters_of(known, covariance_type).items():
            setattr(model, name, value)
        model.n_features_in_ = p
        return model

    def _factors(self) -> Factors:
        known = self.weights_, self.means_, self.precisions_cholesky_
        return gaussians.make_factors(*known, self.covariance_type)

    def _joint_tensor(self, X: Any) -> Any:
        return gaussians.tensor_joint(X, self._factors())

    def _log_joint(self, X: Any) -> Array:
        return missing_cells.log_joint_observed(X, self._factors())

    def component_log_density(self, X: ArrayLike) -> Array:
        """log N(x; mu_k, S_k), shape (n, k)."""
        rows = self._check_input(X)
        known = np.ones(len(self.weights_)), self.means_, self.precisions_cholesky_
        factors = gaussians.make_factors(*known, self.covariance_type)
        return missing_cells.log_joint_observed(rows, factors)

    def impute(self, X: ArrayLike) -> Array:
        """X with every NaN replaced by its mean given the observed cells of the row.

        >>> from pellucid import GaussianMixture
        >>> model = GaussianMixture.from_parameters([1.0], [[0.0, 1.0]], [[[1.0, 0.5], [0.5, 1.0]]])
        >>> model.impute([[2.0, np.nan]])
        array([[2., 2.]])
        """
        rows = self._check_input(X)
        with single_threaded_blas():
            return missing_cells.fill_missing(rows, self._factors(), self.weights_)

    def gradient(self, X: ArrayLike) -> MixtureGradient:
        """The gradient of the total log-likelihood in weights, means and covariances.

        It is the posterior mean of the gradient of log p(x, z); covariances always (k, p, p),
        their entries taken as independent.
        """
        rows = self._check_input(X)
        k, p = self.means_.shape
        S = gaussians.full_covariances(self.covariances_, self.covariance_type, k, p)
        full = Gaussians(self.weights_, self.means_, S)
        source = Rows(rows, None, unit_weights(len(rows)))
        factors = gaussians.factors_of(full, "full")
        sums = missing_cells.expectation_missing(source, map_threads, factors)
        Q = np.linalg.inv(S)
        ratio = np.exp(self.component_log_density(rows) - self.score_samples(rows)[:, None])
        return MixtureGradient(
            ratio.sum(axis=0),
            np.einsum("kst,kt->ks", Q, sums.first),
            0.5 * (Q @ sums.second @ Q - sums.weight[:, None, None] * Q),
        )

    def sample(self, n_samples: int = 1, *, random_state: Seed = None) -> tuple[Array, IntArray]:
        """Draw rows and the component of each, ordered by component."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng = generator(self.random_state if random_state is None else random_state)
        known = self.weights_, self.means_, self.precisions_cholesky_
        return gaussians.draw_rows(*known, self.covariance_type, n_samples, rng)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        k, p = self.n_components, self.n_features_in_
        shape = gaussians.shape_of(self.covariance_type, k, p)
        own = {"weights_": (k,), "means_": (k, p)}
        return {**own, "covariances_": shape, "precisions_cholesky_": shape}

    def _card(self, optimisation: str) -> Card:
        check_is_fitted(self)
        notes: tuple[str, ...] = ()
        k, p = self.means_.shape
        numbers = {"components": k, "features": p, "parameters": self.n_parameters_}
        numbers["smallest weight"] = float(self.weights_.min())
        if hasattr(self, "lower_bound_"):
            numbers["mean log-likelihood"] = self.lower_bound_
            numbers["rounds"] = self.n_iter_
            if self._end not in ("converged", "stopped") and self.tol > 0:
                notes = (f"the best run ended by {self._end}, not by the stopping rule",)
        many = "a function with many local maxima (and without bound where a component can shrink "
        one = "without bound where they lie on a point, a line or a plane"
        densities = f"{k} normal densities with weights" if k > 1 else "one normal density"
        return Card(
            f"p(x) = {'sum of ' if k > 1 else ''}{densities}; covariances {self.covariance_type}",
            f"log-likelihood of the rows, {f'{many}to a point)' if k > 1 else one}",
            optimisation if hasattr(self, "lower_bound_") else "none: the parameters were given",
            numbers,
            warnings=notes,
        )


def _as_if_stopped(structure: str, weight: float, state: State) -> dict[str, Any]:
    """The fitted attributes as if the fit had ended with this round."""
    now = {"lower_bound_": state.value / weight, "n_iter_": state.step, "_end": "stopped"}
    return {**parameters_of(state.model, structure), **now}
