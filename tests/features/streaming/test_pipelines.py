"""A pipeline over blocks is the pipeline in memory, to the bit."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline, make_pipeline

import pellucid
from pellucid.backends import Serial
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.data import blocks

N = 2 * LEAF_ROWS + 511


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    a = pl.Series("a", rng.normal(size=N)).to_frame()
    gone = pl.Series(rng.random(N) < 0.1)
    a = a.select(pl.when(gone).then(None).otherwise(pl.col("a")).alias("a"))
    words = pl.Series(rng.choice(["x", "y", None], size=N, p=[0.5, 0.4, 0.1]).tolist())
    b = rng.exponential(size=N)
    wins = b + (words == "x").fill_null(False).to_numpy() + rng.normal(size=N) > 1.5
    return a.with_columns(
        b=b,
        kind=words,
        code=pl.Series(rng.integers(0, 9, size=N)),
        y=pl.Series(np.where(wins, "yes", "no")),
    )


def encoded(numbers):
    columns = [
        ("numbers", numbers, ["a", "b"]),
        ("words", pellucid.OneHotEncoder(sparse_output=False), ["kind"]),
        ("codes", pellucid.OrdinalEncoder(max_categories=5), ["code"]),
    ]
    return Pipeline(
        [("table", ColumnTransformer(columns)), ("model", pellucid.LogisticRegression())]
    )


NUMBERS = [
    make_pipeline(pellucid.SimpleImputer(), pellucid.StandardScaler()),
    make_pipeline(pellucid.SimpleImputer(strategy="median"), pellucid.RobustScaler()),
]


@pytest.mark.parametrize("numbers", NUMBERS, ids=["sums", "order-statistics"])
def test_scaler_encoder_imputer_and_logistic_have_the_bits_of_memory(table, numbers):
    pipe, X = encoded(numbers), table.drop("y")
    expected = clone(pipe).fit(X, table["y"])
    for rows in (LEAF_ROWS, 100_000):
        source = blocks(table, target="y", block_rows=rows)
        model = pellucid.fit_blocks(clone(pipe), source, backend=Serial())
        assert model["model"].coef_.tobytes() == expected["model"].coef_.tobytes()
        assert_array_equal(model.predict(X), expected.predict(X))
        names = [step["table"].get_feature_names_out().tolist() for step in (model, expected)]
        assert names[0] == names[1]


def test_encoders_alone(table):
    for encoder in (
        pellucid.OneHotEncoder(min_frequency=600),
        pellucid.OneHotEncoder(drop="first", handle_unknown="ignore"),
        pellucid.OrdinalEncoder(),
        pellucid.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    ):
        X = table.select("kind", "code")
        expected = clone(encoder).fit(X)
        data = blocks(table, columns=["kind", "code"], block_rows=LEAF_ROWS)
        model = clone(encoder).fit_blocks(data)
        for mine, theirs in zip(model.categories_, expected.categories_, strict=True):
            assert mine.tolist() == theirs.tolist()
        found, wanted = model.transform(X), expected.transform(X)
        dense = getattr(found, "toarray", lambda found=found: found)
        assert_array_equal(dense(), getattr(wanted, "toarray", lambda wanted=wanted: wanted)())


def test_steps_that_do_not_stream_say_so(table):
    source = blocks(table, target="y", columns=["b"])
    with pytest.raises(TypeError, match="SelectKBest has no fit_blocks"):
        pellucid.fit_blocks(make_pipeline(SelectKBest(), pellucid.GaussianNB()), source)
    with pytest.raises(TypeError, match="'gaussiannb-1' has no transform; only the last"):
        pellucid.fit_blocks(make_pipeline(pellucid.GaussianNB(), pellucid.GaussianNB()), source)
    with pytest.raises(ValueError, match="memory must be None"):
        pellucid.fit_blocks(make_pipeline(pellucid.GaussianNB(), memory="cache"), source)
    with pytest.raises(TypeError, match="fit_blocks needs pellucid"):
        pellucid.fit_blocks(pellucid.GaussianNB(), table)


def test_remainders_positions_and_passing(table):
    columns = [("scaled", pellucid.StandardScaler(), [0])]
    pipe = make_pipeline(
        "passthrough",
        ColumnTransformer(columns, remainder="passthrough"),
        pellucid.PCA(1),
        pellucid.GaussianNB(),
    )
    X = table.select("b", "code").to_numpy()
    source = blocks(X, target=table["y"].to_numpy().astype(str), block_rows=LEAF_ROWS)
    model = pellucid.fit_blocks(clone(pipe), source)
    expected = clone(pipe).fit(X, table["y"].to_numpy().astype(str))
    np.testing.assert_allclose(model[-1].theta_, expected[-1].theta_, rtol=1e-9, atol=1e-12)
    sparse = [("words", pellucid.OneHotEncoder(), ["kind"])]
    pipe = make_pipeline(ColumnTransformer(sparse, remainder="drop"), pellucid.GaussianNB())
    model = pellucid.fit_blocks(pipe, blocks(table, target="y"))
    assert model[-1].theta_.shape == (2, 3)


def test_truncated_svd_of_blocks_is_that_of_memory():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6)) @ np.diag([9.0, 5.0, 3.0, 1.0, 1.0, 0.5]) + 2.0
    expected = pellucid.TruncatedSVD(3, algorithm="full").fit(X)
    model = pellucid.TruncatedSVD(3).fit_blocks(blocks(X, block_rows=LEAF_ROWS))
    for name in ("singular_values_", "components_", "explained_variance_", "error_"):
        np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-9)
    thin = np.outer(rng.normal(size=60), [1.0, 2.0])
    with pytest.raises(ValueError, match="singular value 2 is lost beside the first"):
        pellucid.TruncatedSVD(2).fit_blocks(blocks(thin))
