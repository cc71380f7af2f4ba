"""OrdinalEncoder against scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from mixed_tables import containers, mixed, same, text
from sklearn import preprocessing

from pellucid import OrdinalEncoder

OPTIONS = [
    {},
    {"encoded_missing_value": -1},
    {"encoded_missing_value": -2, "dtype": np.int32},
    {"min_frequency": 8},
    {"max_categories": 3},
    {"max_categories": 1},
    {"handle_unknown": "use_encoded_value", "unknown_value": -5},
    {"handle_unknown": "use_encoded_value", "unknown_value": np.nan},
    {"handle_unknown": "use_encoded_value", "unknown_value": -5, "min_frequency": 0.15},
]


def pair(**params):
    return OrdinalEncoder(**params), preprocessing.OrdinalEncoder(**params)


@pytest.mark.parametrize("params", OPTIONS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scikit_learn_on_mixed_tables(params, seed):
    X = mixed(seed)
    ours, theirs = pair(**params)
    a, b = ours.fit_transform(X), theirs.fit_transform(X)
    same(a, b)
    assert a.dtype == b.dtype
    same(ours.transform(X), b)
    for mine, other in zip(ours.categories_, theirs.categories_, strict=True):
        same(mine, other)
    if not ({"min_frequency", "max_categories"} & params.keys()):
        if not np.isnan(params.get("unknown_value", 0)):  # NaN is missing or unknown: both
            same(ours.inverse_transform(a), X)
    else:
        for mine, other in zip(
            ours.infrequent_categories_, theirs.infrequent_categories_, strict=True
        ):
            same(mine, other)


@pytest.mark.parametrize("params", [{}, {"min_frequency": 12}])
def test_inverse_without_missing_cells(params):
    X = mixed(3, missing=False)
    ours, theirs = pair(**params)
    same(
        ours.inverse_transform(ours.fit_transform(X)),
        theirs.inverse_transform(theirs.fit_transform(X)),
    )


@pytest.mark.parametrize("name", list(containers(text(0))))
def test_frames_of_every_library(name):
    missing = np.nan if "pandas" in name and name != "pandas object" else None
    ours, theirs = pair()
    same(
        ours.fit_transform(containers(text(5))[name]),
        theirs.fit_transform(text(5, missing=missing)),
    )
    assert ours.get_feature_names_out().tolist() == ["a", "b", "c"]


def test_unknown_categories():
    X, new = text(1, missing=False), text(2, missing=False)
    new[::5, 0] = "new"
    params = {"handle_unknown": "use_encoded_value", "unknown_value": -1}
    ours, theirs = pair(**params)
    ours.fit(X), theirs.fit(X)
    same(ours.transform(new), theirs.transform(new))
    same(
        ours.inverse_transform(ours.transform(new)), theirs.inverse_transform(theirs.transform(new))
    )
    named = OrdinalEncoder().fit(pd.DataFrame({"colour": ["red"]}))
    with pytest.raises(ValueError, match=r"'green'.*'colour'"):
        named.transform(pd.DataFrame({"colour": ["green"]}))


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"handle_unknown": "use_encoded_value"}, TypeError, "unknown_value"),
        ({"unknown_value": 3}, TypeError, "use_encoded_value"),
        ({"handle_unknown": "use_encoded_value", "unknown_value": 1}, ValueError, "column 0"),
        (
            {"handle_unknown": "use_encoded_value", "unknown_value": np.nan, "dtype": int},
            ValueError,
            "float",
        ),
        ({"dtype": int}, ValueError, "encoded_missing_value"),
        ({"encoded_missing_value": 1}, ValueError, "column 0"),
        ({"encoded_missing_value": "x"}, ValueError, "encoded_missing_value"),
    ],
)
def test_bad_parameters(params, error, words):
    with pytest.raises(error, match=words):
        OrdinalEncoder(**params).fit([[1.0], [2.0], [np.nan]])


def test_codes_that_do_not_exist():
    model = OrdinalEncoder().fit([["a"], ["b"]])
    for bad in (7, -1):
        with pytest.raises(ValueError, match="codes 0 to 1"):
            model.inverse_transform([[bad]])
    with pytest.raises(ValueError, match="1 columns"):
        model.inverse_transform([[0, 1]])


def test_given_order():
    X = [["low"], ["high"], ["mid"]]
    model = OrdinalEncoder(categories=[["low", "mid", "high"]])
    same(model.fit_transform(X).ravel(), np.array([0.0, 2.0, 1.0]))
