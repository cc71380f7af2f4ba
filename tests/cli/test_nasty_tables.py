"""Tables as people have them: what is refused, with which code, in which words."""

import runpy
import sqlite3
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pellucid.cli.learn import stem
from pellucid.cli.shared.options import Code, code_of
from pellucid.data.sql import query_frames, without_password
from pellucid.study import Plan, Study, TableFeatures, TaskError, audit, detect_task
from pellucid.study.checks.data import is_identifier
from pellucid.study.reading.profiles import read_column
from pellucid.study.tables.anomalies import describe, expected_in_gaps, find_unusual
from pellucid.study.tables.inputs import open_inputs

SECRET = "timeout=91"  # an option of the driver stands for all that must not be written down
ADDRESS = f"sqlite:///shop.db?{SECRET}"


def small(n=60, **columns):
    rng = np.random.default_rng(0)
    return pl.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)} | columns)


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["1,200", "900", "15,000", "2,400,000"], [1200, 900, 15000, 2400000]),
        (["1,234.5", "12,345.0", "1,000,000.25"], [1234.5, 12345, 1000000.25]),
        (["1.234,5", "12.345,0"], [1234.5, 12345]),
        (["0,250", "1,500", "12,125"], [0.25, 1.5, 12.125]),  # a zero before the comma: decimals
        (["1,5", "2,25", "1,200"], [1.5, 2.25, 1.2]),
    ],
)
def test_marks_between_thousands_are_not_decimal_commas(cells, read):
    column = read_column(pl.Series("x", cells * 10))
    assert column.cells.to_list() == read * 10
    assert (column.strays, column.doubt) == (None, False)


def test_amounts_with_marks_are_said_and_are_no_identifier():
    amounts = [f"{1_000_000 + 7919 * i:,}.50" for i in range(60)]
    found = {f.code: f for f in audit(small(revenue=amounts)).findings}
    assert found["PEL116"].evidence["form"] == {"revenue": "1,234.5"}
    assert not {"PEL105", "PEL113"} & found.keys()
    assert Study(small(revenue=amounts), "revenue").task.kind == "regression"


@pytest.mark.parametrize("plain", [0, 35])
def test_one_odd_word_does_not_hide_amounts(plain):
    amounts = [str(900 + 7 * i) for i in range(plain)]
    rest = [f"{1_000 + 79 * i:,}{'.5' * (plain > 0)}" for i in range(59 - plain)]
    amounts += rest[::-1]  # whole numbers that rise would be an identifier
    column = read_column(pl.Series("x", [*amounts, "unknown"]))
    assert (column.kind, column.missing) == ("number" if plain else "whole", 1)
    assert (column.strays.cells, column.strays.rows) == (1, (59,))
    found = {f.code: f.where for f in audit(small(x=[*amounts, "unknown"])).findings}
    assert (found["PEL113"], "PEL105" in found) == (("x",), False)
    words = [f"{word} {i}" for i, word in enumerate(["red", "blue"] * 30)]
    assert read_column(pl.Series("x", [*words[:40], *amounts[-20:]])).strays is None


def test_amounts_of_several_units_are_said_and_stay_text():
    weights = [f"{i + 0.5} {('kg', 'lb')[i % 2]}" for i in range(60)]
    column = read_column(pl.Series("x", weights))
    assert (column.kind, column.strays.mixed) == ("category", True)
    assert not is_identifier(column)
    found = {f.code: f.where for f in audit(small(x=weights)).findings}
    assert (found["PEL113"], "PEL105" in found) == (("x",), False)


def test_amounts_at_prediction_time_are_not_read_as_decimals():
    model = TableFeatures(scale=False).fit(pl.DataFrame({"x": [1.0, 2.0, 900.0]}))
    with pytest.raises(ValueError, match=r"'x' holds '1,200', which may be thousands or decimals"):
        model.transform(pl.DataFrame({"x": ["1,200", "2,300"]}))
    for cells, read in (
        (["1,200", "900"], [1200, 900]),
        (["1,200", "3,400", "1,234.5"], [1200, 3400, 1234.5]),
        (["1,5", "1,200", "900"], [1.5, 1.2, 900.0]),
    ):
        found = model.transform(pl.DataFrame({"x": cells}))
        np.testing.assert_array_equal(found[:, 0], read)


