"""Planning in a known world: value iteration and policy iteration, step by step."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.runtime.random import generator
from pellucid.lab.drawing import number, quietly, short
from pellucid.lab.pages.control.parts import World, curves_panel, values_frame, values_panel
from pellucid.lab.scene import Panel, plane, points, rule, table
from pellucid.lab.trace import Frame, Trace
from pellucid.plots.panels.replay import watched
from pellucid.reinforcement.planning.planner import shortest_path_policy
from pellucid.reinforcement.planning.policy_iteration import PolicyIteration, random_policy
from pellucid.reinforcement.planning.value_iteration import ValueIteration

COLUMNS = ["action", "Σ P U(s')", "Q(s, a)"]
SWEEPS = 80  # most of value iteration on this page: no more are watched


class Stage(NamedTuple):
    """Values and policy after a step."""

    values: Any
    policy: Any


def plan_trace(world: World, params: dict[str, Any], seed: int) -> Trace:
    """Value or policy iteration."""
    by_values = params["method"] == "value iteration"
    model: Any = PolicyIteration(random_state=seed, max_iter=SWEEPS)
    if by_values:
        model = ValueIteration(tol=1e-4, max_iter=SWEEPS)
    fitted, recorder = watched(model, world.mdp)
    steps = next(iter(recorder.runs.values()))
    zero = np.zeros(world.mdp.n_states)
    stages = [Stage(zero, None if by_values else _first_policy(world, fitted, seed))]
    stages += [Stage(one.values_, one.policy_) for one in steps]
    curves = np.array([stage.values for stage in stages])
    limit = max(1.0, float(np.abs(curves).max()))
    tell = _value_frame if by_values else _policy_frame
    frames = tuple(tell(world, stages, k, limit) for k in range(len(stages)))
    what = "sweep" if by_values else "improvement"
    panels = [
        values_frame(world),
        table("backup", COLUMNS, [], title="One state"),
        curves_panel("Every state's value", curves, None, what),
    ]
    title = "Value iteration" if by_values else "Policy iteration"
    verdict, code = _verdict(world, fitted, frames[-1]), _code(world, fitted, by_values, seed)
    words = (title, "Bellman residual max |B U − U|", verdict, code)
    data = {"kind": "none", "cells": "/".join(world.layout), "panels": panels}
    card = fitted.card().to_dict()
    return Trace(type(fitted).__name__, params, data, card, frames, *words)


def _first_policy(world: World, fitted: BaseEstimator, seed: int) -> Any:
    """Where policy iteration began."""
    if fitted.replaced_:
        return shortest_path_policy(world.mdp)
    return random_policy(world.mdp, generator(seed))


def _backup(world: World, U: Any, s: int, chosen: int) -> Panel:
    mdp = world.mdp
    ahead = (mdp.transitions @ U).reshape(mdp.rewards.shape)[s]
    Q = mdp.q_values(U)[s]
    rows = [[name, number(a), number(q)] for name, a, q in zip(mdp.actions, ahead, Q, strict=True)]
    rows = [["exit", "0", number(Q[0])]] if mdp.terminal[s] else rows
    title = f"Backup of the state {world.name(s)}"
    alt = f"What can be done in the state {world.name(s)}."
    return table("backup", COLUMNS, rows, title=title, lit_rows=[chosen], alt=alt)


def _frame(
    world: World, stages: list[Stage], k: int, limit: float, s: int, said: Any, by_policy: bool
) -> Frame:
    U, policy = stages[k]
    mdp = world.mdp
    residual, g = mdp.residual(U), mdp.discount
    before = U if by_policy else stages[max(k - 1, 0)].values  # what the backup looked at
    chosen = int(mdp.q_values(before)[s].argmax() if policy is None else policy[s])
    chosen = 0 if mdp.terminal[s] else chosen
    now = points(np.full(len(U), float(k)), U, group=0, size=0.5)
    panels = [
        values_panel(world, U, limit, policy=policy, focus=s if k else -1),
        _backup(world, before, s, chosen),
        plane("curves", [rule(x=float(k), colour="accent"), now]),
    ]
    start = int(mdp.start.argmax())
    formula, numbers = said
    gap = residual / (1 - g) if g < 1 else None
    known = {"U(start)": round(float(U[start]), 4), "residual": short(residual)}
    known |= {} if gap is None else {"error at most": short(gap, 3)}
    return Frame(k, residual, gap, formula, known | numbers, {"panels": panels})


def _value_frame(world: World, stages: list[Stage], k: int, limit: float) -> Frame:
    mdp = world.mdp
    U = stages[k].values
    if k == 0:
        start = f"U₀(s) = 0 for every state; γ = {number(mdp.discount)}"
        return _frame(world, stages, k, limit, int(mdp.start.argmax()), (start, {}), False)
    before = stages[k - 1].values
    moved = np.abs(U - before)
    s = int(moved.argmax())
    ahead = (mdp.transitions @ before).reshape(mdp.rewards.shape)[s]
    formula = (
        f"U{world.name(s)} ← R + γ max_a Σ P(s'|s,a) U(s') = {number(mdp.rewards[s, 0])} + "
        f"{number(mdp.discount)} · max({', '.join(number(a) for a in ahead)}) = {number(U[s])}"
    )
    if mdp.terminal[s]:
        worth = f"U{world.name(s)} ← R = {number(U[s])}"
        formula = f"{worth}: an exit is worth its reward, nothing follows"
    changed = stages[k].policy != stages[k - 1].policy if k > 1 else ~mdp.terminal
    numbers = {"largest change": short(moved.max()), "at state": world.name(s)}
    numbers["arrows that turned"] = int(np.sum(changed & ~mdp.terminal))
    return _frame(world, stages, k, limit, s, (formula, numbers), False)


def _policy_frame(world: World, stages: list[Stage], k: int, limit: float) -> Frame:
    mdp = world.mdp
    start = int(mdp.start.argmax())
    if k == 0:
        words = "π₀: a first policy; next it is evaluated: U = r_π + γ P_π U"
        return _frame(world, stages, k, limit, start, (words, {}), True)
    U, policy = stages[k]
    old = stages[k - 1].policy
    turned = (policy != old) & ~mdp.terminal
    Q = mdp.q_values(U)
    gain = np.where(turned, Q[np.arange(len(U)), policy] - Q[np.arange(len(U)), old], -1.0)
    s = int(gain.argmax()) if turned.any() else start
    a, b = mdp.actions[old[s]], mdp.actions[policy[s]]
    formula = f"U = (I − γ P_π)⁻¹ r_π gives U{world.name(s)} = {number(U[s])}; "
    if turned.any():
        formula += f"π{world.name(s)}: {a} {number(Q[s, old[s]])} → {b} {number(Q[s, policy[s]])}"
    else:
        formula += "no action is better than the one taken: the policy is optimal"
    said = formula, {"arrows that turned": int(turned.sum())}
    return _frame(world, stages, k, limit, s, said, True)


def _verdict(world: World, fitted: BaseEstimator, last: Frame) -> str:
    residual = float(last.objective or 0.0)
    if isinstance(fitted, ValueIteration) and fitted.n_iter_ >= SWEEPS and residual > 1e-4:
        why = f"a sweep shrinks errors only by γ = {number(world.mdp.discount)}; it needs more."
        if world.mdp.discount == 1:
            why = "at γ = 1 a sweep no longer shrinks errors, "
            why += "and there need be no finite value at all."
        return f"After {SWEEPS} sweeps the values still change by {number(residual)} a sweep: {why}"
    step = "sweep" if isinstance(fitted, ValueIteration) else "improvement"
    steps = f"{step}{'s' * (fitted.n_iter_ != 1)}"
    return f"{fitted.n_iter_} {steps}; the Bellman equation holds to {number(residual)}."


def _code(world: World, fitted: BaseEstimator, by_values: bool, seed: int) -> str:
    name = type(fitted).__name__
    call = f"tol=1e-4, max_iter={SWEEPS}" if by_values else f"random_state={seed}"
    fit = f"model = {name}({call}).fit(mdp)\n"
    loud = by_values and fitted.n_iter_ >= SWEEPS
    if loud:
        fit = quietly(fit, "it does not converge")
    head = "import warnings\n\n" if loud else ""
    return (
        f"{head}from pellucid.reinforcement import {name}, grid_world\n\n{world.code}\n{fit}"
        "objective = mdp.residual(model.values_)\n"
    )
