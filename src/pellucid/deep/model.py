"""What all deep models share: the module, its weights as arrays, prediction in parts, the card.

A leaf reads its data into arrays whose first axis is the row (``_read``), builds its network from
its parameters and what the data showed (``_build``), and says what it is (``_describe``).
"""

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Card
from pellucid.deep.engine import (
    count_weights,
    find_device,
    load_weights,
    one_session,
    require_torch,
    to_arrays,
    weights_of,
)
from pellucid.deep.training import get_training

PREDICTION_ROWS = 2048
NOT_FINITE = (
    "the network's answer is infinite or NaN: the training diverged or the input is far from the "
    "training rows; fit again with a smaller learning_rate or standardised inputs"
)
FITTED_NAMES = (
    "n_features_in_",
    "feature_names_in_",
    "classes_",
    "target_mean_",
    "target_scale_",
    "_flat",
)
Inputs = tuple[np.ndarray, ...]


def finite_answer(out: Array) -> Array:
    """What the network answers, unless it is not a number."""
    if not np.isfinite(out).all():
        raise ValueError(NOT_FINITE)
    return out


class DeepModel(Estimator):
    """A network that is trained by gradients; ``module_`` is the torch module."""

    training: Any
    random_state: Any
    _clip: float | None = None  # largest norm of a gradient
    _shape_names: tuple[str, ...] = ()  # fitted attributes that ``_build`` reads
    _loss_words = ""
    weights_: dict[str, np.ndarray]

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that have no meaning."""

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Inputs:
        """The arrays that the module takes, one row each; ``reset`` while fitting."""

    @abstractmethod
    def _build(self) -> Any:
        """The module, from the parameters and what the data showed."""

    @abstractmethod
    def _describe(self) -> str:
        """The representation, for the card."""

    @property
    def module_(self) -> Any:
        """The torch module; one of your own may take its place."""
        check_is_fitted(self)
        return self._built

    @module_.setter
    def module_(self, module: Any) -> None:
        own = {name: a.shape for name, a in self.weights_.items()}
        self._built = module
        self.weights_ = weights_of(module)
        self.__dict__.pop("_foreign", None)
        if own != {name: a.shape for name, a in self.weights_.items()}:
            self._foreign = module  # another architecture: a model file cannot hold its code

    @cached_property
    def _built(self) -> Any:
        device = find_device(get_training(self.training).device)
        with one_session(device, 0, 0):
            return self._ready(load_weights(self._build(), self.weights_), device)

    @staticmethod
    def _ready(module: Any, device: Any) -> Any:
        """Predict on the CPU in double precision, so that no row depends on its batch."""
        module = module.to(device)
        return (module.double() if device.type == "cpu" else module).eval()

    def _keep(self, last: Any, module: Any, device: str) -> None:
        """Make this epoch the fitted model."""
        self.best_iter_, self.objective_ = last.number, last.objective
        self.weights_ = to_arrays(last.weights)
        self._built = self._ready(load_weights(module, self.weights_), device)

    def _forget(self) -> None:
        """A new fit begins: drop the module of the last one."""
        self.__dict__.pop("_built", None)
        self.__dict__.pop("_foreign", None)

    def _steps(self, inputs: Inputs) -> int:
        """How often a weight is used per row, for the choice of threads."""
        return 1

    def _attributes(self, state: Any) -> dict[str, Any]:
        """The fitted model as if this epoch were the last."""
        names = (*FITTED_NAMES, *self._shape_names)
        found = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return {
            **found,
            "weights_": to_arrays(state.weights),
            "objective_": state.objective,
            "best_iter_": state.number,
            "n_iter_": max(state.number, 1),
        }

    def _forward(self, inputs: Inputs, method: str = "forward") -> Array:
        """What the module answers, in parts, as an array."""
        torch = require_torch()
        module = self.module_
        first = next(module.parameters())
        work = count_weights(module) * min(len(inputs[0]), PREDICTION_ROWS) * self._steps(inputs)
        parts = []
        with one_session(first.device, None, work), torch.no_grad():
            for start in range(0, len(inputs[0]), PREDICTION_ROWS):
                chunk = [torch.as_tensor(a[start : start + PREDICTION_ROWS]) for a in inputs]
                chunk = [
                    c.to(first.device, first.dtype if c.is_floating_point() else c.dtype)
                    for c in chunk
                ]
                parts.append(getattr(module, method)(*chunk).double().cpu().numpy())
        return finite_answer(np.concatenate(parts))

    def _check_state(self) -> None:
        """A model from a file: its weights must fit the network that its shapes describe."""
        if hasattr(self, "weights_"):
            with one_session(find_device("cpu"), 0, 0):
                load_weights(self._build(), self.weights_)

    def card(self) -> Card:
        """Describe the model: its hypothesis, what it minimises and how."""
        check_is_fitted(self)
        training = get_training(self.training)
        numbers = {
            "weights": int(sum(a.size for a in self.weights_.values())),
            "epochs": self.n_iter_,
            "objective": self.objective_,
        }
        if training.early_stopping is not None:
            numbers["best epoch"] = self.best_iter_
        penalty = f", weight decay {training.weight_decay:g}" if training.weight_decay else ""
        clipped = f", gradients clipped at norm {self._clip:g}" if self._clip else ""
        return Card(
            representation=self._describe(),
            evaluation=self._loss_words + penalty,
            optimisation=f"{training.solver}, rate {training.learning_rate:g}, batches of "
            f"{training.batch_size}, {self.n_iter_} epochs{clipped}",
            numbers=numbers,
            warnings=self._remarks(),
        )

    def _remarks(self) -> tuple[str, ...]:
        return ()
