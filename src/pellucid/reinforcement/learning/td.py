r"""Temporal-difference learning: the values of a given policy from experience alone.

    d = r + g U(s') - U(s),   U(s) <- U(s) + a d                   TD(0); after the end g U(s') = 0
    e(s) <- e(s) + 1,  U <- U + a d e,  e <- g lambda e            TD(lambda), e the traces
    U(s_t) <- U(s_t) + a [r_t + ... + g^(n-1) r_(t+n-1) + g^n U(s_(t+n)) - U(s_t)]     n steps

lambda = 1 weighs whole returns like Monte-Carlo evaluation, lambda = 0 looks one step ahead. With
step sizes such as 1/n a table converges to the utilities of the policy.

References: Sutton (1988); Sutton & Barto (2018), chapters 6, 7 and 12.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.records import Card
from pellucid.reinforcement.approximation import approximator as approximation
from pellucid.reinforcement.approximation.approximator import LinearApproximator, Scale, horizon_of
from pellucid.reinforcement.learning import agent_kernels
from pellucid.reinforcement.learning.agent_kernels import SARSA, Control, locate, uniform
from pellucid.reinforcement.learning.agents import Agent, Sizes
from pellucid.reinforcement.learning.policies import cumulative_policy
from pellucid.reinforcement.learning.step_sizes import StepSize, check_step_size, step_size_note
from pellucid.reinforcement.learning.window_kernels import approach, run_windows
from pellucid.reinforcement.learning.windows import Window, mean_size
from pellucid.reinforcement.worlds.worlds import Place, Simulation


class TDLearning(Agent):
    """The values of a policy, one step at a time.

    Parameters
    ----------
    policy : array of shape (S,) or (S, A), function of an observation, or None, default=None
        Actions, or probabilities of actions; None: any available action, with equal probability.
    discount : float in [0, 1], default=0.9
        Weight of a reward one step later.
    step_size : float, "1/n", schedule or function of n, default=0.1
        n counts the visits of the state; with an approximator, all updates.
        ``InverseScaling(1.0, 0.7)`` is n^-0.7. A function is asked once for each n, ahead of time.
    approximator : LinearApproximator or None, default=None
        None: a table over numbered states.
    n_episodes : int, default=500
        Episodes to learn from.
    max_steps : int, default=1000
        Steps after which an episode is cut off: that is truncation, the next state keeps its value.
    initial_value : float, default=0.0
        Value of everything not yet visited.
    trace_decay : float in [0, 1], default=0.0
        lambda of TD(lambda).
    n_steps : int, default=1
        Rewards that are added up before the value of a state is looked at; without traces.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    values_ : ndarray of shape (S,)
    weights_ : ndarray of shape (F,), with an approximator
    visits_ : ndarray of shape (S,)
    n_iter_ : int, episodes so far
    history_ : History, a row per episode: return, length, td_error (mean absolute)

    Examples
    --------
    >>> from pellucid.reinforcement import TDLearning
    >>> agent = TDLearning(discount=0.9, step_size=0.1).reset(2)
    >>> agent.values_[1] = 0.5
    >>> agent.update(0, 0, 1.0, 1), agent.values_.round(3)
    (1.45, array([0.145, 0.5  ]))
    """

    _evaluates = True

    def __init__(
        self,
        policy: Any = None,
        *,
        discount: float = 0.9,
        step_size: StepSize = 0.1,
        approximator: LinearApproximator | None = None,
        n_episodes: int = 500,
        max_steps: int = 1000,
        initial_value: float = 0.0,
        trace_decay: float = 0.0,
        n_steps: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.policy = policy
        self.discount = discount
        self.step_size = step_size
        self.approximator = approximator
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.initial_value = initial_value
        self.trace_decay = trace_decay
        self.n_steps = n_steps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        approximation.check_approximator(self.approximator)
        check_step_size(self.step_size, tabular=self.approximator is None)
        if not 0 <= self.trace_decay <= 1:
            raise ValueError(f"trace_decay must be between 0 and 1, got {self.trace_decay!r}")
        check.whole(n_steps=self.n_steps)
        if self.n_steps > 1 and self.trace_decay:
            raise ValueError(
                "give n_steps or trace_decay, not both: traces already weigh windows of all "
                f"lengths, got n_steps={self.n_steps!r} and trace_decay={self.trace_decay!r}"
            )
        approximation.check_initial_value(self.initial_value, self.approximator)

    def _begin(self, place: Place) -> None:
        S = place.n_states
        self.waiting_: list[Any] = []  # steps given to ``update`` whose windows are open
        if self.approximator is None:
            if S is None:
                raise ValueError(approximation.NO_TABLE)
            self.values_ = self._ended(np.full(S, float(self.initial_value)))
            self.visits_, self.traces_ = np.zeros(S, np.int64), np.zeros(S)
            return
        self.approximator.check(S)
        self.visits_ = np.zeros(1, np.int64)
        for name in ("weights_", "traces_", "values_"):
            self.__dict__.pop(name, None)
        self._scale, self._worst = Scale(0.0, horizon_of(self.discount, self.max_steps)), 0.0
        if not callable(self.approximator.features):
            self._see(0)

    # --- one step --------------------------------------------------------------------------

    def update(
        self,
        state: Any,
        action: ArrayLike,
        reward: float,
        next_state: int,
        *,
        next_action: object = None,
        terminated: bool = False,
    ) -> float:
        """Learn from one step; the temporal-difference error. Actions are not looked at.

        With ``n_steps`` > 1 the step learned from is the one n - 1 steps ago (0 if there is none
        yet); ``end_episode()`` closes the windows of an episode that is cut off.
        """
        self._fitted()
        x = self._see(self._input("state", state))
        x2 = x if terminated else self._see(self._input("next_state", next_state))
        if self.n_steps == 1:
            return self._update(x, float(reward), x2, bool(terminated))
        return mean_size(self._window().step(self.waiting_, x, reward, None if terminated else x2))

    def end_episode(self) -> float:
        """The episode is cut off: learn from the steps that wait; their mean absolute error."""
        self._fitted()
        return mean_size(self._window().settle(self.waiting_))

    def _see(self, observation: Any) -> Any:
        """A state's number, or its features."""
        if self.approximator is None:
            return observation
        phi = self.approximator.phi(observation)
        if not hasattr(self, "weights_"):
            self.weights_ = self.approximator.start(len(phi), None)
            self.traces_ = np.zeros(len(phi))
        return phi

    def _update(self, x: np.ndarray, r: float, x2: Any, ended: bool) -> float:
        if self.approximator is not None:
            return self._semi_gradient(x, r, x2, ended)
        rate = self._rates.at(self.step_size, int(self.visits_[x]) + 1)
        memory = self.values_, self.visits_, self.traces_
        pace = float(self.discount), rate, float(self.trace_decay)
        return float(agent_kernels.evaluate_step(*memory, *pace, x, r, x2, ended))

    def _semi_gradient(self, phi: Array, r: float, phi2: Array, ended: bool) -> float:
        value = float(self.weights_ @ phi)
        ahead = 0.0 if ended else float(self.weights_ @ phi2)
        error = r + self.discount * ahead - value
        self._notice(value, r)
        self.visits_[0] += 1
        self.traces_ += phi
        rate = self._rates.at(self.step_size, int(self.visits_[0]))
        self.weights_ += rate * error * self.traces_
        self.traces_ *= 0.0 if ended else self.discount * self.trace_decay
        return error

    def _notice(self, value: float, r: float) -> None:
        """Keep how large values are and how large they can be."""
        self._scale = self._scale.seeing(r, *([] if self.visits_[0] else [value]))
        if not abs(value) <= self._worst:  # NaN too
            self._worst = abs(value)

    def _window(self) -> Window:
        return Window(self.n_steps, self.discount, self._value, self._approach)

    def _value(self, x: int) -> float:
        return float(self.values_[x] if self.approximator is None else self.weights_ @ x)

    def _approach(self, x: int, G: float) -> float:
        """Move the value of x towards the return G; the error."""
        if self.approximator is None:
            rate = self._rates.at(self.step_size, int(self.visits_[x]) + 1)
            return float(approach(self.values_, self.visits_, _NONE, x, G, rate))
        value = self._value(x)
        self._notice(value, G)
        self.visits_[0] += 1
        rate = self._rates.at(self.step_size, int(self.visits_[0]))
        self.weights_ += rate * (G - value) * x
        return G - value

    # --- episodes --------------------------------------------------------------------------

    def _episodes(self, place: Any, first: int, stop: int, budget: int) -> Array:
        chances = None
        if not callable(self.policy):
            chances = cumulative_policy(self.policy, place)
        simulated = isinstance(place, Simulation) and self.approximator is None
        if not simulated or chances is None:
            return self._walk(place, chances)
        log, words = np.empty((stop - first, 3)), self.random_words_
        rate, rates = self._rates.pace(self.step_size, self.visits_, int(self.max_steps))
        run = first, stop, int(self.max_steps), budget, log
        if self.n_steps > 1:
            rule = Control(SARSA, float(self.discount), rate, 0.0, 1.0, 0.0, 0.0, 0)
            tables = _TABLE, _TRIES, self.values_, self.visits_, _NONE, _UNSEEN, words
            done = run_windows(place.world, chances, rule, rates, *tables, int(self.n_steps), *run)
        else:
            memory = self.values_, self.visits_, self.traces_, words
            pace = float(self.discount), rate, rates, float(self.trace_decay)
            done = agent_kernels.run_evaluation(place.world, chances, *memory, *pace, *run)
        self._rates.check(self.step_size, self.visits_)
        return log[: done - first]

    def _walk(self, place: Any, chances: Any) -> Array:
        """One episode, step by step."""
        words = self.random_words_
        seen = place.reset(words)
        x, total, t = self._see(seen), 0.0, 0
        errors: list[float] = []
        window, waiting = self._window(), list[Any]()
        self.traces_[:] = 0.0
        while t < self.max_steps:
            if chances is None:
                a = self._action_number("policy(observation)", self.policy(seen))
            elif self.n_states_ is None:  # any action
                a = int(uniform(words, 0) * self.n_actions_)
            else:
                a = int(locate(chances[seen], 0, self.n_actions_, uniform(words, 0)))
            seen, r, terminated, truncated = place.step(a, words)
            t += 1
            x2 = x if terminated else self._see(seen)
            if self.n_steps == 1:
                errors.append(self._update(x, r, x2, terminated))
            else:
                errors += window.step(waiting, x, r, None if terminated else x2)
            total += r
            if terminated or truncated or self._diverged():
                break
            x = x2
        errors += window.settle(waiting)
        return np.array([[total, t, mean_size(errors)]])

    def _snapshot(self) -> dict[str, Any]:
        self._worst = 0.0
        if self.approximator is None or not hasattr(self, "weights_"):
            return {}
        return {"weights_": self.weights_.copy(), "visits_": self.visits_.copy()}

    def _diverged(self) -> str:
        if self.approximator is None or not self._scale.exceeded(self._worst):
            return ""
        return approximation.divergence_sentence(self._worst)

    def _finish(self) -> None:
        if self.approximator is not None and self.n_states_ is not None:
            rows = [self.approximator.phi(s) for s in range(self.n_states_)]
            self.values_ = self._ended(np.array(rows) @ self.weights_)

    # --- using it --------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The value of each state number or observation of X."""
        self._fitted()
        if self.approximator is None:
            return np.array([self.values_[self._state_number("state", s)] for s in X])
        return np.array([self._see(self._input("state", x)) @ self.weights_ for x in X])

    def act(self, state: Any) -> int:
        """An action of the policy; a random one is drawn where it says so."""
        self._fitted()
        if callable(self.policy):
            return self._action_number("policy(observation)", self.policy(state))
        if self.n_states_ is None:  # any action
            return int(uniform(self.random_words_, 0) * self.n_actions_)
        chances = cumulative_policy(self.policy, Sizes(self.n_states_, self.n_actions_))
        row = chances[self._state_number("state", state)]
        return int(locate(row, 0, self.n_actions_, uniform(self.random_words_, 0)))

    def _check_state(self) -> None:
        if hasattr(self, "random_words_") and self.approximator is None:
            S = (self.n_states_,)
            self._check_arrays(values_=("f", S), visits_=("i", S), traces_=("f", S))

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        self._fitted()
        what = "a table" if self.approximator is None else "weighted sums of features"
        rule = "one step ahead" if self.n_steps == 1 else f"{self.n_steps} steps ahead"
        rule = f"lambda = {self.trace_decay:g}" if self.trace_decay else rule
        who = "random moves" if self.policy is None else "the given policy"
        return Card(
            f"values U(s) of {who} as {what}",
            f"expected sum of rewards, discounted by {self.discount:g} per step",
            f"moves U(s) to r + g U(s'), {rule}",
            self._recent(),
            warnings=step_size_note(self.step_size),
        )


# what the compiled loop of control has and evaluation has not
_NONE, _UNSEEN = np.zeros(0), np.zeros(0, bool)
_TABLE, _TRIES = np.zeros((0, 1)), np.zeros((0, 1), np.int64)
