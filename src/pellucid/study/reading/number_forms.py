r"""Numbers as people write them: one form per column, found from its cells and then kept.

A form is written as its own example, ``1,234.5``, ``1.234,5 €``, ``1234.5 %``: the mark between
thousands (none, comma, point, blank, apostrophe), the decimal mark, and the currency, percent sign
or unit. Under a form a cell may have its sign in front, as U+2212, behind (``5-``) or as accounting
brackets (``(5)``), the currency on either side, "about" (``~5``) and blanks of any kind; a bare
number is read too.
What stands beside the number never changes it: ``47.1%`` is 47.1.

``find_form`` takes the form that reads the most cells. Where 1,018 may be 1018 or 1.018 in every
cell, it is 1018 in a column of money or where numbers below 1000 alone have no mark; else
``decimal`` decides (what other columns of the table show); else a comma parts thousands, a point
begins decimals, and ``doubt`` says so.

Lengths of time and times of day (``7:45``, ``1:02:03``, ``7:45 pm``) count in their last part, in
columns where every cell is one and more than 20 differ: ``1:02:03`` is 3723 seconds, ``7:45`` is
465, whether the parts are hours and minutes or minutes and seconds.

No numbers: leading zeros, phone numbers (``+`` and eight digits or more), names of 16 digits and
more, blanks or points between groups of equally many digits, columns that stand in brackets
throughout, and columns with versions or addresses (``1.10.2``, ``10.0.0.7``): two points or more
that do not part thousands.
"""

import re
from typing import Any, NamedTuple

import polars as pl

from pellucid.data.cells import CODES, converted

PLAIN = "1234.5"
STYLES = ((".", ","), (".", " "), (".", "'"), (",", "."), (",", " "), (",", "'"))  # decimal, group
CLOCKS = {"12:34": "", "12:34:56": "s"}  # forms of time, and the unit of their numbers if known
_CLOCK = r"^(-?\d{1,3}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?(?: ?([AaPp])\.?[Mm]\.?)?$"
TIMES = 20  # fewer different ones than this are levels
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
    rf"^[~≈]? ?(?P<open>\()? ?(?P<sign>[+-])? ?{_FRONT}? ?(?P<inner>\()? ?(?P<second>[+-])? ?"
    rf"{_NUMBER}"
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
    if form in CLOCKS:
        return Marks(".", "", CLOCKS[form])
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
    if form in CLOCKS:
        return frame.select(_time(pl.col("cell")).alias(cells.name)).to_series()
    if form == PLAIN:
        read = frame.select(_plain(pl.col("cell")).alias(cells.name)).to_series()
        if read.null_count() == cells.null_count():
            return read
    marks = marks_of(form)
    value = _value(marks.decimal, marks.group, pl.lit(marks.unit))
    return _parts(frame).select(value.alias(cells.name)).to_series()


def read_each(cells: pl.DataFrame) -> pl.Series:
    """Text as numbers, every ``cell`` under the ``form`` beside it.

    >>> cells = pl.DataFrame({"cell": ["1,5", "1,500 kg"], "form": ["1234,5", "1,234.5 kg"]})
    >>> read_each(cells).to_list()
    [1.5, 1500.0]
    """
    forms = [form for form in cells["form"].unique().to_list() if form not in CLOCKS]
    cells = cells.with_row_index("place")
    clocks = cells.filter(pl.col("form").is_in(list(CLOCKS)))
    marks = pl.DataFrame([marks_of(form) for form in forms], schema=Marks._fields, orient="row")
    marks = marks.rename({"unit": "form_unit"}).with_columns(form=pl.Series(forms, dtype=pl.String))
    asked = cells.select("place", "cell", "form").join(marks, on="form")
    read = [clocks.select("place", _time(pl.col("cell")).alias("cell"))] + [
        _parts(some).select(
            "place", _value(str(key[0]), str(key[1]), pl.col("form_unit")).alias("cell")
        )
        for key, some in asked.partition_by("decimal", "group", as_dict=True).items()
    ]
    return pl.concat(read).sort("place").to_series(1)


