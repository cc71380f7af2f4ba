"""Supervised deep models: the fit that classifiers, regressors and sequence models share."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted, column_or_1d

from pellucid.base import Classifier, Regressor, check_weights, with_callbacks
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import FitContext
from pellucid.core.runtime.random import generator
from pellucid.deep.batches import Visits, hold_out, plan_visits
from pellucid.deep.engine import count_weights, find_device, one_session, require_torch
from pellucid.deep.model import DeepModel, Inputs
from pellucid.deep.training import explain_divergence, get_training, record_of


class Learner(DeepModel):
    """A network with a target, trained epoch by epoch."""

    def _learn(
        self, X: Any, inputs: Inputs, target: np.ndarray, sample_weight: Any, held: Any
    ) -> None:
        """Train on arrays; ``held`` is None or the (inputs, target) to judge by."""
        require_torch()
        from pellucid.deep.loop import Trainer, place, stopping

        self._forget()
        training = get_training(self.training)
        rng = generator(self.random_state)
        device = find_device(training.device)
        weight = check_weights(sample_weight, target)
        visits, aside = self._visits(inputs, target, weight, held, rng)
        self._measure(target, visits)
        target = self._coded(target)
        with one_session(device, int(rng.integers(1 << 62)), 0):
            module = self._build()
        work = count_weights(module) * min(training.batch_size, len(visits.rows))
        with one_session(device, int(rng.integers(1 << 62)), work * self._steps(inputs)):
            module = module.to(device)
            data = place(
                tuple(a[visits.rows] for a in inputs), target[visits.rows], visits.share, device
            )
            validation = None
            if aside is not None:
                rows = aside.rows
                validation = place(
                    tuple(a[rows] for a in inputs), target[rows], aside.share, device
                )
            elif held is not None:
                coded = self._coded(held[1])
                validation = place(held[0], coded, np.ones(len(coded)), device)
            trainer = Trainer(
                module,
                data,
                self._loss(),
                self._judge(),
                training,
                validation=validation,
                clip=self._clip,
            )
            context = FitContext(
                self,
                X=X,
                y=target,
                sample_weight=sample_weight,
                max_steps=training.max_epochs,
                attributes=self._attributes,
            )
            run = self._iterate(
                trainer.step,
                trainer.start(),
                max_iter=training.max_epochs,
                tol=None,
                record=record_of(training),
                context=context,
                stop=stopping(training.early_stopping),
                explain=explain_divergence(training),
            )
            early = training.early_stopping
            best = early is not None and early.restore_best
            self._keep(run.state.best if best else run.state, module, device)

    def _visits(
        self, inputs: Inputs, target: Any, weight: Array, held: Any, rng: Any
    ) -> tuple[Visits, Visits | None]:
        early = get_training(self.training).early_stopping
        visits = plan_visits([*inputs, target], weight)
        if early is None or held is not None:
            return visits, None
        codes = target if target.ndim == 1 and isinstance(self, Classifier) else None
        return hold_out(visits, early.validation_fraction, codes, rng)

    def _measure(self, target: Any, visits: Visits) -> None:
        """Learn what the coding of the target needs."""

    def _coded(self, target: Any) -> Any:
        return target

    @abstractmethod
    def _loss(self) -> Any:
        """(outputs, target) -> (loss of a row, targets in it)."""

    @abstractmethod
    def _judge(self) -> Any:
        """(outputs, target, share) -> score."""


class DeepClassifier(Classifier, Learner):
    """Logits of the classes, cross-entropy, softmax."""

    _loss_words = "mean cross-entropy of the classes"

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        self._check_parameters()
        inputs = self._read(X, reset=True)
        codes = self._targets(y, inputs)
        held = None
        if X_val is not None:
            held_inputs = self._read(X_val, reset=False)
            held = (held_inputs, self._held_targets(y_val, held_inputs))
        self._learn(X, inputs, codes, sample_weight, held)
        return self

    def _targets(self, y: Any, inputs: Inputs) -> Any:
        return self._check_target(y, len(inputs[0]))

    def _held_targets(self, y: Any, inputs: Inputs) -> Any:
        y = column_or_1d(y)
        same_length(len(inputs[0]), len(y))
        return self._codes_of(y)

    def _codes_of(self, y: Any) -> Any:
        """Codes of validation labels; every one must be known."""
        place = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        if (self.classes_[place] != y).any():
            raise ValueError("y_val holds a class that y does not have")
        return place

    def _loss(self) -> Any:
        from pellucid.deep.loop import class_loss

        return class_loss

    def _judge(self) -> Any:
        from pellucid.deep.loop import accuracy

        return accuracy

    @property
    def _outputs(self) -> int:
        return len(self.classes_)

    def predict_proba(self, X: Any) -> Any:
        """The softmax of the logits."""
        check_is_fitted(self)
        return softmax(self._forward(self._read(X, reset=False)), axis=-1)

    def predict(self, X: Any) -> Any:
        codes = self.predict_proba(X).argmax(axis=-1)
        return self.classes_[codes]


class DeepRegressor(Regressor, Learner):
    """Numbers; the network works in units of the target's mean and standard deviation."""

    _loss_words = "mean squared error, in units of the target's variance"

    @with_callbacks
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None
    ) -> Self:
        self._check_parameters()
        inputs = self._read(X, reset=True)
        target = self._targets(y, inputs)
        held = None
        if X_val is not None:
            held_inputs = self._read(X_val, reset=False)
            held = (held_inputs, self._held_targets(y_val, held_inputs))
        self._learn(X, inputs, target, sample_weight, held)
        return self

    def _targets(self, y: Any, inputs: Inputs) -> Any:
        y = self._check_target(y, len(inputs[0]))
        self._flat = y.ndim == 1
        return y.reshape(len(y), -1)

    def _held_targets(self, y: Any, inputs: Inputs) -> Any:
        return self._check_target(y, len(inputs[0])).reshape(len(inputs[0]), -1)

    def _measure(self, target: Any, visits: Visits) -> None:
        """Over the visits in their order: repeated and weighted rows give the same bits."""
        t = target.reshape(len(target), -1, target.shape[-1])[visits.rows]
        w = np.broadcast_to(visits.share[:, None, None], t.shape) * ~np.isnan(t)
        t = np.where(w > 0, t, 0.0)
        total = w.sum(axis=(0, 1))
        self.target_mean_ = (w * t).sum(axis=(0, 1)) / total
        scale = np.sqrt((w * (t - self.target_mean_) ** 2).sum(axis=(0, 1)) / total)
        self.target_scale_ = np.where(scale > 0, scale, 1.0)

    def _coded(self, target: Any) -> Any:
        return (target - self.target_mean_) / self.target_scale_

    def _loss(self) -> Any:
        from pellucid.deep.loop import square_loss

        return square_loss

    def _judge(self) -> Any:
        from pellucid.deep.loop import r2

        return r2

    @property
    def _outputs(self) -> int:
        return len(self.target_mean_)

    def predict(self, X: Any) -> Any:
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
