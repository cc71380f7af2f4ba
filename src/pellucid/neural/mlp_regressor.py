r"""Multi-layer perceptron for numbers.

    y = a_L W + b + noise,   a_l = g(a_(l-1) W_l + b_l),   a_0 = x

minimises mean (1/2) |y - f(x)|^2 plus alpha/2 sum |W|^2 / rows of a batch; with ``loss="poisson"``
y is a count of mean exp(a_L W + b), and half the Poisson deviance is minimised.

References: Rumelhart, Hinton & Williams (1986); Hornik, Stinchcombe & White (1989).
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from pellucid.base import Regressor, check_number_target, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Seed
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.loops.statistics import Rows
from pellucid.neural.layers.activations import Activation
from pellucid.neural.layers.layer import Layer
from pellucid.neural.mlp_classifier import descends
from pellucid.neural.mlp_model import MultilayerPerceptron
from pellucid.neural.network import Network
from pellucid.neural.training.objectives import Head, PoissonDeviance, output_head
from pellucid.neural.training.training import mean_r2
from pellucid.solvers.gradient_descent import GradientDescent


class MLPRegressor(Regressor, MultilayerPerceptron):
    """Neural network for one or several numbers.

    Parameters
    ----------
    loss : {"squared_error", "poisson"}, default="squared_error"
        What is minimised; "poisson" is for counts.
    hidden_layer_sizes : int, sequence of int, list of layers, or Network, default=(100,)
        ``()``: linear regression.
    activation : str, Activation or list, default="relu"
        One, or one for each hidden layer.
    solver : {"adam", "sgd", "lbfgs"} or GradientDescent, default="adam"
        "adam" and "sgd" compute the gradients of large problems in float32 (the weights stay
        float64); an object never.
    alpha : float, L1 or L2, default=1e-4
        A number: alpha/2 sum |W|^2 / rows of a batch.
    batch_size : int or "auto", default="auto"
        Rows per step; "auto": min(200, n).
    learning_rate : {"constant", "invscaling", "adaptive"}, default="constant"
        For "sgd".
    max_iter : int, default=200
        Most iterations.
    shuffle : bool, default=True
        Whether every epoch visits the rows in a new order.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.
    tol : float, default=1e-4
        The search stops when it gains less than this.
    learning_rate_init, power_t : float, default=0.001, 0.5
        First rate of "sgd" and "adam"; exponent of "invscaling".
    verbose : bool, default=False
        Print the loss (and the validation score) of every epoch; ``history_`` keeps them.
    warm_start : bool, default=False
        Start from the weights of the last fit.
    momentum, nesterovs_momentum : float, bool, default=0.9, True
        For "sgd".
    beta_1, beta_2, epsilon : float, default=0.9, 0.999, 1e-8
        For "adam".
    early_stopping : bool or EarlyStopping, default=False
        Judge progress by R^2 on rows held out, and keep the best weights.
    validation_fraction : float, default=0.1
        Share of rows held out by ``early_stopping``.
    n_iter_no_change : int, default=10
        Epochs without progress that end the fit.
    max_fun : int, default=15000
        Evaluations of the loss by "lbfgs".

    Attributes
    ----------
    coefs_, intercepts_ : lists of arrays; weights have shape (inputs, units)
    network_ : Network
    loss_, best_loss_, loss_curve_, n_iter_, t_, history_
    n_outputs_, n_layers_, out_activation_, validation_scores_, best_validation_score_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import MLPRegressor
    >>> X = np.linspace(-2, 2, 50)[:, None]
    >>> model = MLPRegressor(hidden_layer_sizes=(16,), activation="tanh", solver="lbfgs",
    ...                      max_iter=2000, tol=1e-3, random_state=0).fit(X, np.sin(2 * X).ravel())
    >>> bool(model.score(X, np.sin(2 * X).ravel()) > 0.99)
    True
    """

    def __init__(
        self,
        loss: str = "squared_error",
        hidden_layer_sizes: int | Sequence[int] | Sequence[Layer] | Network = (100,),
        activation: str | Activation | Sequence[str | Activation] = "relu",
        *,
        solver: Literal["adam", "sgd", "lbfgs"] | GradientDescent = "adam",
        alpha: float | L1L2 = 0.0001,
        batch_size: int | Literal["auto"] = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: Seed = None,
        tol: float = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool | EarlyStopping = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: float = 10,
        max_fun: int = 15000,
    ) -> None:
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: MaybeArray = None,
        *,
        X_val: MaybeArray = None,
        y_val: MaybeArray = None,
    ) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._check_loss()
        rows = self._check_training(X, y, sample_weight)
        held = None if X_val is None else (X_val, y_val)
        self._fit_numbers(rows, held, sample_weight)
        return self

    @available_if(descends)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """One epoch over these rows."""
        self._check_loss(partial=True)
        matrix = self._check_matrix(X, reset=not hasattr(self, "vector_"), finite=True)
        target = self._check_target(y, matrix.shape[0])
        rows = Rows(matrix, target, check_weights(sample_weight, matrix))
        self._fit_numbers(rows, None, sample_weight, once=True)
        return self

    def _check_loss(self, *, partial: bool = False) -> None:
        check.one_of(("squared_error", "poisson"), loss=self.loss)
        self._check_all(partial=partial)

    def _fit_numbers(self, rows: Rows, held: Any, weight: Any, *, once: bool = False) -> None:
        if self.loss == "poisson" and (rows.y < 0).any():
            raise ValueError(f"loss='poisson' needs y >= 0, got {rows.y.min():g}")
        self._flat = rows.y.ndim == 1
        T = np.ascontiguousarray(rows.y.reshape(len(rows.y), -1))
        self._train(rows, T, None, held, weight, rows.y, once=once)

    def _head(self) -> Head:
        counts = self.loss == "poisson"
        return Head("exp", PoissonDeviance()) if counts else output_head("regression")

    def _encode_validation(self, y: ArrayLike, n: int) -> Array:
        return check_number_target(y, n, True, self).reshape(n, -1)

    def _score_outputs(self, out: Array, T: Array, w: Array) -> float:
        return mean_r2(T, out, w)

    def predict(self, X: ArrayLike) -> Array:
        """Predict for each row of ``X``."""
        out = self._outputs(X)
        return out.ravel() if self._flat else out
