r"""Adaptive dynamic programming: learn the process itself, and plan in what is known of it.

    P(s' | s, a) = N(s, a, s') / N(s, a),   r(s, a) = mean reward
    passive   U = r_pi + g P_pi U, solved exactly, for the policy that is followed
    active    U+(s) = max_a [r(s, a) + g f(sum_s' P U+, N(s, a))], replanned while acting

Every observation is used through the whole model, so few steps are needed, and each is dear; TD
learning is the other way round. A greedy agent may settle on a bad policy: it never learns what it
never tries. The exploration function f makes the unknown attractive.

References: Russell & Norvig, Artificial Intelligence, ch. 22; Sutton (1990).
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import splu

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.reinforcement.learning import adp_kernels
from pellucid.reinforcement.learning import exploration as rules
from pellucid.reinforcement.learning.adp_kernels import Planner, backed_up, decide, observe, plan
from pellucid.reinforcement.learning.agent_kernels import locate, pick, uniform
from pellucid.reinforcement.learning.agents import Agent
from pellucid.reinforcement.learning.experience import Model
from pellucid.reinforcement.learning.exploration import Exploration, exploration_settings
from pellucid.reinforcement.learning.policies import cumulative_policy, policy_probabilities
from pellucid.reinforcement.worlds.worlds import Place, Simulation

TOL = 1e-6  # of a plan to act by, as a share of its largest value
FINAL_TOL = 1e-10
SWEEPS = 100  # of one replanning; the next one goes on from there
FINAL_SWEEPS = 100_000
DENSE = 10_000_000  # numbers in a table (S, A, S) up to which it is a dense one
ROOM = 4  # next states per pair to begin with; lists grow when they are full


class AdaptiveDynamicProgramming(Agent):
    """Learn a model by counting and plan in it.

    Parameters
    ----------
    policy : array of shape (S,) or (S, A), or None, default=None
        Passive: the values of this policy. None: active, the agent finds a policy.
    discount : float in [0, 1], default=0.9
        Weight of a reward one step later.
    exploration : Greedy, EpsilonGreedy, OptimisticExploration, f(u, n) or None, default=None
        Of the active agent; None: ``OptimisticExploration()``. f(u, n) runs in Python.
    n_episodes : int, default=500
        Episodes to learn from.
    max_steps : int, default=1000
        Steps after which an episode is cut off.
    plan_every : int, default=1
        Steps between two plans of the active agent.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    counts_ : ndarray of shape (S, A, S), or sparse array (S*A, S) where that is large
    transition_estimate_ : the same shape, N(s, a, s') / N(s, a); zero for pairs never tried
    reward_estimate_ : ndarray of shape (S, A)
    visits_ : ndarray of shape (S, A)
    values_, policy_ : ndarrays of shape (S,)
        By the estimates, without the optimism of exploring; 0 for states never met, R(terminal)
        in the terminal states of an MDP.
    n_iter_ : int, episodes so far
    history_ : History, a row per episode: return, length, td_error (mean absolute)

    Examples
    --------
    >>> from pellucid.reinforcement import AdaptiveDynamicProgramming, grid_world
    >>> mdp = grid_world(["..+", "S#-"], slip=0.0, discount=0.9)
    >>> agent = AdaptiveDynamicProgramming(n_episodes=50, random_state=0).fit(mdp)
    >>> agent.values_[[0, 1, 3]].round(4)
    array([0.734 , 0.86  , 0.6206])
    """

    def __init__(
        self,
        policy: ArrayLike | None = None,
        *,
        discount: float = 0.9,
        exploration: Exploration = None,
        n_episodes: int = 500,
        max_steps: int = 1000,
        plan_every: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.policy = policy
        self.discount = discount
        self.exploration = exploration
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.plan_every = plan_every
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check.whole(plan_every=self.plan_every)
        exploration_settings(self._exploration())
        if callable(self.policy):
            raise TypeError("policy must be an array of actions or probabilities, got a function")

    def _exploration(self) -> Any:
        return rules.OptimisticExploration() if self.exploration is None else self.exploration

    def _planner(self) -> Planner:
        s = exploration_settings(self._exploration())
        s = rules.Settings(0.0, 1.0, 0.0) if s is None else s
        rule = (s.optimistic, s.n_visits, s.epsilon, s.decay, s.minimum)
        every = int(self.plan_every)
        return Planner(float(self.discount), *rule, every, TOL, SWEEPS, s.half_life)

    def _begin(self, place: Place) -> None:
        S, A = place.n_states, place.n_actions
        if S is None:
            raise ValueError("states must be numbered to be counted, observations are vectors here")
        room = min(ROOM, S)
        if isinstance(place, Simulation):
            room = max(int(np.diff(place.world.first).max()), 1)
        lists, pairs = np.zeros((S, A, room), np.int64), np.zeros((S, A), np.int64)
        allowed = np.ones((S, A), bool) if place.allowed is None else place.allowed.copy()
        counted = (lists, lists.copy(), pairs, pairs.copy())
        self.model_ = Model(*counted, np.zeros((S, A)), np.zeros(S, bool), allowed)
        self.optimistic_values_, self.clock_ = np.zeros(S), np.zeros(1, np.int64)
        self.values_, self.policy_ = self._ended(np.zeros(S)), np.zeros(S, np.intp)

    # --- one step --------------------------------------------------------------------------

    def update(
        self,
        state: int,
        action: int,
        reward: float,
        next_state: int,
        *,
        next_action: object = None,
        terminated: bool = False,
    ) -> float:
        """Count one step and replan; the error r + g U(s') - U(s) before it."""
        self._fitted()
        s, s2 = self._state_number("state", state), self._state_number("next_state", next_state)
        a = self._action_number("action", action)
        error = self._update(s, a, float(reward), s2, bool(terminated))
        self._finish()
        return error

    def _update(self, s: int, a: int, r: float, s2: int, ended: bool) -> float:
        u, planner = self.optimistic_values_, self._planner()
        while not observe(self.model_, s, a, r, s2, ended):
            self._grow()
        self.clock_[0] += 1
        error = r + (0.0 if ended else planner.discount * u[s2]) - u[s]
        if self.policy is None and self.clock_[0] % planner.plan_every == 0:
            self._replan(planner)
        return float(error)

    def _grow(self) -> None:
        more = np.zeros_like(self.model_.after)
        after, counts = (np.concatenate([old, more], axis=2) for old in self.model_[:2])
        self.model_ = self.model_._replace(after=after, counts=counts)

    def _replan(self, planner: Planner) -> None:
        if exploration_settings(self._exploration()) is not None:
            plan(self.model_, self.optimistic_values_, planner, True, TOL, SWEEPS)
            return
        u, open_ = self.optimistic_values_, self.model_.allowed
        for _ in range(SWEEPS):  # f(u, n) is a function of the user
            best = np.where(open_, self._believed(), -np.inf).max(axis=1, initial=-np.inf)
            best = np.where(self.model_.terminal | ~np.isfinite(best), 0.0, best)
            change = np.abs(best - u).max()
            u[:] = best
            if change <= TOL * np.abs(u).max():
                break

    def _believed(self) -> Array:
        """r + g f(sum P U+, N) of every pair, for a function f."""
        n = np.maximum(self.model_.visits, 1)
        u = np.where(self.model_.terminal, 0.0, self.optimistic_values_)
        ahead = (self.model_.counts * u[self.model_.after]).sum(axis=2) / n
        bonus = np.asarray(self._exploration()(ahead, self.model_.visits), dtype=np.float64)
        if bonus.shape != n.shape or np.isnan(bonus).any():
            raise ValueError(f"exploration(u, n) must return numbers of shape {n.shape}")
        return self.model_.reward / n + self.discount * bonus

    # --- episodes --------------------------------------------------------------------------

    def _episodes(self, place: Place, first: int, stop: int, budget: int) -> Array:
        known = self.policy is not None or exploration_settings(self._exploration()) is not None
        if not known or not isinstance(place, Simulation):
            return self._walk(place, first)
        log, chances = np.empty((stop - first, 3)), np.zeros((0, self.n_actions_))
        if self.policy is not None:
            chances = cumulative_policy(self.policy, place)
        memory = self.model_, self.optimistic_values_, self.random_words_, self._planner(), chances
        run = first, stop, int(self.max_steps), budget, self.clock_, log
        done = adp_kernels.run_planning(place.world, *memory, *run)
        return log[: done - first]

    def _walk(self, place: Any, episode: int) -> Array:
        """One episode, step by step."""
        words = self.random_words_
        chances = None if self.policy is None else cumulative_policy(self.policy, place)
        s, total, errors, t = place.reset(words), 0.0, 0.0, 0
        while t < self.max_steps:
            a = self._choose(s, episode, chances)
            s2, r, terminated, truncated = place.step(a, words)
            t += 1
            errors += abs(self._update(s, a, r, s2, terminated))
            total += r
            if terminated or truncated:
                break
            s = s2
        return np.array([[total, t, errors / t]])

    def _choose(self, s: int, episode: int, chances: Array | None) -> int:
        words, A = self.random_words_, self.n_actions_
        if chances is not None:
            return int(locate(chances[s], 0, A, uniform(words, 0)))
        if exploration_settings(self._exploration()) is None:
            return int(pick(self._believed()[s], self.model_.allowed[s], 0.0, words))
        planner, u = self._planner(), self.optimistic_values_
        epsilon = max(planner.epsilon * planner.decay**episode, planner.minimum)
        return int(decide(self.model_, u, planner, epsilon, s, words, np.empty(A)))

    # --- what was learned ------------------------------------------------------------------

    def _finish(self) -> None:
        if self.policy is None:
            self.values_ = np.zeros(len(self.values_))
            planner = self._planner()
            change = plan(self.model_, self.values_, planner, False, FINAL_TOL, FINAL_SWEEPS)
            if not change <= FINAL_TOL * float(np.abs(self.values_).max()):
                warn(
                    "the values of the learned model did not settle (discount 1 and no way to an "
                    f"end?): they still change by {change:.3g}",
                    ConvergenceWarning,
                )
        else:
            self.values_ = self._evaluate()
        self.values_ = self._ended(self.values_)
        self.policy_ = self._masked_q().argmax(axis=1)

    def _masked_q(self) -> Array:
        S, A = self.model_.visits.shape
        planner, q = self._planner(), np.full((S, A), -np.inf)
        for s, a in zip(*np.nonzero(self.model_.visits), strict=True):
            q[s, a] = backed_up(self.model_, self.values_, planner, s, a, False)
        return q

    def _evaluate(self) -> Array:
        """U = r_pi + g P_pi U over the states met, with the policy's actions that were tried."""
        N = self.model_.visits
        S, A = N.shape
        pi = policy_probabilities(self.policy, S, A) * (N > 0)
        weight = pi.sum(axis=1)
        pi /= np.where(weight > 0, weight, 1.0)[:, None]
        r = (pi * self.reward_estimate_).sum(axis=1)
        mix = csr_array((pi.ravel(), np.arange(S * A), np.arange(0, S * A + 1, A)), (S, S * A))
        P = mix @ self._estimate() @ csr_array(np.diag(~self.model_.terminal * 1.0))
        try:
            return splu((eye_array(S) - self.discount * P).tocsc()).solve(r)
        except RuntimeError as error:  # exactly singular
            raise ValueError(
                "the policy never ends from some state that was met: with discount 1 its value is "
                "infinite; use a discount below 1"
            ) from error

    def _estimate(self) -> csr_array:
        """P as a sparse array (S*A, S)."""
        n = np.maximum(self.model_.visits, 1).ravel()
        counts = self._counts()
        share = counts.data / np.repeat(n, np.diff(counts.indptr))
        return csr_array((share, counts.indices, counts.indptr), counts.shape)

    def _counts(self) -> csr_array:
        S, A, K = self.model_.after.shape
        used = np.arange(K) < self.model_.n_after[:, :, None]
        ends = np.concatenate([[0], np.cumsum(self.model_.n_after.ravel())])
        return csr_array((self.model_.counts[used], self.model_.after[used], ends), (S * A, S))

    def _shaped(self, table: csr_array) -> Any:
        S, A = self.model_.visits.shape
        return table.toarray().reshape(S, A, S) if S * A * S <= DENSE else table

    @property
    def counts_(self) -> Any:
        self._fitted()
        return self._shaped(self._counts())

    @property
    def transition_estimate_(self) -> Any:
        self._fitted()
        return self._shaped(self._estimate())

    @property
    def reward_estimate_(self) -> Array:
        self._fitted()
        return self.model_.reward / np.maximum(self.model_.visits, 1)

    @property
    def visits_(self) -> IntArray:
        self._fitted()
        return self.model_.visits

    def predict(self, X: Any) -> IntArray:
        """The best action by the estimates for each state number of X."""
        self._fitted()
        return np.array([self.act(s) for s in X], dtype=np.intp)

    def act(self, state: int) -> int:
        """The best action by the estimates in a state; the lowest one on ties."""
        self._fitted()
        return int(self.policy_[self._state_number("state", state)])

    def _check_state(self) -> None:
        if not hasattr(self, "random_words_"):
            return
        S, A = self.n_states_, self.n_actions_
        m = self.model_
        self._check_arrays(optimistic_values_=("f", (S,)), clock_=("i", (1,)))
        K = m.after.shape[2]
        shapes = ((S, A, K), (S, A, K), (S, A), (S, A), (S, A), (S,), (S, A))
        kinds = "iiiifbb"
        if any(v.shape != s or v.dtype.kind != k for v, s, k in zip(m, shapes, kinds, strict=True)):
            raise ValueError("the arrays of the learned model do not fit together")
        if m.n_after.min() < 0 or m.n_after.max() > K or m.after.min() < 0 or m.after.max() >= S:
            raise ValueError("the learned model names states that do not exist")

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        self._fitted()
        how = "evaluates the given policy exactly in the model"
        if self.policy is None:
            how = f"replans every {self.plan_every} steps by value iteration; explores: "
            how += rules.describe_exploration(self._exploration())
        tried = int((self.model_.visits > 0).sum())
        return Card(
            "transition counts and mean rewards of every state and action",
            f"expected sum of rewards, discounted by {self.discount:g} per step",
            how,
            {"pairs tried": tried, **self._recent()},
        )
