r"""What all agents share: episodes under one driver, history, callbacks, going on from a file.

An agent acts, sees (s, a, r, s') and learns. A subclass says how it starts, how it learns from a
run of episodes and how it acts; the number of episodes done, its tables and the two words of its
random streams are all there is to a run, so that ``partial_fit`` after ``save`` and ``load`` has
the same bits as a longer ``fit``.
"""

import time
from abc import abstractmethod
from copy import deepcopy
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext, History, iterate
from pellucid.reinforcement.learning.step_sizes import RateTable
from pellucid.reinforcement.worlds.worlds import Place, open_world, random_words

BUDGET = 2_000_000  # steps of compiled code between two looks at the clock and the keyboard


class Sizes:
    """The place of an agent that is told its steps."""

    allowed: Any = None
    final: Any = None

    def __init__(self, n_states: Any, n_actions: int) -> None:
        check.whole(n_states=n_states, n_actions=n_actions)
        self.n_states: Any = n_states
        self.n_actions, self.n_inputs = n_actions, n_states


class Agent(Estimator):
    """Base of the agents."""

    n_episodes: int
    max_steps: int
    discount: float
    random_state: Any
    n_states_: Any
    allowed_: Any
    _evaluates = False  # the values of a given policy, whose actions need not be known

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that have no meaning."""

    @abstractmethod
    def _begin(self, place: Place) -> None:
        """Set the attributes of an agent that knows nothing."""

    @abstractmethod
    def _episodes(self, place: Place, first: int, stop: int, budget: int) -> Array:
        """Learn from episodes first..stop-1 or fewer; (k, 3) return, length, mean |error|."""

    def _diverged(self) -> str:
        """Why the last episode must be taken back, or nothing."""
        return ""

    def _finish(self) -> None:
        """What is computed once, after the last episode."""

    def reset(self, n_states: int, n_actions: int | None = None) -> Self:
        """Forget everything; ready for ``update`` with so many numbered states and actions."""
        if n_actions is None and not self._evaluates:
            raise ValueError(f"{type(self).__name__} needs n_actions: reset(n_states, n_actions)")
        self._check_run()
        self._prepare(Sizes(n_states, 1 if n_actions is None else n_actions))
        return self

    @with_callbacks
    def fit(self, env: object, y: ArrayLike | None = None) -> Self:
        """Learn from scratch in an MDP, a Gymnasium environment or the one with this id."""
        self._check_run()
        place = open_world(env)
        self._prepare(place)
        return self._learn(place, self.n_episodes)

    @with_callbacks
    def partial_fit(
        self, env: object, y: ArrayLike | None = None, *, n_episodes: int | None = None
    ) -> Self:
        """Go on where the last ``fit`` or ``partial_fit`` stopped, also after save and load."""
        self._check_run()
        place = open_world(env)
        if not hasattr(self, "random_words_"):
            self._prepare(place)
        self._check_same(place)
        if n_episodes is not None:
            check.whole(n_episodes=n_episodes)
        return self._learn(place, self.n_episodes if n_episodes is None else n_episodes)

    def _check_run(self) -> None:
        check.whole(n_episodes=self.n_episodes, max_steps=self.max_steps)
        if not isinstance(self.discount, Real) or not 0 <= self.discount <= 1:
            raise ValueError(f"discount must be between 0 and 1, got {self.discount!r}")
        self._check_parameters()

    def _prepare(self, place: Place) -> None:
        self.random_words_ = random_words(self.random_state)
        self.n_states_, self.n_actions_ = place.n_states, place.n_actions
        self.n_inputs_ = place.n_inputs
        self.history_, self.n_iter_ = History(), 0
        self.final_values_ = None if place.final is None else place.final.copy()
        self._begin(place)

    def _check_same(self, place: Place) -> None:
        here = (place.n_states, place.n_actions, place.n_inputs)
        if here != (self.n_states_, self.n_actions_, self.n_inputs_):
            raise ValueError(
                f"the agent learned with {self.n_states_ or 'any number of'} states and "
                f"{self.n_actions_} actions, this environment has {place.n_states or 'vectors'} "
                f"and {place.n_actions}"
            )

    def _learn(self, place: Place, n_episodes: int) -> Self:
        context = FitContext(self, max_steps=n_episodes, attributes=lambda state: self._so_far())
        began, stop = time.perf_counter(), self.n_iter_ + n_episodes
        budget = 1 if context.active else BUDGET
        why = ""

        def step(state: int) -> tuple[int, float]:
            nonlocal why
            before = self._snapshot()
            log = self._episodes(place, self.n_iter_, stop, budget)
            why = self._diverged()
            if why:
                self.__dict__.update(before)
                return state, np.nan
            seconds = time.perf_counter() - began
            for total, length, error in log.tolist():
                self.n_iter_ += 1
                row = {"step": self.n_iter_, "objective": total, "return": total}
                row |= {"length": int(length), "td_error": error, "seconds": seconds}
                self.history_.append(row)
            return self.n_iter_, float(stop - self.n_iter_)

        name, explain = type(self).__name__, lambda state: why
        loop = partial(iterate, max_iter=n_episodes, tol=0.0, context=context)
        loop(step, self.n_iter_, name=name, explain=explain)
        self._finish()
        context.end(self.n_iter_)
        return self

    def _ended(self, values: Array) -> Array:
        """``values`` with U(terminal) = R(terminal) where the world says it; rows of actions too.

        A move into a terminal state pays what comes after, so nothing is learned from these.
        """
        final = getattr(self, "final_values_", None)
        if final is None:
            return values
        final = final.reshape(-1, *(1,) * (values.ndim - 1))
        return np.where(np.isnan(final), values, final)

    @cached_property
    def _rates(self) -> RateTable:
        """What a step size that is a function has said so far; no part of a model file."""
        return RateTable()

    def _snapshot(self) -> dict[str, Any]:
        """What ``_diverged`` may have to take back."""
        return {}

    def _so_far(self) -> dict[str, Any]:
        """The fitted attributes, as if learning had stopped here."""
        return {k: deepcopy(v) for k, v in vars(self).items() if k.endswith("_")}

    def _state_number(self, name: str, value: object) -> int:
        """A checked number of a state: compiled code indexes with it."""
        n = self.n_states_
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if n is None or not isinstance(value, Integral) or not 0 <= int(value) < n:
            raise ValueError(
                f"{name} must be a state number from 0 to {(n or 0) - 1}, got {value!r}"
            )
        return int(value)

    def _action_number(self, name: str, value: object) -> int:
        n = self.n_actions_
        if not isinstance(value, Integral) or not 0 <= int(value) < n:
            raise ValueError(f"{name} must be an action number from 0 to {n - 1}, got {value!r}")
        return int(value)

    def _input(self, name: str, observation: ArrayLike) -> Any:
        """A state's number, checked; vectors are left to the features."""
        return observation if self.n_states_ is None else self._state_number(name, observation)

    def _check_arrays(self, **expected: tuple[str, tuple[int, ...]]) -> None:
        """Refuse arrays from a file that compiled code cannot index."""
        for name, (kind, shape) in {"random_words_": ("u", (2,)), **expected}.items():
            value = getattr(self, name)
            if getattr(value, "shape", None) != shape or value.dtype.kind != kind:
                raise ValueError(f"{name} must be an array of shape {shape} and kind {kind!r}")
            if value.dtype.kind in "iuf" and value.dtype.itemsize != 8:
                raise ValueError(f"{name} must have 64-bit numbers, got {value.dtype}")

    def _fitted(self) -> None:
        check_is_fitted(self, "random_words_")

    def _recent(self) -> dict[str, Any]:
        """The numbers of the card: how it went lately."""
        found: dict[str, Any] = {"episodes": self.n_iter_}
        if len(self.history_):
            tail = self.history_[-max(1, len(self.history_) // 10) :]
            found["mean return of the last tenth"] = float(tail["return"].mean())
            found["steps"] = int(self.history_["length"].sum())
        return found
