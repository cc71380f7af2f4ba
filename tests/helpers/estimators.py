"""Find every public estimator and make data it can be fitted on: no list to maintain."""

import inspect
import os
from functools import cache

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_clusterer, is_regressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.discovery import all_estimators

import pellucid

# Deep models need PyTorch: `make test-deep` installs it and sets this.
DEEP = os.environ.get("PELLUCID_DEEP") == "1"
DEEP_REASON = "deep models are tested by `make test-deep`, which installs PyTorch"

CHOSEN = os.environ.get("PELLUCID_ESTIMATORS", "").split()  # of which alone tests are collected


@cache
def every_class():
    """Every concrete estimator class of the lazy table, by name."""
    found = {}
    for name, home in pellucid._HOME.items():
        if (home.startswith("deep.") and not DEEP) or (CHOSEN and name not in CHOSEN):
            continue
        value = getattr(pellucid, name)
        if inspect.isclass(value) and issubclass(value, BaseEstimator):
            assert not inspect.isabstract(value), f"{name} is abstract but public"
            found[name] = value
    return found


@cache
def public_classes():
    """Those that are fitted to data; planners and agents take a decision process instead."""
    return {name: cls for name, cls in every_class().items() if not decides(cls)}


def decides(cls):
    """Whether ``fit`` takes an MDP or an environment, so that the checks of arrays do not apply."""
    return list(inspect.signature(cls.fit).parameters)[1] in ("mdp", "env")


def make(cls, **params):
    """An instance; a meta-estimator's required estimator is a simple one of ours."""
    signature = inspect.signature(cls)
    for name, parameter in signature.parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in params:
            if name == "space":  # of a search: a parameter of the simple estimator below
                params[name] = {"var_smoothing": [1e-3, 1e-9]}
                continue
            if name == "param_grid":
                params[name] = {"max_depth": [2, None]}
                continue
            if name == "estimators":  # of a committee
                numbers = "Regress" in cls.__name__
                kind = "Regressor" if numbers else "Classifier"
                tree = getattr(pellucid, f"DecisionTree{kind}")(max_depth=2, random_state=0)
                simple = pellucid.Ridge() if numbers else pellucid.GaussianNB()
                params[name] = [("simple", simple), ("tree", tree)]
                continue
            if name == "representation":  # learned from all rows
                params[name] = pellucid.StandardScaler()
                continue
            if name == "kernels":  # of a machine that weighs them
                kinds = pellucid.kernel
                params[name] = [kinds.LinearKernel(), kinds.GaussianKernel(2.0)]
                continue
            if name == "density":
                params[name] = pellucid.discriminant.GaussianDensity(0.1)
                continue
            if name == "components":  # of a mixture of any densities
                params[name] = [pellucid.mixture.GaussianComponent()]
                continue
            if name == "loss_matrix":  # 0/1 loss, whatever the number of classes
                params[name] = None
                continue
            assert name in ("estimator", "classifier", "regressor"), (cls, name)
            if cls.__name__ == "ReducedErrorPruning":
                params[name] = pellucid.DecisionTreeClassifier()
                continue
            if cls.__name__ == "OutOfBagSearch":
                params[name] = pellucid.RandomForestClassifier(30, max_samples=0.3, random_state=0)
                continue
            selects = hasattr(cls, "get_support")  # by coefficients, for example
            is_regression = name == "regressor" or "Regress" in cls.__name__ or selects
            params[name] = pellucid.Ridge() if is_regression else pellucid.GaussianNB()
    if "k" in signature.parameters:  # of the four columns of ``data``
        params.setdefault("k", 2)
    if "n_components" in signature.parameters and (
        signature.parameters["n_components"].default == 100
    ):
        params.setdefault("n_components", 20)  # landmarks: some tests have 60 rows
    if "C" in signature.parameters and signature.parameters["C"].default == np.inf:
        params.setdefault("C", 1.0)  # the groups of ``data`` hardly overlap: no maximum likelihood
    if cls.__name__ == "ClusterNumberSearch":  # every number of clusters costs some thirty fits
        params = {"n_clusters": range(1, 4), "n_runs": 2, **params}
    if cls.__name__ == "ModelAveragingStructure":  # graphs of the chain
        params = {"n_samples": 50, **params}
    if cls.__name__ == "HashingVectorizer":  # a million columns, which the checks make dense
        params.setdefault("n_features", 1 << 10)
    if cls.__name__ == "QuantileTransformer":  # scikit-learn's default warns of every small table
        params = {"n_quantiles": 20, **params}
    if cls.__name__ == "PossibilisticCMeans":  # centres that meet warn: as many as ``data`` has
        params = {"n_clusters": 3, "m": 1.5, **params}
    if cls.__name__ == "IsotonicRegression":  # held-out rows outside the range would get NaN
        params = {"out_of_bounds": "clip", **params}
    if cls.__name__ == "SelfTrainingClassifier":  # scikit-learn's refuses its own default, None
        params = {"estimator": pellucid.GaussianNB(), **params}
    if cls.__name__ in ("MLPClassifier", "MLPRegressor"):  # small, and done before max_iter
        params = {"hidden_layer_sizes": (8,), "learning_rate_init": 0.05, "tol": 1e-2, **params}
    if cls.__name__ == "NMF":
        params = {"n_components": 2, "max_iter": 500, **params}
    if cls.__name__ == "FastICA":  # the other columns of ``data`` are normal: no sources
        params = {"n_components": 2, **params}
    if cls.__name__ == "TSNE":  # some tests have few rows
        params = {"perplexity": 2, "max_iter": 250, **params}
    if cls.__name__ == "CCA":  # at most as many as there are targets
        params = {"n_components": 1, **params}
    if cls.__name__ == "SparseGaussianProcessRegressor":
        params = {"n_inducing": 10, "max_iter": 200, **params}
    if cls.__name__ == "GaussianProcessRegressor":  # without noise it ends at its bounds
        params = {"alpha": 0.1, **params}
    if cls.__name__.startswith("RadiusNeighbors"):  # every row of ``data`` has neighbours
        params = {"radius": 3.0, "weights": "distance", **params}
    if cls.__name__ == "Autoencoder":
        params = {"solver": "lbfgs", "max_iter": 1000, **params}
    if pellucid._HOME.get(cls.__name__, "").startswith("deep."):  # few updates, large steps
        training = pellucid.deep.Training(learning_rate=0.02)
        params.setdefault("training", training)
    if getattr(signature.parameters.get("random_state"), "default", "deprecated") != "deprecated":
        params.setdefault("random_state", 0)
    return cls(**params)


