"""``record``: every estimator's fit as frames, and the fit the same to the last bit."""

import json
import math
import warnings

import numpy as np
import polars as pl
import pytest
from estimators import assert_same_state, data, make, public_classes
from sklearn.base import clone

import pellucid
from pellucid import (
    DBSCAN,
    SVC,
    GaussianMixture,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    SGDRegressor,
    StagewiseRegression,
    ValueIteration,
)
from pellucid.core.records import plain as as_plain
from pellucid.lab import record
from pellucid.lab.formulas import WRITERS
from pellucid.lab.recording import watch
from pellucid.reinforcement import grid_world

LONG = {  # some seconds each: many rounds, or an answer that costs an integral per place
    "BayesianLogisticRegression", "GradientBoostingClassifier", "GradientBoostingRegressor",
    "HistGradientBoostingClassifier", "StagewiseRegression", "SGDClassifier", "FuzzyCMeans",
    "AdaBoostClassifier", "ClusterNumberSearch", "SequentialFeatureSelector", "BaggingRegressor",
}  # fmt: skip
rng = np.random.default_rng(0)


def blobs(n=40, p=2):
    labels = rng.integers(2, size=n)
    return rng.normal(size=(n, p)) + 3.0 * labels[:, None], labels


def is_plain(value):
    """Only what JSON has, and no NaN."""
    if isinstance(value, dict):
        return all(isinstance(k, str) and is_plain(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int | bool)


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n in LONG)) for n in public_classes()],
)
def test_every_estimator_is_recorded(name):
    """Two frames or more, the last objective and the last parameters those of the plain fit."""
    cls = public_classes()[name]
    X, y = data(cls, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace, plain = record(make(cls), X, y), clone(make(cls))
        plain = plain.fit(X) if y is None else plain.fit(X, y)
    found = trace.to_dict()
    text = json.dumps(found, allow_nan=False)
    assert len(text) < 5_000_000
    assert is_plain(found)
    frames = trace.frames
    assert len(frames) >= 2
    assert [frame.step for frame in frames] == sorted({frame.step for frame in frames})
    assert frames[0].step == 0
    assert all(frame.formula and frame.numbers for frame in frames)
    history = getattr(plain, "history_", ())
    if len(history):
        last = history[-1]["objective"]
        assert frames[-1].objective == (float(last) if np.isfinite(last) else None)
        assert frames[-1].step == len(history) - (history[0].get("step") == 0)
    for key, value in frames[-1].state["parameters"].items():
        if not isinstance(value, dict):
            assert value == as_plain(getattr(plain, key)), key
    assert trace.card == plain.card().to_dict()


@pytest.mark.parametrize(
    "model",
    [
        KMeans(3, n_init=4, random_state=0),
        GaussianMixture(2, n_init=3, random_state=0, init_params="random"),
        LogisticRegression(),
        SGDRegressor(random_state=0),
        SVC(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_watching_changes_no_bit(model):
    """Also of several restarts, of which the frames show the one that was kept."""
    X, y = blobs(60, 3)
    seen, plain = watch(model, X, y), clone(model).fit(X, y)
    assert_same_state(seen.model, plain)
    assert not vars(model).keys() & {"history_", "coef_", "cluster_centers_"}
    assert seen.n_steps in (len(plain.history_), len(plain.history_) - 1)
    trace = record(model, X, y)
    objectives = [row["objective"] for row in plain.history_]
    assert [f.objective for f in trace.frames][-len(objectives) :] == objectives


def test_frames_of_kmeans_are_its_rounds():
    """Each frame holds the centres of its round: the fit that stops there has the same."""
    X, _ = blobs(50)
    start = X[:3]
    trace = record(KMeans(3, init=start, n_init=1), X)
    assert len(trace.frames) > 3
    for frame in trace.frames[1:]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stopped = KMeans(3, init=start, n_init=1, max_iter=frame.step).fit(X)
        assert frame.state["parameters"]["cluster_centers_"] == stopped.cluster_centers_.tolist()
        assert "c0 " in frame.formula
        assert [p["name"] for p in frame.state["panels"]] == ["rows"]
        assert {m["mark"] for m in frame.state["panels"][0]["marks"]} == {"regions", "points"}
    values = [f.objective for f in trace.frames[1:]]
    assert values == sorted(values, reverse=True)


def test_formula_has_the_numbers_of_the_step():
    """w before + change = w after, read back from the text."""
    X, y = blobs(40)
    frames = record(LogisticRegression(C=10.0), X, y + 0).frames
    first, second = (np.array(f.state["parameters"]["coef_"]).ravel() for f in frames[1:3])
    text = frames[2].formula
    assert "H⁻¹" in text
    shown = [part.split(")")[0] for part in text.replace("−", "-").split("(")[2:]]
    found = [np.array([float(v) for v in part.split(",")]) for part in shown[:3]]
    for told, true in zip(found, (first, second - first, second), strict=True):
        np.testing.assert_allclose(told, true, rtol=6e-3)


def test_thinning_keeps_the_ends_and_is_said():
    X = rng.normal(size=(40, 3))
    y = X @ [1.0, -2.0, 0.5]
    whole = record(StagewiseRegression(), X, y)
    few = record(StagewiseRegression(), X, y, max_frames=11)
    steps = [f.step for f in few.frames]
    assert len(steps) == 11
    assert (steps[0], steps[-1]) == (0, whole.frames[-1].step)
    gaps = np.diff(steps)
    assert gaps.max() <= 2 * gaps.min() + 2
    assert few.frames[-1].objective == whole.frames[-1].objective
    assert f"11 of its {steps[-1] + 1} states" in few.verdict
    assert "states" not in whole.verdict
    with pytest.raises(ValueError, match="max_frames must be a whole number >= 2"):
        record(Ridge(), X, y, max_frames=1)


def test_many_rows_are_sampled_and_said():
    X = rng.normal(size=(3000, 2))
    trace = record(KMeans(2, random_state=0, max_iter=3, tol=1e9), X)
    points = trace.data["panels"][0]["marks"][0]
    assert len(points["x"]) == 2000
    assert trace.data["rows"] == 3000
    assert "2000 of 3000 rows" in trace.verdict


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_of_both_libraries(kind):
    """Named columns: no warning, the names in the data and under the bars."""
    X = {"age": rng.normal(size=30), "dose": rng.normal(size=30), "mass": rng.normal(size=30)}
    y = 2 * X["age"] - X["dose"]
    table = pl.DataFrame(X)
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        table, y = pandas.DataFrame(X), pandas.Series(y, name="y")
    trace = record(Ridge(), table, y)
    assert trace.data["names"] == ["age", "dose", "mass"]
    bars = trace.frames[-1].state["panels"][-1]
    assert bars["marks"][-1]["label"] == ["age", "dose", "mass"]
    labels = (np.asarray(y) > 0).astype(int)
    regions = record(LogisticRegression(), table[["age", "dose"]], labels).frames[-1]
    assert regions.state["panels"][0]["marks"][0]["mark"] == "regions"


def test_panels_by_task():
    """A curve over one column, shades over two, predicted against actual over more."""
    x = np.linspace(0, 1, 20)[:, None]
    one = record(LinearRegression(), x, 2 * x[:, 0]).frames[-1].state["panels"][0]["marks"]
    np.testing.assert_allclose(one[0]["y"], 2 * np.array(one[0]["x"]), atol=1e-5)
    X = rng.normal(size=(30, 3))
    y = X @ [1.0, 2.0, 3.0]
    two = record(Ridge(), X[:, :2], y).frames[-1].state["panels"][0]["marks"]
    assert two[0]["mark"] == "heat"
    more = record(LinearRegression(), X, y).frames[-1].state["panels"][0]["marks"][0]
    np.testing.assert_allclose(more["x"], more["y"], atol=1e-4)
    groups = record(DBSCAN(eps=0.6), X[:, :2]).frames[-1].state["panels"][0]["marks"][0]
    assert max(groups["group"]) >= 0
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    told = record(pellucid.SimpleImputer(), holes)
    assert "Missing cells" in told.verdict


def test_planner_and_code():
    mdp = grid_world(["...+", ".#.-", "S..."], discount=0.9)
    trace = record(ValueIteration(), mdp)
    fit = ValueIteration().fit(mdp)
    assert trace.frames[-1].state["parameters"]["values_"] == fit.values_.tolist()
    assert "max_a" in trace.frames[3].formula
    X, y = blobs(20)
    for model, given in (
        (Perceptron(random_state=0), (X, y)),
        (KMeans(2, init=X[:2], n_init=1), (X,)),
        (pellucid.AdaBoostClassifier(pellucid.DecisionTreeClassifier(max_depth=1), n_estimators=4,
                                     random_state=0), (X, y)),
    ):  # fmt: skip
        found = record(model, *given)
        scope = {}
        exec(found.code, scope)
        assert scope["objective"] == found.frames[-1].objective
        assert found.data["digest"] == record(model, *given).data["digest"]


def test_errors_and_warnings_are_the_estimators_own():
    X, y = blobs(20)
    with pytest.raises(ValueError, match="NaN"):
        record(Ridge(), np.where(X > 3, np.nan, X), y)
    with pytest.raises(ValueError, match="requires y"):
        record(Ridge(), X)
    with pytest.warns(pellucid.linear.SeparationWarning if hasattr(
        pellucid.linear, "SeparationWarning") else UserWarning):  # fmt: skip
        trace = record(LogisticRegression(C=np.inf), X[:, :1], (X[:, 0] > 1).astype(int))
    assert "separat" in trace.verdict


def test_every_writer_belongs_to_an_estimator():
    """A name that is renamed or mistyped would fall back in silence."""
    assert [name for name in WRITERS if name not in pellucid._HOME] == []
