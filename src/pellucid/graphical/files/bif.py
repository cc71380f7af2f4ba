r"""The Bayesian interchange format.

    variable x { type discrete [ 2 ] { yes, no }; }
    probability ( x | a, b ) { (yes, no) 0.1, 0.9;  ... }     or  { table 0.1, 0.9, ...; }

A name ends at white space, a comma or a bracket; one that holds such a character is written in
quotes. A state may hold white space without them. Numbers are written with 17 digits, so that
reading gives the same bits.
"""

import math
import re
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.graphical.network.names import Name
from pellucid.graphical.network.tables import CPT

MOST_CELLS = 10_000_000  # of one table
SPACE = re.compile(r"\s*")
HEAD = re.compile(r"\s*(network|variable|probability)\b", re.ASCII)
BRACE = re.compile(r'"[^"\n]*"|[{}]')
STATES = re.compile(r'type\s+discrete\s*\[\s*(\d+)\s*\]\s*\{([^{}"]*(?:"[^"\n]*"[^{}"]*)*)\}\s*;')
ITEM = re.compile(r'\s*("[^"\n]*"|[^,"]*?)\s*(?:,|$)')
ROW = re.compile(
    r'\s*(?:\(([^)"]*(?:"[^"\n]*"[^)"]*)*)\)|(table|default)\b|(property)\b)'
    r'([^;"]*(?:"[^"\n]*"[^;"]*)*);'
)
COMMENT = re.compile(r"(?<!\S)//[^\n]*|/\*.*?\*/", re.DOTALL)
PLAIN = re.compile(r"[^\s,(){}|;\"\[\]]+")
PLAIN_STATE = re.compile(r"[^\s,(){}|;\"\[\]]+(?: [^\s,(){}|;\"\[\]]+)*")


class Text(NamedTuple):
    """A file being read: a mistake is reported with its line."""

    text: str
    path: str

    def fail(self, place: int, problem: str) -> NoReturn:
        line = self.text.count("\n", 0, place) + 1
        raise ValueError(f"{self.path}, line {line}: {problem}")


def items(text: str) -> list[str]:
    """The parts between commas, without their quotes.

    >>> items(' <5, 5-12 , "a, b", very long ')
    ['<5', '5-12', 'a, b', 'very long']
    """
    if '"' not in text:
        return [part.strip() for part in text.split(",")]
    found: list[str] = []
    place = 0
    while place < len(text):
        match = ITEM.match(text, place)
        if match is None or match.end() == place:  # a quote within a name: no item is called so
            return [*found, text[place:].strip()]
        found.append(match.group(1).removeprefix('"').removesuffix('"'))
        place = match.end()
    return found


def _close(source: Text, start: int) -> int:
    """Where the bracket before ``start`` is closed."""
    first = source.text.find("}", start)
    if first >= 0 and not {"{", '"'} & set(source.text[start:first]):  # nearly always
        return first
    depth = 1
    for match in BRACE.finditer(source.text, start):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            return match.start()
    return source.fail(start, "this { is never closed")


def parse_bif(text: str, path: str = "the text") -> list[CPT]:
    """The tables of a network in this format.

    >>> parse_bif("variable x { type discrete [ 2 ] { a, b }; } probability ( x ) "
    ...           "{ table 0.1, 0.9; }")
    [CPT(x, 2)]
    """
    if "//" in text or "/*" in text:
        text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    source = Text(text, path)
    states: dict[Name, tuple[str, ...]] = {}
    waiting: list[tuple[int, str, int, int]] = []
    place = 0
    while (place := SPACE.match(text, place).end()) < len(text):  # type: ignore[union-attr]
        head = HEAD.match(text, place)
        if head is None:
            word = text[place:].split(maxsplit=1)[0][:40]
            at = text.index(word, place)
            source.fail(at, f"network, variable or probability is needed, not {word!r}")
        opened = text.find("{", head.end())
        if opened < 0:
            source.fail(head.end(), f"{head.group(1)} needs a part in {{ }}")
        closed = _close(source, opened + 1)
        title = text[head.end() : opened]
        if head.group(1) == "variable":
            name = _unquoted(title)
            if name in states:
                source.fail(head.end(), f"there are two variables {name!r}")
            states[name] = _states(source, name, opened + 1, closed)
        elif head.group(1) == "probability":
            waiting.append((head.end(), title, opened + 1, closed))
        place = closed + 1
    tables = [_table(source, states, *block) for block in waiting]
    return check_tables(tables, states, path)


def check_tables(tables: list[CPT], states: dict[Name, Any], path: str) -> list[CPT]:
    """The tables in the order of the variables; each must have one."""
    found = {table.variable: table for table in tables}
    if len(found) < len(tables):
        names = [table.variable for table in tables]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{path}: there are two tables of {twice!r}")
    missing = [name for name in states if name not in found]
    if missing:
        raise ValueError(f"{path}: variable {missing[0]!r} has no table")
    if not found:
        raise ValueError(f"{path}, line 1: the file has no variable")
    return [found[name] for name in states]


def _unquoted(text: str) -> str:
    return text.strip().removeprefix('"').removesuffix('"')


def _states(source: Text, name: str, start: int, stop: int) -> tuple[str, ...]:
    match = STATES.search(source.text, start, stop)
    if match is None:
        source.fail(start, f"variable {name!r} needs: type discrete [ n ] {{ states }};")
    states = tuple(items(match.group(2)))
    if len(states) != int(match.group(1)) or len(set(states)) < len(states) or "" in states:
        source.fail(
            match.start(), f"{name!r} needs {match.group(1)} different states, got {list(states)}"
        )
    return states


