r"""What looks like a gain over the yardstick and tells no row from another.

    level       A model may say another share of a class, or another number, to all rows, which
                suits the test rows or the measure better. So its answers are dealt out to the
                rows at random: p is the share of deals that score as well, its own among them,
                and a gain counts where p is below 2.5 %. Where the columns say nothing of a row
                every deal is as likely as the model's own, so p holds for any measure and for two
                rows of a class, where an interval from leaving rows out does not. Four rows have
                24 deals at most: where there are so few, all are looked at, and the best of them
                counts, since these rows could say no more.
    one value   Where a single class, or a single number, has nearly all test rows, whoever says
                it more surely gains on every row alike, and leaving rows out shows no spread. A
                class is judged by two rows of it or more.

Rows in time are not dealt out where numbers or probabilities are judged: that the level of the
later rows is another one is knowledge. Right and wrong answers (``PAIRED``) need neither: guessing
names the commonest class, and no other answer to all rows is right more often but by chance.

References: Phipson & Smyth (2010), for the share that counts its own.
"""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.arrays.typing import IntArray
from pellucid.core.figures import figures
from pellucid.study.judging.jackknife import MANY_ROWS
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.records import Scarce, Task

if TYPE_CHECKING:
    from pellucid.study.judging.gain import Judged, Told
    from pellucid.study.judging.measure import Scorer

PAIRED = ("accuracy", "subset_accuracy", "error")  # right or wrong, row by row
DEALS, FEW_DEALS = 199, 49  # of very many rows
FEW_ROWS = 20  # of which all deals may be looked at
LEAST_OF_A_CLASS = 2
ROUNDING = 1e-9  # sums of the same losses in another order are equal


def dealt_share(scorer: "Scorer", rows: "Judged", told: "Told") -> float | None:
    """The share of deals of these answers to the rows that score as well; None: not asked.

    It is 0 where all deals are few enough to be looked at and none scores as well.

    >>> from pellucid.study import detect_task
    >>> from pellucid.study.judging.gain import Judged, Told
    >>> from pellucid.study.judging.measure import make_scorer
    >>> y = np.linspace(0.0, 1.0, 50)
    >>> rows, scorer = Judged(y, np.arange(50)), make_scorer(detect_task(y, metric="mae"), None)
    >>> dealt_share(scorer, rows, Told(y**2)), dealt_share(scorer, rows, Told(np.full(50, 0.5)))
    (0.005, 1.0)
    >>> few = Judged(y[:4], np.arange(4))
    >>> dealt_share(scorer, few, Told(y[:4])), dealt_share(scorer, few, Told(y[[1, 0, 2, 3]]))
    (0.0, 0.16666666666666666)
    """
    labels = scorer.task.kind in CLASSES and scorer.metric.needs == "labels"
    if scorer.metric.name in PAIRED or rows.query is not None or (rows.ordered and not labels):
        return None
    rng, n = np.random.default_rng(0), len(rows.blocks)
    every, said, y = np.arange(n), np.asarray(told.said), np.asarray(rows.y)
    own = scorer.sign * rows.value(scorer, told, every)
    least = own - ROUNDING * abs(own)
    draws = DEALS if n <= MANY_ROWS else FEW_DEALS
    _, first, sizes = np.unique(y, axis=0, return_index=True, return_counts=True)
    ways = number_of_ways(sizes)
    if ways <= draws:  # deal the targets out to the answers, which is the same, in every way
        whole = (rows._replace(y=y[first[list(way)]]) for way in all_ways(tuple(sizes.tolist())))
        as_well = sum(not scorer.sign * one.value(scorer, told, every) < least for one in whole)
        return 0.0 if as_well == 1 < ways else as_well / ways
    dealt = (told._replace(said=said[rng.permutation(n)]) for _ in range(draws))
    as_well = sum(not scorer.sign * rows.value(scorer, one, every) < least for one in dealt)
    return (1 + as_well) / (1 + draws)


def number_of_ways(sizes: IntArray) -> float:
    """In how many ways so many things of each kind stand in a row.

    >>> number_of_ways(np.array([2, 2])), number_of_ways(np.array([1, 1, 1, 1]))
    (6, 24)
    """
    if len(sizes) == 1:
        return 1
    if sizes.sum() > FEW_ROWS:
        return math.inf
    ways = math.factorial(int(sizes.sum()))
    for size in sizes.tolist():
        ways //= math.factorial(size)
    return ways


def all_ways(sizes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every order of the kinds, each as often as its size.

    >>> list(all_ways((2, 1)))
    [(0, 0, 1), (0, 1, 0), (1, 0, 0)]
    """
    if not sum(sizes):
        yield ()
    for kind, size in enumerate(sizes):
        if size:
            for rest in all_ways((*sizes[:kind], size - 1, *sizes[kind + 1 :])):
                yield (kind, *rest)


def find_scarce(task: Task, metric: str, judged: Any, every: Any) -> Scarce | None:
    """What too few of the ``judged`` rows have for a gain to be seen, and how many of ``every``.

    >>> task = Task("binary", ("ill",), ("no", "yes"), "yes", "log_loss", False, 0, "")
    >>> y = np.array(["no"] * 298 + ["yes"] * 2)
    >>> find_scarce(task, "log_loss", y[:60], y)
    Scarce(what='ill = yes', test=0, tested=60, table=2, rows=300)
    >>> find_scarce(task, "log_loss", y[240:], y) is None
    True
    """
    if np.ndim(judged) != 1 or metric in PAIRED or task.kind not in (*CLASSES, "regression"):
        return None
    values, sizes = np.unique(judged, return_counts=True)
    common, others = values[sizes.argmax()], np.sort(sizes)[:-1]
    enough = len(others) and (others[-1] >= LEAST_OF_A_CLASS or task.kind not in CLASSES)
    if enough or len(judged) < 2:
        return None
    shown = figures(common) if task.kind == "regression" else common
    what = f"another {task.target[0]} than {shown}"
    if task.kind == "binary":
        what = f"{task.target[0]} = {next(one for one in task.classes if one != common)}"
    beside = int((np.asarray(every) != common).sum())
    return Scarce(what, int(others.sum()), len(judged), beside, len(every))
