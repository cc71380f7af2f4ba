"""What is not data does not get in, and what is not a model file does not get out."""

import abc
import hashlib
import io
import json
import random
import struct
import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_files import (
    FRAME,
    MINIMAL,
    Mean,
    X,
    forge,
    npy,
    refused,
    reseal,
    seal,
    table_model,
    thing,
    with_array,
    y,
)
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    StandardScaler,
)

from pellucid.persist import ModelFileError, allowed, container, inspect, load, save
from pellucid.persist.container import Member, seal_comment, skeleton
from pellucid.persist.format import MAX_DEPTH, SEAL_LENGTH
from pellucid.persist.npy import Layout, header

# --- refused at save -----------------------------------------------------------------------------


def my_start(X):
    return X


class Foreign(BaseEstimator):
    pass


class CallableThing:
    def __call__(self):
        return 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (my_start, "my_start in Mean.start"),
        (lambda x: x, "<lambda> in Mean.start"),
        ([1, {"a": np.log1p}], r"log1p in Mean.start\[1\]\['a'\]"),
        (partial(my_start), "functools.partial in Mean.start"),
        (len, "builtins.len"),
        (CallableThing(), "CallableThing in Mean.start"),
        (Foreign(), "Mean.start is a .*Foreign, a class that no model file may hold"),
        (object(), "builtins.object"),
        (Foreign, "Mean.start is the class .*Foreign; classes are not data"),
        (FRAME, "pandas.*DataFrame"),
        (np.array([object()]), "object array with a builtins.object"),
        (np.array([1 + 2j]), "dtype complex128; float, int, bool and text can be saved"),
        (np.zeros(2, dtype="f8,i4"), "dtype"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "datetime64"),
        (np.complex128(1), "NumPy complex128"),
        (np.longdouble(1), "NumPy longdouble|NumPy float128"),
        (np.ma.array([1.0]), "MaskedArray; plain arrays can be saved"),
        (sparse.coo_matrix(np.eye(2)), "CSR and CSC can be saved"),
        (2**5000, "more than 4096 bits"),
        ("\ud800", "half a character"),
        (1 + 2j, "builtins.complex"),
        (Path("x"), "PosixPath|WindowsPath"),
        (open, "open"),
    ],
)
def test_not_data(value, words, path):
    with pytest.raises(ModelFileError, match=words) as caught:
        save(Mean(start=value), path)
    assert "\n" not in str(caught.value)
    assert not path.exists()
    assert list(path.parent.iterdir()) == []


def test_all_functions_are_named(path):
    model = make_pipeline(
        FunctionTransformer(np.log1p, inverse_func=np.expm1), Mean(start=my_start)
    )
    with pytest.raises(ModelFileError, match=r"log1p.*expm1.*my_start"):
        save(model, path)
    with pytest.raises(ModelFileError, match="func is set; a model file holds it only as None"):
        save(FunctionTransformer(float), path)


def test_cycles_and_depth(path):
    loop: list[Any] = [1]
    loop.append(loop)
    with pytest.raises(ModelFileError, match=r"Mean.start\[1\] contains itself"):
        save(Mean(start=loop), path)
    model = Mean()
    model.self_ = model
    with pytest.raises(ModelFileError, match=r"Mean.self_ contains itself"):
        save(model, path)
    deep: list[Any] = []
    for _ in range(MAX_DEPTH - 4):
        deep = [deep]
    save(Mean(start=deep), path)
    assert load(path).start == deep
    for levels in (1, 10_000):
        deeper = deep
        for _ in range(levels):
            deeper = [deeper]
        with pytest.raises(ModelFileError, match="deeper than 100 levels"):
            save(Mean(start=deeper), path)


@pytest.mark.parametrize("value", [None, 3, [Mean()], {"a": 1}, np.eye(2), "model", (Mean(),)])
def test_save_needs_an_estimator(value, path):
    with pytest.raises(ModelFileError, match="save needs an estimator, got a "):
        save(value, path)


