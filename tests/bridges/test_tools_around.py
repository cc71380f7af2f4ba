"""Our models in the tools around scikit-learn; a tool that is not installed is skipped.

pip install "pellucid[tools]"
"""

import os
import pickle
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from sklearn.inspection import partial_dependence
from sklearn.linear_model import RANSACRegressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import export_graphviz, export_text, plot_tree

import pellucid as p

slow = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # theirs are theirs
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
AMOUNT = 2 * X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=150)
CLASS = (AMOUNT > 0).astype(int)
THREE = np.digitize(AMOUNT, [-1.0, 1.0])
NUMBERS = {
    "DecisionTreeRegressor": p.DecisionTreeRegressor(max_depth=4),
    "ExtraTreesRegressor": p.ExtraTreesRegressor(8, random_state=0),
    "RandomForestRegressor": p.RandomForestRegressor(8, random_state=0),
    "GradientBoostingRegressor": p.GradientBoostingRegressor(n_estimators=8),
    "HistGradientBoostingRegressor": p.HistGradientBoostingRegressor(max_iter=8),
}
CLASSES = {
    "DecisionTreeClassifier": p.DecisionTreeClassifier(max_depth=4),
    "ExtraTreesClassifier": p.ExtraTreesClassifier(8, random_state=0),
    "RandomForestClassifier": p.RandomForestClassifier(8, random_state=0),
    "GradientBoostingClassifier": p.GradientBoostingClassifier(n_estimators=8),
    "HistGradientBoostingClassifier": p.HistGradientBoostingClassifier(max_iter=8),
}
LINEAR = {
    "LinearRegression": (p.LinearRegression(), AMOUNT),
    "Ridge": (p.Ridge(), AMOUNT),
    "LogisticRegression": (p.LogisticRegression(), CLASS),
    "pipeline": (make_pipeline(p.StandardScaler(), p.LogisticRegression()), CLASS),
}
EVERY = {
    **{name: (model, AMOUNT) for name, model in NUMBERS.items()},
    **{name: (model, CLASS) for name, model in CLASSES.items()},
    **LINEAR,
}


def fitted(name, y=None):
    model, own = EVERY[name]
    return model.fit(X, own if y is None else y)


