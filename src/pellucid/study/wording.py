"""Lists and the names of tables as people write them."""

import os
from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 6) -> str:
    """``a, b and c``; a long list says how many more.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    >>> listed(["average of a and b", "c"])
    'average of a and b, and c'
    """
    names = [str(n) for n in names]
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    last = ", and " if len(names) > 1 and any(" and " in name for name in names) else " and "
    return last.join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def source_name(data: object) -> str:
    """The path of a table, or where it is if it has none.

    >>> source_name("sales.csv"), source_name({"x": [1, 2]})
    ('sales.csv', 'a table in memory')
    """
    return os.fspath(data) if isinstance(data, str | os.PathLike) else "a table in memory"
