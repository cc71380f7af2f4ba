"""Model files: what goes in comes back bit-equal; the place, the manifest, the versions."""

import hashlib
import importlib
import io
import json
import os
import subprocess
import sys
import textwrap
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from model_files import (
    FRAME,
    MINIMAL,
    Mean,
    Rate,
    X,
    bits,
    forge,
    layout_bytes,
    load_of,
    round_trip,
    table_model,
    thing,
    y,
)
from scipy import sparse
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    LabelBinarizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    MultiLabelBinarizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

import pellucid
from pellucid.core.loops.iterate import History
from pellucid.core.records import Card, Summary
from pellucid.core.runtime import atomic
from pellucid.persist import ModelFileError, inspect, load, migrate, save
from pellucid.persist import format as model_format
from pellucid.persist.addresses import moved
from pellucid.persist.allowed import class_name, find_class

# --- round trips ---------------------------------------------------------------------------------


def test_toy_round_trip(path):
    model = Mean(shift=1.5).fit(X, y)
    again = round_trip(model, path)
    assert bits(again) == bits(model)
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.history_ == model.history_


def test_unfitted(path):
    assert bits(round_trip(Mean(shift=2), path)) == bits(Mean(shift=2))
    assert inspect(path)["card"] is None
    assert repr(round_trip(Pipeline([]), path)) == repr(Pipeline([]))


TRANSFORMERS = [
    StandardScaler(),
    StandardScaler(with_mean=False).set_output(transform="pandas"),
    MinMaxScaler((0, 2), clip=True),
    MaxAbsScaler(),
    RobustScaler(),
    Normalizer("l1"),
    Binarizer(threshold=0.1),
    PolynomialFeatures(3),
    PowerTransformer(),
    QuantileTransformer(n_quantiles=5),
    KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
    KBinsDiscretizer(3, encode="ordinal", strategy="uniform", dtype=np.float32),
    FunctionTransformer(),
    OneHotEncoder(handle_unknown="ignore"),
    OrdinalEncoder(dtype=np.int32),
    TargetEncoder(cv=2),
    SimpleImputer(strategy="median", add_indicator=True),
    MissingIndicator(features="all"),
    VarianceThreshold(),
]


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda t: type(t).__name__)
def test_transformers(transformer, path):
    model = sklearn.base.clone(transformer).fit(X, y > 0)
    again = round_trip(model, path)
    assert bits(again) == bits(model)
    a, b = model.transform(X), again.transform(X)
    assert type(a) is type(b)
    assert bits(np.asarray(a) if not sparse.issparse(a) else a) == bits(
        np.asarray(b) if not sparse.issparse(b) else b
    )


@pytest.mark.parametrize(
    ("encoder", "labels"),
    [
        (LabelEncoder(), ["b", "a", "b"]),
        (LabelBinarizer(), [3, 1, 2]),
        (MultiLabelBinarizer(), [("x", "y"), ("z",)]),
    ],
)
def test_label_encoders(encoder, labels, path):
    model = encoder.fit(labels)
    again = round_trip(model, path)
    assert bits(again) == bits(model)
    assert np.array_equal(again.transform(labels), model.transform(labels))


def test_column_transformer_in_pipeline(path):
    model = table_model().fit(FRAME, np.arange(6.0))
    again = round_trip(model, path)
    a, b = model[:-1].transform(FRAME), again[:-1].transform(FRAME)
    assert bits(a) == bits(b)
    assert bits(again.predict(FRAME)) == bits(model.predict(FRAME))
    assert list(again[0].get_feature_names_out()) == list(model[0].get_feature_names_out())
    assert again[0].named_transformers_["numbers"][1].mean_[0] == 36.0
    refit = sklearn.base.clone(again).fit(FRAME, np.arange(6.0))
    assert bits(refit[:-1].transform(FRAME)) == bits(a)


def test_column_selectors_unions_and_targets(path):
    select = make_column_selector(dtype_include=np.number)
    union = FeatureUnion([("a", StandardScaler()), ("b", MinMaxScaler()), ("c", "passthrough")])
    columns = ColumnTransformer([("n", union, select)], remainder="drop")
    model = make_pipeline(columns).set_output(transform="pandas").fit(FRAME)
    again = round_trip(model, path)
    pd.testing.assert_frame_equal(again.transform(FRAME), model.transform(FRAME))
    names = ColumnTransformer([("n", SimpleImputer(), FRAME.columns[[0, 2]])]).fit(FRAME)
    assert bits(round_trip(names, path).transform(FRAME)) == bits(names.transform(FRAME))
    target = TransformedTargetRegressor(Mean(), transformer=StandardScaler()).fit(X, y)
    assert bits(round_trip(target, path).predict(X)) == bits(target.predict(X))


