"""Multi-layer perceptrons as plain Python or C99: weights and loops.

Products are summed term by term, BLAS sums in another order: answers agree up to rounding.
"""

from typing import Any, NamedTuple

from pellucid.core.arrays.typing import Array
from pellucid.neural.layers.activate import Activate
from pellucid.neural.layers.activations import get_activation
from pellucid.neural.layers.dense import Affine
from pellucid.neural.layers.dropout import Dropout
from pellucid.report.source.trees import c_array

PYTHON = {
    "identity": "v",
    "logistic": "1.0 / (1.0 + exp(-v))",
    "tanh": "1.0 - 2.0 / (1.0 + exp(2.0 * v))",
    "relu": "v if v > 0.0 else 0.0",
    "leaky_relu": "v if v > 0.0 else 0.01 * v",
    "exp": "exp(v)",
}
C = {
    "identity": "v",
    "logistic": "1.0 / (1.0 + exp(-v))",
    "tanh": "tanh(v)",
    "relu": "v > 0.0 ? v : 0.0",
    "leaky_relu": "v > 0.0 ? v : 0.01 * v",
    "exp": "exp(v)",
}


class LayerCode(NamedTuple):
    """z = x W + b, a = g(z)."""

    W: Array
    b: Array | None
    activation: str


def layers_of(model: Any) -> list[LayerCode]:
    """The dense layers of the network, with the names of their activations."""
    network = model.network_
    parameters = network.plan.params(network.vector)
    steps = [part for layer in model.layers_ for part in layer.parts()]
    found: list[LayerCode] = []
    for part, p in zip(steps, parameters, strict=True):
        if isinstance(part, Affine):
            found.append(LayerCode(p[0], p[1] if len(p) > 1 else None, "identity"))
        elif isinstance(part, Activate) and found:
            name = get_activation(part.activation).name
            if name not in PYTHON and name != "softmax":
                accepted = ", ".join([*PYTHON, "softmax"])
                raise ValueError(f"source is written for the activations {accepted}; got {name}")
            found[-1] = found[-1]._replace(activation=name)
        elif not isinstance(part, Dropout):  # dropout does nothing in prediction
            raise ValueError(f"source is written for dense layers, got {type(part).__name__}")
    return found


EXP = '''
def exp(v):
    """e to the v: 2^k times a series for the rest, right to the last digits."""
    if v > 709.78:
        return 1e999
    if v < -745.2:
        return 0.0
    k = round(v * 1.4426950408889634)
    r = (v - k * 0.6931471803691238) - k * 1.9082149292705877e-10
    total = 1.0
    for i in range(14, 0, -1):
        total = 1.0 + total * r / i
    return total * 2.0 ** (k // 2) * 2.0 ** (k - k // 2)
'''

SOFTMAX = """    top = max(x)
    x = [exp(v - top) for v in x]
    total = sum(x)
    x = [v / total for v in x]"""


def python_network(layers: list[LayerCode]) -> str:
    """WEIGHTS_1, BIASES_1, ... and ``scores(x)``."""
    lines, body = [], []
    for k, layer in enumerate(layers, 1):
        lines.append(f"WEIGHTS_{k} = {layer.W.T.tolist()}")
        bias = [0.0] * layer.W.shape[1] if layer.b is None else layer.b.tolist()
        lines.append(f"BIASES_{k} = {bias}")
        body.append(
            f"    x = [sum(w * v for w, v in zip(row, x)) + b "
            f"for row, b in zip(WEIGHTS_{k}, BIASES_{k})]"
        )
        if layer.activation == "softmax":
            body.append(SOFTMAX)
        elif layer.activation != "identity":
            body.append(f"    x = [{PYTHON[layer.activation]} for v in x]")
    text = "\n".join(lines) + "\n" + EXP
    return (
        text
        + '\n\ndef scores(x):\n    """The outputs of the network for one row."""\n'
        + ("\n".join(body) + "\n    return x")
    )


def c_network(layers: list[LayerCode]) -> str:
    """static arrays and ``scores(x, out)``."""
    arrays, body = [], []
    source = "x"
    for k, layer in enumerate(layers, 1):
        p, m = layer.W.shape
        bias = [0.0] * m if layer.b is None else layer.b.tolist()
        arrays += [
            c_array("double", f"weights_{k}", layer.W.T.ravel()),
            c_array("double", f"biases_{k}", bias),
        ]
        target = "out" if k == len(layers) else f"a{k}"
        if k < len(layers):
            body.append(f"    double {target}[{m}];")
        act = C.get(layer.activation, "v")
        body.append(
            f"    for (int j = 0; j < {m}; j++) {{\n"
            f"        double v = 0.0;\n"
            f"        for (int i = 0; i < {p}; i++) v += weights_{k}[{p} * j + i] * {source}[i];\n"
            f"        v += biases_{k}[j];\n"
            f"        {target}[j] = {act};\n    }}"
        )
        if layer.activation == "softmax":
            body.append(
                f"    double top = {target}[0], total = 0.0;\n"
                f"    for (int j = 1; j < {m}; j++) if ({target}[j] > top) top = {target}[j];\n"
                f"    for (int j = 0; j < {m}; j++) "
                f"total += {target}[j] = exp({target}[j] - top);\n"
                f"    for (int j = 0; j < {m}; j++) {target}[j] /= total;"
            )
        source = target
    head = "/* The outputs of the network for one row. */"
    code = "void scores(const double *x, double *out) {\n" + "\n".join(body) + "\n}"
    return "\n".join([*arrays, "", head, code])