def every_public_estimator():
    return [make(cls) for cls in public_classes().values()]


def takes(cls, parameter):
    return parameter in inspect.signature(cls.fit).parameters


def names(condition=lambda cls: True):
    return [name for name, cls in public_classes().items() if condition(cls)]


def block_names():
    """Those that stream tables; vectorisers of texts have tests of their own."""
    return names(lambda cls: hasattr(cls, "fit_blocks") and reads_tables(cls))


def iterative_names():
    return names(lambda cls: "max_iter" in inspect.signature(cls).parameters and _iterates(cls))


def _iterates(cls):
    X, y = data(cls, 60)
    return hasattr(make(cls).fit(X, y), "history_")


def reads_tables(cls):
    """Whether X is a table: text vectorisers and label encoders read one column instead."""
    return get_tags(make(cls)).input_tags.two_d_array


def reads_labels(cls):
    """Whether it encodes the target alone: ``fit(y)``, and no place in a pipeline."""
    return get_tags(make(cls)).target_tags.one_d_labels


def fit(model, X, y=None):
    """Fit; an encoder of the target takes nothing else."""
    return model.fit(X) if get_tags(model).target_tags.one_d_labels else model.fit(X, y)


def reads_numbers(cls):
    """Whether X must be numbers; encoders and some imputers take categories and text too."""
    tags = get_tags(make(cls)).input_tags
    return tags.two_d_array and not (tags.categorical or tags.string)


