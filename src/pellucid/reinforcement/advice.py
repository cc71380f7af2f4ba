"""Which method solves a decision problem: the decision table of the course.

The study's ``advise`` reads the same table (topic ``control``).
"""

from typing import Any

from pellucid.core.records import Advice
from pellucid.reinforcement.worlds.gym import make_environment

CONTROL = {
    "known_model": ("value or policy iteration", "the decision process is known: solve it"),
    "fixed_policy": ("adaptive dynamic programming or TD", "only the given policy is valued"),
    "control": (
        "SARSA or Q-learning",
        "the policy is to be found by acting; SARSA is the safer one while it learns",
    ),
    "large_states": (
        "function approximation, such as a deep Q-network",
        "a table of all states would be too large",
    ),
}
LARGE = 1_000_000  # entries of a table of action values from which it is called large


def agent_advice(problem: Any, policy: object = None) -> list[Advice]:
    """What to solve or learn a decision problem with, and why.

    Parameters
    ----------
    problem : MDP, Gymnasium environment or its id
        An MDP, or an environment with a table ``P``, is a known model.
    policy : anything, optional
        A policy that is given and only to be valued.

    Examples
    --------
    >>> from pellucid.reinforcement import agent_advice, grid_world
    >>> print(*agent_advice(grid_world(["S+"])))
    control: value or policy iteration (the decision process is known: solve it)
    """
    if isinstance(problem, str):
        problem = make_environment(problem)
    problem = getattr(problem, "unwrapped", problem)
    if hasattr(problem, "q_values") or hasattr(problem, "P"):
        return [Advice("control", *CONTROL["known_model"])]
    seen, acted = (getattr(problem, f"{n}_space", None) for n in ("observation", "action"))
    if acted is None:
        raise ValueError(
            "problem must be an MDP, a Gymnasium environment or its id, got "
            f"{type(problem).__name__}"
        )
    lines = [Advice("control", *CONTROL["fixed_policy" if policy is not None else "control"])]
    n_states, n_actions = getattr(seen, "n", None), getattr(acted, "n", None)
    if n_states is None or n_actions is None or int(n_states) * int(n_actions) > LARGE:
        lines.append(Advice("control", *CONTROL["large_states"]))
    return lines
