"""Maps and factors do not depend on how many rows are worked on at once."""

import numpy as np
import pytest
from small_blocks import X, same_in_blocks_of_one

from pellucid import MDS, NMF, Isomap, ProbabilisticPCA
from pellucid.decomposition.maps.affinities import metric_of

HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)

CASES = {
    "nmf": (
        "decomposition.nmf_parts.BLOCK",
        lambda: (
            NMF(2, beta_loss="kullback-leibler", solver="mu", random_state=0, max_iter=500)
            .fit(abs(X))
            .reconstruction_err_
        ),
    ),
    "isomap": ("decomposition.maps.isomap.STEP", lambda: Isomap().fit(X).transform(X[:7] + 0.01)),
    "neighbours": (
        "decomposition.maps.affinities.CELLS",
        lambda: metric_of("cityblock", None).neighbours(X, None, 5)[0],
    ),
    "mds": ("decomposition.maps.mds.CELLS", lambda: MDS(random_state=0, n_init=1).fit(X).stress_),
    "cells missing": (
        "decomposition.probabilistic_missing.CHUNK",
        lambda: ProbabilisticPCA(1).fit(HOLES).noise_variance_,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_blocks_of_one(monkeypatch, case):
    same_in_blocks_of_one(monkeypatch, *CASES[case])
