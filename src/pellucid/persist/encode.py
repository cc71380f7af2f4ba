"""From a model to a tree of JSON values and a list of arrays.

None, truth values, whole numbers, finite floats, text and lists are themselves. Everything else
is an object that says what it is: ``{"is": "tuple", "items": [..]}``; an object with ``"class"``
is an estimator or a record. What has no place in the tree is refused by name.
"""

import dataclasses
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from pellucid.persist.allowed import (
    ONLY_NONE,
    RECORDS,
    check_attribute,
    class_name,
    is_cached,
    is_namedtuple,
    public_function,
)
from pellucid.persist.format import MAX_DEPTH, TRANSIENT, array_name
from pellucid.persist.generators import generator_state
from pellucid.persist.leaves import PLAIN, full_name, function_name, refuse, scalar, text
from pellucid.persist.npy import DTYPE, layout_of
from pellucid.persist.schema import COUNT
from pellucid.persist.tables import DTYPES, MATRICES, TYPES

Node = Any  # JSON
LONG = 32  # a list of at least so many numbers is stored as an array
SMALL = 2**16  # bytes; many arrays of the same shape, each at most so large, are stored as one

TYPE_NAMES = {kind: name for name, kind in TYPES.items()}
MATRIX_NAMES = {kind: name for name, kind in MATRICES.items()}
FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, np.ufunc)


