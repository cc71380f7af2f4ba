"""Multiple kernel learning and kernel alignment."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import SVC, MultipleKernelClassifier
from pellucid.kernel import GaussianKernel, LinearKernel, kernel_alignment


def planted():
    rng = np.random.RandomState(0)
    A = rng.randn(40, 3)
    return A, np.sign(A[:, 0] + 0.3 * rng.randn(40))


KERNELS = [GaussianKernel(1.0).on([j]) for j in range(3)]


def test_example_24():
    A, y = planted()
    model = MultipleKernelClassifier(KERNELS, C=1.0, tol=1e-6).fit(A, y)
    assert model.objective_ == pytest.approx(12.0469, abs=5e-5)
    assert_allclose(model.weights_, [0.979, 0, 0.021], atol=2e-3)
    one = MultipleKernelClassifier(KERNELS[:1]).fit(A, y)
    assert one.objective_ == pytest.approx(12.0714, abs=5e-5)
    assert (np.diff(model.history_["objective"]) <= 1e-6).all()


@pytest.mark.parametrize("norm", [1, 1.5, 2])
def test_weights_are_the_minimum_over_a_grid(norm):
    """J(b) of the support vector machine, for every b of a fine grid of two kernels."""
    A, y = planted()
    kernels = [GaussianKernel(0.7).on([0]), GaussianKernel(2.0).on([0, 1])]
    model = MultipleKernelClassifier(kernels, norm=norm, tol=1e-6).fit(A, y)
    assert (model.weights_**norm).sum() == pytest.approx(1)
    assert (model.weights_ >= 0).all()
    grams, values = [k(A) for k in kernels], []
    for t in np.linspace(0, 1, 41):
        b = np.array([t, (1 - t**norm) ** (1 / norm)])
        K = b[0] * grams[0] + b[1] * grams[1]
        machine = SVC(kernel="precomputed", tol=1e-6).fit(K, y)
        beta, s = machine.dual_coef_[0], machine.support_
        values.append(np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(s, s)] @ beta)
    assert model.objective_ <= min(values) + 1e-4
    assert model.objective_ - model.duality_gap_ <= min(values) + 1e-6


def test_several_classes_share_their_weights():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.digitize(X[:, 1], [-0.5, 0.5])
    model = MultipleKernelClassifier(KERNELS, C=10.0).fit(X, y)
    assert model.weights_.argmax() == 1
    assert model.duality_gap_ <= 1e-4 * model.objective_
    assert model.score(X, y) > 0.95
    assert model.decision_function(X).shape == (90, 3)


def test_beats_the_best_single_kernel_on_held_out_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = np.sign(np.sin(2 * X[:, 0]) + np.sin(2 * X[:, 1]))
    kernels = [GaussianKernel(0.7).on([j]) for j in range(6)]
    model = MultipleKernelClassifier(kernels, C=10.0).fit(X[:200], y[:200])
    singles = [SVC(C=10.0, kernel=k).fit(X[:200], y[:200]).score(X[200:], y[200:]) for k in kernels]
    assert model.score(X[200:], y[200:]) > max(singles) + 0.05


def test_alignment():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(50) < 0.3, 1, -1)
    X = rng.normal(size=(50, 2)) + y[:, None]
    K = LinearKernel()(X)
    H = np.eye(50) - 1 / 50
    Kc, T = H @ K @ H, H @ np.outer(y, y) @ H
    expected = (Kc * T).sum() / np.linalg.norm(Kc) / np.linalg.norm(T)
    assert kernel_alignment(K, y) == pytest.approx(expected)
    assert kernel_alignment(K + 5.0, y) == pytest.approx(expected)
    assert kernel_alignment(K, 3 * K, centered=False) == pytest.approx(1)
    with pytest.raises(ValueError, match="-1 and"):
        kernel_alignment(K, np.arange(50))
    with pytest.raises(ValueError, match="square"):
        kernel_alignment(K[:, :3], y)


def test_bad_parameters():
    A, y = planted()
    for kernels in ([], ["rbf"], "rbf"):
        with pytest.raises(ValueError, match="kernels"):
            MultipleKernelClassifier(kernels).fit(A, y)
    with pytest.raises(ValueError, match="norm"):
        MultipleKernelClassifier(KERNELS, norm=0.5).fit(A, y)
