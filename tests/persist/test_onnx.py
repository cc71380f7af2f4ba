"""ONNX files answer as the model does: onnxruntime evaluates them, on ordinary and nasty rows."""

import ast
import builtins
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from sklearn import impute, preprocessing
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline, make_pipeline

import pellucid as pl
from pellucid.neural import Activation, BatchNorm, Dense, Dropout
from pellucid.neural.layers.activations import get_activation
from pellucid.persist import to_onnx
from pellucid.persist.onnx import graph as onnx_graph
from pellucid.persist.onnx.export import PREDICTORS, onnx_bytes
from pellucid.persist.onnx.networks import ACTIVATIONS
from pellucid.persist.onnx.transformers import TRANSFORMERS

rng = np.random.default_rng(7)
X = rng.normal(size=(80, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, 0.0, -2.0]
y = X @ [1.0, -0.3, 4.0, 0.2] + 0.3 * rng.normal(size=80)
TWO = np.where(y > np.median(y), "yes", "no")
THREE = np.digitize(y, np.quantile(y, [0.3, 0.7])) * 10 - 5
GAPS = np.where(rng.random(X.shape) < 0.15, np.nan, X)
COUNTS = rng.poisson(np.exp(0.3 * X[:, 0])).astype(float)
LEVELS = np.column_stack([X[:, :2], rng.integers(0, 90, 80) * 2.0, rng.integers(0, 3, 80)])
FORM = [2, 3]  # the columns of LEVELS that are categories


# for two classes these say 1 - p of the first, which is exact to the last digit of 1
COMPLEMENTS = (
    pl.GradientBoostingClassifier, pl.MLPClassifier, pl.OneVsRestClassifier, pl.SGDClassifier,
)  # fmt: skip


def session(raw):
    onnx.checker.check_model(raw, full_check=True)
    return onnxruntime.InferenceSession(raw, providers=["CPUExecutionProvider"])


def rows_for(table, *thresholds, nan=False):
    """The training rows, rows far outside, tiny ones, and cells at and next to thresholds."""
    local = np.random.default_rng(3)
    full = np.nan_to_num(table)
    parts = [table, full * 1e6, full * 1e-300, np.zeros_like(full[:1]), -full]
    for j, t in thresholds:
        many = full[local.integers(len(full), size=(len(t) * 3))].copy()
        many[:, j] = np.concatenate([t, np.nextafter(t, np.inf), np.nextafter(t, -np.inf)])
        parts.append(many)
    found = np.concatenate(parts)
    if nan:
        holes = found.copy()
        holes[local.random(found.shape) < 0.3] = np.nan
        found = np.concatenate([found, holes, np.full_like(found[:1], np.nan)])
    return found


def thresholds_of(model):
    """(column, thresholds) of a model of trees, as its own predictions read them."""
    if hasattr(model, "_bins"):
        numbers = np.flatnonzero(model._bins.categorical == 0)
        edges = model._bins.edges
        return [(j, edges[j][np.isfinite(edges[j])]) for j in numbers]
    trees = model.forest_ if hasattr(model, "forest_") else model.tree_
    levels = trees.levels if len(trees.levels) else np.zeros(trees.n_features)
    found = []
    for j in np.flatnonzero(levels == 0):
        cuts = np.unique(trees.threshold[trees.feature == j])
        found.append((j, cuts[np.isfinite(cuts)]))
    return found


def close(got, wanted, allowed=0.0):
    """Equal to 1e-12 of the size, and to what rounding may leave of larger terms."""
    assert got.shape == wanted.shape
    with np.errstate(invalid="ignore"):
        far = np.abs(got - wanted) > 1e-12 * np.abs(wanted) + allowed
    far |= np.isnan(got) != np.isnan(wanted)
    assert not far.any(), (got[far][:5], wanted[far][:5])


def term_sizes(model, rows):
    """(n, 1 or k): the sum of the absolute terms of a linear model; rounding is relative to it."""
    last, part = (model[-1], model[:-1].transform(rows)) if isinstance(model, Pipeline) else (
        model, rows
    )  # fmt: skip
    if isinstance(last, pl.OneVsRestClassifier):
        W = np.concatenate([member.coef_ for member in last.estimators_])
    elif hasattr(last, "coef_"):
        W = np.atleast_2d(last.coef_)
    else:
        return np.zeros((len(rows), 1))
    return np.abs(part) @ np.abs(W).T + 1.0


def agree(model, rows, *, exact=False):
    """All outputs of the file equal those of the model; the file's bytes do not change."""
    raw = onnx_bytes(model)
    assert raw == onnx_bytes(model)
    runs = session(raw)
    names = [one.name for one in runs.get_outputs()]
    for part in (rows, rows[:1]):  # few rows go through other code of the runtime
        answer = dict(zip(names, runs.run(None, {"X": part}), strict=True))
        rest = names[-1]
        method = {
            "transformed": "transform", "prediction": "predict", "decision": "decision_function",
            "probabilities": "predict_proba",
        }[rest]  # fmt: skip
        wanted, terms = getattr(model, method)(part), 0.0
        if "label" in answer:
            assert names == ["label", rest]
            assert (rest == "probabilities") == hasattr(model, "predict_proba")
            np.testing.assert_array_equal(answer["label"], model.predict(part))
        if exact:
            np.testing.assert_array_equal(answer[rest], wanted)
            continue
        if rest != "transformed":
            terms = term_sizes(model, part)
        if rest == "probabilities":  # an error of the score is a relative one of its exponential
            rest_of_one = 4e-16 if isinstance(model, COMPLEMENTS) else 0.0
            largest = np.max(terms, axis=1, keepdims=True)
            close(answer[rest], wanted, rest_of_one + 1e-15 * largest * wanted)
        elif rest == "transformed":
            close(answer[rest], wanted)
        else:
            close(answer[rest], wanted, 1e-15 * (terms if wanted.ndim > 1 else terms[:, 0]))
    assert all(len(value) == 0 for value in runs.run(None, {"X": rows[:0]}))
    return raw


def gaps_go_through(raw, n=4):
    """The numbers of a row with a missing cell are missing; those of the other row are not."""
    rows = np.zeros((2, n))
    rows[0, 1] = np.nan
    numbers = session(raw).run(None, {"X": rows})[-1]
    assert np.isnan(numbers[0]).all()
    assert not np.isnan(numbers[1]).any()


# --- linear ---------------------------------------------------------------------------------------

REGRESSORS = [
    pl.ARDRegression(), pl.BayesianLinearRegression(), pl.BayesianRidge(),
    pl.BestSubsetRegression(), pl.BridgeRegression(), pl.DantzigSelector(), pl.ElasticNet(),
    pl.ElasticNetCV(), pl.GroupLasso(0.1, groups=[0, 0, 1, 1]), pl.HuberRegressor(), pl.Lars(),
    pl.Lasso(), pl.LassoCV(), pl.LassoLars(0.1), pl.LassoLarsIC(), pl.LinearRegression(),
    pl.LinearSVR(),
    pl.PrincipalComponentRegression(2), pl.QuantileRegressor(alpha=0.0), pl.Ridge(), pl.RidgeCV(),
    pl.SGDRegressor(learning_rate="constant", eta0=1e-4, random_state=0),
    pl.StagewiseRegression(), pl.StepwiseRegression(),
]  # fmt: skip


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore")
def test_linear_regressors(model):
    gaps_go_through(agree(model.fit(X, y), rows_for(X)))


def test_several_targets():
    Y = np.column_stack([y, y**2, -X[:, 0]])
    for model in (pl.LinearRegression(), pl.Ridge(2.0), pl.MultiTaskLasso(0.1)):
        agree(model.fit(X, Y), rows_for(X))


def classifiers():
    quick = {"learning_rate": "constant", "eta0": 0.01, "random_state": 0}
    return [
        pl.LogisticRegression(), pl.LinearDiscriminantAnalysis(), pl.LinearSVC(),
        pl.Perceptron(random_state=0), pl.LeastSquaresClassifier(),
        pl.StepwiseLogisticRegression(), pl.LogisticRegressionCV(Cs=3, cv=3),
        pl.SGDClassifier("log_loss", **quick), pl.SGDClassifier("hinge", **quick),
        pl.SGDClassifier("modified_huber", **quick), pl.OneVsRestClassifier(pl.LinearSVC()),
        pl.OneVsRestClassifier(pl.LogisticRegression()),
    ]  # fmt: skip


def name_of(model):
    inner = getattr(model, "estimator", None) or getattr(model, "loss", "")
    return f"{type(model).__name__}-{inner if isinstance(inner, str) else type(inner).__name__}"


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("model", classifiers(), ids=name_of)
@pytest.mark.filterwarnings("ignore")
def test_linear_classifiers(model, labels):
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    gaps_go_through(agree(model.fit(scaled, labels), rows_for(scaled)))


def test_firth_and_a_tie_at_zero():
    agree(pl.FirthLogisticRegression().fit(X, TWO), rows_for(X))
    for model in (pl.LinearSVC(), pl.LeastSquaresClassifier()):
        model.fit(X, TWO)
        model.coef_, model.intercept_ = np.array([[1.0, 0, 0, 0]]), np.array([0.0])
        agree(model, np.array([[0.0, 1, 1, 1], [-0.0, 1, 1, 1], [5e-324, 0, 0, 0]]), exact=True)


def test_kinds_of_labels():
    for labels in (TWO == "yes", THREE.astype(np.int8), THREE * 1.0, TWO, TWO.astype(object)):
        model = pl.LinearSVC().fit(X, labels)
        raw = agree(model, X)
        facts = {one.key: one.value for one in onnx.load_from_string(raw).metadata_props}
        assert json.loads(facts["classes"]) == model.classes_.tolist()


# --- trees ----------------------------------------------------------------------------------------


def trees():
    few = {"random_state": 0, "n_estimators": 7}
    return [
        (pl.DecisionTreeRegressor(random_state=0), y),
        (pl.DecisionTreeClassifier(max_depth=4), TWO),
        (pl.DecisionTreeClassifier(min_samples_leaf=7), THREE),
        (pl.RandomForestRegressor(**few), y),
        (pl.RandomForestClassifier(**few), TWO),
        (pl.RandomForestClassifier(random_state=0, n_estimators=120, max_depth=3), THREE),
        (pl.ExtraTreesRegressor(**few, max_depth=5), y),
        (pl.ExtraTreesClassifier(**few), THREE),
        (pl.RandomForestRegressor(**few), np.column_stack([y, -y])),
        (pl.HistGradientBoostingRegressor(max_iter=12, min_samples_leaf=5), y),
        (pl.HistGradientBoostingRegressor("poisson", max_iter=9, min_samples_leaf=5), COUNTS),
        (pl.HistGradientBoostingClassifier(max_iter=300, min_samples_leaf=5), TWO),
        (pl.HistGradientBoostingClassifier(max_iter=110, min_samples_leaf=5), THREE),
    ]  # fmt: skip


def is_sum_only(model):
    """Whether no exponential comes after the sum of the trees."""
    boosted = hasattr(model, "_bins") or hasattr(model, "init_")
    linked = hasattr(model, "classes_") or getattr(model, "loss", "") == "poisson"
    return not (boosted and linked)


@pytest.mark.parametrize("place", range(len(trees())))
@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
def test_trees_to_the_bit(place, gaps):
    model, target = trees()[place]
    table = GAPS if gaps else X
    model.fit(table, target)
    rows = rows_for(table, *thresholds_of(model), nan=True)
    agree(model, rows, exact=is_sum_only(model))


@pytest.mark.parametrize("loss", ["squared_error", "huber", "log_loss", "exponential", "three"])
def test_exact_boosting(loss):
    if loss in ("squared_error", "huber"):
        model = pl.GradientBoostingRegressor(loss=loss, n_estimators=20).fit(X, y)
    elif loss == "three":
        model = pl.GradientBoostingClassifier(n_estimators=5).fit(X, THREE)
    else:
        model = pl.GradientBoostingClassifier(loss=loss, n_estimators=9, init="zero").fit(X, TWO)
    agree(model, rows_for(X, *thresholds_of(model)), exact=is_sum_only(model))


@pytest.mark.parametrize("name", [
    "DecisionTreeClassifier", "RandomForestRegressor", "HistGradientBoostingClassifier",
    "HistGradientBoostingRegressor",
])  # fmt: skip
def test_categories_of_numbers(name):
    table = LEVELS.copy()
    table[rng.random(80) < 0.1, 2] = np.nan
    model = getattr(pl, name)(categorical_features=FORM, random_state=0)
    model.set_params(**({"max_iter": 15} if "Hist" in name else {}), min_samples_leaf=3)
    target = (table[:, 2] % 4 > 1) + table[:, 3] + 0.1 * X[:, 0]
    model.fit(table, np.round(target).astype(int) if "Classifier" in name else target)
    rows = rows_for(table, *thresholds_of(model), nan=True)
    odd = rows[:60].copy()  # values that training never showed
    odd[:, 2] = np.concatenate([np.nextafter(LEVELS[:30, 2], 1e9), np.arange(1.0, 61.0, 2.0)])
    agree(model, np.concatenate([rows, odd]), exact=is_sum_only(model))


def test_lone_leaves_and_equal_shares():
    constant = np.zeros((6, 1))
    agree(pl.DecisionTreeClassifier().fit(constant, [0, 0, 0, 1, 1, 1]), constant, exact=True)
    agree(pl.DecisionTreeRegressor().fit(constant, np.arange(6.0)), constant, exact=True)
    agree(pl.RandomForestClassifier(4).fit(constant, list("aabbcc")), constant, exact=True)
    few = pl.HistGradientBoostingClassifier(max_iter=3).fit(X[:9], THREE[:9])
    agree(few, X[:9])
    one = pl.RandomForestClassifier(3, random_state=0).fit(X, np.full(80, "only"))
    agree(one, X, exact=True)


# --- networks -------------------------------------------------------------------------------------

SCALED = (X - X.mean(axis=0)) / X.std(axis=0)
NETS = {"max_iter": 8, "random_state": 0}


@pytest.mark.parametrize("activation", ["identity", "logistic", "tanh", "relu", "leaky_relu"])
@pytest.mark.filterwarnings("ignore")
def test_networks(activation):
    rows = np.concatenate([SCALED, 30 * SCALED, 1e-3 * SCALED, np.zeros((1, 4))])
    for target in (TWO, THREE):
        model = pl.MLPClassifier((7, 5), activation, **NETS).fit(SCALED, target)
        gaps_go_through(agree(model, rows))
    model = pl.MLPRegressor(hidden_layer_sizes=(6,), activation=activation, **NETS)
    raw = onnx_bytes(model.fit(SCALED, y))
    gaps_go_through(raw)
    got = session(raw).run(None, {"X": rows})[0]
    scale = np.abs(model.coefs_[-1]).sum() * 1e2  # of the terms of the last sum
    np.testing.assert_allclose(got, model.predict(rows), rtol=1e-12, atol=1e-14 * scale)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations_keep_what_is_missing(name):
    g = onnx_graph.Graph()
    found = onnx_graph.Output("prediction", ACTIVATIONS[name](g, "X"), np.dtype(np.float64), (4,))
    raw = g.model("layer", 4, onnx_graph.Answer([found]), {"version": "0"})
    z = np.array([[np.nan, -2.0, 0.0, 3.0], [1.0, -1.0, 0.5, 0.0]])
    got = session(raw).run(None, {"X": z})[0]
    assert np.isnan(got[0, 0])
    if name != "softmax":  # it mixes the cells of a row
        close(got.ravel()[1:], get_activation(name).function(z).ravel()[1:])


@pytest.mark.filterwarnings("ignore")
def test_networks_of_layers_labels_and_counts():
    layers = [Dense(8, "tanh"), BatchNorm(), Dropout(0.2), Dense(5, "logistic", use_bias=False)]
    agree(pl.MLPClassifier(layers, **NETS).fit(SCALED, THREE), SCALED)
    several = np.column_stack([TWO == "yes", THREE > 0]).astype(int)
    agree(pl.MLPClassifier((5,), **NETS).fit(SCALED, several), SCALED)
    agree(pl.MLPRegressor("poisson", (5,), "tanh", **NETS).fit(SCALED, COUNTS), SCALED)
    agree(pl.MLPRegressor("poisson", (), **NETS).fit(SCALED, np.column_stack([COUNTS] * 2)), SCALED)


# --- tables and pipelines -------------------------------------------------------------------------

HOLES = np.column_stack([GAPS, np.full(80, np.nan)])
STEPS = [
    (pl.StandardScaler(), GAPS), (pl.StandardScaler(with_mean=False), GAPS),
    (preprocessing.StandardScaler(with_std=False), GAPS), (pl.MinMaxScaler((-1, 2)), GAPS),
    (pl.MinMaxScaler(clip=True), GAPS), (preprocessing.MinMaxScaler(clip=True), GAPS),
    (preprocessing.MaxAbsScaler(), GAPS), (pl.RobustScaler(), GAPS),
    (preprocessing.RobustScaler(), GAPS), (pl.UnitNormScaler(), X),
    (pl.SimpleImputer(strategy="median", add_indicator=True), GAPS),
    (impute.SimpleImputer(add_indicator=True), GAPS), (pl.SimpleImputer(), HOLES),
    (pl.SimpleImputer(keep_empty_features=True), HOLES),
    (pl.SimpleImputer(missing_values=0.0), np.where(np.isnan(GAPS), 0.0, GAPS)),
    (pl.VarianceThreshold(0.5), X), (preprocessing.FunctionTransformer(), X),
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(STEPS)))
@pytest.mark.filterwarnings("ignore:column 4", "ignore:Skipping features")
def test_transformers(place):
    step, table = STEPS[place]
    agree(step.fit(table), rows_for(table, nan=table is GAPS))


