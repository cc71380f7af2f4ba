"""TableFeatures: peers as oracles, training rows only, any kind of frame."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pellucid
from pellucid import NaturalSplineBasis, TableFeatures, TargetEncoder
from pellucid.data import DataWarning
from pellucid.study.columns.treatments import date_parts
from pellucid.study.reading.cell_values import kind_of

RNG = np.random.default_rng(0)


def mixed(n=120, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    x[rng.random(n) < 0.1] = np.nan
    words = np.array(["red", "green", "blue", "grey", "pink", "black"])
    start = datetime.datetime(2021, 1, 1)
    return pl.DataFrame(
        {
            "x": x,
            "whole": rng.integers(50, size=n),
            "flag": rng.random(n) < 0.3,
            "color": rng.choice(["r", "g", None], n).tolist(),
            "town": [f"t{i}" for i in rng.integers(60, size=n)],
            "text": [" ".join(row) for row in rng.choice(words, (n, 5))],
            "when": [start + datetime.timedelta(hours=int(h)) for h in rng.integers(20000, size=n)],
            "tags": [
                ";".join(sorted(set(rng.choice(["a", "b", "c"], rng.integers(1, 4)))))
                for _ in range(n)
            ],
        },
        nan_to_null=True,
    )


def test_numbers_like_scikit_learn():
    """Median, indicator and standard scores of columns with gaps."""
    X = RNG.normal(size=(80, 3)) * [1, 100, 1e-3]
    X[RNG.random(X.shape) < 0.2] = np.nan
    ours = TableFeatures().fit_transform(X)
    imputed = SimpleImputer(strategy="median").fit_transform(X)
    assert_allclose(ours[:, ::2], StandardScaler().fit_transform(imputed), atol=1e-12)
    assert_array_equal(ours[:, 1::2], np.isnan(X))


def test_levels_like_scikit_learn():
    X = RNG.choice(["a", "b", "c"], (60, 2)).astype(object)
    theirs = OneHotEncoder(sparse_output=False).fit_transform(X)
    assert_array_equal(TableFeatures().fit_transform(X), theirs)


def test_target_code_is_that_of_the_target_encoder():
    n = 300
    X = np.array([f"t{i}" for i in RNG.integers(80, size=n)], dtype=object)[:, None]
    for y in (RNG.normal(size=n), RNG.choice(["u", "v"], n), RNG.choice(["u", "v", "w"], n)):
        ours = TableFeatures(scale=False).fit(X, y)
        theirs = TargetEncoder().fit(X, y)
        assert_allclose(ours.transform(X), theirs.transform(X))
        assert_allclose(
            TableFeatures(scale=False).fit_transform(X, y), TargetEncoder().fit_transform(X, y)
        )
        unseen = np.array([["new"]], dtype=object)
        assert_allclose(ours.transform(unseen), theirs.transform(unseen))


def test_without_target_many_levels_are_pooled():
    X = np.array([f"t{i}" for i in range(40)] * 5 + ["common"] * 50, dtype=object)[:, None]
    model = TableFeatures(max_one_hot=3, rare=0.0).fit(X)
    assert model.get_feature_names_out().tolist() == [
        "x0 = common", "x0 = t0", "x0 = t1", "x0 = other",
    ]  # fmt: skip


def test_rare_and_unseen_levels_go_to_the_pool():
    cells = ["a"] * 100 + ["b"] * 100 + ["rare1", "rare2"]
    model = TableFeatures().fit(pl.DataFrame({"c": cells}))
    assert model.get_feature_names_out().tolist() == ["c = a", "c = b", "c = other"]
    out = model.transform(pl.DataFrame({"c": ["rare1", "never seen", None, "b"]}))
    assert_array_equal(out, [[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 1, 0]])


def test_missing_is_a_level_of_its_own():
    model = TableFeatures().fit(pl.DataFrame({"c": ["a", "b", None, "a"]}))
    assert model.get_feature_names_out().tolist() == ["c = a", "c = b", "c = missing"]
    named = TableFeatures().fit(pl.DataFrame({"c": ["missing", "b", None, "other"]}))
    assert named.get_feature_names_out().tolist()[-1] == "c = (missing)"


def test_without_a_pool_an_unseen_level_is_a_row_of_zeros():
    model = TableFeatures().fit(pl.DataFrame({"c": ["a", "b", "a"]}))
    assert_array_equal(model.transform(pl.DataFrame({"c": ["z", "b"]})), [[0, 0], [0, 1]])


def test_indicator_only_where_training_had_gaps():
    model = TableFeatures(scale=False).fit(pl.DataFrame({"x": [1.0, 2.0, 6.0]}))
    assert_array_equal(model.transform(pl.DataFrame({"x": [None, 5.0]})), [[2.0], [5.0]])


def test_date_parts():
    """Against Python's own calendar."""
    start = datetime.datetime(1969, 12, 20, 3)
    moments = [start + datetime.timedelta(hours=7 * i) for i in range(500)]
    table = date_parts(np.array(moments, dtype="M8[us]"), 0.0)
    expected = [[m.year, m.month, m.isoweekday(), m.hour] for m in moments]
    assert_array_equal(table[:, 1:], expected)
    assert_allclose(np.diff(table[:, 0]), 7 / 24)


