"""Learning rates by step."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.marks import tone, words
from pellucid.plots.panels.style import Axes, Panel, legend_below


class Schedule(Panel):
    labels: tuple[str, ...]
    steps: Array  # (t,)
    rates: Array  # (rules, t)
    robbins_monro: tuple[bool, ...]

    def _draw(self, ax: Axes) -> None:
        for i, (label, rates) in enumerate(zip(self.labels, self.rates, strict=True)):
            settles = " (settles: Robbins-Monro)" if self.robbins_monro[i] else ""
            markevery, said = max(1, len(self.steps) // 8), label + settles
            ax.plot(self.steps, rates, lw=1.8, ms=4, markevery=markevery, label=said, **tone(i))
        ax.set(xlabel="update", ylabel="learning rate", title="Learning rate by update")
        ax.set_ylim(bottom=0)
        legend_below(ax, ncols=1)


def schedule(*rules: Any, steps: int = 100) -> Schedule:
    """The rate of one or several schedules at every update.

    ``*rules``: schedules of ``pellucid.solvers``, or functions of the update number 0, 1, .

    Parameters
    ----------
    steps : int, default=100
        Updates to draw.

    Examples
    --------
    >>> from pellucid.solvers import Constant, InverseScaling
    >>> picture = schedule(Constant(0.1), InverseScaling(0.1, 1.0), steps=4)
    >>> picture.rates.round(4), picture.robbins_monro
    (array([[0.1   , 0.1   , 0.1   , 0.1   ],
           [0.1   , 0.05  , 0.0333, 0.025 ]]), (False, True))
    """
    check.whole(steps=steps)
    if not rules or not all(callable(rule) for rule in rules):
        raise ValueError(f"schedule takes schedules or functions of the update, got {rules!r}")
    t = np.arange(steps)
    rates = np.empty((len(rules), steps))
    for i, rule in enumerate(rules):
        if hasattr(rule, "validate"):
            rule.validate()
        rates[i] = [float(rule(int(k))) for k in t]
    names = tuple(name_of(rule) for rule in rules)
    parts = [f"{n} from {r[0]:.3g} to {r[-1]:.3g}" for n, r in zip(names, rates, strict=True)]
    settled = tuple(bool(getattr(rule, "robbins_monro", False)) for rule in rules)
    alt = f"Learning rate over {steps} updates: {words(parts)}."
    return Schedule(alt, names, t.astype(np.float64), rates, settled)


def name_of(rule: Any) -> str:
    """A schedule in one line."""
    if hasattr(rule, "get_params"):
        return " ".join(repr(rule).split())
    return getattr(rule, "__name__", type(rule).__name__)
