"""Networks of the lab: where they start, and how units, weights and gradients are drawn."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.drawing import class_shades, number, row_points
from pellucid.lab.page import LabData
from pellucid.lab.scene import Mark, Panel, around, graph, lattice, line, plane, points, regions
from pellucid.neural.diagnosis import gradient_flow
from pellucid.neural.layers.dense import Dense
from pellucid.neural.network import Network

STARTS = {"Glorot": "glorot_uniform", "He": "he_normal", "zeros": "zeros", "biases −5": "he_normal"}
MOST_EDGES, MOST_WORDS = 60, 12
CELLS = 36
FLOOR = 1e-9  # gradients below are drawn here


def start_network(params: dict[str, Any], k: int, seed: int) -> Network:
    """The network before anything is learned, for k classes."""
    init = STARTS[params["start"]]
    hidden = [Dense(params["units"], params["activation"], init=init)] * params["layers"]
    last = Dense(1, "logistic", init=init) if k == 2 else Dense(k, "softmax", init=init)
    loss = "binary_cross_entropy" if k == 2 else "cross_entropy"
    network = Network([*hidden, last], loss=loss, n_inputs=2, random_state=seed)
    if params["start"] != "biases −5":
        return network
    b = [np.full(len(b), -5.0) for b in network.biases[:-1]]
    names = [*([params["activation"]] * params["layers"]), last.activation]
    biases = [*b, network.biases[-1]]
    return Network.from_weights(network.weights, biases, activations=names, loss=loss)


def start_code(params: dict[str, Any], k: int, seed: int) -> str:
    """Python of ``start_network``."""
    init = STARTS[params["start"]]
    one = f"Dense({params['units']}, {params['activation']!r}, init={init!r})"
    last, loss = f"Dense({k}, 'softmax'", "cross_entropy"
    if k == 2:
        last, loss = "Dense(1, 'logistic'", "binary_cross_entropy"
    code = (
        f"hidden = [{one}] * {params['layers']}\n"
        f"start = Network([*hidden, {last}, init={init!r})], loss={loss!r},\n"
        f"                n_inputs=2, random_state={seed})\n"
    )
    if params["start"] == "biases −5":
        names = [*([params["activation"]] * params["layers"]), "logistic" if k == 2 else "softmax"]
        code += (
            "low = [np.full(len(b), -5.0) for b in start.biases[:-1]] + [start.biases[-1]]\n"
            f"start = Network.from_weights(start.weights, low, activations={names!r},\n"
            f"                             loss={loss!r})\n"
        )
    return code


def rows_panel(data: LabData) -> Panel:
    """The plane of the rows, without any answers yet."""
    x, y, title = *data.names, "Rows and what the network says"
    alt = "Rows by class on the surface of the network's answers."
    return plane("rows", [row_points(data)], title=title, x=x, y=y, box=around(data.X), alt=alt)


def classes_of(y: ArrayLike) -> int:
    return max(2, int(np.max(y)) + 1)


def target(y: ArrayLike, k: int) -> Any:
    """y as a network takes it."""
    return np.asarray(y, float)[:, None] if k == 2 else np.asarray(y)


def unit_name(layer: int, j: int, sizes: list[int]) -> str:
    """x1, h1 (one hidden layer), h2.1 (more), p."""
    if layer == 0:
        return f"x{j + 1}"
    if layer == len(sizes) - 1:
        return "p" if sizes[-1] == 1 else f"p{j}"
    return f"h{j + 1}" if len(sizes) == 3 else f"h{layer}.{j + 1}"


def sizes_of(network: Network) -> list[int]:
    return [len(network.weights[0]), *(w.shape[1] for w in network.weights)]


def network_panel(
    network: Network, words: list[list[str]], *, lit: Any = (), lit_edges: Any = (), title: str = ""
) -> Panel:
    """Units with words in them; weights as lines, negative ones dashed.

    ``lit``: (layer, unit) pairs; ``lit_edges``: (layer, from, to) triples.
    """
    sizes = sizes_of(network)
    nodes: list[dict[str, Any]] = []
    number_of: dict[tuple[int, int], int] = {}
    lit, lit_edges, deep = set(lit), set(lit_edges), len(sizes) > 6
    for layer, n in enumerate(sizes):
        for j in range(n):
            number_of[layer, j] = len(nodes)
            name, said = unit_name(layer, j, sizes), words[layer][j]
            label = f"{name}\n{said}" if said and not deep else said or name
            place = {"x": 2.0 * layer, "y": 1.2 * ((n - 1) / 2 - j), "round": False}
            nodes.append({**place, "label": label, "lit": (layer, j) in lit})
    every = [
        (abs(float(w)), layer, i, j, float(w))
        for layer, W in enumerate(network.weights)
        for (i, j), w in np.ndenumerate(W)
    ]
    few = len(every) <= MOST_WORDS
    kept = sorted(every, key=lambda e: ((e[1], e[2], e[3]) not in lit_edges, -e[0]))[:MOST_EDGES]
    edges = []
    for _, layer, i, j, w in sorted(kept, key=lambda e: e[1:4]):
        strong = (layer, i, j) in lit_edges
        ends = {"source": number_of[layer, i], "target": number_of[layer + 1, j], "arrow": False}
        spoken = {"name": "w"} if strong or not lit_edges else {}
        look = {"colour": 0 if w >= 0 else 1, "dashed": w < 0, "lit": strong}
        edges.append(
            {**ends, **spoken, **look, **({"label": number(w, 2)} if few or strong else {})}
        )
    alt = "The units of the network and the weights between them."
    return graph("network", nodes, edges, title=title, alt=alt)


def surface(network: Network, data: LabData, k: int, ring: int | None = None) -> list[Mark]:
    """What the network says everywhere, and a ring around the row that is followed."""
    box = around(data.X)
    _, _, cells = lattice(box, CELLS)
    out = network.predict(cells)
    if k == 2:
        marks = [class_shades(out[:, 0], box)]
    else:
        marks = [regions(out.argmax(axis=1).reshape(CELLS, CELLS), box)]
    if ring is not None:
        x, group = data.train[0][ring], [int(data.train[1][ring])]
        label = "the row that is followed"
        marks.append(points(x[:1], x[1:], group=group, size=1.5, ring=[True], label=label))
    return marks


def flow_panel(network: Network, X: ArrayLike, T: Any) -> tuple[Panel, Any]:
    """Size of the gradients layer by layer, on a log scale; and the flow itself."""
    flow = gradient_flow(network, X, T)
    rms = np.maximum(flow.rms_deltas, FLOOR)
    layers = np.arange(1, len(rms) + 1)
    marks = [
        line(layers, rms, colour="accent"),
        points(layers, rms, group="accent", label="rms of δ = ∂L/∂z"),
    ]
    title, box = "Gradients that come back, by layer", (0.5, len(rms) + 0.5, FLOOR / 2, 10.0)
    alt = "Root mean square of the gradients in each layer, on a log scale."
    panel = plane("flow", marks, title=title, x="layer", y="rms δ", log_y=True, box=box, alt=alt)
    return panel, flow


def accuracy(network: Network, X: ArrayLike, y: ArrayLike) -> float:
    out = network.predict(X)
    said = out.argmax(axis=1) if out.shape[1] > 1 else (out[:, 0] > 0.5).astype(int)
    return float((said == y).mean())