def test_foreign_estimator(path):
    with pytest.raises(ModelFileError, match=r"Foreign is a .*Foreign, a class that no model file"):
        save(Foreign(), path)


@pytest.mark.parametrize("name", ["predict", "_training_state", "fit", "__x__", "not a name"])
def test_attributes_that_are_no_data(name, path):
    model = Mean()
    vars(model)[name] = 3
    with pytest.raises(ModelFileError, match="Mean"):
        save(model, path)


def test_limits_at_save(path, monkeypatch):
    monkeypatch.setattr("pellucid.persist.writer.MAX_MANIFEST", 500)
    with pytest.raises(ModelFileError, match="more than 64 MB"):
        save(Mean(start="x" * 500), path)


def test_too_large_at_save(path):
    with pytest.raises(ModelFileError, match="more than 4 GiB"):
        skeleton([Member("manifest.json", 0, 10), Member("arrays/0000.npy", 0, 2**32 - 50)])


# --- forged files --------------------------------------------------------------------------------


def test_forge_makes_good_files(path):
    path.write_bytes(forge(MINIMAL))
    assert isinstance(load(path), StandardScaler)
    blob = npy(np.array([1.0, 2.0]))
    path.write_bytes(forge(with_array(blob), [blob]))
    assert load(path).mean_.tolist() == [1.0, 2.0]
    save(Mean().fit(X, y), path)
    raw = path.read_bytes()
    assert reseal(raw) == raw


def test_not_a_model_file(path):
    for raw in (b"", b"PK", b"hello", b"PK\x03\x04" + b"x" * 300, b"\x80\x04N.", b"x" * 1000):
        refused(path, raw, "is not a Pellucid model file|or another kind of archive")
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as archive:
        archive.writestr("manifest.json", "{}")
    refused(path, plain.getvalue(), "another kind of archive")
    with pytest.raises(FileNotFoundError):
        load(path.with_name("none"))
    with pytest.raises(IsADirectoryError):
        load(path.parent)


def test_no_pickle_fall_back(path):
    import joblib

    joblib.dump(StandardScaler(), path)
    with pytest.raises(ModelFileError):
        load(path)
    source = "".join(p.read_text() for p in Path(container.__file__).parent.glob("*.py"))
    for word in ("import pickle", "joblib", "eval(", "exec(", "np.load("):
        assert word not in source


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/etc/passwd", "leaves the archive"),
        ("../x.npy", "leaves the archive"),
        ("arrays/../../x", "leaves the archive"),
        ("arrays\\x.npy", "leaves the archive"),
        ("C:/x", "leaves the archive"),
        ("arrays/é.npy", "not ASCII"),
        ("arrays//x", "not a file name"),
        ("arrays/", "not a file name"),
        ("a\nb", "not a file name"),
        ("notes.txt", "is not listed in the manifest"),
        ("arrays/0000.npy", "is not listed in the manifest"),
        ("manifest.json", "there twice"),
        ("arrays/" + "0" * 200, "a name of 207 bytes"),
    ],
)
def test_member_names(name, words, path):
    refused(path, forge(MINIMAL, extra=[(name, b"data")]), words)


def test_missing_and_misnamed_members(path):
    blob = npy(np.array([1.0, 2.0]))
    refused(path, forge(with_array(blob)), "arrays/0000.npy is listed in the manifest but missing")
    refused(
        path, forge(with_array(blob), [blob], names=["a.json", "arrays/0000.npy"]), "begin with"
    )
    renamed = forge(with_array(blob), [blob], names=["manifest.json", "arrays/0001.npy"])
    refused(path, renamed, "missing")
    swapped = seal(["arrays/0000.npy", "manifest.json"], [blob, json.dumps(MINIMAL).encode()])
    refused(path, swapped, "does not begin with manifest.json")
    unused = {**MINIMAL, "files": with_array(blob)["files"]}
    refused(path, forge(unused, [blob]), "nothing uses it")