@pytest.mark.parametrize("knots", [0, 4])
def test_a_model_of_decimal_commas_reads_three_decimals(knots):
    cells = [f"{i / 8:.3f}".replace(".", ",") for i in range(40)]
    assert read_column(pl.Series("x", cells)).kind == "number"
    model = TableFeatures({"x": "number"}, scale=False, knots=knots).fit(pl.DataFrame({"x": cells}))
    whole = model.transform(pl.DataFrame({"x": cells}))
    alone = model.transform(pl.DataFrame({"x": cells[10:11]}))
    np.testing.assert_array_equal(alone[0], whole[10])
    assert model.drift(pl.DataFrame({"x": cells[10:11]})).rows_outside == 0


@pytest.mark.parametrize(("cell", "words"), [(np.inf, "holds inf in row 3"), (-1e200, "-1e\\+200")])
def test_cells_without_a_square_are_refused_by_name(cell, words):
    x = np.arange(60.0)
    x[3] = cell
    frame = small(x=x)
    with pytest.raises(TaskError, match=f"the column 'x' {'' if cell > 0 else 'holds '}{words}"):
        Study(frame, "a").task  # noqa: B018
    with pytest.raises(TaskError, match="the column 'x'") as stopped:
        open_inputs(frame)
    assert code_of(stopped.value) == Code.TASK
    assert Study(frame, "a", plan=Plan(drop=("x",))).task.kind == "regression"
    audit(frame)  # no warning of an overflow


@pytest.mark.parametrize("role", ["drop", "time", "groups", "query"])
def test_a_target_has_one_role(role):
    plan = Plan(**{role: ("a",) if role == "drop" else "a"})
    with pytest.raises(ValueError, match=f"'a' is a target and cannot be given as {role}"):
        Study(small(), "a", plan=plan).task  # noqa: B018


def test_a_measure_of_another_kind_of_task():
    with pytest.raises(ValueError, match=r"'roc_auc' does not judge .*'regression'; these do: mse"):
        detect_task(np.arange(50.0) / 7, metric="roc_auc")
    with pytest.raises(ValueError, match=r"'rmse' does not judge .*'binary'; these do: accuracy"):
        detect_task(
            ["x", "y"] * 20,
            metric="rmse",
        )
    assert detect_task(["x", "y"] * 20, metric="roc_auc").metric == "roc_auc"


def test_no_column_left_says_which_and_why():
    study = Study(small(), "a", plan=Plan(drop=("b",)), effort="quick")
    with pytest.raises(TaskError, match=r"left out: 'b', dropped by the plan$"):
        study.run()


def test_parts_of_dates_are_numbers_not_shares():
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 1).dt.offset_by("59d"), eager=True)
    inputs = open_inputs(small(day=days, city=["Rome", "Oslo", "Bonn"] * 20))
    number = dict(zip(inputs.names, inputs.is_number, strict=True))
    assert number["day elapsed"]
    assert not any(value for name, value in number.items() if name.startswith("city"))


def test_a_mistyped_database_is_not_created(tmp_path):
    path = tmp_path / "shop.db"
    for driver in ("sqlite", "sqlite+pysqlite"):
        with pytest.raises(ValueError, match="there is no database file"):
            list(query_frames(f"{driver}:///{path}", "SELECT 1"))
    assert not path.exists()


def test_nothing_predicts_it_names_the_column_left_out(inside, tmp_path):
    """A copy is left out; the advice is how to keep it, not to look for other columns."""
    frame = small(200)
    frame.with_columns(y=2 * frame["a"]).select("a", "b", "y").write_csv(tmp_path / "t.csv")
    done = inside("learn", "t.csv", "--target", "y", "--effort", "quick")
    assert done.code == Code.DONE
    said = " ".join(done.out.split())
    assert "a was left out: it gives the target away." in said
    assert "learn again and keep it (`--keep a`)." in said


