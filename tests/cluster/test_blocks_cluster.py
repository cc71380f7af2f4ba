"""Distances of clusterings do not depend on how many rows are worked on at once."""

import numpy as np
import pytest
from small_blocks import CLASS, X, same_in_blocks_of_one

from pellucid.cluster.choosing.distance_sums import any_sums
from pellucid.cluster.density.reachability_tree import selected_distances
from pellucid.cluster.density.regions import lists_by_blocks
from pellucid.core.functions.metrics import resolve

METRIC = resolve("braycurtis", abs(X))

CASES = {
    "regions": (
        "cluster.density.regions.BLOCK_VALUES",
        lambda: np.concatenate(lists_by_blocks(abs(X), METRIC, 0.3)),
    ),
    "core distances": (
        "cluster.density.reachability_tree.BLOCK_VALUES",
        lambda: selected_distances(X, 0, 2.0, 7),
    ),
    "sums": (
        "cluster.choosing.distance_sums.BLOCK_VALUES",
        lambda: any_sums(
            METRIC.pairwise, abs(X)[np.argsort(CLASS)], np.ones(40), np.sort(CLASS), 3
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_blocks_of_one(monkeypatch, case):
    same_in_blocks_of_one(monkeypatch, *CASES[case])
