"""Every rule of the audit fires where its fault is planted, and nowhere in a clean table."""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn import datasets

from pellucid.data import load_table
from pellucid.study import FINDINGS, Plan, audit, audit_table, detect_task, make_split
from pellucid.study.checks.leaks import selection_finding

N = 300


def clean(n=N, seed=0):
    """Six honest columns, two classes and a number to predict."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, n))
    return {
        "a": a.round(3),
        "b": b.round(3) * 7 + 20,
        "c": c.round(3),
        "age": rng.integers(18, 80, n),
        "city": rng.choice(["Rome", "Oslo", "Bern"], n),
        "y": np.where(a + rng.normal(size=n) > 0, "yes", "no"),
        "z": a + b + rng.normal(size=n),
    }


def codes(table, target="y", **options):
    return [f.code for f in audit(pl.DataFrame(table), target, **options).findings]


def planted(name):
    """A clean table with one fault, its target, and the columns to be named."""
    rng = np.random.default_rng(1)
    t = clean()
    y = t["y"]
    some = rng.random(N) < 0.2
    z = t.pop("z")
    if name == "PEL101":
        return t | {"a": np.where(some, np.nan, t["a"])}, "y", {"a"}
    if name == "PEL102":
        return t | {"k": np.ones(N), "e": [None] * N}, "y", {"k", "e"}
    if name == "PEL103":
        return t | {"k": np.arange(N) == 5}, "y", {"k"}
    if name == "PEL104":
        return pl.concat([pl.DataFrame(t), pl.DataFrame(t).head(20)]), "y", set()
    if name == "PEL105":
        return t | {"code": [f"Q{i:05}" for i in rng.permutation(N)]}, "y", {"code"}
    if name == "PEL106":
        return t | {"shop": [f"s{i % 60}" for i in range(N)]}, "y", {"shop"}
    if name == "PEL107":
        return t | {"d": 2 * t["a"] - t["c"] + 1}, "y", {"a", "c", "d"}
    if name == "PEL108":
        return t | {"d": t["a"] + 0.05 * rng.normal(size=N)}, "y", {"a", "d"}
    if name == "PEL109":
        return t | {"d": 1e5 * rng.normal(size=N)}, "y", {"c", "d"}
    if name == "PEL110":
        wide = {f"w{j}": rng.normal(size=25) for j in range(25)}
        return wide | {"y": ["u", "v"] * 12 + ["u"]}, "y", set()
    if name == "PEL111":
        wide = {f"w{j}": rng.normal(size=25) for j in range(5)}
        return wide | {"y": ["u", "v"] * 12 + ["u"]}, "y", set()
    if name == "PEL112":
        return t | {"a": np.where(np.arange(N) == 7, 99.5, t["a"])}, "y", {"a"}
    if name == "PEL113":
        mixed = [str(v) if i % 40 else "n.a." for i, v in enumerate(t["a"])]
        return t | {"a": mixed}, "y", {"a"}
    if name == "PEL116":
        return t | {"a": [f"${1000 * v:,.2f}" for v in t["a"]]}, "y", {"a"}
    if name == "PEL117":
        town = [(v, v.upper(), f"{v} ")[i % 3] for i, v in enumerate(t["city"])]
        return t | {"city": town}, "y", {"city"}
    if name == "PEL114":
        days = pl.date_range(pl.date(2020, 1, 1), pl.date(2022, 1, 1), eager=True)
        return t | {"day": days.sample(N, seed=0)}, "y", {"day"}
    if name == "PEL115":
        return t | {f"w{j}": rng.normal(size=N) for j in range(4)}, "y", set()
    if name == "PEL201":
        return t | {"y": [None if s else v for s, v in zip(some, y, strict=True)]}, "y", {"y"}
    if name == "PEL202":
        return t | {"y": np.where(rng.random(N) < 0.1, "yes", "no")}, "y", {"y"}
    if name == "PEL203":
        return t | {"y": np.where(np.arange(N) < 3, "rare", y)}, "y", {"y"}
    if name == "PEL204":
        return t | {"y": ["yes"] * N}, "y", {"y"}
    if name == "PEL205":
        return t | {"y": [f"row{i}" for i in range(N)]}, "y", {"y"}
    if name == "PEL206":
        return t | {"y": np.exp(1.5 * z)}, "y", {"y"}
    if name == "PEL207":
        return t | {"y": rng.integers(1, 6, N)}, "y", {"y"}
    if name == "PEL208":
        coarse = {"u": rng.integers(0, 3, N), "city": t["city"], "y": y}
        return coarse, "y", {"y"}
    if name == "PEL301":
        leak = np.where(y == "yes", 3.0, 1.0) + 0.3 * rng.normal(size=N)
        return t | {"leak": leak}, "y", {"leak"}
    if name == "PEL302":
        return t | {"y": t["a"] + 2 * t["c"] - 0.5 * t["age"]}, "y", {"a", "c", "age"}
    raise AssertionError(name)


RULES = [code for code in FINDINGS if code[3] in "12" or code in ("PEL301", "PEL302")]


@pytest.mark.parametrize("code", RULES)
def test_planted(code):
    table, target, where = planted(code)
    found = [f for f in audit(table, target).findings if f.code == code]
    assert found, f"{code} does not fire"
    assert {name for f in found for name in f.where} == where
    assert found[0].evidence
    json.dumps(audit(table, target).to_dict())


@pytest.mark.parametrize("code", RULES)
def test_silent_on_a_clean_table(code):
    for seed in range(3):
        table = clean(seed=seed)
        number = {k: v for k, v in table.items() if k != "y"}
        label = {k: v for k, v in table.items() if k != "z"}
        assert code not in codes(label, "y")
        assert code not in codes(number, "z")


@pytest.mark.parametrize("code", RULES)
def test_order_of_rows_and_columns_does_not_matter(code):
    """Findings name the same columns however the table is turned."""
    table, target, _ = planted(code)
    frame = pl.DataFrame(table)
    rng = np.random.default_rng(3)
    turned = frame.select(rng.permutation(frame.columns).tolist())
    turned = turned.sample(fraction=1, shuffle=True, seed=5)

    def seen(f):
        return sorted(
            (x.code, x.severity, tuple(sorted(x.where))) for x in audit(f, target).findings
        )

    assert seen(frame) == seen(turned)


def test_only_planted_faults_fire():
    """A fault brings its own code and at most its natural companions."""
    alone = ("PEL103", "PEL105", "PEL106", "PEL107", "PEL301")
    with_it = {code: {code} for code in alone} | {"PEL113": {"PEL101", "PEL113"}}
    for code, expected in with_it.items():
        table, target, _ = planted(code)
        assert set(codes(table, target)) == expected


# --- rules with more than one case


def test_missing_above_half_is_a_warning():
    table = clean() | {"a": [None] * 200 + [1.5] * 50 + [2.5] * 50}
    (found,) = (f for f in audit(table, "y").findings if f.code == "PEL101")
    assert found.severity == "warning"
    assert found.evidence["share"] == {"a": 2 / 3}


def test_gaps_of_a_column_that_no_model_sees_are_not_told():
    table = clean() | {"a": [None] * 50 + [1.5] * 250}
    filled = [None if label == table["y"][0] else "2024-01-01" for label in table["y"]]
    frame = pl.DataFrame(table | {"paid": filled})
    found = audit_table(frame, detect_task(frame["y"]), Plan())[0].findings
    assert {f.where for f in found if f.code == "PEL301"} == {("paid",)}
    assert {f.where for f in found if f.code == "PEL101"} == {("a",)}


def test_one_value_and_gaps_is_not_constant():
    table = clean() | {"flag": [1 if i % 3 else None for i in range(N)]}
    assert "PEL102" not in codes(table, "y")


def test_identifier_survives_copied_rows():
    """Copies of whole rows repeat the identifier too; it is still one, and so are they copies."""
    table = clean() | {"id": [f"P{i}" for i in range(N)]}
    frame = pl.DataFrame(table).drop("z")
    both = pl.concat([frame, frame.head(60)])
    found = {f.code: f for f in audit(both, "y").findings}
    assert found["PEL105"].where == ("id",)
    assert found["PEL104"].evidence["rows"] == 60
    assert found["PEL104"].severity == "warning"


def test_rows_equal_in_their_names_are_copies_where_values_repeat_by_chance():
    """One rounded column repeats by chance; the 40 rows whose identifier repeats do not."""
    from pellucid.study import Study

    rng = np.random.default_rng(0)
    y = rng.integers(2, size=500)
    frame = pl.DataFrame({"id": np.arange(1000, 1500), "x": (rng.normal(size=500) + y).round(1),
                          "y": np.where(y, "b", "a")})  # fmt: skip
    both = pl.concat([frame, frame.head(40)])
    found = {f.code: f for f in audit(both, "y").findings}
    assert found["PEL104"].evidence["rows"] == 40
    assert found["PEL104"].severity == "warning"
    split = Study(both, "y").split()
    judged = set(split.test)
    assert all((i in judged) == (500 + i in judged) for i in range(40))


def test_equal_rows_of_coarse_values_are_chance():
    rng = np.random.default_rng(0)
    table = {"u": rng.choice(["p", "q"], 200), "v": rng.choice(["r", "s"], 200),
             "y": rng.choice(["a", "b"], 200)}  # fmt: skip
    (found,) = (f for f in audit(table, "y").findings if f.code == "PEL104")
    assert found.severity == "info"
    assert found.evidence["by_chance"]
    assert "kept on one side" not in found.fix


def test_sentinels_are_named_with_their_count():
    table = clean()
    table["age"] = np.where(np.arange(N) % 30 == 0, -999, table["age"])
    (found,) = (f for f in audit(table, "y").findings if f.code == "PEL112")
    assert found.severity == "warning"
    assert found.evidence["sentinels"] == {"age": {"-999": 10}}


def test_a_long_tail_is_not_an_outlier():
    rng = np.random.default_rng(0)
    for tail in (rng.lognormal(0, 1.2, N), rng.exponential(size=N), rng.poisson(0.4, N)):
        assert "PEL112" not in codes(clean() | {"tail": tail}, "y")


def test_rows_in_order_of_a_date_are_said_to_be():
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 10, 26), eager=True)
    (found,) = (f for f in audit(clean() | {"day": days}, "y").findings if f.code == "PEL114")
    assert found.evidence["columns"]["day"]["in_row_order"]
    assert found.evidence["columns"]["day"]["low"] == "2020-01-01"
    told = [day.strftime("%d.%m.%Y") for day in days]  # a date in text has no midnight either
    (found,) = (f for f in audit(clean() | {"day": told}, "y").findings if f.code == "PEL114")
    assert found.evidence["columns"]["day"]["high"] == "2020-10-26"


def test_copied_columns_of_a_wide_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60))
    table = {f"x{j}": X[:, j] for j in range(60)} | {"copy": X[:, 3], "y": [0, 1] * 15}
    found = [f for f in audit(table, "y").findings if f.code == "PEL107"]
    assert [f.where for f in found] == [("x3", "copy")]


def questions_to_polars(frame):
    """How often an audit asks Polars what costs as much as thousands of cells."""
    asked = {"select", "with_columns", "filter", "group_by", "sort", "join", "rank", "gather"}
    asked |= {"unique", "n_unique", "value_counts", "drop_nulls", "is_in", "explode"}
    found = []

    def watch(at, event, _):
        if event == "call" and at.f_code.co_name in asked and "polars" in at.f_code.co_filename:
            found.append(at.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        audit(frame, "y")
    finally:
        sys.setprofile(before)
    return sorted(found)


def test_many_columns_cost_no_question_each():
    """An audit of 100,000 mixed columns did not end."""
    rng = np.random.default_rng(0)
    frames = []
    for n in (200, 600):
        X = rng.normal(size=(n, 40))
        kinds = [lambda x: x, lambda x: (10 * x).astype(int), lambda x: np.where(x > 0, "a", "b")]
        kinds += [lambda x: [None if v < -1 else f"{v:.2f}" for v in x]]
        columns = {f"c{j}": kinds[j % 4](X[j]) for j in range(n)}
        frames.append(pl.DataFrame(columns | {"y": ["u", "v"] * 20}))
    few, many = map(questions_to_polars, frames)
    assert len(few) > 20
    assert few == many


def test_variance_inflation_against_the_regression_it_means():
    """Oracle: VIF_j = 1 / (1 - R^2 of column j on the others)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X = np.column_stack([X, X[:, 0] + 0.1 * rng.normal(size=200)])
    table = {f"x{j}": X[:, j] for j in range(4)} | {"y": ["a", "b"] * 100}
    (found,) = (f for f in audit(table, "y").findings if f.code == "PEL108")
    A = np.column_stack([np.ones(200), X[:, :3]])
    e = X[:, 3] - A @ np.linalg.lstsq(A, X[:, 3], rcond=None)[0]
    vif = ((X[:, 3] - X[:, 3].mean()) ** 2).sum() / (e @ e)
    assert found.evidence["variance_inflation"]["x3"] == pytest.approx(vif)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert found.evidence["condition_number"] == pytest.approx(np.linalg.cond(Z))


