"""Tensors as X: array-api-strict stands for every library of the array API."""

import array_api_strict as strict
import numpy as np
import pytest
from tensor_cases import CASES, TWO, X, Y, compare

import pellucid
from pellucid.backends import use
from pellucid.core.arrays.tensors import host, is_tensor

SAMPLE = range(0, len(CASES), 3)


class Device:
    """A backend that moves arrays into tensors of array-api-strict."""

    def map(self, function, items):
        return map(function, items)

    def place(self, array):
        return strict.asarray(np.array(array))


def tensor(array):
    return strict.asarray(np.array(array))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=f"{case.name}-{i}",
            marks=[] if i in SAMPLE else [pytest.mark.slow],
        )
        for i, case in enumerate(CASES)
    ],
)
def test_tensors_give_the_model_of_arrays(case):
    compare(case, Device(), tensor)


def test_an_empty_cluster_takes_the_farthest_row():
    given = {"n_clusters": 3, "init": np.tile(X[0], (3, 1)), "n_init": 1}
    with pytest.warns(Warning, match="empty"):
        here = pellucid.KMeans(**given).fit(X)
    with use(Device()), pytest.warns(Warning, match="empty"):
        there = pellucid.KMeans(**given).fit(tensor(X))
    np.testing.assert_allclose(there.cluster_centers_, here.cluster_centers_, rtol=1e-9)


def test_arrays_are_moved_and_answers_stay_arrays():
    """Inside ``use`` an array is fitted on the device; its predictions are arrays."""
    with use(Device()):
        model = pellucid.LinearRegression().fit(X, Y)
        assert isinstance(model.predict(X), np.ndarray)
    there = pellucid.LinearRegression().fit(X, Y)
    np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-9)


def test_float32_is_summed_in_double_precision():
    narrow = X.astype(np.float32)
    with use(Device()):
        model = pellucid.LinearRegression().fit(tensor(narrow), tensor(Y))
    there = pellucid.LinearRegression().fit(narrow.astype(np.float64), Y)
    np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-9)


def test_text_labels_are_answered_as_arrays():
    with use(Device()):
        model = pellucid.LogisticRegression().fit(tensor(X), np.array(["no", "yes"])[TWO])
        assert set(model.predict(tensor(X[:50]))) <= {"no", "yes"}


def test_a_far_origin_costs_no_digits():
    """Columns whose mean is 1e6 deviations away, and a constant one."""
    far = np.column_stack([X[:, 0] + 1e6, X[:, 1], np.full(len(X), 7.0)])
    with use(Device()):
        model = pellucid.LinearRegression().fit(tensor(far), tensor(Y))
    there = pellucid.LinearRegression().fit(far, Y)
    np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-6)
    assert model.coef_[2] == 0.0


def test_centres_far_from_the_origin():
    far = X[:, :2] + 1e7
    with use(Device()):
        model = pellucid.KMeans(3, random_state=0).fit(tensor(far))
    there = pellucid.KMeans(3, random_state=0).fit(far)
    np.testing.assert_allclose(model.inertia_, there.inertia_, rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: (strict.asarray(np.arange(12).reshape(6, 2)), Y[:6]), "convert it to float64"),
        (lambda: (tensor(np.full((6, 2), np.nan)), Y[:6]), "NaN or infinity"),
        (lambda: (tensor(X[:6]), tensor(Y[:5])), "one entry for each of the 6 rows"),
        (lambda: (tensor(X[:6]), tensor(np.full(6, np.inf))), "y contains NaN or infinity"),
        (lambda: (tensor(X[:0]), tensor(Y[:0])), "at least one of each"),
    ],
)
def test_bad_tensors_are_refused_in_one_sentence(make, sentence):
    with use(Device()), pytest.raises(ValueError, match=sentence):
        pellucid.LinearRegression().fit(*make())


def test_tensors_on_two_devices_are_refused():
    other = strict.asarray(np.array(Y), device=strict.Device("device1"))
    with use(Device()), pytest.raises(ValueError, match="put both on one"):
        pellucid.LinearRegression().fit(tensor(X), other)


@pytest.mark.parametrize("name", ["HuberRegressor", "PoissonRegressor", "DecisionTreeRegressor"])
def test_what_has_no_form_says_so(name):
    """Never computed elsewhere in silence."""
    with use(Device()), pytest.raises(TypeError, match="use NumPy arrays"):
        getattr(pellucid, name)().fit(tensor(X), tensor(np.abs(Y)))


def test_answers_without_a_form_come_back_as_tensors():
    with use(Device()):
        model = pellucid.GaussianNB().fit(tensor(X), tensor(TWO))
        found = model.predict_proba(tensor(X[:10]))
    assert is_tensor(found)
    np.testing.assert_allclose(host(found), model.predict_proba(X[:10]))


def test_the_model_is_saved_as_any_other(tmp_path):
    with use(Device()):
        model = pellucid.LogisticRegression().fit(tensor(X), tensor(TWO))
    pellucid.save(model, tmp_path / "model.pellucid")
    again = pellucid.load(tmp_path / "model.pellucid")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