def patch_directory(raw, field, value):
    """Change one 16-bit field of the first directory entry and its local header."""
    raw = bytearray(raw)
    entry = raw.index(b"PK\x01\x02")
    at = {"flags": 8, "method": 10}[field]
    struct.pack_into("<H", raw, entry + at, value)
    struct.pack_into("<H", raw, at - 2, value)
    return reseal(bytes(raw))


def test_encrypted_and_compressed(path):
    raw = forge(MINIMAL)
    refused(path, patch_directory(raw, "flags", 1), "is encrypted")
    refused(path, patch_directory(raw, "method", 8), "is compressed")
    refused(path, patch_directory(raw, "flags", 0x800), "is damaged")
    save(Mean(), path)
    packed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        new.comment = old.comment
    refused(path, packed.getvalue(), "is compressed")


def test_overlapping_members(path):
    """A small file whose directory says the same bytes many times."""
    blob = npy(np.zeros(1000))
    raw = bytearray(forge(with_array(blob), [blob]))
    entry = raw.rindex(b"PK\x01\x02")
    for offset in (0, 10, 2**32 - 1):
        struct.pack_into("<L", raw, entry + 42, offset)
        refused(path, reseal_loose(bytes(raw)), "is damaged|overlap")
    bomb = [Member("manifest.json", 0, 100)] + [
        Member(f"arrays/{i:04d}.npy", 0, 10**9) for i in range(3)
    ]
    bones = skeleton(bomb)
    listing, end = bones.tail[:-22], bones.tail[-22:]
    end = end[:16] + struct.pack("<L", 100) + end[20:]
    fake = bones.headers[0] + b" " * (100 - len(bones.headers[0])) + listing + end
    refused(path, fake + seal_comment("0" * 64), "overlap")


def reseal_loose(raw):
    return raw[:-SEAL_LENGTH] + seal_comment(hashlib.sha256(raw).hexdigest())


def test_gaps_and_trailing_bytes(path):
    raw = forge(MINIMAL)
    refused(path, raw + b"x")
    refused(path, b"x" + raw)
    refused(path, raw[:-1])
    middle = raw.index(b"PK\x01\x02")
    refused(path, raw[:middle] + b"gap" + raw[middle:])


def test_sizes(path, monkeypatch):
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(2**32 + 1000)  # sparse on disk
    with pytest.raises(ModelFileError, match="more than 4 GiB"):
        load(path)
    monkeypatch.setattr(container, "MAX_MANIFEST", 100)
    refused(path, forge(MINIMAL), "more than 64 MB")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not valid JSON"),
        (b"\xff", "not valid JSON"),
        (b"[1, 2", "not valid JSON"),
        (b"[" * 200 + b"]" * 200, "deeper than 100"),
        (b"[" * 100_000 + b"]" * 100_000, "not valid JSON|deeper"),
        (b'{"format": 1, "format": 2}', "a key twice"),
        (b'{"format": NaN}', "NaN"),
        (b'{"version": ' + b"1" * 5000 + b"}", "not valid JSON"),
        (b'{"format": "\\ud800"}', "not valid JSON"),
        (b'{"format": "\xed\xa0\x80"}', "not valid JSON"),
        (b'{"\\udc00\\ud83d": 1}', "not valid JSON"),
        ('{"format": "x"}'.encode("utf-16"), "not valid JSON"),
        (b'{"format": "\\ud83d\\ude00"}', "does not say that its format"),
        (b"[]", "does not say that its format"),
        (b"3", "does not say that its format"),
        (b"{}", "does not say that its format"),
    ],
)
def test_manifest_text(text, words, path):
    refused(path, forge(text), words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "other"}, "does not say that its format"),
        ({"version": 2}, "format version 2, this library reads up to 1: upgrade pellucid"),
        ({"version": 10**30}, "upgrade pellucid"),
        ({"version": 0}, "whole number >= 1, got 0"),
        ({"version": True}, "whole number"),
        ({"version": "1"}, "whole number"),
        ({"library": []}, "library"),
        ({"library": {"a": 1}}, "library"),
        ({"created": 5}, "time of creation"),
        ({"schema": None}, "schema"),
        ({"schema": {"n_features_in_": -1, "feature_names_in_": None}}, "-1 features"),
        ({"schema": {"n_features_in_": 1, "feature_names_in_": [1]}}, "names as text"),
        ({"schema": {"n_features_in_": 1, "feature_names_in_": "a"}}, "where a list belongs"),
        ({"card": []}, "where a dict belongs"),
        ({"object": []}, "where a dict belongs"),
        ({"object": {}}, "no class"),
        ({"object": None}, "where a dict belongs"),
        ({"files": {"arrays/0000.npy": "00"}}, "lists 'arrays/0000.npy' with '00'"),
        ({"files": {"arrays/0000.npy": 3}}, "files"),
        ({"files": {"arrays/0001.npy": "0" * 64}}, "lists"),
        ({"files": []}, "files"),
        ({"more": 1}, "must have the fields"),
    ],
)
def test_manifest_frame(change, words, path):
    refused(path, forge({**MINIMAL, **change}), words)
    with pytest.raises(ModelFileError):
        inspect(path)


