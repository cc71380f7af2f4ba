"""The peak of a fit to a float32 table beyond the table itself, in a process of its own.

python tests/memory/single_peaks.py [names]      a line for each class and both libraries
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from sparse_peaks import _status, held, module_of

N, P = 400_000, 30
SETTINGS = {  # the same for both libraries
    "HistGradientBoostingClassifier": {"max_iter": 3},
    "KMeans": {"n_clusters": 8, "n_init": 1, "random_state": 0, "max_iter": 5},
    "KNeighborsClassifier": {"algorithm": "brute"},
    "PCA": {"n_components": 5},
    "RandomForestClassifier": {"n_estimators": 3, "max_depth": 6, "random_state": 0},
}


def work(library, name):
    """The process: the table, a small fit for imports and kernels, then the fit that counts."""
    warnings.simplefilter("ignore")
    cls = getattr(module_of(library, name), name)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P), dtype=np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    y = y.astype(np.float64) if name == "LinearRegression" else y.astype(int)
    cls(**SETTINGS.get(name, {})).fit(X[:20_000], y[:20_000])
    before = held()
    model = cls(**SETTINGS.get(name, {})).fit(X, y)
    assert model is not None
    print(json.dumps((_status(os.getpid(), "VmHWM") - before) / X.nbytes))


def extra(library, name):
    """The peak beyond X, in units of X."""
    here = Path(__file__).parent
    code = f"import sys; sys.path[:0] = [{str(here)!r}]; import single_peaks as s"
    pools = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PELLUCID_NUM_THREADS")
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; s.work({library!r}, {name!r})"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | dict.fromkeys(pools, "1"),
    )
    return float(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        found = [extra(library, name) for library in ("pellucid", "sklearn")]
        print(f"{name:32} {found[0]:6.2f} {found[1]:6.2f}", flush=True)
