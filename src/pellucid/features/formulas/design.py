r"""The columns of a formula's terms, of full rank.

A factor is one column of numbers, several (a spline), or categories: 0/1 columns, one per level.
All levels of g sum to the constant, so with a constant before it g leaves out its first level. In
general a term with categories spans the products of {reduced, 1} over them; what earlier terms span
is taken away, and what is left is put together again by (rest):g_reduced + (rest) = (rest):g
(Chambers and Hastie 1992; formulaic and patsy code in the same way).
"""

from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import narwhals.stable.v1 as nw
import numpy as np

from pellucid.core.arrays.check import hint
from pellucid.core.arrays.columns import Coded, Text, frame_column, plain_column
from pellucid.core.arrays.frames import column_vector, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.features.encoding.categories import find_values, look_up, object_array, sorted_values
from pellucid.features.formulas import language as tree
from pellucid.features.formulas.functions import (
    ALL,
    EVERY_CELL,
    MANY_COLUMNS,
    ONE_COLUMN,
    Columns,
    State,
)
from pellucid.features.formulas.terms import Term, list_terms

MOST_COLUMNS = 100_000
ARITHMETIC = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.true_divide,
    "**": np.power,
}
WORDS = {"True": True, "False": False, "None": None}


class Categories(NamedTuple):
    """Levels and the place of every row among them."""

    levels: list[Any]
    codes: IntArray


Factor: TypeAlias = Array | Columns | Categories
Scoped: TypeAlias = tuple[tuple[str, bool], ...]  # (factor, whether its first column is left out)


class Design(NamedTuple):
    """The columns without the constant, their names, and whether there is a constant."""

    matrix: Array
    names: tuple[str, ...]
    constant: bool


class Rows:
    """The rows a formula is evaluated on, and what its functions learned from the training rows."""

    def __init__(self, frame: ArrayLike, states: dict[str, State], *, training: bool) -> None:
        if not is_frame(frame):
            kind = type(frame).__name__
            raise TypeError(f"a formula needs a frame with named columns, got {kind}")
        self.table = nw.from_native(frame, eager_only=True)
        self.names = [str(name) for name in self.table.columns]
        self.states, self.training = states, training

    def column(self, name: str) -> Any:
        if name not in self.names:
            near = hint(name, self.names)
            raise ValueError(f"the formula needs the column {name!r}, the table lacks it{near}")
        return self.table[:, self.names.index(name)]

    def numbers(self, name: str) -> Array:
        values = column_vector(self.column(name), f"column {name!r}")
        if np.isnan(values).any():
            row = int(np.argmax(np.isnan(values)))
            raise ValueError(f"column {name!r} has a missing value (null) in row {row}")
        return values

    def state(self, text: str) -> State:
        if self.training:
            return self.states.setdefault(text, {})
        if text not in self.states:
            raise ValueError(f"{text} is not among what was learned from the training rows")
        return self.states[text]


def make_design(formula: str, rows: Rows, others: list[str]) -> Design:
    """The columns of a formula; ``others`` are the columns that the dot stands for."""
    terms, nodes = list_terms(tree.read_formula(formula), others)
    used = dict.fromkeys(text for term in terms for text in term)
    factors = {text: evaluate(nodes[text], rows) for text in used}
    scoped = full_rank(terms, factors)
    blocks = [term_columns(one, factors) for one in scoped if one]
    names = tuple(name for block in blocks for name in block[0])
    matrix = [block[1] for block in blocks] or [np.empty((len(rows.table), 0))]
    return Design(np.ascontiguousarray(np.hstack(matrix)), names, () in scoped)


def full_rank(terms: list[Term], factors: dict[str, Factor]) -> list[Scoped]:
    """What each term adds to the span of those before it."""
    spanned: set[frozenset[tuple[str, bool]]] = set()
    found: list[Scoped] = []
    for term in terms:
        parts = [
            [((text, True),), ()] if _spans_constant(factors[text]) else [((text, False),)]
            for text in term
        ]
        span = [tuple(part for one in choice for part in one) for choice in product(*parts)]
        new = [scoped for scoped in span if frozenset(scoped) not in spanned]
        spanned.update(map(frozenset, new))
        found.extend(_joined(new))
    return found