def test_a_warning_is_one_line_without_code(inside, tmp_path, recwarn):
    (tmp_path / "t.csv").write_text("a,a\n" + "1,2\n3,5\n4,1\n" * 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.filters", [])
        loud = inside("audit", "t.csv")
        quiet = inside("audit", "t.csv", "--quiet")
    assert loud.err.startswith("pellucid: note: t.csv has repeated or empty column names")
    assert loud.err.count("\n") == 1
    assert quiet.err == ""


def test_small_refusals(inside, saved, tmp_path):
    done = inside("evaluate", saved.sex, saved.table, "--out", "found.html")
    assert (done.code, "found.json" in done.err) == (Code.USAGE, True)
    assert not (tmp_path / "found.html").exists()
    done = inside("evaluate", saved.sex, saved.table, "--target", "body_mass_g")
    assert (done.code, "predicts from" in done.err) == (Code.DATA, True)
    done = inside("predict", saved.sex, saved.table, "--interval", "0.9")
    assert (done.code, "proba or sets" in done.err) == (Code.USAGE, True)
    done = inside("card", "nothere.pellucid")
    assert (done.code, "not there" in done.err) == (Code.MODEL_FILE, True)
    done = inside("learn", "sqlite:///x.db", "--target", "y")
    assert (done.code, "--sql" in done.err) == (Code.USAGE, True)
    done = inside("audit", "file:///x.csv")
    assert (done.code, "give the path, without file://" in done.err) == (Code.USAGE, True)
    table = ("compare", saved.table, "--target", "sex", "--models", "logistic,tree")
    done = inside(*table, "--cv", "999")
    assert (done.code, "--cv 999 needs at least 999 rows" in done.err) == (Code.USAGE, True)


@pytest.mark.parametrize("command", ["learn --target sex", "cluster", "reduce", "anomalies"])
def test_a_folder_that_cannot_be_is_refused_before_the_work(inside, saved, command, monkeypatch):
    """It was after the study that the file above it was noticed."""
    monkeypatch.setattr("pellucid.data.load", None)
    name, *rest = command.split()
    done = inside(name, saved.table, *rest, "--out", f"{saved.table}/below/it")
    assert done.code == Code.OUTPUT_EXISTS
    assert f"{saved.table} is a file; give the name of a folder" in done.err


def test_an_empty_cell_is_no_reason():
    """b = 2 a; the median in the gap would be far from that. The row with a wrong b is found."""
    a = np.random.default_rng(1).normal(size=100)
    b = 2 * a + 0.01 * np.random.default_rng(2).normal(size=100)
    b[7] += 1.0
    far = int(np.argmax(np.abs(a)))
    gaps = {far, *range(0, 100, 5)}
    cells = [None if i in gaps else float(v) for i, v in enumerate(b)]
    found = find_unusual(open_inputs(pl.DataFrame({"a": a, "b": cells})), "normal", 0.02, 0)
    assert found.flagged[0] == 7
    assert found.scores[far] < 5
    for i, why in zip(found.flagged, found.reasons, strict=True):
        assert i not in gaps or all(reason.feature != "b" for reason in why)


def test_a_word_among_numbers_is_an_empty_cell():
    """Numbers as text; "unknown" is read as missing, so it gives no reason either."""
    a = np.random.default_rng(1).normal(size=100)
    b = 2 * a + 0.01 * np.random.default_rng(2).normal(size=100)
    b[7] += 1.0
    far = int(np.argmax(np.abs(a)))
    words = {far, *range(0, 100, 13)}
    cells = ["unknown" if i in words else str(v) for i, v in enumerate(b)]
    inputs = open_inputs(pl.DataFrame({"a": a, "b": cells}))
    gaps = np.flatnonzero(inputs.gaps[:, list(inputs.names).index("b")])
    assert gaps.tolist() == sorted(words)
    found = find_unusual(inputs, "normal", 0.02, 0)
    assert found.flagged[0] == 7
    assert found.scores[far] < 5


def test_gaps_are_filled_as_row_by_row():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    gaps = rng.random(Z.shape) < 0.3
    bulk = describe(Z, np.zeros(4, dtype=bool))
    wanted = Z.copy()
    for row, g in zip(wanted, gaps, strict=True):
        Q = bulk.precision
        c = (row - bulk.mean)[~g]
        row[g] = bulk.mean[g] - np.linalg.solve(Q[np.ix_(g, g)], Q[np.ix_(g, ~g)] @ c)
    np.testing.assert_allclose(expected_in_gaps(Z, gaps, bulk), wanted, rtol=1e-9)
    np.testing.assert_array_equal(expected_in_gaps(Z, gaps & False, bulk), Z)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("pg://ann:se?cret@h/db", "pg://ann:***@h/db"),
        ("pg://ann:s/e@cret@h/db?a=x@y", "pg://ann:***@h/db?***"),
        ("pg://ann@corp:secret@h:5432/db", "pg://ann@corp:***@h:5432/db"),
        ("pg://:secret@h", "pg://:***@h"),
        ("pg://h:5432/db?password=x@y", "pg://h:5432/db?***"),
        ("pg://ann@h/db", "pg://ann@h/db"),
        ("sqlite:///C:/a@b.db", "sqlite:///C:/a@b.db"),
    ],
)
def test_what_is_shown_of_an_address(url, shown):
    assert without_password(url) == shown


