r"""Numbers as people write them: one form per column, found from its cells and then kept.

A form is written as its own example, ``1,234.5``, ``1.234,5 €``, ``1234.5 %``: the mark between
thousands (none, comma, point, blank, apostrophe), the decimal mark, and the currency, percent sign
or unit. Under a form a cell may have its sign in front, as U+2212, behind (``5-``) or as accounting
brackets (``(5)``), the currency on either side, and blanks of any kind; a bare number is read too.
What stands beside the number never changes it: ``47.1%`` is 47.1.

``find_form`` takes the form that reads the most cells. Where 1,018 may be 1018 or 1.018 in every
cell, it is 1018 in a column of money or where numbers below 1000 alone have no mark; else
``decimal`` decides (what other columns of the table show); else a comma parts thousands, a point
begins decimals, and ``doubt`` says so.

No numbers: leading zeros, phone numbers (``+`` and eight digits or more), names of 16 digits and
more, blanks or points between groups of equally many digits, columns that stand in brackets
throughout, and columns with versions or addresses (``1.10.2``, ``10.0.0.7``): two points or more
that do not part thousands.
"""

import re
from typing import NamedTuple

import polars as pl

from pellucid.data.cells import CODES, converted

PLAIN = "1234.5"
STYLES = ((".", ","), (".", " "), (".", "'"), (",", "."), (",", " "), (",", "'"))  # decimal, group
LONG = 15  # digits that a number may have; more are a name
LEAST = 7  # digits of a code that is written in groups
PHONE = 8
DOTTED = 0.05  # share of versions and addresses from which a column is none of numbers
UNITS = 5  # more units than these are words, not units
_MONEY = r"[$€£¥₹₽₩₺₴₫₪฿₦₱₡₵₸₿¢]"
_CODES = (
    "USD|EUR|GBP|JPY|CNY|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|RUB|UAH|TRY|INR|KRW|BRL|"
    "MXN|ZAR|SGD|HKD|THB|IDR|MYR|PHP|ILS|AED|SAR|EGP|NGN|KES|ARS|CLP|COP|PEN|VND|PKR|TWD|ISK|RMB|"
    r"(?:Rs|kr|Fr)[. ]"
)
_FRONT = rf"(?P<front>[A-Z]{{0,3}}{_MONEY}|{_CODES})"
_START = r"(?:/\p{L}|[\p{L}°µ%‰\"″′" + _MONEY[1:] + ")"
_WORD = _START + r"[\p{L}\d/²³·.^%°" + _MONEY[1:] + "{0,11}"
_NUMBER = r"(?P<number>(?:\d[\d.,' ]*\d|\d|[.,]\d+)(?:[eE][+-]?\d+)?)"
_CELL = (
    rf"^(?P<open>\()? ?(?P<sign>[+-])? ?{_FRONT}? ?(?P<inner>\()? ?(?P<second>[+-])? ?{_NUMBER}"
    rf" ?(?P<unit>{_WORD}(?: \p{{L}}[\p{{L}}./²³]{{0,11}})?)? ?(?P<close>\))? ?(?P<after>{_WORD})?"
    r" ?(?P<trail>-)?$"
)


class Found(NamedTuple):
    """The form of a column, and whether its cells leave open what a mark means."""

    form: str
    doubt: bool


class Marks(NamedTuple):
    """A form taken apart."""

    decimal: str
    group: str  # between thousands; empty for none
    unit: str

    def __str__(self) -> str:
        return f"1{self.group}234{self.decimal}5" + (f" {self.unit}" if self.unit else "")


def marks_of(form: str) -> Marks:
    """The marks of a form.

    >>> marks_of("1.234,5 €")
    Marks(decimal=',', group='.', unit='€')
    """
    found = re.fullmatch(r"1([,.' ]?)234([.,])5(?: (.+))?", form)
    if found is None:
        raise ValueError(f"a number form is written as its example, 1,234.5 or 1234.5 kg: {form!r}")
    return Marks(found[2], found[1], found[3] or "")


def read_amounts(cells: pl.Series, form: str = PLAIN) -> pl.Series:
    """Text as numbers under one form; null where a cell is written otherwise.

    >>> read_amounts(pl.Series(["€1.018,84", "(73,4)", "5 $"]), "1.234,5 €").to_list()
    [1018.84, -73.4, None]
    """
    frame = cells.alias("cell").to_frame()
    if form == PLAIN:
        read = frame.select(_plain(pl.col("cell")).alias(cells.name)).to_series()
        if read.null_count() == cells.null_count():
            return read
    return _parts(frame).select(_value(marks_of(form)).alias(cells.name)).to_series()


