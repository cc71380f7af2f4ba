"""What a study raises when it cannot answer."""

import re
from collections.abc import Iterable


class TaskError(ValueError):
    """The question cannot be answered from this table: one class, too few rows, no column left."""


class OptionError(ValueError):
    """An option that cannot be obeyed.

    Parameters
    ----------
    text : str
        The sentence with every option as it is typed, ``"--cv 20 needs at least 20 rows"``. It is
        kept as ``typed``; the message itself names the parameter, ``cv``, as Python spells it.

    Examples
    --------
    >>> error = OptionError("--cv 20 needs at least 20 rows")
    >>> str(error), error.typed
    ('cv 20 needs at least 20 rows', '--cv 20 needs at least 20 rows')
    """

    def __init__(self, text: str) -> None:
        bare = re.sub(r"(?<!\S)--([a-z-]+)", lambda found: found[1].replace("-", "_"), text)
        super().__init__(bare)
        self.typed = text


class UnfitOptionError(OptionError, TaskError):
    """An option that would be fine for another table."""


def nearest(what: str, given: str, known: Iterable[str]) -> str:
    """Answer an unknown name with the nearest known ones.

    >>> nearest("command", "docter", ["data", "doctor"])
    "there is no command 'docter'; the nearest is: doctor"
    >>> nearest("command", "xyz", ["data", "doctor"])
    "there is no command 'xyz'; there are: data, doctor"
    """
    from difflib import get_close_matches  # seldom needed

    names = list(known)
    close = get_close_matches(given, names, n=3, cutoff=0.5)
    answer = "the nearest is" if len(close) == 1 else "the nearest are" if close else "there are"
    return f"there is no {what} {given!r}; {answer}: {', '.join(close or names)}"