def test_sparse_output_survives(path):
    towns = FRAME[["town"]].dropna()
    model = make_pipeline(OneHotEncoder(), MaxAbsScaler()).fit(towns)
    assert bits(round_trip(model, path).transform(towns)) == bits(model.transform(towns))


def test_metadata_requests_survive(path):
    with sklearn.config_context(enable_metadata_routing=True):
        model = StandardScaler().set_fit_request(sample_weight=True)
        again = round_trip(model, path)
        assert again._metadata_request.fit.requests == {"sample_weight": True}
        assert again._metadata_request.owner is again


def test_callbacks_are_left_out(path):
    model = Mean()
    model._skl_callbacks = [print]
    model._callback_fit_ctx = object()
    assert bits(round_trip(model, path)) == bits(Mean())


def test_cached_properties_are_computed_again(path):
    model = Mean().fit(X, y)
    model.double  # noqa: B018
    again = load_of(model, path)
    assert "double" not in vars(again)
    assert again.double == model.double


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.random.RandomState(3),
        lambda: np.random.RandomState(np.random.PCG64(3)),
        lambda: np.random.default_rng(3),
        lambda: np.random.default_rng(),
        lambda: np.random.default_rng([1, 2]),
        lambda: np.random.default_rng(np.random.SeedSequence(np.array([1, 2])).spawn(2)[1]),
        *(
            lambda kind=kind: np.random.Generator(kind(3))
            for kind in (np.random.MT19937, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)
        ),
    ],
)
def test_random_states(make, path):
    rng = make()
    rng.normal(size=3)
    again = round_trip(Mean(random_state=rng), path).random_state
    assert bits(again.normal(size=5)) == bits(rng.normal(size=5))
    if isinstance(rng, np.random.Generator):
        assert again.spawn(1)[0].random() == rng.spawn(1)[0].random()


def test_shared_arrays_are_stored_once_and_stay_shared(path):
    model = Mean()
    model.a = model.b = np.arange(5.0)
    again = round_trip(model, path)
    assert again.a is again.b
    assert len(inspect(path)["files"]) == 1


def test_many_arrays(path):
    """More members than 16 bits can count; other tools read the archive too."""
    model = Mean()
    model.many = [np.arange(i % 7 + 1) for i in range(66000)]
    again = load_of(model, path)
    assert all(np.array_equal(a, b) for a, b in zip(again.many, model.many, strict=True))
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 66001


def test_other_tools_read_the_file(path):
    model = Mean().fit(X, y)
    save(model, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        name = manifest["object"]["state"]["residual_"]["file"]
        array = np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
        digest = hashlib.sha256(archive.read(name)).hexdigest()
    assert np.array_equal(array, model.residual_)
    assert manifest["files"][name] == digest


def test_history_is_compact(path):
    model = Mean().fit(X, y)
    model.history_ = History(
        [
            {
                "step": i,
                "objective": 1 / (i + 1),
                "gap": None if i == 0 else 0.1 * i,
                "w": X[i % 40],
            }
            for i in range(10_000)
        ]
    )
    again = load_of(model, path)
    assert again.history_ == model.history_
    assert bits(again.history_[5]) == bits(model.history_[5])
    assert len(inspect(path)["files"]) == 5
    assert path.stat().st_size < 800_000


def test_slim(path):
    model = make_pipeline(StandardScaler(), Mean()).fit(X, y)
    again = load_of(model, path, slim=True)
    assert not hasattr(again[-1], "history_")
    assert not hasattr(again[-1], "residual_")
    assert hasattr(model[-1], "history_")
    assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="slim must be True or False, got 'yes'"):
        save(model, path, slim="yes")


def test_records(path):
    model = Mean(start=Rate(0.1))
    model.words = Card("a", "b", "c", {"n": 3})
    model.summary = Summary(title="t", names=("a",), arrays={"estimate": np.array([2.0])})
    again = round_trip(model, path)
    assert again.start == Rate(0.1)
    assert again.words == model.words
    assert str(again.summary) == str(model.summary)


