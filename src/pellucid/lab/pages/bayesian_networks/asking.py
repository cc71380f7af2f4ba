"""Asking a Bayesian network: evidence told piece by piece, paths opened and closed."""

from typing import Any

import numpy as np

from pellucid.lab.drawing import number, short
from pellucid.lab.pages.bayesian_networks import parts
from pellucid.lab.pages.bayesian_networks.parts import Case, belief_panel, beliefs, net_panel
from pellucid.lab.scene import table
from pellucid.lab.trace import Frame, Trace

MOST = 60
EMPTY: dict[str, Any] = {"kind": "none", "panels": []}
CARD_OF_PATHS = {
    "representation": "a directed acyclic graph",
    "evaluation": "a path is open unless a node on it blocks it",
    "optimisation": "reachability over (node, direction of arrival)",
}


def evidence_trace(case: Case, params: dict[str, Any], seed: int) -> Trace:
    """First the prior of every variable, causes first; then the evidence, effects first."""
    network = case.network
    prior = beliefs(network, {})
    order = network.dag_.topological_order()
    frames = [_prior(case, name, prior, i) for i, name in enumerate(order)]
    told: dict[str, Any] = {}
    for name, state in case.evidence.items():
        frames.append(_told(case, told, name, state, len(frames)))
        told[name] = state
    last = beliefs(network, told)[case.query]
    title, objective = f"Evidence in the network {case.name}", "log-probability of the evidence"
    verdict = (
        f"P({case.query} = {case.yes(case.query)}) was {number(prior[case.query])} before "
        f"any evidence and is {number(last)} now."
    )
    code = (
        f"import numpy as np\n\n{case.code}model = network\nevidence = {told!r}\n"
        f"answer = model.query({case.query!r}, evidence)\n"
        "objective = float(np.log(model.probability(evidence)))\n"
    )
    words = (title, objective, verdict, code)
    return Trace("BayesianNetwork", params, EMPTY, network.card().to_dict(), tuple(frames), *words)


def _prior(case: Case, name: str, prior: dict[str, float], i: int) -> Frame:
    """P(x) = sum over the parents of P(x | parents) P(parents)."""
    network, yes = case.network, case.yes(name)
    parents = network.cpds_[name].parents
    shown = {n: p for n, p in prior.items() if n in network.dag_.topological_order()[: i + 1]}
    if not parents:
        formula = f"P({name} = {yes}) = {number(prior[name])}, given in its table"
    else:
        weights = network.query(list(parents)).values.ravel()
        rows = network.cpds_[name].values.reshape(-1, 2)[:, 0]
        terms = [f"{number(p)}·{number(w)}" for p, w in zip(rows, weights, strict=True)]
        formula = (
            f"P({name} = {yes}) = Σ P({name} | {', '.join(parents)}) P({', '.join(parents)}) = "
            f"{' + '.join(terms)} = {number(prior[name])}"
        )
    title = "Prior, from causes to effects"
    panels = [
        net_panel(case, shown, {}, path=(name,), title=title),
        parts.cpt_panel(case, name, {}),
        belief_panel(case, shown, shown),
    ]
    numbers = {"variable": name, f"P({yes})": short(prior[name]), "parents": len(parents)}
    return Frame(i, 0.0, None, formula, numbers, {"panels": panels})


def _told(case: Case, told: dict[str, Any], name: str, state: Any, i: int) -> Frame:
    network, query, yes = case.network, case.query, case.yes(case.query)
    now = {**told, name: state}
    before, after = beliefs(network, told), beliefs(network, now)
    p = network.probability(now)
    both = network.probability({**now, query: yes})
    path = network.dag_.active_path(name, query, list(told)) or [name]
    said = ", ".join(f"{n} = {s}" for n, s in now.items())
    formula = (
        f"P({query} = {yes} | {said}) = P(both) / P(evidence) = {number(both)} / {number(p)} = "
        f"{number(after[query])}"
    )
    title = f"{name} = {state} is told; lit: the path to {query}"
    panels = [
        net_panel(case, after, now, path=path, title=title),
        belief_panel(case, before, after),
        parts.cpt_panel(case, name, now),
    ]
    numbers = {"told": f"{name} = {state}", "P(evidence)": short(p)}
    numbers[f"P({query}) before"] = short(before[query])
    numbers[f"P({query}) now"] = short(after[query])
    return Frame(i, float(np.log(p)), None, formula, numbers, {"panels": panels})


