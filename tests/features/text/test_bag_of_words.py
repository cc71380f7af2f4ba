"""Bag of words and tf-idf: scikit-learn is the oracle, term by term."""

import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction import text as sk

from pellucid import CountVectorizer, TfidfTransformer
from pellucid.features.text.terms import grams, scan

DOCS = [
    "Red red GREEN the a of",
    "green Blue, blue; straße ÉTÉ été x2 snake_case 3rd",
    "",
    "naïve café — the Ωmega ΩΣ ς² ２１ \n two\nlines\tand  spaces",
    "a b c",
]


def same(params, fit=DOCS, later=("blue été unknown the", "")):
    ours, theirs = CountVectorizer(**params), sk.CountVectorizer(**params)
    A, B = ours.fit_transform(fit), theirs.fit_transform(fit)
    assert ours.vocabulary_ == theirs.vocabulary_
    assert A.dtype == B.dtype
    assert_array_equal(A.toarray(), B.toarray())
    assert_array_equal(ours.transform(later).toarray(), theirs.transform(later).toarray())
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    for mine, other in zip(ours.inverse_transform(A), theirs.inverse_transform(B), strict=True):
        assert sorted(mine) == sorted(other)
    return ours


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"lowercase": False},
        {"ngram_range": (1, 3)},
        {"ngram_range": (2, 2)},
        {"stop_words": "english"},
        {"stop_words": ["red", "été"], "ngram_range": (1, 2)},
        {"token_pattern": r"(?u)\b\w+\b"},
        {"token_pattern": r"[a-z]+"},
        {"token_pattern": r"(\w)\w*"},
        {"tokenizer": str.split, "token_pattern": None},
        {"preprocessor": str.upper},
        {"strip_accents": "unicode"},
        {"strip_accents": "ascii"},
        {"analyzer": "char", "ngram_range": (1, 3)},
        {"analyzer": "char_wb", "ngram_range": (2, 5)},
        {"analyzer": lambda doc: doc.split("e")},
        {"min_df": 2},
        {"min_df": 0.3, "max_df": 0.9},
        {"binary": True, "dtype": np.float32},
        {"vocabulary": ["the", "blue", "red"]},
        {"vocabulary": {"the": 1, "blue": 0}},
    ],
    ids=lambda params: "-".join(params) or "defaults",
)
def test_equals_scikit_learn(params):
    same(params)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=6))
def test_any_text_is_cut_as_the_pattern_says(texts):
    found = scan(texts, 2)
    begin = 0
    for text, end in zip(texts, found.ends, strict=True):
        terms = [found.terms[i] for i in found.numbers[begin:end]]
        assert terms == re.findall(r"(?u)\b\w\w+\b", text)
        begin = end


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("ab ", max_size=30), min_size=1, max_size=4), st.integers(1, 3))
def test_grams_are_the_runs_of_words(texts, high):
    found = grams(scan(texts, 1), 1, high)
    begin = 0
    for text, end in zip(texts, found.ends, strict=True):
        words = text.split()
        runs = [
            " ".join(words[i : i + n])
            for n in range(1, high + 1) for i in range(len(words) - n + 1)
        ]  # fmt: skip
        assert sorted(found.terms[i] for i in found.numbers[begin:end]) == sorted(runs)
        begin = end


def test_example_19():
    X = CountVectorizer().fit_transform(["red red green", "green blue"])
    assert_array_equal(X.toarray(), [[0, 1, 2], [1, 1, 0]])


def test_most_frequent_terms_are_kept():
    model = CountVectorizer(max_features=2).fit(["bb bb bb aa aa cc", "cc dd"])
    assert model.vocabulary_ == {"aa": 0, "bb": 1}  # of equal counts the first in the alphabet


def test_order_of_texts_and_repetition():
    X = CountVectorizer().fit_transform(DOCS).toarray()
    assert_array_equal(CountVectorizer().fit_transform(DOCS[::-1]).toarray(), X[::-1])
    assert_array_equal(CountVectorizer().fit_transform(DOCS * 3).toarray(), np.tile(X, (3, 1)))


