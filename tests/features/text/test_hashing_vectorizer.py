"""Hashed columns: scikit-learn is the oracle, cell by cell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction import text as sk
from sklearn.utils import murmurhash3_32

from pellucid import HashingVectorizer
from pellucid.features.text.hashing_vectorizer import hash_terms

DOCS = ["Red red GREEN the a of", "green Blue, blue; straße été x2", "", "naïve café — the Ωmega"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_features": 7, "norm": None},
        {"n_features": 5, "norm": "l1", "alternate_sign": False},
        {"n_features": 6, "binary": True, "norm": None, "dtype": np.int32},
        {"ngram_range": (1, 3), "stop_words": "english", "dtype": np.float32},
        {"analyzer": "char_wb", "ngram_range": (2, 4), "n_features": 64},
        {"analyzer": lambda text: text.split("e"), "n_features": 16},
    ],
)
def test_equals_scikit_learn(params):
    A = HashingVectorizer(**params).fit_transform(DOCS)
    B = sk.HashingVectorizer(**params).fit_transform(DOCS)
    assert A.shape == B.shape
    assert A.dtype == B.dtype
    assert_allclose(A.toarray()[:, : 2**12], B.toarray()[:, : 2**12], rtol=1e-6)
    assert_array_equal(A.indices, B.indices)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=20), min_size=1, max_size=8))
def test_any_word_is_hashed_as_murmurhash(words):
    words = [word.encode("utf-8", "ignore").decode() for word in words]
    assert hash_terms(words).tolist() == [murmurhash3_32(word, seed=0) for word in words]


def test_inner_products_are_those_of_the_counts():
    """Recovery: with many columns few words meet, and products of rows are those of counts."""
    rng = np.random.default_rng(0)
    docs = [" ".join(f"word{i}" for i in rng.integers(0, 40, 30)) for _ in range(12)]
    H = HashingVectorizer(n_features=2**18, norm=None).transform(docs)
    C = sk.CountVectorizer().fit_transform(docs)
    assert_array_equal((H @ H.T).toarray(), (C @ C.T).toarray())


def test_refusals():
    with pytest.raises(ValueError, match="string object received"):
        HashingVectorizer().transform("one text")
    with pytest.raises(TypeError, match="feature names must be strings"):
        HashingVectorizer(analyzer=lambda text: [1]).transform(["a"])
    with pytest.raises(ValueError, match="n_features must be"):
        HashingVectorizer(n_features=2**31).fit(["a"])


def test_terms_that_are_bytes_stand_where_their_letters_do():
    def letters(text):
        return [word.encode() for word in text.split()]

    texts = ["red green red", "green blue"]
    ours = HashingVectorizer(n_features=64, analyzer=letters).fit_transform(texts)
    plain = HashingVectorizer(n_features=64, analyzer=str.split).fit_transform(texts)
    assert_array_equal(ours.toarray(), plain.toarray())
    with pytest.raises(TypeError, match="must be strings: the analyzer gave 3 of type int"):
        HashingVectorizer(analyzer=lambda text: [3]).fit_transform(texts)
