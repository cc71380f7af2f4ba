"""Grid worlds: the course's example of a Markov decision process."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pellucid.core.arrays.check import _number
from pellucid.core.arrays.typing import IntArray
from pellucid.reinforcement.worlds.mdp import MDP

ACTIONS = ("up", "right", "down", "left")
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))  # rows count downwards


def grid_world(
    layout: str | Sequence[str],
    *,
    step_reward: float = -0.04,
    slip: float = 0.2,
    discount: float = 1.0,
    exits: Mapping[str, float] | None = None,
) -> MDP:
    """A grid in which a move may slip to either side and walls keep you in place.

    Parameters
    ----------
    layout : rows of text, or one text with line breaks
        ``#`` is a wall, ``S`` the start, ``+`` and ``-`` exits; any other character is floor.
    step_reward : float
        R(s) of every cell that is no exit.
    slip : float in [0, 1]
        Chance to go sideways instead, half to each side.
    discount : float in [0, 1]
        Weight of a reward one step later.
    exits : dict, default={"+": 1, "-": -1}
        Characters where the walk ends, and R(s) there.

    Returns
    -------
    MDP
        States are (row, column), actions up, right, down, left.

    Examples
    --------
    >>> from pellucid.reinforcement import ValueIteration, grid_world
    >>> mdp = grid_world(["...+", ".#.-", "S..."])
    >>> ValueIteration().fit(mdp).values_.round(3)
    array([ 0.812,  0.868,  0.918,  1.   ,  0.762,  0.66 , -1.   ,  0.705,
            0.655,  0.611,  0.388])
    """
    cells = _cells(layout)
    _check_numbers(step_reward, slip)
    worth = {"+": 1.0, "-": -1.0} if exits is None else dict(exits)
    for sign in worth:
        if len(sign) != 1 or sign in "#S":
            raise ValueError(f"an exit must be one character other than '#' and 'S', got {sign!r}")
    row, col = np.nonzero(cells != "#")
    if not len(row):
        raise ValueError("the layout has no cell that is not a wall")
    signs = cells[row, col]
    reward = np.full(len(row), float(step_reward))
    for sign, value in worth.items():
        reward[signs == sign] = value
    start = np.flatnonzero(signs == "S")
    if len(start) > 1:
        raise ValueError(f"the layout must have at most one start S, got {len(start)}")
    states = tuple(zip(row.tolist(), col.tolist(), strict=True))
    P, first = (
        _slippery(_neighbours(cells, row, col), slip),
        states[start[0]] if len(start) else None,
    )
    names: dict[str, Any] = {"states": states, "actions": ACTIONS, "start": first}
    return MDP(P, reward, discount=discount, terminal=np.isin(signs, list(worth)), **names)


def _check_numbers(step_reward: object, slip: Any) -> None:
    _number("step_reward", step_reward)
    _number("slip", slip)
    if not 0 <= slip <= 1:
        raise ValueError(f"slip must be between 0 and 1, got {slip!r}")


def _cells(layout: str | Sequence[str]) -> Any:
    """The characters, (rows, columns)."""
    lines = layout.strip("\n").split("\n") if isinstance(layout, str) else list(layout)
    widths = {len(line) for line in lines}
    if len(widths) != 1 or widths == {0}:
        raise ValueError(f"the rows of a layout must be equally long, got lengths {sorted(widths)}")
    return np.array([list(line) for line in lines])


def _neighbours(cells: Any, row: IntArray, col: IntArray) -> IntArray:
    """Where each of the four moves leads, (S, 4): walls and borders keep you in place."""
    number = np.full((cells.shape[0] + 2, cells.shape[1] + 2), -1)
    number[row + 1, col + 1] = np.arange(len(row))
    there = np.stack([number[row + 1 + dr, col + 1 + dc] for dr, dc in MOVES], axis=1)
    return np.where(there < 0, np.arange(len(row))[:, None], there)


def _slippery(there: IntArray, slip: float) -> csr_array:
    """Row 4 s + a: the move asked for, or one of those beside it."""
    S = len(there)
    target = np.stack([there, np.roll(there, -1, axis=1), np.roll(there, 1, axis=1)], axis=2)
    chance = np.tile([1.0 - slip, slip / 2, slip / 2], 4 * S)
    indptr = np.arange(0, 12 * S + 1, 3)
    P = csr_array((chance, target.ravel(), indptr), shape=(4 * S, S))
    P.sum_duplicates()
    P.eliminate_zeros()
    return P
