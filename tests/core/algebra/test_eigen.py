"""The largest eigenpairs of symmetric matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid
from pellucid.core.algebra import eigen

rng = np.random.default_rng(0)


@pytest.mark.parametrize("gives_up", [False, True])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_against_numpy(gives_up, k, monkeypatch):
    def part(A, plain=eigen.eigh, **options):
        if gives_up and "subset_by_index" in options:
            raise np.linalg.LinAlgError("Internal Error.")
        return plain(A, **options)

    monkeypatch.setattr(eigen, "eigh", part)
    A = rng.normal(size=(6, 6))
    A = A + A.T
    values, V = eigen.largest_pairs(A, k)
    assert_allclose(values, np.linalg.eigvalsh(A)[6 - k :])
    assert_allclose(A @ V, V * values, atol=1e-12)


def test_rows_that_are_all_the_same():
    """LAPACK's method for a part of the pairs ended with an internal error of its own."""
    rows = np.ones((24, 4))
    assert len(pellucid.SpectralClustering(random_state=0).fit_predict(rows)) == 24
    assert np.isfinite(pellucid.MDS(random_state=0).fit_transform(rows)).all()
