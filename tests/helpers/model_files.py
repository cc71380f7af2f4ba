"""Toy estimators, comparison to the bit, and files forged with a correct seal."""

import dataclasses
import hashlib
import io
import json
import struct
import zipfile
import zlib
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    StandardScaler,
)

from pellucid.core.loops.iterate import History
from pellucid.core.records import Card, Summary
from pellucid.persist import (
    ModelFileError,
    load,
    save,
)
from pellucid.persist.container import Member, seal_comment, skeleton
from pellucid.persist.decode import Decoder
from pellucid.persist.encode import Encoder
from pellucid.persist.format import SEAL_LENGTH, dump_json, parse_json
from pellucid.persist.npy import flat_bytes, header, layout_of

# --- estimators that live in no file of the package -------------------------------------------


class ToyFit(NamedTuple):
    mean: Any
    size: int = 0


class Mean(RegressorMixin, BaseEstimator):
    """Predicts the mean of y."""

    _training_state = ("residual_",)

    def __init__(self, shift=0.0, start=None, random_state=None):
        self.shift = shift
        self.start = start
        self.random_state = random_state

    def fit(self, X, y):
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        self.n_features_in_ = X.shape[1]
        self.fit_ = ToyFit(y.mean(keepdims=True), len(y))
        self.residual_ = y - y.mean()
        self.history_ = History(
            [{"step": i, "objective": float(i) / 3, "w": y[:3] + i} for i in range(40)]
        )
        return self

    def predict(self, X):
        return np.full(len(X), self.fit_.mean[0] + self.shift)

    def card(self):
        return Card("a constant", "squared error", "the mean", {"mean": float(self.fit_.mean[0])})

    @cached_property
    def double(self):
        return 2 * self.fit_.mean

    def _check_state(self):
        if "fit_" in vars(self) and self.fit_.mean.shape != (1,):
            raise ValueError("mean must have shape (1,)")


@dataclasses.dataclass(frozen=True)
class Rate:
    start: float
    decay: float = 0.5


rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = X @ [1.0, -2.0, 0.5] + rng.normal(size=40)
FRAME = pd.DataFrame(
    {
        "age": [30.0, np.nan, 41.0, 22.0, 57.0, 30.0],
        "town": ["Rome", "Oslo", "Rome", None, "Bonn", "Oslo"],
        "rooms": [1, 2, 3, 4, 5, 6],
    }
)


def bits(value):
    """A value with its types and bits, for comparison."""
    if isinstance(value, np.ndarray):
        order = layout_of(value).order
        if value.dtype.kind == "O":
            return ("objects", value.shape, order, [bits(item) for item in value.ravel()])
        return ("array", value.dtype.str, value.shape, order, value.tobytes())
    if isinstance(value, float | np.floating):
        return (
            type(value),
            value.tobytes() if isinstance(value, np.floating) else struct.pack(">d", value),
        )
    if sparse.issparse(value):
        return (
            type(value),
            value.shape,
            *(bits(p) for p in (value.data, value.indices, value.indptr)),
        )
    if isinstance(value, dict):
        return (type(value), [(bits(k), bits(v)) for k, v in value.items()])
    if isinstance(value, list | tuple):
        return (type(value), [bits(item) for item in value])
    if isinstance(value, set | frozenset):
        return (type(value), sorted(map(repr, map(bits, value))))
    if isinstance(value, BaseEstimator | History | Summary | Rate):
        return (type(value), bits(dict(sorted(vars(value).items()))))
    if isinstance(value, np.random.Generator):
        return (type(value), bits(value.bit_generator.state))
    if isinstance(value, np.random.RandomState):
        return (type(value), bits(value.get_state(legacy=False)))
    return (type(value), repr(value))


def round_trip(model, path):
    """Save, load, and check that a second save of either gives the same bytes."""
    save(model, path)
    first = path.read_bytes()
    again = load(path)
    save(model, path)
    assert path.read_bytes() == first
    save(again, path)
    assert path.read_bytes() == first
    return again


def trip(value):
    """A value through the tree alone."""
    encoder = Encoder()
    node = parse_json(dump_json(encoder.encode(value, "value")))
    assert not encoder.functions

    def read(name, layout):
        array = encoder.arrays[int(name[7:11])]
        copy = np.empty(layout.shape, layout.dtype, order=layout.order)
        flat_bytes(copy, layout.order)[:] = flat_bytes(array, layout.order)
        return copy

    return Decoder(read).decode(node)


def load_of(model, path, **options):
    save(model, path, **options)
    return load(path)


def table_model():
    numbers = Pipeline([("fill", SimpleImputer()), ("scale", StandardScaler())])
    columns = ColumnTransformer(
        [
            ("numbers", numbers, ["age", "rooms"]),
            ("towns", OneHotEncoder(handle_unknown="ignore"), ["town"]),
            ("rest", "passthrough", slice(2, 3)),
        ],
        transformer_weights={"numbers": 2.0},
    )
    return Pipeline([("columns", columns), ("mean", Mean())])


def layout_bytes(array):
    return header(layout_of(array))


def thing(name, params=None, state=None):
    return {"class": name, "params": params or {}, "state": state or {}}


MINIMAL = {
    "format": "pellucid-model",
    "version": 1,
    "library": {"scikit-learn": sklearn.__version__},
    "schema": {"n_features_in_": None, "feature_names_in_": None},
    "card": None,
    "object": thing("sklearn.preprocessing.StandardScaler"),
    "files": {},
}


def forge(manifest, arrays=(), *, extra=(), names=None):
    """A file with a correct seal: what someone who knows the format can send."""
    raw = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    data = [raw, *arrays, *(blob for _, blob in extra)]
    listed = names or ["manifest.json", *(f"arrays/{i:04d}.npy" for i in range(len(arrays)))]
    listed = [*listed, *(name for name, _ in extra)]
    return seal(listed, data)


def seal(names, data):
    members = [
        Member(name, zlib.crc32(blob), len(blob)) for name, blob in zip(names, data, strict=True)
    ]
    bones = skeleton(members)
    total = hashlib.sha256()
    out = b""
    for name, head, blob in zip(names, bones.headers, data, strict=True):
        total.update(head + (blob if name == "manifest.json" else b""))
        out += head + blob
    total.update(bones.tail)
    return out + bones.tail + seal_comment(total.hexdigest())


def reseal(raw):
    """Correct the seal of altered bytes, where the layout still allows it."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        places = [
            (i.header_offset + 30 + len(i.filename), i.file_size, i.filename)
            for i in archive.infolist()
        ]
    body = bytearray(raw[:-SEAL_LENGTH])
    for start, size, name in sorted(places, reverse=True):
        if name != "manifest.json":
            del body[start : start + size]
    return raw[:-SEAL_LENGTH] + seal_comment(hashlib.sha256(body).hexdigest())


def refused(path, raw, words="."):
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match=words) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    return caught


def npy(array):
    return header(layout_of(array)) + flat_bytes(array, layout_of(array).order).tobytes()


def with_array(blob, **fields):
    """A scaler whose mean_ is this member, described as given."""
    array = {"is": "array", "file": "arrays/0000.npy", "dtype": "<f8", "shape": [2], "order": "C"}
    tree = thing("sklearn.preprocessing.StandardScaler", state={"mean_": {**array, **fields}})
    files = {"arrays/0000.npy": hashlib.sha256(blob).hexdigest()}
    return {**MINIMAL, "object": tree, "files": files}