def test_missing_manifest_fields(path):
    for key in MINIMAL:
        refused(path, forge({k: v for k, v in MINIMAL.items() if k != key}))


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "sklearn.linear_model.Ridge",
        "sklearn.preprocessing._data.StandardScaler",
        "sklearn.preprocessing.scale",
        "sklearn.pipeline.make_pipeline",
        "sklearn.base.BaseEstimator",
        "pellucid.save",
        "pellucid.load",
        "pellucid.ModelFileError",
        "pellucid.persist",
        "pellucid._HOME",
        "pellucid.__version__",
        "pellucid.base.Estimator",
        "pellucid.core.loops.iterate.iterate",
        "pellucid.core.loops.iterate.np",
        "pellucid.core.loops.iterate.Sequence",
        "pellucid.core.loops.iterate.FitContext",
        "pellucid.core.records.Card.to_dict",
        "pellucid.core.nothing.Thing",
        "pellucid.cli.shared.options.Thing",
        "pellucid.cli.__main__.Thing",
        "pellucid.core.__init__.Card",
        "pellucid.toys.mean.Rate",
        "antigravity.Fly",
        "this.s",
        "this",
        ".x",
        "a..b",
        "pellucid.Mean ",
        "pellucid.Meаn",
        "",
        None,
        3,
        ["pellucid.Mean"],
        {},
    ],
)
def test_foreign_classes(name, path, capsys):
    refused(path, forge({**MINIMAL, "object": thing(name)}), "class|no module")
    inner = thing("pellucid.Mean", {"start": [thing(name)]})
    refused(path, forge({**MINIMAL, "object": inner}), "class|no module")
    assert not {"antigravity", "this", "pellucid.cli.__main__"} & set(sys.modules)
    assert capsys.readouterr().out == ""