def _joined(span: Iterable[Scoped]) -> list[Scoped]:
    """(rest):reduced + (rest) becomes (rest):full, as often as it can."""
    terms: list[Scoped] = []
    for scoped in sorted(span, key=len):
        for old in terms:
            new = [part for part in scoped if part not in old]
            if len(scoped) == len(old) + 1 and len(new) == 1 and new[0][1]:
                whole = tuple((text, r and (text, r) != new[0]) for text, r in scoped)
                terms = _joined([*(one for one in terms if one != old), whole])
                break
        else:
            terms.append(scoped)
    return terms


def _spans_constant(factor: Factor) -> bool:
    if isinstance(factor, Columns):
        return factor.spans_constant
    return isinstance(factor, Categories)


def term_columns(scoped: Scoped, factors: dict[str, Factor]) -> tuple[list[str], Array]:
    """The products of the columns of a term's factors; the first factor runs fastest."""
    parts = [factor_columns(text, factors[text], reduced) for text, reduced in scoped]
    width = int(np.prod([len(names) for names, _ in parts], dtype=object))
    if width > MOST_COLUMNS:
        raise ValueError(f"a term of the formula has {width} columns, at most {MOST_COLUMNS}")
    names, values = parts[0]
    for more, others in parts[1:]:
        names = [f"{a}:{b}" for b in more for a in names]
        values = (others[:, :, None] * values[:, None, :]).reshape(len(values), len(names))
    return names, values


def factor_columns(text: str, factor: Factor, reduced: bool) -> tuple[list[str], Array]:
    """The names and columns of one factor."""
    if isinstance(factor, Columns):
        names = [f"{text}[{word}]" for word in factor.words]
        return names[reduced:], factor.values[:, int(reduced) :]
    if isinstance(factor, Categories):
        mark = "T." if reduced else ""
        names = [f"{text}[{mark}{level}]" for level in factor.levels]
        if len(names) > MOST_COLUMNS:
            raise ValueError(f"{text} has {len(names)} levels, at most {MOST_COLUMNS}")
        cells = (factor.codes[:, None] == np.arange(int(reduced), len(names))).astype(np.float64)
        return names[reduced:], cells
    return [text], factor[:, None]


def evaluate(node: tree.Node, rows: Rows) -> Factor:
    """The value of one factor; every number of it is finite."""
    if isinstance(node, tree.Name) and _is_text(node.text, rows):
        return categories(node, node.text, rows)
    if isinstance(node, tree.Call) and _plain(node.function) == "C":
        return categories(node, _only_column(node), rows)
    text = tree.written(node)
    value: Factor
    if isinstance(node, tree.Call) and _plain(node.function) in MANY_COLUMNS:
        value = columns = learned(MANY_COLUMNS[_plain(node.function)], node, rows)
        cells = columns.values
    else:
        with np.errstate(all="ignore"):
            numbers = np.asarray(number(node, rows), dtype=np.float64)
        value = cells = np.broadcast_to(numbers, len(rows.table))
    bad = ~np.isfinite(cells)
    if bad.any():
        raise ValueError(f"{text} is not a finite number in row {int(np.argwhere(bad)[0][0])}")
    return value


def number(node: tree.Node, rows: Rows) -> Any:
    """The arithmetic inside a call."""
    match node:
        case tree.Name(name):
            return rows.numbers(name)
        case tree.Number(text):
            return np.float64(text)
        case tree.Minus(inner):
            return -number(inner, rows)
        case tree.Pair(mark, left, right) if mark in ARITHMETIC:
            return ARITHMETIC[mark](number(left, rows), number(right, rows))
        case tree.Call(function):
            return _call(node, _plain(function), rows)
    raise ValueError(f"{tree.written(node)} is not a number")


