"""OneHotEncoder against scikit-learn's, class by class of input."""

import numpy as np
import pandas as pd
import pytest
from mixed_tables import containers, mixed, same, text
from numpy.testing import assert_allclose
from sklearn import preprocessing

from pellucid import OneHotEncoder

OPTIONS = [
    {},
    {"drop": "first"},
    {"drop": "if_binary"},
    {"min_frequency": 8},
    {"min_frequency": 0.15},
    {"max_categories": 3},
    {"max_categories": 1},
    {"max_categories": 3, "drop": "first"},
    {"min_frequency": 9, "drop": "if_binary"},
    {"sparse_output": False, "dtype": np.int32},
]


def pair(**params):
    return OneHotEncoder(**params), preprocessing.OneHotEncoder(**params)


def dense(Z):
    return Z.toarray() if hasattr(Z, "toarray") else Z


def same_fit(ours, theirs):
    assert len(ours.categories_) == len(theirs.categories_)
    for a, b in zip(ours.categories_, theirs.categories_, strict=True):
        same(a, b)
        assert a.dtype == b.dtype
    same(ours.drop_idx_, theirs.drop_idx_)
    same(ours.get_feature_names_out(), theirs.get_feature_names_out())


@pytest.mark.parametrize("params", OPTIONS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scikit_learn_on_mixed_tables(params, seed):
    X = mixed(seed)
    ours, theirs = pair(**params)
    a, b = ours.fit_transform(X), theirs.fit_transform(X)
    assert type(a) is type(b)
    assert a.dtype == b.dtype
    same(dense(a), dense(b))
    same(dense(ours.transform(X)), dense(b))
    same_fit(ours, theirs)
    same(ours.inverse_transform(a), theirs.inverse_transform(b))
    if {"min_frequency", "max_categories"} & params.keys():
        for mine, other in zip(
            ours.infrequent_categories_, theirs.infrequent_categories_, strict=True
        ):
            same(mine, other)


@pytest.mark.parametrize("kind", ["int", "float", "text", "bool"])
@pytest.mark.parametrize("params", OPTIONS)
def test_scikit_learn_on_typed_arrays(kind, params):
    rng = np.random.default_rng(4)
    X = rng.integers(5, size=(70, 3))
    if kind == "float":
        X = np.where(X == 4, np.nan, X / 2)
    elif kind == "text":
        X = np.array(["a", "bb", "ccc", "d", "e"])[X]
    elif kind == "bool":
        X = X > 2
    ours, theirs = pair(**params)
    same(dense(ours.fit_transform(X)), dense(theirs.fit_transform(X)))
    same_fit(ours, theirs)


@pytest.mark.parametrize("params", [{}, {"drop": "first"}, {"max_categories": 4}])
@pytest.mark.parametrize("name", list(containers(text(0))))
def test_frames_of_every_library(name, params):
    missing = np.nan if "pandas" in name and name != "pandas object" else None
    X = text(5, missing=missing)
    frame = containers(text(5))[name]
    ours, theirs = pair(**params)
    a, b = ours.fit_transform(frame), theirs.fit_transform(X)
    same(dense(a), dense(b))
    for mine, other in zip(ours.categories_, theirs.categories_, strict=True):
        same(mine, other)
    assert list(ours.feature_names_in_) == ["a", "b", "c"]
    assert ours.get_feature_names_out()[0].startswith("a_")


def test_pandas_columns_keep_their_types():
    frame = pd.DataFrame(
        {"n": [3, 1, 3], "x": [0.5, np.nan, 0.5], "t": ["b", "a", None], "b": [True, False, True]}
    )
    ours, theirs = pair()
    same(dense(ours.fit_transform(frame)), dense(theirs.fit_transform(frame)))
    assert [c.dtype.kind for c in ours.categories_] == ["i", "f", "O", "b"]
    same_fit(ours, theirs)


@pytest.mark.parametrize("handle", ["ignore", "infrequent_if_exist", "warn"])
@pytest.mark.parametrize("grouped", [{}, {"max_categories": 3}])
@pytest.mark.filterwarnings("ignore:Found unknown")
def test_unknown_categories(handle, grouped):
    X, new = text(1, missing=False), text(2, missing=False)
    new[::5, 0], new[::7, 1] = "new", "newer"
    ours, theirs = pair(handle_unknown=handle, **grouped)
    ours.fit(X), theirs.fit(X)
    same(dense(ours.transform(new)), dense(theirs.transform(new)))
    same(
        ours.inverse_transform(ours.transform(new)), theirs.inverse_transform(theirs.transform(new))
    )


def test_unknown_is_refused_by_column_and_value():
    model = OneHotEncoder().fit(pd.DataFrame({"colour": ["red", "blue"]}))
    with pytest.raises(ValueError, match=r"'green'.*'colour'"):
        model.transform(pd.DataFrame({"colour": ["green"]}))
    with pytest.warns(UserWarning, match=r"columns \[0\].*infrequent"):
        OneHotEncoder(handle_unknown="warn").fit([["a"]]).transform([["b"]])
    with pytest.warns(UserWarning, match="all zeros"):
        OneHotEncoder(handle_unknown="ignore", drop="first").fit([["a"]]).transform([["b"]])


def test_given_categories_and_drop():
    X = np.array([["b", 2], ["a", 1], ["b", 1]], dtype=object)
    params = {"categories": [["b", "a", "z"], [2, 1]], "drop": ["a", 1]}
    ours, theirs = pair(**params)
    same(dense(ours.fit_transform(X)), dense(theirs.fit_transform(X)))
    same_fit(ours, theirs)
    same(ours.inverse_transform(ours.transform(X)), X)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"categories": [["a"]]}, "2 columns"),
        ({"categories": [["a"], ["x", "y"]]}, r"'b'.*column 0.*fit"),
        ({"categories": [["a", "a", "b"], ["x", "y"]]}, "duplicate"),
        ({"categories": [["b", np.nan, "a"], ["x", "y"]]}, "Nan should be the last element"),
        ({"categories": "all"}, "categories"),
        ({"drop": ["q", "x"]}, r"'q'.*feature 0"),
        ({"drop": ["a"]}, "number of features"),
        ({"drop": ["a", "x"], "min_frequency": 2}, "infrequent"),
        ({"min_frequency": 1.5}, "min_frequency"),
        ({"max_categories": 0}, "max_categories"),
        ({"feature_name_combiner": 3}, "feature_name_combiner"),
    ],
)
def test_bad_parameters(params, words):
    X = np.array([["a", "x"], ["b", "y"], ["b", "y"]], dtype=object)
    with pytest.raises(ValueError, match=words):
        OneHotEncoder(**params).fit(X)


