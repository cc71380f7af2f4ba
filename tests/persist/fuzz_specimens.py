"""A model of every class that a file may hold, for ``fuzz_models`` to forge files of.

Public estimators are fitted to the data of ``estimators``; the other classes that declare a state
(settings, kernels, layers, parts of a study, scikit-learn's transformers) have a line here where
their defaults do not make one. A class without a specimen fails in ``tests/persist/test_fuzz.py``.
"""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
from estimators import DEEP, data, decides, every_class, fit, make
from sklearn import compose, feature_selection, impute, pipeline, preprocessing
from sklearn.base import BaseEstimator

import pellucid
from pellucid.core.functions import kernels
from pellucid.persist.allowed import find_class
from pellucid.persist.schema import declarations
from pellucid.solvers.schedules import Constant
from pellucid.study.columns.lags import Lags, make_tail

CORE, STUDY, SCHEDULES = "pellucid.core.kernels", "pellucid.study", "pellucid.solvers.schedules"
# What a constructor has to be given.
SETTINGS = {
    f"{CORE}.KernelOfTwo": (kernels.LinearKernel(), kernels.GaussianKernel(0.5)),
    f"{CORE}.ScaledKernel": (2.0, kernels.GaussianKernel(0.5)),
    f"{SCHEDULES}.Adaptive": (0.1,),
    f"{SCHEDULES}.Cosine": (0.1, 0.01, 10),
    f"{SCHEDULES}.ExponentialDecay": (0.1, 0.5),
    f"{SCHEDULES}.InverseScaling": (0.1,),
    f"{SCHEDULES}.LinearDecay": (0.1, 0.01, 10),
    f"{SCHEDULES}.StepDecay": (0.1,),
    f"{SCHEDULES}.WarmUp": (Constant(0.1), 5),
    "pellucid.neural.activate.Activate": ("relu",),
    "pellucid.neural.dense.Affine": (3,),
    "pellucid.neural.dense.Dense": (3,),
    "pellucid.reinforcement.value_network.ValueNetwork": (4, 2),
    f"{STUDY}.tables.fold_plan.UnitFolds": ("rows", 3, False, 0),
}


# A function is what they are, and no file holds one.
FUNCTIONS = {f"{CORE}.FunctionKernel", f"{CORE}.MatrixFunctionKernel"}