def _call(node: tree.Call, name: str, rows: Rows) -> Any:
    if name in ONE_COLUMN:
        return learned(ONE_COLUMN[name], node, rows)
    if name == "Q":
        return rows.numbers(_only_column(node))
    if name not in EVERY_CELL and name != "I":
        near = hint(name, ALL)
        raise ValueError(f"a formula has no function {name!r}{near}; it can call {', '.join(ALL)}")
    if len(node.arguments) != 1 or node.options:
        raise ValueError(f"{name} takes one argument, got {tree.written(node)}")
    inside = number(node.arguments[0], rows)
    return inside if name == "I" else EVERY_CELL[name](inside)


def learned(function: Any, node: tree.Call, rows: Rows) -> Any:
    """Call a function that remembers the training rows."""
    if not node.arguments:
        raise ValueError(f"{tree.written(node)} needs a column")
    x = np.broadcast_to(number(node.arguments[0], rows), len(rows.table))
    if not np.isfinite(x).all():
        row = int(np.argmin(np.isfinite(x)))
        raise ValueError(f"{tree.written(node.arguments[0])} is not a finite number in row {row}")
    text = tree.written(node)
    options = {name: constant(value) for name, value in node.options}
    try:
        return function(x, rows.state(text), *map(constant, node.arguments[1:]), **options)
    except (TypeError, ValueError) as error:
        reason = str(error).partition("() ")[2] or str(error)
        raise ValueError(f"{text}: {reason}") from None


def constant(node: tree.Node) -> Any:
    """An option: a number, True, False, None, text or a list of numbers."""
    match node:
        case tree.Number(text):
            return int(text) if text.isdigit() and len(text) < 10 else float(text)
        case tree.Minus(tree.Number() as inner):
            return -constant(inner)
        case tree.Name(text) if text in WORDS:
            return WORDS[text]
        case tree.Text(value):
            return value
        case tree.Items(items):
            return [constant(item) for item in items]
    raise ValueError(f"{tree.written(node)} is no constant; options are numbers, True or False")


def categories(node: tree.Node, name: str, rows: Rows) -> Categories:
    """The levels of the training rows, and the level of every row."""
    column, text = frame_column(rows.column(name)), tree.written(node)
    found = find_values([column])
    values, state = found.values[0], rows.state(text)
    if rows.training:
        state["levels"] = _levels(column, values)
    levels = state["levels"]
    places = look_up(object_array(values.tolist()), object_array(levels))
    codes = np.asarray(places)[found.codes[0]]
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        cell = plain_column(column)[row]
        if cell is None or cell != cell:
            raise ValueError(f"column {name!r} has a missing value (null) in row {row}")
        raise ValueError(f"{text} has the level {cell!r} in row {row}, not seen in training")
    return Categories(levels, codes)


def _levels(column: Any, values: np.ndarray) -> list[Any]:
    """Sorted, or in the order that the column's own type says."""
    if isinstance(column, Coded):
        return list(np.asarray(column.values).tolist())
    if isinstance(column, Text) and hasattr(column.series.dtype, "categories"):
        kind = column.series.dtype
        if type(kind).__name__ == "Enum":
            return list(kind.categories)
    present = [cell for cell in values.tolist() if cell is not None and cell == cell]
    return list(sorted_values(object_array(present)).tolist())


def _is_text(name: str, rows: Rows) -> bool:
    dtype = rows.column(name).dtype
    return not (dtype.is_numeric() or dtype == nw.Boolean)


def _only_column(node: tree.Call) -> str:
    match node.arguments:
        case (tree.Name(name) | tree.Text(name),) if not node.options:
            return name
    raise ValueError(f"{node.function} takes one column, got {tree.written(node)}")


def _plain(function: str) -> str:
    """np.log is log."""
    return function.removeprefix("np.").removeprefix("numpy.")
