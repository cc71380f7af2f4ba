r"""Monte-Carlo evaluation: the value of a state is the mean of the returns that followed it.

    G_t = r_t + g r_{t+1} + g^2 r_{t+2} + ...,     U(s) = mean of G_t over the visits of s

First visit: one return per episode and state. They are independent and unbiased, so that
s / sqrt(n) is a valid standard error. Every visit: all of them; more numbers, which depend on each
other, and a bias that vanishes with the episodes. Nothing is assumed of the states: where they do
not tell the whole situation, the mean return is still right, which values that lean on
the values of the next states (TD) are not.

An episode that is cut off after ``max_steps`` counts with the value U of its last state, as it is
then.

References: Singh & Sutton (1996); Sutton & Barto (2018), sections 5.1 and 5.2.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.records import Card
from pellucid.reinforcement.learning.agent_kernels import SARSA, Control, locate, uniform
from pellucid.reinforcement.learning.agents import Agent, Sizes
from pellucid.reinforcement.learning.policies import cumulative_policy
from pellucid.reinforcement.learning.step_sizes import StepSize, check_step_size, step_size_note
from pellucid.reinforcement.learning.window_kernels import approach, run_windows
from pellucid.reinforcement.learning.windows import Waiting, Window, mean_size
from pellucid.reinforcement.worlds.worlds import Place, Simulation

VISITS = ("first", "every")


class MonteCarloLearning(Agent):
    """The values of a policy as means of returns.

    Parameters
    ----------
    policy : array of shape (S,) or (S, A), function of an observation, or None, default=None
        Actions, or probabilities of actions; None: any available action, with equal probability.
    discount : float in [0, 1], default=0.9
        Weight of a reward one step later.
    visits : {"first", "every"}, default="first"
        Which visits of a state in an episode count.
    step_size : float, "1/n", schedule or function of n, default="1/n"
        "1/n": means. A number: a mean that forgets.
    n_episodes : int, default=500
        Episodes to learn from.
    max_steps : int, default=1000
        Steps after which an episode is cut off: that is truncation, the next state keeps its value.
    initial_value : float, default=0.0
        Of states that were never visited.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    values_ : ndarray of shape (S,)
    visits_ : ndarray of shape (S,)
        Returns behind each value.
    standard_error_ : ndarray of shape (S,)
        With first visits and "1/n" only; inf below two returns.
    n_iter_ : int, episodes so far
    history_ : History, a row per episode: return, length, td_error (mean absolute, of G - U)

    Examples
    --------
    >>> from pellucid.reinforcement import MonteCarloLearning, grid_world
    >>> mdp = grid_world(["S.+"], slip=0.0, discount=0.9)
    >>> MonteCarloLearning([1, 1, 0], n_episodes=5).fit(mdp).values_[:2]
    array([0.734, 0.86 ])
    >>> told = MonteCarloLearning(discount=0.5).reset(2)
    >>> told.update(0, 0, 1.0, 1), told.update(1, 0, 4.0, 0, terminated=True)
    (0.0, 3.5)
    >>> told.values_
    array([3., 4.])
    """

    _evaluates = True

    def __init__(
        self,
        policy: Any = None,
        *,
        discount: float = 0.9,
        visits: str = "first",
        step_size: StepSize = "1/n",
        n_episodes: int = 500,
        max_steps: int = 1000,
        initial_value: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        self.policy = policy
        self.discount = discount
        self.visits = visits
        self.step_size = step_size
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.initial_value = initial_value
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check.one_of(VISITS, visits=self.visits)
        check_step_size(self.step_size, tabular=True)
        if not np.isfinite(self.initial_value):
            raise ValueError(f"initial_value must be finite, got {self.initial_value!r}")

    def _begin(self, place: Place) -> None:
        S = place.n_states
        if S is None:
            raise ValueError(
                "observations are vectors here and means need numbered states: use TDLearning "
                "with approximator=LinearApproximator(...) and trace_decay=1"
            )
        self.values_ = self._ended(np.full(S, float(self.initial_value)))
        self.visits_, self.squares_ = np.zeros(S, np.int64), np.zeros(S)
        self.waiting_: list[Any] = []  # the steps of an episode given to ``update``

    # --- one step --------------------------------------------------------------------------

    def update(
        self,
        state: object,
        action: ArrayLike,
        reward: float,
        next_state: ArrayLike,
        *,
        next_action: object = None,
        terminated: bool = False,
    ) -> float:
        """Note one step; at the end of the episode learn, and return the mean absolute error.

        A truncated episode ends with ``end_episode()``. Actions are not looked at.
        """
        self._fitted()
        x = self._state_number("state", state)
        after = None if terminated else self._state_number("next_state", next_state)
        self._note(self.waiting_, x, float(reward), after)
        return self.end_episode() if terminated else 0.0

    def end_episode(self) -> float:
        """Learn from the steps noted since the last end; their mean absolute error."""
        self._fitted()
        return mean_size(self._settle(self.waiting_))

    def _note(self, waiting: list[Any], x: int, r: float, after: int | None) -> None:
        waiting.append(Waiting(x, r, after))

    def _settle(self, waiting: list[Any]) -> list[float]:
        window = Window(1, self.discount, lambda x: float(self.values_[x]), self._approach)
        return window.settle(waiting, first_visits=self.visits == "first")

    def _approach(self, x: int, G: float) -> float:
        rate = self._rates.at(self.step_size, int(self.visits_[x]) + 1)
        rate = 0.0 if isinstance(self.step_size, str) else rate
        return float(approach(self.values_, self.visits_, self.squares_, x, G, rate))

    # --- episodes --------------------------------------------------------------------------

    def _episodes(self, place: Any, first: int, stop: int, budget: int) -> Array:
        chances = None
        if not callable(self.policy):
            chances = cumulative_policy(self.policy, place)
        if not isinstance(place, Simulation) or chances is None:
            return self._walk(place, chances)
        rate, rates = self._rates.pace(self.step_size, self.visits_, int(self.max_steps))
        log = np.empty((stop - first, 3))
        rule = Control(SARSA, float(self.discount), rate, 0.0, 1.0, 0.0, 0.0, 0)
        seen = np.zeros(len(self.values_) if self.visits == "first" else 0, bool)
        words, most = self.random_words_, int(self.max_steps)
        tables = _TABLE, _TRIES, self.values_, self.visits_, self.squares_, seen, words
        run = first, stop, most, budget, log
        done = run_windows(place.world, chances, rule, rates, *tables, most + 1, *run)
        self._rates.check(self.step_size, self.visits_)
        return log[: done - first]

    def _walk(self, place: Any, chances: Any) -> Array:
        """One episode, step by step."""
        words, waiting = self.random_words_, list[Any]()
        x, total, t = place.reset(words), 0.0, 0
        while t < self.max_steps:
            if chances is None:
                a = self._action_number("policy(observation)", self.policy(x))
            else:
                a = int(locate(chances[x], 0, self.n_actions_, uniform(words, 0)))
            seen, r, terminated, truncated = place.step(a, words)
            t += 1
            total += r
            self._note(waiting, x, r, None if terminated else seen)
            if terminated or truncated:
                break
            x = seen
        return np.array([[total, t, mean_size(self._settle(waiting))]])

    # --- using it --------------------------------------------------------------------------

    @property
    def standard_error_(self) -> Array:
        """Standard error of each value: the spread of the returns / sqrt(n)."""
        self._fitted()
        if self.visits != "first" or self.step_size != "1/n":
            raise AttributeError(
                "standard errors need independent returns and their mean: visits='first' and "
                "step_size='1/n'"
            )
        n = self.visits_
        error = np.sqrt(self.squares_ / np.maximum(n - 1, 1) / np.maximum(n, 1))
        return np.where(n >= 2, error, np.inf)

    def predict(self, X: Any) -> Array:
        """The value of each state number of X."""
        self._fitted()
        return np.array([self.values_[self._state_number("state", s)] for s in X])

    def act(self, state: Any) -> int:
        """An action of the policy; a random one is drawn where it says so."""
        self._fitted()
        if callable(self.policy):
            return self._action_number("policy(observation)", self.policy(state))
        chances = cumulative_policy(self.policy, Sizes(self.n_states_, self.n_actions_))
        row = chances[self._state_number("state", state)]
        return int(locate(row, 0, self.n_actions_, uniform(self.random_words_, 0)))

    def _check_state(self) -> None:
        if hasattr(self, "random_words_"):
            S = (self.n_states_,)
            self._check_arrays(values_=("f", S), visits_=("i", S), squares_=("f", S))

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        self._fitted()
        who = "random moves" if self.policy is None else "the given policy"
        return Card(
            f"values U(s) of {who} as a table",
            f"expected sum of rewards, discounted by {self.discount:g} per step",
            f"means of the returns after the {self.visits} visit of a state in an episode",
            self._recent(),
            warnings=step_size_note(self.step_size),
        )


_TABLE, _TRIES = np.zeros((0, 1)), np.zeros((0, 1), np.int64)  # evaluation chooses nothing