# --- the place -----------------------------------------------------------------------------------


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"the folder .*none does not exist"):
        save(Mean(), tmp_path / "none" / "m")
    with pytest.raises(IsADirectoryError, match="it is a folder, give the name of a file"):
        save(Mean(), tmp_path)
    with pytest.raises(TypeError, match="path must be text or a path, got int"):
        save(Mean(), 3)
    with pytest.raises(TypeError, match="path must be text or a path, got bytes"):
        load(b"x")
    with pytest.raises(ValueError, match="path must name a file, got ''"):
        save(Mean(), "")
    if os.path.exists("/dev/null"):
        with pytest.raises(OSError, match="not an ordinary file"):
            save(Mean(), "/dev/null")
        with pytest.raises(ModelFileError, match="null is not an ordinary file"):
            load("/dev/null")

    def no(*_):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", no)
        with pytest.raises(PermissionError, match=r"cannot save to .*: Permission denied"):
            save(Mean(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_read_only_file(path, monkeypatch):
    save(Mean(), path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="the file is read-only"):
        save(Mean(1), path)
    assert load(path).shift == 0.0


@pytest.mark.parametrize("name", ["replace", "fsync"])
def test_failure_leaves_the_old_file(name, path, monkeypatch):
    save(Mean(), path)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, name, full)
        with pytest.raises(OSError, match=r"cannot save to .*: No space left on device"):
            save(Mean(1.0), path)
    assert load(path).shift == 0.0
    assert list(path.parent.iterdir()) == [path]


def test_interrupt_leaves_the_old_file(path):
    save(Mean(), path)

    def interrupted():
        with atomic.replacing(str(path)) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert load(path).shift == 0.0
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions and links")
def test_permissions_and_links(path):
    old = os.umask(0o027)
    try:
        save(Mean(), path)
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o604)
    link = path.with_name("link")
    link.symlink_to(path)
    save(Mean(1.0), link)
    assert link.is_symlink()
    assert load(path).shift == 1.0
    assert path.stat().st_mode & 0o777 == 0o604


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX locks")
def test_left_behind_files_are_swept(path):
    save(Mean(), path)
    with atomic.replacing(str(path)) as first:  # a live writer is left alone
        first.write(b"x")
        (part,) = set(path.parent.iterdir()) - {path}
        stale = part.with_name(part.name[:-21] + "0" * 16 + ".part")
        stale.write_bytes(b"half")
        save(Mean(2.0), path)
        assert part.exists()
        assert not stale.exists()