def test_abstract_classes_are_refused():
    class Base(BaseEstimator, abc.ABC):
        @abc.abstractmethod
        def fit(self): ...

    Base.__module__, Base.__qualname__ = "pellucid.toys.mean", "Base"
    sys.modules["pellucid.toys.mean"].Base = Base
    with pytest.raises(ModelFileError, match="not one a model file may hold"):
        allowed.find_class("pellucid.toys.mean.Base")


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"class": "pellucid.Mean"}, "needs class, params and state"),
        ({**thing("pellucid.Mean"), "more": 1}, "needs class, params and state"),
        ({"class": "pellucid.Mean", "params": [], "state": {}}, "where a dict belongs"),
        ({"class": "pellucid.Mean", "params": {}, "state": None}, "where a dict belongs"),
        (thing("pellucid.Mean", {"gamma": 1}), "has no parameter 'gamma'"),
        (thing("pellucid.Mean", state={"shift": 1}), "is a parameter, the file has it as state"),
        (thing("pellucid.Mean", state={"predict": 1}), "belongs to the class"),
        (thing("pellucid.Mean", state={"double": 1}), "belongs to the class"),
        (thing("pellucid.Mean", state={"_training_state": []}), "belongs to the class"),
        (thing("pellucid.Mean", state={"__class__": 1}), "cannot have a stored attribute"),
        (thing("pellucid.Mean", state={"a b": 1}), "cannot have a stored attribute"),
        (thing("pellucid.Mean", state={"": 1}), "cannot have a stored attribute"),
        (thing("pellucid.Mean", state={"_skl_callbacks": 1}), "cannot have a stored attribute"),
        (thing("pellucid.Mean", state={"fit_": 3}), "does not fit together"),
        (thing("sklearn.pipeline.Pipeline"), "needs a parameter 'steps'"),
        (
            thing("sklearn.preprocessing.FunctionTransformer", {"func": "x"}),
            "only with func=None",
        ),
        (thing("pellucid.Mean", state={"_metadata_request": 3}), "where a dict belongs"),
        (thing("pellucid.core.records.Card", state={"representation": ""}), "has the fields"),
        (thing("pellucid.core.records.Card", {"a": 1}), "has no parameters"),
        (thing("pellucid.core.iterate.History"), "has the fields"),
        (thing("pellucid.core.iterate.History", state={"_rows": [3]}), "cannot hold"),
        (thing("pellucid.core.iterate.History", state={"_rows": "x"}), "cannot hold"),
    ],
)
def test_objects(tree, words, path):
    refused(path, forge({**MINIMAL, "object": tree}), words)


def tagged(what, /, **fields):
    return {"is": what, **fields}


PCG = {
    "state": tagged("dict", items=[["state", 1], ["inc", 1]]),
    "has_uint32": 0,
    "uinteger": 0,
}


def generator_node(name="PCG64", legacy=False, seed=None, **changes):
    state = {**PCG, **changes}
    items = [
        ["legacy", legacy],
        ["name", name],
        ["state", tagged("dict", items=[[k, v] for k, v in state.items()])],
        ["seed", seed],
    ]
    return tagged("generator", state=tagged("dict", items=items))


