"""Supervised deep models: the fit that classifiers, regressors and sequence models share."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted, column_or_1d

from pellucid.base import Classifier, Regressor, check_weights, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.loops.iterate import FitContext
from pellucid.core.runtime.random import generator
from pellucid.deep.batches import Visits, hold_out, plan_visits
from pellucid.deep.engine import count_weights, find_device, one_session, require_torch
from pellucid.deep.model import DeepModel, Inputs
from pellucid.deep.training import explain_divergence, get_training, record_of


class Task(NamedTuple):
    """What a network is trained for: functions of ``deep.loop`` by name, as torch loads late."""

    loss: str  # (outputs, target) -> (loss of a row, targets in it)
    judge: str  # (outputs, target, share) -> score
    hits: str | None = None  # (outputs, target) -> right targets in a row


LABELS = Task("class_loss", "accuracy", "class_hits")
NUMBERS = Task("square_loss", "r2")


def as_it_is(target: ArrayLike, visits: Visits) -> Callable[[Any], Any]:
    """A target that the loss takes without recoding."""
    return lambda codes: codes


def learn(
    model: DeepModel,
    task: Task,
    X: Any,
    inputs: Inputs,
    target: np.ndarray,
    sample_weight: Any,
    held: Any,
    measure: Callable[[Any, Visits], Callable[[Any], Any]] = as_it_is,
) -> None:
    """Train on arrays, epoch by epoch; ``held`` is None or the (inputs, target) to judge by.

    ``measure`` looks at the training target and returns the function that codes any target.
    """
    require_torch()
    from pellucid.deep import loop

    model._forget()
    training = get_training(model.training)
    rng = generator(model.random_state)
    device = find_device(training.device)
    weight = check_weights(sample_weight, target)
    visits, aside = visits_of(model, inputs, target, weight, held, rng)
    code = measure(target, visits)
    target = code(target)
    with one_session(device, int(rng.integers(1 << 62)), 0):
        module = model._build()
    work = count_weights(module) * min(training.batch_size, len(visits.rows))
    with one_session(device, int(rng.integers(1 << 62)), work * model._steps(inputs)):
        module = module.to(device)
        data = loop.place(
            tuple(a[visits.rows] for a in inputs), target[visits.rows], visits.share, device
        )
        validation = None
        if aside is not None:
            rows = aside.rows
            validation = loop.place(
                tuple(a[rows] for a in inputs), target[rows], aside.share, device
            )
        elif held is not None:
            coded = code(held[1])
            validation = loop.place(held[0], coded, np.ones(len(coded)), device)
        trainer = loop.Trainer(
            module,
            data,
            getattr(loop, task.loss),
            getattr(loop, task.judge),
            training,
            hits=None if task.hits is None else getattr(loop, task.hits),
            validation=validation,
            clip=model._clip,
        )
        context = FitContext(
            model,
            X=X,
            y=target,
            sample_weight=sample_weight,
            max_steps=training.max_epochs,
            attributes=model._attributes,
        )
        run = model._iterate(
            trainer.step,
            trainer.start(),
            max_iter=training.max_epochs,
            tol=None,
            record=record_of(training),
            context=context,
            stop=loop.stopping(training.early_stopping),
            explain=explain_divergence(training),
        )
        early = training.early_stopping
        best = early is not None and early.restore_best
        model._keep(run.state.best if best else run.state, module, device)


def visits_of(
    model: DeepModel, inputs: Inputs, target: Any, weight: Array, held: Any, rng: Rng
) -> tuple[Visits, Visits | None]:
    """The rows to train on, and those held out where early stopping asks for some."""
    early = get_training(model.training).early_stopping
    visits = plan_visits([*inputs, target], weight)
    if early is None or held is not None:
        return visits, None
    codes = target if target.ndim == 1 and isinstance(model, Classifier) else None
    return hold_out(visits, early.validation_fraction, codes, rng)


class DeepClassifier(Classifier, DeepModel):
    """Logits of the classes, cross-entropy, softmax."""

    _loss_words = "mean cross-entropy of the classes"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._check_parameters()
        inputs = self._read(X, reset=True)
        codes = self._targets(y, inputs)
        held = None
        if X_val is not None:
            held_inputs = self._read(X_val, reset=False)
            held = (held_inputs, self._held_targets(y_val, held_inputs))
        learn(self, LABELS, X, inputs, codes, sample_weight, held)
        return self

    def _targets(self, y: np.ndarray, inputs: Inputs) -> Any:
        return self._check_target(y, len(inputs[0]))

    def _held_targets(self, y: Any, inputs: Inputs) -> Any:
        y = column_or_1d(y)
        same_length(len(inputs[0]), len(y))
        return self._codes_of(y)

    def _codes_of(self, y: ArrayLike) -> Any:
        """Codes of validation labels; every one must be known."""
        place = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        if (self.classes_[place] != y).any():
            raise ValueError("y_val holds a class that y does not have")
        return place

    @property
    def _outputs(self) -> int:
        return len(self.classes_)

    def predict_proba(self, X: Any) -> Any:
        """The softmax of the logits."""
        check_is_fitted(self)
        return softmax(self._forward(self._read(X, reset=False)), axis=-1)

    def predict(self, X: Any) -> Any:
        """Predict for each row of ``X``."""
        codes = self.predict_proba(X).argmax(axis=-1)
        return self.classes_[codes]


class DeepRegressor(Regressor, DeepModel):
    """Numbers; the network works in units of the target's mean and standard deviation."""

    _loss_words = "mean squared error, in units of the target's variance"

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._check_parameters()
        inputs = self._read(X, reset=True)
        target = self._targets(y, inputs)
        held = None
        if X_val is not None:
            held_inputs = self._read(X_val, reset=False)
            held = (held_inputs, self._held_targets(y_val, held_inputs))
        learn(self, NUMBERS, X, inputs, target, sample_weight, held, self._measure)
        return self

    def _targets(self, y: np.ndarray, inputs: Inputs) -> Any:
        y = self._check_target(y, len(inputs[0]))
        self._flat = y.ndim == 1
        return y.reshape(len(y), -1)

    def _held_targets(self, y: Any, inputs: Inputs) -> Any:
        return self._check_target(y, len(inputs[0])).reshape(len(inputs[0]), -1)

    def _measure(self, target: Any, visits: Visits) -> Callable[[Any], Any]:
        """Over the visits in their order: repeated and weighted rows give the same bits."""
        t = target.reshape(len(target), -1, target.shape[-1])[visits.rows]
        w = np.broadcast_to(visits.share[:, None, None], t.shape) * ~np.isnan(t)
        t = np.where(w > 0, t, 0.0)
        total = w.sum(axis=(0, 1))
        self.target_mean_ = (w * t).sum(axis=(0, 1)) / total
        scale = np.sqrt((w * (t - self.target_mean_) ** 2).sum(axis=(0, 1)) / total)
        self.target_scale_ = np.where(scale > 0, scale, 1.0)
        return lambda numbers: (numbers - self.target_mean_) / self.target_scale_

    @property
    def _outputs(self) -> int:
        return len(self.target_mean_)

    def predict(self, X: Any) -> Any:
        """Predict for each row of ``X``."""
        check_is_fitted(self)
        out = self._forward(self._read(X, reset=False))
        out = out * self.target_scale_ + self.target_mean_
        return out[..., 0] if self._flat else out

    def _check_state(self) -> None:
        if hasattr(self, "weights_"):
            mean, scale = self.target_mean_, self.target_scale_
            if not all(isinstance(a, np.ndarray) and a.ndim == 1 for a in (mean, scale)):
                raise ValueError("target_mean_ and target_scale_ must be vectors")
            if len(mean) != len(scale):
                raise ValueError("target_mean_ and target_scale_ must have the same length")
        super()._check_state()


def same_length(n: int, m: int) -> None:
    """Refuse a target that is longer or shorter than its inputs."""
    if n != m:
        raise ValueError(f"X and y need the same number of rows (n_samples), got {n} and {m}")