@pytest.mark.skipif("PELLUCID_TOOLS" not in os.environ, reason="make test-all installs the tools")
def test_no_tool_is_left_out():
    """Where the tools were to be installed, none of the tests below is skipped for want of one."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for needed in project["optional-dependencies"]["tools"]:
        metadata.version(needed.partition(">=")[0])  # raises PackageNotFoundError by its name


# --- scikit-learn itself: always there ---


@pytest.mark.parametrize("name", [*NUMBERS, *CLASSES])
def test_trees_stand_for_those_of_scikit_learn(name):
    import sklearn.ensemble
    import sklearn.tree

    module = sklearn.tree if name.startswith("Decision") else sklearn.ensemble
    model = fitted(name)
    assert isinstance(model, getattr(module, name))
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["DecisionTreeRegressor", "DecisionTreeClassifier"])
def test_pictures_and_texts_of_trees(name):
    import sklearn.tree

    model = fitted(name)
    theirs = getattr(sklearn.tree, name)(max_depth=4, random_state=0).fit(X, EVERY[name][1])
    assert len(plot_tree(model)) >= model.tree_.node_count
    assert export_text(model).splitlines()[0] == export_text(theirs).splitlines()[0]
    assert "digraph" in export_graphviz(model)
    assert isinstance(model.tree_, sklearn.tree._tree.Tree)
    assert type(model.tree_) is p.tree.Tree


def test_trees_with_categories_do_not_pose_as_theirs():
    """Their thresholds are sets of levels, which no tool would read."""
    import sklearn.tree._tree as theirs

    codes = rng.integers(0, 4, size=(80, 1)).astype(float)
    model = p.DecisionTreeClassifier(categorical_features=[0]).fit(codes, codes[:, 0] % 2)
    assert np.any(model.tree_.levels)
    assert not isinstance(model.tree_, theirs.Tree)
    hist = p.HistGradientBoostingClassifier(
        max_iter=2, categorical_features=[0], min_samples_leaf=2
    )
    hist.fit(codes, codes[:, 0] % 2)
    with pytest.raises(ValueError, match="categories"):
        hist._predictors  # noqa: B018


@pytest.mark.parametrize(
    "name", [n for n in (*NUMBERS, *CLASSES) if "Boosting" in n or n in
             ("DecisionTreeRegressor", "RandomForestRegressor")]
)  # fmt: skip
def test_partial_dependence_by_recursion(name):
    """Shares of the training weights stand for means over rows: near, not equal."""
    model = fitted(name)
    found = partial_dependence(model, X, [0], method="recursion", grid_resolution=5)
    brute = partial_dependence(
        model, X, [0], method="brute", grid_resolution=5,
        **({"response_method": "decision_function"} if name in CLASSES else {}),
    )  # fmt: skip
    one, two = found["average"][0], brute["average"][0]
    assert np.corrcoef(one, two)[0, 1] > 0.97


def test_recursion_equals_scikit_learns_on_the_same_tree():
    from sklearn.tree import DecisionTreeRegressor

    ours, theirs = p.DecisionTreeRegressor(max_depth=3), DecisionTreeRegressor(max_depth=3)
    grid = {"method": "recursion", "grid_resolution": 7}
    found = [partial_dependence(m.fit(X, AMOUNT), X, [0], **grid) for m in (ours, theirs)]
    np.testing.assert_allclose(found[0]["average"], found[1]["average"], atol=1e-12)


@pytest.mark.filterwarnings("ignore")  # five rows leave nothing to estimate an error from
def test_ransac_without_min_samples():
    y = X @ [1.0, 2.0, 3.0, 4.0]
    y[:20] += 100.0
    found = RANSACRegressor(p.LinearRegression(), random_state=0).fit(X, y)
    np.testing.assert_allclose(found.estimator_.coef_, [1.0, 2.0, 3.0, 4.0], atol=1e-9)


# --- explanations ---


@pytest.mark.parametrize("name", [*NUMBERS, *CLASSES])
class TestShap:
    pytestmark = slow

    def test_values_add_up(self, name):
        shap = pytest.importorskip("shap")
        model = fitted(name)
        found = shap.TreeExplainer(model)(X)
        if name in NUMBERS:
            said = model.predict(X)
        elif "Boosting" in name:
            said = model.decision_function(X)
        else:
            said = model.predict_proba(X)
        assert np.abs(found.values.sum(axis=1) + found.base_values - said).max() < 1e-9

    def test_the_explainer_is_found(self, name):
        shap = pytest.importorskip("shap")
        found = shap.Explainer(fitted(name))
        assert type(found).__name__ == "TreeExplainer"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestExplanations:
    def test_shap_of_linear_models(self):
        shap = pytest.importorskip("shap")
        model = fitted("Ridge")
        found = shap.Explainer(model, X)(X)
        total = found.values.sum(axis=1) + found.base_values
        np.testing.assert_allclose(total, model.predict(X), atol=1e-9)

    @pytest.mark.parametrize("kind", ["DecisionTree", "ExtraTrees", "RandomForest"])
    def test_treeinterpreter(self, kind):
        """Of classifiers: for regressors it fails with scikit-learn's own trees, too."""
        tool = pytest.importorskip("treeinterpreter.treeinterpreter")
        model = fitted(f"{kind}Classifier")
        said, start, parts = tool.predict(model, X[:20])
        np.testing.assert_allclose(said, start + parts.sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(said, model.predict_proba(X[:20]), atol=1e-12)

    @pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
    def test_dtreeviz(self, kind):
        dtreeviz = pytest.importorskip("dtreeviz")
        name = f"DecisionTree{kind}"
        model = fitted(name)
        names = {"target_name": "y", "feature_names": list("abcd"), "class_names": ["no", "yes"]}
        found = dtreeviz.model(model, X, EVERY[name][1], **names)
        assert "a" in found.explain_prediction_path(X[0]) + "a"
        assert found.shadow_tree.nnodes() == model.tree_.node_count

    @pytest.mark.parametrize("name", [n for n in EVERY if "Hist" not in n])
    def test_eli5(self, name):
        """It does not know boosting on histograms, nor scikit-learn's."""
        eli5 = pytest.importorskip("eli5")
        assert eli5.explain_weights(fitted(name)).error is None

    def test_eli5_of_a_row(self):
        eli5 = pytest.importorskip("eli5")
        for name in ("LogisticRegression", "RandomForestClassifier", "Ridge"):
            assert eli5.explain_prediction(fitted(name), X[0]).error is None


# --- files and other languages ---


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestFiles:
    @pytest.mark.parametrize(
        "name", ["Ridge", "LinearRegression", "LogisticRegression", "pipeline"]
    )
    def test_skl2onnx_by_our_exporter(self, name):
        skl2onnx = pytest.importorskip("skl2onnx")
        onnxruntime = pytest.importorskip("onnxruntime")
        model = fitted(name)
        options = {"zipmap": False} if hasattr(model, "classes_") else None
        graph = skl2onnx.to_onnx(model, X[:1], options=options)
        session = onnxruntime.InferenceSession(graph.SerializeToString())
        found = session.run(None, {session.get_inputs()[0].name: X})
        if options:
            np.testing.assert_array_equal(found[0], model.predict(X))
            np.testing.assert_allclose(found[1], model.predict_proba(X), atol=1e-12)
        else:
            np.testing.assert_allclose(found[0][:, 0], model.predict(X), atol=1e-12)

    @pytest.mark.parametrize("kind", ["DecisionTree", "ExtraTrees", "RandomForest"])
    @pytest.mark.parametrize("what", ["Classifier", "Regressor"])
    def test_skl2onnx_of_trees(self, kind, what):
        """By the converters of skl2onnx, for rows of float32."""
        skl2onnx = pytest.importorskip("skl2onnx")
        onnxruntime = pytest.importorskip("onnxruntime")
        single = X.astype(np.float32)
        model = EVERY[kind + what][0].fit(single, EVERY[kind + what][1])
        options = {"zipmap": False} if what == "Classifier" else None
        graph = skl2onnx.to_onnx(model, single[:1], options=options)
        session = onnxruntime.InferenceSession(graph.SerializeToString())
        found = session.run(None, {session.get_inputs()[0].name: single})
        said = model.predict_proba(single) if options else model.predict(single)
        np.testing.assert_allclose(found[-1].reshape(said.shape), said, atol=1e-5)

    @pytest.mark.parametrize(
        "name", ["DecisionTreeRegressor", "RandomForestClassifier", "ExtraTreesRegressor", "Ridge",
                 "LinearRegression", "LogisticRegression"]
    )  # fmt: skip
    def test_m2cgen(self, name):
        """The Python code that it writes answers as the model; boosting of scikit-learn's kind it
        does not know."""
        m2cgen = pytest.importorskip("m2cgen")
        model, space = fitted(name), {}
        exec(m2cgen.export_to_python(model), space)
        found = np.array([space["score"](row.tolist()) for row in X[:20]])
        if name == "LogisticRegression":
            said = model.decision_function(X[:20])
        else:
            said = (model.predict_proba if name in CLASSES else model.predict)(X[:20])
        np.testing.assert_allclose(found, said, atol=1e-9)

    @pytest.mark.parametrize("name", EVERY)
    def test_skops(self, name):
        """It asks about types of ours only, and brings the model back."""
        io = pytest.importorskip("skops.io")
        model = fitted(name)
        data = io.dumps(model)
        asked = io.get_untrusted_types(data=data)
        assert all(one.startswith("pellucid.") for one in asked)
        again = io.loads(data, trusted=asked)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.fixture
def runs(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("mlflow.sklearn")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    return mlflow


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestMlflow:
    @pytest.mark.parametrize(
        "name", ["RandomForestClassifier", "DecisionTreeRegressor", "pipeline"]
    )
    def test_a_model_is_logged_without_options(self, runs, name):
        model = fitted(name)
        with runs.start_run():
            info = runs.sklearn.log_model(model, name="model")
        again = runs.sklearn.load_model(info.model_uri)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))

    def test_autolog_logs_the_parameters(self, runs):
        runs.sklearn.autolog(log_models=False)
        try:
            with runs.start_run() as run:
                p.Ridge(alpha=3.0).fit(X, AMOUNT)
        finally:
            runs.sklearn.autolog(disable=True)
        assert runs.get_run(run.info.run_id).data.params["alpha"] == "3.0"

    def test_our_flavour_stores_our_file(self, runs):
        import pellucid.mlflow as flavour

        model = fitted("RandomForestRegressor")
        with runs.start_run():
            info = flavour.log_model(model, "model")
        again = flavour.load_model(info.model_uri)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        whole = runs.pyfunc.load_model(info.model_uri)
        np.testing.assert_array_equal(whole.predict(X), model.predict(X))