def test_floor_of_the_training_error():
    """Oracle by hand: groups (3 a, 1 b) and (2 a, 2 b) cost 1 + 2 of 8 rows."""
    table = {"u": [0] * 4 + [1] * 4, "y": ["a", "a", "a", "b", "a", "a", "b", "b"]}
    (found,) = (f for f in audit(table, "y").findings if f.code == "PEL208")
    assert found.evidence["least_errors"] == 3
    numbers = {"u": [0, 0, 1, 2], "y": [1.0, 3.0, 5.5, 9.0]}
    (found,) = (f for f in audit(numbers, "y").findings if f.code == "PEL208")
    assert found.evidence["least_rmse"] == pytest.approx(np.sqrt(2 / 4))


# --- what to do with the codes


def test_ignore():
    table, target, _ = planted("PEL105")
    assert "PEL105" not in codes(table, target, ignore=["PEL105"])
    assert "PEL105" not in codes(table, target, ignore=[105])
    with pytest.raises(ValueError, match="PEL999"):
        codes(table, target, ignore=["PEL999"])


def test_left_out_unless_kept():
    """105, 301 and 302 leave columns out; keep overrules, and then a leak is an error."""
    table, _, _ = planted("PEL301")
    frame = pl.DataFrame(table).with_columns(code=pl.Series([f"Q{i}" for i in range(N)]))
    task = detect_task(frame["y"])
    record, left = audit_table(frame, task, Plan(drop=("c",)))
    assert dict(left).keys() == {"c", "leak", "code"}
    assert "PEL301" in dict(left)["leak"]
    roles = {c.name: c.role for c in record.columns}
    assert roles["leak"] == "left_out"
    assert roles["y"] == "target"
    assert {f.severity for f in record.findings if f.code == "PEL301"} == {"warning"}
    record, left = audit_table(frame, task, Plan(keep=("leak", "code")))
    assert left == ()
    assert {f.severity for f in record.findings if f.code == "PEL301"} == {"error"}
    _, left = audit_table(frame, task, Plan(), ignore=["PEL301"])
    assert "leak" not in dict(left)


