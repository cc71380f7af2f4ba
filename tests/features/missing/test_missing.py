"""MissingIndicator against scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from mixed_tables import mixed, same
from scipy.sparse import csc_array, csr_array, issparse
from sklearn import impute

from pellucid import MissingIndicator

X = np.array([[np.nan, 1.0, 3.0], [4.0, 0.0, np.nan], [8.0, 1.0, 0.0]])


def dense(Z):
    return Z.toarray() if issparse(Z) else Z


@pytest.mark.parametrize("features", ["missing-only", "all"])
@pytest.mark.parametrize("sparse", [True, False, "auto"])
@pytest.mark.parametrize("kind", [np.array, csr_array, csc_array, "objects"])
def test_scikit_learn(features, sparse, kind):
    data = mixed(0) if kind == "objects" else kind(X)
    ours = MissingIndicator(features=features, sparse=sparse)
    theirs = impute.MissingIndicator(features=features, sparse=sparse)
    a, b = ours.fit_transform(data), theirs.fit_transform(data)
    assert issparse(a) == issparse(b)
    assert a.dtype == b.dtype
    same(dense(a), dense(b))
    same(dense(ours.transform(data)), dense(theirs.transform(data)))
    same(ours.features_, theirs.features_)
    same(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_new_gaps():
    new = X.copy()
    new[0, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1.*error_on_new"):
        MissingIndicator().fit(X).transform(new)
    out = MissingIndicator(error_on_new=False).fit(X).transform(new)
    same(out, np.isnan(new)[:, [0, 2]])


def test_other_marks_and_frames():
    out = MissingIndicator(missing_values=1).fit_transform(np.nan_to_num(X))
    same(out.ravel(), [True, False, True])
    frame = pd.DataFrame({"a": ["x", None], "b": ["y", "z"]})
    model = MissingIndicator().fit(frame)
    assert model.get_feature_names_out().tolist() == ["missingindicator_a"]
    with pytest.raises(ValueError, match="missing_values=0"):
        MissingIndicator(missing_values=0).fit(csr_array(np.eye(2)))
    with pytest.raises(ValueError, match="missing_values='x'"):
        MissingIndicator(missing_values="x").fit(np.nan_to_num(X))
