"""Every public estimator fitted to a few rows, for children that run under other conditions.

``python small_fits.py fit FOLDER [NAME ...]`` saves the fitted models and their answers,
``python small_fits.py answer FOLDER`` loads them and answers again; both print one line of JSON.
``PELLUCID_TEST_BLOCK=numba,polars`` makes these imports fail; ``PELLUCID_TEST_ALONE=DIR`` leaves
kernels no other place than DIR.
"""

import json
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path

for name in filter(None, os.environ.get("PELLUCID_TEST_BLOCK", "").split(",")):
    sys.modules[name] = None  # type: ignore[assignment]

import numpy as np  # noqa: E402
from sklearn.base import BaseEstimator, is_regressor  # noqa: E402

import pellucid  # noqa: E402
from pellucid.core.runtime import jit  # noqa: E402

METHODS = ("predict_proba", "predict", "transform", "labels_")
SHORT = {"random_state": 0, "n_estimators": 3, "max_iter": 10, "n_init": 1}

if alone := os.environ.get("PELLUCID_TEST_ALONE"):
    from pellucid.core.runtime.compiling import files

    files.places = lambda: (Path(alone),)


def names():
    """The public estimators that can be made without arguments."""
    for name in pellucid.__all__:
        try:
            cls = getattr(pellucid, name)
        except ImportError:  # its extra, or Polars, is not here
            continue
        if isinstance(cls, type) and issubclass(cls, BaseEstimator):
            yield name


def fitted(name):
    """The estimator with short runs, fitted, and its rows; None if it needs more than that."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int)
    numbers = X @ [1.0, 2.0, 0.0] + rng.normal(size=40)
    try:
        model = getattr(pellucid, name)()
        known = model.get_params(deep=False)
        model.set_params(**{key: value for key, value in SHORT.items() if key in known})
        if model.__sklearn_tags__().input_tags.positive_only:
            X = np.abs(X)
        model.fit(X, numbers if is_regressor(model) else y)
    except (TypeError, ValueError, ImportError):  # it needs arguments, another kind of data
        return None
    return model, X


def answer(model, X):
    """The first hundred numbers or labels of what the model says of its rows."""
    for method in METHODS:
        if hasattr(model, method):
            found = getattr(model, method)
            found = np.asarray(found(X) if callable(found) else found).ravel()[:100]
            return found.astype(float).tolist() if found.dtype.kind in "biuf" else found.tolist()
    return None


def compilations():
    """How many kernels were compiled in this process."""
    if jit.why_plain():
        return None
    from pellucid.core.runtime.compiling.notices import NOTICE

    return NOTICE.count


def main(what, folder, *chosen):
    folder, answers = Path(folder), {}
    if what == "fit":
        for name in chosen or names():
            made = fitted(name)
            if made is None:
                continue
            answers[name] = answer(*made)
            np.save(folder / f"{name}.npy", made[1])
            with suppress(TypeError, ValueError):  # it holds what a file cannot
                pellucid.save(made[0], folder / f"{name}.pellucid")
    else:
        for path in sorted(folder.glob("*.pellucid")):
            answers[path.stem] = answer(pellucid.load(path), np.load(path.with_suffix(".npy")))
    print(json.dumps({"answers": answers, "compilations": compilations()}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
