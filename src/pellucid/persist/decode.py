"""From a tree of JSON values back to a model. The tree comes from a stranger: every node is
checked for its exact keys and types, and only the kinds of this file exist."""

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.persist.allowed import find_class, find_function
from pellucid.persist.build import build_estimator, build_record
from pellucid.persist.format import MAX_BYTES, ModelFileError, brief, expect
from pellucid.persist.generators import make_generator
from pellucid.persist.npy import Layout, check_layout, check_shape, check_sizes
from pellucid.persist.schema import COUNT
from pellucid.persist.tables import CODES, DTYPES, MATRICES, SCALARS, TYPES

Node = Any  # JSON
NAMES = {name: bits for bits, name in CODES.items()}
EXPANSION, SPARE = 16, 2**20  # what a file may take beside its arrays: 16 times its size, 1 MB


class Decoder:
    """Builds one model; ``read(name, layout)`` brings an array, ``room`` is the file's size.

    >>> decoder = Decoder(read=None)
    >>> decoder.decode({"is": "tuple", "items": [1, {"is": "float", "name": "inf"}]})
    (1, inf)
    """

    def __init__(
        self, read: Callable[[str, Layout], np.ndarray] | None, room: int = MAX_BYTES
    ) -> None:
        self._read = read
        self._room = room
        self._spent = 0
        self.arrays: dict[str, np.ndarray] = {}  # by file: what was shared is shared again
        self._layouts: dict[str, Layout] = {}

    def decode(self, node: Node) -> Any:
        if node is None or isinstance(node, bool | int | str):
            return node
        if isinstance(node, float):
            if not math.isfinite(node):
                raise ModelFileError("the manifest holds a number too large for a float")
            return node
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if "class" in node:
            return self._object(node)
        kind = node.get("is")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ModelFileError(f"the manifest holds a value of unknown kind {brief(kind)}")
        keys, method = KINDS[kind]
        if node.keys() != {"is", *keys}:
            raise ModelFileError(f"a value of kind {kind!r} in the manifest has wrong fields")
        return method(self, node)

    def spend(self, size: int) -> None:
        """Count memory that is taken beside the arrays: one array named often must not multiply."""
        self._spent += size
        if self._spent > EXPANSION * self._room + SPARE:
            raise ModelFileError("the file asks for many times the memory of its own size")

    def array(self, node: Node) -> np.ndarray:
        """A node that must be an array."""
        value = self.decode(node)
        if not isinstance(value, np.ndarray) or value.dtype.kind == "O":
            raise ModelFileError(f"the manifest holds {brief(node)} where an array belongs")
        return value

    def _array(self, node: Node) -> np.ndarray:
        name = node["file"]
        layout = check_layout(node["dtype"], node["shape"], node["order"])
        if not isinstance(name, str) or self._read is None:
            raise ModelFileError(f"an array must name its file, got {brief(name)}")
        if name not in self.arrays:
            self.arrays[name], self._layouts[name] = self._read(name, layout), layout
        if self._layouts[name] != layout:
            raise ModelFileError(f"the manifest describes {name} in two ways")
        return self.arrays[name]

    def _tuple(self, node: Node) -> tuple:
        return tuple(self._items(node))

    def _items(self, node: Node) -> list[Any]:
        return self.decode(expect(node["items"], list))

    def _dict(self, node: Node) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for pair in expect(node["items"], list):
            if not isinstance(pair, list) or len(pair) != 2:
                raise ModelFileError("a dict in the manifest must be a list of key and value pairs")
            key = hashable(self.decode(pair[0]))
            if key in found:
                raise ModelFileError(f"a dict in the manifest has the key {brief(key)} twice")
            found[key] = self.decode(pair[1])
        return found

    def _set(self, node: Node) -> Any:
        items = [hashable(item) for item in self._items(node)]
        return set(items) if node["is"] == "set" else frozenset(items)

    def _span(self, node: Node) -> Any:
        items = self._items(node)
        if node["is"] == "slice" and len(items) == 3:
            return slice(*items)
        if len(items) == 3 and all(type(item) is int for item in items) and items[2] != 0:
            whole = range(*items)
            if whole[max(COUNT, self._room) :]:
                raise ModelFileError(f"the manifest counts {brief(items)}, more than a file may")
            return whole
        raise ModelFileError(
            f"a {node['is']} in the manifest needs three parts, got {brief(items)}"
        )

    def _numbers(self, node: Node) -> list[Any]:
        array = self.array(node["array"])
        if array.ndim != 1 or array.dtype.str not in ("<f8", "<i8"):
            raise ModelFileError("a list of numbers in the manifest is not one column of numbers")
        self.spend(32 * len(array))
        return array.tolist()

    def _stack(self, node: Node) -> list[np.ndarray]:
        array = self.array(node["array"])
        if array.ndim == 0 or array.size == 0:  # no data, any number of items: not ours
            raise ModelFileError("a list of arrays in the manifest is stored without its data")
        self.spend(array.nbytes + 200 * len(array))
        return [array[i, ...].copy() for i in range(len(array))]

    def _table(self, node: Node) -> list[dict[str, Any]]:
        columns: dict[str, list[Any]] = {}
        for pair in expect(node["columns"], list):
            if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
                raise ModelFileError("a table in the manifest must be a list of named columns")
            columns[pair[0]] = expect(self.decode(pair[1]), list)
        lengths = {len(column) for column in columns.values()}
        if len(lengths) != 1 or len(columns) != len(node["columns"]):
            raise ModelFileError("the columns of a table in the manifest do not fit together")
        self.spend(100 * len(columns) * lengths.pop())
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _objects(self, node: Node) -> np.ndarray:
        shape, items = check_shape(node["shape"]), self._items(node)
        if math.prod(shape) != len(items) or node["order"] not in ("C", "F"):
            raise ModelFileError("an array of texts in the manifest has the wrong number of items")
        flat = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            if not (item is None or isinstance(item, bool | int | float | str | np.ndarray)):
                raise ModelFileError(f"an array of texts in the manifest holds {brief(item)}")
            flat[i] = item
        return np.array(flat.reshape(shape), order=node["order"])

    def _scalar(self, node: Node) -> np.generic:
        name = node["type"]
        if not isinstance(name, str) or name not in SCALARS:
            raise ModelFileError(f"the manifest holds a NumPy scalar of type {brief(name)}")
        kind = np.dtype(SCALARS[name]).kind
        value = expect(self.decode(node["value"]), ITEM_TYPES[kind])
        try:
            return SCALARS[name](value)
        except OverflowError as error:
            raise ModelFileError(f"the manifest holds {value} as {name}") from error

    def _float(self, node: Node) -> float:
        bits = NAMES.get(str(node["name"]), node["name"])
        value = struct.unpack(">d", unhex(bits, 8))[0]
        if math.isfinite(value):
            raise ModelFileError("the manifest spells a finite number by its bits")
        return value

    def _bytes(self, node: Node) -> bytes:
        return unhex(node["hex"])

    def _dtype(self, node: Node) -> np.dtype:
        if not isinstance(node["name"], str) or not DTYPES.fullmatch(node["name"]):
            raise ModelFileError(f"the manifest holds the dtype {brief(node['name'])}")
        return np.dtype(node["name"])

    def _type(self, node: Node) -> type:
        if not isinstance(node["name"], str) or node["name"] not in TYPES:
            raise ModelFileError(f"the manifest holds the type {brief(node['name'])}")
        return TYPES[node["name"]]

    def _function(self, node: Node) -> Any:
        return find_function(node["name"])

    def _generator(self, node: Node) -> Any:
        return make_generator(self.decode(node["state"]))

    def _sparse(self, node: Node) -> Any:
        kind, shape = node["kind"], check_sizes(node["shape"])
        parts = tuple(self.array(node[part]) for part in ("data", "indices", "indptr"))
        indices = all(part.dtype.str in ("<i4", "<i8") for part in parts[1:])
        if not isinstance(kind, str) or kind not in MATRICES or len(shape) != 2 or not indices:
            raise ModelFileError(f"the manifest holds a sparse matrix of kind {brief(kind)}")
        if any(part.ndim != 1 for part in parts) or parts[0].dtype.kind not in "biuf":
            raise ModelFileError("the parts of a sparse matrix must be three columns of numbers")
        try:
            matrix = MATRICES[kind](parts, shape=shape)
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ModelFileError("the parts of a sparse matrix do not fit together") from error
        return matrix

    def _object(self, node: Node) -> Any:
        if node.keys() != {"class", "params", "state"}:
            raise ModelFileError("an object in the manifest needs class, params and state")
        cls = find_class(node["class"])
        params = {key: self.decode(item) for key, item in expect(node["params"], dict).items()}
        state = {key: self.decode(item) for key, item in expect(node["state"], dict).items()}
        if issubclass(cls, BaseEstimator):
            return build_estimator(cls, node["class"], params, state, self._room)
        if params:
            raise ModelFileError(f"{node['class']} has no parameters, the file gives some")
        return build_record(cls, node["class"], state, self._room)


