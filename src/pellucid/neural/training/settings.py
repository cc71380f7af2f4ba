"""scikit-learn's keywords of a network, checked and turned into layers and training settings."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Rng
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.runtime.random import generator
from pellucid.neural.layers.activations import get_activation
from pellucid.neural.layers.dense import Dense
from pellucid.neural.layers.layer import Layer
from pellucid.neural.network import Network
from pellucid.neural.training.train_state import Penalty, Settings
from pellucid.neural.training.training import descent_settings
from pellucid.solvers.gradient_descent import GradientDescent
from pellucid.solvers.rules import Adam, Momentum
from pellucid.solvers.schedules import Adaptive, Constant, InverseScaling, Schedule

SOLVERS = ("lbfgs", "sgd", "adam")
RATES = ("constant", "invscaling", "adaptive")
AUTO_BATCH = 200


def check_keywords(model: BaseEstimator) -> None:
    """Refuse keywords that are out of range."""
    if isinstance(model.solver, str):
        check.one_of(SOLVERS, solver=model.solver)
    elif not isinstance(model.solver, GradientDescent):
        known = "'lbfgs', 'sgd', 'adam' or a GradientDescent"
        raise ValueError(f"solver must be {known}, got {type(model.solver).__name__}")
    if not isinstance(model.alpha, L1L2):
        check.non_negative(alpha=model.alpha)
    if isinstance(model.batch_size, str):
        check.one_of(("auto",), batch_size=model.batch_size)
    else:
        check.whole(batch_size=model.batch_size)
    check.whole(max_iter=model.max_iter)
    check.boolean(shuffle=model.shuffle)
    generator(model.random_state)
    hidden_layers(model)


def check_descent_keywords(model: BaseEstimator) -> None:
    """Refuse those of scikit-learn's that an autoencoder does not have."""
    check.one_of(RATES, learning_rate=model.learning_rate)
    check.positive(learning_rate_init=model.learning_rate_init, epsilon=model.epsilon)
    check.non_negative(power_t=model.power_t, tol=model.tol)
    for name in ("warm_start", "nesterovs_momentum"):
        check.boolean(**{name: getattr(model, name)})
    if isinstance(model.early_stopping, EarlyStopping):
        model.early_stopping.check()
    else:
        check.boolean(early_stopping=model.early_stopping)
    for name in ("momentum", "validation_fraction", "beta_1", "beta_2"):
        value = getattr(model, name)
        top = value <= 1 if name == "momentum" and isinstance(value, Real) else True
        check.non_negative(**{name: value})
        if not top or (name != "momentum" and not value < 1):
            raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    if model.n_iter_no_change != np.inf:
        check.whole(n_iter_no_change=model.n_iter_no_change)
    check.whole(max_fun=model.max_fun)


def hidden_layers(model: BaseEstimator) -> list[Layer]:
    """The layers before the last, from ``hidden_layer_sizes`` and ``activation``."""
    sizes = model.hidden_layer_sizes
    if isinstance(sizes, Network):
        return list(sizes.layers[:-1])
    sizes = list(sizes) if isinstance(sizes, Iterable) and not isinstance(sizes, str) else [sizes]
    if sizes and all(isinstance(one, Layer) for one in sizes):
        return [clone(one) for one in sizes]
    for size in sizes:
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise ValueError(f"hidden_layer_sizes takes whole numbers or layers, got {size!r}")
    names = model.activation
    names = list(names) if isinstance(names, list) else [names] * len(sizes)
    if len(names) != len(sizes):
        each = f"each of {len(sizes)} hidden layers"
        raise ValueError(f"activation must be one, or one for {each}, got {len(names)}")
    get_activation(model.activation if not isinstance(model.activation, list) else "relu")
    return [Dense(int(size), g) for size, g in zip(sizes, names, strict=True)]


def starting_network(
    model: BaseEstimator, head: Any, n_inputs: int, n_outputs: int, rng: Rng
) -> Network:
    """The network with its initial weights, whose last layer is the head of the task."""
    given = model.hidden_layer_sizes
    if isinstance(given, Network):
        last = given.layers[-1]
        name = get_activation(getattr(last, "activation", "identity")).name
        if name != head.activation or getattr(last, "units", None) != n_outputs:
            end = f"Dense({n_outputs}, {head.activation!r})"
            raise ValueError(f"the network must end with {end} for this target, got {last!r}")
        network = Network(given.layers, loss=head.loss, n_inputs=n_inputs, random_state=rng)
        drawn = "plan" not in given.__dict__
        return network if drawn else network.with_vector(given.vector, given.states)
    layers = [*hidden_layers(model), Dense(n_outputs, head.activation)]
    return Network(layers, loss=head.loss, n_inputs=n_inputs, random_state=rng)


def get_alpha(alpha: Any) -> Penalty:
    """A number has scikit-learn's scale, alpha/2 |W|^2 / rows of the batch."""
    if isinstance(alpha, L1L2):
        return Penalty(alpha.l1, alpha.l2)
    return Penalty(0.0, alpha / 2, per_row=True)


def batch_rows(batch_size: Any, n: int) -> int:
    """ "auto" is 200, and no batch is larger than the data."""
    return min(AUTO_BATCH if batch_size == "auto" else int(batch_size), n)


def training_settings(model: BaseEstimator, n: int) -> Settings:
    """How scikit-learn's keywords, or a ``GradientDescent``, descend."""
    if isinstance(model.solver, GradientDescent):
        return descent_settings(model.solver, n)
    size = batch_rows(model.batch_size, n)
    rate: Schedule = Constant(model.learning_rate_init)
    if model.solver != "sgd":
        rule: Any = Adam(model.beta_1, model.beta_2, model.epsilon)
    else:
        rule = Momentum(model.momentum, bool(model.nesterovs_momentum))
        if model.learning_rate == "adaptive":
            rate = Adaptive(model.learning_rate_init)
        elif model.learning_rate == "invscaling":
            rate = InverseScaling(model.learning_rate_init, model.power_t)
    limits = model.max_iter, model.tol, "progress", model.n_iter_no_change
    clock = "rows" if isinstance(rate, InverseScaling) else "updates"
    return Settings(rule, rate, size, *limits, clock, single=True, ahead=model.solver == "sgd")