@pytest.mark.parametrize(
    "node",
    [
        {},
        {"is": 3},
        {"is": ["tuple"]},
        tagged("pickle", data="x"),
        tagged("tuple"),
        tagged("tuple", items=3),
        tagged("tuple", items=[], more=1),
        tagged("tuple", items={}),
        tagged("dict", items=[[1]]),
        tagged("dict", items=[[1, 2], [1, 3]]),
        tagged("dict", items=[[[], 2]]),
        tagged("dict", items=[3]),
        tagged("set", items=[[]]),
        tagged("frozenset", items=None),
        tagged("slice", items=[1, 2]),
        tagged("range", items=[1, 2, 0]),
        tagged("range", items=[1, "2", 1]),
        tagged("float", name="1.5"),
        tagged("float", name="3ff0000000000000"),
        tagged("float", name="7FF8000000000000"),
        tagged("float", name="7ff8"),
        tagged("float", name=3),
        tagged("float", name=None),
        tagged("bytes", hex="abc"),
        tagged("bytes", hex="zz"),
        tagged("bytes", hex=5),
        tagged("bytes", hex="a b0"),
        tagged("dtype", name="f8,i4"),
        tagged("dtype", name="<M8[D]"),
        tagged("dtype", name=3),
        tagged("dtype", name="<U999999999"),
        tagged("type", name="os.system"),
        tagged("type", name=["float"]),
        tagged("scalar", type="float64", value=1),
        tagged("scalar", type="int8", value=300),
        tagged("scalar", type="uint8", value=-1),
        tagged("scalar", type="int64", value=True),
        tagged("scalar", type="bool", value=1),
        tagged("scalar", type="str_", value=1),
        tagged("scalar", type="void", value=1),
        tagged("scalar", type=None, value=1),
        tagged("objects", shape=[2], order="C", items=["a"]),
        tagged("objects", shape=[-1], order="C", items=["a"]),
        tagged("objects", shape=[2**70, 0], order="C", items=[]),
        tagged("objects", shape=[1], order="K", items=["a"]),
        tagged("objects", shape=[1], order="C", items=[tagged("tuple", items=[])]),
        tagged("objects", shape=[1], order="C", items=[thing("pellucid.Mean")]),
        tagged("objects", shape=[True], order="C", items=["a"]),
        tagged("numbers", array=3),
        tagged("numbers", array=tagged("tuple", items=[])),
        tagged("stack", array=None),
        tagged("table", columns=[]),
        tagged("table", columns=3),
        tagged("table", columns=[["a", [1]], ["b", [1, 2]]]),
        tagged("table", columns=[["a", [1]], ["a", [2]]]),
        tagged("table", columns=[[1, [1]]]),
        tagged("table", columns=[["a", 3]]),
        tagged("sparse", kind="csr_matrix", shape=[1, 1], data=1, indices=2, indptr=3),
        tagged("generator", state=3),
        generator_node("Wild"),
        generator_node(legacy=1),
        generator_node(seed=3),
        generator_node(has_uint32=2),
        generator_node(uinteger=-1),
        generator_node(state=3),
        generator_node("MT19937"),
        generator_node(legacy=True),
        tagged("array", file="arrays/0000.npy", dtype="<f8", shape=[1], order="C"),
        tagged("array", file=3, dtype="<f8", shape=[1], order="C"),
        tagged("array", file="../x", dtype="<f8", shape=[1], order="C"),
    ],
    ids=lambda node: json.dumps(node)[:50],
)
def test_nodes(node, path):
    tree = thing("pellucid.Mean", {"start": [node]})
    refused(path, forge({**MINIMAL, "object": tree}))


def test_good_generator_node(path):
    path.write_bytes(
        forge({**MINIMAL, "object": thing("pellucid.Mean", {"start": generator_node()})})
    )
    assert load(path).start.bit_generator.state["state"] == {"state": 1, "inc": 1}


def test_mersenne_twister_position_is_checked():
    """NumPy would read beyond its table."""
    from pellucid.persist.generators import generator_state, make_generator

    stored = generator_state(np.random.RandomState(0))
    for position in (625, -1, 10**9, 1.0, True):
        stored["state"]["state"] = {**stored["state"]["state"], "pos": position}
        with pytest.raises(ModelFileError, match="pos of a MT19937 random generator"):
            make_generator(stored)


def test_numbers_too_large(path):
    raw = json.dumps({**MINIMAL, "object": thing("pellucid.Mean", {"start": 12345.5})})
    refused(path, forge(raw.replace("12345.5", "1e999").encode()), "too large for a float")


GOOD = npy(np.array([1.0, 2.0]))


