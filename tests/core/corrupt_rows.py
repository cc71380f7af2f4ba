"""What follows the pointers of a corrupt sparse table before it looks at them.

Run as a program, ``python corrupt_rows.py WHAT`` prints its faults as JSON: a test that starts a
child sees it end by a signal. Classes, methods and functions are found by their signatures, so a
new one that takes a table is tried too. What they answer is not asked here: only that no table is
sliced, converted or multiplied that does not fit together.
"""

import importlib
import inspect
import json
import os
import pkgutil
import sys
import traceback
import warnings
from itertools import islice

import numpy as np
from estimators import data, make, names, public_classes
from trapped_tables import Followed, trapped

import pellucid

TABLES = {"X", "data", "source"}  # what a table is called among the arguments
FITS = ("fit", "fit_transform", "fit_predict", "partial_fit")
KINDS = ("functions", "classes")


def fault(call, *given, **named):
    """Which step followed the pointers, or None."""
    try:
        found = call(*given, **named)
        if inspect.isgenerator(found):
            list(islice(found, 3))
    except Followed as error:
        steps = traceback.extract_tb(error.__traceback__)
        own = [at for at in steps if f"{os.sep}pellucid{os.sep}" in at.filename][-1]
        return f"{error}: {own.filename}:{own.lineno}"
    except Exception:  # noqa: BLE001  answers and refusals are for other tests
        return None
    return None


def arguments(call):
    try:
        return list(inspect.signature(call).parameters)
    except (TypeError, ValueError):
        return []


def class_faults(name):
    """Faults of the fits of one class, and of every method that takes X once it is fitted."""
    cls = public_classes()[name]
    X, y = data(cls, 40)
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return {}
    table, found = trapped(X), {}
    for method in FITS:
        if hasattr(made := make(cls), method):
            found[method] = fault(getattr(made, method), table, y)
    if "y" in arguments(cls.fit):
        found["fit to y"] = fault(make(cls).fit, X, table)
    model = make(cls)
    if fault(model.fit, X, y) is None and hasattr(model, "n_features_in_"):
        for method, call in inspect.getmembers(cls, callable):
            takes = arguments(call)
            if (
                takes[1:2] == ["X"]
                and not method.startswith(("_", *FITS))
                and hasattr(model, method)
            ):
                target = {"y": y} if "y" in takes else {}
                found[method] = fault(getattr(model, method), table, **target)
    return {f"{name}.{method}": what for method, what in found.items() if what}


def functions():
    """The public functions that take a table, by package and name."""
    found = {}
    for module in pkgutil.iter_modules(pellucid.__path__):
        if not module.ispkg or module.name in ("lab", "serve", "textbook", "__kernels__"):
            continue
        package = importlib.import_module(f"pellucid.{module.name}")
        for name in getattr(package, "__all__", ()):
            value = getattr(package, name, None)
            if inspect.isfunction(value) and TABLES & set(arguments(value)):
                found[f"{module.name}.{name}"] = value
    return found


def fitted_models(X, y):
    """Models of several kinds, for the functions that ask one."""
    kinds = (
        pellucid.GaussianNB(),
        pellucid.Ridge(),
        pellucid.DecisionTreeRegressor(max_depth=2),
        pellucid.DecisionTreeClassifier(max_depth=2),
        pellucid.KMeans(3, random_state=0),
        pellucid.GaussianMixture(3, random_state=0),
        pellucid.PCA(2),
    )
    return [model.fit(X, y) for model in kinds]


def filled(call, model, table, y):
    """Keywords for the arguments that a function needs; what is not known here is a number."""
    tuned = pellucid.TunedEstimator(pellucid.GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2)
    known = {
        **dict.fromkeys(TABLES, table),
        **dict.fromkeys(("y", "labels", "target"), y),
        **dict.fromkeys(("E", "model", "estimator", "estimator_a", "estimator_b"), model),
        "models": {"one": model, "two": model},
        "members": [model, model],
        "tuned": tuned,
        "parameter": next(iter(model.get_params())),
        "values": [next(iter(model.get_params().values()))] * 2,
        "metric": "euclidean",
        "kernel": pellucid.kernel.LinearKernel(),
    }
    needed = inspect.signature(call).parameters.values()
    asked = [one.name for one in needed if one.default is one.empty or one.name in (*TABLES, "y")]
    return {name: known.get(name, 1) for name in asked if name not in ("options", "keywords")}


def function_faults(name):
    """Faults of one function, asked with a model of every kind."""
    call, rng = functions()[name], np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 4)) + 4.0 * np.eye(3, 4)[y]
    table = trapped(X)
    asks = {"E", "model", "estimator", "estimator_a", "models", "members"} & set(arguments(call))
    models = fitted_models(X, y)
    for model in models if asks else models[:1]:
        what = fault(call, **filled(call, model, table, y))
        if what:
            return {name: what}
    return {}


def cases(kind):
    return sorted(functions()) if kind == "functions" else names()


def faults(kind):
    """All faults of a kind, with the case that is tried written first: a signal names it."""
    found, ask = {}, function_faults if kind == "functions" else class_faults
    for name in cases(kind):
        print(name, file=sys.stderr, flush=True)
        found |= ask(name)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    json.dump(faults(sys.argv[1]), sys.stdout)
