"""Source code of models: Python by exec, C by the compiler where there is one."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from pellucid import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    LinearRegression,
    MLPClassifier,
    MLPRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.report import to_source

CC = shutil.which("cc")
rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=150)
HOLES = X.copy()
HOLES[rng.random(X.shape) < 0.1] = np.nan
TWO, THREE = np.where(Y > 0, "high", "low"), np.digitize(Y, [-1, 1]) * 10
FEW = {"max_iter": 8, "min_samples_leaf": 5}
EXACT = {
    "tree": (DecisionTreeRegressor(), HOLES, Y),
    "class tree": (DecisionTreeClassifier(), HOLES, THREE),
    "forest": (RandomForestRegressor(7, random_state=0), HOLES, Y),
    "class forest": (RandomForestClassifier(7, random_state=0), HOLES, TWO),
    "boosting": (GradientBoostingRegressor(n_estimators=9), X, Y),
    "two classes": (GradientBoostingClassifier(n_estimators=9), X, TWO),
    "three classes": (GradientBoostingClassifier(n_estimators=4), X, THREE),
    "bins": (HistGradientBoostingRegressor(**FEW), HOLES, Y),
    "class bins": (HistGradientBoostingClassifier(**FEW), HOLES, THREE),
}
NETWORK = {"max_iter": 30, "random_state": 0, "solver": "lbfgs"}
ROUNDED = {
    "poisson": (HistGradientBoostingRegressor("poisson", **FEW), HOLES, np.exp(Y)),
    "network": (MLPRegressor(hidden_layer_sizes=(6, 5), activation="tanh", **NETWORK), X, Y),
    "two outputs": (MLPRegressor(hidden_layer_sizes=(6,), **NETWORK), X, np.column_stack([Y, -Y])),
    "class network": (MLPClassifier((6,), "logistic", **NETWORK), X, TWO),
    "softmax": (MLPClassifier((5,), "leaky_relu", **NETWORK), X, THREE),
}


def fitted(name):
    model, table, y = {**EXACT, **ROUNDED}[name]
    return model.fit(table, y), table


def scores(model, table):
    if hasattr(model, "decision_function"):
        return model.decision_function(table)
    return model.predict_proba(table) if hasattr(model, "classes_") else model.predict(table)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_python(name):
    model, table = fitted(name)
    text = to_source(model)
    assert "import" not in text
    space = {}
    exec(text, space)
    rows = table.tolist()
    found = [space["predict"](row) for row in rows]
    if hasattr(model, "classes_"):
        assert found == model.predict(table).tolist()
    elif name in EXACT:
        assert found == model.predict(table).tolist()  # bit for bit
    else:
        assert_allclose(found, model.predict(table), rtol=1e-9, atol=1e-10)
    if name in EXACT:
        sums = np.array([space["scores"](row) for row in rows])
        expected = scores(model, table)
        assert np.array_equal(sums[:, 0] if sums.shape[1] == 1 else sums, expected)


@pytest.mark.skipif(CC is None, reason="no C compiler named cc")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["class forest", "three classes", "bins", "poisson", "softmax",
                                  "network"])  # fmt: skip
def test_c(name, tmp_path):
    model, table = fitted(name)
    code, library = tmp_path / "model.c", tmp_path / "model.so"
    code.write_text(to_source(model, "c"))
    flags = ["-std=c99", "-Wall", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([CC, *flags, str(code), "-o", str(library), "-lm"], check=True)
    predict = ctypes.CDLL(str(library)).predict
    predict.restype = ctypes.c_double
    row = ctypes.c_double * 4
    found = np.array([predict(row(*cells)) for cells in table.tolist()])
    if hasattr(model, "classes_"):
        assert (model.classes_[found.astype(int)] == model.predict(table)).all()
    elif name in EXACT:
        assert np.array_equal(found, model.predict(table))
    else:
        assert_allclose(found, model.predict(table), rtol=1e-9, atol=1e-10)


def test_categories_in_python():
    town = rng.choice(["u", "v", "w", "x"], 150)
    frame = pd.DataFrame({"town": pd.Categorical(town), "size": X[:, 0]})
    y = np.isin(town, ["u", "x"]) * 3.0 + X[:, 0]
    model = HistGradientBoostingRegressor(**FEW).fit(frame, y)
    space = {}
    exec(to_source(model), space)
    rows = zip(town.tolist(), X[:, 0].tolist(), strict=True)
    assert [space["predict"](row) for row in rows] == model.predict(frame).tolist()
    other = pd.DataFrame({"town": pd.Categorical([None], ["u"]), "size": [0.5]})
    assert space["predict"]([None, 0.5]) == model.predict(other)[0]
    with pytest.raises(ValueError, match="columns of numbers"):
        to_source(model, "c")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_deep_trees_strange_names_and_refusals():
    n = 300
    model = DecisionTreeRegressor().fit(np.arange(n)[:, None], np.arange(n) ** 2 % 97)
    space = {}
    exec(to_source(model), space)
    assert space["predict"]([41.0]) == 41**2 % 97
    frame = pd.DataFrame(X, columns=['a"""', "b*/", "c\n", "d"])
    labels = np.where(Y > 0, 'say "?"\n', "\u00e9*/")
    model = DecisionTreeClassifier(max_depth=2).fit(frame, labels)
    exec(to_source(model), space)
    assert [space["predict"](row) for row in X.tolist()] == model.predict(frame).tolist()
    assert to_source(model, "c").count("*/") == 3 + to_source(model, "c").count("\\303")
    with pytest.raises(TypeError, match="got LinearRegression"):
        to_source(LinearRegression().fit(X, Y))
    with pytest.raises(ValueError, match="language"):
        to_source(model, "cobol")
    gelu = MLPRegressor(hidden_layer_sizes=(3,), activation="gelu", **NETWORK)
    gelu.fit(X, Y)
    with pytest.raises(ValueError, match="gelu"):
        to_source(gelu)
