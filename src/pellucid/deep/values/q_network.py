r"""Action values of a reinforcement learner: Q(s, a) for all actions at once.

One update descends  mean (target - Q(s, a))^2  over a batch by one step of the solver; the target
is held still. The agent (replay, exploration) is ``pellucid.reinforcement.DeepQNetwork``, which
takes any object with ``values``, ``update`` and ``copy_from``. References: Mnih et al. (2015);
Wang et al. (2016) for the dueling head.
"""

from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.runtime.random import generator
from pellucid.deep.convolution.convolutional import check_sizes
from pellucid.deep.engine import (
    find_device,
    load_weights,
    make_solver,
    one_session,
    require_torch,
    weights_of,
)
from pellucid.deep.training import Training, get_training


class QNetwork(BaseEstimator):
    """Q(s, a) as a network; made at the first ``values`` or ``update``, which show the states.

    Parameters
    ----------
    n_actions : int
        Number of outputs.
    hidden : tuple of int, default=(64, 64)
        Hidden units.
    dueling : bool, default=False
        Learn the value of the state apart from the advantages of the actions.
    training : Training or None, default=None
        Solver, rate, weight decay and device; an update is one batch.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    weights_ : dict of arrays
    n_features_in_ : int
    module_ : torch.nn.Module
    solver_memory_ : dict of arrays
        Moments of the solver after the first update, so that a saved network goes on as it was.

    Examples
    --------
    >>> from pellucid.deep import QNetwork, Training
    >>> q = QNetwork(2, (16,), training=Training(learning_rate=0.01), random_state=0)
    >>> states = np.eye(3)
    >>> losses = [q.update(states, [0, 1, 0], [1.0, 2.0, 3.0]) for _ in range(300)]
    >>> q.values(states)[[0, 1, 2], [0, 1, 0]].round(1)
    array([1., 2., 3.])
    """

    def __init__(
        self,
        n_actions: int,
        hidden: tuple[int, ...] = (64, 64),
        *,
        dueling: bool = False,
        training: Training | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_actions = n_actions
        self.hidden = hidden
        self.dueling = dueling
        self.training = training
        self.random_state = random_state

    def values(self, states: ArrayLike) -> Array:
        """Q of every action, (n, n_actions)."""
        torch = require_torch()
        with one_session(self._device(), None, 0), torch.no_grad():
            return self._module_for(states)(self._tensor(states)).double().cpu().numpy()

    def update(self, states: ArrayLike, actions: ArrayLike, targets: ArrayLike) -> float:
        """One step towards the targets of the actions taken; the mean squared error before it."""
        torch = require_torch()
        a = np.asarray(actions)
        t = np.asarray(targets, dtype=np.float64)
        x = self._matrix(states)
        if a.shape != (len(x),) or t.shape != (len(x),):
            raise ValueError(
                f"{len(x)} states need as many actions and targets, got {a.shape} and {t.shape}"
            )
        if a.dtype.kind not in "iu" or a.min() < 0 or a.max() >= self.n_actions:
            raise ValueError(f"actions must be whole numbers from 0 to {self.n_actions - 1}")
        if not np.isfinite(t).all():
            raise ValueError("targets must be finite numbers, got NaN or infinity")
        with one_session(self._device(), None, 0):
            module = self._module_for(states)
            q = module(self._tensor(x))[torch.arange(len(x)), torch.as_tensor(a.astype(np.int64))]
            goal = torch.as_tensor(t, dtype=q.dtype, device=q.device)
            loss = ((goal - q) ** 2).mean()
            self._solver.zero_grad(set_to_none=True)
            loss.backward()
            self._solver.step()
            on_cpu = self._device().type == "cpu"
            if not on_cpu:
                self._share(module)
            if not on_cpu or not hasattr(self, "solver_memory_"):
                self.solver_memory_ = _memory_of(self._solver)
        return float(loss.detach())

    def copy_from(self, other: "QNetwork") -> Self:
        """Take the weights of another network, as a target network does."""
        if not hasattr(other, "weights_"):
            raise ValueError("the other network has no weights yet: call its values or update")
        self._start(other.n_features_in_)
        self._share(load_weights(self._built, other.weights_))
        return self

    @property
    def module_(self) -> Any:
        """The torch module."""
        if not hasattr(self, "weights_"):
            raise AttributeError("the network is made at the first values or update")
        return self._built

    def _matrix(self, states: Any) -> Array:
        x = np.asarray(states, dtype=np.float64)
        if x.ndim != 2 or not x.size or not np.isfinite(x).all():
            raise ValueError(f"states must be a matrix of finite numbers, got shape {x.shape}")
        return x

    def _device(self) -> Any:
        return find_device(get_training(self.training).device)

    def _tensor(self, states: Any) -> Any:
        torch = require_torch()
        return torch.as_tensor(self._matrix(states), dtype=torch.float32, device=self._device())

    def _module_for(self, states: Any) -> Any:
        p = self._matrix(states).shape[1]
        self._start(p)
        if p != self.n_features_in_:
            raise ValueError(f"states have {p} numbers, {self.n_features_in_} are expected")
        return self._built

    def _start(self, p: int) -> None:
        """Make the network, once."""
        if hasattr(self, "weights_"):
            return
        check.whole(n_actions=self.n_actions)
        check_sizes(hidden=self.hidden)
        check.boolean(dueling=self.dueling)
        self.n_features_in_ = p
        seed = int(generator(self.random_state).integers(1 << 62))
        with one_session(self._device(), seed, 0):
            module = self._build().to(self._device())
        self._built = module
        self._share(module)

    def _build(self) -> Any:
        from pellucid.deep.values.q_module import QModule

        return QModule(self.n_features_in_, self.n_actions, tuple(self.hidden), bool(self.dueling))

    def _share(self, module: Any) -> None:
        """Show the weights as arrays; on the CPU they are the module's own memory."""
        if self._device().type == "cpu":
            self.weights_ = {n: t.detach().numpy() for n, t in module.state_dict().items()}
        else:
            self.weights_ = weights_of(module)

    @cached_property
    def _built(self) -> Any:
        """The module of a copy or of a model file."""
        with one_session(self._device(), 0, 0):
            module = load_weights(self._build(), self.weights_).to(self._device())
        self._share(module)
        return module

    @cached_property
    def _solver(self) -> Any:
        """The solver; that of a copy or of a model file goes on where the other one stood."""
        solver = make_solver(self._built, get_training(self.training), self._device())
        if hasattr(self, "solver_memory_"):
            _remember(solver, self.solver_memory_)
            self.solver_memory_ = _memory_of(solver)
        return solver

    def __getstate__(self) -> Any:
        """Copies build their module from the weights, and their solver from its memory."""
        state = dict(super().__getstate__())
        state.pop("_built", None)
        state.pop("_solver", None)
        return state

    def _check_state(self) -> None:
        if hasattr(self, "weights_"):
            with one_session(find_device("cpu"), 0, 0):
                module = load_weights(self._build(), self.weights_)
            _check_memory(module, getattr(self, "solver_memory_", {}))


def _memory_of(solver: Any) -> dict[str, np.ndarray]:
    """Moments and counts of a solver, "parameter/name"; on the CPU they are its own memory."""
    return {
        f"{i}/{name}": np.atleast_1d(tensor.detach().cpu().numpy())
        for i, kept in solver.state_dict()["state"].items()
        for name, tensor in kept.items()
        if tensor is not None
    }


def _remember(solver: Any, memory: dict[str, np.ndarray]) -> None:
    """Give a new solver the memory of another."""
    torch, state = require_torch(), dict[int, dict[str, Any]]()
    for key, array in memory.items():
        i, name = key.split("/")
        tensor = torch.from_numpy(np.array(array))
        state.setdefault(int(i), {})[name] = tensor.reshape(()) if name == "step" else tensor
    solver.load_state_dict({"state": state, "param_groups": solver.state_dict()["param_groups"]})


def _check_memory(module: Any, memory: Any) -> None:
    """Refuse moments from a file that do not fit the parameters: compiled code trusts them."""
    shapes = [tuple(p.shape) for p in module.parameters()]
    for key, array in memory.items():
        i, name = key.split("/")
        expected = (1,) if name == "step" else shapes[int(i)]
        if np.shape(array) != expected or np.asarray(array).dtype != np.float32:
            raise ValueError(f"solver_memory_ {key} must be float32 of shape {expected}")
