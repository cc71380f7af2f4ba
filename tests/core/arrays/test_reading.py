"""What NumPy and SciPy take on trust, or say in words of their own, is looked at before."""

from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse as sp

import pellucid
from pellucid.base import encode_labels
from pellucid.core.arrays.reading import check_array

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
y = np.arange(30) % 3


def forged(kind, part, place, value):
    """A sparse table one of whose indices was changed."""
    table = sp.csr_array(X).asformat(kind)
    getattr(table, part)[place] = value
    return table


LIES = [
    ("csr", "indices", 3, 10**8, "column 100000000"),
    ("csr", "indices", 3, -1, "column -1"),
    ("csc", "indices", 0, 30, "row 30"),
    ("coo", "col", 0, 4, "column 4"),
    ("csr", "indptr", 2, 10**6, "pointers"),
    ("csr", "indptr", 0, 4, "pointers"),
    ("csr", "indptr", -1, 10**6, "pointers"),
    ("bsr", "indices", 0, 9, "column 9"),
]


@pytest.mark.parametrize(("kind", "part", "place", "value", "words"), LIES)
def test_a_sparse_table_that_points_outside_is_refused(kind, part, place, value, words):
    """Compiled code followed the index: the interpreter ended by a signal."""
    table = forged(kind, part, place, value)
    model = pellucid.Ridge().fit(sp.csr_array(X), y)
    for ask in (
        lambda: pellucid.Ridge().fit(table, y),
        lambda: model.predict(table),
        lambda: pellucid.MaxAbsScaler().fit(table),
        lambda: pellucid.BaggingRegressor(pellucid.Ridge()).fit(table, y),
        lambda: pellucid.VarianceThreshold().fit(table),
        lambda: check_array(table, accept_sparse=True),
    ):
        with pytest.raises(ValueError, match=f"X is a sparse table .*{words}"):
            ask()


def test_what_is_left_alone():
    whole = sp.csr_array(X)
    twice = sp.csr_array(  # a place may have two numbers, in any order
        (np.ones(3), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 4)
    )
    assert pellucid.MaxAbsScaler().fit(twice).max_abs_.tolist() == [1.0, 0.0, 2.0, 0.0]
    assert twice.nnz == 3
    for table in (whole, whole.tolil(), whole.todok(), whole.tocsc(), twice, sp.csr_array((3, 4))):
        assert check_array(table, accept_sparse="csr").shape == table.shape
    longer = sp.csr_array(X)  # room behind the last number is no fault
    longer.indices, longer.data = np.append(longer.indices, 99), np.append(longer.data, 0.0)
    assert check_array(longer, accept_sparse="csr").shape == X.shape


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[1.0, 2.0], [3.0]], "rows of one length, got 2 cells in row 0 and 1 in row 1"),
        ([[1.0], [[2.0]]], "a number in each cell, got a list"),
        ([[10**400], [1]], "a whole number beyond 1.8e308"),
        (np.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)]), "with the fields a, b"),
    ],
)
def test_what_is_no_table_is_said_in_one_sentence(table, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pellucid.KMeans(1).fit(table)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint8, np.uint64, ">i4"])
def test_labels_at_both_ends_of_their_type(dtype):
    """Labels -128 and 127 in one byte each were a bincount of negative numbers."""
    info = np.iinfo(dtype)
    for labels in ([info.min, info.max], [info.max - 1, info.max], [info.min, info.min + 200]):
        given = np.array(labels * 3, dtype=dtype)
        classes, codes = encode_labels(given)
        assert classes.tolist() == labels
        assert classes.dtype == given.dtype
        assert codes.tolist() == [0, 1] * 3


MISSING = [None, np.nan, float("nan"), np.float32("nan"), np.datetime64("NaT")]


@pytest.mark.parametrize("mark", MISSING)
def test_a_missing_label_is_named_by_its_row(mark):
    for kind in ("abc", [0, 1, 2]):
        labels = np.array([kind[i] for i in y], dtype=object)
        labels[7] = mark
        for model in (pellucid.GaussianNB(), pellucid.KNeighborsClassifier()):
            with pytest.raises(ValueError, match="Input y contains NaN or None in row 7"):
                model.fit(X, labels)


@pytest.mark.parametrize("target", [[1.0, None] * 15, np.array([1.0, None] * 15, dtype=object)])
@pytest.mark.parametrize("name", ["HistGradientBoostingRegressor", "KernelRidge", "Ridge"])
def test_none_among_numbers_is_no_number(name, target):
    """It became NaN behind the check."""
    with pytest.raises(ValueError, match="Input y contains NaN or None in row 1"):
        getattr(pellucid, name)().fit(X, target)


def test_labels_of_two_kinds_are_refused_in_words():
    labels = np.array(["a", 1, 2] * 10, dtype=object)
    for model in (pellucid.GaussianNB(), pellucid.DecisionTreeClassifier()):
        with pytest.raises(ValueError, match=r"of one kind .* got int and str in column 0"):
            model.fit(X, labels)
    pairs = np.column_stack([y, labels])
    with pytest.raises(ValueError, match="got int and str in column 1"):
        pellucid.KNeighborsClassifier().fit(X, pairs)


@pytest.mark.parametrize("size", [1e-200, 1e200, 1.7e308])
def test_weights_beyond_what_can_be_squared_are_refused(size):
    with pytest.raises(ValueError, match="the largest sample weight must lie between"):
        pellucid.ExtraTreesRegressor().fit(X, y, sample_weight=np.full(30, size))
    light = np.where(np.arange(30) < 3, 1e-200, 1.0)  # some rows may count for nearly nothing
    assert np.isfinite(pellucid.Ridge().fit(X, y, sample_weight=light).coef_).all()


def test_targets_whose_sum_overflows_are_refused():
    ends = np.where(y > 0, 1.7e308, -1.7e308)
    with pytest.raises(ValueError, match="y is too large in row 0: the sum over the rows"):
        pellucid.HistGradientBoostingRegressor().fit(X, ends)


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent"])
def test_two_numbers_at_one_place_are_their_sum(strategy):
    """More numbers than rows in a column were a negative count of zeros."""
    table = np.where(np.arange(120).reshape(30, 4) % 7 == 0, 0.0, X)
    n, p = table.shape
    halves = np.repeat(table / 2, 2, axis=0).ravel()
    places = np.tile(np.arange(p), 2 * n)
    twice = sp.csr_array((halves, places, np.arange(0, 2 * n * p + 1, 2 * p)), shape=(n, p))
    one = pellucid.SimpleImputer(missing_values=np.nan, strategy=strategy).fit(twice)
    other = pellucid.SimpleImputer(missing_values=np.nan, strategy=strategy).fit(table)
    np.testing.assert_allclose(one.statistics_, other.statistics_, atol=1e-12)


def test_an_arrow_table_that_polars_cannot_read_is_one_sentence():
    """Its panic is no Exception, and went through every ``except``."""
    pa = pytest.importorskip("pyarrow")
    wide = pa.array([Decimal(i) * 10**30 for i in range(30)], pa.decimal256(60, 2))
    table = pa.table({"a": wide, "b": X[:, 0]})
    for model in (
        pellucid.BaggingRegressor(pellucid.Ridge()),
        pellucid.TunedEstimator(pellucid.Ridge(), {"alpha": [1.0]}),
        pellucid.ConformalRegressor(pellucid.Ridge()),
        pellucid.OneHotEncoder(),
    ):
        try:
            model.fit(table, y)
        except ValueError as error:
            assert "Polars cannot read" in str(error)  # noqa: PT017  it may read them itself