@pytest.mark.parametrize(
    ("blob", "fields", "words"),
    [
        (GOOD, {"dtype": "|O"}, "object dtype"),
        (GOOD, {"dtype": "<c16"}, "not float, int, bool or text"),
        (GOOD, {"dtype": "<f16"}, "not float, int, bool or text"),
        (GOOD, {"dtype": "<U0"}, "not float, int, bool or text"),
        (GOOD, {"dtype": "f8"}, "not float, int, bool or text"),
        (GOOD, {"dtype": 3}, "not float, int, bool or text"),
        (GOOD, {"dtype": "<U999999999"}, "not float, int, bool or text"),
        (GOOD, {"dtype": "<i8"}, "header of arrays/0000.npy is not what the manifest says"),
        (GOOD, {"shape": [3]}, "header"),
        (GOOD, {"shape": [-2]}, "holds -2, not a size"),
        (GOOD, {"shape": [2.0]}, "not a size"),
        (GOOD, {"shape": [True]}, "not a size"),
        (GOOD, {"shape": 2}, "must be a list"),
        (GOOD, {"shape": [1] * 33}, "at most 32"),
        (GOOD, {"shape": [2**31, 2**31]}, "too large"),
        (GOOD, {"shape": [2**31]}, "refused"),
        (GOOD, {"shape": [2**64]}, "not a size"),
        (GOOD, {"shape": [0, 2**40]}, "not a size"),
        (GOOD, {"order": "F"}, "header"),
        (GOOD, {"order": "K"}, "refused"),
        (GOOD, {"order": None}, "refused"),
        (GOOD[:-1], {}, "has 143 bytes"),
        (GOOD + b"x", {}, "has 145 bytes"),
        (GOOD[:50], {}, "header"),
        (b"", {}, "header"),
        (b"\x93NUMPY\x02\x00" + GOOD[8:], {}, "header"),
        (GOOD.replace(b"<f8", b"|O "), {}, "header"),
        (GOOD.replace(b"(2,)", b"(9,)"), {"shape": [9]}, "has 144 bytes"),
        (npy(np.array([2], "u1")).replace(b"|u1", b"|b1"), {"dtype": "|b1", "shape": [1]}, "truth"),
        (
            npy(np.array([0x110000], "<u4")).replace(b"<u4", b"<U1"),
            {"dtype": "<U1", "shape": [1]},
            "character that does not exist",
        ),
    ],
)
def test_arrays(blob, fields, words, path):
    refused(path, forge(with_array(blob, **fields), [blob]), words)


def test_pickled_array(path):
    raw = io.BytesIO()
    np.save(raw, np.array([print], dtype=object), allow_pickle=True)
    blob = raw.getvalue()
    refused(path, forge(with_array(blob), [blob]), "object dtype")
    refused(path, forge(with_array(blob, dtype="|O", shape=[1]), [blob]), "object dtype")


def test_wrong_hash(path):
    manifest = with_array(GOOD)
    manifest["files"] = {"arrays/0000.npy": "0" * 64}
    refused(path, forge(manifest, [GOOD]), "is damaged: its SHA-256")


def test_lists_of_empty_arrays_are_not_unrolled(path):
    """No bytes in the file, four thousand million arrays in memory."""
    shape = [4_000_000_000, 0]
    blob = header(Layout("<f8", tuple(shape), "C"))
    manifest = with_array(blob, shape=shape)
    node = manifest["object"]["state"]["mean_"]
    manifest["object"]["state"]["mean_"] = tagged("stack", array=node)
    refused(path, forge(manifest, [blob]), "without its data")


def test_one_array_described_twice(path):
    manifest = with_array(GOOD)
    node = manifest["object"]["state"]["mean_"]
    manifest["object"]["state"]["scale_"] = {**node, "shape": [2, 1]}
    refused(path, forge(manifest, [GOOD]), "in two ways")


@pytest.mark.parametrize(
    ("data", "indices", "indptr"),
    [
        ([1.0], [5], [0, 1, 1]),
        ([1.0], [-1], [0, 1, 1]),
        ([1.0], [0], [0, 9, 1]),
        ([1.0], [0], [0, 1]),
        ([1.0, 2.0], [0], [0, 1, 1]),
        ([1.0], [0.0], [0, 1, 1]),
        (["a"], [0], [0, 1, 1]),
    ],
)
def test_sparse_parts(data, indices, indptr, path):
    """Indices that point outside would read foreign memory."""
    arrays = [np.array(part) for part in (data, indices, indptr)]
    nodes = [
        {
            "is": "array",
            "file": f"arrays/{i:04d}.npy",
            "dtype": a.dtype.str,
            "shape": list(a.shape),
            "order": "C",
        }
        for i, a in enumerate(arrays)
    ]
    parts = dict(zip(("data", "indices", "indptr"), nodes, strict=True))
    node = tagged("sparse", kind="csr_matrix", shape=[2, 2], **parts)
    blobs = [npy(a) for a in arrays]
    files = {n["file"]: hashlib.sha256(b).hexdigest() for n, b in zip(nodes, blobs, strict=True)}
    tree = thing("pellucid.Mean", {"start": node})
    refused(path, forge({**MINIMAL, "object": tree, "files": files}, blobs), "sparse matrix")


