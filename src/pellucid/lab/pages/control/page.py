"""Markov decisions: value and policy iteration, TD, SARSA and Q-learning on small grids."""

import warnings
from typing import Any

from pellucid.lab.page import Control, LabData, Page, read_presets, read_questions
from pellucid.lab.pages.control.agents import AGENTS, agent_trace
from pellucid.lab.pages.control.parts import LAYOUTS, make_world
from pellucid.lab.pages.control.plans import plan_trace
from pellucid.lab.trace import Trace

PLANS = ("value iteration", "policy iteration")
METHODS = (*PLANS, *AGENTS)


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The trace of the chosen method in the chosen world."""
    world = make_world(params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page itself says what went wrong
        if params["method"] in PLANS:
            return plan_trace(world, params, seed)
        return agent_trace(world, params, seed)


LEARNS = {"method": tuple(AGENTS)}

QUESTIONS = """
? In the first sweep of value iteration from U = 0, which cells change by more than the reward of a
step?
(_) all of them (x) only the exits (_) the exits and the cells beside them
= Every other cell sees only zeros around it, so it becomes the reward of a step. The worth of an
exit moves one cell farther with each sweep.
? With γ = 1 and a small positive reward for every step, what do the values do?
(_) they converge, only more slowly (x) they grow for ever (_) they all become 1
= The Bellman operator shrinks distances by γ. At γ = 1 it shrinks nothing, and a walk that never
ends collects without limit.
"""
PRESETS = """
Value iteration | The 4 x 3 world. Each sweep carries the worth of the exits one cell farther.
Policy iteration | Solve for the values of a policy, turn every arrow that can do better, repeat.
TD: value of a policy | The best policy is followed; its values are learned from what happens,
    without knowing the world.
Q-learning, step by step | The first steps of an agent that knows nothing: one cell of its table
    changes at a time.
SARSA at the cliff | SARSA learns what its own random moves cost and stays away from the edge;
    switch the method to Q-learning and it walks along it.
! Break it: γ = 1 | Every step pays a little and nothing is discounted: staying for ever is worth
    more than any exit, the values grow with every sweep and never settle. A discount below 1, or
    steps that cost, makes them finite.
! Break it: no exploration | The first reward that a greedy agent finds is the small exit beside the
    start. From then on it takes nothing else, and never learns of the exit worth 1. Give ε = 0.5
    and it does.
"""
FOR_EPSILON = {"method": ("SARSA", "Q-learning")}
FOR_POLICY = {"method": ("TD",)}
PAGE = Page(
    name="control",
    title="Markov decisions: planning and learning",
    summary=(
        "A known world is planned in: sweeps of the Bellman equation, or policies evaluated and "
        "improved. An unknown one is learned by acting, one temporal difference at a time."
    ),
    kind="none",
    controls=(
        Control("method", "Method", "choice", "value iteration", options=METHODS),
        Control("world", "World", "choice", "4 x 3", options=tuple(LAYOUTS)),
        Control("discount", "Discount γ", "number", 0.95, low=0.0, high=1.0, step=0.01),
        Control("step_reward", "Reward of a step", "number", -0.04, low=-2.0, high=0.2, step=0.02),
        Control("slip", "Chance to slip", "number", 0.2, low=0.0, high=0.6, step=0.05),
        Control(
            "step_size", "Step size α", "number", 0.2, low=0.01, high=1.0, step=0.01, only=LEARNS
        ),
        Control(
            "epsilon",
            "Random moves ε",
            "number",
            0.2,
            low=0.0,
            high=1.0,
            step=0.05,
            only=FOR_EPSILON,
        ),
        Control(
            "policy",
            "Policy that TD follows",
            "choice",
            "best",
            options=("best", "random"),
            only=FOR_POLICY,
        ),
        Control("episodes", "Episodes", "integer", 200, low=1, high=400, step=1, only=LEARNS),
        Control("show", "Show", "choice", "episodes", options=("episodes", "steps"), only=LEARNS),
    ),
    presets=read_presets(
        PRESETS,
        ({}, None),
        ({"method": "policy iteration"}, None),
        ({"method": "TD", "step_size": 0.1, "episodes": 300}, None),
        ({"method": "Q-learning", "show": "steps"}, None),
        (
            {
                "method": "SARSA",
                "world": "cliff",
                "slip": 0.0,
                "epsilon": 0.2,
                "discount": 0.97,
                "episodes": 300,
            },
            None,
        ),
        ({"discount": 1.0, "step_reward": 0.04}, None),
        (
            {
                "method": "Q-learning",
                "world": "two exits",
                "epsilon": 0.0,
                "step_reward": 0.0,
                "slip": 0.0,
            },
            None,
        ),
    ),
    questions=read_questions(QUESTIONS),
    run=run,
)
