r"""Linear approximation of values: U(s) = theta . phi(s), Q(s, a) = theta_a . phi(s).

Semi-gradient: the target is held still, the loss is delta^2 / 2,

    theta <- theta + a delta phi(s),   delta = r + g U(s') - U(s)

Off the policy that is learned about (Q-learning) the weights may grow without bound; agents notice,
stop and say so. ``TileCoding`` makes features of a few numbers: several grids, each shifted by a
part of a tile, and one active tile in each.

References: Baird (1995); Sutton & Barto (2018), ch. 9-11.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable

RUNAWAY = 1e6  # values this many times the largest possible utility are on their way to infinity


@readable
class LinearApproximator(NamedTuple):
    """Values as weighted sums of features.

    Parameters
    ----------
    features : array of shape (S, F), or function of an observation
        A row per state, or a function such as ``TileCoding`` that returns F numbers.
    initial : array of shape (F,) or (A, F), optional
        First weights; zero if not given.

    Examples
    --------
    >>> from pellucid.reinforcement import LinearApproximator
    >>> LinearApproximator([[1.0, 0.0], [0.0, 2.0]]).phi(1)
    array([0., 2.])
    """

    features: Any
    initial: Any = None

    def check(self, n_states: int | None) -> None:
        """Refuse features that do not fit the states."""
        if callable(self.features):
            return
        table = np.asarray(self.features, dtype=np.float64)
        if n_states is None:
            raise ValueError(
                "observations are vectors here: features must be a function of an observation, "
                "such as TileCoding"
            )
        if table.ndim != 2 or len(table) != n_states or not np.isfinite(table).all():
            raise ValueError(
                f"features must be finite, of shape ({n_states}, F), got {table.shape}"
            )

    def phi(self, observation: Any) -> Array:
        """The features of an observation."""
        if callable(self.features):
            found = np.asarray(self.features(observation), dtype=np.float64)
            if found.ndim != 1 or not np.isfinite(found).all():
                raise ValueError(f"features must return finite numbers (F,), got {found.shape}")
            return found
        return np.asarray(self.features, dtype=np.float64)[observation]

    def start(self, n_features: int, n_actions: int | None) -> Array:
        """First weights (F,), or (A, F) for action values."""
        shape = (n_features,) if n_actions is None else (n_actions, n_features)
        if self.initial is None:
            return np.zeros(shape)
        given = np.asarray(self.initial, dtype=np.float64)
        if given.shape not in (shape, shape[-1:]) or not np.isfinite(given).all():
            raise ValueError(f"initial must be finite, of shape {shape}, got shape {given.shape}")
        return np.array(np.broadcast_to(given, shape))


def check_approximator(approximator: LinearApproximator | None) -> None:
    """Refuse what is no approximator."""
    if approximator is not None and not isinstance(approximator, LinearApproximator):
        raise TypeError(f"approximator must be a LinearApproximator or None, got {approximator!r}")


NO_TABLE = "observations are vectors here: give approximator=LinearApproximator(...)"


def check_initial_value(value: Any, approximator: object) -> None:
    """Refuse a first value that is no number, or that features would have to make."""
    if not np.isfinite(value):
        raise ValueError(f"initial_value must be finite, got {value!r}")
    if value and approximator is not None:
        raise ValueError(
            "initial_value is for tables; the first weights are LinearApproximator(.., initial=..)"
        )


class Scale(NamedTuple):
    """How large values can be: the largest reward and the first value met, and the horizon."""

    largest: float
    horizon: float

    def seeing(self, *numbers: float) -> "Scale":
        return self._replace(largest=max(self.largest, *(abs(x) for x in numbers)))

    def exceeded(self, value: float) -> bool:
        return not abs(value) <= RUNAWAY * self.largest * self.horizon  # NaN too


def horizon_of(discount: float, max_steps: int) -> float:
    """sum of discount^t for t < max_steps.

    >>> horizon_of(0.5, 1000), horizon_of(1.0, 10)
    (2.0, 10.0)
    """
    if discount == 1:
        return float(max_steps)
    return float((1 - discount**max_steps) / (1 - discount))


def divergence_sentence(value: float) -> str:
    """Why learning stopped."""
    return (
        f"the weights grow without bound (a value reached {value:.3g}); the weights before this "
        "episode are kept: use a smaller step_size, other features, or SARSA"
    )


@readable
class TileCoding(NamedTuple):
    """Features of a few numbers: ``n_tilings`` shifted grids of ``n_tiles`` per dimension.

    Parameters
    ----------
    low, high : sequences of finite numbers
        The range of each number; values beyond it belong to the outermost tile.
    n_tiles : int, default=8
        Tiles per dimension of one grid.
    n_tilings : int, default=8
        Each has one active tile, with the value 1 / sqrt(n_tilings): the features have length 1,
        so that a step size moves a value by the same share of the error as in a table.

    Examples
    --------
    >>> from pellucid.reinforcement import TileCoding
    >>> TileCoding([0.0], [1.0], n_tiles=2, n_tilings=4)([0.6]).reshape(4, 3)
    array([[0. , 0.5, 0. ],
           [0. , 0.5, 0. ],
           [0. , 0.5, 0. ],
           [0. , 0.5, 0. ]])
    """

    low: Sequence[float]
    high: Sequence[float]
    n_tiles: int = 8
    n_tilings: int = 8

    def __call__(self, observation: ArrayLike) -> Array:
        check.whole(n_tiles=self.n_tiles, n_tilings=self.n_tilings)
        low, high = np.asarray(self.low, float), np.asarray(self.high, float)
        x = np.asarray(observation, dtype=np.float64).ravel()
        if not x.shape == low.shape == high.shape or not np.isfinite(high - low).all():
            raise ValueError(
                f"TileCoding has ranges for {low.size} numbers, the observation has {x.size}; "
                "low and high must be finite"
            )
        place = np.clip((x - low) / (high - low), 0.0, 1.0) * self.n_tiles
        side = self.n_tiles + 1
        odd = 2 * np.arange(x.size) + 1  # asymmetric shifts leave no diagonal artefacts
        shift = (np.arange(self.n_tilings)[:, None] * odd % self.n_tilings) / self.n_tilings
        tile = np.minimum((place + shift).astype(np.intp), side - 1)  # (tilings, dimensions)
        code = tile @ side ** np.arange(x.size)
        found = np.zeros(self.n_tilings * side**x.size)
        found[np.arange(self.n_tilings) * side**x.size + code] = 1.0 / np.sqrt(self.n_tilings)
        return found
