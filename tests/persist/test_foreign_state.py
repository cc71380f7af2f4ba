"""Numbers of scikit-learn's transformers that its code indexes with, held to their arrays."""

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from pellucid.persist.foreign import check_one_hot, check_ordinal


def ordinal():
    return OrdinalEncoder().fit(np.array([["a"], ["b"], [np.nan]], dtype=object))


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("_missing_indices", {0: 9}, "a missing code is none"),
        ("_missing_indices", {0: -1}, "a missing code is none"),
        ("_missing_indices", {3: 0}, "a missing code has no column"),
        ("n_features_in_", 2, "one entry for each column"),
    ],
)
def test_codes_of_missing_cells_stay_among_the_categories(name, value, why):
    model = ordinal()
    check_ordinal(model)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=why):
        check_ordinal(model)


@pytest.mark.parametrize("drop", [np.array([2], dtype=object), np.array([0, 0], dtype=object)])
def test_columns_that_are_dropped_are_categories(drop):
    model = OneHotEncoder(drop="first").fit([["a"], ["b"]])
    check_one_hot(model)
    model.drop_idx_ = drop
    with pytest.raises(ValueError, match="drop_idx_"):
        check_one_hot(model)


def test_what_is_not_fitted_has_nothing_to_check():
    check_ordinal(OrdinalEncoder())
    check_one_hot(OneHotEncoder())