def test_files_and_bytes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one two two")
    by_name = CountVectorizer(input="filename").fit_transform([path])
    by_file = CountVectorizer(input="file").fit_transform([io.StringIO("one two two")])
    by_bytes = CountVectorizer().fit_transform([b"one two two"])
    for X in (by_name, by_file, by_bytes):
        assert_array_equal(X.toarray(), [[1, 2]])


@pytest.mark.parametrize(
    ("params", "texts", "words"),
    [
        ({}, ["", "!"], "empty"),
        ({"stop_words": "english"}, ["the of"], "stop words"),
        ({}, "a text", "list"),
        ({}, [np.nan], "missing texts"),
        ({"min_df": 3}, ["aa", "bb"], "fewer texts than min_df|pruning"),
        ({"min_df": 2}, ["aa", "bb"], "pruning"),
        ({"vocabulary": ["a", "a"]}, ["a"], "Duplicate"),
        ({"vocabulary": []}, ["a"], "empty vocabulary"),
        ({"vocabulary": {"a": 0, "b": 2}}, ["a"], "doesn't contain index 1"),
        ({"ngram_range": (2, 1)}, ["a"], "ngram_range"),
        ({"max_df": 1.5}, ["aa"], "max_df"),
        ({"token_pattern": r"(a)(b)"}, ["ab"], "More than 1 capturing group"),
        ({"vocabulary": {"a": 0, "b": 0}}, ["a"], "repeated indices"),
        ({"ngram_range": (0, 1)}, ["a"], "1 <= low <= high"),
        ({}, [3.5], "of type float"),
    ],
)
def test_refusals(params, texts, words):
    with pytest.raises(ValueError, match=words):
        CountVectorizer(**params).fit(texts)


@pytest.mark.parametrize("norm", ["l1", "l2", None])
@pytest.mark.parametrize("use_idf", [True, False])
@pytest.mark.parametrize("smooth_idf", [True, False])
@pytest.mark.parametrize("sublinear_tf", [True, False])
def test_tfidf_equals_scikit_learn(norm, use_idf, smooth_idf, sublinear_tf):
    params = {"norm": norm, "use_idf": use_idf, "smooth_idf": smooth_idf}
    X = CountVectorizer().fit_transform(DOCS)
    ours = TfidfTransformer(sublinear_tf=sublinear_tf, **params).fit(X)
    theirs = sk.TfidfTransformer(sublinear_tf=sublinear_tf, **params).fit(X)
    if use_idf:
        assert_allclose(ours.idf_, theirs.idf_)
    assert_allclose(ours.transform(X).toarray(), theirs.transform(X).toarray())
    assert X.dtype == np.int64  # the counts are left alone


def test_rows_have_unit_norm_and_rare_terms_weigh_more():
    X = CountVectorizer().fit_transform(DOCS[:2] + DOCS[3:4])
    model = TfidfTransformer().fit(X)
    rows = model.transform(X).toarray()
    assert_allclose(np.linalg.norm(rows, axis=1), 1)
    texts = (X.toarray() > 0).sum(axis=0)
    order = np.argsort(texts, kind="stable")
    assert (np.diff(model.idf_[order]) <= 1e-12).all()


def test_sublinear_refuses_negative_counts():
    with pytest.raises(ValueError, match="sublinear_tf"):
        TfidfTransformer(sublinear_tf=True).fit([[1.0, 2.0]]).transform([[-1.0, 2.0]])


def test_an_unknown_way_with_bad_bytes_is_refused():
    with pytest.raises(ValueError, match="decode_error must be one of"):
        CountVectorizer(decode_error="nonsense").fit(["a word", "and more words"])


def test_a_token_with_a_space_is_the_run_of_two_that_reads_the_same():
    def tokens(text):
        return ["a b", "a", "b"]

    same({"tokenizer": tokens, "token_pattern": None, "ngram_range": (1, 2)})
