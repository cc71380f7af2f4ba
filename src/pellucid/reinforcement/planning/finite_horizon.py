r"""Backward induction: the best decisions when the number of steps is known.

    U_0 = terminal values (0),    U_t(s) = max_a [r(s,a) + g sum P(s'|s,a) U_{t-1}(s')]

with t steps to go. The best action depends on t: what pays soon counts most at the end. U_t is
what t sweeps of value iteration give; here it is exact, and any discount in [0, 1] is fine.
O(T * outcomes).

References: Bellman (1957); Puterman (1994), ch. 4.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.reinforcement.planning.planner import Planner, check_planned, mdp_words, state_numbers
from pellucid.reinforcement.planning.sweep_kernels import improve
from pellucid.reinforcement.planning.value_iteration import Rows, rows_of_mdp
from pellucid.reinforcement.worlds.mdp import MDP


class Stage(NamedTuple):
    """How many steps are to go, and by how much the last one changed the values."""

    t: int
    change: float


def backward_step(rows: Rows, values: Array, policy: IntArray, t: int) -> float:
    """Fill ``values[t]`` and ``policy[t - 1]``, which holds 0; returns the largest change."""
    _, low, high = improve(*rows, values[t - 1], values[t], policy[t - 1], 0.0)
    return max(-low, high)


class FiniteHorizon(Planner):
    """The optimal time-dependent policy of a known MDP over a fixed number of steps.

    Parameters
    ----------
    horizon : int
        Steps, T >= 1.
    terminal_values : array (S,), default=0 everywhere
        What each state is worth when no step is left.

    Attributes
    ----------
    values_ : ndarray of shape (T + 1, S)
        ``values_[t]`` with t steps to go.
    policy_ : ndarray of shape (T, S)
        ``policy_[t - 1]`` is the best action with t steps to go, the lowest index on ties.
    history_ : History
        ``change`` (also ``objective``) from one time to the next.
    n_iter_ : int
        T.

    Examples
    --------
    >>> from pellucid.reinforcement import MDP, FiniteHorizon
    >>> stay_go = [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]
    >>> model = FiniteHorizon(3).fit(MDP(stay_go, [[1, 0], [2, 0]], discount=1.0))
    >>> model.values_[:, 0], model.act(0, 1), model.act(0, 3)
    (array([0., 1., 2., 4.]), 0, 1)
    """

    def __init__(self, horizon: int, *, terminal_values: ArrayLike | None = None) -> None:
        self.horizon = horizon
        self.terminal_values = terminal_values

    @with_callbacks
    def fit(self, mdp: MDP) -> Self:
        """Solve ``mdp`` backwards from the end."""
        check.whole(horizon=self.horizon)
        mdp = check_planned(mdp)
        S, rows = mdp.n_states, rows_of_mdp(mdp)
        first = 0.0 if self.terminal_values is None else mdp._values(self.terminal_values)
        values, policy = np.empty((self.horizon + 1, S)), np.zeros((self.horizon, S), np.intp)
        values[0] = first

        def step(stage: Stage) -> tuple[Stage, float]:
            change = backward_step(rows, values, policy, stage.t + 1)
            return Stage(stage.t + 1, change), change

        def attributes(stage: Stage) -> dict[str, Any]:
            return {"values_": values[: stage.t + 1].copy(), "policy_": policy[: stage.t].copy()}

        def record(stage: Stage) -> dict[str, Any]:
            return {"objective": stage.change, "change": stage.change}

        context = FitContext(self, X=mdp, max_steps=self.horizon, attributes=attributes)
        loop = partial(self._iterate, max_iter=self.horizon, tol=None, start_row=False)
        t = loop(step, Stage(0, np.inf), record=record, context=context).state.t
        self.values_, self.policy_ = values[: t + 1], policy[:t]
        self.problem_ = mdp_words(mdp)
        return self

    def act(self, state: int, steps: int) -> int:
        """The best action in the state of that number with ``steps`` steps to go."""
        check_is_fitted(self)
        check.whole(steps=steps)
        T, S = self.policy_.shape
        if steps > T:
            raise ValueError(f"steps must be at most the horizon {T}, got {steps!r}")
        return int(self.policy_[steps - 1, state_numbers(state, S)])

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        return Card(
            "a utility and an action per state and time left",
            "the expected sum of g^t r_t over the steps that are left, and the terminal values",
            "backward induction, exact",
            {**self.problem_, "horizon": self.horizon},
        )