@cache
def numbers():
    """Rows, a number and a label to learn, the same for all."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 4)), 1)
    return X, X[:, 0] * X[:, 1] + X[:, 2], (X[:, 0] > 0).astype(int)


def scikit_learn():
    """The transformers of scikit-learn that a file may hold, by name."""
    X, y, label = numbers()
    gaps = np.where(X > 1, np.nan, X)
    scaler, tables = preprocessing.StandardScaler(), preprocessing.OneHotEncoder
    union = [("a", preprocessing.StandardScaler()), ("b", pellucid.KBinsDiscretizer(3))]
    parts = [("a", scaler, [0, 1]), ("b", tables(handle_unknown="ignore"), slice(2, 3))]
    models = [
        scaler,
        preprocessing.MinMaxScaler(),
        impute.SimpleImputer(),
        tables(handle_unknown="ignore"),
        preprocessing.OrdinalEncoder(),
        preprocessing.PolynomialFeatures(2),
        preprocessing.QuantileTransformer(n_quantiles=5),
        preprocessing.PowerTransformer(),
        preprocessing.RobustScaler(),
        preprocessing.KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"),
        preprocessing.TargetEncoder(),
        preprocessing.Normalizer(),
        preprocessing.MaxAbsScaler(),
        preprocessing.Binarizer(),
        preprocessing.FunctionTransformer(),
        feature_selection.VarianceThreshold(),
        pipeline.make_pipeline(preprocessing.StandardScaler(), pellucid.Ridge()),
        pipeline.FeatureUnion(union),
        compose.ColumnTransformer(parts, remainder="passthrough"),
    ]
    named = {type(model).__name__: (model, X, label, X[:7]) for model in models}
    target = compose.TransformedTargetRegressor(pellucid.Ridge(), transformer=scaler)
    named |= {
        "MissingIndicator": (impute.MissingIndicator(), gaps, None, gaps[:7]),
        "TransformedTargetRegressor": (target, X, y, X[:7]),
        "LabelBinarizer": (preprocessing.LabelBinarizer(), [1, 2, 3], ..., np.array([1, 2, 3])),
        "LabelEncoder": (preprocessing.LabelEncoder(), ["a", "b"], ..., np.array(["a", "b"])),
        "MultiLabelBinarizer": (
            preprocessing.MultiLabelBinarizer(),
            [[1, 2], [3]],
            ...,
            [[1], [2, 3]],
        ),
    }
    return {f"sklearn.{name}": model for name, model in named.items()}


def fitted_parts():
    """Parts of a study, kernels and what else is useful only when fitted, by the declared name."""
    X, y, label = numbers()
    tree, line, bayes = (
        pellucid.DecisionTreeRegressor,
        pellucid.LinearRegression,
        pellucid.GaussianNB,
    )
    levels = np.hstack([np.repeat(np.eye(4), 15, axis=0), X])
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, g=np.where(label, "u", "v"))
    two = [("l", line()), ("t", tree(max_depth=2))]

    def of(name, *args):
        return find_class(name)(*args)

    def machine(kernel):
        return lambda: (pellucid.SVC(kernel=kernel).fit(X, label), X[:7])

    def regressor(name, *args, X=X, y=y):
        return lambda: (of(name, *args).fit(X, y), X[::9])

    gaussian, columns = kernels.GaussianKernel, kernels.ColumnsKernel
    candidates = f"{STUDY}.candidates"
    return {
        f"{CORE}.ColumnsKernel": machine(columns(gaussian(0.5), [0, 1])),
        f"{CORE}.NormalizedKernel": machine(kernels.NormalizedKernel(kernels.PolynomialKernel(2))),
        f"{CORE}.ProductKernel": machine(
            kernels.ProductKernel(kernels.PolynomialKernel(2), kernels.LaplacianKernel(0.3))
        ),
        f"{CORE}.SumKernel": machine(kernels.SumKernel(gaussian(0.5), kernels.SigmoidKernel())),
        f"{candidates}.change.ChangeRegressor": regressor(
            f"{candidates}.change.ChangeRegressor", tree()
        ),
        f"{candidates}.log_scale.LogScaleRegressor": regressor(
            f"{candidates}.log_scale.LogScaleRegressor", line(), y=np.exp(y)
        ),
        f"{candidates}.limited.LimitedRegressor": regressor(
            f"{candidates}.limited.LimitedRegressor", line(), y=np.exp(y)
        ),
        f"{candidates}.non_negative.NonNegativeRegressor": regressor(
            f"{candidates}.non_negative.NonNegativeRegressor", line(), y=y**2
        ),
        f"{candidates}.ordered.OrderedClassifier": regressor(
            f"{candidates}.ordered.OrderedClassifier",
            pellucid.OrdinalLogisticRegression(),
            ["0", "1"],
            y=np.where(X[:, 1] > 0, "1", "0"),
        ),
        f"{candidates}.stacked.StackedRegressor": regressor(
            f"{candidates}.stacked.StackedRegressor", two, [0.5, 0.5], 0.0
        ),
        f"{candidates}.stacked.StackedClassifier": regressor(
            f"{candidates}.stacked.StackedClassifier", [("b", bayes())], [1.0], [0.0, 0.0], y=label
        ),
        f"{candidates}.table_boosting.TableBoostingRegressor": regressor(
            f"{candidates}.table_boosting.TableBoostingRegressor", X=levels
        ),
        f"{candidates}.table_boosting.TableBoostingClassifier": regressor(
            f"{candidates}.table_boosting.TableBoostingClassifier", X=levels, y=label
        ),
        f"{STUDY}.products.ProductRegressor": regressor(f"{STUDY}.products.ProductRegressor"),
        f"{STUDY}.products.ProductClassifier": regressor(
            f"{STUDY}.products.ProductClassifier", y=label
        ),
        f"{STUDY}.unit_network.UnitNetwork": regressor(f"{STUDY}.unit_network.UnitNetwork", (5,)),
        f"{STUDY}.guessing.GuessClassifier": regressor(
            f"{STUDY}.guessing.GuessClassifier", y=label
        ),
        f"{STUDY}.guessing.GuessRegressor": regressor(f"{STUDY}.guessing.GuessRegressor"),
        f"{STUDY}.judging.calibration.TemperedClassifier": regressor(
            f"{STUDY}.judging.calibration.TemperedClassifier", bayes(), 0.5, y=label
        ),
        f"{STUDY}.columns.lagged_features.LaggedFeatures": lambda: lagged(frame),
        f"{STUDY}.columns.series_model.SeriesModel": series,
        "pellucid.deep.q_network.QNetwork": q_network,
        "pellucid.ensemble.constant.ConstantClassifier": regressor(
            "pellucid.ensemble.constant.ConstantClassifier", y=np.ones(60, dtype=int)
        ),
        "pellucid.linear.formula.FormulaDesign": lambda: (
            pellucid.linear.from_formula("y ~ bs(a, df=5) + poly(b, 3) + C(g) * c", frame),
            frame[:7],
        ),
        # alone it cannot be saved once it is fitted: a model makes its own again
        "pellucid.neighbors.lsh.LSHIndex": lambda: (
            pellucid.KNeighborsClassifier(
                algorithm=pellucid.neighbors.LSHIndex(random_state=0)
            ).fit(X, label),
            X[:7],
        ),
    }


def lagged(frame):
    """Columns of a series with lags of its target, and the end of the series for new rows."""
    lags = Lags("day", "y", ("a",), (), False)
    cells = pl.DataFrame({"day": np.arange(60.0), "a": frame["a"], "y": frame["y"]})
    tail = make_tail(lags, cells, frame["y"].to_numpy(), np.arange(60))
    names = ["a", *lags.names()]
    kinds = dict.fromkeys(names, "number")
    cls = find_class(f"{STUDY}.columns.lagged_features.LaggedFeatures")
    model = cls(kinds, columns=names, lags=lags, tail=tail)
    made = model.with_lags(cells.with_columns(day=pl.col("day") + 60))
    return model.fit(made.select(names)), cells.with_columns(day=pl.col("day") + 60)[:7]


def q_network():
    """A network of two actions after one batch."""
    X, y, label = numbers()
    model = find_class("pellucid.deep.q_network.QNetwork")(2, (8,), random_state=0)
    model.update(X, label, y)
    return model, X[:7]


def series():
    """A pipeline for a series, beside the model for rows that lie far ahead."""
    cls = find_class(f"{STUDY}.columns.series_model.SeriesModel")
    X, y, _ = numbers()
    steps = [("scale", preprocessing.StandardScaler()), ("line", pellucid.Ridge())]
    return cls(steps, far=pellucid.Ridge().fit(X, y), reach=2).fit(X, y), X[:7]


def specimen(name):
    """A fitted model of this class and rows to ask it about."""
    if name in scikit_learn():
        model, X, y, rows = scikit_learn()[name]
        return (model.fit(X) if y is ... else model.fit(X, y)), rows
    if name not in every_class():
        part = fitted_parts().get(name)
        return part() if part else (find_class(name)(*SETTINGS.get(name, ())), numbers()[0][:7])
    cls = every_class()[name]
    if decides(cls):
        world = pellucid.reinforcement.grid_world(["..+", ".#-", "S.."], discount=0.9)
        given = {"horizon": 3} if cls.__name__ == "FiniteHorizon" else {}
        return make(cls, **given).fit(world), None
    X, y = data(cls, 60)
    return fit(make(cls), X, y), X[:7]


@cache
def declared():
    """Every class that declares a state; deep ones where PyTorch is."""
    names = [name for name in declarations() if name != "*" and name[0] != "{"]
    homes = {f"pellucid.{name}": home for name, home in pellucid._HOME.items()}
    return [n for n in names if DEEP or not homes.get(n, n).startswith(("deep.", "pellucid.deep."))]


@cache
def every_name():
    """The specimens: public estimators, scikit-learn's, and all others that declare a state."""
    public = {f"pellucid.{name}" for name in pellucid._HOME}
    others = [n for n in declared() if n not in public | FUNCTIONS and n[:8] != "sklearn."]
    parts = [name for name in others if issubclass(find_class(name), BaseEstimator)]
    return [*every_class(), *scikit_learn(), *parts]
