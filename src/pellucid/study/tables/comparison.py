"""``compare_candidates``: models of a study on the same folds, with a test of every difference."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pellucid.core.arrays import check
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.evaluation import Comparison, bayesian_comparison, compare
from pellucid.study import Plan
from pellucid.study.errors import OptionError
from pellucid.study.tables.contestants import Table, contestants, open_table
from pellucid.study.wording import source_name


@readable
@dataclass(frozen=True, eq=False)
class ComparedCandidates:
    """The answer of ``compare_candidates``; ``print`` gives it in one sentence.

    Attributes
    ----------
    comparison : Comparison
        Scores, intervals and the tests of every pair.
    rope : list of dict
        For the best model against each other one: the probabilities that it is worse, practically
        equal and better; empty where no region of practical equivalence was given.
    table : Table
        The rows that were judged, the columns left out, and how the rows hang together.
    models : dict of str to estimator
        The pipelines that were compared, not fitted: ``models[name].fit(rows, target)``.
    folds, repeats : int
        The number of folds, and how often they were dealt.
    source : str
        Where the table came from.

    Examples
    --------
    >>> from dataclasses import fields
    >>> [field.name for field in fields(ComparedCandidates)][:2]
    ['comparison', 'rope']
    """

    comparison: Comparison
    rope: list[dict[str, Any]]
    table: Table
    models: dict[str, Any]
    folds: int
    repeats: int
    source: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON of ``pellucid compare``; the command line is left empty."""
        table = self.table
        return plain(
            {
                "schema": "pellucid-comparison/1",
                **self.comparison.to_dict(),
                "rope": self.rope,
                "left_out": table.left_out,
                "rows": len(table.y),
                "folds": self.folds,
                "repeats": self.repeats,
                "seed": table.study.random_state,
                "split": table.split_words(),
                "source": self.source,
                "target": table.target,
                "command": "",
            }
        )

    def __str__(self) -> str:
        return self.comparison.sentence


def compare_candidates(
    data: object,
    target: str,
    models: str | Sequence[str] | None = None,
    *,
    task: str = "auto",
    metric: str = "auto",
    time: str | None = None,
    groups: str | None = None,
    drop: Sequence[str] = (),
    cv: int = 10,
    repeats: int = 1,
    test: str = "corrected_t",
    correction: str = "holm",
    rope: float | None = None,
    alpha: float = 0.05,
    random_state: int = 0,
) -> ComparedCandidates:
    """Judge models on the same folds of a table and test every difference.

    Parameters
    ----------
    data : anything ``pellucid.data.load`` reads
        A path, a frame, a dict of columns ...
    target : str
        The column to predict.
    models : sequence of str, optional
        Names of a study's candidates ("ridge", "tree"), tuned inside every fold, or public classes
        ("LinearRegression") as they come; without them what a standard study would try.
    task, metric : str, default="auto"
        The kind of task and the measure; "auto" looks at the target.
    time, groups : str, optional
        The column that orders the rows in time, or that says which belong together.
    drop : sequence of str
        Columns to leave out.
    cv, repeats : int, default=10 and 1
        The number of folds, and how often they are dealt.
    test, correction : str, default="corrected_t" and "holm"
        The test of a pair and the correction for many pairs, as ``pellucid.evaluation.compare``
        has them.
    rope : float, optional
        Differences up to this do not matter: asks how probable it is that one does.
    alpha : float, default=0.05
        The level of the tests.
    random_state : int, default=0
        The seed.

    Returns
    -------
    ComparedCandidates
        Scores, tests and the pipelines; ``to_dict()`` is the command's JSON.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> table = {"x": x, "y": x + 0.1 * rng.normal(size=100)}
    >>> models = ["LinearRegression", "KNeighborsRegressor"]
    >>> print(pellucid.compare_candidates(table, "y", models, cv=5))
    LinearRegression is best (rmse 0.0953), but KNeighborsRegressor cannot be told apart from it.
    """
    check.positive(cv=cv, repeats=repeats)
    names = model_list(models)
    plan = Plan(drop=tuple(drop), groups=groups, time=time)
    table = open_table(data, target, plan, task=task, metric=metric, seed=random_state)
    chosen = contestants(table, names)
    if test == "5x2cv" and not table.free:
        reason = table.arrangement.reason
        raise OptionError(f"--test 5x2cv halves the rows at random, but: {reason}")
    folds = table.folds(cv, repeats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of values that tuning only tries
        found = compare(
            chosen,
            table.X,
            table.y,
            metric=table.study.metric,
            cv=folds,
            test=test,
            correction=correction,
            random_state=random_state,
            alpha=alpha,
        )
    ropes = [] if rope is None else practical(found, rope)
    return ComparedCandidates(found, ropes, table, chosen, cv, repeats, source_name(data))


def model_list(models: str | Sequence[str] | None) -> list[str] | None:
    """The names in ``models``, which may be one comma-separated text; at least two.

    >>> model_list("ridge, tree"), model_list(None)
    (['ridge', 'tree'], None)
    """
    if models is None:
        return None
    parts = models.split(",") if isinstance(models, str) else models
    names = [name.strip() for name in parts if name.strip()]
    if len(set(names)) < 2:
        raise OptionError(f"--models needs at least two names, got {models!r}")
    return names


def practical(found: Comparison, rope: float) -> list[dict[str, Any]]:
    """The best model against each other one: worse, practically equal, better."""
    sign = 1 if found.greater_is_better else -1
    best = max(range(len(found.names)), key=lambda i: sign * found.summaries[i].mean)
    ratio = found.summaries[best].test_ratio
    ratio = 1.0 if found.test == "5x2cv" or ratio is None else ratio
    rows = []
    for i, name in enumerate(found.names):
        if i != best:
            difference = sign * (found.scores[best] - found.scores[i])
            parts = bayesian_comparison(difference, test_ratio=ratio, rope=rope)
            row = {"model": found.names[best], "against": name, "rope": rope}
            rows.append(row | dict(zip(("worse", "equal", "better"), parts, strict=True)))
    return rows