def find_form(counts: pl.DataFrame, decimal: str = "") -> Found | None:
    """The form of most cells, from distinct ones (``cell``, ``count``); None: they are no numbers.

    >>> find_form(pl.DataFrame({"cell": ["€1,018", "€26,316.5"], "count": [3, 1]}))
    Found(form='1,234.5 €', doubt=False)
    >>> find_form(pl.DataFrame({"cell": ["1,018", "2,500"], "count": [1, 1]}))
    Found(form='1,234.5', doubt=True)
    >>> find_form(pl.DataFrame({"cell": ["1.2.3", "10-20", "+49 170 1234567"], "count": [1] * 3}))
    """
    counts = counts.filter(pl.col("cell").str.contains(r"\d"))
    if not counts.height or _are_versions(counts):
        return None
    plain = counts.filter(_plain(pl.col("cell")).is_not_null())
    if plain.height == counts.height:
        return Found(PLAIN, False) if _are_numbers(counts.with_columns(number="cell")) else None
    parts = _parts(counts)
    read = parts.filter(pl.col("number").is_not_null())
    if not read.height or not _are_numbers(read):
        return None
    unit = _commonest_unit(read)
    of_unit = read.filter(_has_unit(unit))
    score = {s: _weight(of_unit, _is_written(Marks(*s, unit))) for s in STYLES}
    best = max(STYLES, key=lambda style: score[style])  # the first of equals
    rivals = [s for s in STYLES if s[0] != best[0] and score[s] == score[best]]
    written = of_unit.filter(_is_written(Marks(*best, unit)))
    doubt = bool(rivals) and bool(written["number"].str.contains("[.,]").any())
    if doubt:  # every mark stands before three digits
        commas = written["number"].str.contains(",", literal=True).any()
        small, money = _small_without_mark(written), bool(re.search(f"{_MONEY}|{_CODES}", unit))
        sure = commas and (small or money)  # no currency has three decimals
        if not sure and ((small and money) or (decimal and best[0] != decimal)):
            best = rivals[0]  # 900 € and 1.200 €, or as the other columns show
        doubt = not sure and not decimal
    grouped = of_unit.filter(_is_written(Marks(*best, unit)))["number"]
    group = best[1] if grouped.str.contains(best[1], literal=True).any() else ""
    marks = Marks(best[0], group, unit)
    if _are_codes(of_unit, marks):
        return None
    return Found(str(marks), doubt)


def is_readable(cells: pl.Series) -> pl.Series:
    """Whether a cell is a number in any form; a column with none of them has no form.

    >>> is_readable(pl.Series(["w3", "5 kg", "1e3", "red"])).to_list()
    [False, True, True, False]
    """
    frame = cells.alias("cell").to_frame()
    plain = frame.select(_plain(pl.col("cell")).is_not_null()).to_series()
    return plain | _parts(frame)["number"].is_not_null()


def look_like_amounts(counts: pl.DataFrame, share: float, least: int) -> bool:
    """Whether so large a share of the cells are numbers of few units, more than ``least`` of them.

    >>> cells = [f"{i} {('kg', 'lb')[i % 2]}" for i in range(40)]
    >>> look_like_amounts(pl.DataFrame({"cell": cells, "count": [1] * 40}), 0.9, 20)
    True
    """
    if _are_versions(counts):
        return False
    parts = _parts(counts).filter(pl.col("number").is_not_null())
    enough = int(parts["count"].sum()) >= share * int(counts["count"].sum())
    return bool(enough and parts["number"].n_unique() > least and parts["unit"].n_unique() <= UNITS)


def _tidy(cell: pl.Expr) -> pl.Expr:
    """Blanks, minus signs and apostrophes of Unicode as those of the keyboard."""
    for found, plain in (
        (r"[\u00a0\u2007\u2009\u202f]", " "),
        (r"[\u2212\u2010\u2011\u2013\ufe63\uff0d]", "-"),
        ("\uff0b", "+"),
        ("[\u2019\u02bc]", "'"),
    ):
        cell = cell.str.replace_all(found, plain)
    return cell.str.strip_chars()


def _parts(frame: pl.DataFrame) -> pl.DataFrame:
    """Every cell taken apart; ``number`` is null where it does not have the shape of an amount."""
    parts = frame.with_columns(_tidy(pl.col("cell")).str.extract_groups(_CELL).alias("parts"))
    parts = parts.unnest("parts").with_columns(
        bracket=pl.col("open").is_not_null() ^ pl.col("inner").is_not_null(),
        unit=pl.concat_str(["front", "unit", "after"], separator=" ", ignore_nulls=True),
    )
    signs = [pl.col(name).is_not_null() for name in ("sign", "second", "trail")]
    one = pl.sum_horizontal(*signs, "bracket") <= 1
    closed = pl.col("bracket") == pl.col("close").is_not_null()
    counted = pl.col("unit").str.contains(r"^(?:st|nd|rd|th)\b")  # 3rd is a rank, not a quantity
    whole = (
        one & closed & ~counted & ~(pl.col("open").is_not_null() & pl.col("inner").is_not_null())
    )
    return parts.with_columns(pl.when(whole).then("number").alias("number"))


