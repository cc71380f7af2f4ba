r"""The climb of EM: the log-likelihood of every round, and the bound that it raises.

    bound(q, theta) = sum q (log p(x, z; theta) - log q)  <=  l(theta)

E    q = p(z | x; theta): the bound touches l(theta)
M    theta' maximises the bound: bound(q, theta') >= l(theta), and l(theta') >= bound(q, theta')
"""

from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, MaybeArray, Model
from pellucid.plots.panels.inputs import label_of, read_table
from pellucid.plots.panels.mixtures import is_mixture
from pellucid.plots.panels.replay import em_rounds, history_of
from pellucid.plots.panels.style import Panel, colour, heading, legend


class EmBound(Panel):
    """Log-likelihood after rounds 0, 1, ..., and the bound after the M step of each round."""

    rounds: Array  # (t,)
    log_likelihood: Array  # (t,)
    bound: Array | None  # (t - 1,) after the M step of rounds 1, 2, ...
    rises: bool

    def _draw(self, ax: Any) -> None:
        t, value = self.rounds, self.log_likelihood
        ax.plot(t, value, "-o", color=colour(0), lw=1.6, ms=5, label="log-likelihood")
        if self.bound is not None:
            said = "bound after the M step, before the next E step"
            ax.plot(t[1:], self.bound, "s", color=colour(1), ms=5, zorder=4, label=said)
            for i, b in enumerate(self.bound):
                ax.plot([t[i], t[i + 1]], [value[i], b], color=colour(1), ls="--", lw=1)
                label = "gap that the E step closes" if i == 0 else None
                ax.plot([t[i + 1]] * 2, [b, value[i + 1]], color=colour(2), lw=2.4, label=label)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="round", ylabel="log-likelihood of all rows")
        heading(ax, self.title)
        legend(ax, loc="best")


def em_bound(E: Model, X: MaybeArray = None, *, most: int | None = None) -> EmBound:
    """Log-likelihood and lower bound of every round of EM.

    ``E``: fitted mixture. ``X``: the rows it was fitted on; with them the bound after each M step
    is shown too; it needs the mixture of every round, which is seen by fitting a clone again (with
    a fixed ``random_state``). ``most``: rounds to show, from the start.

    Examples
    --------
    >>> from pellucid import GaussianMixture
    >>> from pellucid.plots import em_bound
    >>> X = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]]
    >>> picture = em_bound(GaussianMixture(2, init_params="random", random_state=0).fit(X), X)
    >>> bool((picture.log_likelihood[:-1] <= picture.bound + 1e-6).all())
    True
    >>> bool((picture.bound <= picture.log_likelihood[1:]).all())
    True
    """
    history = history_of(is_mixture(E))
    value = np.asarray(history["objective"], dtype=np.float64)[: None if most is None else most + 1]
    bound = None
    if X is not None:
        rows = read_table(X, E).given
        models = em_rounds(E, rows)[: len(value)]
        bound = np.array(
            [b.evidence_lower_bound(rows, a.predict_proba(rows)) for a, b in pairwise(models)]
        )
    rises = bool((np.diff(value) >= -1e-9 * np.abs(value[:-1])).all())
    said = "never falls" if rises else "falls somewhere (a penalty such as reg_covar does that)"
    title = f"{label_of(E)}: the log-likelihood {said}"
    alt = (
        f"Log-likelihood of {len(value) - 1} rounds from {value[0]:.5g} to {value[-1]:.5g}; it "
        f"{said}{'' if bound is None else '; below it the bound after each M step'}."
    )
    return EmBound(alt, np.arange(len(value), dtype=np.float64), value, bound, rises, title=title)
