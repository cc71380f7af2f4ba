"""Tables, targets and weights that people do hand over, and what an estimator answers to them.

Every answer is finite, or comes with a warning, or is a ValueError or TypeError with one sentence.
"""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp
from estimators import OUTPUTS, data, dense, is_clusterer, make, public_classes, reads_labels, takes
from scales import sentence, sound
from sklearn.base import clone

from pellucid.core.arrays.answers import missing_rows

CLASSES = public_classes()
INSIDE = (  # words of the libraries below, which tell a user nothing
    "could not broadcast",
    "could not be broadcast",
    "out of bounds",
    "zero-size array",
    "matmul",
    "cannot reshape",
    "need at least one array",
    "unsupported operand",
    "not subscriptable",
    "ufunc",
    "not supported between",
    "math domain",
    "unexpected keyword",
    "umba",
    "Cannot cast",
    "setting an array element",
    "truth value",
    "NA is ambiguous",
    "not iterable",
    "unhashable",
    "negative dimensions",
    "too many values",
    "not enough values",
    "singular matrix",
)


def like(X):
    """An empty frame's columns for X."""
    return [f"c{j}" for j in range(X.shape[1])]


def set_to(X, value, columns=slice(None)):
    Z = X.copy()
    Z[:, columns] = value
    return Z


def objects(X, one):
    """The cells as objects, made one by one."""
    Z = np.empty(X.shape, dtype=object)
    for place in np.ndindex(*X.shape):
        Z[place] = one(X[place])
    return Z


def locked(X):
    Z = X.copy()
    Z.flags.writeable = False
    return Z


def gappy(X):
    return np.where(X > 3, np.nan, X)


def csr(X):
    """Sparse rows, small numbers left out."""
    return sp.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X))


def forged(X, part, place, value):
    S = csr(X)
    getattr(S, part)[place] = value
    return S


def forged_coo(X):
    S = csr(X).tocoo()
    S.col[0] = 10**8
    return S


def unsorted(X):
    S = sp.csr_matrix(np.ones_like(X))
    S.data[:] = X.ravel()
    for a, b in zip(S.indptr, S.indptr[1:], strict=False):
        S.indices[a:b], S.data[a:b] = S.indices[a:b][::-1].copy(), S.data[a:b][::-1].copy()
    S.has_sorted_indices = False
    return S


def twice(X):
    """Every number in two halves at the same place."""
    n, p = X.shape
    halves = np.repeat(X / 2, 2, axis=0).ravel()
    return sp.csr_matrix((halves, np.tile(np.arange(p), 2 * n), np.arange(0, 2 * n * p + 1, 2 * p)))


