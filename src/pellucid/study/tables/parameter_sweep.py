"""``sweep_parameter``: training and test score of a model along one of its parameters."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import IntArray
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.evaluation import BootstrapDraw, bias_variance, complexity_curve
from pellucid.evaluation.validation.curves import ComplexityCurve
from pellucid.study import Plan
from pellucid.study.errors import OptionError, UnfitOptionError, nearest
from pellucid.study.tables.contestants import Table, contestant, open_table, own_space
from pellucid.study.wording import source_name

MODELS = 50  # training sets over which bias and variance are measured
KEPT = 0.3  # share of the rows at which they are measured


@readable
@dataclass(frozen=True, eq=False)
class SweptParameter:
    """The answer of ``sweep_parameter``; ``print`` gives it in one sentence.

    Attributes
    ----------
    curve : ComplexityCurve
        Training and test score of every value; which is best, which the simplest as good.
    bias_variance : list of dict
        Bias, variance and total error of every value, where asked for.
    model, parameter : str
        What was swept.
    values : list
        The values, simplest first.
    table : Table
        The rows that were judged, the columns left out, and how the rows hang together.
    pipeline : Pipeline
        The model, not fitted, with the parameter as it comes.
    folds : int
        The number of folds.
    source : str
        Where the table came from.

    Examples
    --------
    >>> from dataclasses import fields
    >>> [field.name for field in fields(SweptParameter)][:2]
    ['curve', 'bias_variance']
    """

    curve: ComplexityCurve
    bias_variance: list[dict[str, Any]]
    model: str
    parameter: str
    values: list[Any]
    table: Table
    pipeline: Pipeline
    folds: int
    source: str

    @property
    def best(self) -> Any:
        """The value with the best mean test score."""
        return self.values[self.curve.best]

    @property
    def simplest(self) -> Any:
        """The simplest value within one standard error of the best."""
        return self.values[self.curve.one_standard_error]

    def with_value(self, value: object) -> Pipeline:
        """The model, not fitted, with this ``value`` of the parameter."""
        return clone(self.pipeline).set_params(**{f"model__{self.parameter}": value})

    def to_dict(self) -> dict[str, Any]:
        """The JSON of ``pellucid sweep``; the command line is left empty."""
        table = self.table
        return plain(
            {
                "schema": "pellucid-sweep/1",
                **self.curve.to_dict(),
                "parameter": self.parameter,
                "model": self.model,
                "folds": self.folds,
                "seed": table.study.random_state,
                "left_out": table.left_out,
                "bias_variance": self.bias_variance,
                "rows": len(table.y),
                "split": table.split_words(),
                "source": self.source,
                "target": table.target,
                "command": "",
            }
        )

    def __str__(self) -> str:
        best, simple = value_words(self.best), value_words(self.simplest)
        rule = "the same by" if self.best == self.simplest else f"{simple} by"
        said = f"{self.model}: {self.parameter} = {best} is best"
        return f"{said}, {rule} the rule of one standard error."


def sweep_parameter(
    data: object,
    target: str,
    model: str,
    parameter: str | None = None,
    values: str | Sequence[Any] | None = None,
    *,
    task: str = "auto",
    metric: str = "auto",
    time: str | None = None,
    groups: str | None = None,
    drop: Sequence[str] = (),
    cv: int = 10,
    bias_variance: bool = False,
    random_state: int = 0,
) -> SweptParameter:
    """Score a model for every value of one of its parameters.

    Parameters
    ----------
    data : anything ``pellucid.data.load`` reads
        A path, a frame, a dict of columns ...
    target : str
        The column to predict.
    model : str
        The name of a study's candidate ("ridge"), or a public class ("KNeighborsRegressor").
    parameter : str, optional
        The parameter; without it the one that a study would tune.
    values : sequence, optional
        Its values, the simplest first; without them those that a study would try.
    task, metric : str, default="auto"
        The kind of task and the measure; "auto" looks at the target.
    time, groups : str, optional
        The column that orders the rows in time, or that says which belong together.
    drop : sequence of str
        Columns to leave out.
    cv : int, default=10
        The number of folds.
    bias_variance : bool, default=False
        Split the error of every value into its parts, over bootstrap training sets.
    random_state : int, default=0
        The seed.

    Returns
    -------
    SweptParameter
        The curve and what was swept; ``to_dict()`` is the command's JSON.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> table = {"x": x, "y": x + 0.1 * rng.normal(size=100)}
    >>> found = pellucid.sweep_parameter(table, "y", "ridge", values=[100.0, 1.0, 0.01], cv=5)
    >>> found.parameter, found.best
    ('alpha', 0.01)
    """
    check.positive(cv=cv)
    plan = Plan(drop=tuple(drop), groups=groups, time=time)
    table = open_table(data, target, plan, task=task, metric=metric, seed=random_state)
    pipeline = contestant(table, model, tuned=False)
    parameter, listed = what_to_sweep(table, model, pipeline, parameter, values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        curve = complexity_curve(
            pipeline,
            table.X,
            table.y,
            parameter=f"model__{parameter}",
            values=listed,
            metric=table.study.metric,
            cv=table.folds(cv),
            random_state=random_state,
        )
        parts = decompose(table, pipeline, parameter, listed, random_state) if bias_variance else []
    name = source_name(data)
    return SweptParameter(curve, parts, model, parameter, listed, table, pipeline, cv, name)


def value_words(value: object) -> str:
    """A value of a parameter, with four figures at most.

    >>> value_words(0.001), value_words(None), value_words((8, 4))
    ('0.001', 'None', '(8, 4)')
    """
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def read_values(values: str | Sequence[Any]) -> list[Any]:
    """A sequence as it is; of a text the values that are JSON, and words where they are not.

    >>> read_values("1, 0.5,sqrt,null,[8,4]")
    [1, 0.5, 'sqrt', None, [8, 4]]
    """
    if not isinstance(values, str):
        return list(values)
    text = values
    try:
        return json.loads(f"[{text}]")
    except json.JSONDecodeError:
        pass
    found, depth, start = [], 0, 0
    for at, letter in enumerate(f"{text},"):
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and depth == 0:
            word = text[start:at].strip()
            start = at + 1
            try:
                found.append(json.loads(word))
            except json.JSONDecodeError:
                found.append(word)
    return found


def what_to_sweep(
    table: Table,
    name: str,
    pipeline: Pipeline,
    parameter: str | None,
    values: str | Sequence[Any] | None,
) -> tuple[str, list[Any]]:
    """The parameter and its values, as asked or as a study would tune them."""
    own = own_space(table, name)
    known = list(pipeline["model"].get_params())
    if parameter is None:
        if len(own) != 1:
            raise OptionError(f"--parameter is needed; {name} has: {', '.join(known)}")
        parameter = next(iter(own))
    if parameter not in known:
        raise OptionError(nearest(f"parameter of {name}", parameter, known))
    listed = own.get(parameter, []) if values is None else read_values(values)
    listed = [tuple(v) if isinstance(v, list) else v for v in listed]
    if len(listed) < 2:
        raise OptionError(f"--values needs at least two values of {parameter}, got {values!r}")
    return parameter, listed


def decompose(
    table: Table, pipeline: Pipeline, parameter: str, listed: list[Any], seed: int
) -> list[dict[str, Any]]:
    """Bias, variance and total at rows kept aside, over bootstrap training sets."""
    if np.ndim(table.y) > 1:
        raise UnfitOptionError("--bias-variance works for one target column")
    aside, rest = set_aside(table, np.random.default_rng(seed))
    draw = BootstrapDraw(table.X[rest], table.y[rest])
    loss = "zero_one" if table.classifies else "squared"
    found = []
    for value in listed:
        model = clone(pipeline).set_params(**{f"model__{parameter}": value})
        p = bias_variance(
            model,
            draw,
            table.X[aside],
            y_test=table.y[aside],
            loss=loss,
            n_models=MODELS,
            random_state=seed,
        )
        row = {"value": value, "bias2": p.bias2, "variance": p.variance, "total": p.total}
        found.append(row | {"loss": loss, "notes": list(p.notes)})
    return found


def set_aside(table: Table, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """The rows at which bias and variance are measured, and the others.

    Drawn at random; whole groups where rows are grouped, the last rows where time orders them.
    """
    n, units = len(table.y), table.arrangement.units
    count = max(1, int(KEPT * n))
    if table.arrangement.kind == "sequential":
        late = units >= units[n - count]
        late = late if not late.all() else units > units[0]
        return np.flatnonzero(late), np.flatnonzero(~late)
    order = rng.permutation(int(units.max()) + 1)
    if table.free:
        return order[:count], order[count:]
    sizes = np.bincount(units)[order]
    taken = order[: max(1, min(len(order) - 1, int(np.searchsorted(np.cumsum(sizes), count))))]
    inside = np.isin(units, taken)
    return np.flatnonzero(inside), np.flatnonzero(~inside)
