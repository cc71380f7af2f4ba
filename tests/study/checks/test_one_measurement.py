"""One honest measurement may determine the target: it is kept, and the verdict says what it does.

What tells a copy from it: the other columns predict too, the target's own values, a code, a value
of one class alone.
"""

import numpy as np
import pytest
from test_suspicion import study

from pellucid.study import audit

NOISE = {"steep line": 0.05, "line": 0.2, "rough line": 0.37}  # R^2 0.9997, 0.996, 0.985


def honest(kind, n, k, seed):
    """The target follows from x0 alone; the other columns say nothing."""
    rng = np.random.default_rng([seed, n, k])
    X = rng.normal(size=(n, k))
    table = {f"x{j}": X[:, j] for j in range(k)}
    if kind in NOISE:
        return table | {"y": 3 * X[:, 0] + NOISE[kind] * rng.normal(size=n)}
    if kind == "age":
        table["x0"] = rng.integers(18, 90, n)
        return table | {"y": np.where(table["x0"] > 50, "old", "young")}
    if kind == "number":
        return table | {"y": (X[:, 0] > 0).astype(int)}
    return table | {"y": np.where(X[:, 0] > 0, "yes", "no")}


def judged(kind, n, k, seed):
    """How the study takes the column; it never leaves it out."""
    made = study(honest(kind, n, k, seed), "y")
    assert made.left_out() == {}
    found = made.suspect()
    if found is None:
        return "plain"
    assert found.columns == ("x0",)
    return "suspect" if found.perfect else "remark"


@pytest.mark.parametrize("kind", [*NOISE, "threshold", "age"])
@pytest.mark.parametrize(("n", "k"), [(30, 2), (60, 5)])
def test_it_is_not_suspected(kind, n, k):
    assert judged(kind, n, k, 0) in ("plain", "remark")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*NOISE, "threshold", "number", "age"])
@pytest.mark.parametrize("n", [20, 30, 60, 200])
def test_it_is_not_suspected_whatever_the_rows_and_columns(kind, n):
    said = [judged(kind, n, k, seed) for k in (1, 2, 5) for seed in range(3)]
    assert said.count("suspect") <= 1


@pytest.mark.parametrize("kind", ["threshold", "steep line"])
def test_the_verdict_says_what_it_found(kind):
    said = str(study(honest(kind, 60, 2, 1), "y").run().verdict)
    assert said.startswith("Yes.")
    assert "Nearly all of it comes from x0" in said
    assert "without it the model" in said
    assert "Check that it is known before y is; if not, use `--drop x0`." in said


def test_a_rule_of_few_rows_is_told_where_the_folds_are_too_few():
    """And in a table of one column, where nothing can be taken away."""
    for n, k in ((30, 1), (60, 1)):
        record = study(honest("threshold", n, k, 0), "y").run()
        (told,) = (f for f in record.findings if f.code == "PEL301")
        assert (told.severity, told.where, told.evidence["kept"]) == ("info", ("x0",), True)
        said = str(record.verdict)
        assert said.startswith("Yes.")
        assert "On the learning rows x0 says nearly all about y. Check that it is known" in said
        assert "left out" not in said


def test_an_audit_without_a_study_tells_it():
    for kind in ("threshold", "steep line"):
        found = audit(honest(kind, 200, 3, 0), "y").findings
        assert [(f.where, f.severity) for f in found if f.code == "PEL301"] == [(("x0",), "error")]


def informative(seed, n=200):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    return rng, {"a": a, "b": b}, a + 0.7 * b + rng.normal(size=n)


@pytest.mark.parametrize("seed", range(2))
def test_beside_columns_that_predict_it_is_suspect(seed):
    """The score of which a label was made; a number in another unit, measured again."""
    _, table, y = informative(seed)
    risk = table | {"risk": 10 + 7 * y, "y": np.where(y > 0.3, "yes", "no")}
    rng, table, y = informative(seed + 10)
    again = table | {"again": 2 + 5 * (y + 0.05 * y.std() * rng.normal(size=len(y))), "y": y}
    for which, name in ((risk, "risk"), (again, "again")):
        made = study(which, "y")
        assert made.left_out() == {}
        record = made.run()
        assert (record.verdict.kind, record.suspicion.columns) == ("suspect", (name,))
        said = str(record.verdict)
        assert f"use `--drop {name}`; if you will, `--keep {name}` says so." in said
        kept = study(which, "y", keep=(name,)).run()
        assert (kept.verdict.kind, kept.suspicion) == ("shown", None)


@pytest.mark.parametrize("seed", range(2))
def test_copies_are_suspect_though_no_other_column_says_anything(seed):
    """The target's own values with noise, bins of it, a label in other words, one class's value."""
    rng = np.random.default_rng(seed)
    n = 150
    noise = {f"x{j}": rng.normal(size=n) for j in range(3)}
    y = rng.normal(50, 10, n)
    label = np.where(y > 50, "yes", "no")
    flipped = np.where(rng.random(n) < 0.02, np.where(label == "yes", "no", "yes"), label)
    paid = np.where((label == "yes") & (rng.random(n) > 0.02), rng.gamma(2, 90, n).round(2), 0.0)
    copies = {
        "own values": (y + 0.5 * rng.normal(size=n), y),
        "another unit": ((y - 32) / 1.8, y.round(1)),
        "bins": (np.floor(y / 2), y),
        "other words": (flipped, label),
        "one class": (paid, label),
        "spikes": ((label == "yes") + 0.01 * rng.normal(size=n), label),
    }
    for name, (copy, target) in copies.items():
        made = study(noise | {"copy": copy, "y": target}, "y")
        found = made.suspect()
        gone = "copy" in made.left_out()
        assert gone or (found is not None and found.perfect and found.columns == ("copy",)), name


def test_an_exact_line_is_arithmetic():
    """The same number in another unit, to the last digit: left out, with both scores."""
    table = honest("line", 60, 2, 0)
    table["y"] = 1.8 * table["x0"] + 32
    made = study(table, "y")
    assert list(made.left_out()) == ["x0"]
    said = str(made.run().verdict)
    assert "x0 was left out: it gives the target away. With it, the model misses by" in said
    assert "`--keep x0`" in said
