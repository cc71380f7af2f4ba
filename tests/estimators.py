"""Find every public estimator and make data it can be fitted on: no list to maintain."""

import inspect
from functools import cache

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.discovery import all_estimators

import pellucid
from pellucid.base import BlockEstimator


@cache
def public_classes():
    """Every concrete estimator class of the lazy table, by name."""
    found = {}
    for name in pellucid._HOME:
        value = getattr(pellucid, name)
        if inspect.isclass(value) and issubclass(value, BaseEstimator):
            assert not inspect.isabstract(value), f"{name} is abstract but public"
            found[name] = value
    return found


def make(cls, **params):
    """An instance; a meta-estimator's required estimator is a simple one of ours."""
    signature = inspect.signature(cls)
    for name, parameter in signature.parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in params:
            assert name in ("estimator", "classifier", "regressor"), (cls, name)
            is_regression = name == "regressor" or "Regress" in cls.__name__
            params[name] = pellucid.Ridge() if is_regression else pellucid.GaussianNB()
    if "random_state" in signature.parameters:
        params.setdefault("random_state", 0)
    return cls(**params)


def every_public_estimator():
    return [make(cls) for cls in public_classes().values()]


def takes(cls, parameter):
    return parameter in inspect.signature(cls.fit).parameters


def names(condition=lambda cls: True):
    return [name for name, cls in public_classes().items() if condition(cls)]


def block_names():
    return names(lambda cls: issubclass(cls, BlockEstimator))


def iterative_names():
    return names(lambda cls: "max_iter" in inspect.signature(cls).parameters and _iterates(cls))


def _iterates(cls):
    X, y = data(cls, 60)
    return hasattr(make(cls).fit(X, y), "history_")


def data(cls, n=200, p=4, seed=0):
    """(X, y) with groups, a linear signal and the target the estimator's tags ask for."""
    rng = np.random.default_rng(seed)
    group = rng.integers(3, size=n)
    X = rng.normal(size=(n, p)) + 4.0 * np.eye(3, p)[group]
    estimator = make(cls)
    if get_tags(estimator).input_tags.positive_only:
        X = np.abs(X)
    if is_classifier(estimator):
        return X, np.array(["ant", "bee", "cat"])[group]
    if is_regressor(estimator):
        return X, X @ rng.normal(size=p) + 0.3 * rng.normal(size=n)
    return X, None


OUTPUTS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")


def outputs(model, X):
    """Everything the fitted model says of X, by method."""
    found = {name: np.asarray(getattr(model, name)(X)) for name in OUTPUTS if hasattr(model, name)}
    assert found, f"{model} has none of {OUTPUTS}"
    return found


def assert_same_outputs(a, b, X, rtol=0.0):
    left, right = outputs(a, X), outputs(b, X)
    assert left.keys() == right.keys()
    for name, values in left.items():
        if rtol and values.dtype.kind == "f":
            scale = max(1.0, float(np.abs(values).max()))
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
        state[name] = value
    return state


def assert_same_state(a, b, ignore=()):
    """Bit-equal fitted attributes."""
    left, right = fitted_state(a), fitted_state(b)
    assert left.keys() - set(ignore) == right.keys() - set(ignore)
    for name in left.keys() - set(ignore):
        _assert_equal(left[name], right[name], name)


def _assert_equal(a, b, where):
    if isinstance(a, dict):
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
