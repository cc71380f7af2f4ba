"""Where arrays lie in memory decides nothing: the same bits at other addresses.

A loop that sums and stores may be compiled twice, once for arrays that are far apart and once for
arrays that may overlap, with the sum in another order.
"""

import warnings

import numpy as np
import pytest

import pellucid
from pellucid.compiled.epochs import epochs, logistic
from pellucid.ensemble.boosting.kernels.derivatives import squared_rows
from pellucid.linear.bayes.walk_kernels import softplus_block
from pellucid.neural.training.adam_kernels import adam_pass

rng = np.random.default_rng(0)
ROWS, LABELS = rng.normal(size=(150, 19)), rng.integers(2, size=150)
NUMBERS = ROWS @ rng.normal(size=19)
THREE = rng.integers(3, size=150)


def placed(arrays, draw):
    """Copies that lie side by side in one buffer, in any order, with small gaps."""
    arrays = [np.ascontiguousarray(array) for array in arrays]
    gaps = 8 * draw.integers(8, size=len(arrays))
    sizes = [-(-array.nbytes // 8) * 8 for array in arrays]
    buffer = np.empty(sum(sizes) + int(gaps.sum()) + 8, np.uint8)
    found, at = [np.empty(0)] * len(arrays), 0
    for k in draw.permutation(len(arrays)):
        at += int(gaps[k])
        array = arrays[k]
        found[k] = buffer[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
        found[k][...] = array
        at += sizes[k]
    return found


def answers(call, *arrays, times=60):
    """The different answers of ``call``, as bytes, over placements of its arrays."""
    kept, found = [], set()
    for i in range(times):
        draw = np.random.default_rng(i)
        kept.append(np.empty(int(draw.integers(1, 3000))))  # moves what is allocated inside
        parts = call(*placed(arrays, draw))
        found.add(b"".join(np.asarray(part).tobytes() for part in parts))
    return found


MODELS = {
    "sgd": (lambda: pellucid.SGDClassifier(max_iter=3, random_state=0), LABELS),
    "averaged": (lambda: pellucid.SGDClassifier(max_iter=3, average=True, random_state=0), LABELS),
    "elastic": (
        lambda: pellucid.SGDRegressor(penalty="elasticnet", max_iter=3, random_state=0),
        NUMBERS,
    ),
    "perceptron": (lambda: pellucid.Perceptron(max_iter=3, random_state=0), LABELS),
    "logistic": (lambda: pellucid.LogisticRegression(max_iter=5), LABELS),
    "softmax": (lambda: pellucid.LogisticRegression(max_iter=5), THREE),
    "lasso": (lambda: pellucid.Lasso(0.01, max_iter=5), NUMBERS),
    "network": (
        lambda: pellucid.MLPRegressor(
            hidden_layer_sizes=(7, 5), alpha=0.1, max_iter=3, random_state=0
        ),
        NUMBERS,
    ),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_models_do_not_depend_on_addresses(name):
    make, target = MODELS[name]

    def call(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make().fit(X, y)
        coefs = model.coefs_ if hasattr(model, "coefs_") else [model.coef_]
        return [*coefs, *(row["objective"] for row in model.history_)]

    assert len(answers(call, ROWS, target, times=20)) == 1


@pytest.mark.parametrize("m", [5, 19, 64])
def test_the_kernel_of_the_logistic_loss(m):
    d = 24
    S, theta = rng.normal(size=(m, d)), rng.normal(size=d)

    def call(y, w, S, theta, z, e, g):
        loss = logistic.binary_rows(y, w, True, 0, m, S, theta, z, e, g)
        return [*loss, z, e, g, S]

    arrays = LABELS[:m], rng.random(m), S, theta, np.zeros(m), np.zeros(m), np.zeros(d)
    assert len(answers(call, *arrays)) == 1


@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_the_kernel_of_the_softmax(k):
    Z, codes = rng.normal(size=(30, k)), rng.integers(max(k, 2), size=30)

    def call(Z, y, w, P):
        return [*logistic.softmax_residuals(Z, y, w, True, P, True), Z, P]

    assert len(answers(call, Z, codes, rng.random(30), np.zeros((30, k)))) == 1


@pytest.mark.parametrize("n", [3, 19, 70, 3000])
def test_the_kernel_of_adam(n):
    w, m, r = rng.normal(size=n), rng.normal(size=n), rng.random(n)
    gradients = rng.normal(size=(2, n)).astype(np.float32)
    edges, prices = np.array([0, n // 2, n]), np.array([1.0, 0.0])

    def call(w, copy, gradients, m, r, mean):
        fixed = edges, prices, 0, 2, 0.1, 0.5, 0.01, 0.9, 0.999, 1e-8, 3
        return [adam_pass(w, copy, gradients, m, r, mean, *fixed), w, copy, m, r, mean]

    copy = w.astype(np.float32)
    assert len(answers(call, w, copy, gradients, m, r, np.zeros(n))) == 1


@pytest.mark.parametrize("average", [0, 1])
@pytest.mark.parametrize("l1", [0.0, 1e-3])
@pytest.mark.parametrize("p", [3, 17, 40])
def test_the_kernel_of_stochastic_epochs(p, l1, average):
    X, y = rng.normal(size=(80, p)), np.where(rng.random(80) < 0.5, -1.0, 1.0)

    def call(X, y, w, mean, cut, scalars):
        rows, none = np.arange(80), np.zeros(0)
        rates = np.full(80, 0.01)
        fixed = 1, 0, 0.0, 1.0, 1e-4, l1, True, average, epochs.STEP_RATE
        total = epochs.sgd_epoch(X, y, rows, none, rates, w, mean, cut, scalars, *fixed)
        return [total, w, mean, cut, scalars]

    arrays = X, y, rng.normal(size=p), np.zeros(p), np.zeros(p), np.zeros(5)
    assert len(answers(call, *arrays)) == 1


@pytest.mark.parametrize("n", [16, 30, 64, 200])
def test_the_kernels_that_sum_and_store(n):
    y, F, w, c = rng.normal(size=(2, n)).tolist() + rng.random((2, n)).tolist()

    def squares(y, F, w, c, g, h):
        return [squared_rows(y, F, w, c, g, h), g, h]

    def softplus(a, w, shifted):
        return [softplus_block(a, n, w, 0, shifted), a]

    assert len(answers(squares, y, F, w, c, np.zeros(n), np.zeros(n))) == 1
    assert len(answers(softplus, y, w, np.zeros(n), times=300)) == 1