def data(cls, n=200, p=4, seed=0, **params):
    """(X, y) with groups, a linear signal and the target the estimator's tags ask for.

    X is a table of numbers; small whole numbers for estimators of categories, documents for
    estimators of text, labels for estimators of labels.
    """
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    X = rng.normal(size=(n, p)) + 4.0 * np.eye(3, p)[group]
    estimator = make(cls, **params)
    tags = get_tags(estimator)
    labels = np.array(["ant", "bee", "cat"])[group]
    if tags.input_tags.one_d_array:  # a curve: one column of numbers
        return X[:, :1], np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)
    if cls.__name__ == "GraphNeuralNetworkClassifier":  # paths and rings with a row of X at nodes
        path = np.eye(5, k=1) + np.eye(5, k=-1)
        ring = path + np.eye(5, k=4) + np.eye(5, k=-4)
        return [((ring, path)[i % 2], X[[i] * 5]) for i in range(n)], labels
    if not tags.input_tags.two_d_array:
        words = np.array(["red", "green", "blue", "grey", "pink"])
        documents = [" ".join(words[row]) for row in rng.integers(5, size=(n, 6))]
        y = labels if is_classifier(estimator) else None
        return (labels if tags.target_tags.one_d_labels else documents), y
    if tags.input_tags.categorical:
        X = np.clip(np.floor(np.abs(X)), 0.0, 3.0)
    if tags.input_tags.positive_only:
        X = np.abs(X)
    if cls.__name__ == "SelfTrainingClassifier":  # without unlabelled rows it warns
        return X, np.where(np.arange(n) % 3 == 0, -1, group)
    if is_classifier(estimator):
        if not tags.target_tags.single_output:  # several labels of a row
            return X, np.column_stack([group == 0, group != 2, X[:, 1] > 1.0]).astype(int)
        if not tags.classifier_tags.multi_class:
            return X, np.where(labels == "ant", "ant", "bee")
        return X, labels
    inner = getattr(estimator, "estimator", None)
    if is_regressor(estimator) or is_regressor(estimator if inner is None else inner):
        y = X @ rng.normal(size=p) + 0.3 * rng.normal(size=n)
        if tags.target_tags.positive_only:
            y = np.exp(y / 4)
        return X, y if tags.target_tags.single_output else np.column_stack([y, X[:, 0] - y])
    return X, labels if tags.target_tags.required else None


def pipeline(cls, **params):
    """The estimator behind a scaler, where scaled numbers are what it can read."""
    tags = get_tags(make(cls, **params)).input_tags
    numbers = tags.two_d_array and not (tags.categorical or tags.positive_only)
    before = [StandardScaler()] if numbers else []
    return make_pipeline(*before, make(cls, **params))


OUTPUTS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "score_samples",
    "kneighbors",
)


def dense(values):
    """An array, whether the estimator gives arrays, frames or sparse matrices."""
    return values.toarray() if issparse(values) else np.asarray(values)


def outputs(model, X):
    """Everything the fitted model says of X, by method."""
    found = {name: dense(getattr(model, name)(X)) for name in OUTPUTS if hasattr(model, name)}
    if not found and hasattr(model, "steps"):  # a pipeline says only what pipelines know of
        return outputs(model[-1], model[:-1].transform(X))
    if not found and is_clusterer(model):  # it groups the rows it is given, and no others
        return {"fit_predict": clone(model).fit_predict(X)}
    assert found, f"{model} has none of {OUTPUTS}"
    return found


def assert_same_outputs(a, b, X, rtol=0.0):
    left, right = outputs(a, X), outputs(b, X)
    assert left.keys() == right.keys()
    for name, values in left.items():
        if rtol and values.dtype.kind == "f":
            scale = max(1.0, float(np.nanmax(np.abs(values))))
            np.testing.assert_allclose(right[name], values, rtol=rtol, atol=rtol * scale)
        else:
            np.testing.assert_array_equal(right[name], values)


def fitted_state(model):
    """The fitted attributes, without what is only timing."""
    state = {}
    for name, value in vars(model).items():
        if not name.endswith("_") or name.startswith("_"):
            continue
        if name == "history_":
            value = [{k: v for k, v in row.items() if k != "seconds"} for row in value]
        if isinstance(value, dict):
            value = {k: v for k, v in value.items() if not str(k).endswith("_time")}
        state[name] = value
    return state


def assert_same_state(a, b, ignore=()):
    """Bit-equal fitted attributes."""
    left, right = fitted_state(a), fitted_state(b)
    assert left.keys() - set(ignore) == right.keys() - set(ignore)
    for name in left.keys() - set(ignore):
        _assert_equal(left[name], right[name], name)


def _assert_equal(a, b, where):
    if isinstance(a, np.ndarray) and a.dtype == object:  # may hold arrays
        assert isinstance(b, np.ndarray), where
        assert (a.dtype, a.shape) == (b.dtype, b.shape), where
        _assert_equal(a.ravel().tolist(), b.ravel().tolist(), where)
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), where
        for key in a:
            _assert_equal(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            _assert_equal(x, y, f"{where}[{i}]")
    elif isinstance(a, np.ndarray | np.generic | float | int | str | bool) or a is None:
        np.testing.assert_array_equal(a, b, err_msg=where)
    else:
        assert type(a) is type(b), where


@cache
def _sklearn_classes():
    return dict(all_estimators())


def twin(cls):
    """scikit-learn's class of the same name, or None."""
    return _sklearn_classes().get(cls.__name__)