KILLED = """
import os, random, signal, sys, time
import numpy as np
from sklearn.preprocessing import StandardScaler
from pellucid.persist import load, save

path, kills = sys.argv[1], int(sys.argv[2])
random.seed(0)
models = []
for fill in (1.0, 2.0):
    model = StandardScaler()
    model.mean_, model.scale_ = np.full(400_000, fill), np.full(400_000, -fill)
    models.append(model)
save(models[0], path)
began = time.perf_counter()
save(models[0], path)
span = time.perf_counter() - began
seen = set()
for turn in range(kills):
    whole, told = os.pipe()
    child = os.fork()
    if child == 0:
        i = turn  # the first save, which is always whole, leaves one model, then the other
        while True:
            i += 1
            save(models[i % 2], path)
            if i == turn + 1:
                os.write(told, b"1")
    os.read(whole, 1)
    time.sleep(random.uniform(0, 3 * span))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(whole), os.close(told)
    model = load(path)
    fill = float(model.mean_[0])
    assert fill in (1.0, 2.0) and (model.mean_ == fill).all() and (model.scale_ == -fill).all()
    seen.add(fill)
    assert len(os.listdir(os.path.dirname(path))) <= 2  # the file, and one part left behind
save(models[0], path)
assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]
assert len(seen) == 2
print("whole")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_killed_while_saving(path):
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), "40"], capture_output=True, text=True, check=False
    )
    assert run.stdout == "whole\n", run.stderr


# --- identical bytes, schema, card, inspect ------------------------------------------------------


def test_created_only_from_the_environment(path, monkeypatch):
    save(Mean(), path)
    assert "created" not in inspect(path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    save(Mean(), path)
    assert inspect(path)["created"] == "2023-11-14T22:13:20Z"
    assert load(path).shift == 0.0
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(ModelFileError, match="must be a number of seconds, got 'yesterday'"):
        save(Mean(), path)


def test_inspect(path):
    model = table_model().fit(FRAME, np.arange(6.0))
    save(model, path)
    found = inspect(path)
    assert found["format"] == "pellucid-model"
    assert found["version"] == 1
    assert found["library"] == {
        "pellucid": pellucid.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    assert found["schema"] == {
        "n_features_in_": 3,
        "feature_names_in_": ["age", "town", "rooms"],
    }
    assert found["card"]["representation"] == "a constant"
    assert found["classes"] == [
        "pellucid.Mean",
        "pellucid.core.iterate.History",
        "pellucid.toys.mean.ToyFit",
        "sklearn.compose.ColumnTransformer",
        "sklearn.impute.SimpleImputer",
        "sklearn.pipeline.Pipeline",
        "sklearn.preprocessing.FunctionTransformer",
        "sklearn.preprocessing.OneHotEncoder",
        "sklearn.preprocessing.StandardScaler",
    ]
    assert found["object"]["class"] == "sklearn.pipeline.Pipeline"
    (_, mean) = found["object"]["params"]["steps"][1]
    assert mean["params"] == {"random_state": None, "shift": 0.0, "start": None}
    assert mean["state"]["residual_"] == {"dtype": "<f8", "shape": (6,)}
    assert found["bytes"] == path.stat().st_size
    assert sum(item["bytes"] for item in found["files"].values()) < found["bytes"]
    json.dumps({key: found[key] for key in ("library", "schema", "card", "files")})


def test_inspect_reads_no_array_and_imports_no_class(path):
    save(Mean().fit(X, y), path)
    raw = bytearray(path.read_bytes())
    place = raw.index(layout_bytes(Mean().fit(X, y).residual_))
    raw[place + 200] ^= 1  # damage array data only
    path.write_bytes(raw)
    assert inspect(path)["classes"][0] == "pellucid.Mean"
    with pytest.raises(ModelFileError, match="is damaged: its SHA-256 is not the one"):
        load(path)
    path.write_bytes(forge({**MINIMAL, "object": thing("antigravity.Fly")}))
    assert inspect(path)["classes"] == ["antigravity.Fly"]
    assert "antigravity" not in sys.modules


# --- versions ------------------------------------------------------------------------------------


STORED = sorted((Path(__file__).parent / "data").glob("v*.pellucid"))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored.stem)
def test_stored_files_stay_readable(stored):
    answer = json.loads(stored.with_suffix(".json").read_text())
    found = load(stored).predict(np.array(answer["X"]))
    expected = np.array(answer["predict"])
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        assert found.tolist() == answer["predict"]
    assert inspect(stored)["card"]["representation"]


def test_there_are_stored_files_of_every_version():
    kept = {int(stored.stem[1:].partition("_")[0]) for stored in STORED}
    assert kept == set(range(1, model_format.VERSION + 1))


def test_older_versions_migrate(path, monkeypatch):
    save(Mean(shift=3.0), path)

    def rename(manifest):
        params = dict(manifest["object"]["params"])
        params["offset"] = params.pop("shift")
        return {**manifest, "object": {**manifest["object"], "params": params}}

    class Renamed(Mean):
        def __init__(self, offset=0.0, start=None, random_state=None):
            self.offset = offset
            self.start = start
            self.random_state = random_state

    Renamed.__qualname__ = "Mean"
    Renamed.__module__ = "pellucid.toys.mean"
    sys.modules["pellucid.toys.mean"].Mean = Renamed
    with pytest.raises(ModelFileError, match="has no parameter 'shift'"):
        load(path)
    monkeypatch.setattr(model_format, "VERSION", 2)
    with pytest.raises(ModelFileError, match="files of format version 1 can no longer be read"):
        load(path)
    monkeypatch.setitem(migrate.MIGRATIONS, 1, rename)
    assert load(path).offset == 3.0
    assert inspect(path)["version"] == 2


def test_new_parameters_take_their_defaults(path):
    params = {"shift": 2.0}
    path.write_bytes(forge({**MINIMAL, "object": thing("pellucid.Mean", params)}))
    assert load(path).get_params() == {"shift": 2.0, "start": None, "random_state": None}
    rate = thing("pellucid.Rate", state={"start": 1.0})
    path.write_bytes(forge({**MINIMAL, "object": rate}))
    assert load(path) == Rate(1.0, 0.5)


def test_other_scikit_learn_version_warns(path):
    path.write_bytes(forge({**MINIMAL, "library": {"scikit-learn": "0.1"}}))
    with pytest.warns(InconsistentVersionWarning, match="StandardScaler"):
        load(path)
    path.write_bytes(
        forge({**MINIMAL, "library": {"scikit-learn": "0.1"}, "object": thing("pellucid.Mean")})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(path)


def test_import_is_lazy():
    code = """
        import sys, pellucid
        assert not {"numpy", "sklearn", "pellucid.persist"} & set(sys.modules)
        assert pellucid.save is pellucid.persist.save
        assert issubclass(pellucid.ModelFileError, ValueError)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


NAMES = (Path(__file__).parent / "data" / "names_v1.txt").read_text().split()


def test_every_name_that_version_1_could_write_is_found():
    """Modules move; the names in files do not.

    The list has every class that version 1 could write, less those of which no fitted model ever
    held an instance: bases, and records that were unused or are of ``maths`` alone.
    """
    for name in NAMES:
        found = find_class(name)
        assert found.__qualname__ == name.rpartition(".")[2]
        assert class_name(found) == name, "a file written today has the same name in it"


def test_every_address_is_a_place():
    for old, new in moved().items():
        module = new if new.rpartition(".")[2].islower() else new.rpartition(".")[0]
        importlib.import_module(module)
        assert old != new