def test_only_parts_that_vary():
    days = [datetime.date(2024, 5, d) for d in (1, 8, 15)] + [None]
    model = TableFeatures(scale=False).fit(pl.DataFrame({"d": days}))
    assert model.get_feature_names_out().tolist() == ["d elapsed", "d missing"]
    assert_array_equal(
        model.transform(pl.DataFrame({"d": days})), [[0, 0], [7, 0], [14, 0], [7, 1]]
    )


DAY, HOUR = datetime.timedelta(days=1), datetime.timedelta(hours=1)
WEEKLY, YEARLY = ["day of week"], ["year", "month", "day of week"]


def parts_of(moments):
    """The features of a column of dates, besides the days elapsed."""
    model = TableFeatures().fit(pl.DataFrame({"d": moments}))
    names = [name.removeprefix("d ") for name in model.get_feature_names_out()]
    assert names[0] == "elapsed"
    return names[1:]


@pytest.mark.parametrize("start", [(2021, 1, 1), (2021, 7, 1), (2023, 11, 20)])
@pytest.mark.parametrize(
    ("n", "step", "parts"),
    [
        (13, DAY, []),
        (14, DAY, WEEKLY),
        (400, DAY, WEEKLY),
        (640, DAY, WEEKLY),
        (740, DAY, YEARLY),
        (70, 7 * DAY, []),
        (47, HOUR, []),
        (48, HOUR, ["hour"]),
        (600, HOUR, ["day of week", "hour"]),
    ],
)
def test_a_part_of_a_date_that_has_not_come_round_is_no_feature(start, n, step, parts):
    """In less than two cycles it is the days elapsed under another name, and then starts anew."""
    moments = [datetime.datetime(*start) + i * step for i in range(n)]
    assert parts_of(moments) == parts
    assert parts_of([*moments, None])[:-1] == parts


def test_parts_of_dates_with_gaps_between_them():
    def days(*years, months):
        return [datetime.date(y, m, d) for y in years for m in months for d in range(1, 29)]

    assert parts_of(days(2021, 2022, 2023, months=(6, 7, 8))) == YEARLY  # summers
    assert parts_of([*days(2021, months=range(1, 11)), datetime.date(1900, 1, 1)]) == WEEKLY
    working = [day for day in days(2021, months=(3, 4)) if day.weekday() < 5]
    assert parts_of(working) == WEEKLY


def test_dates_as_text():
    model = TableFeatures({"d": "date"}, scale=False)
    X = pl.DataFrame({"d": ["2024-05-01", "2024/05/08 12:00", "2024-05-03T06:30:00", "never"]})
    elapsed = model.fit_transform(X)[:, 0]
    assert_allclose(elapsed, [0, 7.5, 2 + 6.5 / 24, 2 + 6.5 / 24])