def find_form(counts: pl.DataFrame, decimal: str = "") -> Found | None:
    """The form of most cells, from distinct ones (``cell``, ``count``); None: they are no numbers.

    >>> find_form(pl.DataFrame({"cell": ["€1,018", "€26,316.5"], "count": [3, 1]}))
    Found(form='1,234.5 €', doubt=False)
    >>> find_form(pl.DataFrame({"cell": ["1,018", "2,500"], "count": [1, 1]}))
    Found(form='1,234.5', doubt=True)
    >>> find_form(pl.DataFrame({"cell": ["1.2.3", "10-20", "+49 170 1234567"], "count": [1] * 3}))
    """
    return find_forms(counts.with_columns(column=0), decimal).get(0)


def find_forms(counts: pl.DataFrame, decimal: str = "") -> dict[int, Found]:
    """The forms of many columns at once, by their number (``column``); no entry: no numbers.

    >>> cells = pl.DataFrame({"column": [3, 3, 5], "cell": ["1,5", "2,75", "red"], "count": 1})
    >>> find_forms(cells)
    {3: Found(form='1234,5', doubt=False)}
    """
    cell = pl.col("cell")
    counts = counts.filter(cell.str.contains(r"\d"))
    clocks = _clock_forms(counts)
    if clocks:
        counts = counts.filter(~pl.col("column").is_in(list(clocks)))
    counts = counts.with_columns(plain=_plain(cell).is_not_null(), version=_is_version())
    judged = counts.group_by("column").agg(
        plain=pl.col("plain").all(),
        versions=_are_versions(),
        numbers=_are_numbers(cell, pl.lit(True)),
    )
    judged = judged.filter(~pl.col("versions"))
    plain = judged.filter(pl.col("plain") & pl.col("numbers"))["column"]
    found = dict.fromkeys(plain.to_list(), Found(PLAIN, False))
    rest = judged.filter(~pl.col("plain"))["column"]
    if len(rest):
        parts = _parts(counts.filter(pl.col("column").is_in(rest.implode())))
        found |= _written_forms(parts.filter(pl.col("number").is_not_null()), decimal)
    return found | clocks


def _clock_forms(counts: pl.DataFrame) -> dict[int, Found]:
    """The columns of which every cell is a length of time or a time of day, and most differ.

    Few of them are levels: the hours at which a shop opens.
    """
    cell = _tidy(pl.col("cell"))
    if not counts["cell"].str.contains(":", literal=True).any():
        return {}
    judged = counts.group_by("column").agg(
        clock=cell.str.contains(_CLOCK).all() & (pl.len() > TIMES),
        seconds=(cell.str.count_matches(":") == 2).any(),
    )
    wanted = judged.filter("clock").select("column", "seconds").iter_rows()
    return {j: Found("12:34:56" if seconds else "12:34", False) for j, seconds in wanted}


def _time(cell: pl.Expr) -> pl.Expr:
    """A length of time or a time of day, counted in its last part; null for other cells."""
    parts = _tidy(cell).str.extract_groups(_CLOCK)
    first, second, third = (
        parts.struct.field(str(i)).cast(pl.Float64, strict=False) for i in (1, 2, 3)
    )
    half = parts.struct.field("4").str.to_lowercase()
    hour = pl.when(half.is_null()).then(first).otherwise(first % 12 + 12 * (half == "p"))
    sign = pl.when(parts.struct.field("1").str.starts_with("-")).then(-1.0).otherwise(1.0)
    size = hour.abs() * 60 + second
    return sign * pl.when(third.is_null()).then(size).otherwise(size * 60 + third)


