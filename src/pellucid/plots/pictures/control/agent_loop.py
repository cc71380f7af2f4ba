"""The loop of reinforcement learning: an agent acts, the environment answers, the agent learns."""

from typing import Any

from pellucid.plots.panels.graphs import draw_edge, draw_node
from pellucid.plots.panels.marks import arrow
from pellucid.plots.panels.style import GREY, Panel, colour, heading

# class: what it keeps, how it learns from a step
RULES = {
    "QLearning": ("table or weights of Q", "Q(s,a) += α [r + γ max Q(s′,·) − Q(s,a)]"),
    "DoubleQLearning": ("two tables Q₁, Q₂", "one picks the action, the other values it"),
    "SARSA": ("table or weights of Q", "Q(s,a) += α [r + γ Q(s′,a′) − Q(s,a)]"),
    "TDLearning": ("table or weights of U", "U(s) += α [r + γ U(s′) − U(s)]"),
    "MonteCarloLearning": ("table of U, the steps so far", "U(s) = mean of the returns G after s"),
    "AdaptiveDynamicProgramming": ("counts: a model of P and r", "count, then plan in the model"),
    "DeepQNetwork": ("networks of Q, replayed steps", "fit r + γ max Q_target(s′,·)"),
    "PolicyGradient": ("preferences of a softmax policy", "θ += α (G − baseline) ∇ log π(a|s)"),
}
GENERAL = ("values, a policy or a network", "from (s, a, r, s′)")
PARTS = ("choose", "keep", "learn", "environment")
PLACES = dict(zip(PARTS, ((-1.15, 2.25), (-1.15, 1.2), (2.55, 1.72), (0.6, -1.15)), strict=True))
SIZES = dict(zip(PARTS, ((3.0, 0.72), (3.0, 0.72), (3.3, 0.72), (3.2, 0.8)), strict=True))


class AgentLoop(Panel, size=(8.4, 5.2)):
    agent: str
    texts: dict[str, str]

    def _draw(self, ax: Any) -> None:
        from matplotlib.patches import FancyBboxPatch

        box: dict[str, Any] = {"fc": "#EEF4FA", "ec": colour(0), "lw": 1.6, "zorder": 0}
        ax.add_patch(FancyBboxPatch((-2.95, 0.62), 7.4, 2.45, boxstyle="round,pad=0.08", **box))
        ax.text(-2.85, 2.88, self.agent, color=colour(0), fontweight="bold", va="center")
        for name, text in self.texts.items():
            world = name == "environment"
            paint = ("#E6F4EF", colour(2), "bold") if world else ("white", GREY, "normal")
            style: Any = dict(zip(("fill", "edge", "weight"), paint, strict=True))
            draw_node(ax, PLACES[name], SIZES[name], text, square=True, scale=0.9, **style)
        for a, b in (("learn", "keep"), ("keep", "choose")):
            draw_edge(ax, (PLACES[a], PLACES[b]), (SIZES[a], SIZES[b]), shape="box")
        self._outside(ax)
        ax.set(xlim=(-4.2, 5.4), ylim=(-1.8, 3.3))
        ax.axis("off")
        heading(ax, "An agent learns by acting", width=70)

    def _outside(self, ax: Any) -> None:
        """The action on the left, state and reward on the right."""
        look = {"lw": 2.0, "zorder": 1}
        left, right = -3.5, 4.85
        y = PLACES["environment"][1]
        ax.plot([-2.65, left, left], [2.25, 2.25, y], color=colour(1), **look)
        arrow(ax, (-1.0, y), (left, y), colour(1), 2.0, zorder=1)
        ax.text(left - 0.1, 0.4, "action a", rotation=90, ha="right", va="center", color=colour(1))
        ax.plot([2.2, right, right], [y, y, 1.72], color=colour(2), **look)
        arrow(ax, (4.2, 1.72), (right, 1.72), colour(2), 2.0, zorder=1)
        x = right + 0.12
        ax.text(x, 0.0, "state s′, reward r", rotation=90, ha="left", va="center", color=colour(2))


def agent_loop(E: Any = None) -> AgentLoop:
    r"""Agent, what it keeps, and environment.

    ``E``: agent; whose rule, exploration and size are written in; it need not be fitted.

    Examples
    --------
    >>> from pellucid.reinforcement import QLearning
    >>> from pellucid.plots import agent_loop
    >>> agent_loop(QLearning()).texts["choose"]
    'choose\nEpsilonGreedy(epsilon=0.1)'
    """
    if E is None:
        keep, learn = GENERAL
        texts = {"choose": "choose\nexploit or explore", "keep": f"keep\n{keep}"}
        texts |= {"learn": f"learn\n{learn}", "environment": "environment"}
        return AgentLoop(_alt("An agent", texts), "agent", texts)
    name = type(E).__name__
    if name not in RULES and not hasattr(E, "n_episodes"):
        raise ValueError(f"E must be an agent such as QLearning(), got {name}")
    keep, learn = RULES.get(name, GENERAL)
    if hasattr(E, "approximator"):
        keep = keep.replace("table or weights", "table" if E.approximator is None else "weights")
    keep = "keep\n" + keep
    if name == "DeepQNetwork" and isinstance(getattr(E, "network", None), tuple):
        hidden = "-".join(map(str, E.network))
        keep = f"keep a network ({hidden} hidden) of Q(s,·),\na target copy, replayed steps"
    place = "environment"
    if hasattr(E, "n_actions_"):
        place += f"\n{E.n_states_ or 'vector'} states, {E.n_actions_} actions"
    texts = {"choose": f"choose\n{_choice(E)}", "keep": keep, "learn": f"learn\n{learn}"}
    texts["environment"] = place
    return AgentLoop(_alt(name, texts), name, texts)


def _choice(E: Any) -> str:
    """How the agent acts, in few words."""
    if getattr(E, "policy", None) is not None:
        return "the policy given"
    if not hasattr(E, "exploration"):
        return "a draw from the softmax" if type(E).__name__ == "PolicyGradient" else "its policy"
    rule = E.exploration
    if rule is None:
        return "optimistic where little is known"
    if hasattr(rule, "epsilon"):
        return f"{type(rule).__name__}(epsilon={rule.epsilon:g})"
    return type(rule).__name__ if not hasattr(rule, "__name__") else rule.__name__


def _alt(name: str, texts: dict[str, str]) -> str:
    flat = {key: text.replace("\n", " ") for key, text in texts.items()}
    return (
        f"{name} sends an action to the {flat['environment']}, which answers with the next state "
        f"and a reward; inside: {flat['choose']}; {flat['keep']}; {flat['learn']}."
    )
