"""Multi-layer perceptrons as ONNX, layer by layer as they predict."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.persist.onnx.graph import Answer, Graph, Output, refuse
from pellucid.persist.onnx.linear import NUMBER, probabilities

LEAK = 0.01


def step(g: Graph, z: str, low: float) -> str:
    """1 above zero, else ``low``; what is missing stays so."""
    return g.choose(g.op("IsNaN", z), z, g.choose(g.op("Greater", z, 0.0), 1.0, low))


def leaky(g: Graph, z: str) -> str:
    return g.choose(g.op("Greater", z, 0.0), z, g.op("Mul", z, LEAK))


ACTIVATIONS: dict[str, Callable[[Graph, str], str]] = {
    "identity": lambda g, z: z,
    "logistic": Graph.sigmoid,
    "sigmoid": Graph.sigmoid,
    "tanh": lambda g, z: g.op("Tanh", z),
    "relu": lambda g, z: g.op("Max", z, 0.0),
    "leaky_relu": leaky,
    "exp": lambda g, z: g.op("Exp", z),
    "softmax": Graph.softmax,
    "step": lambda g, z: step(g, z, 0.0),
    "sign": lambda g, z: step(g, z, -1.0),
}


def affine(g: Graph, model: Any, layer: Any, params: Any, state: Any, x: str) -> str:
    return g.affine(x, params[0], params[1] if layer.use_bias else 0.0)


def activate(g: Graph, model: Any, layer: Any, params: Any, state: Any, x: str) -> str:
    name = layer.activation
    if not isinstance(name, str):
        refuse(model, f"its activation {getattr(name, 'name', name)!r} is code or differs by unit")
    if name not in ACTIVATIONS:
        refuse(model, f"runtimes have no activation {name!r} in float64")
    return ACTIVATIONS[name](g, x)


def batch_norm(g: Graph, model: Any, layer: Any, params: Any, state: Any, x: str) -> str:
    """gamma (x - m) / sqrt(v + e) + beta with the running averages."""
    moved = g.op("Mul", g.op("Sub", x, state.mean[None]), params[0][None])
    root = np.sqrt(state.var + layer.epsilon)
    return g.op("Add", g.op("Div", moved, root[None]), params[1][None])


def unchanged(g: Graph, model: Any, layer: Any, params: Any, state: Any, x: str) -> str:
    return x


LAYERS: dict[str, Callable[[Graph, Any, Any, Any, Any, str], str]] = {
    "pellucid.neural.layers.dense.Affine": affine,
    "pellucid.neural.layers.activate.Activate": activate,
    "pellucid.neural.layers.batch_normalisation.BatchNorm": batch_norm,
    "pellucid.neural.layers.dropout.Dropout": unchanged,
    "pellucid.neural.layers.flatten.Flatten": unchanged,  # the rows of a table are flat
}


def outputs(g: Graph, model: Any, x: str) -> str:
    """What the last layer says."""
    network = model.network_
    parts = zip(network.plan.ops, network.plan.params(network.vector), network.states, strict=True)
    for layer, params, state in parts:
        name = f"{type(layer).__module__}.{type(layer).__qualname__}"
        if name not in LAYERS:
            refuse(model, f"its layer {type(layer).__name__} is not one of Pellucid's for tables")
        x = LAYERS[name](g, model, layer, params, state, x)
    return x


def regressor(g: Graph, model: Any, x: str) -> Answer:
    found = outputs(g, model, x)
    if model._flat:
        return Answer([Output("prediction", g.column(found), NUMBER)])
    return Answer([Output("prediction", found, NUMBER, (model.n_outputs_,))])


def classifier(g: Graph, model: Any, x: str) -> Answer:
    P = outputs(g, model, x)
    if model._several:
        on = g.op("Cast", g.op("Greater", P, 0.5), to=g.onnx.TensorProto.INT64)
        label = Output("label", on, np.dtype(np.int64), (model.n_outputs_,))
        return Answer([label, probabilities(model, P)], model.classes_.tolist())
    if len(model.classes_) < 2:
        refuse(model, "it knows one class only")
    if model.n_outputs_ == 1:
        P = g.join(g.op("Sub", 1.0, P), P)
    return g.classes(model, g.largest(P), probabilities(model, P))


PREDICTORS: dict[str, Callable[[Graph, Any, str], Answer]] = {
    "MLPClassifier": classifier,
    "MLPRegressor": regressor,
}
