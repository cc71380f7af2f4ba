"""PyTorch tensors as X: the models of arrays, and one sentence for what cannot be."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import sys  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent.parent / "backends"))
from tensor_cases import CASES, TWO, X, Y, compare  # noqa: E402

import pellucid  # noqa: E402
from pellucid.backends import Torch, use  # noqa: E402


def tensor(array):
    return torch.from_numpy(np.array(array))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_tensors_give_the_model_of_arrays(case):
    compare(case, Torch("cpu"), tensor)


def test_answers_are_tensors_on_the_device_of_x():
    with use(Torch("cpu")):
        model = pellucid.LogisticRegression().fit(tensor(X), tensor(TWO))
        found = model.predict(tensor(X))
    assert isinstance(found, torch.Tensor)
    assert found.dtype == torch.int64


def test_gradients_are_refused():
    with use(Torch("cpu")), pytest.raises(ValueError, match="detach"):
        pellucid.LinearRegression().fit(tensor(X).requires_grad_(), tensor(Y))


def test_a_device_that_is_not_there_is_named():
    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(ValueError, match="no device 'cuda'"):
        Torch("cuda")


def test_memory_that_runs_out_halves_the_pieces(monkeypatch):
    """A form that fails on large pieces is tried again on smaller ones."""
    from pellucid.core.algebra import least_squares
    from pellucid.core.loops import device

    form, sizes = device.FORMS[least_squares.leaf_moments], []

    def scarce(rows):
        sizes.append(rows.n_rows)
        if rows.n_rows > device.LEAF_ROWS:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return form(rows)

    monkeypatch.setitem(device.FORMS, least_squares.leaf_moments, scarce)
    with use(Torch("cpu")):
        model = pellucid.LinearRegression().fit(tensor(X), tensor(Y))
    there = pellucid.LinearRegression().fit(X, Y)
    np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-9)
    assert max(sizes[-2:]) <= device.LEAF_ROWS
