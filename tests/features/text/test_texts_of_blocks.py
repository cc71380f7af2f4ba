"""Vocabularies of texts in blocks are those of a list, and pipelines of texts stream."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid import CountVectorizer, HashingVectorizer, MultinomialNB, TfidfVectorizer
from pellucid.core.loops.statistics import LEAF_ROWS

rng = np.random.default_rng(0)
WORDS = np.array([f"w{i:03d}" for i in range(300)] + ["Ünïcode", "the"])
TEXTS = [
    " ".join(WORDS[np.minimum(rng.geometric(0.02, size=9), 301)]) for _ in range(LEAF_ROWS + 500)
]
FRAME = pl.DataFrame({"text": TEXTS})
SETTINGS = [
    {},
    {"ngram_range": (1, 2), "min_df": 3},
    {"max_features": 40, "stop_words": "english"},
    {"max_df": 0.2, "analyzer": "char_wb", "ngram_range": (2, 3)},
    {"vocabulary": ["w003", "never", "w001"], "binary": True},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("kind", [CountVectorizer, TfidfVectorizer])
def test_blocks_have_the_vocabulary_of_a_list(kind, settings):
    memory = kind(**settings).fit(TEXTS)
    for size in (700, 100_000):
        parts = kind(**settings).fit_blocks(pellucid.data.blocks(FRAME, block_rows=size))
        assert parts.vocabulary_ == memory.vocabulary_
        assert parts.n_texts_ == memory.n_texts_
        assert str(parts.card()) == str(memory.card())
        assert vars(parts).keys() == vars(memory).keys()
        if kind is TfidfVectorizer:
            assert_array_equal(parts.idf_, memory.idf_)
    streamed = list(parts.transform_blocks(pellucid.data.blocks(FRAME, block_rows=1000)))
    assert_array_equal(streamed[0].toarray(), memory.transform(TEXTS[:1000]).toarray())


def test_a_pipeline_of_texts_streams():
    """Also with a step that learns nothing, and with texts beside numbers."""
    y = np.array(["w001" in text for text in TEXTS])
    frame = FRAME.with_columns(y=pl.Series(y))
    for step in (TfidfVectorizer(), HashingVectorizer(n_features=256, alternate_sign=False)):
        model = make_pipeline(step, MultinomialNB())
        pellucid.fit_blocks(model, pellucid.data.blocks(frame, target="y", block_rows=900))
        again = make_pipeline(step, MultinomialNB()).fit(TEXTS, y)
        assert_allclose(model.predict_proba(TEXTS[:50]), again.predict_proba(TEXTS[:50]))
    wide = frame.with_columns(size=pl.Series(rng.random(len(TEXTS))))
    columns = ColumnTransformer(
        [("words", CountVectorizer(max_features=9), "text")], remainder="drop"
    )
    model = make_pipeline(columns, MultinomialNB())
    pellucid.fit_blocks(model, pellucid.data.blocks(wide, target="y", block_rows=900))
    again = make_pipeline(columns, MultinomialNB()).fit(wide, y)
    assert_allclose(model.predict_proba(wide), again.predict_proba(wide))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("kind", [CountVectorizer, TfidfVectorizer, HashingVectorizer])
def test_a_frame_of_one_column_is_its_texts(kind, library):
    """Its names alone would be the texts, as they are with scikit-learn."""
    texts = TEXTS[:20]
    model = kind().fit(library({"text": texts}))
    found, expected = model.transform(library({"text": texts})), kind().fit(texts).transform(texts)
    assert (found != expected).nnz == 0
    with pytest.raises(ValueError, match="texts come from one column, got a frame of 2 columns"):
        kind().fit_transform(library({"text": texts, "more": texts}))


def test_refusals():
    two = pellucid.data.blocks(FRAME.with_columns(other=pl.lit("x")))
    with pytest.raises(ValueError, match="texts come from one column"):
        TfidfVectorizer().fit_blocks(two)
    with pytest.raises(ValueError, match="empty vocabulary"):
        CountVectorizer().fit_blocks(pellucid.data.blocks(pl.DataFrame({"text": ["", "a"]})))
    with pytest.raises(ValueError, match="min_df"):
        CountVectorizer(min_df=-1).fit_blocks(pellucid.data.blocks(FRAME))
    with pytest.raises(TypeError, match="fit_blocks needs pellucid"):
        CountVectorizer().fit_blocks(TEXTS)
