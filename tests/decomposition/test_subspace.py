"""Stability of the subspace of PCA, and bounds on the residual of new rows."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from pellucid import PCA
from pellucid.core.runtime.threads import limit_threads
from pellucid.decomposition import subspace_stability
from pellucid.decomposition.subspace import draw_weights, largest_angle


@pytest.mark.parametrize("d", [1, 2, 4])
def test_angles_are_those_of_scipy(d):
    rng = np.random.default_rng(d)
    for tilt in (1.0, 1e-9):
        V = np.linalg.qr(rng.normal(size=(6, d)))[0]
        U = np.linalg.qr(V + tilt * rng.normal(size=(6, d)))[0]
        exact = np.degrees(subspace_angles(V, U).max())
        np.testing.assert_allclose(largest_angle(V.T, U.T), exact, rtol=1e-6)


def test_against_fits_to_the_resampled_rows():
    rng = np.random.default_rng(0)
    for shape in ((60, 5), (12, 30)):
        X = rng.normal(size=shape) * np.linspace(5, 1, shape[1])
        found = subspace_stability(X, 2, n_resamples=4, random_state=3)
        seed = int(np.random.default_rng(3).integers(2**62))
        V = PCA(2).fit(X).components_
        for i in range(4):
            own = np.random.default_rng(np.random.SeedSequence([seed, i]))
            rows = np.repeat(X, draw_weights(len(X), "bootstrap", own).astype(int), axis=0)
            again = PCA(2, ddof=0).fit(rows)
            exact = np.degrees(subspace_angles(V.T, again.components_.T).max())
            np.testing.assert_allclose(found.angles[i], exact, atol=1e-6)
            np.testing.assert_allclose(found.eigenvalues[i], again.explained_variance_)


def test_a_gap_makes_it_stable_and_equal_eigenvalues_do_not():
    X = np.random.default_rng(1).normal(size=(400, 4)) * [8, 4, 1, 1]
    assert subspace_stability(X, 2, random_state=0).angles.max() < 10
    assert subspace_stability(X, 3, random_state=0, resample="half").angles.max() > 20
    spread = subspace_stability(X, 1, random_state=0, n_resamples=300).eigenvalues[:, 0]
    np.testing.assert_allclose(spread.std() / spread.mean(), np.sqrt(2 / 400), rtol=0.25)


def test_same_seed_same_answer_for_any_threads():
    X = np.random.default_rng(1).normal(size=(50, 4))
    runs = []
    for threads in (1, 3):
        with limit_threads(threads):
            runs.append(subspace_stability(X, 2, n_resamples=7, random_state=5))
    np.testing.assert_array_equal(runs[0].angles, runs[1].angles)
    with pytest.raises(ValueError, match="at most 4"):
        subspace_stability(X, 5)
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="column 1, row 2"):
        subspace_stability(X, 2)


def ball(n, rng):
    """Rows in a ball of radius 1, flat in two of four directions."""
    X = rng.normal(size=(n, 4)) * [1, 0.8, 0.2, 0.1]
    return X / np.maximum(1, np.linalg.norm(X, axis=1))[:, None]


def test_bounds_are_the_formulas():
    rng = np.random.default_rng(2)
    X, new = ball(300, rng), ball(200, rng)
    model = PCA(2).fit(X)
    R, delta = 1.3, 0.1
    found = model.projection_bound(new, radius=R, delta=delta)
    mean = model.reconstruction_errors(new).mean()
    np.testing.assert_allclose(found, mean + R**2 * np.sqrt(np.log(10) / 400))
    Z = X - X.mean(axis=0)
    values = np.linalg.eigvalsh(Z.T @ Z / 300)[::-1]
    fourth = ((Z**2).sum(axis=1) ** 2).sum()
    terms = [values[k:].sum() + (1 + k**0.5) / 300**0.5 * np.sqrt(2 / 300 * fourth) for k in (1, 2)]
    exact = min(terms) + R**2 * np.sqrt(18 / 300 * np.log(600 / delta))
    np.testing.assert_allclose(model.spectrum_bound(radius=R, delta=delta), exact)
    assert model.spectrum_bound(radius=R, delta=delta) > found
    with pytest.raises(ValueError, match=r"radius=0\.1 is too small"):
        model.projection_bound(new, radius=0.1)
    with pytest.raises(ValueError, match="too small"):
        model.spectrum_bound(radius=0.1)


def test_directions_chosen_by_hand_have_no_spectrum():
    model = PCA.from_components([[1.0, 0.0]], mean=[0.0, 0.0])
    for asked in (lambda: model.spectrum_bound(radius=1.0), model.eigenvalue_intervals):
        with pytest.raises(ValueError, match="needs a model fitted to rows, not from_components"):
            asked()


def test_the_projection_bound_holds_as_often_as_it_says():
    rng = np.random.default_rng(3)
    model = PCA(2).fit(ball(200, rng))
    truth = model.reconstruction_errors(ball(100_000, rng)).mean()
    bounds = [model.projection_bound(ball(60, rng), radius=1.2, delta=0.2) for _ in range(200)]
    assert np.mean(np.array(bounds) >= truth) >= 0.8


@pytest.mark.parametrize("bad", [{"radius": 0.0}, {"radius": -1.0}, {"delta": 0.0}, {"delta": 1.0}])
def test_bounds_refuse_a_bad_radius_and_level(bad):
    """Both bounds name what is wrong."""
    X = ball(40, np.random.default_rng(1))
    model, given = PCA(1, ddof=0).fit(X), {"radius": 1.2, "delta": 0.1, **bad}
    for bound in (
        lambda: model.projection_bound(X, **given),
        lambda: model.spectrum_bound(**given),
    ):
        with pytest.raises(ValueError, match=next(iter(bad))):
            bound()