def _written_forms(read: pl.DataFrame, decimal: str) -> dict[int, Found]:
    """The forms of columns whose cells have been taken apart."""
    bare = pl.col("unit") == ""
    numbers = read.group_by("column").agg(
        numbers=_are_numbers(pl.col("number"), bare) & (~pl.col("bracket")).any()
    )
    numbers = numbers.filter("numbers")
    if not numbers.height:
        return {}
    read = read.filter(pl.col("column").is_in(numbers["column"].implode()))
    units = _commonest_units(read)
    of_unit = read.join(units, on="column").filter(_has_unit(pl.col("form_unit")))
    number, count = pl.col("number"), pl.col("count")
    marked = number.str.contains("[.,]")
    styles = list[pl.Expr]()
    for i, (point, group) in enumerate(STYLES):
        written = pl.col(f"written{i}")
        bare = written & ~marked
        styles += [
            count.filter(written).sum().alias(f"score{i}"),
            (written & marked).any().alias(f"marked{i}"),
            (written & number.str.contains(",", literal=True)).any().alias(f"commas{i}"),
            # numbers below 1000, and only those, have no mark: then the mark parts thousands
            (bare.any() & (number.str.len_chars() < 4).filter(bare).all()).alias(f"small{i}"),
            (written & number.str.contains(group, literal=True)).any().alias(f"grouped{i}"),
            number.str.contains(point, literal=True).any().alias(f"points{i}"),
        ]
    digits = number.str.count_matches(r"\d")
    seen = of_unit.with_columns(
        _is_written(*style).alias(f"written{i}") for i, style in enumerate(STYLES)
    )
    seen = seen.group_by("column").agg(
        pl.col("form_unit").first().alias("unit"),
        *styles,
        same=(digits.n_unique() == 1) & (digits.first() >= LEAST) & (pl.len() > 2),
    )
    found = dict.fromkeys(numbers["column"].to_list(), Found(PLAIN, False))
    for row in seen.iter_rows(named=True):
        form = _form(row, decimal)
        if form is None:
            del found[row["column"]]
        else:
            found[row["column"]] = form
    return found


def _form(seen: dict[str, Any], decimal: str) -> Found | None:
    """The form of one column from what its cells show in every style."""
    unit = seen["unit"]
    every = range(len(STYLES))
    best = max(every, key=lambda i: seen[f"score{i}"])  # the first of equals
    rivals = [
        i
        for i in every
        if STYLES[i][0] != STYLES[best][0] and seen[f"score{i}"] == seen[f"score{best}"]
    ]
    doubt = bool(rivals) and seen[f"marked{best}"]
    if doubt:  # every mark stands before three digits
        small, money = seen[f"small{best}"], bool(re.search(f"{_MONEY}|{_CODES}", unit))
        sure = seen[f"commas{best}"] and (small or money)  # no currency has three decimals
        if not sure and ((small and money) or (decimal and STYLES[best][0] != decimal)):
            best = rivals[0]  # 900 € and 1.200 €, or as the other columns show
        doubt = not sure and not decimal
    group = STYLES[best][1] if seen[f"grouped{best}"] else ""
    # groups of digits that every cell has equally many of: 601 234 567 may be a phone number
    if not unit and group not in ("", ",") and seen["same"] and not seen[f"points{best}"]:
        return None
    return Found(str(Marks(STYLES[best][0], group, unit)), doubt)


def amount_like(counts: pl.DataFrame, share: float, least: int) -> set[int]:
    """The columns with so large a share of numbers in few units, and more than ``least`` of them.

    >>> cells = [f"{i} {('kg', 'lb')[i % 2]}" for i in range(40)]
    >>> amount_like(pl.DataFrame({"column": 7, "cell": cells, "count": 1}), 0.9, 20)
    {7}
    """
    parts = _parts(counts.with_columns(version=_is_version()))
    is_number, count = pl.col("number").is_not_null(), pl.col("count")
    enough = count.filter(is_number).sum() >= share * count.sum()
    sizes, units = (pl.col(name).filter(is_number).n_unique() for name in ("number", "unit"))
    likely = ~_are_versions() & enough & (sizes > least) & (units <= UNITS)
    judged = parts.group_by("column").agg(likely=likely)
    return set(judged.filter("likely")["column"].to_list())


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


