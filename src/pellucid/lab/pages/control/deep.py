"""Deep Q-network: a network in the place of the table, steps that are remembered, a slow copy."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.lab.drawing import braced, number, short
from pellucid.lab.pages.control.agents import MOST_FRAMES, PATIENCE
from pellucid.lab.pages.control.parts import (
    World,
    truth_marks,
    truth_panel,
    values_frame,
    values_panel,
)
from pellucid.lab.scene import Panel, line, plane, points, rule
from pellucid.lab.trace import Frame, Trace
from pellucid.reinforcement.approximation.deep_q import DeepQNetwork
from pellucid.reinforcement.approximation.replay import ReplayBuffer
from pellucid.reinforcement.approximation.value_network import ValueNetwork
from pellucid.reinforcement.learning.exploration import EpsilonGreedy
from pellucid.reinforcement.planning.value_iteration import ValueIteration
from pellucid.reinforcement.worlds.worlds import Move, Watched

METHOD = "deep Q-network"
UNITS, MOST = 16, 2000  # hidden units; steps of all episodes together


class Stage(NamedTuple):
    """What the networks say after an episode."""

    q: Any  # (S, A) of the network that learns
    slow: Any  # of its copy
    loss: float  # root mean square of the episode's errors
    distance: float  # of max Q from the true utilities
    worth: float  # of following max Q, from the start


class Run(NamedTuple):
    agent: Any
    walks: list[list[Move]]
    stages: list[Stage]
    truth: Any  # (S,)


def deep_trace(world: World, params: dict[str, Any], seed: int) -> Trace:
    """One frame before the first episode, then one for each that is shown."""
    if params["discount"] >= 1:
        raise ValueError("a walk that never ends must have a worth: take γ below 1")
    run = learned(world, params, seed)
    n = len(run.walks)
    chosen = np.unique(np.geomspace(1, n, MOST_FRAMES).round().astype(int)).tolist()
    limit = max(1.0, float(np.abs(run.stages[-1].q).max()))
    frames = (begin(world, run, limit), *(frame(world, params, run, k, limit) for k in chosen))
    objective = "distance of max Q from the true utilities (root mean square)"
    still = [values_frame(world), truth_panel("max Q(s, a)"), loss_panel()]
    data = {"kind": "none", "cells": "/".join(world.layout), "panels": still}
    words = ("Deep Q-network", objective, verdict(world, run), code(world, params, run, seed))
    return Trace("DeepQNetwork", params, data, run.agent.card().to_dict(), frames, *words)


def learned(world: World, params: dict[str, Any], seed: int) -> Run:
    """Episode by episode, as many as are asked for or as fit into ``MOST`` steps."""
    mdp = world.mdp
    rate, batch = params["adam"], min(params["batch"], params["memory"])
    network = ValueNetwork(
        mdp.n_states, mdp.n_actions, hidden=(UNITS,), learning_rate=rate, random_state=seed
    )
    agent = DeepQNetwork(
        network,
        discount=mdp.discount,
        exploration=EpsilonGreedy(params["epsilon"]),
        replay=ReplayBuffer(params["memory"], batch),
        target_every=params["target_every"],
        max_steps=PATIENCE,
        random_state=seed,
    )
    place, truth = Watched(mdp), ValueIteration(tol=1e-9).fit(mdp).values_
    network.values(np.eye(mdp.n_states))
    first = network.values(np.eye(mdp.n_states))
    stages = [staged(world, first, first, 0.0, truth)]
    while len(place.walks) < params["episodes"] and sum(map(len, place.walks)) < MOST:
        agent.partial_fit(place, n_episodes=1)
        slow = agent.networks_.target.values(np.eye(mdp.n_states))
        loss = float(agent.history_["td_error"][-1])
        stages.append(staged(world, agent.q_.copy(), slow.copy(), loss, truth))
    return Run(agent, place.walks, stages, truth)


def staged(world: World, q: Any, slow: Any, loss: float, truth: Any) -> Stage:
    mdp, open_ = world.mdp, ~world.mdp.terminal
    far = float(np.sqrt(np.mean((q.max(axis=1) - truth)[open_] ** 2)))
    greedy = np.eye(mdp.n_actions)[q.argmax(axis=1)]
    worth = float(mdp.evaluate(greedy)[int(mdp.start.argmax())])
    return Stage(q, slow, loss, far, worth)


def utilities(world: World, q: Any) -> Any:
    return np.where(world.mdp.terminal, world.mdp.final_values, q.max(axis=1))


def begin(world: World, run: Run, limit: float) -> Frame:
    stage, mdp = run.stages[0], world.mdp
    s = int(mdp.start.argmax())
    size = run.agent.networks_.online.vector_.size
    formula = (
        f"start: Q(s, ·) = h V + c, h = max(0, x W + b): {mdp.n_states} cells in, {UNITS} hidden "
        f"units, {mdp.n_actions} actions out, {size} random weights; max Q{world.name(s)} = "
        f"{number(stage.q[s].max())}"
    )
    numbers = {"episodes": 0, "distance": short(stage.distance)}
    panels = panels_of(world, run, 0, limit, [], -1)
    return Frame(0, stage.distance, None, formula, numbers, {"panels": panels})


def frame(world: World, params: dict[str, Any], run: Run, k: int, limit: float) -> Frame:
    """Episode k, and its last step as the networks see it now."""
    walk, stage, g = run.walks[k - 1], run.stages[k], params["discount"]
    move = walk[-2] if len(walk) > 1 else walk[-1]  # the last step has nothing ahead
    s, a, after = move.state, move.action, move.after
    ahead = 0.0 if move.terminated else float(stage.slow[after].max())
    y, Q = move.reward + g * ahead, float(stage.q[s, a])
    act = world.mdp.actions[a]
    goal = f"y = r = {number(y)}"
    if not move.terminated:
        terms = f"{number(move.reward)} + {number(g)} · {braced(ahead)}"
        goal = f"y = r + γ max Q⁻(s′, ·) = {terms} = {number(y)}"
    formula = (
        f"episode {k}, a step of it, {act} in {world.name(s)}: {goal}; Q = {number(Q)}; "
        f"(y − Q)² = {number((y - Q) ** 2)}; a batch of such steps, "
        f"drawn from {memory_size(params, run, k)} remembered ones, moves all weights: "
        f"θ ← θ − η ∇ mean (y − Q)²"
    )
    numbers: dict[str, Any] = {"episode": k, "steps in it": len(walk)}
    numbers["return"] = short(sum(m.reward for m in walk))
    numbers |= {"distance": short(stage.distance), "largest Q": short(float(stage.q.max()))}
    numbers["worth of following it"] = short(stage.worth)
    numbers["best worth"] = short(float(run.truth[int(world.mdp.start.argmax())]))
    numbers["remembered steps"] = memory_size(params, run, k)
    path = [*(m.state for m in walk), after]
    panels = panels_of(world, run, k, limit, path, s)
    return Frame(k, stage.distance, stage.loss, formula, numbers, {"panels": panels})


def memory_size(params: dict[str, Any], run: Run, k: int) -> int:
    return min(int(params["memory"]), sum(len(walk) for walk in run.walks[:k]))


def panels_of(world: World, run: Run, k: int, limit: float, path: Any, s: int) -> list[Panel]:
    stage, open_ = run.stages[k], ~world.mdp.terminal
    U = utilities(world, stage.q)
    policy = stage.q.argmax(axis=1) if k else None
    seen = np.zeros(len(U), bool)
    seen[[m.state for walk in run.walks[:k] for m in walk]] = True
    losses = [one.loss for one in run.stages[1 : k + 1]]
    marks = (
        [line(np.arange(1, k + 1), losses), points([k], losses[-1:], group="accent")] if k else []
    )
    box = (0, len(run.walks) + 1, 0, 1.1 * max(one.loss for one in run.stages))
    return [
        values_panel(
            world, U, limit, policy=policy, walk=path or None, focus=s, label="max Q(s, a)"
        ),
        truth_marks(run.truth[open_], U[open_], seen[open_]),
        plane("loss", [*marks, rule(y=0.0)], box=box),
    ]


def loss_panel() -> Panel:
    title, alt = "What the batches were off by", "The root mean square error of every episode."
    return plane("loss", [], title=title, x="episode", y="√ mean (y − Q)²", alt=alt)


def verdict(world: World, run: Run) -> str:
    """A sentence for the end."""
    last, best = run.stages[-1], float(run.truth[int(world.mdp.start.argmax())])
    return (
        f"{len(run.walks)} episodes, {sum(map(len, run.walks))} steps: following the largest Q is "
        f"worth {number(last.worth)} from the start, the best is {number(best)}; Q is off by "
        f"{number(last.distance)}."
    )


def code(world: World, params: dict[str, Any], run: Run, seed: int) -> str:
    batch = min(params["batch"], params["memory"])
    return (
        "import numpy as np\n\nfrom pellucid.reinforcement import (\n    DeepQNetwork, "
        "EpsilonGreedy, ReplayBuffer, ValueIteration, grid_world)\n"
        "from pellucid.reinforcement.approximation.value_network import ValueNetwork\n\n"
        f"{world.code}\nbest = ValueIteration(tol=1e-9).fit(mdp)\n"
        f"network = ValueNetwork(mdp.n_states, mdp.n_actions, hidden=({UNITS},),\n"
        f"    learning_rate={params['adam']!r}, random_state={seed})\n"
        f"model = DeepQNetwork(network, discount={params['discount']!r}, n_episodes="
        f"{len(run.walks)},\n    exploration=EpsilonGreedy({params['epsilon']!r}), "
        f"replay=ReplayBuffer({params['memory']}, {batch}),\n"
        f"    target_every={params['target_every']}, max_steps={PATIENCE}, "
        f"random_state={seed}).fit(mdp)\n"
        "error = (model.q_.max(axis=1) - best.values_)[~mdp.terminal]\n"
        "objective = float(np.sqrt(np.mean(error**2)))\n"
    )