def wide_indices(X):
    S = csr(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def pandas(X, **keywords):
    return pd.DataFrame(X, columns=keywords.pop("columns", like(X)), **keywords)


def polars(X):
    return pl.DataFrame(X, schema=like(X))


def small(X):
    return np.abs(np.round(X)).astype(np.int64)


WORDS = ("short", "tall")
TABLES = {
    "no rows": lambda X: X[:0],
    "one row": lambda X: X[:1],
    "two rows": lambda X: X[:2],
    "three rows": lambda X: X[:3],
    "no columns": lambda X: X[:, :0],
    "the same row": lambda X: np.repeat(X[:1], len(X), axis=0),
    "two rows often": lambda X: X[np.arange(len(X)) % 2],
    "a constant column": lambda X: set_to(X, 1.0, slice(0, 1)),
    "a huge constant column": lambda X: set_to(X, 1e200, slice(0, 1)),
    "zeros": np.zeros_like,
    "ones": np.ones_like,
    "equal columns": lambda X: np.repeat(X[:, :1], X.shape[1], axis=1),
    "two values": lambda X: (np.median(X) < X).astype(float),
    "an outlier": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 0, 1e12, X),
    "far from 0": lambda X: X + 1e15,
    "more columns than rows": lambda X: np.tile(X[:6], (1, 10)),
    "objects": lambda X: X.astype(object),
    "objects with None": lambda X: objects(X, lambda v: None if v > 3 else float(v)),
    "objects with pd.NA": lambda X: objects(X, lambda v: pd.NA if v > 3 else float(v)),
    "objects with words": lambda X: objects(X, lambda v: "tall" if v > 1 else float(v)),
    "objects with huge numbers": lambda X: objects(X, lambda v: 10**400 if v > 3 else 1),
    "objects with lists": lambda X: objects(X, lambda v: [v]),
    "objects with dicts": lambda X: objects(X, lambda v: {"a": v}),
    "decimals": lambda X: objects(X, lambda v: Decimal(round(float(v), 2))),
    "masked": lambda X: np.ma.masked_array(X, mask=X > 3),
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1, ::-1],
    "by columns": np.asfortranarray,
    "read-only": locked,
    "big-endian": lambda X: X.astype(">f8"),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble) * np.longdouble("1e400"),
    "truth values": lambda X: X > 1,
    "int8": lambda X: np.where(X > 1, 127, -128).astype(np.int8),
    "uint64": lambda X: np.uint64(2**64 - 1) - small(10 * X).astype(np.uint64),
    "int64": lambda X: np.where(X > 1, 2**63 - 1, -(2**63)),
    "complex": lambda X: X.astype(complex),
    "dates": lambda X: small(X).astype("datetime64[D]"),
    "words": lambda X: np.asarray(WORDS)[(X > 1).astype(int)],
    "numbers as text": lambda X: X.round(2).astype(str),
    "bytes": lambda X: X.round(2).astype("S8"),
    "a structured array": lambda X: np.array(
        [tuple(row) for row in X], dtype=[(name, float) for name in like(X)]
    ),
    "NaN": lambda X: np.full_like(X, np.nan),
    "a column of NaN": lambda X: set_to(X, np.nan, slice(0, 1)),
    "gaps": gappy,
    "infinity": lambda X: np.where(X > 3, np.inf, X),
    "a list": lambda X: X.tolist(),
    "rows of several lengths": lambda X: [*X.tolist()[:-1], [1.0] * (X.shape[1] + 1)],
    "one dimension": lambda X: X[:, 0],
    "three dimensions": lambda X: X[:, :, None],
    "a number": lambda X: 1.0,
    "text": lambda X: "a text",
    "a dict": lambda X: dict(zip(like(X), X.T, strict=True)),
    "an iterator": lambda X: iter(X.tolist()),
    "csr": csr,
    "csr_array": lambda X: sp.csr_array(csr(X)),
    "csc": lambda X: csr(X).tocsc(),
    "coo_array": lambda X: sp.coo_array(csr(X)),
    "lil": lambda X: csr(X).tolil(),
    "dok": lambda X: csr(X).todok(),
    "dia": lambda X: csr(X).todia(),
    "bsr": lambda X: csr(X).tobsr(),
    "csr unsorted": unsorted,
    "csr with duplicates": twice,
    "csr with int64 indices": wide_indices,
    "csr without numbers": lambda X: sp.csr_matrix(X.shape),
    "csr of truth values": lambda X: sp.csr_matrix(X > 1),
    "csr of complex": lambda X: csr(X).astype(complex),
    "csr with NaN": lambda X: sp.csr_matrix(gappy(X)),
    "csr with a far index": lambda X: forged(X, "indices", 0, 10**8),
    "csr with a negative index": lambda X: forged(X, "indices", 0, -5),
    "csr with a far pointer": lambda X: forged(X, "indptr", 2, 10**6),
    "coo with a far index": forged_coo,
    "pandas, names twice": lambda X: pandas(X, columns=["a"] * X.shape[1]),
    "pandas, names of numbers": pd.DataFrame,
    "pandas, names of any kind": lambda X: pandas(X, columns=["a", 1, 2.5, 3][: X.shape[1]]),
    "pandas, names of two parts": lambda X: pandas(X, columns=[("a", name) for name in like(X)]),
    "pandas, categories": lambda X: pandas(small(X)).astype("category"),
    "pandas, categories of words": lambda X: pandas(TABLES["words"](X)).astype("category"),
    "pandas, Arrow types": lambda X: pandas(gappy(X)).astype("float64[pyarrow]"),
    "pandas, Arrow decimals": lambda X: pandas(X.round(2)).astype(
        pd.ArrowDtype(pa.decimal128(12, 2))
    ),
    "pandas, whole numbers with gaps": lambda X: pandas(gappy(np.round(X))).astype("Int64"),
    "pandas, truth values": lambda X: pandas(X > 1).astype("boolean"),
    "pandas, dates": lambda X: pandas(small(X).astype("datetime64[s]")),
    "pandas, periods": lambda X: pd.DataFrame(
        dict.fromkeys(like(X), pd.period_range("2020", periods=len(X), freq="M"))
    ),
    "pandas, words and numbers": lambda X: pandas(TABLES["objects with words"](X)),
    "pandas, text": lambda X: pandas(TABLES["words"](X)).astype("string"),
    "pandas, one index for all": lambda X: pandas(X, index=[7] * len(X)),
    "pandas, sparse": lambda X: pandas(csr(X).toarray()).astype(pd.SparseDtype(float, 0.0)),
    "pandas, no rows": lambda X: pandas(X)[:0],
    "polars, gaps": lambda X: polars(gappy(X)).fill_nan(None),
    "polars, nothing": lambda X: polars(X).with_columns(c0=pl.lit(None)),
    "polars, decimals": lambda X: polars(X).cast(pl.Decimal(12, 2)),
    "polars, lists": lambda X: polars(X).with_columns(c0=pl.concat_list("c0", "c0")),
    "polars, arrays": lambda X: polars(X).with_columns(
        c0=pl.concat_list("c0", "c0").list.to_array(2)
    ),
    "polars, structs": lambda X: polars(X).with_columns(c0=pl.struct("c0")),
    "polars, dates": lambda X: polars(small(X)).cast(pl.Date),
    "polars, categories": lambda X: polars(small(X)).cast(pl.String).cast(pl.Categorical),
    "polars, bytes": lambda X: polars(X).with_columns(c0=pl.lit(b"ab")),
    "polars, objects": lambda X: polars(X).with_columns(
        pl.Series("c0", [object()] * len(X), dtype=pl.Object)
    ),
    "polars, 128 bits": lambda X: polars(np.round(X)).cast(pl.Int128) * 2**100,
    "polars, lazy": lambda X: polars(X).lazy(),
    "arrow": lambda X: polars(X).to_arrow(),
    "arrow, nothing": lambda X: pa.table({name: pa.nulls(len(X)) for name in like(X)}),
    "arrow, wide decimals": lambda X: pa.table(
        {
            name: pa.array([Decimal(int(v)) * 10**30 for v in column], pa.decimal256(60, 2))
            for name, column in zip(like(X), X.T, strict=True)
        }
    ),
}


