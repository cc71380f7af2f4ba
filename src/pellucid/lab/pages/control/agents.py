"""Learning by acting: TD, SARSA and Q-learning, by episodes or step by step."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pellucid.lab.drawing import number, signed
from pellucid.lab.pages.control import parts
from pellucid.lab.pages.control.parts import World, truth_marks, truth_panel, values_frame
from pellucid.lab.scene import Panel, table
from pellucid.lab.trace import Frame, Trace
from pellucid.reinforcement.learning.exploration import EpsilonGreedy, Greedy
from pellucid.reinforcement.learning.q_learning import QLearning
from pellucid.reinforcement.learning.sarsa import SARSA
from pellucid.reinforcement.learning.td import TDLearning
from pellucid.reinforcement.planning.value_iteration import ValueIteration
from pellucid.reinforcement.worlds.worlds import Move, Watched

AGENTS = {"TD": TDLearning, "SARSA": SARSA, "Q-learning": QLearning}
MOST_FRAMES = 45
FIRST_STEPS = 40  # steps that are shown one by one
PATIENCE = 200  # steps after which an episode is cut off
MOST_STEPS = 8000  # of all episodes together


class Run(NamedTuple):
    """What an agent did: for every update the table before and after it."""

    walks: list[list[Move]]
    tables: list[Any]  # one per step, and the last
    agent: Any
    truth: Any  # (S,) true utilities
    policy: Any  # of TD, (S, A)


def agent_trace(world: World, params: dict[str, Any], seed: int) -> Trace:
    """An agent that learns by acting."""
    if params["discount"] == 1 and params["step_reward"] >= 0:
        raise ValueError(
            "with γ = 1 and no cost of a step a walk that never ends is worth the most; agents "
            "need a discount below 1 or a negative reward per step"
        )
    run = _learn(world, params, seed)
    moves = [move for walk in run.walks for move in walk]
    ends = np.cumsum([len(walk) for walk in run.walks])
    if params["show"] == "steps":
        shown = list(range(1, len(moves) + 1))
    else:
        chosen = np.unique(np.geomspace(1, len(ends), MOST_FRAMES).round().astype(int))
        shown = [int(ends[i - 1]) for i in chosen]
    limit = max(1.0, float(max(np.abs(t).max() for t in run.tables)))
    frames = [_start(world, run, limit)]
    frames += [_frame(world, params, run, ends, k, limit) for k in shown]
    name = "U(s)" if params["method"] == "TD" else "max Q(s, a)"
    known = table("table", ["state", *_columns(run)], [], title="What the agent knows")
    panels = [values_frame(world), truth_panel(name), known]
    objective = "distance to the true utilities (root mean square)"
    verdict, code = _verdict(world, run, frames[-1]), _code(world, params, run, seed)
    words = (params["method"], objective, verdict, code)
    data = {"kind": "none", "cells": "/".join(world.layout), "panels": panels}
    card = run.agent.card().to_dict()
    return Trace(type(run.agent).__name__, params, data, card, tuple(frames), *words)


def _learn(world: World, params: dict[str, Any], seed: int) -> Run:
    mdp, steps = world.mdp, params["show"] == "steps"
    best = ValueIteration(tol=1e-9).fit(mdp)
    size: dict[str, Any] = {"discount": mdp.discount, "step_size": params["step_size"]}
    most = FIRST_STEPS if steps else PATIENCE
    settings = {**size, "random_state": seed, "max_steps": most}
    policy, truth = None, best.values_
    if params["method"] == "TD":
        policy = np.eye(mdp.n_actions)[best.policy_]
        if params["policy"] == "random":
            policy = np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions)
        settings["policy"], truth = policy, mdp.evaluate(policy)
    else:
        settings["exploration"] = explorer(params["epsilon"])
    agent = AGENTS[params["method"]](**settings)
    place = Watched(mdp, look=lambda: knows(agent).copy())
    while not _enough(place, params, steps):
        agent.partial_fit(place, n_episodes=1)
    tables = [move.tables for walk in place.walks for move in walk]
    return Run(place.walks, [*tables, knows(agent).copy()], agent, truth, policy)


def _enough(place: Watched, params: dict[str, Any], steps: bool) -> bool:
    if steps:
        return sum(map(len, place.walks)) >= FIRST_STEPS
    return len(place.walks) >= params["episodes"] or sum(map(len, place.walks)) >= MOST_STEPS


def explorer(epsilon: float) -> Any:
    return EpsilonGreedy(epsilon) if epsilon > 0 else Greedy()


def knows(agent: Any) -> Any:
    """The agent's table: Q(s, a), or U(s) of TD."""
    return agent.q_ if hasattr(agent, "q_") else agent.values_


