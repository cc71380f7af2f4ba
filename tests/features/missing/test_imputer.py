"""SimpleImputer against scikit-learn's."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixed_tables import mixed, same, text
from numpy.testing import assert_allclose
from scipy.sparse import csc_array, csr_array, issparse
from sklearn import impute

import pellucid
from pellucid import SimpleImputer
from pellucid.core.runtime.signatures import compile_modules
from pellucid.features.missing import kernels as compiled

STRATEGIES = ["mean", "median", "most_frequent", "constant"]


def table(seed, n=90, p=5, kind=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, p)).astype(kind) / 2
    X[rng.random((n, p)) < 0.2] = np.nan
    return X


def pair(**params):
    return SimpleImputer(**params), impute.SimpleImputer(**params)


def close(a, b):
    assert issparse(a) == issparse(b)
    a, b = (x.toarray() if issparse(x) else x for x in (a, b))
    assert a.dtype == b.dtype
    if a.dtype == object:
        same(a, b)
    else:
        assert_allclose(a, b, rtol=1e-6 if a.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("strategy", [*STRATEGIES, np.max])
@pytest.mark.parametrize("add_indicator", [False, True])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.filterwarnings("ignore:.*observed value")
def test_scikit_learn(strategy, add_indicator, keep, kind):
    X = table(0, kind=kind)
    if strategy is not np.max:  # it cannot be asked about an empty column
        X[:, 2] = np.nan
    params = {"strategy": strategy, "add_indicator": add_indicator, "keep_empty_features": keep}
    ours, theirs = pair(**params)
    ours.fit(X), theirs.fit(X)
    same(ours.statistics_.astype(float).round(5), theirs.statistics_.astype(float).round(5))
    new = table(1, kind=kind)
    close(ours.transform(new), theirs.transform(new))
    same(ours.get_feature_names_out(), theirs.get_feature_names_out())


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("mark", [-1.0, 0.5])
def test_other_marks(strategy, mark):
    X = np.nan_to_num(table(2), nan=mark)
    ours, theirs = pair(strategy=strategy, missing_values=mark)
    close(ours.fit_transform(X), theirs.fit_transform(X))
    with pytest.raises(ValueError, match=r"NaN.*column 0"):
        ours.transform(np.full((1, 5), np.nan))


@pytest.mark.parametrize("strategy", ["most_frequent", "constant"])
def test_whole_numbers_and_text(strategy):
    ints = np.array([[1, 7], [7, 2], [1, 7], [2, 7]])
    ours, theirs = pair(strategy=strategy, missing_values=7)
    close(ours.fit_transform(ints), theirs.fit_transform(ints))
    for X, mark in ((text(0, missing=np.nan), np.nan), (text(1, missing=None), None),
                    (text(2, missing="?"), "?"), (mixed(3), np.nan)):  # fmt: skip
        ours, theirs = pair(strategy=strategy, missing_values=mark, add_indicator=True)
        close(ours.fit_transform(X), theirs.fit_transform(X))
        same(ours.statistics_, theirs.statistics_)


def test_ties_go_to_the_smallest():
    X = np.array([["b"], ["a"], ["b"], ["a"], [np.nan]], dtype=object)
    assert SimpleImputer(strategy="most_frequent").fit(X).statistics_[0] == "a"
    assert SimpleImputer(strategy="most_frequent").fit([[3.0], [1.0], [np.nan]]).statistics_[0] == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", [csr_array, csc_array])
@pytest.mark.parametrize("add_indicator", [False, True])
def test_sparse(strategy, kind, add_indicator):
    X = table(4)
    X[1:, 1] = 0.0
    ours, theirs = pair(strategy=strategy, add_indicator=add_indicator)
    close(ours.fit_transform(kind(X)), theirs.fit_transform(kind(X)))
    assert_allclose(ours.statistics_.astype(float), theirs.statistics_.astype(float), rtol=1e-12)


def test_a_sparse_column_of_zeros_is_not_empty():
    """scikit-learn drops it when the strategy is constant; zeros are values, so we keep them."""
    X = csr_array(np.array([[0.0, 1.0], [0.0, np.nan]]))
    out = SimpleImputer(strategy="constant", fill_value=5).fit_transform(X)
    same(out.toarray(), np.array([[0.0, 1.0], [0.0, 5.0]]))


def test_sparse_zeros_cannot_be_missing():
    with pytest.raises(ValueError, match="missing_values=0"):
        SimpleImputer(missing_values=0).fit(csr_array(np.eye(3)))


def test_empty_columns_are_dropped_with_a_warning():
    X = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, np.nan]})
    model = SimpleImputer().fit(X)
    with pytest.warns(UserWarning, match=r"Skipping features without any observed values: \['b'\]"):
        out = model.transform(X)
    assert out.shape == (2, 1)
    kept = SimpleImputer(keep_empty_features=True).fit_transform(X)
    same(kept, np.array([[1.0, 0.0], [1.0, 0.0]]))


def test_frames():
    frame = pl.DataFrame({"t": ["x", None, "x"], "n": [1, None, 1]})
    model = SimpleImputer(strategy="most_frequent", missing_values=None).fit(frame[:, :1])
    same(model.transform(frame[:, :1]).ravel(), np.array(["x", "x", "x"], dtype=object))
    numbers = SimpleImputer().fit(frame[:, 1:])
    same(numbers.transform(frame[:, 1:]).ravel(), np.ones(3))
    pandas = pd.DataFrame({"t": pd.Series(["x", None, "y", "y"]), "n": [1.0, np.nan, 2.0, 2.0]})
    ours, theirs = pair(strategy="most_frequent")
    same(ours.fit_transform(pandas), theirs.fit_transform(pandas))
    with pytest.raises(ValueError, match=r"'t'.*'x'"):
        SimpleImputer().fit(pandas)


def test_inverse():
    X = table(5)
    model = SimpleImputer(add_indicator=True)
    same(model.inverse_transform(model.fit_transform(X)), X)
    with pytest.raises(ValueError, match="add_indicator"):
        SimpleImputer().fit(X).inverse_transform(X)


@pytest.mark.parametrize("strategy", ["mean", "median", "constant"])
def test_blocks(strategy):
    X = table(6, n=9000)
    whole = SimpleImputer(strategy=strategy, add_indicator=True).fit(X)
    frame = pl.DataFrame(X, schema=list("abcde"))
    blocks = pellucid.data.blocks(frame, block_rows=1000)
    parts = SimpleImputer(strategy=strategy, add_indicator=True).fit_blocks(blocks)
    same(parts.statistics_, whole.statistics_)
    same(parts.indicator_.features_, whole.indicator_.features_)
    with pytest.raises(ValueError, match=r"fit_blocks.*most_frequent"):
        SimpleImputer(strategy="most_frequent").fit_blocks(blocks)


@pytest.mark.parametrize(
    ("params", "X", "words"),
    [
        ({"strategy": "constant", "fill_value": "x"}, [[1.0]], "fill_value"),
        ({"missing_values": "x"}, [[1.0]], "missing_values"),
        ({"strategy": "constant"}, [[True]], "dtype bool"),
    ],
)
def test_refusals(params, X, words):
    with pytest.raises(ValueError, match=words):
        SimpleImputer(**params).fit(X)


def test_the_mean_is_kept():
    """Filling with the mean leaves every column's mean as it was."""
    X = table(7)
    assert_allclose(SimpleImputer().fit_transform(X).mean(axis=0), np.nanmean(X, axis=0))


def test_input_is_left_alone():
    X = table(8)
    before = X.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SimpleImputer(copy=False).fit_transform(X)
    same(X, before)
    compile_modules([compiled.__name__])


def test_numbers_are_filled_as_the_cells_that_were_learned():
    """Learned from cells of any kind, applied to plain numbers: the answer is of any kind too."""
    learned = np.array([[1], [np.nan], [1], [2]], dtype=object)
    given = np.array([[np.nan], [3.0]])
    ours = SimpleImputer(strategy="most_frequent").fit(learned).transform(given)
    peer = impute.SimpleImputer(strategy="most_frequent").fit(learned).transform(given)
    assert ours.dtype == peer.dtype == object
    assert ours.tolist() == peer.tolist() == [[1], [3.0]]


@pytest.mark.parametrize("strategy", ["mean", "median"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_mean_that_overflows_is_refused(strategy, kind):
    with pytest.raises(ValueError, match="the value that would fill column 0 is inf"):
        SimpleImputer(strategy=strategy).fit(kind([[1.7e308], [1.7e308], [np.nan]]))
