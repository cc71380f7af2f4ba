"""Learning the tables of a Bayesian network: counts, or EM where cells are missing."""

from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from pellucid.graphical.learning.learn_tables import DirichletPrior
from pellucid.graphical.network.network import BayesianNetwork
from pellucid.lab.drawing import number, short
from pellucid.lab.pages.bayesian_networks import parts
from pellucid.lab.pages.bayesian_networks.parts import HIDDEN, Case, beliefs, cpt_panel, net_panel
from pellucid.lab.scene import Panel, line, plane, points, table
from pellucid.lab.trace import Frame, Trace
from pellucid.plots.panels.replay import watched

TESTS = 300
EM_ROUNDS, EM_TESTS, MOST_FRAMES = 60, 80, 24


def counts_trace(case: Case, params: dict[str, Any], seed: int) -> Trace:
    """The tables after 5, 8, 12, ... rows; what the evidence then says."""
    rows = case.network.sample(params["rows"], random_state=seed)
    test = case.network.sample(TESTS, random_state=seed + 1)
    sizes = np.unique(np.geomspace(5, params["rows"], 14).round().astype(int))
    prior = DirichletPrior(params["alpha"]) if params["alpha"] > 0 else None
    models = [_model(case, prior).fit(rows[: int(n)]) for n in sizes]
    sized = enumerate(zip(models, sizes.tolist(), strict=True))
    frames = tuple(_counted(case, m, rows[:n], test, params["alpha"], i) for i, (m, n) in sized)
    data = {"kind": "none", "panels": _static(case)}
    code = (
        f"import warnings\n\n{case.code}from pellucid.graphical import BayesianNetwork, "
        f"DirichletPrior\n\nrows = network.sample({params['rows']}, random_state={seed})\n"
        f"prior = {_prior_code(params)}\n"
        "model = BayesianNetwork(network.dag_, states=network.states_, prior=prior)\n"
        "with warnings.catch_warnings():  # parents never seen together are warned of\n"
        '    warnings.simplefilter("ignore")\n    model.fit(rows)\n'
        "objective = model.score(rows)\n"
    )
    title, verdict = f"Tables of {case.name} from counts", _counts_verdict(models[-1], test)
    words = (title, "log-likelihood per row", verdict, code)
    return Trace("BayesianNetwork", params, data, models[-1].card().to_dict(), frames, *words)


def _prior_code(params: dict[str, Any]) -> str:
    return f"DirichletPrior({params['alpha']!r})" if params["alpha"] > 0 else "None"


def _model(case: Case, prior: Any, **more: Any) -> Any:
    network = case.network
    return BayesianNetwork(network.dag_, states=network.states_, prior=prior, **more)


def _counts_verdict(model: BaseEstimator, test: Any) -> str:
    lost = int(np.isneginf(model.score_samples(test)).sum())
    zeros = parts.zeros_of(model)
    if lost:
        return (
            f"{zeros} cells of the tables are 0, and {lost} of {TESTS} new rows are impossible "
            "under them: no evidence can bring back what a zero has ruled out. Give α > 0."
        )
    return f"All {TESTS} new rows are possible; {zeros} cells of the tables are 0."


def _answer(case: Case, model: BaseEstimator) -> tuple[str, str]:
    """P(query | evidence) under learned tables, in words and as a number, or that there is none."""
    given, yes = case.evidence, case.yes(case.query)
    said = ", ".join(f"{n} = {s}" for n, s in given.items())
    left = f"P({case.query} = {yes}{' | ' + said if said else ''})"
    below = model.probability(given) if given else 1.0
    if below == 0:
        return f"{left} = 0 / 0: the evidence has probability 0", "none"
    both = model.probability({**given, case.query: yes})
    answer = number(both / below)
    return f"{left} = {number(both)} / {number(below)} = {answer}", answer


def _counted(case: Case, model: BaseEstimator, rows: Any, test: Any, alpha: float, i: int) -> Frame:
    focus = case.query
    N = np.asarray(model.counts_[focus], float).reshape(-1, 2)
    j = int(N.sum(axis=1).argmax())
    top = f"({number(N[j, 0])} + {number(alpha)})" if alpha else number(N[j, 0])
    below = N[j].sum() + 2 * alpha
    given = " | parents" if model.cpds_[focus].parents else ""
    words, answer = _answer(case, model)
    formula = (
        f"θ({focus} = {case.yes(focus)}{given}) = (N + α) / (N_j + 2α) = {top} / {number(below)} = "
        f"{number((N[j, 0] + alpha) / below if below else 0.5)}; {words}"
    )
    score = model.score_samples(test)
    lost = np.isneginf(score)
    zeros, true = parts.zeros_of(model), number(beliefs(case.network, case.evidence)[focus])
    numbers: dict[str, Any] = {"rows": len(rows), "cells that are 0": zeros}
    numbers |= {"new rows impossible": int(lost.sum()), "answer": answer, "true answer": true}
    held = None if lost.any() else float(score.mean())
    state = {"panels": _panels(case, model, f"Learned from {len(rows)} rows")}
    return Frame(i, float(model.score(rows)), None, formula, numbers, state, held)