def test_a_bare_audit_leaves_nothing_out_and_calls_leaks_errors():
    table, target, _ = planted("PEL301")
    record = audit(table, target)
    assert {c.role for c in record.columns} == {"input", "target"}
    assert [f.severity for f in record.findings if f.code == "PEL301"] == ["error"]
    assert record.findings[0].severity == "error"


def test_only_training_rows_are_looked_at():
    """A column that knows the answer in the test rows only is not seen to; nor are its classes."""
    table = clean()
    frame = pl.DataFrame(table).drop("z")
    task = detect_task(frame["y"])
    split = make_split(frame, task)
    leak = np.random.default_rng(0).normal(size=N)
    y = frame["y"].to_numpy() == "yes"
    leak[split.test] = y[split.test] * 10.0
    test_only = frame.with_columns(leak=pl.Series(leak))
    codes_ = {f.code for f in audit_table(test_only, task, rows=split.train)[0].findings}
    assert "PEL301" not in codes_
    leak = np.random.default_rng(0).normal(size=N)
    leak[split.train] = y[split.train] * 10.0
    train_only = frame.with_columns(leak=pl.Series(leak))
    codes_ = {f.code for f in audit_table(train_only, task, split=split)[0].findings}
    assert "PEL301" in codes_


def test_copies_and_order_of_a_split():
    """303 tells of copies kept together, 304 of time and groups that a random split ignores."""
    table, target, _ = planted("PEL104")
    task = detect_task(table[target])
    split = make_split(table, task)
    found = {f.code: f for f in audit_table(table, task, split=split)[0].findings}
    assert found["PEL303"].evidence == {"rows": 20, "on_both_sides": 0}
    table, target, _ = planted("PEL114")
    frame = pl.DataFrame(table).with_columns(patient_id=pl.Series([i // 5 for i in range(N)]))
    task = detect_task(frame[target])
    split = make_split(frame, task)
    found = [f for f in audit_table(frame, task, split=split)[0].findings if f.code == "PEL304"]
    assert [f.evidence["looks_like"] for f in found] == ["groups", "time"]
    plan = Plan(groups="patient_id")
    split = make_split(frame, task, plan)
    found = audit_table(frame, task, plan, split=split)[0].findings
    assert "PEL304" not in {f.code for f in found}
    clean_split = make_split(pl.DataFrame(clean()), detect_task(pl.Series("y", clean()["y"])))
    found = audit_table(pl.DataFrame(clean()), task, split=clean_split)[0].findings
    assert not {"PEL303", "PEL304"} & {f.code for f in found}


def test_selection_bound():
    """306; the bound is that of example 12."""
    assert selection_finding(10, 100).evidence["bound"] == pytest.approx(0.1627623631)
    assert selection_finding(1000, 1000) is None


def test_every_code_has_a_rule_a_reason_and_a_remedy():
    wanted = [*range(101, 118), *range(201, 209), *range(301, 312), *range(401, 418),
              *range(501, 508), *range(601, 607)]  # fmt: skip
    assert list(FINDINGS) == [f"PEL{n}" for n in wanted]
    for rule in FINDINGS.values():
        assert all(rule)
        assert rule.rule.endswith(".")
        assert rule.fix.endswith(".")


def test_refusals():
    with pytest.raises(ValueError, match="did you mean 'city'"):
        audit(clean(), "citi")
    with pytest.raises(ValueError, match="no rows"):
        audit(pl.DataFrame({"a": [], "y": []}), "y")


# --- tables that are in order


def bundled(name):
    data = getattr(datasets, f"load_{name}")()
    names = [str(n) for n in getattr(data, "feature_names", range(data.data.shape[1]))]
    return pl.DataFrame(data.data, schema=names).with_columns(pl.Series("y", data.target)), "y"


def made(function, **options):
    X, y = function(random_state=0, **options)
    names = [f"x{j}" for j in range(X.shape[1])]
    return pl.DataFrame(X, schema=names).with_columns(pl.Series("y", y)), "y"


TABLES = {  # warnings that a statistician would agree with
    "iris": (lambda: bundled("iris"), {"PEL108"}),
    "wine": (lambda: bundled("wine"), set()),
    "breast_cancer": (lambda: bundled("breast_cancer"), {"PEL108"}),
    "diabetes": (lambda: bundled("diabetes"), {"PEL108"}),
    "digits": (lambda: bundled("digits"), {"PEL102", "PEL108"}),
    "penguins": (lambda: (load_table("penguins"), "species"), set()),
    "play": (lambda: (load_table("play_ball"), load_table("play_ball").columns[-1]), set()),
    "independent": (lambda: made(datasets.make_classification, n_samples=500, n_features=6,
                                 n_informative=6, n_redundant=0), set()),
    "redundant": (lambda: made(datasets.make_classification, n_samples=500), {"PEL107"}),
    "regression": (lambda: made(datasets.make_regression, n_samples=300, noise=5), set()),
    "friedman": (lambda: made(datasets.make_friedman1, n_samples=300), set()),
    "moons": (lambda: made(datasets.make_moons, n_samples=300, noise=0.2), set()),
    "circles": (lambda: made(datasets.make_circles, n_samples=300, noise=0.1), set()),
    "blobs": (lambda: made(datasets.make_blobs, n_samples=300), set()),
    "hastie": (lambda: made(datasets.make_hastie_10_2, n_samples=500), set()),
    "swiss": (lambda: made(datasets.make_swiss_roll, n_samples=300, noise=0.1), set()),
    "sparse": (lambda: made(datasets.make_sparse_uncorrelated, n_samples=300), set()),
    "quantiles": (lambda: made(datasets.make_gaussian_quantiles, n_samples=500), set()),
    "friedman2": (lambda: made(datasets.make_friedman2, n_samples=300), set()),
    "mixed": (lambda: (pl.DataFrame(clean()).drop("z"), "y"), set()),
}  # fmt: skip


@pytest.mark.parametrize("name", list(TABLES))
def test_no_false_alarm(name):
    make, expected = TABLES[name]
    frame, target = make()
    found = audit(frame, target).findings
    assert {f.code for f in found if f.severity != "info"} == expected


def test_the_page_has_every_code_as_it_is():
    page = (Path(__file__).parents[3] / "docs" / "study_audit.md").read_text()
    for code, rule in FINDINGS.items():
        line = f"| {code} | {rule.severity} | {rule.title} | {rule.rule} | {rule.fix} |"
        assert line in page, f"docs/study_audit.md: {code} differs from FINDINGS"


def test_classes_spelled_in_several_ways_are_told():
    """Labels of a language that tells them apart by more than case and blanks are left alone."""
    rng = np.random.default_rng(0)
    y = rng.choice(["Yes", "yes", " no", "No", "maybe"], 200)
    found = {f.code: f for f in audit({"x": rng.normal(size=200), "y": y}, "y").findings}
    assert found["PEL117"].where == ("y",)
    assert found["PEL117"].evidence["same"]["y"] == ["'No' = 'no'", "'Yes' = 'yes'"]
    clear = rng.choice(["ja", "yes", "nein", "no"], 200)
    assert "PEL117" not in codes({"x": rng.normal(size=200), "y": clear})


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-9, 1e9, 1e148])
def test_units_do_not_matter(scale):
    """No square of a column overflows or vanishes on the way to a finding."""
    table = clean() | {"copy": 1.0, "wild": 1.0}
    table["copy"] = 3 * table["z"]
    table["wild"] = np.where(np.arange(N) < 3, 50.0, table["a"])

    def found(units):
        columns = {n: table[n] * u for n, u in zip(("a", "copy", "wild", "z"), units, strict=True)}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            seen = audit(pl.DataFrame(table | columns), "z").findings
        return [(one.code, one.where) for one in seen if one.code != "PEL109"]  # many scales

    plain = found((1, 1, 1, 1))
    assert {"PEL301", "PEL112"} <= {code for code, _ in plain}
    assert found((scale,) * 4) == plain
    assert found((1, 1, 1, scale)) == plain


def test_columns_that_cannot_be_squared_are_looked_over_without_a_word_of_numpy():
    table = clean()
    wild = {"huge": table["a"] * 1e300, "ends": np.where(table["a"] > 0, 1e308, -1e308)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert audit(pl.DataFrame(table | wild), "z").n_columns == len(table) + 2
        assert audit(pl.DataFrame(table | wild)).n_columns == len(table) + 2
        for cells, words in ((table["z"] * 1e300, "can be squared"), (np.inf, "infinite cells")):
            with pytest.raises(ValueError, match=f"the column 'z' holds .*{words}"):
                audit(pl.DataFrame(table | {"z": cells}), "z")