def _table(
    source: Text, states: dict[Name, Any], at: int, title: str, start: int, stop: int
) -> CPT:
    inner = title.strip()
    own, _, rest = inner[1:-1].partition("|")
    head = items(own) + (items(rest) if rest.strip() else [])
    if not (inner.startswith("(") and inner.endswith(")") and own.strip()):
        source.fail(at, "probability needs ( variable | parents )")
    name, parents = head[0], head[1:] if rest.strip() or len(head) > 1 else []
    for variable in head:
        if variable not in states:
            source.fail(at, f"there is no variable {variable!r}")
    shape = [len(states[variable]) for variable in (*parents, name)]
    if math.prod(shape) > MOST_CELLS or len(shape) > 60:
        cells = math.prod(shape)
        source.fail(at, f"the table of {name!r} needs {cells} numbers, at most {MOST_CELLS}")
    values = np.full(shape, np.nan)
    numbers = [{state: k for k, state in enumerate(states[p])} for p in parents]
    _fill(source, values, numbers, start, stop)
    if np.isnan(values).any():
        index = np.argwhere(np.isnan(values))[0][:-1]
        row = ", ".join(states[p][i] for p, i in zip(parents, index, strict=True))
        source.fail(start, f"the table of {name!r} has no row for ({row})")
    return CPT(name, settled(values, name, source, at), parents=parents, states=states[name])


def settled(values: Array, name: Any, source: Text, at: int) -> Any:
    """Rows that are off by rounding are scaled; more is a mistake of the file."""
    if not np.isfinite(values).all() or (values < 0).any():
        source.fail(at, f"the table of {name!r} must hold numbers >= 0")
    sums = values.sum(axis=-1, keepdims=True)
    off = np.abs(sums - 1.0).max()
    if off > 1e-4:
        bad = float(sums.ravel()[np.abs(sums - 1.0).argmax()])
        source.fail(at, f"a row of the table of {name!r} sums to {bad:.9g}, not 1")
    return np.where(np.abs(sums - 1.0) > 1e-12, values / sums, values)


def _fill(
    source: Text, values: IntArray, numbers: list[dict[str, int]], start: int, stop: int
) -> None:
    """Write the rows between start and stop into the table."""
    flat = values.reshape(-1, values.shape[-1])
    place, text = start, source.text
    steps = [int(np.prod(values.shape[i + 1 : -1])) for i in range(values.ndim - 1)]
    where: list[int] = []
    cells: list[str] = []
    for row in ROW.finditer(text, start, stop):
        if text[place : row.start()].strip():
            source.fail(place, f"this is no row of a table: {text[place : row.start()].strip()!r}")
        place = row.end()
        config, kind, other, body = row.groups()
        if other:
            continue
        found = body.split(",") if "," in body else body.split()
        if kind == "table":
            flat[:] = _numbers(source, found, row.start(4), values.size).reshape(flat.shape)
        elif kind == "default":
            flat[:] = _numbers(source, found, row.start(4), values.shape[-1])
        else:
            keys = items(config)
            try:
                where.append(sum([s * t[k] for s, t, k in zip(steps, numbers, keys, strict=True)]))
            except (KeyError, ValueError):
                source.fail(row.start(1), f"({config.strip()}) is no row of states of the parents")
            if len(found) != values.shape[-1]:
                source.fail(row.start(4), f"a row needs {values.shape[-1]} numbers: {body.strip()}")
            cells += found
    if text[place:stop].strip():
        source.fail(place, f"this is no row of a table: {text[place:stop].strip()[:40]!r}")
    if where:
        flat[where] = _numbers(source, cells, start, len(cells)).reshape(-1, values.shape[-1])


def _numbers(source: Text, parts: list[str], at: int, count: int) -> Any:
    if len(parts) != count:
        source.fail(at, f"{count} numbers are needed, got {len(parts)}")
    try:
        return np.array(list(map(float, parts)))
    except ValueError as error:
        source.fail(at, str(error))


def quoted(name: object, plain: re.Pattern[str]) -> str:
    """A name as it stands in a file; one with a quote or a line break cannot."""
    text = str(name)
    if plain.fullmatch(text):
        return text
    if '"' in text or "\n" in text or not text:
        raise ValueError(
            f"the name {text!r} cannot be written: it is empty, or holds a quote or a line break"
        )
    return f'"{text}"'


def format_bif(cpds: list[CPT], states: dict[Name, Any]) -> str:
    """The text of a network in this format."""
    lines = ["network unknown {", "}"]
    for name, some in states.items():
        shown = ", ".join(quoted(state, PLAIN_STATE) for state in some)
        lines.append(f"variable {quoted(name, PLAIN)} {{")
        lines.append(f"  type discrete [ {len(some)} ] {{ {shown} }};\n}}")
    for cpd in cpds:
        given = ", ".join(quoted(p, PLAIN) for p in cpd.parents)
        bar = f" | {given}" if given else ""
        lines.append(f"probability ( {quoted(cpd.variable, PLAIN)}{bar} ) {{")
        for index in np.ndindex(cpd.values.shape[:-1]):
            key = ", ".join(
                quoted(states[p][i], PLAIN_STATE) for p, i in zip(cpd.parents, index, strict=True)
            )
            row = ", ".join(map(repr, cpd.values[index].tolist()))
            lines.append(f"  ({key}) {row};" if key else f"  table {row};")
        lines.append("}")
    return "\n".join(lines) + "\n"
