"""Words and pictures of ``pellucid anomalies``."""

from collections import Counter
from typing import Any

import numpy as np

from pellucid.cli.inputs import Inputs
from pellucid.cli.pages import Page, Section, row_words
from pellucid.cli.unusual import Reason, Unusual
from pellucid.report.charts import Frame, circle, limits
from pellucid.report.pictures import Picture
from pellucid.report.words import listed, number

FAR = 3.0  # times the median distance
LISTED = 200  # rows in the page
SHOWN_ROWS = 3000


def verdict(found: Unusual, inputs: Inputs) -> tuple[str, ...]:
    """How odd the oddest rows are, and by which columns."""
    n, k = len(found.scores), len(found.flagged)
    top = float(found.scores[found.flagged[0]])
    clear = int((found.scores[found.flagged] > FAR).sum())
    if found.method == "normal" and clear == 0:
        first = f"No row stands far out: the oddest is {top:.1f} times as far as the median row."
    else:
        first = f"Row {found.flagged[0]} is the oddest of {n:,}: {top:.1f} times the median score."
    lines = [first]
    if found.method == "normal" and clear:
        what = "row is" if clear == 1 else "rows are"
        lines.append(f"{clear:,} {what} more than {FAR:g} times as far out as the median row.")
    columns = Counter(r.feature for why in found.reasons for r in why)
    common = [name for name, _ in columns.most_common(3)]
    lines.append(
        f"The {k:,} oddest ({found.share:.1%}) are listed; most often by {listed(common)}. Odd is "
        "not wrong: look before you delete."
    )
    return tuple(lines)


def reason_words(reason: Reason, numeric: bool) -> str:
    """
    >>> reason_words(Reason("mass", 9500.0, 4200.0, 6.2), True)
    'mass 9500, expected about 4200'
    >>> reason_words(Reason("sex = missing", 1.0, 0.01, 9.0), False)
    'sex = missing, unexpected'
    """
    if numeric:
        expected = number(reason.expected)
        return f"{reason.feature} {number(reason.value)}, expected about {expected}"
    if reason.value == 1.0:
        return f"{reason.feature}, unexpected"
    if reason.value == 0.0:  # of a level that was expected
        return f"not {reason.feature}, which the rest suggests"
    return f"{reason.feature} {number(reason.value)}, expected about {number(reason.expected)}"


def row_reasons(found: Unusual, inputs: Inputs) -> list[tuple[Any, ...]]:
    """Row, score and reasons of every flagged row."""
    numeric = dict(zip(inputs.names, inputs.is_number, strict=True))
    return [
        (int(i), float(found.scores[i]),
         "; ".join(reason_words(r, numeric[r.feature]) for r in why))
        for i, why in zip(found.flagged, found.reasons, strict=True)
    ]  # fmt: skip


def anomaly_page(found: Unusual, inputs: Inputs, data: str, command: str) -> Page:
    rows = row_reasons(found, inputs)
    facts = (
        (f"{len(found.flagged):,}", "rows listed", f"{found.share:.1%} of {len(found.scores):,}"),
        (number(float(found.scores.max())), "largest score", "the median row has 1"),
        (number(found.threshold), "threshold", "score of the last row listed"),
        (f"{found.bulk.rows:,}", "rows describe the bulk", "the odd ones do not"),
    )
    counts = Counter(r.feature for why in found.reasons for r in why).most_common(15)
    lead = (
        "What each row has that the rest of the row does not let expect. The expectation is that "
        "of the bulk of the rows, given all other columns. Rows are counted from 0."
    )
    listed_rows = [(f"row {i}", round(score, 2), words) for i, score, words in rows[:LISTED]]
    text = () if len(rows) <= LISTED else (f"{len(rows) - LISTED} more rows are in anomalies.csv.",)
    sections = (
        Section("The oddest rows", lead, (), ((("row", "score", "why"), listed_rows),), text),
        Section("How far out", "Every row by its score; the line is the threshold.",
                (drawn_scores(found),),
                ((("column", "odd cells"), [(name, c) for name, c in counts]),)),
    )  # fmt: skip
    details = (("method", found.method), *row_words(len(found.scores), inputs.left_out))
    subtitle = f"{data}: {len(found.scores):,} rows, {len(inputs.frame.columns)} columns"
    return Page("Which rows are unlike the others?", subtitle, "", verdict(found, inputs), facts,
                sections, (), command, details)  # fmt: skip


def drawn_scores(found: Unusual) -> Picture:
    """Scores in the order of the rows, the flagged ones marked."""
    n = len(found.scores)
    flagged = set(found.flagged.tolist())
    some = np.random.default_rng(0).permutation(n)[:SHOWN_ROWS]
    f = Frame((0, max(n - 1, 1)), (0.0, limits([0.0, float(found.scores.max())])[1]),
              width=880, height=300)  # fmt: skip
    f.axes("row", "score")
    for i in some:
        if i not in flagged:
            f.shapes.append(circle(f.x(i), f.y(found.scores[i]), 2.2, "quiet faint"))
    for i in list(found.flagged)[:SHOWN_ROWS]:
        f.shapes.append(circle(f.x(i), f.y(found.scores[i]), 3.4, "warn"))
    f.level(found.threshold, "warn")
    caption = "A row twice as far from the bulk as the median row has the score 2."
    return Picture(f.svg("scores of all rows"), caption, (), [])