@pytest.mark.parametrize("degree", [1, 3, (2, 2)])
def test_polynomials(degree):
    agree(pl.PolynomialFeatures(degree).fit(X), rows_for(X))
    if degree == 3:
        agree(pl.PolynomialFeatures(3, arrangement="powers_first").fit(X), X)
        agree(preprocessing.PolynomialFeatures(3, interaction_only=True).fit(X), X)


def test_projections():
    for step in (pl.PCA(2), pl.PCA(3, whiten=True), pl.TruncatedSVD(2)):
        got = session(onnx_bytes(step.fit(X))).run(None, {"X": X})[0]
        np.testing.assert_allclose(got, step.transform(X), rtol=1e-12, atol=1e-13)


def test_pipelines(tmp_path):
    first = make_pipeline(pl.SimpleImputer(), pl.StandardScaler(), pl.PCA(3))
    model = Pipeline([("a", first), ("b", "passthrough"), ("c", pl.LogisticRegression())])
    agree(model.fit(GAPS, THREE), GAPS)
    forest = pl.RandomForestClassifier(9, random_state=0)
    model = make_pipeline(preprocessing.StandardScaler(), forest).fit(GAPS, TWO)
    agree(model, rows_for(GAPS, nan=True), exact=True)
    to_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == onnx_bytes(model)
    for idle in ("passthrough", None):
        steps = [("x", idle), ("a", pl.StandardScaler()), ("b", pl.PCA(2)), ("c", idle)]
        model = Pipeline(steps).fit(X)
        found = session(onnx_bytes(model))
        assert found.get_inputs()[0].shape == ["rows", 4]
        close(found.run(None, {"X": X})[0], model.transform(X), 1e-12)
        with pytest.raises(ValueError, match="Pipeline exactly: none of its steps does anything"):
            onnx_bytes(Pipeline([("x", idle)]).fit(X))


