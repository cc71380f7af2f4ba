r"""Gaussian mixture by gradient ascent, beside EM.

Objective    l / n, the mean log-likelihood
Parameters   mu plainly;  S = L L', L lower triangular with exp(u) on the diagonal (so S stays
             positive definite);  pi = softmax(a) (so pi stays a distribution): the vector and its
             gradient are in ``mixture.gaussian.unconstrained``
Ascent       the steps of ``solvers.GradientDescent`` on -l / n
Damped       mu += rate (sum r x / sum r - mu), then S and pi in closed form: EM slowed down
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Seed
from pellucid.core.loops.iterate import (
    ConvergenceWarning,
    FitContext,
    Iteration,
)
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.mixture.gaussian.em import Climb, State, climb, em_update, record, run_task
from pellucid.mixture.gaussian.gaussian_model import GaussianModel
from pellucid.mixture.gaussian.gaussians import Gaussians
from pellucid.mixture.gaussian.starts import MixtureStart
from pellucid.mixture.gaussian.unconstrained import MixtureFit
from pellucid.solvers.gradient_descent import Descent, GradientDescent, get_rate
from pellucid.solvers.line_search import LineSearch
from pellucid.solvers.minimum import rate_sentence
from pellucid.solvers.schedules import Schedule

REG = 1e-6  # on the variances of the start and of the damped update, as in GaussianMixture


class Reports:
    """Mixtures for the history and the callbacks, where the solver knows vectors."""

    def __init__(self, fit: MixtureFit, context: FitContext | None) -> None:
        self.fit, self.context = fit, context
        self.state: State | None = None  # of the last step that was taken

    def record(self, _: Any) -> dict[str, Any]:
        before, at = self.state, self.fit.at
        assert at is not None
        step, value = (0, None) if before is None else (before.step + 1, before.value)
        self.state = at._replace(step=step, before=value)
        return record(self.state)

    def step(self, i: int, _: Any, row: Any = None) -> bool:
        return self.context is not None and self.context.step(i, self.state, row)


def ascend(
    task: Climb, start: Gaussians, learning_rate: Any, context: FitContext | None
) -> Iteration:
    """Gradient descent on -l / n; the state of the run is that of EM."""
    fit = MixtureFit(task, start)
    reports = Reports(fit, context)
    solver = GradientDescent(learning_rate, stop="value")
    rate = get_rate(learning_rate, fit, fit.start)
    descent = Descent(solver, fit, rate, generator(0), False)

    def explain(_: Any) -> str:
        return fit.why or rate_sentence(descent.last_rate, None)

    first = descent.begin(fit.start)
    run = run_task(task, descent.step, first, reports.record, reports, explain)
    state = reports.state
    assert state is not None
    if run.reason == "diverged":
        fit.value_gradient(run.state.best_x)
        assert fit.at is not None
        state = fit.at._replace(step=state.step, before=state.before)
    return run._replace(state=state)


class GradientGaussianMixture(GaussianModel):
    """A mixture of normal densities, fitted by gradient ascent (or by a slowed EM).

    Parameters
    ----------
    n_components : int, default=1
        Number of normal densities.
    covariance_type : str, default="full"
        As in ``GaussianMixture``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.
    update : {"gradient", "damped"}, default="gradient"
        Steps along the gradient of the mean log-likelihood, or means that go ``learning_rate``
        of the way of EM with closed-form covariances and weights.
    learning_rate : float, schedule or line search, default=0.01
        Of ``pellucid.solvers``; "damped" takes a number.
    max_iter : int, default=1000
        Most iterations.
    tol : float, default=1e-6
        Stop when the mean log-likelihood changes by less; 0 runs ``max_iter`` steps.
    init_params : str or MixtureStart, default="kmeans"
        As in ``GaussianMixture``; nothing can be held fixed.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : ndarray
    converged_, n_iter_, lower_bound_, lower_bounds_, n_parameters_, history_
        As in ``GaussianMixture``.

    Examples
    --------
    >>> from pellucid import GradientGaussianMixture
    >>> X = [[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]]
    >>> model = GradientGaussianMixture(2, random_state=0).fit(X)
    >>> sorted(model.means_[:, 0].round(2).tolist())
    [2.0, 11.0]
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        update: str = "gradient",
        learning_rate: float | Schedule | LineSearch = 0.01,
        max_iter: int = 1000,
        tol: float = 1e-6,
        init_params: str | MixtureStart = "kmeans",
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.update = update
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.init_params = init_params
        self.random_state = random_state

    def _check_parameters(self) -> None:
        self._check_common()
        check.one_of(("gradient", "damped"), update=self.update)
        if self.update == "damped" or not isinstance(self.learning_rate, Schedule | LineSearch):
            check.positive(learning_rate=self.learning_rate)
        if self._fixed():
            raise ValueError(f"fixed must be empty here, got {self._fixed()}; see GaussianMixture")

    def _run(self, task: Climb, start: Gaussians, context: FitContext) -> Iteration:
        if self.update == "gradient":
            return ascend(task, start, self.learning_rate, context)
        update = em_update(self.covariance_type, REG, rate=self.learning_rate)
        return climb(task, start, update, guard=False, context=context)

    def _rate(self) -> str:
        rate = self.learning_rate
        return repr(rate) if isinstance(rate, Schedule | LineSearch) else f"{rate:g}"

    def _say(self, best: Iteration) -> None:
        falls = int(np.count_nonzero(np.diff(best.history["log_likelihood"]) < 0))
        largest = -np.diff(best.history["log_likelihood"]).min(initial=0.0)
        if largest > 1e-9 * abs(best.state.value):  # more than rounding
            fell = f"the log-likelihood fell in {falls} of {best.n_iter} steps"
            warn(f"{fell}: learning_rate={self._rate()} is too large", ConvergenceWarning)
        super()._say(best)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        how = {
            "gradient": "gradient ascent on the mean log-likelihood in means, triangles with "
            "logged diagonals and softmax weights",
            "damped": "EM whose means go only part of the way",
        }[self.update]
        limit = f"at most {self.max_iter} steps or a change below {self.tol:g}"
        return self._card(f"{how}; learning rate {self._rate()}, {limit}")