def test_words_like_scikit_learn():
    """tf-idf with one common scale."""
    words = np.array(["red", "green", "blue", "grey", "pink"])
    texts = [" ".join(row) for row in RNG.choice(words, (50, 6))] + ["solitary word here now"]
    theirs = TfidfVectorizer(min_df=2).fit_transform(texts).toarray()
    model = TableFeatures({"t": "text"})
    ours = model.fit_transform(pl.DataFrame({"t": texts}))
    assert_allclose(ours, theirs / np.sqrt(theirs.var(axis=0).mean()))
    counts = TableFeatures({"t": "text"}, words="count").fit_transform(pl.DataFrame({"t": texts}))
    assert counts.sum(axis=1)[0] == 6


def test_lists():
    X = pl.DataFrame({"tags": ["a;b", "b", None, "a; c"]})
    model = TableFeatures({"tags": "list"}, rare=0.0).fit(X)
    names = ["tags has a", "tags has b", "tags has c", "tags missing"]
    assert model.get_feature_names_out().tolist() == names
    assert_array_equal(model.transform(X), [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0]])


def test_splines_span_those_of_the_basis():
    x = np.sort(RNG.normal(size=60))
    ours = TableFeatures(knots=5).fit_transform(x[:, None])
    theirs = NaturalSplineBasis(5).fit_transform(x[:, None])
    A = np.column_stack([np.ones(60), theirs])
    assert ours.shape == theirs.shape
    assert_allclose(A @ np.linalg.lstsq(A, ours, rcond=None)[0], ours, atol=1e-8)


def test_reference_leaves_full_rank():
    frame = mixed()[["color", "x", "flag"]]
    Z = TableFeatures(reference=True).fit_transform(frame)
    assert np.linalg.matrix_rank(np.column_stack([np.ones(len(Z)), Z])) == Z.shape[1] + 1


def test_the_same_for_every_kind_of_frame():
    frame = mixed()
    y = RNG.choice(["u", "v"], frame.height)
    expected = TableFeatures().fit_transform(frame, y)
    for other in (frame.to_pandas(), frame.to_arrow()):
        assert_allclose(TableFeatures().fit_transform(other, y), expected)
    cells = frame[["x", "color"]].to_numpy().astype(object)
    assert_allclose(
        TableFeatures().fit_transform(cells), TableFeatures().fit_transform(frame[["x", "color"]])
    )


def test_pandas_categories():
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b", None, "b"])})
    assert TableFeatures().fit(frame).get_feature_names_out().tolist() == [
        "c = a", "c = b", "c = missing",
    ]  # fmt: skip


def test_blocks_of_rows_are_independent():
    """A file streams through: rows are treated one by one."""
    frame, y = mixed(200), RNG.normal(size=200)
    model = TableFeatures(knots=4).fit(frame, y)
    whole = model.transform(frame)
    parts = [model.transform(frame[i : i + 37]) for i in range(0, 200, 37)]
    assert_array_equal(np.vstack(parts), whole)


def test_saved_bit_equal(tmp_path):
    frame, y = mixed(200), RNG.choice(["u", "v", "w"], 200)
    for options in ({}, {"knots": 5, "reference": True, "words": "count"}):
        model = TableFeatures(**options).fit(frame, y)
        pellucid.save(model, tmp_path / "f.pellucid")
        again = pellucid.load(tmp_path / "f.pellucid")
        new = mixed(50, seed=1)
        assert_array_equal(again.transform(new), model.transform(new))
        assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
        assert again.drift(new) == model.drift(new)


def test_names_fit_the_columns():
    frame, y = mixed(), RNG.normal(size=120)
    model = TableFeatures().fit(frame, y)
    names = model.get_feature_names_out()
    assert len(names) == len(set(names)) == model.transform(frame).shape[1]
    assert len(model.origins()) == len(names)
    assert sum(row[3] for row in model.describe()) == len(names)


def test_drift_counts():
    frame = mixed()
    model = TableFeatures().fit(frame, RNG.normal(size=120))
    none = model.drift(frame)
    assert not any(none.unseen)
    assert not any(none.outside)
    new = frame.with_columns(
        x=pl.lit(1e9), color=pl.lit("unknown"), town=pl.lit("nowhere"), tags=pl.lit("z"),
        when=pl.lit(datetime.datetime(2050, 1, 1)),
    )  # fmt: skip
    found = model.drift(new)
    by_name = dict(zip(found.names, zip(found.unseen, found.outside, strict=True), strict=True))
    for name in ("color", "town", "tags"):
        assert by_name[name] == (120, 0)
    for name in ("x", "when"):
        assert by_name[name] == (0, 120)