def test_columns_side_by_side():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GAPS, columns=list("abcd"))
    steps = [
        ("fill", make_pipeline(pl.SimpleImputer(), pl.PolynomialFeatures(2)), ["c", "a"]),
        ("scale", preprocessing.StandardScaler(), [False, True, False, False]),
        ("gone", "drop", ["d"]), ("none", pl.StandardScaler(), []), ("as_is", "passthrough", ["d"]),
    ]  # fmt: skip
    weights = {"scale": 0.5}
    table = ColumnTransformer(steps, transformer_weights=weights, remainder="passthrough")
    trees = pl.HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5)
    model = make_pipeline(table, trees).fit(frame, THREE)
    runs = session(onnx_bytes(model))
    label, P = runs.run(None, {"X": GAPS})
    np.testing.assert_array_equal(label, model.predict(frame))
    close(P, model.predict_proba(frame))
    got = session(onnx_bytes(model[0])).run(None, {"X": GAPS})[0]
    close(got, np.asarray(model[0].transform(frame)))


def test_columns_that_cannot_be_named():
    same = [("a", pl.StandardScaler(), [0, 1]), ("b", pl.StandardScaler(), [0])]
    unnamed = [("a", preprocessing.FunctionTransformer(), [0, 1]), ("b", pl.PCA(1), [2, 3])]
    for steps in (same, unnamed):
        table = ColumnTransformer(steps, verbose_feature_names_out=False).fit(X)
        with pytest.raises((ValueError, AttributeError)):
            table.get_feature_names_out()
        found = session(onnx_bytes(table))
        assert found.get_outputs()[0].shape[0] == "rows"
        close(found.run(None, {"X": X})[0], table.transform(X), 1e-12)


