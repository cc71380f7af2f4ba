"""Predictions of Gaussian processes do not depend on how many rows are worked on at once."""

import numpy as np
import pytest
from small_blocks import NUMBER, X, same_in_blocks_of_one

from pellucid import GaussianProcessRegressor

MODEL = GaussianProcessRegressor(alpha=0.1, random_state=0)


@pytest.mark.parametrize("method", ["predict", "predict_interval"])
def test_blocks_of_one(monkeypatch, method):
    def answers():
        how = {"return_std": True} if method == "predict" else {}
        return np.stack(getattr(MODEL.fit(X, NUMBER), method)(X[:7] + 0.1, **how), axis=-1)

    same_in_blocks_of_one(monkeypatch, "kernel.processes.gaussian_process_regressor.BLOCK", answers)
