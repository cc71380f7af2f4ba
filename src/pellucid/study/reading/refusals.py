"""What a study refuses, in one sentence: cells, targets and plans nothing can be learned from.

Every measure and nearly every model squares its numbers. The largest float is 1.8e308, so sums of
squares stay finite for cells up to about 1e150; a larger one is refused by name before anything
is computed, rather than turned into infinities on the way.
"""

import shlex
from collections.abc import Sequence

import polars as pl

from pellucid.study.records import Plan, Task

LARGEST = 1e150
LEAST_OF_A_CLASS = 3  # rows of the largest class: one to learn, one to validate, one to test
FEW_OF_A_CLASS = 10  # two of them among the test rows, a fifth of all
SHOWN = 4
IDLE = "(PEL102)"  # a column that never varies: kept, it would say nothing either


def extreme_cell(frame: pl.DataFrame, leave: Sequence[str] = ()) -> str:
    """One sentence on the first column with such a cell; empty if there is none.

    Rows are counted from 0, as wherever a study names one.

    >>> extreme_cell(pl.DataFrame({"a": [1.0, float("inf")], "b": [1e9, 2.0]}))
    "the column 'a' holds inf in row 1 (the first is 0); replace infinite cells by a number \
or leave them empty"
    >>> extreme_cell(pl.DataFrame({"a": [1.0, 2.0], "b": [1e200, 2.0]}))
    "the column 'b' holds 1e+200 in row 0 (the first is 0); numbers up to 1e+150 can be \
squared: divide the column"
    """
    for column in frame.get_columns():
        if column.name in leave or not column.dtype.is_float():
            continue
        far = (column.abs() > LARGEST) & column.is_not_nan()
        if not far.any():
            continue
        row = int(far.arg_true()[0])
        cell = float(column[row])
        remedy = (
            f"numbers up to {LARGEST:g} can be squared: divide the column"
            if abs(cell) < float("inf")
            else "replace infinite cells by a number or leave them empty"
        )
        where = f"in row {row} (the first is 0)"
        return f"the column {column.name!r} holds {cell:.3g} {where}; {remedy}"
    return ""


def one_role(targets: Sequence[str], plan: Plan) -> None:
    """A target is predicted; it cannot be left out, order the rows or group them as well."""
    roles = {"drop": plan.drop, "time": (plan.time,), "groups": (plan.groups,)}
    roles |= {"query": (plan.query,), "known groups": (plan.known_groups,)}
    for role, names in roles.items():
        for name in targets:
            if name in names:
                raise ValueError(f"{name!r} is a target and cannot be given as {role} too")


def only_names(cells: pl.Series) -> str:
    """A sentence if no class has rows enough: such labels are names, or numbers in several units.

    >>> only_names(pl.Series("y", ["1 kg", "2 lb"]))[:53]
    "the target 'y' has 2 different labels in 2 rows, such"
    """
    known = cells.drop_nulls()
    sizes = known.rename("label").value_counts(name="rows")["rows"]
    if len(sizes) == 0 or sizes.to_numpy().max() >= LEAST_OF_A_CLASS:
        return ""
    remedy = "give a target whose labels come back"
    if known.dtype == pl.String and known.str.contains(r"^[^\w-]*-?\d").all():
        remedy = "numbers are written all in one way and unit, as 1234.5"
    return (
        f"the target {cells.name!r} has {len(sizes)} different labels in {len(known)} rows, such "
        f"as {known[0]!r}, too few of each to learn from; {remedy}"
    )


def one_class_before(label: pl.Series, order: str | None) -> str:
    """Why no fold can be learned from: all but its judging rows are of one class.

    >>> one_class_before(pl.Series("y", ["no", "no", "yes"]), "day")
    "in the order of day the target 'y' is 'no' in nearly all rows that a model could learn from; \
give rows in which another class comes earlier"
    """
    common = label.drop_nulls().mode().sort()[0]
    by = f"in the order of {order} " if order else ""
    remedy = "in which another class comes earlier" if order else "of other classes in more groups"
    return (
        f"{by}the target {label.name!r} is {common!r} in nearly all rows that a model could learn "
        f"from; give rows {remedy}"
    )


def nothing_left(left_out: dict[str, str]) -> str:
    """
    >>> nothing_left({"id": "names the rows (PEL105)"})
    "no column is left to learn from; left out: 'id', names the rows (PEL105); keep it (--keep id)"
    >>> nothing_left({"a": "never varies (PEL102)"})
    "no column is left to learn from; left out: 'a', never varies (PEL102)"
    """
    if not left_out:
        return "no column is left to learn from: there is none beside the target"
    shown = "; ".join(f"{name!r}, {why}" for name, why in list(left_out.items())[:SHOWN])
    more = f" and {len(left_out) - SHOWN} more" if len(left_out) > SHOWN else ""
    named = next((n for n, why in left_out.items() if "(PEL" in why and IDLE not in why), None)
    it = "it" if len(left_out) == 1 else repr(named)
    keep = "" if named is None else f"; keep {it} (--keep {shlex.quote(named)})"
    return f"no column is left to learn from; left out: {shown}{more}{keep}"


def one_class_judges(task: Task, time: str | None, rare: int, rows: int) -> str:
    """Why a measure of two classes is undefined on most stretches of rows.

    ``rare`` of the ``rows`` with a target are of the positive class.

    >>> task = Task("binary", ("ill",), ("no", "yes"), "yes", "roc_auc", True, 0, "")
    >>> one_class_judges(task, None, 1, 300)[68:]
    "'yes' is in 1 of 300 rows: too few to show that a model tells it apart; \
give 10 rows of it or more"
    >>> one_class_judges(task, "day", 40, 300)[68:136]
    "'yes' is missing in nearly all parts of the rows in the order of day"
    """
    text = f"{task.metric} of {task.target[0]!r} needs both classes wherever a model is judged"
    if rare < FEW_OF_A_CLASS:
        return (
            f"{text}, and {task.positive!r} is in {rare} of {rows:,} rows: too few to show "
            f"that a model tells it apart; give {FEW_OF_A_CLASS} rows of it or more"
        )
    order = "" if time is None else f" in the order of {time}"
    return (
        f"{text}, and {task.positive!r} is missing in nearly all parts of the rows{order}; "
        "metric='log_loss' (--metric log_loss) is defined on any rows"
    )
