r"""Linear regression by stochastic gradient descent, one row at a time.

    minimises    mean l(y, b + x'w) + alpha (r sum |w| + (1 - r)/2 sum w^2)
    one visit    w <- max(0, 1 - eta alpha (1 - r)) w - eta l'(y, f) x,   b <- b - eta l'(y, f)
                 then w_j moves towards 0 by what the L1 penalty is due since its last truncation

Each noise model has its loss: normal noise squared_error, Laplace noise absolute, a mixture huber;
epsilon_insensitive ignores small errors. The order of the visits is decided by the contents of the
rows and the seed (``compiled.epochs.visits``), so weights are repetitions and the order of the
table does not matter. Rates, stopping and averaging have scikit-learn's meaning.

Cost: O(p) per visit; the epochs are compiled.

References: Bottou (2012), Stochastic gradient descent tricks; Tsuruoka et al. (2009); Polyak &
Juditsky (1992) for averaging; Crammer et al. (2006) for pa1 and pa2.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, check_weights, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.linear.stochastic.sgd_model import StochasticModel, Targets, canonical, loss_words

SAME_NAME = ("absolute", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")
LOSSES = {"squared_error": ("squared", 0.5)}  # our name and the factor of the formula
LOSSES |= {name: (name, 1.0) for name in SAME_NAME}


class SGDRegressor(Regressor, StochasticModel):
    """Linear regression by stochastic gradient descent.

    Parameters
    ----------
    loss : str, default="squared_error"
        squared_error ((y - f)^2 / 2), absolute, huber, epsilon_insensitive or
        squared_epsilon_insensitive.
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        sum w^2/2, sum |w|, a mixture by ``l1_ratio``, or none.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Share of L1 in "elasticnet".
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=1000
        Largest number of epochs.
    tol : float or None, default=1e-3
        Progress an epoch must make; ``n_iter_no_change`` epochs without it end the fit.
    shuffle : bool, default=True
        A new order of the rows in every epoch.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    epsilon : float, default=0.1
        The e of huber and the epsilon-insensitive losses.
    random_state : None, int, RandomState or Generator
        Shuffles the rows and draws those held out.
    learning_rate : str, default="invscaling"
        constant, invscaling (eta0 / t^power_t), optimal, adaptive (eta0, divided by 5 when there is
        no progress), pa1 or pa2 (passive-aggressive, for epsilon_insensitive).
    eta0, power_t : float, default=0.01, 0.25
        First rate, and the exponent of invscaling.
    early_stopping : bool, default=False
        Judge progress by R^2 on rows held out.
    validation_fraction : float, default=0.1
        How many to hold out.
    n_iter_no_change : int, default=5
        Epochs without progress after which to stop.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    average : bool or int, default=False
        Return the average of the iterates, from that visit on.
    solver : solver object or None, default=None
        A solver of ``pellucid.solvers`` (such as ``GradientDescent(batch_size=32, rule=Adam())``)
        in the place of all keywords about rates, stopping and averaging.

    Attributes
    ----------
    coef_ : array of shape (p,)
    intercept_ : array of shape (1,)
    n_iter_, t_ : epochs, visits + 1
    average_coef_, average_intercept_ : the averages, where ``average`` asks for them
    history_ : a row per epoch: objective, parameters, learning_rate, validation_score

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import SGDRegressor
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> model = SGDRegressor(random_state=0, alpha=0.0, eta0=0.1).fit(X, 2 * X.ravel() + 1)
    >>> model.coef_.round(1), model.intercept_.round(1)
    (array([2.]), array([1.]))
    """

    _multi_output = False
    _losses = LOSSES
    _passive_aggressive = "epsilon_insensitive"

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Seed = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
        solver: BaseEstimator | None = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.solver = solver

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Run epochs of stochastic gradient steps."""
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        rows = rows._replace(X=canonical(rows.X))
        start = self._start(1, rows.X.shape[1], coef_init, intercept_init)
        context = FitContext.of_rows(self, rows, sample_weight, self._limit(), self._attributes)
        self._descend(rows, Targets([rows.y], [np.empty(0)], None), start, context)
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """One epoch (one iteration of ``solver``) over these rows, from where the last ended."""
        first = not hasattr(self, "coef_")
        self._check_parameters()
        if self.early_stopping:
            raise ValueError("early_stopping should be False with partial_fit")
        matrix = canonical(self._check_matrix(X, reset=first, finite=True))
        target = self._check_target(y, matrix.shape[0])
        rows = Rows(matrix, target, check_weights(sample_weight, matrix))
        start = self._start(1, matrix.shape[1]) if first else self._resume()
        self._descend(rows, Targets([target], [np.empty(0)], None), start, None)
        return self

    def _set(self, coef: Array, intercept: Array) -> dict[str, Any]:
        return {"coef_": coef[0], "intercept_": intercept}

    def predict(self, X: ArrayLike) -> Array:
        """b + x'w of every row."""
        rows = self._check_input(X)
        return rows @ self.coef_ + self.intercept_[0]

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,), "intercept_": (1,)}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=" + ".join([loss_words(self.loss), *self._terms()]),
            optimisation=self._how(),
            numbers=self._numbers(),
        )
