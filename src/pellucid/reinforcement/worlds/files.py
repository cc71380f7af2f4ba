"""Decision processes written down as JSON.

Three ways, by the key that is there:

    "transitions"  nested lists (S, A, S), or {state: {action: {next state: probability}}};
                   "rewards" as lists of any of the three forms, or nested objects of the same
                   depths (state; state, action; state, action, next state), 0 where left out
    "grid"         rows of text for ``grid_world``, with "step_reward", "slip", "exits"
    "gymnasium"    the id of an environment with a table

and "discount", "terminal", "start", "states", "actions" as in ``MDP``. Names of states in nested
objects are text; without "states" they are taken in the order in which they appear.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.runtime.json_text import read_json
from pellucid.core.runtime.whole_file import read_whole
from pellucid.reinforcement.worlds.grid import grid_world
from pellucid.reinforcement.worlds.mdp import MDP

KINDS = {
    "transitions": {"rewards", "discount", "terminal", "start", "states", "actions"},
    "grid": {"step_reward", "slip", "discount", "exits"},
    "gymnasium": {"discount"},
}
MAY_BE_NULL = ("states", "actions", "start", "exits")
MOST_CELLS = 1 << 20  # of a grid in a file
NOTES = {"name", "description", "comment"}  # accepted anywhere, not looked at


def read_mdp(source: str | Path | dict[str, Any], *, discount: float | None = None) -> MDP:
    """An MDP from a JSON file, or from the dictionary that was in it.

    Parameters
    ----------
    source : path or dict
        The file, or its contents.
    discount : float, optional
        Instead of the one that is written there.

    Examples
    --------
    >>> from pellucid.reinforcement import read_mdp
    >>> walk = {"a": {"go": {"a": 0.2, "b": 0.8}}, "b": {}}
    >>> mdp = read_mdp({"transitions": walk, "rewards": {"b": 1}, "terminal": ["b"]})
    >>> mdp.states, mdp.rewards.tolist()
    (('a', 'b'), [[0.0], [1.0]])
    """
    record = source if isinstance(source, dict) else _load(Path(source))
    kind = next((kind for kind in KINDS if kind in record), None)
    if kind is None:
        raise ValueError(f"a decision process needs one of the keys {', '.join(map(repr, KINDS))}")
    unknown = set(record) - KINDS[kind] - NOTES - {kind}
    if unknown:
        raise ValueError(
            f"{sorted(unknown)[0]!r} is no key of a process with {kind!r}; "
            f"accepted are {', '.join(sorted(KINDS[kind]))}"
        )
    for name in sorted({kind, *KINDS[kind]} & set(record)):
        _check_value(name, record[name])
    rest = {name: record[name] for name in KINDS[kind] if name in record}
    if discount is not None:
        rest["discount"] = discount
    if kind == "grid":
        cells = sum(map(len, record["grid"]))
        if cells > MOST_CELLS:
            raise ValueError(f"the grid has {cells:,} cells, and {MOST_CELLS:,} are the most")
        return grid_world(record["grid"], **rest)
    if kind == "gymnasium":
        name = record["gymnasium"]
        if not isinstance(name, str) or ":" in name:  # "module:id" would import the module
            raise ValueError(f"gymnasium must be the id of an environment, got {name!r}")
        return MDP.from_gymnasium(name, **rest)
    return _from_table(record["transitions"], rest)


def _check_value(name: str, value: Any) -> None:
    """Refuse a value that is not of the form its key needs."""
    good, form = FORMS[name]
    if not good(value) and not (value is None and name in MAY_BE_NULL):
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise ValueError(f"{name!r} must be {form}, got {shown}")


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return real and abs(value) < 1e300


def _is_name(value: Any) -> bool:
    plain = isinstance(value, str | int | float | np.generic) and bool(value == value)
    return plain or (isinstance(value, list | tuple | np.ndarray) and all(map(_is_name, value)))


def _is_names(value: Any) -> bool:
    return isinstance(value, list | tuple | range) and all(map(_is_name, value))


def _is_layout(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(v, str) for v in value)
    )


def _is_exits(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_number, value.values()))


def _is_outcomes(value: Any) -> bool:
    """Lists (numbers are looked at later), or objects nested three deep."""
    if isinstance(value, list | tuple | np.ndarray):
        return True
    return isinstance(value, dict) and all(
        isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values())
        for rows in value.values()
    )


def _is_rewards(value: Any) -> bool:
    """Lists, or objects nested one, two or three deep, the same depth everywhere."""
    if not isinstance(value, dict):
        return isinstance(value, list | tuple | np.ndarray)
    rows = list(value.values())
    if not any(isinstance(row, dict) for row in rows):
        return True
    if not all(isinstance(row, dict) for row in rows):
        return False
    deeper = [isinstance(cell, dict) for row in rows for cell in row.values()]
    return all(deeper) or not any(deeper)


FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "transitions": (_is_outcomes, "lists, or {state: {action: {next state: probability}}}"),
    "rewards": (_is_rewards, "lists, or objects of numbers of the same depth everywhere"),
    "grid": (_is_layout, "a list of rows of text"),
    "gymnasium": (lambda value: isinstance(value, str), "the id of an environment"),
    "discount": (_is_number, "a number"),
    "step_reward": (_is_number, "a number"),
    "slip": (_is_number, "a number"),
    "exits": (_is_exits, "an object of numbers"),
    "terminal": (_is_name, "a state or a list of states"),
    "start": (_is_name, "a state or a list of probabilities"),
    "states": (_is_names, "a list of names"),
    "actions": (_is_names, "a list of names"),
}


def _load(path: Path) -> dict[str, Any]:
    record = read_json(read_whole(path), str(path))
    if not isinstance(record, dict):
        raise ValueError(f"{path} must hold one JSON object, got {type(record).__name__}")
    return record


def _from_table(transitions: ArrayLike, rest: dict[str, Any]) -> MDP:
    if "rewards" not in rest:
        raise ValueError("a decision process with 'transitions' needs 'rewards'")
    rewards = rest.pop("rewards")
    if not isinstance(transitions, dict):
        if isinstance(rewards, dict):
            raise ValueError("rewards must be lists where transitions are lists")
        return MDP(_numbers("transitions", transitions), _numbers("rewards", rewards), **rest)
    states = [str(s) for s in rest.pop("states", None) or _states(transitions)]
    actions = [str(a) for a in rest.pop("actions", None) or _actions(transitions)]
    if not actions:
        raise ValueError("transitions must hold a state with an action")
    where = {name: i for i, name in enumerate(states)}, {name: i for i, name in enumerate(actions)}
    P = _sparse("transitions", transitions, where)
    given = isinstance(rewards, dict)
    R: Any = _rewards(rewards, P, where) if given else _numbers("rewards", rewards)
    return MDP(P, R, states=states, actions=actions, **rest)


def _numbers(what: str, values: object) -> Any:
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{what} must be nested lists of numbers, equally long: {error}") from None


def _states(table: dict[str, Any]) -> list[str]:
    after = [t for rows in table.values() for row in rows.values() for t in row]
    return list(dict.fromkeys([*table, *after]))


def _actions(table: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(a for rows in table.values() for a in rows))


def _sparse(what: str, table: dict[str, Any], where: Sequence[Any]) -> csr_array:
    """{state: {action: {next: number}}} as rows s A + a."""
    states, actions = where
    found: list[tuple[int, int, float]] = []
    for s, rows in table.items():
        for a, row in rows.items():
            for t, value in row.items():
                number = _find(what, states, s) * len(actions) + _find(what, actions, a)
                found.append((number, _find(what, states, t), _number(what, value)))
    shape = (len(states) * len(actions), len(states))
    row, col, data = zip(*found, strict=True) if found else ((), (), ())
    return csr_array((np.array(data, dtype=float), (row, col)), shape=shape)


def _rewards(table: dict[str, Any], P: csr_array, where: Sequence[Any]) -> Any:
    """Objects nested one, two or three deep."""
    states, actions = where
    inner = next((row for row in table.values() if isinstance(row, dict)), None)
    if inner is None:
        R = np.zeros(len(states))
        for s, value in table.items():
            R[_find("rewards", states, s)] = _number("rewards", value)
        return R
    if any(isinstance(value, dict) for row in table.values() for value in row.values()):
        return _sparse("rewards", table, where)
    R = np.zeros((len(states), len(actions)))
    for s, row in table.items():
        for a, value in row.items():
            R[_find("rewards", states, s), _find("rewards", actions, a)] = _number("rewards", value)
    return R


def _find(what: str, known: dict[str, int], name: str) -> int:
    if name not in known:
        raise ValueError(f"{what} name {name!r}, which is not among {', '.join(list(known)[:10])}")
    return known[name]


def _number(what: str, value: Any) -> float:
    if not _is_number(value):
        raise ValueError(f"{what} must hold numbers of less than 1e300, got {value!r:.60}")
    return float(value)