def _values(world: World, tables: Any) -> Any:
    best = tables if tables.ndim == 1 else tables.max(axis=1)
    return np.where(world.mdp.terminal, world.mdp.final_values, best)


def _distance(world: World, run: Run, tables: Any) -> float:
    open_ = ~world.mdp.terminal
    return float(np.sqrt(np.mean((_values(world, tables) - run.truth)[open_] ** 2)))


def _columns(run: Run) -> list[str]:
    return ["up", "right", "down", "left"] if run.tables[0].ndim == 2 else ["U(s)", "true U(s)"]


def _start(world: World, run: Run, limit: float) -> Frame:
    zero = run.tables[0]
    what = "U(s)" if zero.ndim == 1 else "Q(s, a)"
    panels = _panels(world, run, zero, limit, [], -1, -1, np.zeros(len(run.truth), bool))
    distance = _distance(world, run, zero)
    numbers = {"episodes": 0, "distance": round(distance, 4)}
    formula = f"{what} = 0 everywhere; the agent knows neither the moves nor the rewards"
    return Frame(0, distance, None, formula, numbers, {"panels": panels})


def _frame(
    world: World, params: dict[str, Any], run: Run, ends: Any, k: int, limit: float
) -> Frame:
    """After k steps: by steps the last update, by episodes the largest of the episode."""
    e = int(np.searchsorted(ends, k))
    first = int(ends[e]) - len(run.walks[e])
    walk = run.walks[e][: k - first]
    tables = run.tables[first : first + len(walk) + 1]
    moved = [float(np.abs(after - before).max()) for before, after in pairwise(tables)]
    i = len(walk) - 1 if params["show"] == "steps" else int(np.argmax(moved))
    move, before, after = walk[i], run.tables[first + i], run.tables[first + i + 1]
    so_far = np.zeros(len(run.truth), bool)
    so_far[[m.state for w in run.walks[: e + 1] for m in w]] = True
    tables = run.tables[k]
    path = [*(m.state for m in walk), walk[-1].after]
    distance = _distance(world, run, tables)
    paid = round(sum(m.reward for m in walk), 3)
    numbers: dict[str, Any] = {"episode": e + 1, "steps in it": len(walk)}
    numbers["reward so far" if k < ends[e] else "return"] = paid
    numbers["distance"] = round(distance, 4)
    if tables.ndim == 2:
        numbers["Q at the start"] = round(float(tables[int(world.mdp.start.argmax())].max()), 4)
    panels = _panels(world, run, tables, limit, path, move.state, move.action, so_far)
    formula = _formula(world, params, move, before, after)
    step = k if params["show"] == "steps" else e + 1
    return Frame(step, distance, None, formula, numbers, {"panels": panels})


def _formula(world: World, params: dict[str, Any], move: Move, before: Any, after: Any) -> str:
    """The update with its numbers; the value looked ahead to follows from the change."""
    s, g, rate = move.state, params["discount"], params["step_size"]
    cell: Any = s if before.ndim == 1 else (s, move.action)
    old, new = float(before[cell]), float(after[cell])
    target = old + (new - old) / rate
    ahead = round((target - move.reward) / g, 9) if g else 0.0
    place = world.name(s)
    if before.ndim == 1:
        letter, left, look = "U", f"U{place}", f"γ U{world.name(move.after)}"
    else:
        letter, left = "Q", f"Q({place}, {world.mdp.actions[move.action]})"
        look = "γ max Q(s', ·)" if params["method"] == "Q-learning" else "γ Q(s', a')"
    terms, numbers = "r", number(move.reward)
    if not move.terminated:
        terms += f" + {look}"
        numbers += f" + {number(g)} · {number(ahead) if ahead >= 0 else f'({number(ahead)})'}"
    minus = signed(-old) if old else " − 0"
    return (
        f"{left} ← {letter} + α ({terms} − {letter}) = "
        f"{number(old)} + {number(rate)} · ({numbers}{minus}) = {number(new)}"
    )


