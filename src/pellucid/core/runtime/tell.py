"""What ``verbose`` prints, in one place."""

import sys


def tell(line: str) -> None:
    """Print a line for a user who asked for it.

    >>> tell("Iteration 1, loss = 0.5")
    Iteration 1, loss = 0.5
    """
    sys.stdout.write(f"{line}\n")
