r"""Autoencoder: a network that gives its own input back through a narrow middle layer.

    code = encoder(x) (k numbers),   x_hat = decoder(code),   minimises mean (1/2) |x - x_hat|^2

Encoder and decoder mirror each other; code and output are linear. With linear units throughout the
best code spans the principal subspace (Baldi & Hornik 1989); with others it bends.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Rng, Seed
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.admission import tell_rise
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.neural.layers.activations import Activation
from pellucid.neural.layers.dense import Dense
from pellucid.neural.network import Network, network_with
from pellucid.neural.training.backprop import infer
from pellucid.neural.training.batches import plan_data
from pellucid.neural.training.quasi_newton import Limits, lbfgs_run
from pellucid.neural.training.settings import batch_rows, check_keywords, get_alpha, hidden_layers
from pellucid.neural.training.train_state import Settings, TrainState
from pellucid.neural.training.trainer import Trainer, warn_unfinished
from pellucid.neural.training.training import descent_settings
from pellucid.solvers.gradient_descent import GradientDescent
from pellucid.solvers.rules import Adam, Momentum, Rule
from pellucid.solvers.schedules import Constant

PATIENCE, TOL, RATE = 10, 1e-4, 1e-3  # as in MLPRegressor


class Autoencoder(Transformer):
    """A nonlinear relative of principal components.

    Parameters
    ----------
    n_components : int, default=2
        Numbers in the code.
    hidden_layer_sizes : int or sequence of int, default=()
        Units between input and code; the decoder has them in reverse.
    activation : str or Activation, default="relu"
        Of the hidden layers; code and output are linear.
    solver : {"adam", "sgd", "lbfgs"} or GradientDescent, default="adam"
        As in ``MLPRegressor``.
    alpha : float, L1 or L2, default=0.0
        Penalty on the weights, as in ``MLPRegressor``.
    batch_size : int or "auto", default="auto"
        Rows per step; "auto": min(200, n).
    max_iter : int, default=200
        Most iterations.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    network_ : Network, encoder and decoder
    explained_variance_ratio_ : float
        Share of the variance of the training rows that the reconstruction keeps.
    loss_, n_iter_, history_

    Examples
    --------
    >>> from pellucid import Autoencoder
    >>> line = np.outer(np.linspace(-1, 1, 30), [1.0, 2.0, 3.0])
    >>> model = Autoencoder(1, solver="lbfgs", random_state=0).fit(line)
    >>> round(model.explained_variance_ratio_, 4), model.transform(line).shape
    (1.0, (30, 1))
    """

    shuffle = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden_layer_sizes: int | Sequence[int] = (),
        activation: str | Activation = "relu",
        solver: Literal["adam", "sgd", "lbfgs"] | GradientDescent = "adam",
        alpha: float | L1L2 = 0.0,
        batch_size: int | Literal["auto"] = "auto",
        max_iter: int = 200,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        check.whole(n_components=self.n_components)
        check_keywords(self)
        rows = self._check_training(X, None, sample_weight)
        rng = generator(self.random_state)
        network = self._network(rows.X.shape[1], rng)
        network.trainable()
        self._layers = list(network.layers)
        data = plan_data(rows.X, rows.X, rows.w, True, int(rng.integers(1 << 62)))
        given: dict[str, Any] = {"X": rows.X, "sample_weight": sample_weight}
        settings = self._settings(data.n)
        given["max_steps"] = settings.max_iter
        context = FitContext(self, **given, attributes=self._attributes)
        trainer = Trainer(network.plan, data, settings, get_alpha(self.alpha))
        if self.solver == "lbfgs":
            run: Any = lbfgs_run(trainer, network.vector, Limits(self.max_iter, TOL), context)
            self.vector_, self.loss_ = run.x, float(run.value)
            context.end(run)
        else:
            start = trainer.start(network.vector, network.states, None, 0)
            run = trainer.run(start, name=type(self).__name__, context=context)
            self.vector_, self.loss_ = run.state.vector, float(run.state.objective)
            context.end(run.state)
        self.history_, self.n_iter_ = run.history, max(run.n_iter, 1)
        self._risen = ""
        if self.solver != "lbfgs":
            tell_rise(self, run, **trainer.ends(run))
        if (
            run.reason == "max_iter"
            and not self._risen
            and (self.solver == "lbfgs" or trainer.limit() is not None)
        ):
            warn_unfinished(type(self).__name__, run)
        self.explained_variance_ratio_ = self._explained(rows.X, rows.w)
        return self

    def _cure_of_a_rise(self) -> str:
        named = isinstance(self.solver, str)  # whose rate is fixed
        return "standardise the columns" if named else super()._cure_of_a_rise()

    def _network(self, p: int, rng: Rng) -> Network:
        """Encoder, code, decoder."""
        encoder = hidden_layers(self)
        decoder = [Dense(layer.units, layer.activation) for layer in reversed(encoder)]
        layers = [*encoder, Dense(self.n_components, "identity"), *decoder, Dense(p, "identity")]
        return Network(layers, n_inputs=p, random_state=rng)

    def _settings(self, n: int) -> Settings:
        if isinstance(self.solver, GradientDescent):
            return descent_settings(self.solver, n)
        if self.solver == "lbfgs":
            return Settings(Rule(), Constant(1.0), None, self.max_iter, TOL, None)
        rule = Adam() if self.solver == "adam" else Momentum(0.9, nesterov=True)
        size = batch_rows(self.batch_size, n)
        return Settings(rule, Constant(RATE), size, self.max_iter, TOL, "progress", PATIENCE)

    def _attributes(self, state: Any) -> dict[str, Any]:
        vector = state.vector if isinstance(state, TrainState) else state.x
        names = ("_layers", "n_features_in_", "feature_names_in_")
        found = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return {**found, "vector_": vector, "n_iter_": 1, "explained_variance_ratio_": np.nan}

    def _explained(self, X: Array, w: Array) -> float:
        out = infer(self.network_.plan, self.vector_, self.network_.states, X)
        total = float(w @ ((X - np.average(X, axis=0, weights=w)) ** 2).sum(axis=1))
        left = float(w @ ((X - out) ** 2).sum(axis=1))
        return 1 - left / total if total > 0 else 1.0

    @property
    def network_(self) -> Network:
        """Encoder and decoder."""
        return network_with(self._layers, self.vector_, n_inputs=self.n_features_in_)

    def _through(self, x: Array, *, decode: bool) -> Array:
        """x through the encoder or the decoder: half the layers, two operations each."""
        network, half = self.network_, len(self._layers)
        pairs = list(zip(network.plan.ops, network.plan.params(network.vector), strict=True))
        for op, params in pairs[half:] if decode else pairs[:half]:
            x = op.infer(params, None, x)
        return x

    def transform(self, X: ArrayLike) -> Array:
        """The code of each row."""
        return self._through(self._check_input(X), decode=False)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The rows that codes stand for."""
        check_is_fitted(self)
        x = np.asarray(X, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != self.n_components:
            raise ValueError(f"codes have {self.n_components} columns, got shape {x.shape}")
        return self._through(x, decode=True)

    def reconstruction_error(self, X: ArrayLike) -> Array:
        """|x - x_hat|^2 of each row."""
        rows = self._check_input(X)
        return ((rows - self.inverse_transform(self.transform(rows))) ** 2).sum(axis=1)

    def get_feature_names_out(self, input_features: MaybeArray = None) -> Any:
        """autoencoder0, autoencoder1, ..."""
        self._names_in(input_features)
        return np.asarray([f"autoencoder{i}" for i in range(self.n_components)], dtype=object)

    def _check_state(self) -> None:
        if hasattr(self, "vector_"):
            _ = self.network_  # refuses a vector that is not the layers'

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        check_is_fitted(self)
        units = [self.n_features_in_, *(w.shape[1] for w in self.network_.weights)]
        solver = self.solver if isinstance(self.solver, str) else repr(self.solver)
        early = "; ended at max_iter, before it settled" * (self.n_iter_ >= self.max_iter)
        return Card(
            representation=f"encoder and decoder of {' - '.join(map(str, units))} units; "
            f"the code has {self.n_components} numbers",
            evaluation="mean squared error of the reconstruction, halved",
            optimisation=f"{solver}, {self.n_iter_} epochs{early}",
            numbers={
                "parameters": len(self.vector_),
                "loss": self.loss_,
                "explained_variance_ratio": self.explained_variance_ratio_,
            },
        )
