r"""Slack, margin and objectives of a two-class machine on its training rows.

f(x) = sum_i a_i y_i k(x_i, x) + b,   |w|^2 = sum_ij a_i a_j y_i y_j k(x_i, x_j)
slack xi = max(0, 1 - y f),   primal 1/2 |w|^2 + sum C xi,   dual sum a - 1/2 |w|^2

outside         a = 0                   beyond the margin, plays no part
on_margin       0 < a < C               y f = 1
inside          a = C, xi <= 1          inside the margin, on the right side
misclassified   xi > 1
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array


class Margins(NamedTuple):
    """The numbers of a two-class machine and of each of its rows."""

    slack: Array
    categories: Array
    margin: float  # 1 / |w|
    n_margin_errors: int
    primal_objective: float
    dual_objective: float
    kkt_violation: float

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes of a two-class machine."""
        found = {f"{name}_": value for name, value in self._asdict().items()}
        return {**found, "margin_width_": 2.0 * self.margin}


def read_margins(
    a: Array, y: Array, f: Array, squared_norm: float, C: Array, *, at_bound: float, slop: float
) -> Margins:
    """Slack, category and objectives; a, y, f, C (n,), y = -1 or +1.

    ``at_bound``: how near a multiplier must be to 0 or C to count as there; ``slop``: how much
    below 1 a margin must be to count as an error.

    >>> one = np.ones(2)
    >>> read = read_margins(one / 2, np.array([-1.0, 1.0]), np.array([-1.0, 1.0]), 1.0, one * 9,
    ...                     at_bound=1e-9, slop=1e-9)
    >>> read.margin, read.primal_objective, read.dual_objective, read.categories.tolist()
    (1.0, 0.5, 0.5, ['on_margin', 'on_margin'])
    """
    slack = np.maximum(0.0, 1.0 - y * f)
    bounded = np.isfinite(C)
    primal = 0.5 * squared_norm + float(C[bounded] @ slack[bounded])
    names = np.full(len(a), "on_margin", dtype="<U13")
    names[a >= C - at_bound] = "inside"
    names[a <= at_bound] = "outside"
    names[slack > 1.0 + slop] = "misclassified"
    free = a < C - at_bound
    breach = np.abs(a * (1.0 - np.where(free, 0.0, slack) - y * f))
    return Margins(
        slack=slack,
        categories=names,
        margin=float(squared_norm**-0.5) if squared_norm > 0 else np.inf,
        n_margin_errors=int(np.count_nonzero(slack > slop)),
        primal_objective=primal,
        dual_objective=float(a.sum()) - 0.5 * squared_norm,
        kkt_violation=max(abs(float(a @ y)), float(breach.max(initial=0.0))),
    )
