"""One good call of a function, made bad in one number, word or share at a time."""

SHARES = ("confidence", "alpha", "delta")


def bad_values(name, good):
    """Values of the wrong kind or outside the range that the good one lies in."""
    if name in SHARES:
        return [0, 1, -0.5, float("nan"), "many"]
    if isinstance(good, str):
        return ["nonsense"]
    if isinstance(good, bool):
        return []
    if isinstance(good, int):
        return [-1, 1.5, "many"]
    return [-1.0, float("nan"), "many"]


def tried(calls, allowed=frozenset()):
    """(function, parameter, bad value) for every number, word and share of the good calls."""
    return [
        (function, name, value)
        for function, good in calls.items()
        for name, one in good.items()
        if isinstance(one, int | float | str)
        for value in bad_values(name, one)
        if (function, name, value) not in allowed and (function, name) not in allowed
    ]