KINDS: dict[str, tuple[tuple[str, ...], Callable[[Decoder, Node], Any]]] = {
    "array": (("file", "dtype", "shape", "order"), Decoder._array),
    "bytes": (("hex",), Decoder._bytes),
    "dict": (("items",), Decoder._dict),
    "dtype": (("name",), Decoder._dtype),
    "float": (("name",), Decoder._float),
    "frozenset": (("items",), Decoder._set),
    "function": (("name",), Decoder._function),
    "generator": (("state",), Decoder._generator),
    "numbers": (("array",), Decoder._numbers),
    "objects": (("shape", "order", "items"), Decoder._objects),
    "range": (("items",), Decoder._span),
    "scalar": (("type", "value"), Decoder._scalar),
    "set": (("items",), Decoder._set),
    "slice": (("items",), Decoder._span),
    "sparse": (("kind", "shape", "data", "indices", "indptr"), Decoder._sparse),
    "stack": (("array",), Decoder._stack),
    "table": (("columns",), Decoder._table),
    "tuple": (("items",), Decoder._tuple),
    "type": (("name",), Decoder._type),
}
ITEM_TYPES: dict[str, type] = {"b": bool, "i": int, "u": int, "f": float, "U": str, "S": bytes}


def hashable(value: object) -> Any:
    try:
        hash(value)
    except TypeError as error:
        raise ModelFileError(f"the manifest uses {brief(value)} as a key") from error
    return value


def unhex(value: object, length: int | None = None) -> bytes:
    try:
        raw = bytes.fromhex(expect(value, str))
    except ValueError as error:
        raise ModelFileError(
            f"the manifest holds {brief(value)} where hex digits belong"
        ) from error
    if raw.hex() != value or (length is not None and len(raw) != length):
        raise ModelFileError(f"the manifest holds {brief(value)} where hex digits belong")
    return raw
