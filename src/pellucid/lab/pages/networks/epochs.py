"""Epoch by epoch: the surface, the weights and the gradients of a network in training."""

import warnings
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.drawing import number, quietly, rows_code, short, told
from pellucid.lab.page import LabData
from pellucid.lab.pages.networks import parts
from pellucid.lab.pages.networks.parts import accuracy, classes_of, flow_panel, target, unit_name
from pellucid.lab.scene import plane
from pellucid.lab.trace import Frame, Trace
from pellucid.neural.mlp_classifier import MLPClassifier
from pellucid.plots.panels.replay import Recorder
from pellucid.solvers.gradient_descent import GradientDescent
from pellucid.solvers.rules import Adam

MOST_FRAMES = 40


class _Steps:
    """The networks after 0, 1, ... epochs, made when they are asked for."""

    def __init__(self, start: Any, models: list[Any]) -> None:
        self.start, self.models = start, models

    def __len__(self) -> int:
        return 1 + len(self.models)

    def __getitem__(self, i: int) -> Any:
        return self.start if i == 0 else self.models[i - 1 if i > 0 else i].network_


def epochs_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """Train on all rows at once; a frame is an epoch, not all are shown."""
    X, y = data.train
    k = classes_of(data.y)
    if len(np.unique(y)) < k:
        raise ValueError("some class has no row left to train on; draw more rows of each class")
    start = parts.start_network(params, k, seed)
    rule = Adam() if params["rule"] == "Adam" else None
    solver = GradientDescent(params["rate"], rule, max_iter=params["epochs"], tol=None)
    recorder = Recorder()
    model = MLPClassifier(start, solver=solver, alpha=0.0, random_state=seed)
    with warnings.catch_warnings(record=True, action="always") as caught:
        model.set_callbacks(recorder).fit(X, y)
    networks = _Steps(start, next(iter(recorder.runs.values()), []))
    if len(networks) < 2:
        raise ValueError("the first step leaves the finite numbers: lower the rate, or scale rows")
    last = len(networks) - 1
    shown = np.unique(np.r_[0, np.geomspace(1, last, MOST_FRAMES).round().astype(int)])
    row = min(params["row"], len(X)) - 1
    frames = tuple(_frame(data, params, networks, int(i), k, row) for i in shown)
    loud = bool(caught) or params["start"] == "zeros"
    verdict, code = _verdict(data, networks, k), _code(data, params, k, seed, loud)
    scene, card = told(data, "classes", [parts.rows_panel(data)]), model.card().to_dict()
    words = ("A network in training", "mean cross-entropy", verdict, code)
    return Trace("MLPClassifier", params, scene, card, frames, *words)


def _values(network: Any, x: np.ndarray) -> list[list[str]]:
    trace = network.trace(x[None])
    return [[number(v, 2) for v in layer[0]] for layer in [trace.inputs, *trace.post]]


def _frame(data: LabData, params: dict[str, Any], networks: Any, i: int, k: int, row: int) -> Frame:
    X, y = data.train
    T, network = target(y, k), networks[i]
    loss = float(network.loss_value(X, T))
    flow, found = flow_panel(network, X, T)
    formula, edge = _update(networks, i, X, T, params)
    title = "Units: values of the ringed row; lines: weights"
    units = parts.network_panel(network, _values(network, X[row]), lit_edges=[edge], title=title)
    beside = [flow, units] if params["layers"] > 3 else [units, flow]  # a wide one comes last
    panels = [plane("rows", parts.surface(network, data, k, row)), *beside]
    test, truth = data.test
    held = float(network.loss_value(test, target(truth, k))) if len(test) else None
    right, dead = round(accuracy(network, X, y), 3), 100 * float(found.dead_fraction.mean())
    numbers: dict[str, Any] = {"epoch": i, "loss": round(loss, 4), "accuracy": right}
    numbers["δ first / last hidden"] = short(found.ratio, 3)
    numbers["units without gradient"] = f"{dead:.0f} %"
    if len(test):
        numbers["held-out accuracy"] = round(accuracy(network, test, truth), 3)
    return Frame(i, loss, None, formula, numbers, {"panels": panels}, held)


def _update(networks: Any, i: int, X: ArrayLike, T: Any, params: dict[str, Any]) -> Any:
    """The weight with the largest gradient before this epoch, and what became of it."""
    before = networks[max(i - 1, 0)]
    gradients = before.gradients(X, T).weights
    layer = int(np.argmax([float(np.abs(g).max()) for g in gradients]))
    g = gradients[layer]
    a, b = (int(v) for v in np.unravel_index(np.abs(g).argmax(), g.shape))
    sizes = parts.sizes_of(before)
    name = f"w({unit_name(layer, a, sizes)} → {unit_name(layer + 1, b, sizes)})"
    old, slope = float(before.weights[layer][a, b]), float(g[a, b])
    edge = (layer, a, b)
    if i == 0:
        return f"start: {name} = {number(old)}, ∂L/∂w = {number(slope)}, the largest of all", edge
    new = float(networks[i].weights[layer][a, b])
    if params["rule"] == "Adam":
        return (
            f"{name} ← w − η m̂ / √v̂: ∂L/∂w = {number(slope)}, "
            f"w = {number(old)} → {number(new)} (η = {number(params['rate'])})"
        ), edge
    slope_said = number(slope) if slope >= 0 else f"({number(slope)})"
    return (
        f"{name} ← w − η ∂L/∂w = {number(old)} − {number(params['rate'])} · {slope_said} = "
        f"{number(new)}"
    ), edge


def _verdict(data: LabData, networks: Any, k: int) -> str:
    X, y = data.train
    T = target(y, k)
    network = networks[-1]
    _, flow = flow_panel(network, X, T)
    loss, base = float(network.loss_value(X, T)), float(networks[0].loss_value(X, T))
    W = network.weights[0]
    said = f"Loss {number(base)} → {number(loss)}, accuracy {number(accuracy(network, X, y))}. "
    if W.shape[1] > 1 and np.ptp(W, axis=1).max() < 1e-9:
        return said + "All units of a layer have the same weights: one unit would do as well."
    if float(flow.dead_fraction.mean()) > 0.5:
        return said + "Most units are 0 for every row and get no gradient: they are dead."
    if flow.verdict != "healthy":
        return said + f"The gradients are {flow.verdict} on their way back; {flow.advice}."
    return said + "Gradients of every layer are of comparable size."


def _code(data: LabData, params: dict[str, Any], k: int, seed: int, loud: bool) -> str:
    adam = params["rule"] == "Adam"
    rule = "Adam()" if adam else "None"
    fit = (
        parts.start_code(params, k, seed)
        + f"solver = GradientDescent({params['rate']!r}, {rule}, max_iter={params['epochs']}, "
        f"tol=None)\nmodel = MLPClassifier(start, solver=solver, alpha=0.0, "
        f"random_state={seed}).fit(X, y)\n"
    )
    head = "from pellucid import MLPClassifier\nfrom pellucid.neural import Dense, Network\n"
    head += f"from pellucid.solvers import {'Adam, ' if adam else ''}GradientDescent\n"
    if loud:
        fit = quietly(fit, "it warns of what goes wrong")
        head = f"import warnings\n{head}"
    return f"{rows_code(data)}\n{head}\n{fit}objective = float(model.loss_)\n"
