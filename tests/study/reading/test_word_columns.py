"""Columns of plain words, judged together: the same answer as one after the other."""

import numpy as np
import polars as pl
import pytest

from pellucid.study.reading import equality, profiles, word_columns
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


def test_many_columns_are_read_as_one_after_the_other(monkeypatch):
    frame = wide(400)
    at_once = read_columns(frame)
    assert len(word_columns.word_columns(frame.get_columns())) > 50
    monkeypatch.setattr(word_columns, "MANY_COLUMNS", 10_000)
    one_by_one = read_columns(frame)
    assert list(at_once) == list(one_by_one) == frame.columns
    for name, column in at_once.items():
        assert repr(plain(column)) == repr(plain(one_by_one[name]))


def test_columns_of_words_ask_no_question_each(monkeypatch):
    """A hundred thousand of them would need as many plans of Polars, ten times over."""
    asked = []
    monkeypatch.setattr(profiles, "_text", lambda s, *_: asked.append(s.name))
    frame = pl.DataFrame({f"c{j}": ["red", "w3", None] for j in range(word_columns.MANY_COLUMNS)})
    found = read_columns(frame)
    assert not asked
    assert found["c9"].counts == (("red", 1), ("w3", 1))
    assert (found["c9"].missing, found["c9"].words, found["c9"].kind) == (1, 1.0, "category")


def test_sentences_are_not_taken_for_words():
    frame = pl.DataFrame(
        {f"c{j}": ["one of three words", "and four more words"] for j in range(64)}
    )
    assert {column.kind for column in read_columns(frame).values()} == {
        profiles.read_column(frame["c0"]).kind
    }


@pytest.mark.parametrize("cells", [["a", None, "é;"], ["", "b"], [None, None, "x"]])
def test_short_texts_have_the_digest_of_long_ones(cells, monkeypatch):
    series = pl.Series("t", cells)
    short = [bytes(part) for part in equality._text_bytes(series)]
    monkeypatch.setattr(equality, "SHORT", -1)
    assert short == [bytes(part) for part in equality._text_bytes(series)]
