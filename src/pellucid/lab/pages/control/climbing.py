"""Policy gradient: a random policy whose probabilities follow the returns of whole episodes."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.lab.drawing import number, short
from pellucid.lab.pages.control.agents import MOST_FRAMES, MOST_STEPS, PATIENCE
from pellucid.lab.pages.control.parts import TURNS, World, values_frame, values_panel
from pellucid.lab.scene import Panel, bars, line, plane, points, rule, segments
from pellucid.lab.trace import Frame, Trace
from pellucid.reinforcement.approximation.policy_gradient import PolicyGradient
from pellucid.reinforcement.planning.value_iteration import ValueIteration
from pellucid.reinforcement.worlds.worlds import Move, Watched

METHOD = "policy gradient"
FIRST = 40  # episodes that are shown one by one
LONGEST = 0.42  # of a bar of the policy, in cells
ACTIONS = ("up", "right", "down", "left")


class Climb(NamedTuple):
    """Episodes, and what the agent held before each of them and after the last."""

    agent: Any
    walks: list[list[Move]]
    tables: list[Any]  # h(s, a)
    baselines: list[float]
    policies: list[Any]  # pi(a | s)
    worth: Any  # J of each policy: the expected return from the start
    best: float  # of any policy


def climb_trace(world: World, params: dict[str, Any], seed: int) -> Trace:
    """One frame before the first episode, then one for each that is shown."""
    if params["discount"] >= 1:
        raise ValueError("a policy that never reaches an exit must have a worth: take γ below 1")
    climb = learned(world, params, seed)
    n = len(climb.walks)
    shown = np.unique(np.geomspace(1, n, MOST_FRAMES).round().astype(int))
    chosen = range(1, n + 1) if params["show"] == "steps" else shown.tolist()
    ends = climb.policies[0], climb.policies[-1]
    limit = max(1.0, *(float(np.abs(world.mdp.evaluate(policy)).max()) for policy in ends))
    frames = (begin(world, climb, limit), *(frame(world, params, climb, k, limit) for k in chosen))
    title, objective = "Policy gradient", "expected return J of the policy, from the start"
    still = [values_frame(world), chances_panel(), returns_panel(climb)]
    data = {"kind": "none", "cells": "/".join(world.layout), "panels": still}
    words = (title, objective, verdict(climb), code(world, climb, params, seed))
    return Trace("PolicyGradient", params, data, climb.agent.card().to_dict(), frames, *words)


def learned(world: World, params: dict[str, Any], seed: int) -> Climb:
    """Episode by episode, as many as are asked for or as fit into ``MOST_STEPS``."""
    mdp = world.mdp
    base = "mean" if params["baseline"] == "mean return" else None
    settings = {"discount": mdp.discount, "learning_rate": params["rate"], "baseline": base}
    agent = PolicyGradient(**settings, max_steps=PATIENCE, random_state=seed)
    place, most = Watched(mdp), FIRST if params["show"] == "steps" else params["episodes"]
    tables, baselines = [np.zeros((mdp.n_states, mdp.n_actions))], [0.0]
    while len(place.walks) < most and sum(map(len, place.walks)) < MOST_STEPS:
        agent.partial_fit(place, n_episodes=1)
        tables.append(agent.preferences_.copy())
        baselines.append(float(agent.base_.mean[0]) if base else 0.0)
    policies = [chances(h) for h in tables]
    start = int(mdp.start.argmax())
    worth = np.array([mdp.evaluate(policy)[start] for policy in policies])
    best = float(ValueIteration(tol=1e-9).fit(mdp).values_[start])
    return Climb(agent, place.walks, tables, baselines, policies, worth, best)


def chances(h: Any) -> Any:
    p = np.exp(h - h.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def returns(walk: list[Move], discount: float) -> Any:
    """G_t = r_t + γ G_(t+1)."""
    G = np.zeros(len(walk) + 1)
    for t in range(len(walk) - 1, -1, -1):
        G[t] = walk[t].reward + discount * G[t + 1]
    return G[:-1]


def begin(world: World, climb: Climb, limit: float) -> Frame:
    policy = climb.policies[0]
    worth, start = float(climb.worth[0]), int(world.mdp.start.argmax())
    formula = (
        f"h(s, a) = 0 everywhere, so π(a | s) = exp h / (Σ exp h) = 1 / {policy.shape[1]}: a walk "
        f"by chance, J = {number(worth)}; the best policy has {number(climb.best)}"
    )
    numbers = {"episodes": 0, "expected return": short(worth), "best": short(climb.best)}
    panels = [stars(world, policy, limit, [], start), chance_bars(policy[start], None)]
    return Frame(0, worth, None, formula, numbers, {"panels": [*panels, climbed(climb, 0)]})


def frame(world: World, params: dict[str, Any], climb: Climb, k: int, limit: float) -> Frame:
    """Episode k and the step of it that moved its probability most."""
    walk, h, policy = climb.walks[k - 1], climb.tables[k], climb.policies[k]
    before, b, g = climb.policies[k - 1], climb.baselines[k - 1], params["discount"]
    G = returns(walk, g)
    states, actions = (np.array([getattr(m, name) for m in walk]) for name in ("state", "action"))
    pi = before[states, actions]
    push = params["rate"] * g ** np.arange(len(walk)) * (G - b) * (1 - pi)
    visits = np.bincount(states, minlength=len(policy))[states]
    t = int(np.where(visits == visits.min(), np.abs(push * pi), -1.0).argmax())
    s, a = int(states[t]), int(actions[t])
    name, act = world.name(s), ACTIONS[a]
    fade = f"{number(g**t)} · " if t else ""
    others = f" (with {visits[t] - 1} more visits)" if visits[t] > 1 else ""
    formula = (
        f"step {t + 1} of {len(walk)}, {act} in {name}: G = {number(G[t])}, b = {number(b)}; "
        f"h({name}, {act}) moves by η γ^t (G − b) (1 − π) = {number(params['rate'])} · {fade}"
        f"({number(G[t])} {'−' if b >= 0 else '+'} {number(abs(b))}) · (1 − {number(pi[t])}) = "
        f"{number(push[t])}; π({act} | {name}): {number(pi[t])} → {number(policy[s, a])}{others}"
    )
    numbers: dict[str, Any] = {"episode": k, "steps in it": len(walk), "return": short(G[0])}
    numbers |= {"baseline b": short(b), "expected return": short(float(climb.worth[k]))}
    numbers["best"] = short(climb.best)
    numbers["surest action"] = short(float(policy[~world.mdp.terminal].max()))
    numbers["π of the start's surest"] = short(float(policy[int(world.mdp.start.argmax())].max()))
    path = [*states.tolist(), walk[-1].after]
    panels = [stars(world, policy, limit, path, s), chance_bars(policy[s], before[s], name)]
    state = {"panels": [*panels, climbed(climb, k)]}
    change = float(np.abs(h - climb.tables[k - 1]).max())
    return Frame(k, float(climb.worth[k]), change, formula, numbers, state)


def stars(world: World, policy: Any, limit: float, path: Any, s: int) -> Panel:
    """Values of the policy; in every cell a bar in each direction, as long as it is probable."""
    panel = values_panel(world, world.mdp.evaluate(policy), limit, walk=path or None, focus=s)
    go = np.flatnonzero(~world.mdp.terminal)
    dx, dy = np.array(TURNS)[:, 0], np.array(TURNS)[:, 1]
    x, y = np.repeat(world.x[go], len(dx)), np.repeat(world.y[go] + 0.14, len(dx))
    far = LONGEST * policy[go]
    ends = x + (far * dx).ravel(), y + (far * dy).ravel()
    star = segments(x, y, *ends, colour=None, width=3.5, label="π(a | s)")
    return {**panel, "marks": [*panel["marks"], star]}


def chances_panel() -> Panel:
    title, alt = "Probabilities in the ringed state", "The probability of every action there."
    box = (0.4, len(ACTIONS) + 0.6, 0.0, 1.05)
    x = "1 up, 2 right, 3 down, 4 left"
    return plane("chances", [], title=title, x=x, y="π(a | s)", box=box, alt=alt)


def chance_bars(now: Any, before: Any, name: str = "") -> Panel:
    at = np.arange(1, len(now) + 1)
    marks = [bars(at, now, colour="accent", width=0.6, label="now")]
    if before is not None:
        marks.append(points(at, before, group="quiet", size=1.2, label="before it"))
    title = f"Probabilities in the ringed state {name}".strip()
    return {**chances_panel(), "title": title, "marks": marks}


def returns_panel(climb: Climb) -> Panel:
    """What every episode gave, under the line of what the policy promises."""
    marks = [rule(y=climb.best, colour="quiet", label="best policy")]
    title, alt = "Returns and what to expect", "The return of every episode and the expected one."
    return plane("returns", marks, title=title, x="episode", y="return", alt=alt)


def climbed(climb: Climb, k: int) -> Panel:
    got = [float(returns(walk, climb.agent.discount)[0]) for walk in climb.walks[:k]]
    marks = [line(np.arange(k + 1), climb.worth[: k + 1], label="J")]
    if k:
        at = np.arange(1, k + 1)
        marks.insert(0, points(at, got, group="quiet", size=0.7, label="G of an episode"))
    reach = float(climb.worth.min()), max(climb.best, float(climb.worth.max()))
    floor = min([reach[0], *got])
    box = (0, len(climb.walks) + 1, floor - 0.1, max([reach[1], *got]) + 0.1)
    alt = "The return of every episode so far and the expected one."
    return plane("returns", marks, box=box, alt=alt)


def verdict(climb: Climb) -> str:
    """A sentence for the end."""
    worth, n = float(climb.worth[-1]), len(climb.walks)
    return (
        f"After {n} episodes the policy expects {number(worth)} from the start; the best one has "
        f"{number(climb.best)}."
    )


def code(world: World, climb: Climb, params: dict[str, Any], seed: int) -> str:
    base = "mean" if params["baseline"] == "mean return" else None
    return (
        "from pellucid.reinforcement import PolicyGradient, grid_world\n\n"
        f"{world.code}\n"
        f"model = PolicyGradient(discount={params['discount']!r}, learning_rate={params['rate']!r},"
        f"\n    baseline={base!r}, n_episodes={len(climb.walks)}, max_steps={PATIENCE}, "
        f"random_state={seed}).fit(mdp)\n"
        "objective = float(mdp.evaluate(model.probabilities_)[mdp.start.argmax()])\n"
    )