# --- ten thousand corruptions --------------------------------------------------------------------


def corrupt(raw, chance):
    """One random injury."""
    kind = chance.randrange(7)
    i = chance.randrange(len(raw))
    n = chance.choice([1, 1, 2, 4, 16, 64, 200])
    if kind == 0:
        return raw[:i] + bytes([raw[i] ^ (1 << chance.randrange(8))]) + raw[i + 1 :]
    if kind == 1:
        return raw[:i] + raw[i + n :]
    if kind == 2:
        return raw[:i] + chance.randbytes(n) + raw[i:]
    if kind == 3:
        return raw[:i]
    if kind == 4:
        return raw[:i] + chance.randbytes(n) + raw[i + n :]
    j = chance.randrange(len(raw))
    i, j = min(i, j), max(i, j)
    if kind == 5:  # swap two pieces
        n = min(n, j - i)
        return raw[:i] + raw[j : j + n] + raw[i + n : j] + raw[i : i + n] + raw[j + n :]
    return raw[:i] + bytes(n) + raw[i + n :]


@pytest.mark.parametrize("count", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_corruptions(path, count):
    save(make_pipeline(StandardScaler(), Mean()).fit(X, y), path)
    raw = path.read_bytes()
    chance = random.Random(0)
    done = 0
    while done < count:
        bad = corrupt(raw, chance)
        if bad == raw:
            continue
        done += 1
        path.write_bytes(bad)
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert "\n" not in str(caught.value)


def test_every_single_bit_and_cut(path):
    save(Mean(), path)
    raw = path.read_bytes()
    for i in range(len(raw)):
        for bad in (raw[:i], raw[:i] + bytes([raw[i] ^ (1 << (i % 8))]) + raw[i + 1 :]):
            path.write_bytes(bad)
            with pytest.raises(ModelFileError):
                load(path)


def paths_of(node, here=()):
    yield here
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, item in items:
        yield from paths_of(item, (*here, key))


def mutate(tree, chance):
    """Replace, drop, rename or move one node of a manifest."""
    tree = json.loads(json.dumps(tree))
    places = [p for p in paths_of(tree) if p]
    place = chance.choice(places)
    parent = tree
    for key in place[:-1]:
        parent = parent[key]
    key = place[-1]
    junk = [None, True, -1, 2**70, 0.5, "", "x", [], {}, [[]], {"is": "tuple", "items": []}]
    kind = chance.randrange(4)
    if kind == 0:
        parent[key] = chance.choice(junk)
    elif kind == 1:
        del parent[key]
    elif kind == 2 and isinstance(parent, dict):
        parent[chance.choice(["x", "is", "class", "items", "__dict__", "fit"])] = parent.pop(key)
    else:
        other = tree
        for step in chance.choice(places):
            other = other[step]
        parent[key] = json.loads(json.dumps(other))
    return tree


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
def test_mutated_manifests(path):
    """A stranger who can compute seals changes the tree at random."""
    model = table_model().fit(FRAME, np.arange(6.0))
    model.steps[1][1].random_state = np.random.default_rng(0)
    save(model, path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        data = [archive.read(name) for name in names]
    manifest = json.loads(data[0])
    chance = random.Random(1)
    refusals = 0
    for _ in range(800):
        bad = manifest
        for _ in range(chance.choice([1, 1, 2, 5])):
            bad = mutate(bad, chance)
        path.write_bytes(seal(names, [json.dumps(bad).encode(), *data[1:]]))
        for reader in (load, inspect):
            try:
                reader(path)
            except ModelFileError:
                refusals += 1
    assert refusals > 500
