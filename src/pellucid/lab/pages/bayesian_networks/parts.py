"""Small Bayesian networks of the lab: where their nodes stand, what is known, how it is drawn."""

from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from pellucid.data import load_network
from pellucid.graphical.files.network_files import read_network
from pellucid.graphical.network.network import BayesianNetwork
from pellucid.graphical.network.tables import CPT
from pellucid.lab.drawing import number
from pellucid.lab.scene import Panel, graph, table

PLACES = {
    "sprinkler": {"Cloudy": (1, 2), "Sprinkler": (0, 1), "Rain": (2, 1), "Wet": (1, 0)},
    "earthquake": {"Burglary": (0, 2), "Earthquake": (2, 2), "Alarm": (1, 1)}
    | {"JohnCalls": (0, 0), "MaryCalls": (2, 0)},
    "asia": {"asia": (0, 3), "smoke": (3, 3), "tub": (0, 2), "lung": (2, 2), "bronc": (4, 2)}
    | {"either": (1, 1), "xray": (0, 0), "dysp": (3, 0)},
}
SPRINKLER = (  # variable, table, parents
    ("Cloudy", [0.5, 0.5], ()),
    ("Sprinkler", [[0.1, 0.9], [0.5, 0.5]], ("Cloudy",)),
    ("Rain", [[0.8, 0.2], [0.2, 0.8]], ("Cloudy",)),
    ("Wet", [[[0.99, 0.01], [0.9, 0.1]], [[0.9, 0.1], [0.05, 0.95]]], ("Sprinkler", "Rain")),
)
YES_NO = ("yes", "no")
HIDDEN = {"sprinkler": "Cloudy", "earthquake": "Alarm", "asia": "either"}  # by the switch of EM


class Case(NamedTuple):
    """A network, the evidence in the order in which it is told, the question, and its Python."""

    name: str
    network: Any
    evidence: dict[str, Any]
    query: str
    begin: str  # the other end of a path
    code: str

    def yes(self, variable: str) -> Any:
        """The first of the two states."""
        return self.network.states_[variable][0]


def make_network(name: str) -> Any:
    if name != "sprinkler":
        return read_network(load_network(name))
    return BayesianNetwork(
        cpds=[CPT(v, rows, parents=parents, states=YES_NO) for v, rows, parents in SPRINKLER]
    )


def network_code(name: str) -> str:
    """Python that makes the network."""
    if name != "sprinkler":
        return (
            "from pellucid.data import load_network\nfrom pellucid.graphical import read_network\n"
            f"\nnetwork = read_network(load_network({name!r}))\n"
        )
    tables = "".join(
        f"    CPT({v!r}, {rows!r},\n        parents={list(parents)!r}, states={list(YES_NO)!r}),\n"
        for v, rows, parents in SPRINKLER
    )
    return (
        "from pellucid.graphical import CPT, BayesianNetwork\n\n"
        f"network = BayesianNetwork(cpds=[\n{tables}])\n"
    )


def make_case(params: dict[str, Any]) -> Case:
    """What the controls ask for; effects are observed before causes."""
    name = params["network"]
    network = make_network(name)
    told = {}
    for variable in reversed(network.dag_.topological_order()):
        said = params[f"{name}_{variable}"]
        if said != "unknown":
            told[variable] = network.states_[variable][0 if said == "yes" else 1]
    query = params[f"{name}_query"]
    told.pop(query, None)
    if told and network.probability(told) == 0:
        said = ", ".join(f"{n} = {s}" for n, s in told.items())
        raise ValueError(f"this evidence is impossible in the network {name}: {said}")
    return Case(name, network, told, query, params[f"{name}_from"], network_code(name))


def beliefs(network: Any, evidence: dict[str, Any]) -> dict[str, float]:
    """P(first state) of every variable, 0 or 1 where it is observed."""
    found = {name: float(f.values[0]) for name, f in network.marginals(evidence).items()}
    for name, state in evidence.items():
        found[name] = float(state == network.states_[name][0])
    return found


def net_panel(
    case: Case, known: dict[str, float] | None, evidence: Any, *, path: Any = (), title: str = ""
) -> Panel:
    """The graph; observed nodes carry their state, the others a probability if it is known."""
    names = list(PLACES[case.name])
    steps = {frozenset(pair) for pair in pairwise(path)}
    nodes = []
    for name in names:
        x, y = PLACES[case.name][name]
        said = f"{case.yes(name)} {number(known[name])}" if known and name in known else ""
        if name in evidence:
            said = f"= {evidence[name]}"
        look = {"lit": name in path, "colour": "warn" if name in evidence else None}
        label, shade = f"{name}\n{said}" if said else name, _shade(name, known, evidence)
        nodes.append({"x": float(x), "y": float(y), "label": label, **look, "shade": shade})
    edges = [
        {"source": names.index(a), "target": names.index(b), "lit": frozenset((a, b)) in steps}
        for a, b in case.network.dag_.sorted_edges
    ]
    alt = "The network: a box for every variable, arrows from causes to effects."
    return graph("graph", nodes, edges, title=title, alt=alt)


def _shade(name: str, known: dict[str, float] | None, evidence: Any) -> float:
    return 0.5 * (name in evidence) if known is None else 0.6 * known.get(name, 0.0)


def cpt_panel(case: Case, variable: str, evidence: dict[str, Any], network: Any = None) -> Panel:
    """The table of a variable; rows that agree with the evidence are lit."""
    cpt = (case.network if network is None else network).cpds_[variable]
    states = [case.network.states_[p] for p in cpt.parents]
    rows, lit = [], []
    for i, config in enumerate(product(*states)):
        at = tuple(s.index(v) for s, v in zip(states, config, strict=True))
        rows.append([*(str(v) for v in config), *(number(p) for p in cpt.values[at])])
        known = dict(zip(cpt.parents, config, strict=True))
        if all(evidence.get(p, v) == v for p, v in known.items()):
            lit.append(i)
    columns = [*cpt.parents, *(f"= {s}" for s in cpt.states)]
    given = f" | {', '.join(cpt.parents)}" if cpt.parents else ""
    lit_rows = lit if len(lit) < len(rows) else []
    alt = f"The conditional probabilities of {variable}."
    return table("table", columns, rows, title=f"P({variable}{given})", lit_rows=lit_rows, alt=alt)


def belief_panel(case: Case, before: dict[str, float], now: dict[str, float]) -> Panel:
    """Beliefs before and now; a dash where none is computed yet."""

    def cell(known: dict[str, float], name: str) -> str:
        return number(known[name]) if name in known else "–"

    rows = [[name, cell(before, name), cell(now, name)] for name in PLACES[case.name]]
    at = list(PLACES[case.name]).index(case.query)
    columns, alt = (
        ["P(first state)", "before", "now"],
        "Probability of every variable before and now.",
    )
    return table("beliefs", columns, rows, title="Beliefs", lit_rows=[at], alt=alt)


def zeros_of(network: Any) -> int:
    """Cells of the tables that are exactly 0."""
    return int(sum((np.asarray(cpt.values) == 0).sum() for cpt in network.cpds_.values()))