def _panels(
    world: World, run: Run, tables: Any, limit: float, path: Any, s: int, a: int, seen: Any
) -> list[Panel]:
    U = _values(world, tables)
    open_ = ~world.mdp.terminal
    policy = None
    if tables.ndim == 2:
        policy = np.where(np.ptp(tables, axis=1) > 0, tables.argmax(axis=1), -1)
    if tables.ndim == 1 and run.policy is not None and run.policy.max() == 1:
        policy = run.policy.argmax(axis=1)
    rows = [s] if s >= 0 else [int(world.mdp.start.argmax())]
    rows += [t for t in dict.fromkeys(path[::-1]) if t not in rows and open_[t]]
    rows = sorted(rows[:8])
    if tables.ndim == 2:
        cells = [[world.name(t), *(number(round(float(v), 3)) for v in tables[t])] for t in rows]
        lit = [(rows.index(s), a + 1)] if s >= 0 else []
    else:
        cells = [[world.name(t), number(tables[t]), number(run.truth[t])] for t in rows]
        lit = [(rows.index(s), 1)] if s >= 0 else []
    labels = {1: "U(s)", 2: "max Q(s, a)"}
    title, alt = "What the agent knows", "The agent's table for states on the way of this episode."
    return [
        parts.values_panel(
            world, U, limit, policy=policy, walk=path or None, focus=s, label=labels[tables.ndim]
        ),
        truth_marks(run.truth[open_], U[open_], seen[open_]),
        table("table", ["state", *_columns(run)], cells, title=title, lit=lit, alt=alt),
    ]


def _verdict(world: World, run: Run, last: Frame) -> str:
    mdp, start = world.mdp, int(world.mdp.start.argmax())
    distance = number(float(last.objective or 0.0))
    if run.policy is not None:
        return (
            f"TD found the utilities of the policy it followed to {distance} on average, without "
            "knowing P: a constant step size keeps them trembling."
        )
    best = run.truth[start]
    seen = float(np.mean(run.agent.visits_[~mdp.terminal] > 0))
    return (
        f"Best value at the start by the table {number(run.agent.values_[start])}, by the true "
        f"world {number(best)}; {100 * seen:.0f} % of all state-action pairs were ever tried."
    )


def _code(world: World, params: dict[str, Any], run: Run, seed: int) -> str:
    name, td = type(run.agent).__name__, params["method"] == "TD"
    names = {name, "ValueIteration", "grid_world"}
    lines = ["best = ValueIteration(tol=1e-9).fit(mdp)"]
    if td:
        even, best = "np.full((mdp.n_states, 4), 0.25)", "np.eye(4)[best.policy_]"
        lines.append(f"policy = {even if params['policy'] == 'random' else best}")
        how, truth = "policy, ", "mdp.evaluate(policy)"
    else:
        rule = "Greedy()" if params["epsilon"] == 0 else f"EpsilonGreedy({params['epsilon']!r})"
        names.add(rule.split("(")[0])
        how, truth = f"exploration={rule}, ", "best.values_"
    lines.append(
        f"model = {name}({how}discount={params['discount']!r}, step_size={params['step_size']!r},\n"
        f"    n_episodes={run.agent.n_iter_}, max_steps={run.agent.max_steps}, "
        f"random_state={seed}).fit(mdp)"
    )
    lines += [
        "ends = mdp.terminal",
        f"error = (model.values_ - {truth})[~ends]",
        "objective = float(np.sqrt(np.mean(error**2)))",
    ]
    head = "import numpy as np\n\nfrom pellucid.reinforcement import " + ", ".join(sorted(names))
    return f"{head}\n\n{world.code}\n" + "\n".join(lines) + "\n"
