"""One row forward and back: values, deltas, gradients, and the weights that move."""

import warnings
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.drawing import literal, number, quietly, short, told
from pellucid.lab.page import LabData
from pellucid.lab.pages.networks import parts
from pellucid.lab.pages.networks.parts import classes_of, network_panel, surface, target, unit_name
from pellucid.lab.scene import Panel, plane, table
from pellucid.lab.trace import Frame, Trace
from pellucid.neural.training.training import train
from pellucid.solvers.gradient_descent import GradientDescent

UPDATES = 5
SIGNS = {"logistic": "σ", "relu": "max(0, ·)", "tanh": "tanh", "softmax": "softmax"}


class _Pass:
    """Everything that one row makes flow through one network."""

    def __init__(self, network: Any, x: ArrayLike, t: Any, names: list[str]) -> None:
        self.network, self.names = network, names
        self.sizes = parts.sizes_of(network)
        trace = network.trace(x)
        self.values = [trace.inputs[0], *(post[0] for post in trace.post)]
        self.sums = [pre[0] for pre in trace.pre]
        found = network.gradients(x, t)
        self.deltas = [d[0] for d in found.deltas]
        self.gradients, self.biases = found.weights, network.biases
        self.loss = float(network.loss_value(x, t))


def row_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """A few updates on one row, each in its half-steps."""
    X, y = data.train
    k = classes_of(data.y)
    row = min(params["row"], len(X)) - 1
    x, t = X[row : row + 1], target(y[row : row + 1], k)
    with warnings.catch_warnings(action="ignore"):  # equal weights are what one preset shows
        frames: list[Frame] = []
        names = [params["activation"]] * params["layers"]
        flow = _Pass(parts.start_network(params, k, seed), x, t, names)
        solver = GradientDescent(params["rate"], max_iter=1, tol=None)
        for _ in range(UPDATES):
            frames += _half_steps(data, flow, t, row, len(frames))
            moved = _Pass(train(flow.network, x, t, solver=solver).network, x, t, names)
            frames.append(_moved(data, params["rate"], flow, moved, row, len(frames)))
            flow = moved
    first, last = float(frames[0].objective or 0.0), float(frames[-1].objective or 0.0)
    card = {
        "representation": "layers of weighted sums and activations: a = g(W'x + b)",
        "evaluation": "cross-entropy of one row",
        "optimisation": f"back-propagation and gradient descent with η = {params['rate']:g}",
    }
    verdict = (
        f"{UPDATES} updates on this row took its loss from {number(first)} to "
        f"{number(last)}; the held-out curve says what that did to the others."
    )
    shown, code = told(data, "classes", [parts.rows_panel(data)]), _code(data, params, k, seed, row)
    words = ("One row forward and back", "cross-entropy of the row", verdict, code)
    return Trace("Network", params, shown, card, tuple(frames), *words)


def _code(data: LabData, params: dict[str, Any], k: int, seed: int, row: int) -> str:
    X, y = data.train
    fit = (
        parts.start_code(params, k, seed)
        + f"solver = GradientDescent({params['rate']!r}, max_iter={UPDATES}, tol=None)\n"
        "result = train(start, x, t, solver=solver)\n"
    )
    if params["start"] == "zeros":
        fit = quietly(fit, "equal weights never part")
    return (
        f"{'import warnings' + chr(10) if params['start'] == 'zeros' else ''}"
        "import numpy as np\n\nfrom pellucid.neural import Dense, Network, train\n"
        "from pellucid.solvers import GradientDescent\n\n"
        f"x = {literal(X[row : row + 1])}\nt = {literal(target(y[row : row + 1], k))}\n{fit}"
        "objective = float(result.network.loss_value(x, t))\n"
    )


def _held(network: Any, data: LabData) -> float | None:
    test, truth = data.test
    T = target(truth, classes_of(data.y))
    return float(network.loss_value(test, T)) if len(test) else None


def _half_steps(data: LabData, flow: _Pass, t: Any, row: int, first: int) -> list[Frame]:
    """Forward layer by layer, then back layer by layer."""
    frames: list[Frame] = []
    n = len(flow.sums)
    rows = plane("rows", surface(flow.network, data, classes_of(data.y), row))
    held = _held(flow.network, data)
    said = [[""] * size for size in flow.sizes]
    said[0] = [number(v, 2) for v in flow.values[0]]

    def add(formula: str, layer: int, back: bool, numbers: dict[str, Any]) -> None:
        title = "Back: δ = ∂L/∂z of the units" if back else "Forward: values of the units"
        lit = [(layer, j) for j in range(flow.sizes[layer])]
        units = network_panel(flow.network, [list(w) for w in said], lit=lit, title=title)
        numbers = {"layer": layer, "loss of the row": short(flow.loss, 5), **numbers}
        state = {"panels": [rows, units, _table(flow, layer, back)]}
        step = first + len(frames)
        frames.append(Frame(step, flow.loss, None, formula, numbers, state, held))

    for layer in range(1, n + 1):
        said[layer] = [number(v, 2) for v in flow.values[layer]]
        top = short(np.abs(flow.values[layer]).max())
        add(_forward(flow, layer), layer, False, {"largest |a|": top})
    said[1:] = [[""] * size for size in flow.sizes[1:]]
    for layer in range(n, 0, -1):
        said[layer] = [f"δ {number(v, 2)}" for v in flow.deltas[layer - 1]]
        size = short(np.abs(flow.deltas[layer - 1]).max())
        add(_back(flow, layer, t), layer, True, {"largest |δ|": size})
    return frames


