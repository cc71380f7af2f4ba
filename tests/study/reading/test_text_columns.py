"""Very many columns of text, read together: the same answer as one after the other."""

import numpy as np
import polars as pl
import pytest

from pellucid.study.reading import equality, profiles
from pellucid.study.reading.profiles import read_columns

CELLS = [
    "red",
    "w3",
    "two words",
    "one of three words",
    "5 kg",
    "1,200",
    "2024-01-31",
    "Jan 2024",
    "a;b",
    "NA",
    " x",
    "true",
    "False",
    "12:30",
    "$5",
    "07",
    "+4912345678",
    "v1.2.3",
    "3rd",
    "é",
    "Z",
    None,
]


def wide(n, height=12, seed=0):
    """Text columns of one to three kinds of cells each."""
    draw = np.random.default_rng(seed)
    few = [draw.choice(len(CELLS), size=draw.integers(1, 4)) for _ in range(n)]
    return pl.DataFrame(
        {f"c{j}": [CELLS[i] for i in draw.choice(few[j], size=height)] for j in range(n)},
        schema={f"c{j}": pl.String for j in range(n)},
    )


def plain(column):
    return column._replace(cells=column.cells.to_list(), numbers=None)


def amounts(n, height=40, seed=0):
    """Columns of amounts and dates, most with cells that are neither."""
    draw = np.random.default_rng(seed)
    ways = (
        lambda: f"{draw.random() * 99:.2f} kg",
        lambda: f"{draw.integers(1, 999)},{draw.integers(100, 999)}",
        lambda: f"{draw.integers(1, 29)}.{draw.integers(1, 13)}.2023",
        lambda: f"{draw.integers(1, 13)}/{draw.integers(1, 29)}/23 5:05 pm",
        lambda: f"601 {draw.integers(100, 999)} 567",
        lambda: ";".join(draw.choice(["a", "b", "c"], size=2)),
        lambda: f"{draw.integers(1, 99)} {draw.choice(['kg', 'lb'])}",
    )
    columns = {}
    for j in range(n):
        odd, share = draw.choice(len(CELLS)), draw.choice([0, 0.03, 0.3])
        cells = [CELLS[odd] if draw.random() < share else ways[j % 7]() for _ in range(height)]
        columns[f"a{j}"] = cells
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


@pytest.mark.parametrize("frame", [wide(300), amounts(120)])
def test_many_columns_are_read_as_one_after_the_other(frame, monkeypatch):
    monkeypatch.setattr(profiles, "CELLS", 5000)  # several stretches of columns
    at_once = read_columns(frame)
    monkeypatch.setattr(profiles, "MANY_COLUMNS", 10_000)
    one_by_one = read_columns(frame)
    assert list(at_once) == list(one_by_one) == frame.columns
    for name, column in at_once.items():
        assert repr(plain(column)) == repr(plain(one_by_one[name]))


def questions(frame, monkeypatch):
    """How often Polars is asked while the columns are read."""
    asked = []
    collect = pl.LazyFrame.collect

    def counted(self, *args, **kwargs):
        asked.append(1)
        return collect(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(pl.LazyFrame, "collect", counted)
        patch.setattr(pl.LazyFrame, "_collect_eager", counted, raising=False)
        read_columns(frame)
    return len(asked)


@pytest.mark.parametrize("cells", [["red", "w3", None], ["5 kg", "6.5 kg", "x"], ["a b c d", "e"]])
def test_more_columns_of_text_ask_no_more_questions(cells, monkeypatch):
    """A hundred thousand of them would need as many plans of Polars, twenty times over."""
    few, many = (
        questions(pl.DataFrame({f"c{j}": cells for j in range(n)}), monkeypatch) for n in (20, 80)
    )
    assert many <= few + 5


@pytest.mark.parametrize("cells", [["a", None, "é;"], ["", "b"], [None, None, "x"]])
def test_short_texts_have_the_digest_of_long_ones(cells, monkeypatch):
    series = pl.Series("t", cells)
    short = [bytes(part) for part in equality._text_bytes(series)]
    monkeypatch.setattr(equality, "SHORT", -1)
    assert short == [bytes(part) for part in equality._text_bytes(series)]