def test_unsorted_numbers_are_refused():
    with pytest.raises(ValueError, match="sorted"):
        OneHotEncoder(categories=[[2, 1]]).fit([[1], [2]])


def test_names_by_a_function():
    model = OneHotEncoder(feature_name_combiner=lambda name, c: f"{name}={c!r}").fit([["a"], ["b"]])
    assert model.get_feature_names_out(["t"]).tolist() == ["t='a'", "t='b'"]
    with pytest.raises(TypeError, match="should return a Python string"):
        OneHotEncoder(feature_name_combiner=lambda n, c: 1).fit([["a"]]).get_feature_names_out()


def test_zeros_that_nothing_explains():
    model = OneHotEncoder(sparse_output=False).fit([["a"], ["b"]])
    with pytest.raises(ValueError, match=r"Samples \[1\] can not be inverted"):
        model.inverse_transform([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="2 columns"):
        model.inverse_transform([[1.0]])


def test_sparse_frames_are_refused():
    with pytest.raises(ValueError, match="sparse_output=False"):
        OneHotEncoder().set_output(transform="pandas").fit_transform([["a"]])
    out = OneHotEncoder(sparse_output=False).set_output(transform="polars").fit_transform([["a"]])
    assert out.columns == ["x0_a"]


def test_inf_is_refused_by_column_and_row():
    with pytest.raises(ValueError, match=r"inf.*'x'.*row 1"):
        OneHotEncoder().fit(pd.DataFrame({"x": [1.0, np.inf]}))


def test_frames_without_rows_or_columns():
    with pytest.raises(ValueError, match="0 sample"):
        OneHotEncoder().fit(pd.DataFrame({"x": []}))


def test_rows_of_a_column_add_to_one():
    Z = OneHotEncoder().fit_transform(mixed(7)).toarray()
    same(Z.sum(axis=1), np.full(len(Z), 4.0))


@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("encoder", ["OneHotEncoder", "OrdinalEncoder", "TargetEncoder"])
def test_given_categories_may_hold_a_missing_value(encoder, missing):
    """As scikit-learn's encoders, which put the missing value last."""
    import pellucid

    X = np.array([["b"], ["a"], [missing], ["a"]], dtype=object)
    given = {"categories": [["a", "b", missing]]}
    ours = getattr(pellucid, encoder)(**given)
    theirs = getattr(preprocessing, encoder)(**given)
    y = np.array([0.0, 1.0, 2.0, 3.5])
    a, b = (m.fit(X, y).transform(X) for m in (ours, theirs))
    if encoder == "OneHotEncoder":
        a, b = a.toarray(), b.toarray()
    assert_allclose(a, b, equal_nan=True)
    with pytest.raises(ValueError, match="contain duplicate elements"):
        getattr(pellucid, encoder)(categories=[["a", "b", "a", missing]]).fit(X, y)
