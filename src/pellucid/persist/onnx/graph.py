"""An ONNX graph under construction, and the few formulas that several models share.

Numbers are float64 throughout. A tensor is known by its name; a number or array given as an input
becomes a constant of the graph. onnx is imported when a graph is begun, not before.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike

OPSET, TREE_OPSET, IR_VERSION = 18, 5, 10
TREES = "ai.onnx.ml"
MAX_BYTES = 2**31 - 1  # of a protobuf message
ROWS = "rows"  # the name of the first dimension


class Output(NamedTuple):
    """A result of the graph: public name, tensor, type, and columns (none: a vector)."""

    name: str
    tensor: str
    dtype: Any
    columns: tuple[int | None, ...] = ()  # None: a number that is not known


class Answer(NamedTuple):
    """What a model answers, and the classes it knows."""

    outputs: list[Output]
    classes: list[Any] | None = None


def refuse(model: Any, why: str) -> NoReturn:
    """One sentence about what cannot be converted."""
    name = model if isinstance(model, str) else type(model).__name__
    raise ValueError(f"to_onnx cannot convert this {name} exactly: {why}")


class Graph:
    """Nodes and constants in the order in which they were asked for."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise ImportError('ONNX files need onnx: pip install "pellucid[onnx]"') from None
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.known: dict[Any, str] = {}
        self.domains: set[str] = set()

    def constant(self, value: object) -> str:
        """The name of a constant tensor; equal ones are stored once."""
        array = np.asarray(value)
        words = array.dtype.kind in "UO"
        array = np.array(array, dtype=object if words else None, order="C")
        content = tuple(array.ravel().tolist()) if words else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self.known:
            self.known[key] = f"constant_{len(self.constants)}"
            self.constants.append(self.onnx.numpy_helper.from_array(array, self.known[key]))
        return self.known[key]

    def op(self, kind: str, *inputs: Any, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        names = [one if isinstance(one, str) else self.constant(one) for one in inputs]
        output = f"{kind.lower()}_{len(self.nodes)}"
        arrays = {k: v for k, v in attributes.items() if isinstance(v, np.ndarray)}
        plain = {k: v for k, v in attributes.items() if k not in arrays}
        node = self.onnx.helper.make_node(kind, names, [output], domain=domain, **plain)
        for name, values in arrays.items():
            node.attribute.append(self._attribute(name, values))
        self.nodes.append(node)
        self.domains.add(domain)
        return output

    def _attribute(self, name: str, values: Array) -> Any:
        """Lists of whole numbers as they are; float64 and bytes as a tensor."""
        found = self.onnx.AttributeProto(name=name)
        if values.dtype == np.int64:
            found.type = self.onnx.AttributeProto.INTS
            found.ints.extend(values.tolist())
        else:
            found.type = self.onnx.AttributeProto.TENSOR
            found.t.CopyFrom(self.onnx.numpy_helper.from_array(values, name))
        return found

    # --- formulas ---

    def affine(self, x: str, W: Array, b: ArrayLike) -> str:
        """x W + b for W (p, k), b (k,) or one number."""
        return self.op("Add", self.op("MatMul", x, np.asarray(W, np.float64)), _row(b))

    def column(self, x: str) -> str:
        """A matrix of one column as a vector."""
        return self.op("Squeeze", x, np.array([1]))

    def take(self, x: str, places: ArrayLike) -> str:
        """Some columns of a matrix."""
        return self.op("Gather", x, np.asarray(places, np.int64), axis=1)

    def join(self, *parts: str) -> str:
        """Matrices side by side."""
        return self.op("Concat", *parts, axis=1)

    def sigmoid(self, z: str) -> str:
        """1 / (1 + exp(-z)), to the last digits also where it is tiny."""
        return self.op("Reciprocal", self.op("Add", self.op("Exp", self.op("Neg", z)), 1.0))

    def two(self, z: str) -> str:
        """Probabilities (n, 2) of log-odds (n, 1)."""
        return self.join(self.sigmoid(self.op("Neg", z)), self.sigmoid(z))

    def softmax(self, z: str) -> str:
        """exp z_k / sum exp z, row by row; the largest z is subtracted first."""
        odds = self.op("Exp", self.op("Sub", z, self.op("ReduceMax", z, np.array([1]))))
        return self.share(odds)

    def share(self, p: str) -> str:
        """Rows divided by their sums."""
        return self.op("Div", p, self.op("ReduceSum", p, np.array([1])))

    def choose(self, test: str, yes: Any, no: Any) -> str:
        return self.op("Where", test, yes, no)

    # --- results ---

    def classes(self, model: Any, index: str, *more: Output) -> Answer:
        """Labels by their number (n,), and what else the classifier answers."""
        known, values = np.asarray(model.classes_), label_values(model)
        label = Output("label", self.op("Gather", values, index, axis=0), values.dtype)
        return Answer([label, *more], known.tolist())

    def largest(self, x: str) -> str:
        """The number of the largest column; the first of equals."""
        return self.op("ArgMax", x, axis=1, keepdims=0)

    def positive(self, z: str, *, zero: bool = False) -> str:
        """1 where a column (n, 1) is positive (with ``zero``: or 0), else 0; (n,)."""
        test = self.op("GreaterOrEqual" if zero else "Greater", self.column(z), 0.0)
        return self.op("Cast", test, to=self.onnx.TensorProto.INT64)

    def model(
        self, name: str, n_features: int | None, answer: Answer, facts: dict[str, Any]
    ) -> bytes:
        """The file: the same graph gives the same bytes."""
        make = self.onnx.helper
        for one in answer.outputs:
            self.nodes.append(make.make_node("Identity", [one.tensor], [one.name]))
        graph = make.make_graph(
            self.nodes,
            name,
            [self._info("X", np.dtype(np.float64), (n_features,))],
            [self._info(one.name, one.dtype, one.columns) for one in answer.outputs],
            self.constants,
        )
        sets = [make.make_opsetid("", OPSET)]
        if TREES in self.domains:
            sets.append(make.make_opsetid(TREES, TREE_OPSET))
        model = make.make_model(
            graph,
            producer_name="pellucid",
            producer_version=facts["version"],
            opset_imports=sets,
            ir_version=IR_VERSION,
        )
        make.set_model_props(model, {key: _text(value) for key, value in facts.items()})
        if model.ByteSize() > MAX_BYTES:
            refuse(name, f"it needs {model.ByteSize()} bytes, an ONNX file holds {MAX_BYTES}")
        self.onnx.checker.check_model(model)
        return model.SerializeToString(deterministic=True)

    def _info(self, name: str, dtype: Any, columns: Iterable[int | None]) -> Any:
        kinds = self.onnx.TensorProto
        kind = {"f": kinds.DOUBLE, "i": kinds.INT64, "b": kinds.BOOL}.get(dtype.kind, kinds.STRING)
        return self.onnx.helper.make_tensor_value_info(name, kind, [ROWS, *columns])


def label_values(model: Any) -> Any:
    """The classes as an array that ONNX can hold: int64, float64, truth values or text."""
    known = np.asarray(model.classes_)
    if known.dtype.kind == "b":
        return known
    if known.dtype.kind in "iu" and (len(known) == 0 or known.max() <= np.iinfo(np.int64).max):
        return known.astype(np.int64)
    if known.dtype.kind == "f" and known.dtype.itemsize <= 8:
        return known.astype(np.float64)
    if known.dtype.kind == "U" or all(isinstance(one, str) for one in known):
        return known.astype(object)
    refuse(model, f"its classes are {known.dtype} values, ONNX holds whole numbers and text")


def _row(b: ArrayLike) -> Array:
    return np.asarray(b, np.float64).reshape(1, -1)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
