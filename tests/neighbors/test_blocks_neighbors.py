"""Neighbours and densities do not depend on how many questions are answered at once."""

import pytest
from small_blocks import NUMBER, X, same_in_blocks_of_one

from pellucid import KernelDensity, KNeighborsRegressor
from pellucid.neighbors import LSHIndex, NearestNeighbors


def regress():
    return KNeighborsRegressor().fit(X, NUMBER).predict(X + 0.1)


def hashed():
    return LSHIndex(n_tables=4, n_bits=3, random_state=0).fit(X).query(X + 0.1, 3)[0]


CASES = {
    "answers": ("neighbors.search.nearest_search.ANSWERS", regress),
    "direct": (
        "compiled.distances.search.BLOCK_VALUES",
        lambda: NearestNeighbors(metric="canberra").fit(X).kneighbors(X + 0.1)[0],
    ),
    "hashed": ("neighbors.search.lsh.KEYS", hashed),
    "density": (
        "neighbors.kernel_density.PAIRS",
        lambda: KernelDensity(bandwidth=0.5).fit(X).score_samples(X + 0.1),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_blocks_of_one(monkeypatch, case):
    same_in_blocks_of_one(monkeypatch, *CASES[case])
