r"""Hugin's NET format.

    node x { states = ("yes" "no"); }
    potential (x | a b) { data = ((0.1 0.9)(0.5 0.5)); }

Brackets only group: the numbers come with the first parent slowest and the variable fastest.
A name that is no plain word is kept as ``label`` beside a plain one.
"""

import re
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.graphical.files.bif import Text, check_tables, settled
from pellucid.graphical.network.names import Name
from pellucid.graphical.network.tables import CPT

COMMENT = re.compile(r'("[^"\n]*")|%[^\n]*')
SPACE = re.compile(r"\s*")
BLOCK = re.compile(
    r"\s*(net|class\s+\w+|(?:discrete\s+)?node\s+([\w.-]+)|potential\s*\(([^)]*)\))\s*"
    r'\{((?:"[^"]*"|[^{}"])*)\}'
)
STATES = re.compile(r'states\s*=\s*\(((?:\s*"[^"\n]*")+)\s*\)\s*;')
LABEL = re.compile(r'label\s*=\s*"([^"\n]*)"\s*;')
DATA = re.compile(r"data\s*=\s*([^;]*);")


def parse_hugin(text: str, path: str = "the text") -> list[CPT]:
    """The tables of a network in this format.

    >>> parse_hugin('node x { states = ("a" "b"); } potential (x) { data = (0.1 0.9); }')
    [CPT(x, 2)]
    """
    text = COMMENT.sub(lambda m: m.group(1) or " " * len(m.group()), text)
    source = Text(text, path)
    states: dict[Name, tuple[str, ...]] = {}
    names: dict[str, str] = {}  # plain word -> name
    tables, place = [], 0
    while (place := SPACE.match(text, place).end()) < len(text):  # type: ignore[union-attr]
        block = BLOCK.match(text, place)
        if block is None:
            source.fail(place, "net { }, node name { } or potential ( ) { } is needed")
        word, node, head, body = block.groups()
        if node is not None:
            found, label = STATES.search(body), LABEL.search(body)
            if found is None:
                source.fail(block.start(1), f'node {node} needs states = ("..." "...");')
            names[node] = label.group(1) if label and label.group(1) else node
            if names[node] in states:
                names[node] = node
            states[names[node]] = tuple(re.findall(r'"([^"\n]*)"', found.group(1)))
        elif word.startswith("potential"):
            tables.append(_table(source, states, names, head, body, block.start(1)))
        place = block.end()
    return check_tables(tables, states, path)


def _table(
    source: Text, states: dict[Name, Any], names: dict[str, str], head: str, body: str, at: int
) -> CPT:
    words = head.replace("|", " ").split()
    for word in words:
        if word not in names:
            source.fail(at, f"there is no node {word!r}")
    name, *parents = (names[word] for word in words)
    shape = [len(states[variable]) for variable in (*parents, name)]
    data = DATA.search(body)
    cells = re.sub(r"[(),]", " ", data.group(1)).split() if data else []
    if len(cells) != int(np.prod(shape)):
        source.fail(
            at, f"the potential of {name!r} needs {int(np.prod(shape))} numbers, got {len(cells)}"
        )
    try:
        values = np.array(list(map(float, cells))).reshape(shape)
    except ValueError as error:
        source.fail(at, str(error))
    return CPT(name, settled(values, name, source, at), parents=parents, states=states[name])


def format_hugin(cpds: list[CPT], states: dict[Name, Any]) -> str:
    """The text of a network in this format."""
    lines = ["net\n{\n}"]
    plain = {}
    for i, (name, some) in enumerate(states.items()):
        for text in (name, *some):
            if '"' in str(text) or "\n" in str(text):
                raise ValueError(
                    f"the name {text!r} cannot be written: it holds a quote or a line break"
                )
        good = re.fullmatch(r"[A-Za-z_]\w*", str(name), re.ASCII)
        plain[name] = str(name) if good else f"node_{i}"
        label = "" if good else f'  label = "{name}";\n'
        shown = " ".join(f'"{state}"' for state in some)
        lines.append(f"node {plain[name]}\n{{\n{label}  states = ({shown});\n}}")
    for cpd in cpds:
        given = " ".join(plain[p] for p in cpd.parents)
        bar = f" | {given}" if given else ""
        lines.append(
            f"potential ({plain[cpd.variable]}{bar})\n{{\n  data = {_nest(cpd.values)};\n}}"
        )
    return "\n".join(lines) + "\n"


def _nest(values: Array) -> str:
    if values.ndim == 1:
        return f"({' '.join(map(repr, values.tolist()))})"
    return f"({''.join(_nest(part) for part in values)})"
