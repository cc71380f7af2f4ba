"""One interval in one design: a public thing, data with a known truth, and what must hold.

A case holds if the measured coverage is within SLACK of the nominal one (an "at least" case: not
below it by more). Further off it is said if the record itself prints the caveat that names the
design; without a caveat it holds within two Monte-Carlo errors more, and fails beyond them.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from pellucid.core.arrays.typing import Rng

SLACK = 0.02


class Outcome(NamedTuple):
    """One replication: which of its intervals hold the truth, and what the record says."""

    hits: Any  # booleans, one per interval
    said: str = ""


class Case(NamedTuple):
    """An interval in a design."""

    thing: str  # the public name, without "pellucid."
    design: str
    draw: Callable[[Rng], Outcome]
    nominal: float = 0.95
    at_least: bool = False  # a guarantee, which may be kept with room to spare
    caveat: str = ""  # a phrase that the record must print, if the coverage does not hold
    share: float = 1.0  # of the replications: slow cases run fewer

    @property
    def name(self) -> str:
        return f"{self.thing}: {self.design}"


class Part(NamedTuple):
    """What some replications of a case found."""

    shares: tuple[float, ...]  # of intervals that hold the truth, one number per replication
    caveats: int  # replications whose record printed the caveat


class Row(NamedTuple):
    """A measured case."""

    case: Case
    n: int
    measured: float
    error: float
    verdict: str  # "holds", "said" (the caveat is printed) or "fails"


def replicate(case: Case, numbers: Iterable[int]) -> Part:
    """Run the replications of these numbers; each has a random stream of its own."""
    shares, caveats = [], 0
    for i in numbers:
        outcome = case.draw(np.random.default_rng([crc32(case.name.encode()), i]))
        shares.append(float(np.mean(outcome.hits)))
        said = " ".join(outcome.said.split())
        caveats += bool(case.caveat) and case.caveat in said
    return Part(tuple(shares), caveats)


def judge(case: Case, parts: list[Part]) -> Row:
    """The coverage over all replications, its Monte-Carlo error, and the verdict."""
    shares = np.concatenate([part.shares for part in parts])
    n, measured = len(shares), float(np.mean(shares))
    least = np.sqrt(case.nominal * (1 - case.nominal) / n) / 2  # where every interval hits
    error = max(float(np.std(shares) / np.sqrt(n)), float(least))
    off = abs(measured - case.nominal) if measured < case.nominal or not case.at_least else 0.0
    printed = case.caveat and sum(part.caveats for part in parts) >= 0.9 * n
    if off > SLACK and printed:
        verdict = "said"
    else:
        verdict = "holds" if off <= SLACK + 2 * error else "fails"
    return Row(case, n, measured, error, verdict)


def inside(low: Any, high: Any, truth: Any) -> Any:
    """Which intervals hold the truth; one that is undefined does not."""
    return (np.asarray(low) <= truth) & (truth <= np.asarray(high))
