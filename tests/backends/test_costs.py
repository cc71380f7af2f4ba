"""The formulas of docs/scale.md, against counters: passes, and numbers that come back."""

import math
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier

import pellucid
from pellucid.backends import Serial
from pellucid.core.loops.statistics import reduce_rows
from pellucid.data import blocks

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
ROW = re.compile(r"^\| (`.+?)\| `(.+)` \| `(.+)` \|$", re.MULTILINE)
OVERHEAD = 700  # bytes of a pickled record: names, shapes, types
SETTINGS = {
    "KMeans": {"n_clusters": 5, "random_state": 0, "max_iter": 4},
    "GaussianMixture": {"n_components": 4, "random_state": 0, "max_iter": 3, "tol": 0.0},
    "PCA": {"n_components": 2},
    "FastICA": {"random_state": 0, "max_iter": 4},
}
COSTS = [
    (name, passes, numbers)
    for names, passes, numbers in ROW.findall(PAGE.read_text())
    for name in re.findall(r"`(\w+)`", names)
]


class Metered(Serial):
    """Counts passes, and the bytes of what comes back from each."""

    def __init__(self):
        self.back = []

    def reduce_rows(self, statistic, source):
        root = reduce_rows(statistic, source, map)
        self.back.append(len(pickle.dumps(root)))
        return root


def table(n, p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


def counted(name, n, p):
    X, y = table(n, p)
    model = getattr(pellucid, name)(**SETTINGS.get(name, {}))
    classes = 1 if name == "LogisticRegression" else 3
    if name == "PoissonRegressor":
        y = np.abs(y).round()
    elif is_classifier(model):
        y = np.digitize(y, [0.0] if classes == 1 else [-5.0, 5.0])
    target = y if hasattr(model, "predict") else None
    backend = Metered()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rounds on purpose
        model.fit_blocks(blocks(X, target=target, block_rows=9_000), backend=backend)
    steps = int(np.max(getattr(model, "n_iter_", 0)))
    k = SETTINGS.get(name, {}).get("n_clusters", SETTINGS.get(name, {}).get("n_components", 0))
    return backend, {"p": p, "K": classes, "k": k, "n_iter": steps}


def test_the_table_is_read():
    assert len(COSTS) >= 16
    assert {"KMeans", "GaussianMixture", "LogisticRegression"} <= {name for name, *_ in COSTS}


@pytest.mark.parametrize(("name", "passes", "numbers"), COSTS, ids=[c[0] for c in COSTS])
def test_passes_and_numbers_are_as_the_page_says(name, passes, numbers):
    for p in (3, 9):
        backend, known = counted(name, 66_000, p)
        assert len(backend.back) == eval(passes, {}, known)
        most = 8 * eval(numbers, {}, known)
        assert most <= max(backend.back) <= most + OVERHEAD


def test_order_statistics_take_at_most_seven_passes():
    backend, known = counted("RobustScaler", 66_000, 9)
    assert len(backend.back) <= 7
    assert max(backend.back) <= 8 * max(12_288 * known["p"], 131_072) + OVERHEAD * known["p"]


@pytest.mark.parametrize("name", ["Ridge", "GaussianNB", "KMeans"])
def test_nothing_grows_with_the_rows(name):
    few, many = (max(counted(name, n, 3)[0].back) for n in (66_000, 132_000))
    assert math.isclose(few, many, rel_tol=0.02)
