"""`pellucid audit`: findings and columns, exit codes, nothing that wraps."""

import json
import sqlite3

import numpy as np
import polars as pl
import pytest

from pellucid.cli.shared.options import Code


@pytest.fixture
def leaky(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 120)
    pl.DataFrame({
        "id": [f"P{i:04d}" for i in range(120)], "x": rng.normal(size=120),
        "told": np.where(y == "yes", 1, 0), "constant": [1] * 120,
        "a_column_with_a_name_that_is_much_too_long_for_a_line_of_a_terminal": rng.random(120),
        "\x1b[31mred": rng.random(120), "y": y,
    }).write_csv(tmp_path / "leaky.csv")  # fmt: skip
    return tmp_path / "leaky.csv"


def test_findings_and_exit_code(inside, leaky):
    done = inside("audit", leaky, "--target", "y")
    assert done.code == Code.FAILED_CHECK  # one column gives the target away
    for code in ("PEL102", "PEL105", "PEL301"):
        assert code in done.out
    assert max(map(len, done.out.splitlines())) <= 100
    assert "\x1b[31m" not in done.out
    quiet = inside("audit", leaky, "--target", "y", "--quiet")
    assert (quiet.code, quiet.out) == (Code.FAILED_CHECK, "")


def test_every_column_has_one_line(inside, leaky):
    table = inside("audit", leaky).out.split("\n\n")[-1].rstrip().splitlines()
    assert len(table) == 1 + 7
    assert table[0].split() == ["column", "kind", "role", "missing", "distinct", "values"]


def test_ignore_and_strict(inside, leaky):
    done = inside("audit", leaky, "--target", "y", "--ignore", "PEL301")
    assert done.code == Code.DONE
    assert "PEL301" not in done.out
    strict = inside("audit", leaky, "--target", "y", "--ignore", "301", "--strict")
    assert strict.code == Code.FAILED_CHECK
    wrong = inside("audit", leaky, "--ignore", "PEL999")
    assert (wrong.code, wrong.err.count("\n")) == (Code.USAGE, 1)


def test_json_and_file(inside, saved, tmp_path):
    done = inside("audit", saved.table, "--target", "species", "--json", "--out", "audit.json")
    assert done.code == Code.DONE
    assert done.json["n_rows"] == 344
    assert json.loads((tmp_path / "audit.json").read_text()) == done.json
    assert inside("audit", saved.table, "--out", "audit.json").code == Code.OUTPUT_EXISTS


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", Code.DATA),
        (b"a,b\n", Code.TASK),
        (b"a,b\n1,2\n1,2,3\n", Code.DATA),
        (bytes(range(256)) * 9, Code.DATA),
    ],
)
def test_odd_files(inside, tmp_path, content, code):
    (tmp_path / "odd.csv").write_bytes(content)
    done = inside("audit", "odd.csv")
    assert done.code in (code, Code.DATA)
    assert done.err.startswith("pellucid: ")
    assert done.err.count("\n") == 1


def test_an_unknown_column_is_answered_with_the_nearest(inside, saved):
    done = inside("audit", saved.table, "--target", "specis")
    assert done.code == Code.DATA
    assert "the nearest is: species" in done.err


def test_hostile_cells_are_shown_as_text(inside, tmp_path):
    pl.DataFrame({"[bold]x[/bold]": ["[red]a[/red]", "<script>"] * 20}).write_csv(
        tmp_path / "h.csv"
    )
    done = inside("audit", "h.csv")
    assert "[bold]x[/bold]" in done.out
    assert "[red]a[/red]" in done.out


@pytest.mark.parametrize("sql", ["drop table t", "SELECT 1; drop table t", "delete from t"])
def test_a_query_that_writes_is_refused_before_it_runs(inside, tmp_path, sql):
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    done = inside("audit", f"sqlite:///{path}", "--sql", sql)
    assert (done.code, done.err.count("\n")) == (Code.DATA, 1)
    assert "sql must be one query" in done.err
    assert path.read_bytes() == before