def _is_written(decimal: str, group: str) -> pl.Expr:
    """Whether the digits of a cell are in the style of a form."""
    point = re.escape(decimal)
    groups = {"": "", ",": r"(?:,\d{2,3})*,\d{3}"}.get(group, rf"(?:{re.escape(group)}\d{{3}})+")
    whole = r"(?:0|[1-9]\d*" + (rf"|[1-9]\d{{0,2}}{groups}" if groups else "") + ")"
    exponent = r"(?:[eE][+-]?\d+)?"
    number = pl.col("number")
    return number.str.contains(rf"^(?:{whole}(?:{point}\d*)?|{point}\d+){exponent}$")


def _value(decimal: str, group: str, unit: pl.Expr) -> pl.Expr:
    """The number of every cell that is written in a form; null for the others."""
    text = pl.col("number")
    if group:
        text = text.str.replace_all(group, "", literal=True)
    size = text.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)
    minus = pl.col("bracket") | pl.any_horizontal(
        pl.col("sign") == "-", pl.col("second") == "-", pl.col("trail") == "-"
    ).fill_null(False)
    value = pl.when(_is_written(decimal, group) & _has_unit(unit)).then(
        pl.when(minus).then(-size).otherwise(size)
    )
    return pl.coalesce(value, _plain(pl.col("cell"))) if decimal == "." else value


def _plain(cell: pl.Expr) -> pl.Expr:
    """Numbers as any program writes them; codes are none."""
    return pl.when(~cell.str.contains(CODES)).then(converted(cell, "float"))


def _has_unit(unit: pl.Expr) -> pl.Expr:
    """The unit itself, its plural, or none."""
    own = pl.col("unit").fill_null("")
    plural = (own == unit + "s") | (own == unit.str.strip_suffix("s"))
    return (own == "") | (own == unit) | ((unit.str.len_chars() > 2) & plural)


def _commonest_units(read: pl.DataFrame) -> pl.DataFrame:
    """The unit of at least half of a column's numbers (``form_unit``); empty without one."""
    units = read.group_by("column", "unit").agg(pl.col("count").sum()).filter(pl.col("unit") != "")
    units = units.sort(["count", "unit"], descending=[True, False])
    best = units.group_by("column", maintain_order=True).agg(
        pl.col("unit").first().alias("form_unit")
    )
    # a column without any unit has an empty one
    with_best = read.join(best, on="column", how="left").with_columns(
        pl.col("form_unit").fill_null("")
    )
    count = pl.col("count")
    has = _has_unit(pl.col("form_unit")) & (pl.col("unit") != "")
    judged = with_best.group_by("column").agg(
        pl.col("form_unit").first(), half=2 * count.filter(has).sum() >= count.sum()
    )
    return judged.select("column", pl.when("half").then("form_unit").otherwise(pl.lit("")))


def _are_numbers(number: pl.Expr, bare: pl.Expr) -> pl.Expr:
    """Of a group: not codes with leading zeros, phone numbers or names of many digits."""
    cell, count = pl.col("cell"), pl.col("count")
    code = bare & cell.str.contains(rf"^\s*(?:[+-]?0\d|\+(?: ?\d){{{PHONE},}}\s*$)")
    long = bare & (number.str.count_matches(r"\d") > LONG) & ~cell.str.contains(r"[.,eE]")
    return (~code).all() & (2 * count.filter(long).sum() <= count.sum())


def _is_version() -> pl.Expr:
    """Whether a cell has two points or more that do not part thousands.

    >>> cells = pl.DataFrame({"cell": ["1.10", "1.10.2", "10.0.0.7", "1.018.500"]})
    >>> cells.select(_is_version()).to_series().to_list()
    [False, True, True, False]
    """
    cell = pl.col("cell").str.strip_chars()
    dotted = cell.str.contains(r"^[vV]?\d+(?:\.\d+){2,}$")
    return dotted & ~cell.str.contains(r"^[1-9]\d{0,2}(?:\.\d{3})+$")


def _are_versions() -> pl.Expr:
    """Of a group: whether more than a few cells are versions or addresses."""
    count = pl.col("count")
    return count.filter("version").sum() > DOTTED * count.sum()
