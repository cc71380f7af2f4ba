"""Distances and kernels do not depend on how many rows are worked on at once."""

import numpy as np
import pytest
from small_blocks import X, same_in_blocks_of_one

from pellucid.core.algebra.graph import row_chunks
from pellucid.core.functions.gower import pairwise_gower
from pellucid.core.functions.kernels import in_blocks

KINDS = {"categorical": np.array([False, False, True]), "ranges": np.ptp(X, axis=0)}


def doubled():
    D = X @ X.T
    in_blocks(lambda part: np.multiply(D[part], 2.0, out=D[part]), D)
    return D


CASES = {
    "gower": (
        "core.functions.gower.BLOCK_VALUES",
        lambda: pairwise_gower(X, X[::2].copy(), **KINDS, w=np.ones(3)),
    ),
    "chunks": (
        "core.algebra.graph.CHUNK_VALUES",
        lambda: np.concatenate([np.arange(40)[part] for part in row_chunks(40, 7)]),
    ),
    "kernels": ("core.functions.kernels.BLOCK", doubled),
}


@pytest.mark.parametrize("case", CASES)
def test_blocks_of_one(monkeypatch, case):
    monkeypatch.setattr("pellucid.core.functions.kernels.LARGE", 0)
    same_in_blocks_of_one(monkeypatch, *CASES[case])