def _is_written(marks: Marks) -> pl.Expr:
    """Whether the digits of a cell are in the style of a form."""
    point = re.escape(marks.decimal)
    groups = {"": "", ",": r"(?:,\d{2,3})*,\d{3}"}.get(
        marks.group, rf"(?:{re.escape(marks.group)}\d{{3}})+"
    )
    whole = r"(?:0|[1-9]\d*" + (rf"|[1-9]\d{{0,2}}{groups}" if groups else "") + ")"
    exponent = r"(?:[eE][+-]?\d+)?"
    number = pl.col("number")
    return number.str.contains(rf"^(?:{whole}(?:{point}\d*)?|{point}\d+){exponent}$")


def _value(marks: Marks) -> pl.Expr:
    """The number of every cell that is written in a form; null for the others."""
    text = pl.col("number")
    if marks.group:
        text = text.str.replace_all(marks.group, "", literal=True)
    size = text.str.replace(marks.decimal, ".", literal=True).cast(pl.Float64, strict=False)
    minus = pl.col("bracket") | pl.any_horizontal(
        pl.col("sign") == "-", pl.col("second") == "-", pl.col("trail") == "-"
    ).fill_null(False)
    value = pl.when(_is_written(marks) & _has_unit(marks.unit)).then(
        pl.when(minus).then(-size).otherwise(size)
    )
    return pl.coalesce(value, _plain(pl.col("cell"))) if marks.decimal == "." else value


def _plain(cell: pl.Expr) -> pl.Expr:
    """Numbers as any program writes them; codes are none."""
    return pl.when(~cell.str.contains(CODES)).then(converted(cell, "float"))


def _has_unit(unit: str) -> pl.Expr:
    """The unit itself, its plural, or none."""
    names = ["", unit, f"{unit}s", unit.removesuffix("s")] if len(unit) > 2 else ["", unit]
    return pl.col("unit").fill_null("").is_in(names)


def _weight(read: pl.DataFrame, which: pl.Expr) -> int:
    return int(read.select(pl.col("count").filter(which).sum()).item())


def _commonest_unit(read: pl.DataFrame) -> str:
    """The unit of at least half of the numbers; the numbers are bare without one."""
    units = read.group_by("unit").agg(pl.col("count").sum()).filter(pl.col("unit") != "")
    if not units.height:
        return ""
    unit = str(units.sort(["count", "unit"], descending=[True, False])["unit"][0])
    with_it = _weight(read, _has_unit(unit) & (pl.col("unit") != ""))
    return unit if 2 * with_it >= int(read["count"].sum()) else ""


def _small_without_mark(written: pl.DataFrame) -> bool:
    """Whether numbers below 1000, and only those, have no mark: then the mark parts thousands."""
    bare = written.filter(~pl.col("number").str.contains("[.,]"))["number"]
    return bool(len(bare)) and bool((bare.str.len_chars() < 4).all())


def _are_numbers(read: pl.DataFrame) -> bool:
    """Not codes with leading zeros, phone numbers, names of many digits or notes in brackets."""
    if "unit" not in read.columns:
        read = read.with_columns(unit=pl.lit(""), bracket=pl.lit(False))
    cell, bare = pl.col("cell"), pl.col("unit") == ""
    digits = pl.col("number").str.count_matches(r"\d")
    code = bare & cell.str.contains(rf"^\s*(?:[+-]?0\d|\+(?: ?\d){{{PHONE},}}\s*$)")
    long = bare & (digits > LONG) & ~cell.str.contains(r"[.,eE]")
    count = pl.col("count")
    none, short, open_ = read.select(
        (~code).all(),
        (2 * count.filter(long).sum() <= count.sum()).alias("short"),
        (~pl.col("bracket")).any().alias("open"),
    ).row(0)
    return bool(none and short and open_)


def _are_versions(counts: pl.DataFrame) -> bool:
    """Whether cells have two points or more that do not part thousands.

    >>> _are_versions(pl.DataFrame({"cell": ["1.10", "1.10.2", "10.0.0.7"], "count": [5, 1, 1]}))
    True
    >>> _are_versions(pl.DataFrame({"cell": ["1.018.500", "2.000", "31"], "count": [1, 1, 1]}))
    False
    """
    cell = pl.col("cell").str.strip_chars()
    dotted = cell.str.contains(r"^[vV]?\d+(?:\.\d+){2,}$")
    thousands = cell.str.contains(r"^[1-9]\d{0,2}(?:\.\d{3})+$")
    return _weight(counts, dotted & ~thousands) > DOTTED * int(counts["count"].sum())


def _are_codes(read: pl.DataFrame, marks: Marks) -> bool:
    """Groups of digits that every cell has equally many of: 601 234 567 may be a phone number."""
    if marks.unit or marks.group in ("", ","):
        return False
    number = read["number"]
    digits = number.str.count_matches(r"\d")
    same = digits.n_unique() == 1 and digits[0] >= LEAST and read.height > 2
    return bool(same and not number.str.contains(marks.decimal, literal=True).any())