def _table(flow: _Pass, layer: int, back: bool) -> Panel:
    """z, a and δ of every unit of a layer."""
    cells = [
        [
            unit_name(layer, j, flow.sizes),
            number(flow.sums[layer - 1][j]),
            number(flow.values[layer][j]),
            number(flow.deltas[layer - 1][j]) if back else "?",
        ]
        for j in range(flow.sizes[layer])
    ]
    title = f"Layer {layer} in numbers"
    alt = "Weighted sum, value and delta of every unit of the layer."
    return table("units", ["unit", "z", "a = g(z)", "δ"], cells, title=title, alt=alt)


def _forward(flow: _Pass, layer: int) -> str:
    j = int(np.abs(flow.values[layer]).argmax())
    w, b = flow.network.weights[layer - 1][:, j], float(flow.biases[layer - 1][j])
    terms = [
        f"{number(wi)}·{number(a) if a >= 0 else f'({number(a)})'}"
        for wi, a in zip(w, flow.values[layer - 1], strict=True)
    ]
    shown = " + ".join(terms[:3]) + (" + …" if len(terms) > 3 else "")
    kind = _kind(flow, layer)
    return (
        f"{unit_name(layer, j, flow.sizes)}: z = w'a + b = {shown} + {number(b)} = "
        f"{number(flow.sums[layer - 1][j])}, a = {SIGNS[kind]}(z) = {number(flow.values[layer][j])}"
    ).replace("max(0, ·)(z)", "max(0, z)")


def _kind(flow: _Pass, layer: int) -> str:
    if layer == len(flow.sums):
        return "logistic" if flow.sizes[-1] == 1 else "softmax"
    return flow.names[layer - 1]


def _back(flow: _Pass, layer: int, t: Any) -> str:
    d = flow.deltas[layer - 1]
    j = int(np.abs(d).argmax())
    name = unit_name(layer, j, flow.sizes)
    if layer == len(flow.sums):
        p = float(flow.values[layer][j])
        goal = float(t[0, 0]) if flow.sizes[-1] == 1 else float(int(t[0]) == j)
        return f"δ({name}) = p − t = {number(p)} − {number(goal)} = {number(d[j])}"
    W, after = flow.network.weights[layer], flow.deltas[layer]
    s = float(W[j] @ after)
    slope = float(d[j]) / s if s else 0.0
    back = number(s) if s >= 0 else f"({number(s)})"
    return (
        f"δ({name}) = (Σ w δ of the layer above) · g'(z) = {back} · {number(slope)} = "
        f"{number(d[j])}"
    )


def _moved(data: LabData, rate: float, flow: _Pass, moved: _Pass, row: int, step: int) -> Frame:
    """The weights after the update."""
    top = [float(np.abs(g).max()) for g in flow.gradients]
    layer = int(np.argmax(top))
    g = flow.gradients[layer]
    a, b = (int(v) for v in np.unravel_index(np.abs(g).argmax(), g.shape))
    name = f"w({unit_name(layer, a, flow.sizes)} → {unit_name(layer + 1, b, flow.sizes)})"
    old, new = (float(one.network.weights[layer][a, b]) for one in (flow, moved))
    value, delta = float(flow.values[layer][a]), float(flow.deltas[layer][b])
    slope = number(value * delta) if value * delta >= 0 else f"({number(value * delta)})"
    back = number(delta) if delta >= 0 else f"({number(delta)})"
    formula = (
        f"∂L/∂{name} = a δ = {number(value)} · {back} = {number(value * delta)}; "
        f"w ← {number(old)} − {number(rate)} · {slope} = {number(new)}"
    )
    words = [[number(v, 2) for v in layer_] for layer_ in moved.values]
    after, edge, title = moved.network, (layer, a, b), "After the update: values"
    panels = [
        plane("rows", surface(after, data, classes_of(data.y), row)),
        network_panel(after, words, lit_edges=[edge], title=title),
        _table(moved, len(flow.sums), True),
    ]
    numbers = {"loss before": short(flow.loss, 5), "loss after": short(moved.loss, 5)}
    numbers["largest |∂L/∂w|"] = short(max(top))
    return Frame(step, moved.loss, None, formula, numbers, {"panels": panels}, _held(after, data))
