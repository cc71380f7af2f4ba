"""An isolation forest from blocks is the one from memory."""

import numpy as np
import pytest

from pellucid import IsolationForest
from pellucid.backends import Serial
from pellucid.data import blocks

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40_000, 3))
X[RNG.random(X.shape) < 0.02] = np.nan


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_the_forest_of_the_fit_in_memory(weights):
    w = RNG.integers(0, 3, len(X)).astype(float)
    w = {"none": None, "whole": w, "real": 0.3 * w}[weights]
    rules = {"n_estimators": 7, "contamination": 0.01, "random_state": 2, "max_features": 2}
    whole = IsolationForest(**rules).fit(X, sample_weight=w)
    for rows, backend in ((5_000, None), (100_000, Serial())):
        source = blocks(X, weight=w, block_rows=rows)
        parts = IsolationForest(**rules).fit_blocks(source, backend=backend)
        for a, b in zip(whole.forest_, parts.forest_, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(whole.training_scores_, parts.training_scores_)
        assert whole.offset_ == parts.offset_


def test_what_blocks_cannot_do_is_said():
    with pytest.raises(ValueError, match="warm_start"):
        IsolationForest(warm_start=True).fit_blocks(blocks(X))
    with pytest.raises(ValueError, match="zero for every row"):
        IsolationForest().fit_blocks(blocks(X, weight=np.zeros(len(X))))