def test_what_the_file_says_of_itself(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "größe"])
    path = tmp_path / "model.onnx"
    to_onnx(pl.LogisticRegression().fit(frame, TWO), path)
    found = onnx.load(path)
    facts = {one.key: one.value for one in found.metadata_props}
    assert (found.producer_name, found.producer_version) == ("pellucid", pl.__version__)
    assert json.loads(facts["feature_names"]) == ["a", "b", "c", "größe"]
    assert json.loads(facts["classes"]) == ["no", "yes"]
    assert facts["class"] == "pellucid.LogisticRegression"
    run = onnxruntime.InferenceSession(path)
    (X_in,), outputs = run.get_inputs(), run.get_outputs()
    assert (X_in.name, X_in.type, X_in.shape) == ("X", "tensor(double)", ["rows", 4])
    assert [(one.name, one.type, one.shape) for one in outputs] == [
        ("label", "tensor(string)", ["rows"]), ("probabilities", "tensor(double)", ["rows", 2]),
    ]  # fmt: skip


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def refusals():
    square = Activation("square", np.square, lambda z, a: 2 * z)
    words = np.array([["a"], ["b"]] * 40, dtype=object)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"w": pandas.Categorical(words.ravel()), "x": X[:, 0]})
    start = pl.LinearRegression()
    return [
        (pl.KNeighborsClassifier().fit(X, TWO), "KNeighborsClassifier exactly: only linear models"),
        (pl.SVC().fit(X, TWO), "this SVC exactly"),
        (pl.MLPClassifier((3,), "gelu", **NETS).fit(SCALED, TWO), "no activation 'gelu' in float"),
        (pl.MLPClassifier((3,), square, **NETS).fit(SCALED, TWO), "activation 'square' is code or"),
        (pl.DecisionTreeClassifier().fit(frame, TWO), "column 0 holds words"),
        (pl.HistGradientBoostingRegressor(max_iter=2).fit(frame, THREE), "column 0 holds words"),
        (pl.GradientBoostingRegressor(init=start, n_estimators=2).fit(X, y), "init=LinearRegr"),
        (pl.DecisionTreeClassifier().fit(X, np.c_[THREE, THREE]), "2 targets of classes"),
        (pl.OneVsRestClassifier(pl.GaussianNB()).fit(X, THREE), "linear rules, got GaussianNB"),
        (preprocessing.FunctionTransformer(np.log1p).fit(X), "function numpy.log1p is code"),
        (make_pipeline(pl.KernelPCA(2), pl.Ridge()).fit(X, y), "this KernelPCA exactly"),
        (pl.SimpleImputer(strategy="most_frequent").fit(words), "holds words"),
    ]


