"""Names of variables: everywhere one name or a set of names is accepted."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

Name = Hashable
Names = Name | Iterable[Name]  # one name or several


def names_of(given: object, known: Iterable[Name], what: str = "variable") -> tuple[Name, ...]:
    """One name, or several, as a tuple of known names without repetition.

    >>> names_of("a", ["a", "b"]), names_of(["b", "a", "b"], ["a", "b"])
    (('a',), ('b', 'a'))
    >>> names_of("c", ["a", "b"])
    Traceback (most recent call last):
    ValueError: there is no variable 'c'; there are: 'a', 'b'
    """
    known = known if isinstance(known, Mapping | frozenset | set) else tuple(known)
    if isinstance(given, str) or (isinstance(given, Hashable) and given in known):
        found: tuple[Name, ...] = (given,)
    elif isinstance(given, Iterable):
        found = tuple(dict.fromkeys(given))
    else:
        found = (given,)
    for name in found:
        if not isinstance(name, Hashable) or name not in known:
            raise ValueError(f"there is no {what} {name!r}; there are: {listed(known)}")
    return found


def listed(names: Iterable[Any], most: int = 12) -> str:
    """The names for a sentence, the first few of many.

    >>> listed(range(30), 3)
    '0, 1, 2, ... (30 in all)'
    """
    all_names = list(names)
    text = ", ".join(map(repr, all_names[:most]))
    return f"{text}, ... ({len(all_names)} in all)" if len(all_names) > most else text


def state_index(states: tuple[Any, ...], state: object, variable: Name) -> int:
    """Where ``state`` stands among the states of a variable.

    >>> state_index(("no", "yes"), "yes", "rain")
    1
    >>> state_index(("no", "yes"), "maybe", "rain")
    Traceback (most recent call last):
    ValueError: variable 'rain' has no state 'maybe'; it has: 'no', 'yes'
    """
    try:
        return states.index(state)
    except ValueError:
        raise ValueError(
            f"variable {variable!r} has no state {state!r}; it has: {listed(states)}"
        ) from None
