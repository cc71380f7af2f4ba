"""The rounds of AdaBoost: weights as whole numbers, errors, normalisers, votes."""

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.tree.growing import EXACT, unit_for


class Round(NamedTuple):
    """A member, its error and weight (SAMME), the normaliser, the error of all so far."""

    model: Any
    error: float
    weight: float
    normaliser: float
    train_error: float


class Learner(Protocol):
    """What gives a member for weights: ``weak_learners.Trees`` or ``Others``."""

    def learn(self, t: int, v: Array, unit: float) -> Any:
        """The member of round t for whole weights v, in units of ``unit``."""


class Rounds:
    """The rows, their weights c f (repetitions times boosting) and the members so far.

    The next member is tried before it is needed, so that one no better than chance is never kept.
    """

    def __init__(self, learner: Learner, codes: IntArray, c: Array, K: int, rate: float) -> None:
        self.learner, self.codes, self.c, self.K, self.rate = learner, codes, c, K, rate
        self.whole = bool((c == np.floor(c)).all() and c.sum() <= EXACT)
        self.f = np.ones(len(c))
        self.V = np.zeros((len(c), K))  # votes
        self.rows = np.arange(len(c))
        self.done: list[Round] = []
        self.log_objective = 0.0
        self.ending = ""
        self._try()

    def _weights(self) -> tuple[Array, float]:
        """Whole weights v and their unit: v unit sums to 1."""
        room = EXACT / 2  # rounding up to 1 may add one unit per row
        if not self.whole:
            w = self.c * self.f
            unit = unit_for(float(w.sum()), room)
            v = np.maximum(np.rint(w / unit), 1.0)
        else:
            unit = unit_for(float((self.c * self.f).sum()), room)
            v = np.maximum(np.rint(self.f / unit), 1.0) * self.c
        return v, 1.0 / float(v.sum())

    def _try(self) -> None:
        """Learn from the weights; sets the error of the next member."""
        v, unit = self._weights()
        self.next = self.learner.learn(len(self.done), v, unit)
        self.wrong = self.next.codes != self.codes
        self.error = float(v[self.wrong].sum()) * unit
        if self.K > 1 and self.error >= 1 - 1 / self.K:
            self.ending = "chance"

    def step(self, last: int) -> Round:
        """Take the member that was tried, reweigh, and try the next unless this was the last."""
        error, K = self.error, self.K
        if error <= 0.0:  # perfect: it decides alone
            weight, log_z = 1.0 + sum(done.weight for done in self.done), -math.inf
            self.ending = "perfect"
        else:
            weight = self.rate * (math.log((1 - error) / error) + math.log(K - 1))
            log_z = math.log((1 - error) * math.exp(-weight) + error) + weight / K
            self.f[~self.wrong] *= math.exp(-weight)
            self.f /= self.f.max()
        self.log_objective += log_z
        self.V[self.rows, self.next.codes] += weight
        missed = self.V.argmax(axis=1) != self.codes
        train_error = float(self.c[missed].sum() / self.c.sum())
        self.done.append(
            Round(self.next.model, error, weight, math.exp(min(log_z, 700.0)), train_error)
        )
        if not self.ending and len(self.done) < last:
            self._try()
        return self.done[-1]

    def record(self) -> dict[str, Any]:
        """The row of the history."""
        objective = {"objective": math.exp(min(self.log_objective, 700.0))}
        if not self.done:
            return objective
        last = self.done[-1]
        return objective | {
            "error": last.error,
            "alpha": last.weight / 2,
            "normaliser": last.normaliser,
            "train_error": last.train_error,
        }

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes so far."""
        return {
            "estimators_": [done.model for done in self.done],
            "estimator_weights_": np.array([done.weight for done in self.done]),
            "estimator_errors_": np.array([done.error for done in self.done]),
        }
