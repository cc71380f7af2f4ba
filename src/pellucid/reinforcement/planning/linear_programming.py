r"""Markov decision processes as a linear programme.

Primal       min sum_s w(s) U(s)   subject to   U(s) >= r(s,a) + g sum P(s'|s,a) U(s')
Dual         max sum x(s,a) r(s,a) subject to   sum_a x(s,a) = w(s) + g sum x(s',a') P(s|s',a'),
             x >= 0

For any weights w > 0 the smallest U that satisfies all inequalities is the optimal utility: the
Bellman equation as its own optimisation problem. x(s,a), the multipliers, are the expected
discounted numbers of times that a is taken in s when a walk starts in s with weight w(s) and
follows an optimal policy. Solved by HiGHS with sparse rows.

References: d'Epenoux (1963); Puterman (1994), sect. 6.9.
"""

from typing import NamedTuple, Self

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.reinforcement.planning import planner
from pellucid.reinforcement.planning.planner import StationaryPlanner, check_mdp, greedy_policy
from pellucid.reinforcement.worlds.mdp import MDP


class Programme(NamedTuple):
    """The solution of both programmes."""

    values: Array  # (S,)
    occupancy: Array  # (S, A)
    n_iter: int


def solve_programme(mdp: MDP, weights: Array) -> Programme:
    """min w'U over the inequalities of the available actions; terminal values are equalities."""
    S, A = mdp.rewards.shape
    r = mdp.rewards.ravel()
    pairs = np.flatnonzero(np.isfinite(r) & np.repeat(~mdp.terminal, A))
    own = csr_array((np.ones(len(pairs)), (np.arange(len(pairs)), pairs // A)), (len(pairs), S))
    G = mdp.discount * mdp.transitions[pairs] - own  # g P U - U <= -r
    low = np.where(mdp.terminal, mdp.final_values, -np.inf)
    high = np.where(mdp.terminal, mdp.final_values, np.inf)
    bounds = np.column_stack([low, high])
    found = linprog(weights, A_ub=csr_array(G), b_ub=-r[pairs], bounds=bounds, method="highs")
    if found.status != 0:
        raise ValueError(
            "the linear programme has no finite solution: some policy collects reward without "
            f"end; use a discount < 1 ({found.message.strip()})"
        )
    occupancy = np.zeros(S * A)
    occupancy[pairs] = np.maximum(-found.ineqlin.marginals, 0.0)
    return Programme(found.x, occupancy.reshape(S, A), max(int(found.nit), 1))


class LinearProgramming(StationaryPlanner):
    """The optimal utilities and policy of a known MDP as the solution of a linear programme.

    Parameters
    ----------
    weights : array (S,) of numbers > 0, default=1 / S each
        Of the states in the objective. They do not change the values, only ``occupancy_``.

    Attributes
    ----------
    values_, q_, policy_ : ndarrays of shape (S,), (S, A), (S,)
    occupancy_ : ndarray of shape (S, A)
        How often, discounted, each action is taken in each state by an optimal policy when a walk
        starts in state s with weight ``weights[s]``.
    objective_ : float
        ``weights @ values_``; the expected reward ``sum occupancy_ * r`` (and what terminal
        states pay) is the same number.
    error_bound_ : float
        As of PolicyIteration.
    n_iter_ : int
        Steps of HiGHS.

    Examples
    --------
    >>> from pellucid.reinforcement import MDP, LinearProgramming
    >>> stay_go = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    >>> model = LinearProgramming().fit(MDP(stay_go, [[1, 0], [2, 0]]))
    >>> model.values_.round(6), model.occupancy_.round(6).tolist()
    (array([18., 20.]), [[0.0, 0.5], [9.5, 0.0]])
    """

    def __init__(self, *, weights: ArrayLike | None = None) -> None:
        self.weights = weights

    @with_callbacks
    def fit(self, mdp: MDP) -> Self:
        """Solve ``mdp``."""
        mdp = check_mdp(mdp)
        context = FitContext(self, X=mdp)
        w = np.full(mdp.n_states, 1 / mdp.n_states)
        if self.weights is not None:
            w = mdp._values(self.weights)
            if not (w > 0).all():
                raise ValueError(f"weights must be > 0, got {w.min():g}")
        self.values_, self.occupancy_, self.n_iter_ = solve_programme(mdp, w)
        self.objective_ = float(w @ self.values_)
        self.q_ = mdp.q_values(self.values_)
        self.policy_ = greedy_policy(mdp, self.q_)
        residual, g = mdp.residual(self.values_), mdp.discount
        self.error_bound_ = residual / (1 - g) if g < 1 else np.inf if residual else 0.0
        self.problem_ = planner.mdp_words(mdp)
        context.end()
        return self

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        numbers = {"objective": self.objective_, "n_iter": self.n_iter_}
        return Card(
            "a utility per state; the policy is greedy in it",
            "min sum_s w(s) U(s) subject to U(s) >= r(s,a) + g sum P(s'|s,a) U(s')",
            "linear programming (HiGHS); the multipliers are discounted visits",
            {**self.problem_, **numbers, "error_bound": self.error_bound_},
        )
