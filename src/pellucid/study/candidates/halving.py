r"""Gradient boosting in a study: a portfolio of settings, raced by successive halving.

    grow     every setting to the next rung, rate x rounds = 5, 15, 45, 135, watched on the judging
             rows of the inner folds; one that gains nothing while that product grows by 3 has
             ended, and a thousandth of the loss is nothing
    halve    the better half goes on, by the mean loss at the best round so far
    answer   the winner with its best round: the median of the rounds at which the parts' losses
             were lowest; most parts have ended by then, the others need not

The loss is the one that boosting minimises (log loss, squared error): it sees more of every row
than a share of right answers does, and probabilities chosen by it can be believed. Trees already
grown are kept from rung to rung, so the race costs little more than its last rung.

Reference: Jamieson & Talwalkar (2016), Non-stochastic best arm identification.
"""

import math
import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from pellucid.core.arrays.typing import Array

RUNGS = (5.0, 15.0, 45.0, 135.0)  # rate x rounds: slow learners get more rounds
PATIENCE = 3.0  # rate x rounds without gain
GAIN = 1e-3  # less than this share of the loss is no gain, nor of
FLOOR = 0.1  # this share of guessing's loss: that of separable classes falls for ever


class Raced(NamedTuple):
    """The winning setting with its number of rounds, and how many settings were tried."""

    params: dict[str, Any]
    loss: float
    tried: int


class RaceLimit(NamedTuple):
    """When the race ends, and how many seconds one fit of the answer may take on its rows."""

    end: float  # by time.monotonic
    fit: float = math.inf


class Racer:
    """One setting, grown on every inner part."""

    def __init__(self, model: BaseEstimator, setting: dict[str, Any], parts: list[Any]) -> None:
        self.setting, self.rate = setting, setting["learning_rate"]
        patience = math.ceil(PATIENCE / self.rate)
        watched = {"early_stopping": True, "n_iter_no_change": patience, "tol": 0.0}
        self.parts = [_known(part) for part in parts]
        self.models = [
            clone(model).set_params(warm_start=True, **watched, **setting) for _ in parts
        ]
        self.ended = [False] * len(parts)
        self.seconds, self.rounds = 0.0, 0  # spent, and grown, on all parts

    def grow(self, rung: float) -> None:
        rounds = math.ceil(rung / self.rate)
        tol = self.least_gain() if rung > RUNGS[0] else 0.0
        for i, (model, part) in enumerate(zip(self.models, self.parts, strict=True)):
            fresh = not hasattr(model, "n_iter_")
            if fresh or not (self.ended[i] or self.over()):
                Z_judge, y_judge = part.Z_judge, part.y_judge
                before, began = 0 if fresh else model.n_iter_, time.monotonic()
                model.set_params(max_iter=rounds, tol=tol)
                model.fit(part.Z_learn, part.y_learn, X_val=Z_judge, y_val=y_judge)
                self.ended[i] = model.n_iter_ < rounds
                self.seconds += time.monotonic() - began
                self.rounds += model.n_iter_ - before

    def over(self) -> bool:
        """Whether most parts have ended, and with them the best round is known."""
        return 2 * sum(self.ended) > len(self.ended)

    def least_gain(self) -> float:
        """What counts as a gain, by the losses so far."""
        curve = self.curve()
        return GAIN * max(float(curve.min()), FLOOR * float(curve[0]))

    def losses(self) -> list[Array]:
        """The loss of every part after 0, 1, ... rounds."""
        return [-np.asarray(model.validation_score_) for model in self.models]

    def curve(self) -> Array:
        """Mean loss after 0, 1, ... rounds; a part that has ended keeps its last loss."""
        found = self.losses()
        length = max(map(len, found))
        return np.mean([np.pad(one, (0, length - len(one)), "edge") for one in found], axis=0)

    def best(self) -> tuple[float, int]:
        """The mean loss at the best round, and that round; no rounds at all is guessing."""
        at = round(float(np.median([np.argmin(one[1:]) + 1 for one in self.losses()])))
        return float(self.curve()[at]), at


