"""A Gram matrix that is there already is read where it lies: not copied, not changed."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel

import pellucid
from pellucid.core.runtime.threads import limit_threads
from pellucid.kernel.svm import smo
from pellucid.kernel.svm.smo import Gram, PrecomputedKernel

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 3))
K = rbf_kernel(X, gamma=0.4)
NUMBERS = np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=240)
TWO = (NUMBERS + 0.5 * rng.normal(size=240) > 0).astype(int)
THREE = np.digitize(NUMBERS, [-0.7, 0.7])
WEIGHTS = rng.integers(0, 3, size=240).astype(float)


@pytest.fixture
def large(monkeypatch):
    """Every matrix counts as a large one."""
    monkeypatch.setattr(smo, "FEW", 20)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("name", "y"),
    [
        ("SVC", TWO), ("SVC", THREE), ("NuSVC", TWO), ("NuSVC", THREE), ("SVR", NUMBERS),
        ("NuSVR", NUMBERS), ("OneClassSVM", None),
    ],
    ids=["two", "three", "nu-two", "nu-three", "tube", "nu-tube", "one"],
)  # fmt: skip
def test_given_is_computed(name, y, weights):
    """The answer of the matrix is that of the rows, and a read-only matrix serves as well."""
    make = getattr(pellucid, name)
    params = {"nu": 0.3} if name.startswith("Nu") else {}
    rows = make(gamma=0.4, tol=1e-7, **params).fit(X, y, sample_weight=weights)
    sealed = K.copy()
    sealed.flags.writeable = False
    for matrix in (K, sealed, csr_array(K)):
        given = make(kernel="precomputed", tol=1e-7, **params)
        given.fit(matrix, y, sample_weight=weights)
        method = "predict" if name.endswith("R") else "decision_function"
        assert_allclose(getattr(given, method)(K), getattr(rows, method)(X), atol=2e-5)
        assert given.duality_gap_ == pytest.approx(rows.duality_gap_, abs=1e-4)


@pytest.mark.usefixtures("large")
def test_shrinking_and_a_small_cache_change_nothing():
    every = pellucid.SVC(kernel="precomputed", C=5.0, tol=1e-7, shrinking=False).fit(K, TWO)
    few = pellucid.SVC(kernel="precomputed", C=5.0, tol=1e-7, cache_size=0.01).fit(K, TWO)
    assert_allclose(few.decision_function(K), every.decision_function(K), atol=2e-5)
    assert few.dual_objective_ == pytest.approx(every.dual_objective_, rel=1e-9)


@pytest.mark.usefixtures("large")
def test_threads_change_no_bit():
    models = []
    for n in (1, 3):
        with limit_threads(n):
            models.append(pellucid.SVC(kernel="precomputed").fit(K, THREE))
    assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("share", [0.02, 0.6, 1.0])
def test_products_of_parts(share):
    """Gathered columns, whole rows and rows in another order have one and the same product."""
    rows = rng.permutation(240)[:150]
    for gram, matrix in (
        (Gram(PrecomputedKernel(), K, K), K),
        (Gram(PrecomputedKernel(), K, K).take(rows), K[np.ix_(rows, rows)]),
    ):
        beta = np.where(rng.uniform(size=len(gram)) < share, rng.normal(size=len(gram)), 0.0)
        assert_allclose(gram.product(beta), matrix @ beta, atol=1e-12)
        assert_allclose(gram.row(7, np.arange(5, 30)), matrix[7, 5:30])
        assert_array_equal(gram.diagonal, np.diagonal(matrix))
        part = np.arange(3, 90)
        assert_array_equal(gram.take(part).single(np.arange(50)),
                           matrix[3:53, 3:53].astype(np.float32))  # fmt: skip


def test_large_matrix_is_not_copied():
    """The fit holds some single-precision rows beside the matrix, never the matrix again."""
    n = 2000
    Z = np.random.default_rng(1).normal(size=(n, 4))
    big = rbf_kernel(Z, gamma=0.2)
    before, y = big.copy(), (Z[:, 0] + 0.1 * Z[:, 1] > 0).astype(int)
    pellucid.SVC(kernel="precomputed").fit(big[:50, :50], y[:50])  # imports and compiles
    tracemalloc.start()
    model = pellucid.SVC(kernel="precomputed", cache_size=4).fit(big, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * big.nbytes
    assert_array_equal(big, before)
    assert model.duality_gap_ <= 1e-2 * model.dual_objective_


def test_matrix_that_is_no_kernel_is_refused():
    skew, hole = K.copy(), K.copy()
    skew[3, 200] += 0.5
    hole[7, 9] = hole[9, 7] = np.nan
    for name, y in (("SVC", TWO), ("NuSVR", NUMBERS), ("OneClassSVM", None)):
        model = getattr(pellucid, name)(kernel="precomputed")
        with pytest.raises(ValueError, match="symmetric matrix, got one whose difference"):
            model.fit(skew, y)
        with pytest.raises(ValueError, match="NaN in column 9, row 7"):
            model.fit(hole, y)
        model.fit(K.astype(np.float32) + np.float32(1e-7) * skew.astype(np.float32), y)
