r"""Agents that learn action values: Q(s, a) as a table or a weighted sum of features.

A subclass says which target it moves to. With a table and a built-in exploration rule the episodes
on an MDP run in one compiled loop; everything else goes step by step through the same update, with
the same bits.
"""

from abc import abstractmethod
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.records import Card
from pellucid.reinforcement.approximation import approximator as approximation
from pellucid.reinforcement.approximation.approximator import Scale, horizon_of
from pellucid.reinforcement.learning import agent_kernels as compiled
from pellucid.reinforcement.learning.agent_kernels import Control, choose, learn, pick, run_control
from pellucid.reinforcement.learning.agents import Agent
from pellucid.reinforcement.learning.exploration import (
    EpsilonGreedy,
    describe_exploration,
    exploration_settings,
)
from pellucid.reinforcement.learning.step_sizes import check_step_size, step_size_note
from pellucid.reinforcement.learning.window_kernels import approach, run_windows
from pellucid.reinforcement.learning.windows import Window, mean_size
from pellucid.reinforcement.worlds.worlds import Place, Simulation


class ActionValueAgent(Agent):
    """Base of SARSA, Q-learning and double Q-learning."""

    step_size: Any
    exploration: Any
    approximator: Any = None
    initial_value: float
    n_steps: int = 1
    _kind: int

    @property
    @abstractmethod
    def _target(self) -> str:
        """The target in words, for the card."""

    # --- starting --------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check.whole(n_steps=self.n_steps)
        approximation.check_approximator(self.approximator)
        check_step_size(self.step_size, tabular=self.approximator is None)
        settings = exploration_settings(self.exploration)
        if self.approximator is not None and (settings is None or settings.counts):
            raise ValueError(
                "with an approximator states are not counted: use Greedy or EpsilonGreedy without "
                f"half_life, got {self.exploration!r}"
            )
        approximation.check_initial_value(self.initial_value, self.approximator)

    def _begin(self, place: Place) -> None:
        S, A = place.n_states, place.n_actions
        self.waiting_: list[Any] = []  # steps given to ``update`` whose windows are open
        if self.approximator is not None:
            self.approximator.check(S)
            self.allowed_ = place.allowed
            self.visits_ = np.zeros(A, np.int64)
            self.__dict__.pop("weights_", None)  # made when the first features are seen
            self._scale, self._worst = Scale(0.0, horizon_of(self.discount, self.max_steps)), 0.0
            if not callable(self.approximator.features):
                self._see(0)
            return
        if S is None:
            raise ValueError(
                "observations are vectors here: give approximator=LinearApproximator(TileCoding("
                "...)), or use DeepQNetwork"
            )
        self.q_ = self._ended(np.full((S, A), float(self.initial_value)))
        pair = 2 if self._kind == compiled.DOUBLE_Q else 0
        self.pair_ = np.repeat(self.q_[None], pair, axis=0)
        self.visits_ = np.zeros((S, A), np.int64)
        self.allowed_ = np.ones((S, A), bool) if place.allowed is None else place.allowed.copy()

    # --- one step --------------------------------------------------------------------------

    def update(
        self,
        state: Any,
        action: int,
        reward: float,
        next_state: int,
        *,
        next_action: int | None = None,
        terminated: bool = False,
    ) -> float:
        """Learn from one step; the temporal-difference error.

        With ``n_steps`` > 1 the step learned from is the one n - 1 steps ago (0 if there is none
        yet); ``end_episode()`` closes the windows of an episode that is cut off.
        """
        self._fitted()
        a = self._action_number("action", action)
        a2 = 0
        if next_action is not None:
            a2 = self._action_number("next_action", next_action)
        elif self._kind == compiled.SARSA and not terminated:
            raise ValueError("SARSA learns from the action then taken: give next_action")
        x = self._see(self._input("state", state))
        x2 = x if terminated else self._see(self._input("next_state", next_state))
        if self.n_steps == 1:
            return self._update(x, a, float(reward), x2, a2, bool(terminated))
        after = None if terminated else (x2, a2)
        return mean_size(self._window().step(self.waiting_, (x, a), reward, after))

    def end_episode(self) -> float:
        """The episode is cut off: learn from the steps that wait; their mean absolute error."""
        self._fitted()
        return mean_size(self._window().settle(self.waiting_))

    def _see(self, observation: object) -> Any:
        """A state's number; with an approximator its features and the actions available."""
        if self.approximator is None:
            return observation
        phi = self.approximator.phi(observation)
        if not hasattr(self, "weights_"):
            self.weights_ = self.approximator.start(len(phi), self.n_actions_)
        allowed = _ALL[: self.n_actions_] if self.allowed_ is None else self.allowed_[observation]
        return phi, allowed

    def _control(self, rate: float) -> Control | None:
        settings = exploration_settings(self.exploration)
        if settings is None:
            return None
        return Control(self._kind, float(self.discount), rate, *settings)

    def _update(self, x: np.ndarray, a: int, r: float, x2: int, a2: int, ended: bool) -> float:
        if self.approximator is not None:
            return self._semi_gradient(x, a, r, x2, a2, ended)
        rate = self._rates.at(self.step_size, int(self.visits_[x, a]) + 1)
        rule = Control(self._kind, float(self.discount), rate, 0.0, 1.0, 0.0, 0.0, 0)
        tables, step = (self.q_, self.pair_, self.visits_, self.allowed_), (x, a, r, x2, a2, ended)
        return float(learn(*tables, rule, rate, *step, self.random_words_))

    def _semi_gradient(
        self, x: np.ndarray, a: int, r: float, x2: Any, a2: int, ended: bool
    ) -> float:
        phi, value = x[0], float(self.weights_[a] @ x[0])
        ahead = 0.0
        if not ended:
            row = self.weights_ @ x2[0]
            ahead = float(row[a2] if self._kind == compiled.SARSA else row[x2[1]].max())
        error = r + self.discount * ahead - value
        self._notice(value, r)
        self.visits_[a] += 1
        self.weights_[a] += self._rates.at(self.step_size, int(self.visits_[a])) * error * phi
        return error

    def _notice(self, value: float, r: float) -> None:
        """Keep how large values are and how large they can be."""
        self._scale = self._scale.seeing(r, *([] if self.visits_.any() else [value]))
        if not abs(value) <= self._worst:  # NaN too
            self._worst = abs(value)

    # --- windows of several steps (SARSA) ----------------------------------------------------

    def _window(self) -> Window:
        return Window(self.n_steps, self.discount, self._value, self._approach)

    def _value(self, pair: Array) -> float:
        x, a = pair
        return float(self.q_[x, a] if self.approximator is None else self.weights_[a] @ x[0])

    def _approach(self, pair: Array, G: float) -> float:
        """Move the value of a pair towards the return G; the error."""
        x, a = pair
        if self.approximator is None:
            rate = self._rates.at(self.step_size, int(self.visits_[x, a]) + 1)
            cell = x * self.n_actions_ + a
            tables = self.q_.reshape(-1), self.visits_.reshape(-1), NONE
            return float(approach(*tables, cell, G, rate))
        value = self._value(pair)
        self._notice(value, G)
        self.visits_[a] += 1
        rate = self._rates.at(self.step_size, int(self.visits_[a]))
        self.weights_[a] += rate * (G - value) * x[0]
        return G - value

    def _choose(self, x: np.ndarray, episode: int) -> int:
        words = self.random_words_
        if self.approximator is not None:
            rule = self._control(0.0)
            assert rule is not None
            epsilon = compiled.exploration_rate(rule, episode)
            return int(pick(self.weights_ @ x[0], x[1], epsilon, words))
        rule = self._control(0.0)
        if rule is None:
            row = np.asarray(self.exploration(self.q_[x], self.visits_[x]), dtype=np.float64)
            if row.shape != (self.n_actions_,) or np.isnan(row).any():
                raise ValueError(
                    f"exploration(u, n) must return {self.n_actions_} numbers, got {row!r}"
                )
            return int(pick(row, self.allowed_[x], 0.0, words))
        epsilon = compiled.exploration_rate(rule, episode)
        return int(choose(self.q_, self.visits_, self.allowed_, rule, epsilon, x, words))

    # --- episodes --------------------------------------------------------------------------

    def _episodes(self, place: Any, first: int, stop: int, budget: int) -> Array:
        rule = self._control(0.0)
        fast = isinstance(place, Simulation) and self.approximator is None
        if not fast or rule is None:
            return self._walk(place, first)
        rate, rates = self._rates.pace(self.step_size, self.visits_, int(self.max_steps))
        log, rule, words = np.empty((stop - first, 3)), rule._replace(rate=rate), self.random_words_
        run = first, stop, int(self.max_steps), budget, log
        if self.n_steps > 1:
            flat = self.q_.reshape(-1), self.visits_.reshape(-1), NONE, np.zeros(0, bool)
            tables = rule, rates, self.q_, self.visits_, *flat, words
            done = run_windows(place.world, np.zeros((0, 1)), *tables, int(self.n_steps), *run)
        else:
            memory = self.q_, self.pair_, self.visits_, words
            done = run_control(place.world, *memory, rule, rates, *run)
        self._rates.check(self.step_size, self.visits_)
        return log[: done - first]

    def _walk(self, place: Any, episode: int) -> Array:
        """One episode, step by step."""
        words, early = self.random_words_, self._kind == compiled.SARSA
        x = self._see(place.reset(words))
        a, total, t = self._choose(x, episode), 0.0, 0
        errors: list[float] = []
        window, waiting = self._window(), list[Any]()
        while t < self.max_steps:
            seen, r, terminated, truncated = place.step(a, words)
            t += 1
            x2 = x if terminated else self._see(seen)
            a2 = self._choose(x2, episode) if early and not terminated else 0
            if self.n_steps == 1:
                errors.append(self._update(x, a, r, x2, a2, terminated))
            else:
                errors += window.step(waiting, (x, a), r, None if terminated else (x2, a2))
            total += r
            if terminated or truncated or self._diverged():
                break
            if not early and t < self.max_steps:
                a2 = self._choose(x2, episode)
            x, a = x2, a2
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

    # --- using it --------------------------------------------------------------------------

    @property
    def values_(self) -> Array:
        """max_a Q(s, a) of every numbered state; R(terminal) where the episode ends."""
        return self._ended(np.where(self._open().any(axis=1), self._masked().max(axis=1), 0.0))

    @property
    def policy_(self) -> IntArray:
        """The best action of every numbered state; the lowest one on ties."""
        return self._masked().argmax(axis=1)

    def _open(self) -> BoolArray:
        self._fitted()
        if self.allowed_ is None:
            return np.ones((self.n_states_ or 0, self.n_actions_), bool)
        return self.allowed_

    def _masked(self) -> Array:
        return np.where(self._open(), self._table(), -np.inf)

    def _table(self) -> Array:
        if self.approximator is None:
            return self.q_
        if self.n_states_ is None:
            raise AttributeError("there are no tables: observations are vectors; use predict")
        rows = [self.approximator.phi(s) for s in range(self.n_states_)]
        return np.array(rows) @ self.weights_.T

    def predict(self, X: Any) -> IntArray:
        """The best action for each state number or observation of X."""
        self._fitted()
        return np.array([self.act(x) for x in X], dtype=np.intp)

    def act(self, state: Any) -> int:
        """The best action in a state; the lowest one on ties."""
        self._fitted()
        if self.approximator is None:
            s = self._state_number("state", state)
            return max(int(compiled.best_action(self.q_, self.allowed_, s)), 0)
        phi, allowed = self._see(self._input("state", state))
        return int(np.where(allowed, self.weights_ @ phi, -np.inf).argmax())

    def _check_state(self) -> None:
        if hasattr(self, "random_words_") and self.approximator is None:
            S, A = self.n_states_, self.n_actions_
            pair = (2 if self._kind == compiled.DOUBLE_Q else 0, S, A)
            kinds = {"q_": "f", "visits_": "i", "allowed_": "b"}
            tables = {name: (kind, (S, A)) for name, kind in kinds.items()}
            self._check_arrays(**tables, pair_=("f", pair))

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        self._fitted()
        shape = "a table" if self.approximator is None else "weighted sums of features"
        return Card(
            f"action values Q(s, a) as {shape}; the policy takes the best action",
            f"expected sum of rewards, discounted by {self.discount:g} per step",
            f"moves Q(s, a) to {self._target}; explores: {describe_exploration(self.exploration)}",
            {"actions": self.n_actions_, **self._recent()},
            warnings=step_size_note(self.step_size),
        )


_ALL = np.ones(2**16, bool)
NONE = np.zeros(0)  # no sums of squares
DEFAULT_EXPLORATION = EpsilonGreedy(0.1)
