"""What a loader noticed and repaired: said as a warning, never in silence."""

from collections.abc import Iterable

from pellucid.core.runtime.warn import warn


class DataWarning(UserWarning):
    """Something about the data that the reader should know, such as a repeated column name.

    >>> issubclass(DataWarning, UserWarning)
    True
    """


def finding(message: str) -> None:
    """Warn with one sentence about the data."""
    warn(message, DataWarning)


def is_pattern(name: str) -> bool:
    """Whether Polars takes a name for several columns: ``*``, and what stands between ^ and $."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def unique_names(names: Iterable[str], where: str) -> list[str]:
    """Column names without repetition: the second ``a`` becomes ``a_2``; an empty one gets a name.

    >>> unique_names(["a", "b"], "table")
    ['a', 'b']
    """
    names = [str(name).strip() for name in names]
    taken, result, changed = set(names), list[str](), list[str]()
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        plain = "" if is_pattern(name) else name
        new = plain or f"column_{position}"
        count = 2
        while new in seen or (new != name and new in taken):
            new = f"{plain or f'column_{position}'}_{count}"
            count += 1
        if new != name:
            changed.append(f"column {position} {name!r} is now {new!r}")
        seen.add(new)
        result.append(new)
    if changed:
        finding(f"{where} has repeated or empty column names: {', '.join(changed)}")
    return result
