"""What holds with and without PyTorch: names import, functions of NumPy, one sentence."""

import subprocess
import sys

import numpy as np
import pytest
from estimators import DEEP, DEEP_REASON
from numpy.testing import assert_allclose
from scipy.signal import correlate2d
from scipy.sparse import csr_array

from pellucid.deep import (
    EarlyStopping,
    Training,
    attention,
    causal_mask,
    convolve,
    message_pass,
    pool,
)
from pellucid.deep.batches import hold_out, plan_visits

rng = np.random.default_rng(0)


@pytest.mark.skipif(not DEEP, reason=DEEP_REASON)
def test_deep_estimators_are_tested():
    """In ``make test-deep`` PyTorch must be there, and the automatic tests find the estimators."""
    import torch  # noqa: F401
    from estimators import names

    expected = {
        "ConvolutionalClassifier", "ConvolutionalRegressor", "GenerativeAdversarialNetwork",
        "GraphNeuralNetworkClassifier", "RecurrentClassifier", "RecurrentRegressor",
        "TransformerClassifier",
    }  # fmt: skip
    assert expected <= set(names())


def test_without_torch_one_sentence_names_the_extra():
    """The names import, a fit says what is missing; Numba and Polars are not needed either."""
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "numba", "polars"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
import pellucid.deep
for name in pellucid.deep.__all__:
    getattr(pellucid.deep, name)
try:
    pellucid.deep.ConvolutionalClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "deep models need PyTorch, which is not installed: pip install pellucid[deep]\n"
    )


def test_attention_example():
    """Examples that must hold, Neural: attention of one query."""
    output, weights = attention([[1, 0]], np.eye(2), [[1, 2], [3, 4]])
    assert_allclose(weights, [[0.6697615493, 0.3302384507]], atol=1e-8)
    assert_allclose(output, [[1.6604769013, 2.6604769013]], atol=1e-8)


def test_attention_with_a_mask():
    x = rng.normal(size=(5, 3))
    output, weights = attention(x, x, x, mask=causal_mask(5))
    assert_allclose(weights.sum(axis=1), 1)
    assert not weights[~causal_mask(5)].any()
    assert_allclose(output[:3], attention(x[:3], x[:3], x[:3], mask=causal_mask(3)).output)
    with pytest.raises(ValueError, match="at least one key"):
        attention(x, x, x, mask=np.zeros((5, 5)))
    with pytest.raises(ValueError, match=r"query .*got \(5, 3\)"):
        attention(x, x[:, :2], x)


def test_message_pass_example():
    """Examples that must hold, Neural: gcn on the path 1-2-3."""
    path = np.eye(3, k=1) + np.eye(3, k=-1)
    found = message_pass(path, [1.0, 2.0, 4.0])
    assert_allclose(found, [1.3164965809, 2.7079081190, 2.8164965809], atol=1e-8)


@pytest.mark.parametrize("aggregation", ["gcn", "mean", "sum"])
def test_message_pass_is_the_formula(aggregation):
    A = (rng.random((8, 8)) < 0.4).astype(float)
    A = np.triu(A, 1) + np.triu(A, 1).T
    A[7] = A[:, 7] = 0.0  # isolated
    H = rng.normal(size=(8, 3))
    loops = A + np.eye(8)
    half = np.diag(loops.sum(axis=1) ** -0.5)
    inverse = np.diag(1 / np.maximum(A.sum(axis=1), 1))
    expected = {"gcn": half @ loops @ half @ H, "mean": inverse @ A @ H, "sum": A @ H}[aggregation]
    assert_allclose(message_pass(A, H, aggregation=aggregation), expected, atol=1e-12)
    assert_allclose(message_pass(csr_array(A), H, aggregation=aggregation), expected, atol=1e-12)
    assert_allclose(expected[7], H[7] if aggregation == "gcn" else 0.0)


def test_bad_graphs_are_refused():
    with pytest.raises(ValueError, match="directed"):
        message_pass([[0, 1], [0, 0]], [1, 2])
    with pytest.raises(ValueError, match="negative"):
        message_pass([[0, -1], [-1, 0]], [1, 2])
    with pytest.raises(ValueError, match=r"\(2, 2\) and \(3, 1\)"):
        message_pass(np.eye(2), [1, 2, 3])


def test_convolve_and_pool():
    image, kernel = rng.normal(size=(7, 9)), rng.normal(size=(3, 2))
    assert_allclose(convolve(image, kernel), correlate2d(image, kernel, mode="valid"))
    assert_allclose(pool(image, 3), [[image[3 * i : 3 * i + 3, 3 * j : 3 * j + 3].max()
                                      for j in range(3)] for i in range(2)])  # fmt: skip
    assert_allclose(pool(image, 7, "mean"), [[image[:, :7].mean()]])
    with pytest.raises(ValueError, match="larger"):
        convolve(kernel, image)
    with pytest.raises(ValueError, match="kind must be one of"):
        pool(image, 2, "median")


def test_visits_are_repetitions_in_an_order_of_their_own():
    X = rng.normal(size=(20, 3))
    w = rng.integers(0, 4, size=20).astype(float)
    weighted = plan_visits([X], w)
    again = np.repeat(X, w.astype(int), axis=0)
    again = again[rng.permutation(len(again))]
    repeated = plan_visits([again], np.ones(len(again)))
    np.testing.assert_array_equal(X[weighted.rows], again[repeated.rows])
    assert plan_visits([X], w + 0.25).share.sum() == pytest.approx((w + 0.25).sum())
    train, held = hold_out(weighted, 0.25, None, np.random.default_rng(0))
    assert len(held.rows) == round(0.25 * len(weighted.rows))
    assert len(train.rows) + len(held.rows) == len(weighted.rows)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"solver": "newton"}, "solver must be one of"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"batch_size": 0}, "batch_size"),
        ({"max_epochs": 1.5}, "max_epochs"),
        ({"weight_decay": -1}, "weight_decay"),
        ({"device": 3}, "device"),
        ({"precision": "float8"}, "precision"),
        ({"early_stopping": True}, "early_stopping"),
        ({"early_stopping": EarlyStopping(2.0)}, "validation_fraction"),
    ],
)
def test_bad_training_is_refused(params, match):
    with pytest.raises(ValueError, match=match):
        Training(**params).check()
