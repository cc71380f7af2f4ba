"""House prices as people keep them: the study of the messy table is that of the clean one."""

import numpy as np
import polars as pl
import pytest

from pellucid import load
from pellucid.data import DataWarning
from pellucid.study import Study
from pellucid.study.checks.data import is_identifier
from pellucid.study.reading.profiles import read_column

N = 546


def houses():
    """Prices of houses by lot, rooms and the like, of the size of the Windsor table."""
    rng = np.random.default_rng(0)
    lot = np.round(np.exp(rng.normal(8.5, 0.4, N)))
    rooms = rng.integers(1, 7, N)
    rate = np.round(rng.uniform(20, 80, N), 1)
    balance = np.round(rng.normal(0, 80, N), 1)
    floor = np.round(rng.gamma(9, 12, N), 1)
    sold = np.datetime64("2020-01-01") + rng.integers(0, 700, N)
    driveway = rng.choice(["yes", "no"], N)
    log = 9 + 0.3 * np.log(lot) + 0.07 * rooms + 0.004 * rate + 0.001 * balance + 0.001 * floor
    price = np.round(np.exp(log - 0.1 * (driveway == "no") + rng.normal(0, 0.2, N)))
    return pl.DataFrame(
        {"price": price.astype(int), "lot": lot.astype(int), "rooms": rooms, "rate": rate,
         "balance": balance, "floor": floor, "sold": sold, "driveway": driveway}
    )  # fmt: skip


def messy(table):
    """The same cells, written for people."""
    return table.with_columns(
        pl.Series("price", [f"${v:,}" for v in table["price"]]),
        pl.Series("lot", [f"{v:,}" for v in table["lot"]]),
        pl.Series("rate", [f"{v}%" for v in table["rate"]]),
        pl.Series("balance", [f"({-v})" if v < 0 else str(v) for v in table["balance"]]),
        pl.Series("floor", [f"{v} m²" for v in table["floor"]]),
        pl.Series("sold", [day.strftime("%m/%d/%Y") for day in table["sold"]]),
    )


@pytest.fixture(scope="module")
def studies():
    clean = houses()
    return tuple(Study(table, "price", effort="quick") for table in (clean, messy(clean)))


@pytest.fixture(scope="module")
def records(studies):
    return tuple(study.run() for study in studies)


def test_the_messy_table_gives_the_task_and_the_error_of_the_clean_one(studies, records):
    clean, dirty = records
    assert studies[1].frame.equals(
        studies[0].frame.with_columns(pl.col("sold").cast(pl.Datetime("us")))
    )
    assert (dirty.task.kind, dirty.task.metric) == (clean.task.kind, clean.task.metric)
    assert dirty.task.kind == "regression"
    error = dirty.final.table["rmse"].estimate / clean.final.table["rmse"].estimate
    assert error == pytest.approx(1, abs=0.01)
    assert dirty.verdict.kind == clean.verdict.kind
    found = {f.code: f for f in dirty.findings}
    assert found["PEL116"].evidence["form"] == {
        "price": "1,234.5 $",
        "lot": "1,234.5",
        "rate": "1234.5 %",
        "floor": "1234.5 m²",
    }
    assert "PEL113" not in found


def test_the_model_reads_new_rows_as_it_learned_them(records, tmp_path):
    """Messy or plain, all rows or one: the same predictions, saved and loaded."""
    clean, dirty = records
    plain = houses()
    rows = messy(plain)
    dirty.save(tmp_path / "houses.pel")
    saved = load(tmp_path / "houses.pel")
    inputs = [name for name in rows.columns if name != "price"]
    said = dirty.predict(rows)
    np.testing.assert_allclose(clean.predict(plain), said, rtol=1e-12)
    for table in (rows, plain):
        np.testing.assert_array_equal(saved.predict(table.select(inputs)), said)
        one = np.concatenate([dirty.predict(table[i]) for i in range(20)])
        np.testing.assert_allclose(one, said[:20], rtol=1e-12)


def test_predict_says_which_cells_it_cannot_read(records, inside, tmp_path):
    _, dirty = records
    dirty.save(tmp_path / "houses.pel")
    rows = messy(houses()).head(50)
    lot = rows["lot"].to_list()
    lot[3], lot[9] = "forty", "fifty"
    rows = rows.with_columns(pl.Series("lot", lot))
    rows.write_csv(tmp_path / "new.csv")
    rows.write_csv(tmp_path / "semicolons.csv", separator=";")
    done = inside("predict", "houses.pel", "new.csv")
    line = (
        "the column 'lot' holds 2 cells that cannot be read, such as 'forty'; they count as missing"
    )
    assert (done.code, done.err.count(line)) == (0, 1)
    empty = rows.with_columns(
        pl.Series("lot", [None if v in ("forty", "fifty") else v for v in lot])
    )
    with pytest.warns(DataWarning, match="2 cells of the column 'lot' cannot be read"):
        said = dirty.predict(rows)
    np.testing.assert_array_equal(said, dirty.predict(empty))
    other = inside("predict", "houses.pel", "semicolons.csv")  # 1,018 is still 1018
    assert (other.code, other.out) == (0, done.out)


def test_windows_letters_on_the_command_line(pellucid, tmp_path):
    rows = messy(houses()).head(200)
    text = "\n".join("\t".join(map(str, row)) for row in [rows.columns, *rows.rows()])
    (tmp_path / "houses.tsv").write_bytes(text.encode("cp1252"))
    done = pellucid("audit", "houses.tsv", "--target", "price")
    assert (done.code, "it was read as Windows-1252" in done.err) == (0, True)
    assert "1,234.5 $" in done.out


def test_stray_cells_of_inputs_and_target_are_shown_with_their_rows():
    table = messy(houses())
    price, lot = table["price"].to_list(), table["lot"].to_list()
    price[4], lot[0], lot[7] = "sold", "corner", "corner"
    study = Study(table.with_columns(pl.Series("price", price), pl.Series("lot", lot)), "price")
    assert (study.task.kind, study.task.unlabelled) == ("regression", 1)
    (found,) = (f for f in study.audit().findings if f.code == "PEL113")
    assert found.evidence["examples"] == {"price": ["sold"], "lot": ["corner"]}
    assert found.evidence["rows"] == {"price": [4], "lot": [0]}
    assert found.evidence["cells"] == {"price": 1, "lot": 2}
    assert found.evidence["read_as"] == {"price": "whole", "lot": "whole"}


def test_a_column_of_money_is_no_identifier_and_a_target_of_money_no_class():
    rng = np.random.default_rng(1)
    money = [f"€{v:,.2f}" for v in rng.uniform(500, 5000, 200)]
    column = read_column(pl.Series("x", money))
    assert (column.kind, is_identifier(column)) == ("number", False)
    target = [f"${v:,}" for v in 1000 * rng.integers(20, 239, 300)]
    assert Study({"x": rng.normal(size=300), "y": target}, "y").task.kind == "regression"


def test_the_table_functions_read_them_too():
    from pellucid.study.tables.inputs import open_inputs

    table = houses()
    clean, dirty = open_inputs(table), open_inputs(messy(table))
    assert clean.names == dirty.names
    np.testing.assert_allclose(clean.Z, dirty.Z)
