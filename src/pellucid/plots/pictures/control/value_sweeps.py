"""How the utilities of the states settle, sweep by sweep."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.marks import tone, words
from pellucid.plots.panels.style import GREY, Picture, colour, heading, legend, panels

NAMED = 8  # states that get a colour and a name


class ValueSweeps(Picture):
    sweep: Array  # (m,)
    values: Array  # (m, S)
    change: Array  # (m,)
    shown: tuple[int, ...]  # states with a name
    names: tuple[str, ...]

    def plot(self) -> Any:
        """Values on the left, the change on a logarithmic scale on the right; the figure."""
        left, right = panels(2, columns=2, size=(4.6, 3.8))
        others = [s for s in range(self.values.shape[1]) if s not in self.shown][:200]
        if others:
            left.plot(self.sweep, self.values[:, others], color=GREY, lw=0.6, alpha=0.5)
        for k, (s, name) in enumerate(zip(self.shown, self.names, strict=True)):
            y, markevery = self.values[:, s], max(1, len(self.sweep) // 12)
            left.plot(self.sweep, y, lw=1.6, ms=4, markevery=markevery, label=name, **tone(k))
        left.set(xlabel="sweep", ylabel="utility")
        legend(left, title="state")
        heading(left, "Utility of each state")
        positive = self.change > 0
        x, y, every = self.sweep[positive], self.change[positive], max(1, len(self.sweep) // 20)
        right.semilogy(x, y, color=colour(0), marker="o", ms=4, markevery=every)
        right.set(xlabel="sweep", ylabel="largest change")
        heading(right, "Change of a sweep")
        return left.figure


def value_sweeps(E: Model, mdp: Any = None, *, states: Any = None) -> ValueSweeps:
    """Utilities against sweeps of value iteration, with the largest change of each.

    ``E``: fitted ValueIteration; ``states``: states to name, default: up to eight, spread evenly;
    ``mdp``: MDP; for the names of the states.

    Examples
    --------
    >>> from pellucid.reinforcement import MDP, ValueIteration
    >>> from pellucid.plots import value_sweeps
    >>> right = [[[0.2, 0.8, 0.0]], [[0.0, 0.2, 0.8]], [[0.0, 0.0, 1.0]]]
    >>> mdp = MDP(right, [0.0, 0.0, 1.0], terminal=[2])
    >>> value_sweeps(ValueIteration().fit(mdp), mdp).values[:3].round(4)
    array([[0.    , 0.    , 1.    ],
           [0.    , 0.72  , 1.    ],
           [0.5184, 0.8496, 1.    ]])
    """
    history = getattr(E, "history_", None)
    if history is None or "values" not in history.columns:
        raise ValueError(f"E must be a ValueIteration with history_, got {type(E).__name__}")
    rows = [history[i] for i in range(len(history))]
    rows = [row for row in rows if row.get("values") is not None]
    V = np.array([row["values"] for row in rows], dtype=np.float64)
    S = V.shape[1]
    if mdp is not None and mdp.n_states != S:
        raise ValueError(f"E was fitted on {S} states, the MDP has {mdp.n_states}")
    if states is None:
        shown = sorted({int(i) for i in np.linspace(0, S - 1, min(S, NAMED)).round()})
    else:
        shown = [int(s) if mdp is None else mdp.index(s) for s in states]
    names = tuple(str(s if mdp is None else mdp.states[s]) for s in shown)
    change = np.array([row["change"] for row in rows], dtype=np.float64)
    ends = words([f"{n} {v:.4g}" for n, v in zip(names, V[-1, shown], strict=True)])
    alt = (
        f"Utilities of {S} states over {len(rows)} sweeps; the last changed them by "
        f"{change[-1]:.2g}; they end at: {ends}."
    )
    sweep = np.array([row["step"] for row in rows], dtype=np.float64)
    return ValueSweeps(alt, sweep, V, change, tuple(shown), names)
