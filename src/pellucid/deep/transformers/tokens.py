"""Tokens and their numbers: 0 is padding, 1 begins, 2 ends, 3 stands for tokens never seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import ArrayLike, IntArray

PAD, BEGIN, END, UNKNOWN = range(4)
SPECIAL = 4
Token = str | int


def are_tokens(X: ArrayLike) -> bool:
    """Whether X is a list of texts or of lists of words and whole numbers, not a table.

    >>> are_tokens([["a", "b"], ["c"]]), are_tokens(["good film"]), are_tokens([[1, 2], [3]])
    (True, True, True)
    >>> are_tokens([[1.0, 2.0]]), are_tokens(np.ones((2, 2)))
    (False, False)
    """
    if isinstance(X, np.ndarray) and not (X.dtype.kind in "OU" and X.ndim == 1):
        return False
    if not isinstance(X, list | tuple | np.ndarray) or not len(X):
        return False
    return all(
        isinstance(x, str)
        or (isinstance(x, list | tuple) and all(_is_token(t) for t in x))
        or (isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "iuU" and len(X) > 0)
        for x in X
    )


def _is_token(value: object) -> bool:
    return isinstance(value, str | int | np.integer) and not isinstance(value, bool)


def read_tokens(X: Any, name: str = "X") -> list[list[Token]]:
    """Lists of words or whole numbers; a text is split at its spaces."""
    if not are_tokens(X):
        raise ValueError(f"{name} must be a list of token lists (words or whole numbers) or texts")
    split = [x.split() if isinstance(x, str) else x for x in X]
    return [[str(t) if isinstance(t, str) else int(t) for t in x] for x in split]


def make_vocabulary(sequences: Sequence[Sequence[Token]]) -> list[Token]:
    """The distinct tokens: numbers, then words, each in order.

    >>> make_vocabulary([["b", 2], ["a", 1]])
    [1, 2, 'a', 'b']
    """
    return sorted({t for s in sequences for t in s}, key=lambda t: (type(t).__name__, t))


def encode(sequences: Sequence[Sequence[Token]], vocabulary: list[Token]) -> list[list[int]]:
    """The numbers of the tokens."""
    number = {token: i + SPECIAL for i, token in enumerate(vocabulary)}
    return [[number.get(t, UNKNOWN) for t in s] for s in sequences]


def pad_tokens(numbers: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """(n, longest) with PAD after the end, and the lengths.

    >>> pad_tokens([[5, 6], [4]])
    (array([[5, 6],
           [4, 0]]), array([2, 1]))
    """
    lengths = np.array([len(s) for s in numbers], dtype=np.intp)
    out = np.full((len(numbers), max(1, lengths.max())), PAD, dtype=np.intp)
    for i, s in enumerate(numbers):
        out[i, : len(s)] = s
    return out, lengths
