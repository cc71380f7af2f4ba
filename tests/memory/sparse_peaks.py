"""How much memory a fit on a large sparse table takes, each in a process of its own.

``peak_of("pellucid", "Ridge", n, p, values)`` starts a process that makes the table, notes what it
holds, fits, and is watched from outside: the peak beyond the table is known even where the fit runs
into the limit of memory or of time.
"""

import contextlib
import importlib
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

SETTINGS = {  # the same for both libraries: short fits, the same memory
    "AdaBoostClassifier": {"n_estimators": 3},
    "BaggingClassifier": {"n_estimators": 3},
    "BaggingRegressor": {"n_estimators": 3},
    "BisectingKMeans": {"n_clusters": 3},
    "DBSCAN": {"eps": 0.5},
    "ExtraTreesClassifier": {"n_estimators": 3, "max_depth": 8},
    "ExtraTreesRegressor": {"n_estimators": 3, "max_depth": 8},
    "GradientBoostingClassifier": {"n_estimators": 3},
    "GradientBoostingRegressor": {"n_estimators": 3},
    "DecisionTreeClassifier": {"max_depth": 8},
    "DecisionTreeRegressor": {"max_depth": 8},
    "ElasticNetCV": {"alphas": 5, "cv": 3},
    "IsolationForest": {"n_estimators": 10},
    "KMeans": {"n_clusters": 3, "n_init": 1},
    "KernelPCA": {"n_components": 2},
    "LassoCV": {"alphas": 5, "cv": 3},
    "LinearSVC": {"max_iter": 200},
    "LinearSVR": {"max_iter": 200},
    "LogisticRegressionCV": {"Cs": 3, "cv": 3},
    "MLPClassifier": {"hidden_layer_sizes": (5,), "max_iter": 2},
    "MLPRegressor": {"hidden_layer_sizes": (5,), "max_iter": 2},
    "MiniBatchKMeans": {"n_clusters": 3, "n_init": 1},
    "PCA": {"n_components": 3},
    "PLSRegression": {"n_components": 2},
    "PrincipalComponentRegression": {"n_components": 3},
    "ProbabilisticPCA": {"n_components": 3},
    "RandomForestClassifier": {"n_estimators": 3, "max_depth": 8},
    "RandomForestRegressor": {"n_estimators": 3, "max_depth": 8},
    "RidgeCV": {"alphas": [1.0, 10.0]},
    "SVC": {"max_iter": 50},
    "SVR": {"max_iter": 50},
    "NuSVC": {"max_iter": 50},
    "NuSVR": {"max_iter": 50},
    "OneClassSVM": {"max_iter": 50},
    "StandardScaler": {"with_mean": False},
    "RobustScaler": {"with_centering": False},
    "TruncatedSVD": {"n_components": 3},
}
WITH_ESTIMATOR = {  # settings that hold a model: its name and its own settings
    "CalibratedClassifierCV": ("LogisticRegression", {"C": 1.0}),
    "SelfTrainingClassifier": ("LogisticRegression", {"C": 1.0}),
    "OneVsRestClassifier": ("LogisticRegression", {"C": 1.0}),
    "PairwiseRanker": ("LogisticRegression", {"C": 1.0}),
    "AdaBoostClassifier": ("DecisionTreeClassifier", {"max_depth": 1}),
    "BaggingClassifier": ("DecisionTreeClassifier", {"max_depth": 5}),
    "BaggingRegressor": ("DecisionTreeRegressor", {"max_depth": 5}),
}


class Peak(NamedTuple):
    """What one fit took."""

    megabytes: float  # beyond the table
    seconds: float
    error: str  # "" where the fit ended