def codes(y):
    """Three classes, or the order of the numbers modulo 3."""
    return np.unique(y, return_inverse=True)[1].reshape(y.shape) % 3


def gap_at_3(y, mark, kind="abc"):
    """Labels as objects, one of them a mark of a missing one."""
    found = objects(codes(y), lambda c: kind[int(c)])
    found[3] = mark
    return found


def one_of_the_first(y):
    """The first class has a single row: a mask of the rows that are kept."""
    first = codes(y).reshape(len(y), -1)[:, 0] == 0
    return ~first | (np.arange(len(y)) == first.argmax())


TARGETS = {
    "one value": lambda y: np.full_like(y, y.flat[0]),
    "huge numbers": lambda y: codes(y) + 2**62,
    "the ends of int64": lambda y: np.where(codes(y) > 0, 2**63 - 1, -(2**63)),
    "the ends of int8": lambda y: np.where(codes(y) > 0, 127, -128).astype(np.int8),
    "the end of uint64": lambda y: np.uint64(2**64 - 1) - codes(y).astype(np.uint64),
    "None in words": lambda y: gap_at_3(y, None),
    "NaN in words": lambda y: gap_at_3(y, np.nan),
    "pd.NA in words": lambda y: gap_at_3(y, pd.NA),
    "None in numbers": lambda y: gap_at_3(y, None, [0, 1, 2]),
    "only None": lambda y: objects(codes(y), lambda c: None),
    "words and numbers": lambda y: objects(codes(y), lambda c: ("a", 1, 2)[int(c)]),
    "tuples": lambda y: objects(codes(y), lambda c: (int(c), "a")),
    "lists": lambda y: objects(codes(y), lambda c: [int(c)]),
    "bytes": lambda y: objects(codes(y), lambda c: bytes([97 + int(c)])),
    "numbers of 30 digits": lambda y: objects(codes(y), lambda c: 10**30 + int(c)),
    "numbers of 400 digits": lambda y: objects(codes(y), lambda c: 10**400 + int(c)),
    "decimals": lambda y: objects(codes(y), lambda c: Decimal(int(c))),
    "truth values": lambda y: codes(y) > 0,
    "halves": lambda y: codes(y) + 0.5,
    "whole floats": lambda y: codes(y).astype(float),
    "NaN": lambda y: np.where(codes(y) == 1, np.nan, codes(y)),
    "infinity": lambda y: np.where(codes(y) == 1, np.inf, codes(y)),
    "complex": lambda y: codes(y).astype(complex),
    "dates": lambda y: codes(y).astype("datetime64[D]"),
    "big-endian": lambda y: codes(y).astype(">i4"),
    "float16": lambda y: codes(y).astype(np.float16),
    "read-only": locked,
    "masked": lambda y: np.ma.masked_array(codes(y), mask=codes(y) == 1),
    "a list": lambda y: y.tolist(),
    "a column": lambda y: y.reshape(len(y), -1),
    "two columns": lambda y: np.column_stack([y, y]),
    "no columns": lambda y: np.empty((len(y), 0)),
    "three dimensions": lambda y: y.reshape(len(y), 1, -1),
    "a sparse column": lambda y: sp.csr_matrix(codes(y).reshape(len(y), -1)),
    "categories, one unused": lambda y: pd.Series(
        pd.Categorical.from_codes(codes(y).reshape(len(y), -1)[:, 0], list("abcd"))
    ),
    "whole numbers with a gap": lambda y: pd.Series(
        gap_at_3(y.reshape(len(y), -1)[:, 0], pd.NA, [0, 1, 2]), dtype="Int64"
    ),
    "polars with a gap": lambda y: pl.Series(
        gap_at_3(y.reshape(len(y), -1)[:, 0], None, [0, 1, 2]).tolist()
    ),
    "one row too few": lambda y: y[:-1],
    "no rows": lambda y: y[:0],
    "a number": lambda y: 3,
    "text": lambda y: "abc",
    "nothing": lambda y: None,
    "every row its own": lambda y: np.arange(y.size).reshape(y.shape),
    "the largest numbers": lambda y: np.where(codes(y) > 0, 1.79e308, -1.79e308),
}
WEIGHTS = {
    "zero": lambda n: np.zeros(n),
    "one row": lambda n: np.eye(1, n)[0],
    "two rows": lambda n: np.eye(2, n).sum(axis=0),
    "tiny": lambda n: np.full(n, 1e-300),
    "the smallest": lambda n: np.full(n, 5e-324),
    "huge": lambda n: np.full(n, 1e300),
    "the largest": lambda n: np.full(n, 1.7e308),
    "of all sizes": lambda n: np.logspace(-300, 300, n),
    "one huge": lambda n: np.where(np.arange(n) == 0, 1e300, 1.0),
    "negative": lambda n: np.full(n, -1.0),
    "one negative": lambda n: np.where(np.arange(n) == 0, -1.0, 1.0),
    "NaN": lambda n: np.where(np.arange(n) == 0, np.nan, 1.0),
    "infinity": lambda n: np.where(np.arange(n) == 0, np.inf, 1.0),
    "one too few": lambda n: np.ones(n - 1),
    "two columns": lambda n: np.ones((n, 2)),
    "words": lambda n: ["a"] * n,
    "None": lambda n: [None] + [1.0] * (n - 1),
    "a number": lambda n: 2.0,
    "complex": lambda n: np.ones(n, complex),
    "truth values": lambda n: np.arange(n) % 2 == 0,
    "huge whole numbers": lambda n: np.full(n, 2**62),
}
NEW_ROWS = (
    "no rows",
    "one row",
    "objects with None",
    "float16",
    "uint64",
    "numbers as text",
    "big-endian",
    "csc",
    "csr with a far index",
    "one dimension",
    "a list",
    "gaps",
    "masked",
    "more columns than rows",
    "text",
    "an iterator",
)
KINDS = {"X": TABLES, "y": TARGETS, "weights": WEIGHTS, "new rows": NEW_ROWS}
CASES = [(kind, oddity) for kind, oddities in KINDS.items() for oddity in oddities]


