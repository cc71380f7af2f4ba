r"""What looks like a gain over the yardstick and tells no row from another.

    level       A model may say another share of a class, or another number, to all rows, which
                suits the test rows or the measure better. So its answers are dealt out to the
                rows at random: p is the share of deals that score as well, its own among them,
                and a gain counts where p is below 2.5 %. Where the columns say nothing of a row
                every deal is as likely as the model's own, so p holds for any measure and for two
                rows of a class, where an interval from leaving rows out does not.
    one value   Where a single class, or a single number, has nearly all test rows, whoever says
                it more surely gains on every row alike, and leaving rows out shows no spread. A
                class is judged by two rows of it or more.

Rows in time are not dealt out where numbers or probabilities are judged: that the level of the
later rows is another one is knowledge. Right and wrong answers (``PAIRED``) need neither: guessing
names the commonest class, and no other answer to all rows is right more often but by chance.

References: Phipson & Smyth (2010), for the share that counts its own.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.figures import figures
from pellucid.study.judging.jackknife import MANY_ROWS
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.records import Scarce, Task

if TYPE_CHECKING:
    from pellucid.study.judging.gain import Judged, Told
    from pellucid.study.judging.measure import Scorer

PAIRED = ("accuracy", "subset_accuracy", "error")  # right or wrong, row by row
DEALS, FEW_DEALS = 199, 49  # of very many rows
LEAST_OF_A_CLASS = 2
ROUNDING = 1e-9  # sums of the same losses in another order are equal


def dealt_share(scorer: "Scorer", rows: "Judged", told: "Told") -> float | None:
    """The share of deals of these answers to the rows that score as well; None: not asked.

    >>> from pellucid.study import detect_task
    >>> from pellucid.study.judging.gain import Judged, Told
    >>> from pellucid.study.judging.measure import make_scorer
    >>> y = np.linspace(0.0, 1.0, 50)
    >>> rows, scorer = Judged(y, np.arange(50)), make_scorer(detect_task(y, metric="mae"), None)
    >>> dealt_share(scorer, rows, Told(y**2)), dealt_share(scorer, rows, Told(np.full(50, 0.5)))
    (0.005, 1.0)
    """
    labels = scorer.task.kind in CLASSES and scorer.metric.needs == "labels"
    if scorer.metric.name in PAIRED or rows.query is not None or (rows.ordered and not labels):
        return None
    rng, n = np.random.default_rng(0), len(rows.blocks)
    every, said = np.arange(n), np.asarray(told.said)
    own = scorer.sign * rows.value(scorer, told, every)
    least = own - ROUNDING * abs(own)
    draws = DEALS if n <= MANY_ROWS else FEW_DEALS
    dealt = (told._replace(said=said[rng.permutation(n)]) for _ in range(draws))
    as_well = sum(not scorer.sign * rows.value(scorer, one, every) < least for one in dealt)
    return (1 + as_well) / (1 + draws)


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
