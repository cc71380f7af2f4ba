"""Train a network: data, penalty, validation and solver come together here."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.admission import told_rise
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.loops.iterate import History
from pellucid.core.runtime.random import generator
from pellucid.neural.network import Network
from pellucid.neural.training.backprop import infer
from pellucid.neural.training.batches import hold_out, plan_data
from pellucid.neural.training.objectives import BinaryCrossEntropy, CrossEntropy
from pellucid.neural.training.quasi_newton import Limits, lbfgs_run
from pellucid.neural.training.train_state import Penalty, Scorer, Settings
from pellucid.neural.training.trainer import Trainer, warn_unfinished
from pellucid.solvers.gradient_descent import GradientDescent, get_rate
from pellucid.solvers.line_search import LineSearch
from pellucid.solvers.rules import Rule, get_rule
from pellucid.solvers.schedules import Constant


class TrainResult(NamedTuple):
    """A trained network and a row per epoch."""

    network: Network
    history: History


def descent_settings(solver: GradientDescent, n: int) -> Settings:
    """The settings of a ``GradientDescent``."""
    if isinstance(solver.learning_rate, LineSearch) or solver.learning_rate == "auto":
        raise ValueError("a network needs a learning rate or a schedule, got a line search or auto")
    if solver.average is not False:
        raise ValueError(f"a network keeps its last weights: average={solver.average} has no use")
    check.whole(max_iter=solver.max_iter)
    if solver.batch_size is not None:
        check.whole(batch_size=solver.batch_size)
    rate = get_rate(solver.learning_rate, None, np.zeros(0))
    if isinstance(rate, LineSearch):
        raise TypeError("a network needs a learning rate or a schedule, got a line search")
    size = None if solver.batch_size is None else min(solver.batch_size, n)
    stop = None if solver.tol is None else solver.stop
    patience = rate.patience - 1 if rate.patience is not None else np.inf
    return Settings(get_rule(solver.rule), rate, size, solver.max_iter, solver.tol, stop, patience)


def mean_r2(t: Array, out: Array, w: Array) -> float:
    """R^2, the mean over the outputs; -inf where some answer is not finite.

    >>> t = np.array([[0.0], [1.0], [2.0]])
    >>> mean_r2(t, t, np.ones(3)), mean_r2(t, 0 * t + 1, np.ones(3))
    (1.0, 0.0)
    """
    if not np.isfinite(out).all():
        return -np.inf
    left = w @ (t - out) ** 2
    total = w @ (t - w @ t / w.sum()) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = np.where(total > 0, 1 - left / total, np.where(left > 0, 0.0, 1.0))
    return float(r2.mean())


def network_score(network: Network, x: Array, t: Array, w: Array) -> Scorer:
    """Accuracy where the loss is a cross-entropy, else R^2."""

    def score(vector: Array, states: tuple[Any, ...]) -> float:
        out = infer(network.plan, vector, states, x)
        if isinstance(network.loss, CrossEntropy):
            return float(np.average(out.argmax(axis=1) == t.argmax(axis=1), weights=w))
        if isinstance(network.loss, BinaryCrossEntropy):
            return float(np.average(((out > 0.5) == (t > 0.5)).all(axis=1), weights=w))
        return mean_r2(t, out, w)

    return score


def get_penalty(penalty: object) -> Penalty:
    """The penalty of a ``penalty=`` parameter."""
    if penalty is None:
        return Penalty()
    if not isinstance(penalty, L1L2):
        raise TypeError(f"penalty must be L1(a), L2(a), their sum or None, got {penalty!r}")
    return Penalty(penalty.l1, penalty.l2)


def train(
    network: Network,
    X: ArrayLike,
    y: ArrayLike,
    *,
    solver: Any,
    penalty: Any = None,
    early_stopping: EarlyStopping | None = None,
    X_val: Any = None,
    y_val: Any = None,
) -> TrainResult:
    """Train a network.

    Parameters
    ----------
    network : Network
        Its weights are the start.
    X, y : arrays
        y as numbers (n, outputs); one-hot rows or codes 0, 1, ... for cross-entropy.
    solver : GradientDescent or "lbfgs"
        How the loss is minimised.
    penalty : L1, L2, their sum or None
        Added to the loss as reduced; biases are free.
    early_stopping : EarlyStopping or None
        Return the weights with the highest validation score.
    X_val, y_val : arrays, optional
        Judge by these rows; else ``early_stopping`` holds some out.

    Examples
    --------
    >>> from pellucid.neural import Dense, Network, train
    >>> from pellucid.solvers import GradientDescent
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> line = Network([Dense(1, "identity")], n_inputs=1, random_state=0)
    >>> found = train(line, X, 2 * X + 1, solver=GradientDescent(0.5, max_iter=200, tol=None))
    >>> found.network.vector.round(4)
    array([2., 1.])
    """
    x = np.asarray(X, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    if early_stopping is not None:
        early_stopping.check()
    network = network.built(x.shape[1:])
    network.trainable()
    x = network._rows(x)
    t = network._targets(y, len(x))
    if not (np.isfinite(x).all() and np.isfinite(t).all()):
        raise ValueError("X and y must be finite numbers, got NaN or infinity")
    if isinstance(solver, str):
        check.one_of(("lbfgs",), solver=solver)
        return _train_lbfgs(network, x, t, get_penalty(penalty))
    if not isinstance(solver, GradientDescent):
        raise TypeError(f"solver must be a GradientDescent or 'lbfgs', got {solver!r}")
    seed = int(generator(solver.random_state).integers(1 << 62))
    data = plan_data(x, t, np.ones(len(x)), solver.shuffle, seed)
    validation = None
    if X_val is not None:
        xv = network._rows(X_val)
        validation = network_score(network, xv, network._targets(y_val, len(xv)), np.ones(len(xv)))
    elif early_stopping is not None:
        data, held = hold_out(data, early_stopping.validation_fraction, None)
        validation = network_score(network, *held.take(np.arange(held.n)))
    settings = descent_settings(solver, data.n)
    score = network_score(network, *data.take(np.arange(data.n)))
    early_tol = None
    if early_stopping is not None:
        settings = settings._replace(patience=early_stopping.n_iter_no_change - 1)
        early_tol = early_stopping.tol
    judges = score, validation, early_tol
    trainer = Trainer(network.plan, data, settings, get_penalty(penalty), *judges)
    run = trainer.run(trainer.start(network.vector, network.states, None, 0), name="train")
    risen = told_rise(run, "train", f"lower the learning rate of {solver}", **trainer.ends(run))
    if run.reason == "max_iter" and trainer.limit() and not risen:
        warn_unfinished("train", run)
    last = run.state
    if early_stopping is not None and early_stopping.restore_best:
        last = last._replace(vector=last.best_vector, states=last.best_states)
    return TrainResult(network.with_vector(last.vector, last.states), run.history)


def _train_lbfgs(network: Network, x: Array, t: Array, penalty: Penalty) -> TrainResult:
    data = plan_data(x, t, np.ones(len(x)), False, 0)
    settings = Settings(Rule(), Constant(1.0), None, 1000, 1e-8, None)
    trainer = Trainer(network.plan, data, settings, penalty)
    found = lbfgs_run(trainer, network.vector, Limits(1000, 1e-6))
    return TrainResult(network.with_vector(found.x), found.history)