def test_a_column_that_does_not_vary_gives_nothing():
    frame = pl.DataFrame({"a": [1.0, 1.0], "b": ["u", "u"], "c": [None, None], "d": [1.0, 2.0]})
    model = TableFeatures().fit(frame)
    assert model.get_feature_names_out().tolist() == ["d"]


def test_columns_restrict():
    frame = mixed()
    model = TableFeatures(columns=["text"]).fit(frame)
    assert all(name.startswith("text: ") for name in model.get_feature_names_out())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kinds": {"xx": "number"}}, "no column 'xx'; did you mean 'x'"),
        ({"kinds": {"x": "numbre"}}, "kind"),
        ({"rare": 1.5}, "rare must be"),
        ({"max_one_hot": 0}, "max_one_hot"),
        ({"words": "bag"}, "words"),
    ],
)
def test_refusals(options, words):
    frame = pl.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]})
    with pytest.raises(ValueError, match=words):
        TableFeatures(**options).fit(frame)


def test_text_in_a_number_column_is_refused_by_name():
    model = TableFeatures().fit(pl.DataFrame({"price": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="'price' was numbers in training and now holds 'q'"):
        model.transform(pl.DataFrame({"price": ["q", "r"]}))
    with pytest.warns(DataWarning, match="1 cell of the column 'price' cannot be read.*'q'"):
        Z = model.transform(pl.DataFrame({"price": ["q", "1"]}))
    assert Z[0, 0] == 0  # the median, standardised


def test_kinds():
    assert kind_of(np.array([True, False])) == "truth"
    assert kind_of(np.array([1, 2])) == "whole"
    assert kind_of(np.array([None, None], dtype=object)) == "empty"
    texts = np.array([f"some words of text number {i}" for i in range(50)], dtype=object)
    assert kind_of(texts) == "text"
    tags = np.array(["a;b", "b;c", "a", "a;c", "b"] * 9, dtype=object)
    assert kind_of(tags) == "list"


def test_new_rows_are_read_in_the_form_of_the_training_rows():
    days = ["01/31/2024", "02/01/2024", "02/03/2024"]
    table = pl.DataFrame({"price": ["1.018,84 €", "5,50 €", "26.316 €"], "day": days})
    model = TableFeatures({"price": "number", "day": "date"}, scale=False).fit(table)
    assert model.forms_ == ["1.234,5 €", "M/D/Y"]

    def price(*cells):
        day = ["02/01/2024"] * len(cells)
        Z = model.transform(pl.DataFrame({"price": cells, "day": day}, strict=False))
        assert (Z[:, 1] == 1).all()  # one day after the first, not eleven months before
        return Z[:, 0].tolist()

    assert price("1.018 €") == [1018]  # alone it would be in doubt
    assert price(1018.5, 3.0) == [1018.5, 3]
    with pytest.warns(DataWarning, match="1 cell of the column 'price'"):
        assert price("1234.56", "7.5", "0.25", "forty")[:3] == [1234.56, 7.5, 0.25]  # plain numbers
    with pytest.warns(DataWarning, match="1 cell of the column 'price'.*'5 kg'"):
        assert price("3 €", "5 kg")[0] == 3
    found = model.drift(pl.DataFrame({"price": ["5,50 €", "forty"], "day": ["soon", "02/01/2024"]}))
    assert (found.unread, found.examples) == ((1, 1), ("forty", "soon"))


def test_forms_that_are_given_and_models_of_before_there_were_forms():
    table = pl.DataFrame({"x": ["1,018", "2,500"]})
    for form, value in (("1,234.5", 1018), ("1234,5", 1.018)):
        model = TableFeatures({"x": "number"}, scale=False, forms={"x": form})
        assert model.fit_transform(table)[0, 0] == value
    old = TableFeatures({"x": "number"}, scale=False).fit(pl.DataFrame({"x": ["0,5", "1,018"]}))
    old.treatments_[0] = old.treatments_[0]._replace(comma=True)
    del old.forms_
    assert old.transform(pl.DataFrame({"x": ["1,018"]})).tolist() == [[1.018]]
