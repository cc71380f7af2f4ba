"""Leaks are found on their own evidence, and nothing else is."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import rankdata, spearmanr
from sklearn.metrics import roc_auc_score

from pellucid.study import Plan, audit, audit_table, detect_task
from pellucid.study.checks.leaks import (
    average_ranks,
    coded_auc,
    exact_sum,
    plain_auc,
    single_columns,
    smallest_sum,
    telling_columns,
    weighted_auc,
)
from pellucid.study.checks.target import read_targets
from pellucid.study.reading.profiles import read_columns

rng = np.random.default_rng(0)
N = 400


def leaks(table, target="y"):
    columns = read_columns(pl.DataFrame(table))
    task = detect_task(columns[target].cells)
    (found,) = read_targets(columns[target], task, None)
    inputs = [column for name, column in columns.items() if name != target]
    return set(single_columns(inputs, found))


def test_auc_against_scikit_learn():
    y = rng.random(N) < 0.3
    x = np.round(rng.normal(size=N) + y, 1)
    auc = roc_auc_score(y, x)
    assert plain_auc(x, y) == pytest.approx(auc)
    assert plain_auc(-x, y) == pytest.approx(auc)
    value, cell = np.unique(x, return_inverse=True)
    p, q = np.bincount(cell, y), np.bincount(cell, ~y)
    assert weighted_auc(value, p, q) == pytest.approx(auc)
    np.testing.assert_allclose(average_ranks(x), rankdata(x))


def test_coded_auc_against_coding_row_by_row():
    """Oracle: code each row by the class shares of its level in the other folds, then rank."""
    y = rng.integers(0, 3, N)
    cell, fold = rng.integers(0, 7, N), rng.integers(0, 5, N)
    total = 0.0
    for k in range(3):
        score = np.empty(N)
        for i in range(N):
            other = (fold != fold[i]) & (cell == cell[i])
            score[i] = (np.sum(y[other] == k) + np.mean(y == k)) / (other.sum() + 1)
        total += roc_auc_score(y == k, score)
    assert coded_auc(cell, fold, y) == pytest.approx(total / 3)


def test_levels_that_only_repeat_by_chance_do_not_leak():
    """In-sample coding of 200 levels would look perfect; out of fold it is chance."""
    y = rng.choice(["a", "b"], N)
    assert leaks({"level": [f"l{i % 200}" for i in range(N)], "y": y}) == set()


@pytest.mark.parametrize("classes", [2, 3, 6])
def test_class_leaks_of_every_shape(classes):
    y = rng.integers(0, classes, N)
    noise = rng.normal(size=N)
    table = {
        "y": [f"c{v}" for v in y],
        "coded": (y * 5 + 3) % 7,  # no order
        "named": [f"level {v * 3 % 7}" for v in y],
        "shifted": y + 0.01 * noise,
        "noise": noise,
        "helpful": y + noise,
    }
    assert leaks(table) == {"coded", "named", "shifted"}


def test_missing_cells_can_leak():
    """A date of discharge that is filled only for those who went home."""
    y = rng.integers(0, 2, N)
    value = rng.normal(size=N)
    table = {"y": [f"c{v}" for v in y], "filled": np.where(y == 1, value, np.nan)}
    assert leaks(table) == {"filled"}


def test_number_leaks():
    y = rng.normal(size=N)
    table = {
        "y": y,
        "rank": np.exp(y),
        "turned": -(y**3),
        "near": y + 0.2 * rng.normal(size=N),
        "noise": rng.normal(size=N),
    }
    assert abs(spearmanr(y, table["near"])[0]) < 0.999
    assert leaks(table) == {"rank", "turned"}


def test_levels_that_fix_a_number():
    level = rng.integers(0, 30, N)
    table = {"y": level * 1.5 + 0.25, "shop": [f"s{v}" for v in level]}
    assert leaks(table) == {"shop"}


def test_few_rows_do_not_leak_by_luck():
    """Three positives of 60 rows among 2,000 useless columns."""
    table = {f"x{j}": rng.normal(size=60) for j in range(300)}
    assert leaks(table | {"y": ["a"] * 3 + ["b"] * 57}) == set()


def test_smallest_sum_prefers_few_columns():
    X = rng.normal(size=(100, 6))
    X[:, 5] = X[:, 0] + X[:, 1] + X[:, 2]  # a shorter way to say it
    assert smallest_sum(X, X[:, 0] + X[:, 1] + X[:, 2] + 4 * X[:, 3]) == [3, 5]
    assert smallest_sum(X, X[:, :5] @ [1, 0, -1, 0, 2.5]) == [0, 2, 4]
    assert smallest_sum(X, X[:, 0] + 1e-3 * rng.normal(size=100)) is None


def test_sum_is_written_out_and_scales_do_not_matter():
    n = 200
    table = {"net": rng.normal(1e6, 1e5, n), "tax": rng.normal(0.2, 0.01, n), "w": rng.random(n)}
    table["y"] = table["net"] + 1e6 * table["tax"] - 3
    (found,) = (f for f in audit(table, "y").findings if f.code == "PEL302")
    assert found.where == ("net", "tax")
    assert found.evidence["relation"] == "y = -3 + net + 1e+06 tax"
    assert found.severity == "error"


def test_sum_of_class_indicators():
    """The dummies of the other classes give a class away."""
    y = rng.integers(0, 3, 300)
    table = {"is_a": y == 0, "is_b": y == 1, "x": rng.normal(size=300)}
    table["y"] = [f"c{v}" for v in y]
    found = {f.code: f for f in audit(table, "y").findings}
    assert set(found["PEL302"].where) <= {"is_a", "is_b"}


def test_no_sum_where_columns_reach_the_rows():
    columns = read_columns(pl.DataFrame({f"x{j}": rng.normal(size=20) for j in range(25)}))
    y = pl.Series("y", rng.normal(size=20))
    (target,) = read_targets(read_columns(y.to_frame())["y"], detect_task(y), None)
    assert exact_sum(list(columns.values()), target) is None


def test_labels_of_lists_and_several_targets():
    a, b = rng.random((2, N)) < 0.5
    both = list(zip(a, b, strict=True))
    cells = [";".join(n for n, v in (("a", p), ("b", q), ("c", True)) if v) for p, q in both]
    found = audit({"y": cells, "leak": a * 2.0 + 1, "x": rng.normal(size=N)}, "y").findings
    assert [f.where for f in found if f.code == "PEL301"] == [("leak",)]
    u, v = rng.normal(size=(2, N))
    table = {"u": u, "v": v, "copy": 3 * v, "x": rng.normal(size=N)}
    found = audit(table, ["u", "v"]).findings
    assert [f.where for f in found if f.code == "PEL301"] == [("copy",)]


# --- other ways to know the answer


def telling(table, target="y"):
    columns = read_columns(pl.DataFrame(table))
    task = detect_task(columns[target].cells)
    (found,) = read_targets(columns[target], task, None)
    inputs = [column for name, column in columns.items() if name != target]
    return {name: how for name, (how, _) in telling_columns(inputs, found).items()}


def test_gaps_that_tell_the_class():
    """Filled for one class only, wholly or in part; filled more often for one is no leak."""
    y = rng.choice(["yes", "no"], N, p=[0.4, 0.6])
    day = [f"2024-0{1 + i % 9}-11" for i in range(N)]
    some, often = rng.random(N) < 0.3, rng.random(N) < np.where(y == "yes", 0.9, 0.1)
    keep = lambda seen: [d if s else None for d, s in zip(day, seen, strict=True)]  # noqa: E731
    table = {
        "all": keep(y == "yes"),
        "part": keep((y == "yes") & some),
        "empty": keep((y == "no") | some),
        "often": keep(often),
        "chance": keep(some),
        "few": keep((y == "yes") & (np.arange(N) < 20)),
        "y": y,
    }
    assert telling(table) == dict.fromkeys(("all", "part", "empty"), "missing")


@pytest.mark.parametrize("k", [2, 3, 12, 40])
def test_steps_of_a_number(k):
    """Bins of any width, by number or by name, without order; overlapping ones are no copy."""
    y = rng.gamma(2.0, 1.0, size=N)
    step = np.digitize(y, np.quantile(y, np.arange(1, k) / k))
    mixed = rng.permutation(k)[step]
    near = np.digitize(y + 0.3 * rng.normal(size=N), np.quantile(y, np.arange(1, k) / k))
    table = {"step": step, "mixed": mixed, "named": [f"b{m}x" for m in mixed], "near": near, "y": y}
    assert telling(table) == dict.fromkeys(("step", "mixed", "named"), "bins")


def test_clusters_are_no_steps():
    """A species that has its own sizes is not cut from them: there is a gap between."""
    kind = rng.integers(0, 3, N)
    table = {"kind": [f"k{v}" for v in kind], "y": 5.0 * kind + rng.uniform(-1, 1, N)}
    assert telling(table) == {}


def test_texts_that_tell():
    y = rng.choice(["gold", "silver", "tin"], N)
    filler = [f"case {i} of the day was seen by us" for i in range(N)]
    tell = {"gold": "shone", "silver": "gleamed", "tin": "rusted"}
    seldom = rng.random(N) < 0.3
    join = lambda words: [f"{a} {b}" for a, b in zip(filler, words, strict=True)]  # noqa: E731
    table = {
        "words": join([tell[v] for v in y]),
        "label": join(np.where(seldom, y, "")),
        "wrong": join(rng.permutation(y)),
        "hint": join(np.where(rng.random(N) < 0.8, [tell[v] for v in y], "faded")),
        "y": y,
    }
    assert telling(table) == {"words": "text", "label": "text"}


def test_texts_that_hold_the_number():
    y = np.round(rng.gamma(2, 900, N), 2)
    other = rng.permutation(y)
    table = {
        "note": [f"flat {i} was sold for {v:,.2f} in the end" for i, v in enumerate(y)],
        "noise": [f"flat {i} was sold for {v:,.2f} in the end" for i, v in enumerate(other)],
        "y": y,
    }
    assert telling(table) == {"note": "text"}


def test_a_telling_column_is_left_out():
    """PEL301 says how, and the column is not learned from; keep overrules."""
    y = rng.normal(size=N)
    frame = pl.DataFrame({"x": rng.normal(size=N), "band": np.floor(3 * y), "y": y})
    task = detect_task(frame["y"])
    found, left = audit_table(frame, task, Plan())
    (one,) = (f for f in found.findings if f.code == "PEL301")
    assert (one.where, one.evidence["how"], one.severity) == (("band",), "bins", "warning")
    assert dict(left) == {"band": "gives the target away (PEL301)"}
    found, left = audit_table(frame, task, Plan(keep=("band",)))
    assert [f.severity for f in found.findings if f.code == "PEL301"] == ["error"]
    assert left == ()
