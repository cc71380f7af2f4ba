"""What a forest weighs: bytes per node in memory and in the file."""

import numpy as np
import pytest

import pellucid
from pellucid import RandomForestClassifier, RandomForestRegressor


@pytest.mark.slow
@pytest.mark.parametrize("model", [RandomForestClassifier, RandomForestRegressor])
def test_a_forest_is_its_node_arrays(model, tmp_path):
    """53 bytes a node here; the file adds only what is kept per row of training, and names.

    Whole trees on this table have 0.26 nodes a row for classes, 1.27 for numbers: the nodes of 100
    trees on 1,000,000 such rows would take 1.4 GB and 6.7 GB.
    """
    rng = np.random.default_rng(0)
    n = 20_000
    X = rng.normal(size=(n, 30))
    z = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)
    fitted = model(10, random_state=0).fit(X, z > 0 if model is RandomForestClassifier else z)
    forest = fitted.forest_
    in_memory = sum(part.nbytes for part in forest if isinstance(part, np.ndarray))
    assert in_memory <= 53.1 * len(forest.feature)
    kept = sum(getattr(fitted, name, np.empty(0)).nbytes for name in ("leaf_rows_", "targets_"))
    pellucid.save(fitted, tmp_path / "forest.pellucid")
    in_file = (tmp_path / "forest.pellucid").stat().st_size
    assert in_file <= in_memory + kept + 8 * n + 65_536
    again = pellucid.load(tmp_path / "forest.pellucid")
    np.testing.assert_array_equal(again.predict(X[:200]), fitted.predict(X[:200]))
