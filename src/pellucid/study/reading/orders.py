"""The order of labels: given by the table's type, asked for, or that of well-known words.

A scale of words is taken where all labels stand in it; letter case, underscores and hyphens do not
matter. ``task="multiclass"`` takes labels without their order, ``task="ordinal"`` asks for one,
which numbers have too.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

LEAST = 3  # labels; two have no order that matters
SCALES = (
    "none / very low / low / medium / high / very high / critical",
    "none / very low / low / middle / high / very high",
    "none / very low / low / moderate / high / very high / extreme",
    "none / very low / low / average / high / very high",
    "below average / average / above average",
    "tiny / small / medium / large / huge",
    "xxs / xs / s / m / l / xl / xxl / xxxl",
    "none / minimal / mild / moderate / severe / critical",
    "never / rarely / sometimes / often / usually / always",
    "never / seldom / sometimes / often / always",
    "strongly disagree / disagree / neutral / agree / strongly agree",
    "strongly disagree / disagree / undecided / agree / strongly agree",
    "very dissatisfied / dissatisfied / neutral / satisfied / very satisfied",
    "terrible / very bad / bad / average / good / very good / excellent",
    "very poor / poor / fair / good / very good / excellent",
    "fair / good / very good / premium / ideal",
    "poor / average / good / excellent",
    "beginner / intermediate / advanced / expert",
    "bronze / silver / gold / platinum",
    "first / second / third / fourth / fifth",
    "primary / secondary / tertiary",
    "young / middle aged / old",
    "cold / cool / mild / warm / hot",
    "slow / medium / fast",
    "weak / moderate / strong",
    "short / medium / long",
    "short / medium / tall",
    "light / medium / heavy",
    "not at all / a little / somewhat / very / extremely",
)


def known_order(labels: Sequence[Any]) -> tuple[Any, ...]:
    """The labels from least to greatest by a scale of words; () where none holds them all.

    >>> known_order(["High", "low", "medium"]), known_order(["red", "low", "high"])
    (('low', 'medium', 'High'), ())
    """
    if len(labels) < LEAST or not all(isinstance(label, str) for label in labels):
        return ()
    plain = {" ".join(x.lower().replace("_", " ").replace("-", " ").split()): x for x in labels}
    if len(plain) < len(labels):
        return ()
    for scale in SCALES:
        words = scale.split(" / ")
        if plain.keys() <= set(words):
            return tuple(plain[word] for word in words if word in plain)
    return ()


def typed_order(y: Any, labels: Sequence[Any]) -> tuple[Any, ...]:
    """The order that the type of a column gives its labels; () where it gives none.

    >>> typed_order(pl.Series(["b", "c", "a"], dtype=pl.Enum(["c", "b", "a"])), ["a", "b", "c"])
    ('c', 'b', 'a')
    """
    if not isinstance(y, pl.Series) or not isinstance(y.dtype, pl.Enum) or len(labels) < LEAST:
        return ()
    given = y.dtype.categories.to_list()
    return tuple(label for label in given if label in labels)


def asked_order(y: Any, labels: Sequence[Any]) -> tuple[Any, ...]:
    """The order where one is asked for: that of the type, of the words, or of numbers."""
    if all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels):
        return tuple(sorted(labels))
    return typed_order(y, labels) or known_order(labels)