def separation_trace(case: Case, params: dict[str, Any], seed: int) -> Trace:
    """Every path between two variables, blocked or open, as more is observed."""
    a, b = case.begin, case.query
    if a == b:
        raise ValueError(f"a path needs two different ends, got {a} twice")
    evidence = {name: state for name, state in case.evidence.items() if name != a}
    for state in case.network.states_[a]:
        if case.network.probability({**evidence, a: state}) == 0:
            raise ValueError(f"with this evidence {a} = {state} is impossible: nothing to compare")
    paths = list(_paths(case.network.dag_, [a], b))
    if not paths:
        raise ValueError(f"no path joins {a} and {b}")
    frames: list[Frame] = []
    told: dict[str, Any] = {}
    for name in [None, *evidence]:
        if name is not None:
            told = {**told, name: evidence[name]}
        first = len(frames)
        frames += [_path(case, path, paths, told, first + j) for j, path in enumerate(paths)]
        frames.append(_judged(case, paths, told, len(frames)))
    frames = frames[:MOST]
    free = case.network.dag_.d_separated(a, b, list(told))
    given = f" given {', '.join(told)}" if told else ""
    title, objective = f"d-separation of {a} and {b}", f"how much P({b}) depends on {a}"
    verdict = f"{a} and {b} are {'d-separated: independent' if free else 'd-connected'}{given}."
    code = (
        f"{case.code}result = network.dag_.d_separated({a!r}, {b!r}, {list(told)!r})\n"
        f"evidence = {told!r}\n"
        f"p = [network.query({b!r}, {{**evidence, {a!r}: s}}).values[0] "
        f"for s in network.states_[{a!r}]]\n"
        "objective = float(abs(p[0] - p[1]))\n"
    )
    words = (title, objective, verdict, code)
    return Trace("DAG", params, EMPTY, CARD_OF_PATHS, tuple(frames), *words)


def _paths(dag: Any, so_far: list[str], end: str) -> Any:
    """All ways along edges, in either direction, that visit no node twice."""
    if so_far[-1] == end:
        yield list(so_far)
        return
    beside = dag.parents(so_far[-1]) | dag.children(so_far[-1])
    for name in sorted(beside - set(so_far)):
        yield from _paths(dag, [*so_far, name], end)


def _blocks(dag: Any, path: list[str], told: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """(node, how the edges meet there, whether it blocks)."""
    found = []
    for left, node, right in zip(path, path[1:], path[2:], strict=False):
        kind, blocked = dag.connection(left, node, right), node in told
        if kind == "head-to-head":
            blocked = not blocked and not (dag.descendants(node) & set(told))
        found.append((node, kind, blocked))
    return found


def _apart(case: Case, told: dict[str, Any]) -> tuple[float, float]:
    """P(query = first state) for the two states of the other end."""
    states = case.network.states_[case.begin]
    first, second = (case.network.query(case.query, {**told, case.begin: s}) for s in states)
    return float(first.values[0]), float(second.values[0])


def _path(case: Case, path: list[str], paths: Any, told: dict[str, Any], i: int) -> Frame:
    blocks = _blocks(case.network.dag_, path, told)
    open_ = not any(blocked for _, _, blocked in blocks)
    first, second = _apart(case, told)
    rows, said = [], []
    for node, kind, blocked in blocks:
        rows.append([node, kind, "yes" if node in told else "no", "blocks" if blocked else "open"])
        said.append(f"{node} ({kind}) {'blocks' if blocked else 'is open'}")
    formula = f"path {paths.index(path) + 1} of {len(paths)}, {' – '.join(path)}: "
    formula += f"{'; '.join(said) or 'an edge is always open'} → {'open' if open_ else 'blocked'}"
    columns = ["node", "edges meet", "observed", "so it"]
    title, alt = "The nodes between", "Every node of the path and whether it blocks it."
    panels = [
        net_panel(case, None, told, path=path, title=f"Given {', '.join(told) or 'nothing'}"),
        table("table", columns, rows or [["–", "–", "–", "–"]], title=title, alt=alt),
    ]
    place, known = paths.index(path) + 1, len(told)
    numbers = {"path": place, "observed": known, "open": "yes" if open_ else "no"}
    return Frame(i, abs(first - second), None, formula, numbers, {"panels": panels})


def _judged(case: Case, paths: Any, told: dict[str, Any], i: int) -> Frame:
    dag, a, b = case.network.dag_, case.begin, case.query
    path = dag.active_path(a, b, list(told))
    first, second = _apart(case, told)
    yes, states = case.yes(b), case.network.states_[a]
    given = "".join(f", {n} = {s}" for n, s in told.items())
    formula = (
        f"P({b} = {yes} | {a} = {states[0]}{given}) = {number(first)}, "
        f"P({b} = {yes} | {a} = {states[1]}{given}) = {number(second)}: "
        f"{'no path is open, they are equal' if path is None else 'a path is open'}"
    )
    rows = [
        [" – ".join(p), "blocked" if any(x[2] for x in _blocks(dag, p, told)) else "open"]
        for p in paths
    ]
    lit_rows = [j for j, row in enumerate(rows) if row[1] == "open"]
    alt = "Every path between the two variables, open or blocked."
    panels = [
        net_panel(case, None, told, path=path or (), title=f"Given {', '.join(told) or 'nothing'}"),
        table("table", ["path", "state"], rows, title="All paths", lit_rows=lit_rows, alt=alt),
    ]
    numbers: dict[str, Any] = {"observed": len(told), "open paths": len(lit_rows)}
    numbers["d-separated"] = "yes" if path is None else "no"
    numbers["difference"] = short(abs(first - second))
    return Frame(i, abs(first - second), None, formula, numbers, {"panels": panels})
