"""Texts to tf-idf weights: scikit-learn is the oracle, cell by cell."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import text as sk

import pellucid
from pellucid import CountVectorizer, TfidfTransformer, TfidfVectorizer

DOCS = ["Red red GREEN the a of", "green Blue, blue; straße été x2", "", "naïve café the green"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"norm": "l1", "smooth_idf": False},
        {"norm": None, "use_idf": False, "binary": True},
        {"sublinear_tf": True, "ngram_range": (1, 2), "dtype": np.float32},
        {"min_df": 2},
        {"vocabulary": ["the", "blue", "green"]},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
    ],
)
def test_equals_scikit_learn(params):
    ours, theirs = TfidfVectorizer(**params), sk.TfidfVectorizer(**params)
    A, B = ours.fit_transform(DOCS), theirs.fit_transform(DOCS)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert A.dtype == B.dtype
    assert_allclose(A.toarray(), B.toarray(), rtol=1e-6)
    if params.get("use_idf", True):
        assert_allclose(ours.idf_, theirs.idf_)
    later = ["blue été unknown the", ""]
    assert_allclose(ours.transform(later).toarray(), theirs.transform(later).toarray(), rtol=1e-6)


def test_invariant():
    """It is the two steps, one after the other, to the bit."""
    counts = CountVectorizer().fit_transform(DOCS)
    two = TfidfTransformer().fit_transform(counts)
    assert_array_equal(TfidfVectorizer().fit_transform(DOCS).toarray(), two.toarray())


def test_weights_can_be_given(tmp_path):
    """Recovery: the weights of one model, set in another, give its answers; and after a file."""
    first = TfidfVectorizer().fit(DOCS)
    second = TfidfVectorizer(vocabulary=first.vocabulary_)
    with pytest.raises(NotFittedError):
        second.transform(DOCS)
    second.idf_ = first.idf_
    pellucid.save(second, tmp_path / "model.pellucid")
    for model in (second, pellucid.load(tmp_path / "model.pellucid")):
        assert_array_equal(model.transform(DOCS).toarray(), first.transform(DOCS).toarray())
    with pytest.raises(ValueError, match="idf length = 2 must be equal to vocabulary size"):
        second.idf_ = [1.0, 2.0]
    with pytest.raises(ValueError, match="use_idf=False"):
        TfidfVectorizer(use_idf=False).idf_ = [1.0]


def test_whole_numbers_warn():
    with pytest.warns(UserWarning, match="float types"):
        assert TfidfVectorizer(dtype=np.int64).fit_transform(DOCS).dtype == np.float64