# --- around the fit ---


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
class TestAround:
    def test_fairlearn(self):
        metrics = pytest.importorskip("fairlearn.metrics")
        reductions = pytest.importorskip("fairlearn.reductions")
        from sklearn.metrics import accuracy_score

        group = (X[:, 3] > 0).astype(int)
        said = fitted("RandomForestClassifier").predict(X)
        frame = metrics.MetricFrame(
            metrics=accuracy_score, y_true=CLASS, y_pred=said, sensitive_features=group
        )
        assert len(frame.by_group) == 2
        parity = reductions.DemographicParity()
        model = reductions.ExponentiatedGradient(p.LogisticRegression(), parity, max_iter=5)
        assert model.fit(X, CLASS, sensitive_features=group).predict(X).shape == CLASS.shape

    def test_yellowbrick(self):
        classifier = pytest.importorskip("yellowbrick.classifier")
        regressor = pytest.importorskip("yellowbrick.regressor")
        assert (
            classifier.ConfusionMatrix(p.LogisticRegression()).fit(X, CLASS).score(X, CLASS) > 0.5
        )
        assert regressor.ResidualsPlot(p.Ridge()).fit(X, AMOUNT).score(X, AMOUNT) > 0.5

    def test_imbalanced_learn(self):
        pipeline = pytest.importorskip("imblearn.pipeline")
        from imblearn.ensemble import BalancedBaggingClassifier
        from imblearn.over_sampling import SMOTE

        model = pipeline.make_pipeline(SMOTE(random_state=0), p.RandomForestClassifier(8))
        assert model.fit(X, CLASS).score(X, CLASS) > 0.8
        bagging = BalancedBaggingClassifier(p.DecisionTreeClassifier(), n_estimators=3)
        assert bagging.fit(X, CLASS).score(X, CLASS) > 0.8

    def test_optuna(self):
        optuna = pytest.importorskip("optuna")
        optuna.logging.set_verbosity(optuna.logging.ERROR)

        def score(trial):
            model = p.Ridge(alpha=trial.suggest_float("alpha", 0.1, 10, log=True))
            return cross_val_score(model, X, AMOUNT, cv=3).mean()

        study = optuna.create_study(direction="maximize")
        study.optimize(score, n_trials=3)
        assert len(study.trials) == 3

    def test_mapie(self):
        regression = pytest.importorskip("mapie.regression")
        classification = pytest.importorskip("mapie.classification")
        forest = fitted("RandomForestRegressor")
        one = regression.SplitConformalRegressor(forest, confidence_level=0.9, prefit=True)
        limits = one.conformalize(X, AMOUNT).predict_interval(X)[1]
        assert (limits[:, 0] <= limits[:, 1]).all()
        two = classification.SplitConformalClassifier(
            fitted("RandomForestClassifier"), confidence_level=0.9, prefit=True
        )
        assert two.conformalize(X, CLASS).predict_set(X)[1].shape[:2] == (len(X), 2)
        cross = regression.CrossConformalRegressor(p.Ridge(), confidence_level=0.9)
        assert len(cross.fit_conformalize(X, AMOUNT).predict_interval(X[:3])[0]) == 3

    def test_feature_engine(self):
        selection = pytest.importorskip("feature_engine.selection")
        import pandas

        frame = pandas.DataFrame(X, columns=list("abcd"))
        shuffling = selection.SelectByShuffling(
            p.RandomForestRegressor(8, random_state=0), scoring="r2", cv=2, random_state=0
        )
        assert "a" not in shuffling.fit(frame, pandas.Series(AMOUNT)).features_to_drop_
        rfe = selection.RecursiveFeatureElimination(p.Ridge(), scoring="r2", cv=2)
        assert "a" not in rfe.fit(frame, pandas.Series(AMOUNT)).features_to_drop_
