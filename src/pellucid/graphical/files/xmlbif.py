r"""XMLBIF 0.3: a network as XML.

    <VARIABLE TYPE="nature"><NAME>x</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
    <DEFINITION><FOR>x</FOR><GIVEN>a</GIVEN><TABLE>0.1 0.9 0.5 0.5</TABLE></DEFINITION>

The parents vary slowest, in their order; the variable itself varies fastest.
"""

from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np

from pellucid.graphical.files.bif import Text, check_tables, settled
from pellucid.graphical.network.names import Name
from pellucid.graphical.network.tables import CPT

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<BIF VERSION="0.3">\n<NETWORK>\n<NAME>n</NAME>'


def parse_xmlbif(text: str, path: str = "the text") -> list[CPT]:
    """The tables of a network in this format."""
    source = Text(text, path)
    if "<!ENTITY" in text:  # definitions that grow without bound
        source.fail(text.index("<!ENTITY"), "entity definitions are not accepted")
    try:
        # the text is UTF-8 by now, whatever it says of itself
        root = ElementTree.fromstring(text.encode(), ElementTree.XMLParser(encoding="utf-8"))
    except ElementTree.ParseError as error:
        raise ValueError(f"{path}, line {error.position[0]}: {error}") from None
    states: dict[Name, tuple[str, ...]] = {}
    for node in root.iter("VARIABLE"):
        name = _text(node.find("NAME"))
        states[name] = tuple(_text(part) for part in node.findall("OUTCOME"))
        if not name or len(set(states[name])) < len(states[name]) or not states[name]:
            source.fail(_place(text, name), f"variable {name!r} needs a name and different states")
    tables = [_table(source, states, node) for node in root.iter("DEFINITION")]
    return check_tables(tables, states, path)


def _text(node: Any) -> str:
    return "" if node is None or node.text is None else node.text.strip()


def _place(text: str, name: str) -> int:
    return max(text.find(f">{name}<"), 0)


def _table(source: Text, states: dict[Name, Any], node: Any) -> CPT:
    name, parents = _text(node.find("FOR")), [_text(part) for part in node.findall("GIVEN")]
    at = _place(source.text, name)
    for variable in (name, *parents):
        if variable not in states:
            source.fail(at, f"there is no variable {variable!r}")
    shape = [len(states[variable]) for variable in (*parents, name)]
    table = node.find("TABLE")
    words = "".join(table.itertext()).split() if table is not None else []
    try:
        values = np.array(words, dtype=np.float64)
    except ValueError as error:
        source.fail(at, str(error))
    if values.size != int(np.prod(shape)):
        source.fail(
            at, f"the table of {name!r} needs {int(np.prod(shape))} numbers, got {values.size}"
        )
    table_values = settled(values.reshape(shape), name, source, at)
    return CPT(name, table_values, parents=parents, states=states[name])


def format_xmlbif(cpds: list[CPT], states: dict[Name, Any]) -> str:
    """The text of a network in this format."""
    lines = [HEAD]
    for name, some in states.items():
        outcomes = "".join(f"<OUTCOME>{escape(str(state))}</OUTCOME>" for state in some)
        lines.append(
            f'<VARIABLE TYPE="nature"><NAME>{escape(str(name))}</NAME>{outcomes}</VARIABLE>'
        )
    for cpd in cpds:
        given = "".join(f"<GIVEN>{escape(str(p))}</GIVEN>" for p in cpd.parents)
        numbers = " ".join(map(repr, cpd.values.ravel().tolist()))
        lines.append(
            f"<DEFINITION><FOR>{escape(str(cpd.variable))}</FOR>{given}"
            f"<TABLE>{numbers}</TABLE></DEFINITION>"
        )
    return "\n".join([*lines, "</NETWORK>\n</BIF>\n"])
