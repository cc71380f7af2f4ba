"""Tables with very many columns: the kinds of the cells are found for all of them at once."""

import numpy as np
import polars as pl
import pytest

from pellucid.data import cells, delimited, load

CELLS = [
    "1",
    "-2.5",
    "07",
    "1,5",
    "1,200",
    "true",
    "2024-01-31",
    "2024-01-31 10:00Z",
    "",
    "NA",
    " ",
    "nan",
    "x",
    "+4912345678",
    "12345678901234567890123456",
    None,
]


def wide(n, height=6, seed=0):
    """Text columns of one to three kinds of cells each."""
    draw = np.random.default_rng(seed)
    few = [draw.choice(len(CELLS), size=draw.integers(1, 4)) for _ in range(n)]
    return pl.DataFrame(
        {f"c{j}": [CELLS[i] for i in draw.choice(few[j], size=height)] for j in range(n)},
        schema={f"c{j}": pl.String for j in range(n)},
    )


@pytest.mark.parametrize("decimal_comma", [True, False])
def test_many_columns_are_read_as_one_after_the_other(decimal_comma, monkeypatch):
    frame = wide(300)
    every = dict.fromkeys(frame.columns, frozenset(cells.KINDS))
    at_once = cells.strike_out(frame, every, decimal_comma=decimal_comma)
    monkeypatch.setattr(cells, "MANY_COLUMNS", 10_000)
    assert cells.strike_out(frame, every, decimal_comma=decimal_comma) == at_once
    assert len(set(at_once.values())) > 5


def test_the_kinds_of_many_columns_cost_no_expression_each(monkeypatch):
    """A hundred thousand columns would need as many plans of Polars, ten times over."""
    made = []
    monkeypatch.setattr(cells, "stripped", lambda e, f=cells.stripped: made.append(1) or f(e))
    counts = []
    for n in (200, 800):
        frame = wide(n)
        made.clear()
        cells.strike_out(
            frame, dict.fromkeys(frame.columns, frozenset(cells.KINDS)), decimal_comma=True
        )
        counts.append(len(made))
    assert counts[0] == counts[1] < 50


@pytest.mark.parametrize("mark", [";", ",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_header_longer_than_the_sample_is_read_to_its_end(mark, end, tmp_path, monkeypatch):
    """Which mark separates the columns is seen in whole lines alone."""
    monkeypatch.setattr(delimited, "SAMPLE_BYTES", 64)
    names = [f"column {j}" for j in range(200)]
    rows = [names, *([str(i + j) for j in range(200)] for i in range(3))]
    path = tmp_path / "wide.csv"
    path.write_bytes(end.join(mark.join(row) for row in rows).encode())
    table = load(path)
    assert table.columns == names
    assert table.row(2) == tuple(range(2, 202))


def test_a_header_of_half_a_megabyte(tmp_path):
    names = [f"a rather long name of a column: number {j}" for j in range(12_000)]
    path = tmp_path / "wide.csv"
    path.write_text(";".join(names) + "\n" + ";".join(["1,5"] * 12_000) + "\n")
    table = load(path)
    assert (table.shape, table[names[-1]][0]) == ((1, 12_000), 1.5)