def odd_data(cls, kind, oddity, n=40):
    """(X, y, new rows, keywords of fit), one of them odd; None where that makes no sense."""
    X, y = data(cls, n)
    plain = isinstance(X, np.ndarray) and X.ndim == 2
    if kind == "weights":
        return (
            (X, y, X, {"sample_weight": WEIGHTS[oddity](n)})
            if takes(cls, "sample_weight")
            else None
        )
    if reads_labels(cls):  # what it encodes is its table
        X, y = None, np.asarray(X)
        return (TARGETS[oddity](y), None, y, {}) if kind == "y" else None
    if kind == "y":
        return None if y is None else (X, TARGETS[oddity](np.asarray(y)), X, {})
    if not plain or (oddity == "pandas, names of any kind" and X.shape[1] > 4):
        return None
    odd = TABLES[oddity](X)
    return (X, y, odd, {}) if kind == "new rows" else (odd, _as_long(y, odd), odd, {})


def _as_long(y, X):
    """The targets of the first rows, where X has fewer."""
    short = isinstance(X, np.ndarray) and X.ndim == 2 and y is not None and len(X) < len(y)
    return y[: len(X)] if short else y


def odd_fault(name, kind, oddity):
    """What is wrong with the answers of one estimator to one oddity, or None."""
    cls = CLASSES[name]
    given = odd_data(cls, kind, oddity)
    if given is None:
        return None
    X, y, new, keywords = given
    model = make(cls)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model.fit(X) if reads_labels(cls) else model.fit(X, y, **keywords)
            found = {m: getattr(model, m)(new) for m in OUTPUTS if hasattr(model, m)}
            if not found and is_clusterer(model):
                new = X  # it reads no others, which may be corrupt
                found["fit_predict"] = clone(model).fit_predict(X)
            f"{model.card()} {model.summary()}"
        except (ValueError, TypeError, NotImplementedError) as error:
            told_well = sentence(str(error)) and not any(word in str(error) for word in INSIDE)
            return None if told_well else f"no sentence: {error!r}"
    for values in found.values():
        if sp.issparse(values) and hasattr(values, "check_format"):
            values.check_format(full_check=True)
    missing = missing_rows(new)
    if getattr(model, "_answers_nonfinite", False) or told or missing is None:
        return None
    bad = [m for m, values in found.items() if not sound(m, present(dense(values), missing))]
    return f"{', '.join(bad)} not finite, and no warning" if bad else None


def present(values, missing):
    """The answers to the rows that miss nothing: NaN may stand for a missing cell of the table."""
    if not missing.any():
        return values
    return values[~missing] if values.shape[:1] == missing.shape else values[:0]


def odd_faults(name):
    """All faults of an estimator: (kind, oddity) -> what is wrong."""
    found = {case: odd_fault(name, *case) for case in CASES}
    return {case: fault for case, fault in found.items() if fault is not None}
