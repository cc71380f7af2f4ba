r"""Why a network of a study did not learn: steps too large (PEL408), vanishing gradients (PEL413).

Gradient descent with rate eta and momentum m settles only where the largest eigenvalue of the
Hessian obeys

    eta <= 2 (1 + m) / lambda_max,

found here by power iteration on differences of gradients, H u = (g(v + h u) - g(v - h u)) / 2h.
Adam scales its steps by itself, so that eta has no such bound: its steps are too large when the
loss ends a tenth above its lowest value.

Reference: Goh, Why momentum really works (2017).
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array
from pellucid.neural.diagnosis import gradient_flow
from pellucid.neural.training.backprop import backprop
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.candidates.unit_network import UnitNetwork
from pellucid.study.checks.findings import finding
from pellucid.study.records import Finding

POWER_STEPS, WIDTH = 30, 1e-4
ROWS = 2000  # that the checks look at
RISEN = 1.1


def network_findings(outcomes: list[Outcome], shop: Workshop) -> list[Finding]:
    """What the networks of the folds say of themselves."""
    steep: dict[str, Any] = {}
    faded: dict[str, Any] = {}
    for one in outcomes:
        nets = [(i, m) for i, m in enumerate(one.models) if hasattr(inner(m), "network_")]
        for i, whole in nets:
            part, model = shop.outer_part(i, one.tried.features), inner(whole)
            X, T = part.Z_learn[:ROWS], encoded(whole, part.y_learn[:ROWS])
            said = too_steep(model, X, T)
            if said is not None:
                steep.setdefault(one.name, said)
            flow = gradient_flow(model.network_, X, T)
            if flow.verdict == "vanishing":
                faded.setdefault(one.name, {"ratio": flow.ratio, "layers": len(flow.rms_deltas)})
    found = [finding("PEL408", list(steep), **_one(steep))] if steep else []
    return found + ([finding("PEL413", list(faded), **_one(faded))] if faded else [])


def _one(said: dict[str, Any]) -> dict[str, Any]:
    return next(iter(said.values()))


def inner(model: BaseEstimator) -> Any:
    """The network itself, where a model scales its target."""
    return model.inner_ if isinstance(model, UnitNetwork) else model


def encoded(model: BaseEstimator, y: Any) -> Array:
    """Targets as the network sees them: codes of classes, or numbers in its units."""
    if isinstance(model, UnitNetwork):
        return model._in_units(y)
    classes = getattr(model, "classes_", None)
    if classes is None or np.ndim(y) > 1:
        return np.asarray(y, dtype=np.float64)
    return np.searchsorted(classes, y).astype(np.float64)


def too_steep(model: BaseEstimator, X: Array, T: Array) -> dict[str, Any] | None:
    """Evidence that the steps of this network are too large, or None."""
    history = model.history_
    if len(history) < 2:
        return None
    if model.solver == "sgd":
        rate = float(history["learning_rate"][-1])
        curve = sharpness(model.network_, X, T)
        bound = 2 * (1 + float(model.momentum)) / curve if curve > 0 else np.inf
        return {"rate": rate, "bound": bound, "lambda_max": curve} if rate > bound else None
    loss = np.asarray(history["objective"], dtype=np.float64)
    if model.solver != "adam" or not loss[-1] > RISEN * loss.min():
        return None
    return {"rate": float(model.learning_rate_init), "loss": loss[-1], "lowest": loss.min()}


def sharpness(network: Any, X: Array, T: Array) -> float:
    """The largest eigenvalue of the Hessian of the mean loss, at the weights as they are.

    >>> from pellucid.neural import Dense, Network
    >>> line = Network([Dense(1, "identity")], n_inputs=1, random_state=0)
    >>> round(sharpness(line, np.array([[1.0], [-1.0], [2.0], [-2.0]]), np.zeros(4)), 6)
    2.5
    """
    x, v = network._rows(X), network.vector
    t, w, scale = network._targets(T, len(x)), np.ones(len(x)), 1 / len(x)

    def gradient(at: Array) -> Array:
        return backprop(network.plan, at, x, t, w, scale).vector

    u = np.random.default_rng(0).normal(size=len(v))
    value = 0.0
    for _ in range(POWER_STEPS):
        u /= np.linalg.norm(u)
        step = WIDTH * max(1.0, float(np.linalg.norm(v))) / np.sqrt(len(v))
        Hu = (gradient(v + step * u) - gradient(v - step * u)) / (2 * step)
        value = float(u @ Hu)
        if not np.linalg.norm(Hu) > 0:
            return 0.0
        u = Hu
    return value