def table(n, p, values, seed=0):
    """A sparse table of positive numbers and a hidden linear signal."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(n * p, size=values, replace=False) if n * p < 1e7 else None
    rows, columns = divmod(cells, p) if cells is not None else (None, None)
    if rows is None:
        rows, columns = rng.integers(n, size=values), rng.integers(p, size=values)
    X = csr_matrix((rng.random(values) + 0.5, (rows, columns)), shape=(n, p))
    X.sum_duplicates()
    return X, X @ rng.normal(size=p) + 0.1 * rng.normal(size=n)


def module_of(library, name):
    if library == "pellucid":
        import pellucid

        return pellucid
    from sklearn.utils import all_estimators

    return importlib.import_module(dict(all_estimators())[name].__module__)


def build(library, name):
    """The estimator with the settings above."""
    settings = dict(SETTINGS.get(name, {}))
    if name in WITH_ESTIMATOR:
        inner, given = WITH_ESTIMATOR[name]
        settings["estimator"] = getattr(module_of(library, inner), inner)(**given)
    if library == "sklearn":
        return getattr(module_of(library, name), name)(**settings)
    from estimators import make

    return make(getattr(module_of(library, name), name), **settings)


def target(model, name, signal):
    """The target the estimator's tags ask for."""
    from sklearn.base import is_classifier
    from sklearn.utils import get_tags

    tags = get_tags(model)
    if name == "SelfTrainingClassifier":
        return np.where(np.arange(len(signal)) % 3 == 0, -1, (signal > 0).astype(int))
    if is_classifier(model) or name in ("SelectKBest", "PairwiseRanker"):
        return (signal > np.median(signal)).astype(int)
    if not tags.target_tags.single_output and tags.target_tags.multi_output:
        return np.column_stack([signal, -signal])
    if name in ("PoissonRegressor", "NegativeBinomialRegressor"):
        return np.floor(np.exp(np.clip(signal / (signal.std() * 2), -2, 2)))
    if name in ("GammaRegressor", "TweedieRegressor"):
        return np.exp(np.clip(signal / (signal.std() * 2), -2, 2))
    return signal


def held():
    """Bytes in RAM now; the peak starts anew from here."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status(os.getpid(), "VmRSS")


def _status(pid, key):
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return 1024.0 * int(text.split(f"{key}:")[1].split()[0]) if f"{key}:" in text else 0.0


def work(library, name, n, p, values, limit):
    """The process: everything but the fit, a line, then the fit and another line."""
    warnings.simplefilter("ignore")
    model = build(library, name)
    X, signal = table(n, p, values)
    y = target(model, name, signal)
    if library == "pellucid":  # compile and import before memory is counted
        small, few = table(60, 12, 200, seed=1)
        with contextlib.suppress(ValueError):
            model.fit(small, target(model, name, few))
        model = build(library, name)
    before = held()
    used = _status(os.getpid(), "VmSize")
    resource.setrlimit(resource.RLIMIT_AS, (int(used + limit), int(used + limit)))
    print(json.dumps(before), flush=True)
    error = ""
    began = time.perf_counter()
    try:
        model.fit(X, y)
    except (MemoryError, ValueError, TypeError, np.linalg.LinAlgError, RuntimeError) as raised:
        error = f"{type(raised).__name__}: {raised}"
    peak = _status(os.getpid(), "VmHWM") - before
    print(json.dumps([peak / 1e6, time.perf_counter() - began, error]), flush=True)


def peak_of(library, name, n, p, values, *, limit=3e9, patience=60.0):
    """Fit in a process; a fit that is not done after ``patience`` seconds is stopped."""
    here = Path(__file__).parent
    folders = [str(here), str(here.parent / "helpers")]
    arguments = (library, name, n, p, values, limit)
    code = f"import sys; sys.path[:0] = {folders}; import sparse_peaks as s; s.work{arguments}"
    pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PELLUCID_NUM_THREADS")
    environment = os.environ | dict.fromkeys(pools, "1")
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=environment,
    ) as child:  # fmt: skip
        first = child.stdout.readline()
        if not first:
            return Peak(float("nan"), 0.0, child.communicate()[1].strip().splitlines()[-1])
        before, peak = json.loads(first), 0.0
        began = time.monotonic()
        while child.poll() is None and time.monotonic() - began < patience:
            peak = max(peak, _status(child.pid, "VmHWM") - before)
            time.sleep(0.05)
        if child.poll() is None:
            child.kill()
            child.communicate()
            return Peak(peak / 1e6, patience, "not done")
        out, err = child.stdout.read(), child.stderr.read()
    if not out.strip():
        last = (err.strip().splitlines() or [f"ended with {child.returncode}"])[-1]
        return Peak(peak / 1e6, time.monotonic() - began, last)
    return Peak(*json.loads(out.splitlines()[-1]))


if __name__ == "__main__":  # a table of all: python tests/helpers/sparse_peaks.py [names]
    asked = sys.argv[1:]
    for name in asked:
        for library in ("pellucid", "sklearn"):
            found = peak_of(library, name, 100_000, 100_000, 1_000_000, patience=40.0)
            print(
                f"{name:28} {library:9} {found.megabytes:8.0f} MB {found.seconds:6.1f} s "
                f"{found.error[:150]}",
                flush=True,
            )