def _panels(case: Case, model: BaseEstimator, title: str) -> list[Panel]:
    """What has been learned so far: graph, table and counts, all cells."""
    known, focus = beliefs(model, {}), case.query
    graph = net_panel(case, known, {}, path=(focus,), title=title)
    return [graph, _counts_panel(case, model, focus), _cells(case, model)]


def _counts_panel(case: Case, model: BaseEstimator, focus: str) -> Panel:
    """The (expected) counts behind a table."""
    cpt = model.cpds_[focus]
    base = cpt_panel(case, focus, {}, network=model)
    N = np.asarray(model.counts_[focus], float).reshape(-1, len(cpt.states))
    rows = [[*row, *(number(v) for v in n)] for row, n in zip(base["rows"], N, strict=True)]
    columns = [*base["columns"], *(f"N {s}" for s in cpt.states)]
    zero = [(i, j) for i, row in enumerate(base["rows"]) for j, v in enumerate(row) if v == "0"]
    return table("table", columns, rows, title=base["title"], lit=zero, alt=base["alt"])


def _static(case: Case) -> list[Panel]:
    """The panels in their order: graph, table, all cells."""
    return [net_panel(case, None, {}), cpt_panel(case, case.query, {}), _truth_panel()]


def _truth_panel() -> Panel:
    marks = [line([0.0, 1.0], [0.0, 1.0], colour="quiet", dashed=True, width=1.0)]
    title, box = "Cells of all tables: learned against true", (-0.04, 1.04, -0.04, 1.04)
    alt = "One point per cell of the tables; on the line it is right."
    return plane("truth", marks, title=title, x="true probability", y="learned", box=box, alt=alt)


def _cells(case: Case, model: BaseEstimator) -> Panel:
    names = list(parts.PLACES[case.name])
    x = np.concatenate([np.ravel(case.network.cpds_[n].values) for n in names])
    y = np.concatenate([_aligned(case, model, n) for n in names])
    return plane("truth", [points(x, y, group=0, ring=y == 0, label="a cell (ring: learned 0)")])


def _aligned(case: Case, model: BaseEstimator, name: str) -> Any:
    """The learned table with its axes in the order of the true one."""
    mine, own = model.cpds_[name], case.network.cpds_[name]
    axes = [mine.parents.index(p) for p in own.parents]
    return np.ravel(np.transpose(mine.values, [*axes, len(axes)]))


def em_trace(case: Case, params: dict[str, Any], seed: int) -> Trace:
    """EM from random tables; every round is a frame."""
    rows = _with_gaps(case, params, seed)
    if not params["hidden"] and not sum(rows[name].null_count() for name in rows.columns):
        raise ValueError("no cell is missing, so EM has nothing to expect: raise the share")
    prior = DirichletPrior(params["alpha"]) if params["alpha"] > 0 else None
    model = _model(case, prior, max_iter=EM_ROUNDS, tol=1e-3, random_state=seed)
    fitted, recorder = watched(model, rows)
    models = next(iter(recorder.runs.values()))
    values = fitted.history_["objective"] / len(rows)
    test = _with_gaps(case, {**params, "rows": EM_TESTS}, seed + 1)
    hidden = HIDDEN[case.name] if params["hidden"] else None
    shown = np.unique(np.linspace(0, len(models) - 1, MOST_FRAMES).round().astype(int))
    frames = [_em_start(case, values, rows, params)]
    frames += [_em_round(case, models, values, test, rows, int(i), params["alpha"]) for i in shown]
    data, card = {"kind": "none", "panels": _static(case)}, fitted.card().to_dict()
    title = f"EM for the tables of {case.name}"
    objective = "log-likelihood per row" if prior is None else "log-posterior per row"
    verdict, code = _em_verdict(fitted, values, hidden), _em_code(case, params, seed, prior)
    words = (title, objective, verdict, code)
    return Trace("BayesianNetwork", params, data, card, tuple(frames), *words)


def _em_verdict(fitted: BaseEstimator, values: np.ndarray, hidden: str | None) -> str:
    words = (
        f"{fitted.n_iter_} rounds took the objective from {number(values[0])} to "
        f"{number(values[-1])} per row."
    )
    if hidden is not None:
        words += f" {hidden} was never seen: its two states may have changed their names."
    return words


