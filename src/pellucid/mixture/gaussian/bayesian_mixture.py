r"""Gaussian mixture with a posterior instead of a point: components that are not needed fade.

Model        as ``GaussianMixture``, with a Dirichlet (process) prior on the weights and a
             normal-Wishart prior on means and precisions
Objective    the variational bound on log p(X); see ``variational``
Algorithm    E step with expected parameters, then the posterior from its sums; the bound never
             falls (reg_covar = 0). O(n k p^2) a round
Why          a superfluous component costs evidence, so its weight goes to 0: n_components is an
             upper limit, not a choice. NaN cells are summed out as in ``GaussianMixture``.

References: Attias (2000); Bishop, PRML, sec. 10.2; Blei & Jordan (2006).
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.cluster.kmeans.kmeans import RAW, problem_of
from pellucid.core.arrays import check
from pellucid.core.arrays.gaps import Observed, filled
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext, Iteration, iterate, strictly_below
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.mixture.gaussian import gaussians, missing_cells, variational
from pellucid.mixture.gaussian.gaussian_model import parameters_of
from pellucid.mixture.gaussian.gaussians import CollapseError, Gaussians
from pellucid.mixture.gaussian.starts import Beginning, checked_means, enough_rows, shaped
from pellucid.mixture.gaussian.variational import BoundState, Posterior, Prior
from pellucid.mixture.mixture_model import MixtureModel, warn_of_limit

STARTS = ("kmeans", "k-means++", "random", "random_from_data")
KINDS = ("dirichlet_process", "dirichlet_distribution")


class BayesianGaussianMixture(MixtureModel):
    """A mixture of normal densities with a posterior over all its parameters.

    Parameters
    ----------
    n_components : int, default=1
        At most so many; those that are not needed end with a weight near 0.
    covariance_type : str, default="full"
        As in ``GaussianMixture``.
    tol : float, default=1e-3
        Stop when the bound changes by less; 0 runs ``max_iter`` rounds.
    reg_covar : float, default=1e-6
        Added to the variances within components; the bound never falls with 0.
    max_iter : int, default=100
        Most iterations.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.
    verbose, verbose_interval : ignored
        For compatibility with scikit-learn; use ``set_callbacks`` and ``history_``.
    n_init : int, default=1
        Starts; the one with the largest bound is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How the starts are found.
    weight_concentration_prior_type : str, default="dirichlet_process"
        Or ``"dirichlet_distribution"``.
    weight_concentration_prior : float, default=None
        a0 > 0, small for few components; None: 1 / n_components.
    mean_precision_prior : float, default=None
        b0 > 0: how many rows the prior mean counts for; None: 1.
    mean_prior : array-like of shape (n_features,), default=None
        None: the mean of the rows.
    degrees_of_freedom_prior : float, default=None
        n0 > n_features - 1; None: n_features.
    covariance_prior : float or array-like, default=None
        W0^-1 with the shape of one component's covariance; None: that of the rows.
    warm_start : bool, default=False
        Start from the posterior of the fit before.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : ndarray
        Mean weights, means, and inverses of the mean precisions.
    weight_concentration_, mean_precision_, degrees_of_freedom_ : ndarray
        The posterior (a pair of arrays for the sticks of the process).
    weight_concentration_prior_, mean_precision_prior_, mean_prior_, degrees_of_freedom_prior_,
    covariance_prior_
        The prior that was used.
    lower_bound_ : float
        The bound in scikit-learn's scale, without constants of the prior.
    evidence_bound_ : float
        The whole bound on log p(X): it compares models, also of different ``n_components``.
    n_active_ : int
        Components that hold at least half a row.
    lower_bounds_, converged_, n_iter_, history_
        As in ``GaussianMixture``.

    Examples
    --------
    >>> from pellucid import BayesianGaussianMixture
    >>> X = [[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]] * 20
    >>> model = BayesianGaussianMixture(n_components=6, max_iter=500, random_state=0).fit(X)
    >>> model.n_active_
    2
    """

    _accepts_nan = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        n_components: int = 1,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weight_concentration_prior_type: str = "dirichlet_process",
        weight_concentration_prior: float | None = None,
        mean_precision_prior: float | None = None,
        mean_prior: MaybeArray = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: MaybeArray = None,
        random_state: Seed = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weight_concentration_prior_type = weight_concentration_prior_type
        self.weight_concentration_prior = weight_concentration_prior
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find the posterior given the rows of X."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        self._fit_problem(rows, map_threads, X=X, sample_weight=sample_weight)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_problem(rows, map_)

    def _check_parameters(self) -> None:
        check.whole(n_components=self.n_components, n_init=self.n_init)
        check.whole(at_least=0, max_iter=self.max_iter)
        check.whole(verbose_interval=self.verbose_interval)
        check.non_negative(tol=self.tol, reg_covar=self.reg_covar)
        check.one_of(gaussians.STRUCTURES, covariance_type=self.covariance_type)
        check.one_of(STARTS, init_params=self.init_params)
        check.one_of(KINDS, weight_concentration_prior_type=self.weight_concentration_prior_type)
        check.boolean(warm_start=self.warm_start)
        for name in ("weight_concentration_prior", "mean_precision_prior"):
            if getattr(self, name) is not None:
                check.positive(**{name: getattr(self, name)})

    def _fit_problem(self, source: Source, map_: Map, **data: Any) -> None:
        problem = problem_of(source, map_, RAW)
        rows, seen = problem.source, None
        if np.isnan(problem.box.mean).any():
            table, seen = filled(rows, map_, self._feature_names())
            problem = problem_of(table, map_, RAW)
        box = problem.box
        enough_rows(self.n_components, box)
        begin = Beginning(problem, map_, self.n_components, self.covariance_type, self.reg_covar)
        with single_threaded_blas():
            prior = self._prior(begin, seen)
        sizes = self.n_components, box.weight, self.covariance_type
        constant = variational.evidence_constant(prior, *sizes)
        attributes = partial(_as_if_stopped, prior, constant, self.covariance_type)
        n_starts = 1 if self._continues() else self.n_init
        steps = self.max_iter if n_starts == 1 else n_starts
        context = FitContext(self, max_steps=steps, attributes=attributes, **data)
        sums = gaussians.expectation if seen is None else missing_cells.expectation_missing
        expect = partial(sums, rows, map_)
        best: Iteration | None = None
        for i, post in enumerate(self._starts(begin, prior, box.weight)):
            below = context if n_starts == 1 else context.subtask(f"start {i}", self.max_iter)
            run = self._run(prior, post, expect, below)
            best = run if best is None or run.state.value > best.state.value else best
            if n_starts > 1 and below.end(run.state):
                break
        assert best is not None  # there is at least one start
        for name, value in attributes(best.state).items():
            setattr(self, name, value)
        self.history_, self.converged_, self._end = best.history, best.converged, best.reason
        self.lower_bounds_ = [row["objective"] for row in best.history]
        self.n_iter_ = max(best.n_iter, min(self.max_iter, 1))
        if best.reason == "max_iter" and self.tol > 0 and best.n_iter:
            warn_of_limit(self, "bound", best.history[-1]["gap"])
        context.end(best.state)

    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "converged_")

    def _prior(self, begin: Beginning, seen: Observed | None) -> Prior:
        box = begin.problem.box
        p, k = len(box.mean), self.n_components
        freedom = p if self.degrees_of_freedom_prior is None else self.degrees_of_freedom_prior
        if not freedom > p - 1:
            least = f"n_features - 1 = {p - 1}"
            raise ValueError(f"degrees_of_freedom_prior must be above {least}, got {freedom!r}")
        a0, b0 = self.weight_concentration_prior, self.mean_precision_prior
        mean = box.mean
        if self.mean_prior is not None:
            mean = checked_means(np.atleast_2d(self.mean_prior), 1, p)[0]
        a0, b0 = 1.0 / k if a0 is None else float(a0), 1.0 if b0 is None else float(b0)
        process = self.weight_concentration_prior_type == "dirichlet_process"
        C = self._covariance_prior(begin, seen, p)
        return Prior(a0, process, b0, mean, float(freedom), C)

    def _covariance_prior(self, begin: Beginning, seen: Observed | None, p: int) -> Array:
        one = {"full": "tied", "diag": "tied_diag", "spherical": "tied_spherical"}
        structure = one.get(self.covariance_type, self.covariance_type)
        if self.covariance_prior is not None:
            C = shaped("covariance_prior", self.covariance_prior, structure, 1, p)
        else:
            C = self._covariance_of_rows(begin, seen, structure)
        try:
            gaussians.precision_roots(C, structure)
        except CollapseError:
            which = "covariance_prior" if self.covariance_prior is not None else "the covariance"
            cure = "give another covariance_prior or raise reg_covar"
            raise ValueError(f"{which} of the rows is not positive definite; {cure}") from None
        return C

    def _covariance_of_rows(self, begin: Beginning, seen: Observed | None, structure: str) -> Array:
        box = begin.problem.box
        if not box.weight > 1:
            given = f"n_samples={box.n_rows} (total weight {box.weight:g})"
            raise ValueError(f"a covariance needs two rows or covariance_prior, got {given}")
        C = begin.moments().scatter / (box.weight - 1)
        if seen is not None:  # gaps held the means of their columns: too small a variance
            own = seen.scatter / np.maximum(seen.weight - 1, 1.0)
            grow = np.sqrt(own / np.where(np.diag(C) > 0, np.diag(C), 1.0))
            C = C * np.outer(grow, grow)
        C = C if structure in gaussians.DENSE else np.diag(C)
        C = np.asarray(C.mean()) if structure.endswith("spherical") else np.array(C)
        try:
            gaussians.precision_roots(C, structure)
        except CollapseError:  # a constant column, or fewer rows than columns
            floor = max(self.reg_covar, 1e-6 * box.variance)
            C = C + floor * (np.eye(len(C)) if structure in gaussians.DENSE else 1.0)
        return C

    def _starts(self, begin: Beginning, prior: Prior, weight: float) -> Iterator[Posterior]:
        if self._continues():
            yield self._posterior()
            return
        for start in begin.models(self.init_params, self.n_init, generator(self.random_state)):
            with single_threaded_blas():
                yield variational.from_start(prior, start, weight, self.covariance_type)

    def _run(self, prior: Prior, post: Posterior, expect: Any, context: FitContext) -> Iteration:
        structure, reg = self.covariance_type, float(self.reg_covar)

        def state_of(step: int, post: Posterior, spread: float) -> BoundState:
            with single_threaded_blas():
                factors = variational.posterior_factors(post, structure)
                value = variational.lower_bound(post, structure, spread)
            return BoundState(step, post, factors, expect(factors), value)

        def step(state: BoundState) -> tuple[BoundState, float]:
            with single_threaded_blas():
                new = variational.from_sums(prior, state.post.means, state.sums, structure, reg)
                spread = variational.entropy(state.factors, state.sums)
            moved = state_of(state.step + 1, new, spread)
            return moved, abs(moved.value - state.value)

        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": strictly_below(self.tol)}
        limits |= {"record": variational.record, "start_row": False, "warn": False}
        begin, name = state_of(0, post, 0.0), type(self).__name__
        return iterate(step, begin, name=name, context=context, **limits)

    def _posterior(self) -> Posterior:
        check_is_fitted(self)
        a, freedom = (np.asarray(v) for v in (self.weight_concentration_, self.degrees_of_freedom_))
        return Posterior(a, self.mean_precision_, self.means_, freedom, self.covariances_)

    def _log_joint(self, X: Any) -> Array:
        with single_threaded_blas():
            factors = variational.posterior_factors(self._posterior(), self.covariance_type)
        return missing_cells.log_joint_observed(X, factors)

    def component_log_density(self, X: ArrayLike) -> Array:
        """The expected log N(x; mu_k, S_k) under the posterior, shape (n, k)."""
        rows = self._check_input(X)
        with single_threaded_blas():
            post, structure = self._posterior(), self.covariance_type
            factors = variational.posterior_factors(post, structure, weighted=False)
        return missing_cells.log_joint_observed(rows, factors)

    def impute(self, X: ArrayLike) -> Array:
        """X with every NaN replaced by its mean given the observed cells of the row."""
        rows = self._check_input(X)
        with single_threaded_blas():
            factors = variational.posterior_factors(self._posterior(), self.covariance_type)
            return missing_cells.fill_missing(rows, factors, self.weights_)

    def sample(self, n_samples: int = 1, *, random_state: Seed = None) -> tuple[Array, IntArray]:
        """Draw rows (at the mean parameters) and the component of each, ordered by component."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        rng = generator(self.random_state if random_state is None else random_state)
        known = self.weights_, self.means_, self.precisions_cholesky_
        return gaussians.draw_rows(*known, self.covariance_type, n_samples, rng)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        k, p = self.n_components, self.n_features_in_
        shape = gaussians.shape_of(self.covariance_type, k, p)
        own: dict[str, tuple[int, ...]] = {}
        if not self.covariance_type.startswith("tied"):
            own["degrees_of_freedom_"] = (k,)
        if self.weight_concentration_prior_type == "dirichlet_distribution":
            own["weight_concentration_"] = (k,)
        own |= {"weights_": (k,), "means_": (k, p), "mean_precision_": (k,)}
        return {**own, "covariances_": shape, "precisions_cholesky_": shape}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        k, p = self.means_.shape
        notes: tuple[str, ...] = ()
        if self._end not in ("converged", "stopped") and self.tol > 0:
            notes = (f"the best run ended by {self._end}, not by the stopping rule",)
        kind = self.weight_concentration_prior_type.replace("_", " ")
        return Card(
            f"p(x) = sum of at most {k} normal densities, covariances {self.covariance_type}; a "
            f"{kind} prior on the weights, normal-Wishart on means and precisions",
            "variational bound on the evidence log p(X)",
            f"coordinate ascent (E step, then the posterior from its sums) from {self.n_init} "
            f"start(s) until the bound changes by less than {self.tol:g} or {self.max_iter} rounds",
            {
                "components": k,
                "active components": self.n_active_,
                "features": p,
                "bound on the evidence": self.evidence_bound_,
                "rounds": self.n_iter_,
            },
            warnings=notes,
        )


def _as_if_stopped(
    prior: Prior, constant: float, structure: str, state: BoundState
) -> dict[str, Any]:
    """The fitted attributes as if the fit had ended with this round."""
    post, a = state.post, state.post.concentration
    mean = Gaussians(variational.mean_weights(post), post.means, post.covariances)
    return {
        **parameters_of(mean, structure),
        "weight_concentration_": (a[0], a[1]) if a.ndim == 2 else a,
        "mean_precision_": post.mean_precision,
        "degrees_of_freedom_": post.freedom if post.freedom.ndim else float(post.freedom),
        "weight_concentration_prior_": prior.concentration,
        "mean_precision_prior_": prior.mean_precision,
        "mean_prior_": prior.mean,
        "degrees_of_freedom_prior_": prior.freedom,
        "covariance_prior_": prior.covariance if prior.covariance.ndim else float(prior.covariance),
        "lower_bound_": state.value,
        "evidence_bound_": state.value + constant,
        "n_active_": int((state.sums.weight >= 0.5).sum()),
        "n_iter_": state.step,
        "_end": "stopped",
    }
