r"""Deep Q-network: Q-learning with a network, on replayed steps.

    target   y = r + g max_a' Q_target(s', a'),   y = r after the end
    loss     mean over a batch drawn from the last ``capacity`` steps of [y - Q(s, a)]^2
    step     one of Adam per move; Q_target <- Q every ``target_every`` moves

Replay breaks the order of the steps, the target that stands still keeps the values from chasing
themselves. Truncated episodes are no ends: their last step keeps g max Q.

References: Mnih et al. (2015).
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.records import Card
from pellucid.core.runtime.random import stream
from pellucid.reinforcement.approximation.replay import (
    Memory,
    ReplayBuffer,
    draw,
    empty_memory,
    remember,
)
from pellucid.reinforcement.approximation.value_network import ValueNetwork
from pellucid.reinforcement.learning.agent_kernels import pick, uniform
from pellucid.reinforcement.learning.agents import Agent
from pellucid.reinforcement.learning.exploration import (
    EpsilonGreedy,
    Greedy,
    describe_exploration,
    exploration_settings,
)
from pellucid.reinforcement.worlds.worlds import Place, one_hot

DEFAULT_EXPLORATION = EpsilonGreedy(1.0, 0.98, 0.05)
DEFAULT_REPLAY = ReplayBuffer(10_000, 32)
RUNAWAY = 1e12  # a loss beyond it is on its way to infinity


class Networks(NamedTuple):
    """The network that learns and the one that stands still."""

    online: Any
    target: Any


class DeepQNetwork(Agent):
    """Q-learning with a neural network and replay.

    Parameters
    ----------
    network : sequence of int, or an object with values, update and copy_from, default=(64,)
        Sizes of the hidden layers, or a network such as ``pellucid.deep.QNetwork``; it is copied.
    discount : float in [0, 1], default=0.99
        Weight of a reward one step later.
    exploration : Greedy or EpsilonGreedy, default=EpsilonGreedy(1.0, 0.98, 0.05)
        How often a random action is taken.
    replay : ReplayBuffer, default=ReplayBuffer(10_000, 32)
        How many steps are remembered and replayed.
    target_every : int, default=200
        Moves between two copies to the target network.
    n_episodes : int, default=300
        Episodes to learn from.
    max_steps : int, default=1000
        Steps after which an episode is cut off.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    networks_ : online and target network
    q_, values_, policy_ : tables, where states are numbered
    memory_ : the replayed steps
    n_moves_ : int
    n_iter_ : int, episodes so far
    history_ : History, a row per episode: return, length, td_error (root of the mean loss)

    Examples
    --------
    >>> from pellucid.reinforcement import DeepQNetwork, grid_world
    >>> mdp = grid_world(["S.+"], slip=0.0, discount=0.9)
    >>> agent = DeepQNetwork((16,), discount=0.9, n_episodes=60, random_state=0).fit(mdp)
    >>> agent.policy_[:2]
    array([1, 1])
    """

    def __init__(
        self,
        network: Sequence[int] | Any = (64,),
        *,
        discount: float = 0.99,
        exploration: Greedy | EpsilonGreedy = DEFAULT_EXPLORATION,
        replay: ReplayBuffer = DEFAULT_REPLAY,
        target_every: int = 200,
        n_episodes: int = 300,
        max_steps: int = 1000,
        random_state: Seed = None,
    ) -> None:
        self.network = network
        self.discount = discount
        self.exploration = exploration
        self.replay = replay
        self.target_every = target_every
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check.whole(target_every=self.target_every)
        if not isinstance(self.replay, ReplayBuffer):
            raise TypeError(f"replay must be ReplayBuffer(..), got {self.replay!r}")
        self.replay.check()
        settings = exploration_settings(self.exploration)
        if settings is None or settings.counts:
            raise ValueError(
                "a network counts no states: use Greedy or EpsilonGreedy without half_life, "
                f"got {self.exploration!r}"
            )
        whole = isinstance(self.network, list | tuple)
        missing = [m for m in ("values", "update", "copy_from") if not hasattr(self.network, m)]
        if not whole and missing:
            raise TypeError(
                "network must be sizes of hidden layers or an object with values, update and "
                f"copy_from, got {self.network!r}"
            )

    def _begin(self, place: Place) -> None:
        if isinstance(self.network, list | tuple):
            seed = stream(int(self.random_words_[0] >> np.uint64(1)), 0)
            sizes = place.n_inputs, place.n_actions, tuple(self.network)
            online: Any = ValueNetwork(*sizes, random_state=int(seed.integers(2**31)))
        else:
            online = deepcopy(self.network)
        online.values(np.zeros((1, place.n_inputs)))  # networks that wait for their first states
        self.networks_ = Networks(online, deepcopy(online))
        self.networks_.target.copy_from(online)
        self.memory_ = empty_memory(self.replay.capacity, place.n_inputs)
        self.allowed_ = None if place.allowed is None else place.allowed.copy()
        self.n_moves_, self._loss = 0, 0.0

    # --- one step --------------------------------------------------------------------------

    def update(
        self,
        state: Any,
        action: int,
        reward: float,
        next_state: int,
        *,
        next_action: object = None,
        terminated: bool = False,
    ) -> float:
        """Remember one step and learn from a batch; the error of this step before."""
        self._fitted()
        a = self._action_number("action", action)
        x, x2 = self._vector("state", state), self._vector("next_state", next_state)
        open2 = self._allowed(next_state)
        ahead = self.networks_.target.values(x2[None])[0][open2].max(initial=-np.inf)
        ahead = 0.0 if terminated or not open2.any() else float(ahead)
        error = float(reward) + self.discount * ahead - self.networks_.online.values(x[None])[0, a]
        self._update(x, a, float(reward), x2, bool(terminated), open2)
        return float(error)

    def _vector(self, name: str, observation: ArrayLike) -> Array:
        if self.n_states_ is not None:
            return one_hot(self._state_number(name, observation), self.n_states_)
        x = np.asarray(observation, dtype=np.float64).ravel()
        if x.shape != (self.n_inputs_,) or not np.isfinite(x).all():
            raise ValueError(f"{name} must be {self.n_inputs_} finite numbers, got {observation!r}")
        return x

    def _allowed(self, observation: ArrayLike) -> Any:
        if self.allowed_ is None:
            return np.ones(self.n_actions_, bool)
        return self.allowed_[observation]

    def _update(self, x: Array, a: int, r: float, x2: Array, ended: bool, open2: Any) -> float:
        """One move: remember, replay, and now and then copy; the loss of the batch."""
        self.memory_ = remember(self.memory_, x, a, r, x2, ended)
        self.n_moves_ += 1
        loss, online = 0.0, self.networks_.online
        if self.memory_.size[0] >= self.replay.batch_size:
            rows = draw(self.memory_, self.replay.batch_size, self.random_words_)
            batch = self.memory_
            ahead = np.asarray(self.networks_.target.values(batch.after[rows]), dtype=np.float64)
            if self.allowed_ is not None:
                closed = ~self.allowed_[batch.after[rows].argmax(axis=1)]
                ahead = np.where(closed, -np.inf, ahead)
            best = np.where(batch.ended[rows], 0.0, ahead.max(axis=1))
            y = batch.reward[rows] + self.discount * best
            loss = float(online.update(batch.before[rows], batch.action[rows], y))
        if self.n_moves_ % self.target_every == 0:
            self.networks_.target.copy_from(online)
        return loss

    # --- episodes --------------------------------------------------------------------------

    def _episodes(self, place: Any, first: int, stop: int, budget: int) -> Array:
        words, settings = self.random_words_, exploration_settings(self.exploration)
        assert settings is not None
        epsilon = max(settings.epsilon * settings.decay**first, settings.minimum)
        seen = place.reset(words)
        x, total, losses, t = self._vector("state", seen), 0.0, 0.0, 0
        while t < self.max_steps:
            a = self._explore(x, self._allowed(seen), epsilon)
            seen, r, terminated, truncated = place.step(a, words)
            t += 1
            x2 = self._vector("next_state", seen)
            self._loss = self._update(x, a, r, x2, terminated, None)
            total, losses, x = total + r, losses + self._loss, x2
            if terminated or truncated or self._diverged():
                break
        return np.array([[total, t, np.sqrt(losses / t)]])

    def _explore(self, x: Array, allowed: Array, epsilon: float) -> int:
        """As ``pick``, but the network is asked only where its answer counts."""
        words = self.random_words_
        if epsilon > 0 and uniform(words, 0) < epsilon:
            return int(np.flatnonzero(allowed)[int(uniform(words, 0) * allowed.sum())])
        row = np.asarray(self.networks_.online.values(x[None])[0], dtype=np.float64)
        return int(pick(np.ascontiguousarray(row), allowed, 0.0, words))

    def _diverged(self) -> str:
        if self._loss <= RUNAWAY:
            return ""
        return (
            f"the loss of the network reached {self._loss:.3g}; scale the rewards or the "
            "observations to about 1"
        )

    def _snapshot(self) -> dict[str, Any]:
        return {"_loss": 0.0}

    # --- using it --------------------------------------------------------------------------

    @property
    def q_(self) -> Array:
        """The table of a world with numbered states."""
        self._fitted()
        if self.n_states_ is None:
            raise AttributeError("there is no table q_: observations are vectors; use predict")
        return np.asarray(self.networks_.online.values(np.eye(self.n_states_)), dtype=np.float64)

    def _masked(self) -> Array:
        return self.q_ if self.allowed_ is None else np.where(self.allowed_, self.q_, -np.inf)

    @property
    def values_(self) -> Array:
        best = self._masked().max(axis=1)
        return self._ended(np.where(np.isfinite(best), best, 0.0))

    @property
    def policy_(self) -> IntArray:
        return self._masked().argmax(axis=1)

    def predict(self, X: Any) -> IntArray:
        """The best action for each state number or observation of X."""
        self._fitted()
        return np.array([self.act(x) for x in X], dtype=np.intp)

    def act(self, state: Any) -> int:
        """The best action in a state; the lowest one on ties."""
        self._fitted()
        row = np.asarray(self.networks_.online.values(self._vector("state", state)[None])[0])
        return int(np.where(self._allowed(state), row, -np.inf).argmax())

    def _check_state(self) -> None:
        if hasattr(self, "random_words_"):
            self._check_arrays()
            memory_fits(self.memory_, self.replay.capacity, self.n_inputs_, self.n_actions_)

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        self._fitted()
        layers = self.network if isinstance(self.network, list | tuple) else type(self.network)
        return Card(
            f"action values by a network, hidden layers {layers}",
            f"squared error of r + {self.discount:g} max Q_target(s', .) on replayed steps",
            f"one step of Adam per move, target copied every {self.target_every}; explores: "
            + describe_exploration(self.exploration),
            {"moves": self.n_moves_, **self._recent()},
            warnings=("a network has no guarantee to converge; judge by evaluate_policy",),
        )


def memory_fits(memory: Memory, capacity: int, n_inputs: int, n_actions: int) -> None:
    """Refuse a memory from a file that does not fit together."""
    rows, n = memory.before.shape[0], int(memory.size[0])
    fits = (
        memory.before.shape == memory.after.shape == (rows, n_inputs)
        and memory.action.shape == memory.reward.shape == memory.ended.shape == (rows,)
        and 0 <= n <= rows <= capacity
        and int(memory.size[1]) >= 0
        and bool((memory.action >= 0).all() and (memory.action < n_actions).all())
    )
    if not fits:
        raise ValueError("the replayed steps do not fit together")