def _with_gaps(case: Case, params: dict[str, Any], seed: int) -> Any:
    rows = case.network.sample(params["rows"], random_state=seed)
    gaps = np.random.default_rng(seed).random(rows.shape) < params["share"]
    found = {
        name: [None if gap else value for value, gap in zip(rows[name], gaps[:, j], strict=True)]
        for j, name in enumerate(rows.columns)
    }
    if params["hidden"]:
        del found[HIDDEN[case.name]]
    return pl.DataFrame(found)


def _em_code(case: Case, params: dict[str, Any], seed: int, prior: Any) -> str:
    drop = f"del found[{HIDDEN[case.name]!r}]  # never seen\n" if params["hidden"] else ""
    return (
        f"import warnings\n\nimport numpy as np\nimport polars as pl\n\n{case.code}"
        "from pellucid.graphical import BayesianNetwork, DirichletPrior\n\n"
        f"rows = network.sample({params['rows']}, random_state={seed})\n"
        f"gaps = np.random.default_rng({seed}).random(rows.shape) < {params['share']!r}\n"
        "found = {name: [None if gap else v for v, gap in zip(rows[name], gaps[:, j])]\n"
        f"         for j, name in enumerate(rows.columns)}}\n{drop}"
        f"prior = {_prior_code(params)}\n"
        "model = BayesianNetwork(network.dag_, states=network.states_, prior=prior,\n"
        f"                        max_iter={EM_ROUNDS}, tol=1e-3, random_state={seed})\n"
        "with warnings.catch_warnings():  # EM may need more rounds\n"
        '    warnings.simplefilter("ignore")\n    model.fit(pl.DataFrame(found))\n'
        f'objective = float(model.history_["objective"][-1] / {params["rows"]})\n'
    )


def known_in(rows: Any, name: str) -> int:
    """In how many rows a variable is known."""
    return 0 if name not in rows.columns else rows.height - rows[name].null_count()


def _em_start(case: Case, values: np.ndarray, rows: Any, params: dict[str, Any]) -> Frame:
    cells = rows.height * rows.width
    missing = int(sum(rows[name].null_count() for name in rows.columns))
    focus = case.query
    seen = known_in(rows, focus)
    what = "posterior" if params["alpha"] > 0 else "likelihood"
    formula = (
        f"tables drawn at random; {missing} of {cells} cells are missing, {focus} is known in "
        f"{seen} of {rows.height} rows: log-{what} per row {number(values[0])}"
    )
    before = net_panel(case, None, {}, title="Before the first round")
    panels = [before, cpt_panel(case, case.query, {})]
    start = round(float(values[0]), 4)
    numbers = {"rows": rows.height, "missing cells": missing, "objective per row": start}
    return Frame(0, float(values[0]), None, formula, numbers, {"panels": panels})


def _em_round(
    case: Case, models: Any, values: np.ndarray, test: Any, rows: Any, i: int, alpha: float
) -> Frame:
    model, focus = models[i], case.query
    N = np.asarray(model.counts_[focus], float).reshape(-1, 2)
    j = int(N.sum(axis=1).argmax())
    theta = number(np.asarray(model.cpds_[focus].values).reshape(-1, 2)[j, 0])
    seen = known_in(rows, focus)
    yes, which = case.yes(focus), f", parents {j + 1}" if len(N) > 1 else ""
    made = theta
    if i:
        M = np.asarray(models[i - 1].counts_[focus], float).reshape(-1, 2)[j]
        top, below = number(M[0], 4), number(M.sum(), 4)
        if alpha:
            top, below = f"({top} + {number(alpha)})", f"({below} + {number(2 * alpha)})"
        made = f"{top} / {below} = {theta}"
    rule = "(N + α) / (N_j + 2α)" if alpha else "N / N_j"
    formula = (
        f"M: θ({focus} = {yes}{which}) ← {rule} = {made}; E: N = Σ P({focus} = {yes} | observed "
        f"cells) = {number(N[j, 0], 4)} of {number(N[j].sum(), 4)}"
    )
    score = model.score_samples(test)
    panels = _panels(case, model, f"After round {i + 1}")
    numbers = {"round": i + 1, "objective per row": round(float(values[i + 1]), 5)}
    numbers |= {f"{focus} observed in": seen, f"E[N({focus})]": short(N[:, 0].sum())}
    numbers["cells that are 0"] = parts.zeros_of(model)
    held = float(score.mean()) if np.isfinite(score).all() else None
    gap = float(values[i + 1] - values[i])
    return Frame(i + 1, float(values[i + 1]), gap, formula, numbers, {"panels": panels}, held)
