r"""REINFORCE: climb the expected utility of a random policy directly.

    pi(a | s) proportional to exp h(s, a),   h a table, or h(s, a) = theta_a . phi(s)
    theta <- theta + eta g^t (G_t - b) grad log pi(a_t | s_t),   G_t = r_t + g r_(t+1) + ...

after each episode. A return above the baseline b makes the actions taken more probable, one below
it less. The baseline lowers the variance and leaves the expectation alone: it is the mean return of
all steps of earlier episodes, or that of the state.

References: Williams (1992); Sutton & Barto (2018), ch. 13.
"""

from typing import Any, Literal

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Seed
from pellucid.core.records import Card
from pellucid.reinforcement.approximation import policy_gradient_kernels
from pellucid.reinforcement.approximation.approximator import NO_TABLE, check_approximator
from pellucid.reinforcement.approximation.policy_gradient_kernels import MEAN, NONE, VALUE
from pellucid.reinforcement.learning.agents import Agent
from pellucid.reinforcement.learning.experience import Baseline
from pellucid.reinforcement.worlds.worlds import Place, Simulation

BASELINES = {"mean": MEAN, "value": VALUE}


class PolicyGradient(Agent):
    """A softmax policy, improved by the returns of whole episodes.

    Parameters
    ----------
    discount : float in [0, 1], default=0.99
        Weight of a reward one step later.
    learning_rate : float, default=0.01
        Length of a gradient step.
    baseline : {"mean", "value"} or None, default="mean"
        Mean return of the steps of earlier episodes, or of those in the same state.
    approximator : LinearApproximator or None, default=None
        None: a table over numbered states.
    n_episodes : int, default=1000
        Episodes to learn from.
    max_steps : int, default=1000
        Steps after which an episode is cut off; its return is then the sum seen so far.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    preferences_ : ndarray of shape (S, A), of a table
    weights_ : ndarray of shape (A, F), with an approximator
    probabilities_ : ndarray of shape (S, A), where states are numbered
    policy_ : ndarray of shape (S,), the most probable action
    n_iter_ : int, episodes so far
    history_ : History, a row per episode: return, length, td_error (mean absolute advantage)

    Examples
    --------
    >>> from pellucid.reinforcement import PolicyGradient, grid_world
    >>> mdp = grid_world(["S.+"], slip=0.0, discount=0.9)
    >>> agent = PolicyGradient(learning_rate=0.3, n_episodes=500, random_state=0).fit(mdp)
    >>> agent.policy_[:2]
    array([1, 1])
    """

    def __init__(
        self,
        *,
        discount: float = 0.99,
        learning_rate: float = 0.01,
        baseline: Literal["mean", "value"] | None = "mean",
        approximator: Any = None,
        n_episodes: int = 1000,
        max_steps: int = 1000,
        random_state: Seed = None,
    ) -> None:
        self.discount = discount
        self.learning_rate = learning_rate
        self.baseline = baseline
        self.approximator = approximator
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check.positive(learning_rate=self.learning_rate)
        check_approximator(self.approximator)
        if self.baseline is not None:
            check.one_of(BASELINES, baseline=self.baseline)

    def _begin(self, place: Place) -> None:
        S, A = place.n_states, place.n_actions
        if self.approximator is None and S is None:
            raise ValueError(NO_TABLE)
        self.allowed_ = None if place.allowed is None else place.allowed.copy()
        self.episode_: list[Any] = []
        size = 0 if self.approximator is not None else S
        self.base_ = Baseline(np.zeros(2), np.zeros(size), np.zeros(size, np.int64))
        if self.approximator is None:
            self.preferences_ = np.zeros((S, A))
            return
        self.approximator.check(S)
        for name in ("weights_", "value_weights_"):
            self.__dict__.pop(name, None)
        if not callable(self.approximator.features):
            self._row(0)

    # --- preferences -----------------------------------------------------------------------

    def _features(self, observation: Any) -> Array:
        phi = self.approximator.phi(observation)
        if not hasattr(self, "weights_"):
            self.weights_ = self.approximator.start(len(phi), self.n_actions_)
            self.value_weights_ = np.zeros(len(phi))
        return phi

    def _row(self, observation: Any) -> Array:
        if self.approximator is None:
            return self.preferences_[observation]
        phi = self._features(observation)
        return self.weights_ @ phi

    def _open(self, observation: ArrayLike) -> BoolArray:
        if self.allowed_ is None:
            return np.ones(self.n_actions_, bool)
        return self.allowed_[observation]

    def _draw(self, observation: Array) -> tuple[int, Array]:
        chances = np.empty(self.n_actions_)
        row = np.ascontiguousarray(self._row(observation))
        open_, words = self._open(observation), self.random_words_
        return int(policy_gradient_kernels.softmax_draw(row, open_, chances, words)), chances

    # --- one step --------------------------------------------------------------------------

    def update(
        self,
        state: Any,
        action: int,
        reward: float,
        next_state: object = None,
        *,
        next_action: object = None,
        terminated: bool = False,
    ) -> float:
        """Note one step; at the end of the episode learn, and return the mean absolute advantage.

        A truncated episode ends with ``end_episode()``.
        """
        self._fitted()
        x = self._input("state", state)
        a = self._action_number("action", action)
        chances = _softmax(self._row(x), self._open(x))
        self.episode_.append((x, a, float(reward), chances))
        return self.end_episode() if terminated else 0.0

    def end_episode(self) -> float:
        """Learn from the steps noted since the last end; their mean absolute advantage."""
        self._fitted()
        steps, self.episode_ = self.episode_, []
        if not steps:
            return 0.0
        seen, actions, rewards, chances = (list(part) for part in zip(*steps, strict=True))
        returns = np.array(rewards)
        if self.approximator is not None:
            return self._climb(seen, actions, returns, chances)
        rule = (BASELINES.get(self.baseline or "", NONE), float(self.discount))
        steps_of = (np.array(seen, np.int64), np.array(actions, np.int64), returns)
        tables, rate = (self.preferences_, self.base_), float(self.learning_rate)
        run = (*tables, *rule, rate, *steps_of, np.array(chances), len(returns))
        return float(policy_gradient_kernels.reinforce(*run))

    def _climb(self, seen: list[Any], actions: list[int], G: Array, chances: list[Array]) -> float:
        """The same for weights of features."""
        for t in range(len(G) - 2, -1, -1):
            G[t] += self.discount * G[t + 1]
        phi = np.array([self._features(x) for x in seen])  # (n, F)
        base = phi @ self.value_weights_ if self.baseline == "value" else self.base_.mean[0]
        advantage = G - (0.0 if self.baseline is None else base)
        slope = np.eye(self.n_actions_)[actions] - np.array(chances)  # (n, A)
        fade = self.learning_rate * self.discount ** np.arange(len(G))
        self.weights_ += (slope * (fade * advantage)[:, None]).T @ phi
        self.base_.mean[1] += len(G)
        self.base_.mean[0] += (G.sum() - len(G) * self.base_.mean[0]) / self.base_.mean[1]
        for x, g in zip(phi, G, strict=True):
            self.value_weights_ += self.learning_rate * (g - x @ self.value_weights_) * x
        return float(np.abs(advantage).mean())

    # --- episodes --------------------------------------------------------------------------

    def _episodes(self, place: Place, first: int, stop: int, budget: int) -> Array:
        if not isinstance(place, Simulation) or self.approximator is not None:
            return self._walk(place)
        n, A = int(self.max_steps), self.n_actions_
        log, room = np.empty((stop - first, 3)), np.empty(n, np.int64)
        rule = BASELINES.get(self.baseline or "", NONE), self.random_words_
        rates, run = (float(self.discount), float(self.learning_rate)), (first, stop, n, budget)
        rooms = room, room.copy(), np.empty(n), np.empty((n, A))
        tables = place.world, self.preferences_, self.base_
        done = policy_gradient_kernels.run_reinforce(*tables, *rule, *rates, *run, *rooms, log)
        return log[: done - first]

    def _walk(self, place: Any) -> Array:
        """One episode, step by step."""
        words, self.episode_ = self.random_words_, []
        x, total, t = place.reset(words), 0.0, 0
        while t < self.max_steps:
            a, chances = self._draw(x)
            x2, r, terminated, truncated = place.step(a, words)
            self.episode_.append((x, a, r, chances))
            t, total, x = t + 1, total + r, x2
            if terminated or truncated:
                break
        return np.array([[total, t, self.end_episode()]])

    def _snapshot(self) -> dict[str, Any]:
        name = "preferences_" if self.approximator is None else "weights_"
        return {name: getattr(self, name).copy()} if hasattr(self, name) else {}

    def _diverged(self) -> str:
        weights = self.preferences_ if self.approximator is None else self.weights_
        if np.isfinite(weights).all():
            return ""
        return "the preferences grew without bound: use a smaller learning_rate"

    # --- using it --------------------------------------------------------------------------

    @property
    def probabilities_(self) -> Array:
        self._fitted()
        if self.n_states_ is None:
            raise AttributeError("there is no table: observations are vectors; use predict_proba")
        return self.predict_proba(range(self.n_states_))

    @property
    def policy_(self) -> IntArray:
        return self.probabilities_.argmax(axis=1)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each action for each state number or observation of X."""
        self._fitted()
        seen = [self._input("state", x) for x in X]
        return np.array([_softmax(self._row(x), self._open(x)) for x in seen])

    def predict(self, X: Any) -> IntArray:
        """The most probable action for each state number or observation of X."""
        return self.predict_proba(X).argmax(axis=1)

    def act(self, state: object) -> int:
        """The most probable action; the lowest one on ties."""
        return int(self.predict([state])[0])

    def _check_state(self) -> None:
        if hasattr(self, "random_words_") and self.approximator is None:
            S = self.n_states_
            self._check_arrays(preferences_=("f", (S, self.n_actions_)))
            shapes = tuple(part.shape for part in self.base_)
            if shapes != ((2,), (S,), (S,)) or self.base_.counts.dtype.kind != "i":
                raise ValueError("the baseline does not fit the states")

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        self._fitted()
        shape = "a table" if self.approximator is None else "weighted sums of features"
        by_features = self.baseline == "value" and self.approximator is not None
        base = {None: "no baseline", "mean": "the mean return", "value": "the state's mean return"}
        return Card(
            f"a random policy, softmax of preferences as {shape}",
            f"expected sum of rewards, discounted by {self.discount:g} per step",
            f"gradient ascent by whole episodes, rate {self.learning_rate:g}, baseline: "
            + ("the value, a line in the features" if by_features else base[self.baseline]),
            {"actions": self.n_actions_, **self._recent()},
        )


def _softmax(row: Array, allowed: BoolArray) -> Array:
    """Probabilities of the actions available; all equal where there are none (an end)."""
    if not allowed.any():
        return np.full(len(row), 1.0 / len(row))
    top = np.where(allowed, row, -np.inf)
    chances = np.exp(top - top.max())
    return chances / chances.sum()
