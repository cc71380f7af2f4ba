"""Numbers and dates as people write them: written in any form, they are read back equal."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.study.reading.dates import DAY_FIRST, FORMS, MONTH_FIRST, dates_of_form, read_dates
from pellucid.study.reading.number_forms import PLAIN, find_form, marks_of, read_amounts
from pellucid.study.reading.profiles import read_column, read_columns, typed_frame

UNITS = ("", "€", "$", "£", "USD", "EUR", "CHF", "R$", "%", "kg", "cm", "mg/dL", "°C", "m²")
STYLES = [(".", ","), (".", " "), (".", "'"), (",", "."), (",", " "), (",", "'"), (".", "")]
SIGNS = ("{}", "-{}", "\u2212{}", "({})", "{}-", "+{}")
FRONT = {"€", "$", "£", "USD", "EUR", "CHF", "R$"}


def counted(cells):
    return pl.Series("cell", cells).value_counts(name="count")


def written(cents, style, unit, sign, place):
    """Whole cents as a person would write them."""
    decimal, group = style
    text = f"{abs(cents) / 100:,.2f}".replace(",", "_").replace(".", decimal).replace("_", group)
    blank = "\u00a0" if place % 2 else ""
    if unit and place < 2 and unit in FRONT:
        text = f"{unit}{blank}{text}"
    elif unit:
        text = f"{text}{blank}{unit}"
    if sign == "{}-" and unit and not (place < 2 and unit in FRONT):
        sign = "-{}"
    return sign.format(text)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 10**9), min_size=3, max_size=30, unique=True),
    st.sampled_from(STYLES),
    st.sampled_from(UNITS),
    st.integers(0, 3),
    st.randoms(use_true_random=False),
)
def test_what_is_written_is_read_back(cents, style, unit, place, random):
    cents = [*cents, 1_234_567]  # one amount that shows the mark between thousands
    signs = [random.choice(SIGNS) if c else "{}" for c in cents[:-1]] + ["{}"]
    cells = [written(c, style, unit, s, place) for c, s in zip(cents, signs, strict=True)]
    minus = [-1 if s in SIGNS[1:5] else 1 for s in signs]
    column = read_column(pl.Series("x", cells))
    truth = [m * c / 100 for m, c in zip(minus, cents, strict=True)]
    assert column.cells.to_list() == truth
    assert (column.strays, column.doubt) == (None, False)
    if style[1] or unit:
        assert marks_of(column.form)[:2] == style
        assert marks_of(column.form).unit == unit
    assert read_amounts(pl.Series(cells), column.form).to_list() == truth


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["€1,018.84", "€26,316"], [1018.84, 26316]),
        (["26,316", "947"], [26316, 947]),
        (["47.1%", "5 %"], [47.1, 5]),
        (["(73.4)", "12", "($5)"], None),  # two ways at once: a unit of a minority
        (["(73.4)", "12"], [-73.4, 12]),
        (["$1,018.84", "($5.00)", "$(3)", "-$4", "$-4"], [1018.84, -5, -3, -4, -4]),
        (["₹12,34,567", "₹5,00,000"], [1234567, 500000]),
        (["1 room", "3 rooms"], [1, 3]),
        (["R$ 1.018,50", "R$ 5,00"], [1018.5, 5]),
        (["3 sq ft", "5 sq ft"], [3, 5]),
        (["1.5e3", "2E-2", "7"], [1500, 0.02, 7]),
        (["1\u202f018,5", "3,2"], [1018.5, 3.2]),
        (["\u22125", "+3", "\u20132.5"], [-5, 3, -2.5]),
    ],
)
def test_examples(cells, read):
    found = find_form(counted(cells))
    values = read_amounts(pl.Series(cells), found.form).to_list()
    assert values == read or (read is None and None in values)


TEXT = {
    "versions": ["1.2.3", "1.2.10", "2.4.11", "10.0.1"],
    "ranges": ["10-20", "20-30", "30-40"],
    "dashed ranges": ["10–20", "20–30", "30–40"],
    "times": ["12:30", "08:15", "23:59:01"],
    "zip codes": ["02139", "90210", "10001"],
    "long zip codes": ["90210-1234", "10001-0001"],
    "phones": ["+49 170 1234567", "+49 30 123456", "+1 212 5550100"],
    "phones in one piece": ["+491701234567", "+49301234567"],
    "phones in groups": ["601 234 567", "700 111 222", "512 333 444"],
    "local phones": ["555-1234", "555-9876"],
    "accounts": ["12345678901234567", "22345678901234567", "32345678901234567"],
    "grouped accounts": ["12.345.678", "23.456.789", "34.567.890"],
    "cards": ["4111 1111 1111 1111", "5500 0000 0000 0004"],
    "seats": ["12A", "3B", "14C", "7D"],
    "ordinals": ["1st", "2nd", "3rd", "4th"],
    "ranks": ["3rd class", "3rd class ", "2nd class", "1st class"],
    "days": [f"{i}th" for i in range(4, 21)],
    "genes": ["rs10907175", "rs3813199", "rs3766186"],
    "years of school": ["12years", "<9years", "13-15years", "9-11years", "12years", ">16years"],
    "fractions": ["1/2", "3/4", "5/8"],
    "footnotes": ["(1)", "(2)", "(3)"],
    "addresses": ["192.168.1.1", "10.0.0.12", "8.8.8.8"],
    "scores": ["3:2", "1:0", "2:2"],
    "codes": ["A12", "B7", "C110"],
    "censored": ["<5", ">100", "~7"],
    "currencies": ["$5", "€6", "£7", "¥8"],
    "sizes": ["10x20", "30x40"],
    "security numbers": ["123-45-6789", "987-65-4321"],
    "words": ["forty", "two", "none"],
    "grades": ["1+", "2-3", "4-5"],
}


@pytest.mark.parametrize("cells", TEXT.values(), ids=TEXT)
def test_what_must_stay_text(cells):
    column = read_column(pl.Series("x", cells * 12))
    assert (column.kind, column.strays) == ("category", None)
    assert column.cells.to_list() == [cell.strip() for cell in cells] * 12
    frame = pl.DataFrame({"x": cells * 12})
    assert typed_frame(frame, read_columns(frame)).equals(frame)


def test_long_whole_numbers_are_names():
    frame = pl.DataFrame({"account": [10**15 + 7 * i for i in range(40)], "n": range(40)})
    columns = read_columns(frame)
    assert (columns["account"].kind, columns["n"].kind) == ("category", "whole")
    assert typed_frame(frame, columns)["account"][1] == "1000000000000007"


@pytest.mark.parametrize(
    ("cells", "value", "doubt"),
    [
        (["1,018", "2,500"], 1018.0, True),  # nothing decides: a comma parts thousands
        (["1,018", "900"], 1018.0, False),  # numbers below 1000 alone have no mark
        (["1,018", "0,500"], 1.018, False),  # no thousands begin with a zero
        (["1,018", "2,5"], 1.018, False),
        (["1,018", "2,500,000"], 1018.0, False),
        (["$1,018", "$2,500"], 1018.0, False),  # no currency has three decimals
        (["1.018 €", "2.500 €"], 1.018, True),
        (["1.018 €", "900 €"], 1018.0, True),
        (["1.018 €", "2,5 €"], 1018.0, False),
    ],
)
def test_a_mark_before_three_digits(cells, value, doubt):
    found = find_form(counted(cells))
    assert (read_amounts(pl.Series(cells), found.form)[0], found.doubt) == (value, doubt)


def test_the_other_columns_of_a_table_decide():
    frame = pl.DataFrame({"a": ["1,459", "1,789"] * 15, "b": ["0,5 €", "3,75 €"] * 15})
    columns = read_columns(frame)
    assert columns["a"].cells.to_list()[:2] == [1.459, 1.789]
    alone = read_columns(frame.select("a"))["a"]
    assert (alone.cells.to_list()[:2], alone.doubt) == ([1459, 1789], True)


def test_forms_are_their_own_example():
    for form in ("1,234.5", "1.234,5 €", PLAIN, "1'234.5 CHF", "1234.5 sq ft"):
        assert str(marks_of(form)) == form
    with pytest.raises(ValueError, match="a number form is written as its example"):
        marks_of("12 kg")


DAYS = [dt.datetime(2024, 1, 31), dt.datetime(1999, 12, 5), dt.datetime(2011, 3, 4)]


@pytest.mark.parametrize(
    "name", [n for n in FORMS if n not in ("Mon Y", "Month Y", "M/Y", "YYYYMMDD")]
)
@pytest.mark.parametrize(
    ("time", "clock"), [("", ()), (" %H:%M", (13, 5)), (" %I:%M:%S %p", (13, 5, 9))]
)
def test_dates_are_read_back(name, time, clock):
    moments = [dt.datetime.combine(day, dt.time(*clock)) for day in DAYS]
    cells = pl.Series("d", [moment.strftime(FORMS[name] + time) for moment in moments])
    found = read_dates(cells, cells)
    assert found.cells.to_list() == moments
    assert "no cell decides" not in found.form
    later = pl.Series(["01/02/2024"])
    if name in ("D/M/Y", "M/D/Y"):  # the order of the learning rows holds for a row that is silent
        assert dates_of_form(later, found.form)[0].month == (2 if name == "D/M/Y" else 1)


def test_the_order_of_day_and_month_is_one_for_the_column():
    unsure = pl.Series(["01/02/2024", "03/04/2024"])
    assert read_dates(unsure, unsure).form == "D/M/Y (or M/D/Y: no cell decides)"
    both = pl.Series(["13/01/2024", "01/13/2024"] * 5)
    assert read_dates(both, both.unique()) is None  # whichever it is, half the cells are wrong
    assert not DAY_FIRST.keys() & MONTH_FIRST.keys()


def test_stray_cells_have_their_rows():
    cells = [f"${i},{i % 10}00" for i in range(1, 60)]
    cells[7] = "forty"
    column = read_column(pl.Series("x", cells))
    assert (column.kind, column.missing) == ("whole", 1)
    assert column.strays[1:4] == (1, ("forty",), (7,))
    days = [f"{1 + i % 28:02}.01.2024" for i in range(60)]
    days[3] = "soon"
    column = read_column(pl.Series("x", days))
    assert (column.kind, column.strays.examples, column.strays.rows) == ("date", ("soon",), (3,))


def test_the_answer_does_not_depend_on_the_order_of_rows():
    cells = ["1,018", "947", "(5)", "x"] * 10
    rng = np.random.default_rng(0)
    a = read_column(pl.Series("x", cells))
    b = read_column(pl.Series("x", [cells[i] for i in rng.permutation(40)]))
    assert (a.kind, a.strays.examples, a.form) == (b.kind, b.strays.examples, b.form)
