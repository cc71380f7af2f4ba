r"""Cells that stand for "missing" in a column that is numbers otherwise.

    known       -, ?, ., *, n.a., nil, none, unknown, not measured, no data, #REF!: whatever their
                share, if nobody would take the numbers beside them for names of classes
    one word    any other word without a digit, if no second one stands beside it, it comes back,
                and the numbers are quantities: more than 20 different ones, or more than 10 that
                hardly come back

Two words or more beside numbers may be levels; so may a word beside 5 and 10, and <5 has a digit.
"""

import polars as pl

from pellucid.study.reading.counts import FEW_CODES

QUANTITIES = 20  # numbers of more different sizes than this are quantities, not codes
BACK = 2  # times that a word comes back at least; numbers that hardly do are rarely there so often
KNOWN = (
    r"^(?:[-‐‑‒–—―−_.…·*?/]+"
    r"|#(?:REF|VALUE|DIV/0|NAME|NUM|NULL|N/A|CALC|SPILL)[!?]?"
    r"|n\.?[/ ]?a\.?|n\.?[/ ]?d\.?|nan|null|nil|none|missing|blank|empty|unk|unknown|undefined"
    r"|unavailable|tba|tbc|tbd|not \p{L}+"
    r"|no (?:answer|data|entry|info|information|reading|record|response|result|value))$"
)


def is_known_mark(cell: pl.Expr) -> pl.Expr:
    """Whether a cell is one of the usual marks for "missing", in capitals or not.

    >>> cells = pl.DataFrame({"cell": ["--", "N.A.", "not measured", "#DIV/0!", "low", "<5", "+"]})
    >>> cells.select(is_known_mark(pl.col("cell"))).to_series().to_list()
    [True, True, True, True, False, False, False]
    """
    return cell.str.strip_chars().str.contains(f"(?i){KNOWN}")


def with_marks(judged: pl.DataFrame) -> pl.DataFrame:
    """Distinct cells of columns (``column``, ``cell``, ``count``, ``number``) with ``known`` and
    ``mark``: whether a cell that is no number stands for a missing one.

    >>> cells = ["nix", "low", *(f"{i / 7:.3f}" for i in range(15))]
    >>> table = pl.DataFrame({"column": 0, "cell": cells, "count": [9, 1] + [1] * 15})
    >>> table = table.with_columns(number=pl.col("cell").cast(float, strict=False))
    >>> with_marks(table)["mark"].sum(), with_marks(table.filter(cell="nix"))["mark"].sum()
    (0, 0)
    >>> with_marks(table.filter(pl.col("cell") != "low"))["mark"].sum()
    1
    """
    stray, count, number = pl.col("number").is_null(), pl.col("count"), pl.col("number")
    judged = judged.with_columns(known=stray & is_known_mark(pl.col("cell")))
    word = stray & ~pl.col("known") & ~pl.col("cell").str.contains(r"\d")
    sizes, numbers = number.drop_nulls().n_unique(), count.filter(~stray).sum()
    measured = (sizes > QUANTITIES) | ((sizes > FEW_CODES) & (BACK * sizes >= numbers))
    one = pl.col("cell").str.to_lowercase().filter(word).n_unique() == 1
    found = judged.group_by("column").agg(
        single=one & (count.filter(word).sum() >= BACK) & measured
    )
    single = found.filter("single")["column"]
    return judged.with_columns(
        mark=pl.col("known") | (word & pl.col("column").is_in(single.implode()))
    )