@pytest.mark.filterwarnings("ignore")
def test_refusals_are_one_sentence(tmp_path):
    path = tmp_path / "model.onnx"
    for model, words in refusals():
        with pytest.raises(ValueError, match=words) as caught:
            to_onnx(model, path)
        assert str(caught.value).startswith("to_onnx cannot convert this ")
        assert "\n" not in str(caught.value)
    assert not path.exists()


def test_what_is_no_fitted_model(tmp_path):
    with pytest.raises(NotFittedError):
        to_onnx(pl.Ridge(), tmp_path / "model.onnx")
    with pytest.raises(TypeError, match=r"needs a fitted estimator, got a builtins\.dict"):
        to_onnx({}, tmp_path / "model.onnx")

    class Mine(pl.Ridge):
        """A subclass may predict as it likes."""

    with pytest.raises(ValueError, match="this Mine exactly"):
        to_onnx(Mine().fit(X, y), tmp_path / "model.onnx")


def test_without_onnx(monkeypatch, tmp_path):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError) as caught:
        to_onnx(pl.Ridge().fit(X, y), tmp_path / "model.onnx")
    assert str(caught.value) == 'ONNX files need onnx: pip install "pellucid[onnx]"'


def test_onnx_is_imported_late():
    """``import pellucid.persist`` must not need onnx."""
    for path in Path(onnx_graph.__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] + [getattr(node, "module", "") or ""]
                assert not any(name.split(".")[0] == "onnx" for name in names), path


def test_every_converter_is_a_public_class():
    from pellucid.persist.allowed import class_name, find_class

    for name in (*PREDICTORS, *TRANSFORMERS):
        assert class_name(find_class(name)) == name
