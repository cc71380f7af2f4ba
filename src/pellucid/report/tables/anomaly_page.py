"""Words and pictures of ``pellucid anomalies``, each from the plain data of its report.json."""

from typing import Any

import polars as pl

from pellucid.report.charts import Frame, circle, limits
from pellucid.report.pictures import Picture
from pellucid.report.tables.pages import Page, Section, row_words
from pellucid.report.words import number
from pellucid.study.tables.anomalies import odd_columns

LISTED = 200  # rows in the page


def reason_words(why: dict[str, Any]) -> str:
    """
    >>> told = {"feature": "mass", "value": 9500.0, "expected": 4200.0, "is_number": True}
    >>> reason_words(told)
    'mass 9500, expected about 4200'
    >>> told = {"feature": "sex = missing", "value": 1.0, "expected": 0.01, "is_number": False}
    >>> reason_words(told)
    'sex = missing, unexpected'
    """
    name, value = why["feature"], why["value"]
    if not why["is_number"] and value == 1.0:
        return f"{name}, unexpected"
    if not why["is_number"] and value == 0.0:  # of a level that was expected
        return f"not {name}, which the rest suggests"
    return f"{name} {number(value)}, expected about {number(why['expected'])}"


def row_reasons(r: dict[str, Any]) -> list[tuple[int, float, str]]:
    """Row, score and reasons of every flagged row."""
    return [
        (int(row["row"]), float(row["score"]), "; ".join(map(reason_words, row["reasons"])))
        for row in r["flagged"]
    ]


def with_reasons(scores: pl.DataFrame, r: dict[str, Any]) -> pl.DataFrame:
    """The ``scores`` of the rows with the reasons of those that are flagged."""
    why = {row: words for row, _, words in row_reasons(r)}
    return scores.with_columns(why=pl.Series([why.get(row, "") for row in scores["row"]]))


def anomaly_page(r: dict[str, Any]) -> Page:
    """The oddest rows with their reasons, and the scores of all."""
    rows, n = row_reasons(r), r["rows"]
    facts = (
        (f"{len(rows):,}", "rows listed", f"{r['share']:.1%} of {n:,}"),
        (number(rows[0][1]), "largest score", "the median row has 1"),
        (number(r["threshold"]), "threshold", "score of the last row listed"),
        (f"{r['bulk_rows']:,}", "rows describe the bulk", "the odd ones do not"),
    )
    counts = odd_columns(r).most_common(15)
    lead = (
        "What each row has that the rest of the row does not let expect. The expectation is that "
        "of the bulk of the rows, given all other columns. Rows are counted from 0."
    )
    listed_rows = [(f"row {i}", round(score, 2), words) for i, score, words in rows[:LISTED]]
    text = () if len(rows) <= LISTED else (f"{len(rows) - LISTED} more rows are in anomalies.csv.",)
    sections = (
        Section("The oddest rows", lead, (), ((("row", "score", "why"), listed_rows),), text),
        Section(
            "How far out",
            "Every row by its score; the line is the threshold.",
            (drawn_scores(r),),
            ((("column", "odd cells"), [(name, c) for name, c in counts]),),
        ),
    )
    details = (("method", r["method"]), *row_words(n, r["left_out"]))
    subtitle = f"{r['source']}: {n:,} rows, {len(r['columns'])} columns"
    return Page(
        "Which rows are unlike the others?",
        subtitle,
        "",
        tuple(r["verdict"]),
        facts,
        sections,
        (),
        r["command"],
        details,
    )


def drawn_scores(r: dict[str, Any]) -> Picture:
    """Scores in the order of the rows, the flagged ones marked."""
    n, some, flagged = r["rows"], r["some_rows"], r["flagged"]
    odd = {row["row"] for row in flagged}
    top = limits([0.0, flagged[0]["score"]])[1]
    f = Frame((0, max(n - 1, 1)), (0.0, top), width=880, height=300).axes("row", "score")
    for row, score in zip(some["row"], some["score"], strict=True):
        if row not in odd:
            f.shapes.append(circle(f.x(row), f.y(score), 2.2, "quiet faint"))
    for row in flagged[: len(some["row"])]:
        f.shapes.append(circle(f.x(row["row"]), f.y(row["score"]), 3.4, "warn"))
    f.level(r["threshold"], "warn")
    caption = "A row twice as far from the bulk as the median row has the score 2."
    return Picture(f.svg("scores of all rows"), caption, (), [])