def test_the_folder_is_not_named_by_a_password():
    assert stem("postgresql://ann:p.w@host") == "host"
    assert stem("postgresql://ann:p?w@h/shop.x?a=b@c") == "shop"


@pytest.fixture
def shop(tmp_path, inside, monkeypatch):
    """A database, and a function that runs a command on a query of it as the shell would."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    with sqlite3.connect("shop.db") as connection:
        connection.execute("CREATE TABLE t (a REAL, b REAL, y REAL)")
        rows = [(float(a), float(b), float(2 * a + e)) for a, b, e in rng.normal(size=(60, 3))]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    connection.close()

    def run(command, *rest, sql="SELECT * FROM t"):
        line = [command, ADDRESS, *rest, "--sql", sql]
        monkeypatch.setattr(sys, "argv", ["pellucid", *line])
        return inside(*line)

    return run


def written_under(folder):
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "shop.db"]


def test_no_password_is_written_down(tmp_path, shop, monkeypatch):
    """Record, script, page and the folder's name hold the address without its secrets."""
    done = shop("learn", "--target", "y", "--effort", "quick", "--quiet")
    assert done.code in (Code.DONE, Code.FAILED_CHECK), done
    written = written_under(tmp_path)
    assert written
    assert all(SECRET.encode() not in path.read_bytes() for path in written)
    assert SECRET not in " ".join(map(str, written))
    record = (tmp_path / "pellucid-shop" / "report.json").read_text("utf-8")
    assert "pellucid learn 'sqlite:///shop.db?***' --target y" in record
    monkeypatch.setattr(sys, "argv", ["repeat.py"])
    with pytest.raises(SystemExit, match="give the address of the database"):
        runpy.run_path(str(Path("pellucid-shop", "repeat.py")))


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compare", "--target y --models LinearRegression,Ridge --cv 3 --out r.json"),
        ("sweep", "--target y --model Ridge --parameter alpha --values 1,2 --cv 3 --out r.json"),
        ("anomalies", ""),
        ("cluster", "--k 2 --restarts 1"),
        ("reduce", ""),
    ],
)
def test_no_command_writes_the_password(tmp_path, shop, command, options):
    done = shop(command, *options.split(), "--json")
    assert done.code == Code.DONE, done
    assert done.json["command"].startswith(f"pellucid {command} 'sqlite:///shop.db?***' --")
    written = written_under(tmp_path)
    assert written
    assert all(SECRET.encode() not in path.read_bytes() for path in written)
    assert SECRET not in done.out + done.err


def test_no_sentence_says_the_password(shop, saved, inside):
    url, nothing = ADDRESS, ("--sql", "SELECT * FROM t WHERE 0")
    for words in (["audit"], *([name, saved.plain] for name in ("evaluate", "predict", "explain"))):
        done = inside(*words, url, *nothing)
        assert (done.code, "sqlite:///shop.db?*** has no rows" in done.err) == (Code.TASK, True)
        assert SECRET not in done.out + done.err
    done = inside("explain", saved.plain, url, "--row", "99", "--sql", "SELECT a x0, b x1 FROM t")
    assert (done.code, "for sqlite:///shop.db?***" in done.err) == (Code.USAGE, True)
    done = inside("audit", url, "--sql", "SELECT * FROM t")
    assert SECRET not in done.out + done.err