class Encoder:
    """Walks one model; ``arrays`` fills up on the way.

    >>> encoder = Encoder()
    >>> encoder.encode((1, "a", np.array([1.0, 2.0])), "x")["items"][:2], len(encoder.arrays)
    ([1, 'a'], 1)
    """

    def __init__(self, *, slim: bool = False) -> None:
        self.slim = slim
        self.arrays: list[np.ndarray] = []
        self.functions: list[str] = []  # collected, so that one message names them all
        self._nodes: dict[int, tuple[np.ndarray, Node]] = {}  # shared arrays are stored once
        self._open: list[int] = []  # the containers we are inside of

    def encode(self, value: object, where: str) -> Node:
        """The node of any value; ``where`` is its place, for messages."""
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind in PLAIN:
            return PLAIN[kind](value, where)
        if kind in CONTAINERS or not isinstance(value, LEAVES):
            return self._inside(value, where)
        return self._leaf(value, where)

    def _inside(self, value: object, where: str) -> Node:
        """A value that holds values: guard against cycles and endless depth."""
        if id(value) in self._open:
            refuse(where, "contains itself")
        if len(self._open) >= MAX_DEPTH:
            refuse(where, f"is nested deeper than {MAX_DEPTH} levels")
        self._open.append(id(value))
        method = CONTAINERS.get(type(value), Encoder._object)
        node = method(self, value, where)
        self._open.pop()
        return node

    def _list(self, value: list, where: str) -> Node:
        kinds = set(map(type, value))
        if len(value) >= LONG and kinds == {float}:
            return {"is": "numbers", "array": self._new_array(np.array(value, dtype="<f8"))}
        if len(value) >= LONG and kinds == {int} and -(2**63) <= min(value) <= max(value) < 2**63:
            return {"is": "numbers", "array": self._new_array(np.array(value, dtype="<i8"))}
        if len(value) >= LONG and kinds == {np.ndarray} and _stackable(value):
            return {"is": "stack", "array": self._new_array(np.stack(value))}
        if len(value) > 1 and kinds == {dict} and _same_columns(value):
            return {"is": "table", "columns": self._columns(value, where)}
        return self._items(value, where)

    def _items(self, value: Any, where: str) -> list[Node]:
        return [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]

    def _columns(self, rows: list[dict[str, Any]], where: str) -> list[Node]:
        columns = [(key, [row[key] for row in rows]) for key in rows[0]]
        return [[text(key, where), self.encode(col, f"{where}.{key}")] for key, col in columns]

    def _tuple(self, value: tuple, where: str) -> Node:
        return {"is": "tuple", "items": self._items(value, where)}

    def _dict(self, value: dict, where: str) -> Node:
        items = [
            [self.encode(key, f"a key of {where}"), self.encode(item, f"{where}[{key!r}]")]
            for key, item in value.items()
        ]
        return {"is": "dict", "items": items}

    def _set(self, value: object, where: str) -> Node:
        items = sorted(self._items(value, where), key=repr)  # sets have no order of their own
        return {"is": type(value).__name__, "items": items}

    def _leaf(self, value: object, where: str) -> Node:
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return scalar(value, where)
        if isinstance(value, range) and value[COUNT:]:
            refuse(where, f"is {value}, which counts further than a model file may")
        if isinstance(value, slice | range):
            parts = [value.start, value.stop, value.step]
            return {"is": type(value).__name__, "items": self._items(parts, where)}
        if isinstance(value, np.dtype):
            if not DTYPES.fullmatch(value.str):
                refuse(where, f"is the dtype {value}, which has no place in a model file")
            return {"is": "dtype", "name": value.str}
        if isinstance(value, type):
            if value not in TYPE_NAMES:
                refuse(where, f"is the class {full_name(value)}; classes are not data")
            return {"is": "type", "name": TYPE_NAMES[value]}
        if isinstance(value, np.random.Generator | np.random.RandomState):
            return self._generator(value, where)
        return self._sparse(value, where)

    def _array(self, value: np.ndarray, where: str) -> Node:
        if type(value) not in (np.ndarray, np.memmap):
            refuse(where, f"is a {full_name(type(value))}; plain arrays can be saved")
        if value.dtype.kind == "O":
            return self._object_array(value, where)
        if not DTYPE.fullmatch(value.dtype.str):
            refuse(
                where, f"is an array of dtype {value.dtype}; float, int, bool and text can be saved"
            )
        if id(value) not in self._nodes:
            self._nodes[id(value)] = (value, self._new_array(value))
        return self._nodes[id(value)][1]

    def _new_array(self, value: np.ndarray) -> Node:
        self.arrays.append(value)
        layout = layout_of(value)
        return {
            "is": "array",
            "file": array_name(len(self.arrays) - 1),
            "dtype": layout.dtype,
            "shape": list(layout.shape),
            "order": layout.order,
        }

    def _object_array(self, value: np.ndarray, where: str) -> Node:
        """Text and numbers go to JSON; scikit-learn also keeps rows of unequal length this way."""
        items = value.ravel(order="C").tolist()
        for item in items:
            ragged = type(item) is np.ndarray and item.dtype.kind != "O" and item.ndim > 0
            if not (item is None or type(item) in (bool, int, float, str) or ragged):
                refuse(where, f"is an object array with a {full_name(type(item))} in it")
        shape, order = list(value.shape), layout_of(value).order
        return {"is": "objects", "shape": shape, "order": order, "items": self._items(items, where)}

    def _generator(self, value: object, where: str) -> Node:
        state = generator_state(value)
        if state is None:
            refuse(where, "is a random generator of a kind that NumPy does not provide")
        return {"is": "generator", "state": self.encode(state, where)}

    def _sparse(self, value: Any, where: str) -> Node:
        if type(value) not in MATRIX_NAMES or value.ndim != 2 or value.dtype.kind not in "biuf":
            refuse(
                where,
                f"is a {full_name(type(value))}; of the sparse kinds CSR and CSC can be saved",
            )
        parts = {
            part: self._array(getattr(value, part), where) for part in ("data", "indices", "indptr")
        }
        return {
            "is": "sparse",
            "kind": MATRIX_NAMES[type(value)],
            "shape": list(map(int, value.shape)),
            **parts,
        }

    def _object(self, value: Any, where: str) -> Node:
        cls = type(value)
        if cls.__module__.partition(".")[0] == "pandas" and cls.__name__.endswith("Index"):
            return self._object_array(value.to_numpy(dtype=object), where)  # a frame's names
        name = class_name(cls)
        if name is None:
            listed = public_function(value)
            if listed is not None:
                return {"is": "function", "name": listed}
            if isinstance(value, FUNCTIONS) or (
                callable(value) and not isinstance(value, BaseEstimator)
            ):
                self.functions.append(f"{function_name(value)} in {where}")
                return None
            refuse(where, f"is a {full_name(cls)}, a class that no model file may hold")
        if issubclass(cls, BaseEstimator):  # not what ``__class__`` says of a stand-in
            return self._estimator(value, name, where)
        if is_namedtuple(cls):
            fields = (value._to_file() if hasattr(cls, "_to_file") else value)._asdict()
        elif name in RECORDS:
            fields = {key: vars(value)[key] for key in RECORDS[name]}
        else:
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(cls)}
        state = {key: self.encode(item, f"{where}.{key}") for key, item in fields.items()}
        return {"class": name, "params": {}, "state": state}

    def _estimator(self, model: BaseEstimator, name: str, where: str) -> Node:
        cls = type(model)
        params = model.get_params(deep=False)
        dropped = {"history_", *getattr(cls, "_training_state", ())} if self.slim else set()
        state: dict[str, Node] = {}
        for key, value in vars(model).items():
            if key in params or key in TRANSIENT or key in dropped or is_cached(cls, key):
                continue
            check_attribute(cls, key)
            if key == "_metadata_request":
                value = _requests(value)
            state[key] = self.encode(value, f"{where}.{key}")
        nodes = {key: self.encode(value, f"{where}.{key}") for key, value in params.items()}
        for key in ONLY_NONE.get(name, ()):
            if nodes[key] is not None:
                refuse(f"{where}.{key}", "is set; a model file holds it only as None")
        return {"class": name, "params": nodes, "state": state}


CONTAINERS: dict[type, Callable[[Encoder, Any, str], Node]] = {
    list: Encoder._list,
    tuple: Encoder._tuple,
    dict: Encoder._dict,
    set: Encoder._set,
    frozenset: Encoder._set,
}
LEAVES = (
    np.ndarray,
    np.generic,
    np.dtype,
    type,
    slice,
    range,
    np.random.Generator,
    np.random.RandomState,
    sparse.spmatrix,
    sparse.sparray,
)


def _stackable(arrays: list[np.ndarray]) -> bool:
    first = arrays[0]
    same = {(a.dtype.str, a.shape, a.flags.c_contiguous) for a in arrays}
    small = 0 < first.nbytes <= SMALL and first.flags.c_contiguous
    return len(same) == 1 and small and bool(DTYPE.fullmatch(first.dtype.str))


def _same_columns(rows: list[dict[Any, Any]]) -> bool:
    names = list(rows[0])
    if not names or not all(type(name) is str for name in names):
        return False
    return all(list(row) == names for row in rows)


def _requests(request: object) -> dict[str, dict[str, Any]]:
    """scikit-learn's metadata requests point back to their estimator: keep what was asked."""
    methods = {key: value for key, value in vars(request).items() if key != "owner"}
    return {key: dict(value.requests) for key, value in methods.items() if value.requests}
