"""SelectKBest and SelectPercentile on blocks: the scores of arrays, to the bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.data import blocks
from pellucid.features import (
    SelectKBest,
    SelectPercentile,
    f_classif,
    f_regression,
    mutual_info_regression,
    r_regression,
)

N = 2 * LEAF_ROWS + 157
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 6)) + 5.0
NUMBERS = X @ [1.0, 0.0, 2.0, 0.0, 0.1, 0.0] + rng.normal(size=N)
LABELS = np.where(NUMBERS.mean() < NUMBERS, "yes", "no").astype("U4")
LABELS[-3:] = "zero"  # a class that the first leaves lack
SCORES = [(f_classif, LABELS), (f_regression, NUMBERS), (r_regression, NUMBERS)]
NAMES = [score.__name__ for score, _ in SCORES]


@pytest.mark.parametrize("kind", [SelectKBest, SelectPercentile])
@pytest.mark.parametrize(("score", "y"), SCORES, ids=NAMES)
def test_scores_of_blocks_have_the_bits_of_arrays(kind, score, y):
    whole = kind(score).set_params(**{"k": 2} if kind is SelectKBest else {"percentile": 40})
    expected = clone(whole).fit(X, y)
    for rows in (1_000, LEAF_ROWS, 65_536):
        model = clone(whole).fit_blocks(blocks(X, target=y, block_rows=rows))
        assert model.scores_.tobytes() == expected.scores_.tobytes()
        assert_array_equal(model.pvalues_, expected.pvalues_)
        assert_array_equal(model.get_support(), expected.get_support())
        assert vars(model).keys() == vars(expected).keys()  # no classes_ of a filter


@pytest.mark.parametrize(("score", "y"), SCORES, ids=NAMES)
def test_sparse_blocks_stay_sparse(score, y):
    S = sp.csr_array(np.where(X > 6, X, 0.0))
    expected = SelectKBest(score, k=2).fit(S, y).scores_
    model = SelectKBest(score, k=2).fit_blocks(blocks(S, target=y, block_rows=1_000))
    assert_allclose(model.scores_, expected, rtol=1e-9)
    wide = sp.eye_array(LEAF_ROWS, 40_000, format="csr")  # 1.3 GB with its zeros
    model = SelectKBest(score, k=1).fit_blocks(blocks(wide, target=y[:LEAF_ROWS]))
    assert model.scores_.shape == (40_000,)


def test_weights_of_blocks_are_not_counted():
    w = np.arange(N) + 1.0
    for score, y in SCORES:
        model = SelectKBest(score, k=2).fit_blocks(blocks(X, target=y, weight=w))
        assert_array_equal(model.scores_, SelectKBest(score, k=2).fit(X, y).scores_)


def test_a_filter_as_a_step_of_a_pipeline():
    pipe = make_pipeline(pellucid.StandardScaler(), SelectKBest(k=2), pellucid.GaussianNB())
    expected = clone(pipe).fit(X, LABELS)
    for rows in (1_000, 65_536):
        source = blocks(X, target=LABELS, block_rows=rows)
        model = pellucid.fit_blocks(clone(pipe), source)
        assert model[1].scores_.tobytes() == expected[1].scores_.tobytes()
        assert_array_equal(model.predict(X), expected.predict(X))


def test_what_cannot_be_summed_is_refused():
    source = blocks(X, target=NUMBERS)
    known = "f_classif, f_regression or r_regression of pellucid.features, got <function"
    for score in (mutual_info_regression, lambda X, y: X[0]):
        with pytest.raises(ValueError, match=rf"{known}.*; use fit$"):
            SelectKBest(score).fit_blocks(source)
    with pytest.raises(ValueError, match="score_func must be a function"):
        SelectKBest("f_classif").fit_blocks(source)
    with pytest.raises(ValueError, match="SelectKBest needs a target"):
        SelectKBest(k=1).fit_blocks(blocks(X))
    two = blocks({"a": [1.0, 2.0], "b": [1.0, 3.0], "c": [2.0, 3.0]}, target=["a", "b"])
    with pytest.raises(ValueError, match=r"needs one target: .*, got 2 columns"):
        SelectKBest(f_regression, k=1).fit_blocks(two)
    S = sp.csr_array(np.where(X > 6, X, 0.0))
    S.data[5] = np.inf
    row, column = (int(found[5]) for found in S.nonzero())
    with pytest.raises(ValueError, match=rf"'x{column}' contains infinity \(inf\) in row {row}"):
        SelectKBest(k=1).fit_blocks(blocks(S, target=LABELS))