def race(
    model: BaseEstimator,
    settings: tuple[dict[str, Any], ...],
    parts: list[Any],
    limit: RaceLimit | None = None,
) -> Raced:
    """The best of these settings on these inner parts; past its limit the race stops early.

    Rounds for which a fit would find no time are left out.
    """
    deadline = None if limit is None else limit.end
    racers = [Racer(model, setting, parts) for setting in settings]
    tried = len(racers)
    for rung in RUNGS:
        grown = 0
        for racer in racers:
            if rung > RUNGS[0] or grown == 0 or not _over(deadline):
                racer.grow(rung)
                grown += 1
        racers = sorted(racers[:grown], key=lambda racer: racer.best()[0])
        if _over(deadline) or all(racer.over() for racer in racers):
            break
        racers = racers[: (len(racers) + 1) // 2]
    best = racers[0]
    loss, rounds = best.best()
    if limit is not None and best.seconds * rounds > limit.fit * best.rounds:
        rounds = max(1, int(limit.fit * best.rounds / best.seconds))
        loss = float(best.curve()[rounds])
    return Raced({**best.setting, "max_iter": rounds}, loss, tried)


def _over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline


def _known(part: Any) -> Any:
    """The part without judging rows of a class that its learning rows do not have."""
    if part.y_learn.dtype.kind == "f":
        return part
    known = np.isin(part.y_judge, np.unique(part.y_learn))
    if known.all():
        return part
    return part._replace(Z_judge=part.Z_judge[known], y_judge=part.y_judge[known])


PLAIN = {"quick": (1, 2), "standard": (3, 5), "thorough": (5, 5)}  # below FEW_ROWS, from there on
DRAWN = {
    "quick": (0, 0),
    "standard": (0, 8),
    "thorough": (16, 32),
}  # settings beyond the plain ones
FEW_ROWS, MANY_ROWS = 1000, 3000  # from the second on each setting costs more and differs less
MANY_CELLS = 150_000  # likewise


def portfolio(n: int, p: int, n_classes: int, effort: str, seed: int) -> tuple[dict[str, Any], ...]:
    """Settings to race, the plainest first; more rows bear larger trees and more settings.

    A round grows a tree for every class beyond two, so many classes get fewer settings.

    >>> [one["max_leaf_nodes"] for one in portfolio(300, 5, 0, "standard", 0)]
    [4, 8, 2]
    >>> len(portfolio(2000, 5, 2, "standard", 0)), len(portfolio(2000, 5, 40, "standard", 0))
    (13, 1)
    """
    leaf = max(2, min(20, n // 40))  # rows
    sizes = (4, 8, 16) if n < FEW_ROWS else (15, 31, 63) if n < 20_000 else (31, 63, 127)
    share = 1.0 if p < 4 else 0.5
    found = [
        _setting(0.1, sizes[0], leaf, 0.0, 1.0),
        _setting(0.05, sizes[1], leaf, 1.0, share),
        _setting(0.1, 2, leaf, 0.0, share),
        _setting(0.05, sizes[2], max(2, leaf // 2), 5.0, share),
        _setting(0.1, sizes[1], 2 * leaf, 10.0, share),
    ][: PLAIN[effort][n >= FEW_ROWS]]
    rng = np.random.default_rng(seed)
    share_drawn = min(1.0, MANY_ROWS / n, MANY_CELLS / (n * p))
    for _ in range(math.ceil(DRAWN[effort][n >= FEW_ROWS] * share_drawn)):
        rate, size, rows, l2 = np.exp(
            rng.uniform(np.log([0.02, 2.0, 0.25, 0.01]), np.log([0.2, 2.0 * sizes[2], 2.5, 30.0]))
        ).tolist()
        columns = float(rng.uniform(0.3, 1.0))
        found.append(_setting(rate, max(2, int(size)), max(1, int(rows * leaf)), l2, columns))
    return tuple(found[: max(1, 2 * len(found) // max(2, n_classes))])


def _setting(rate: float, leaves: int, leaf: int, l2: float, share: float) -> dict[str, Any]:
    return {
        "learning_rate": rate,
        "max_leaf_nodes": leaves,
        "min_samples_leaf": leaf,
        "l2_regularization": l2,
        "max_features": share,
    }
