"""Markov decisions on small grids: planners, TD, SARSA, Q-learning and policy gradients."""

import warnings
from typing import Any

from pellucid.lab.controls import cells, choice, counter, slider
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.control import climbing, deep
from pellucid.lab.pages.control.agents import AGENTS, agent_trace
from pellucid.lab.pages.control.parts import LAYOUTS, make_world
from pellucid.lab.pages.control.plans import plan_trace
from pellucid.lab.trace import Trace

PLANS = ("value iteration", "policy iteration")
LEARNERS = (*AGENTS, climbing.METHOD, deep.METHOD)
METHODS = (*PLANS, *LEARNERS)


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The trace of the chosen method in the chosen world."""
    world = make_world(params)
    with warnings.catch_warnings(action="ignore"):  # the page itself says what went wrong
        if params["method"] in PLANS:
            return plan_trace(world, params, seed)
        if params["method"] == climbing.METHOD:
            return climbing.climb_trace(world, params, seed)
        if params["method"] == deep.METHOD:
            return deep.deep_trace(world, params, seed)
        return agent_trace(world, params, seed)


SUMMARY = """
A known world is planned in: sweeps of the Bellman equation, or policies evaluated and improved. An
unknown one is learned by acting, one temporal difference at a time.
"""
CONTROLS = (
    choice("method", "Method", METHODS),
    choice("world", "World", LAYOUTS),
    cells("cells", "Its cells (click them: wall, exits)"),
    slider("discount", "Discount γ", 0.95, 0.0, 1.0, 0.01),
    slider("step_reward", "Reward of a step", -0.04, -2.0, 0.2, 0.02),
    slider("slip", "Chance to slip", 0.2, 0.0, 0.6, 0.05),
    slider("step_size", "Step size α", 0.2, 0.01, 1.0, 0.01, method=tuple(AGENTS)),
    slider(
        "epsilon",
        "Random moves ε",
        0.2,
        0.0,
        1.0,
        0.05,
        method=("SARSA", "Q-learning", deep.METHOD),
    ),
    choice("policy", "Policy that TD follows", ("best", "random"), method="TD"),
    slider("rate", "Step size η", 0.3, 0.01, 50.0, 0.01, log=True, method=climbing.METHOD),
    choice("baseline", "Baseline b", ("mean return", "none"), method=climbing.METHOD),
    slider("adam", "Rate η of Adam", 0.01, 0.001, 0.1, 0.001, log=True, method=deep.METHOD),
    counter("memory", "Steps that are remembered", 2000, 1, 2000, method=deep.METHOD),
    counter("batch", "Steps in a batch", 32, 1, 64, method=deep.METHOD),
    counter("target_every", "Steps between two copies", 100, 1, 5000, log=True, method=deep.METHOD),
    counter("episodes", "Episodes", 200, 1, 400, method=LEARNERS),
    choice("show", "Show", ("episodes", "steps"), method=(*AGENTS, climbing.METHOD)),
)
PRESETS = read_presets(
    """
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
! Break it: γ = 0 | Nothing but the next reward counts. Every cell that is not beside an exit sees
    no difference between its actions.
! Break it: step size 1 | Every step overwrites what was known with what just happened: the values
    jump with each episode and never settle.
! Break it: only random moves | ε = 1: the agent never does what it has learned. SARSA learns the
    worth of stumbling about, and that is what it reports.
Policy gradient | No table of values: the probabilities themselves climb, pushed by the returns of
    whole episodes.
Episode by episode | Two exits, nothing costs. The first forty episodes, one by one.
Everything costs | Every step costs 0.5, so every return is below 0. The baseline tells bad from
    worse.
! Break it: no baseline | The same without a baseline: whatever was done gets less likely, good or
    bad, because its return was below 0. Compare with the baseline.
! Break it: too long a step | One episode makes the policy nearly sure of what it happened to do.
    What is never tried again is never learned.
Deep Q-network | A network of 16 hidden units in the place of the table. It learns from batches of
    remembered steps, towards a copy of itself that is renewed every 100 steps.
! Break it: ten steps of memory | Only the last ten steps are remembered. They are alike, and what
    was learned elsewhere is overwritten.
! Break it: a copy that stays | The copy is never renewed: nothing is learned of what lies two steps
    away.
! Break it: chasing itself | Long steps towards a copy that is renewed at once: the goal runs away
    with every step.
A discount | Steps that pay, and γ = 0.95.
Half by chance | The two exits again; every second move is a random one.
""",
    given(),
    given(method="policy iteration"),
    given(method="TD", step_size=0.1, episodes=300),
    given(method="Q-learning", show="steps"),
    given(method="SARSA", world="cliff", slip=0.0, epsilon=0.2, discount=0.97, episodes=300),
    given(discount=1.0, step_reward=0.04),
    given(method="Q-learning", world="two exits", epsilon=0.0, step_reward=0.0, slip=0.0),
    given(method="policy iteration", discount=0.0),
    given(method="TD", step_size=1.0, episodes=300),
    given(method="SARSA", world="cliff", slip=0.0, epsilon=1.0, discount=0.97, episodes=300),
    given(method=climbing.METHOD, episodes=400),
    given(
        method=climbing.METHOD,
        world="two exits",
        slip=0.0,
        step_reward=0.0,
        rate=1.0,
        show="steps",
    ),
    given(method=climbing.METHOD, step_reward=-0.5),
    given(method=climbing.METHOD, step_reward=-0.5, baseline="none"),
    given(method=climbing.METHOD, rate=20.0),
    given(method=deep.METHOD),
    given(method=deep.METHOD, memory=10, batch=10),
    given(method=deep.METHOD, target_every=5000),
    given(method=deep.METHOD, adam=0.05, target_every=1),
    given(step_reward=0.04),
    given(method="Q-learning", world="two exits", epsilon=0.5, step_reward=0.0, slip=0.0),
)
PAGE = make_page("control", "none", run, SUMMARY, CONTROLS, PRESETS)
