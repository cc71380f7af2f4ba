r"""Why the model says what it says, from the learning rows alone.

    importance      how much worse the measure gets on rows held out when a column is shuffled; a
                    column's features are shuffled together, which is the same as shuffling the
                    column itself, since features are made row by row
    dependence      the mean prediction when a column is set to a value in a sample of rows, fold
                    model by fold model
    coefficients    of the linear model on standardised columns, with standard errors
    learning curve  the chosen model on growing parts of the learning rows of each fold

Intervals over folds use the corrected variance (Nadeau and Bengio).
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from pellucid.core.arrays.typing import Array
from pellucid.core.records import Summary
from pellucid.evaluation.splits.folds import FAILURES
from pellucid.evaluation.validation.fold_summary import cv_summary
from pellucid.study.candidates.candidates import public
from pellucid.study.candidates.training import Outcome, Part, Tuning, Workshop, fit_model
from pellucid.study.judging.calibration import aligned
from pellucid.study.judging.final_score import curve_of
from pellucid.study.judging.measure import BOUNDS, fold_interval
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.records import Insight

REPEATS, MANY_COLUMNS, SAMPLE = 3, 100, 5000
STRONGEST, SHOWN_CLASSES, GRID, BACKGROUND = 4, 3, 15, 100
FOLDS = 5  # at most so many for curves
SIZES = (0.1, 0.25, 0.5, 0.75, 1.0)
SHARE = "accuracy"  # a measure with the range of a probability
KEPT = ("name", "estimate")  # of a coefficient without a standard error
TOGETHER = "rows of one group hang together, and counted one by one they would make them too small"
IN_TIME = "The rows follow each other in time; the intervals take them to be independent."
WIDE_SUMMARY = 200  # more coefficients than this, over all classes, are not shown as a table


def explain(
    shop: Workshop,
    outcome: Outcome,
    baseline: Outcome | None,
    tuning: Tuning | None,
    *,
    late: Callable[[], bool] = lambda: False,
) -> tuple[Insight, list[str]]:
    """Everything the learning rows can say about the chosen model, and what time left out.

    The parts come in the order of their worth; once ``late`` the rest is named instead.
    """
    skipped: list[str] = []

    def part(name: str, make: Callable[[], Any]) -> Any:
        if late():
            skipped.append(name)
            return None
        return make()

    model = outcome if outcome.complexity else baseline
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = part("the coefficients", lambda: coefficients(shop, model))
        importance = shapes = None
        if outcome.complexity > 0:
            importance = part("the importance of the columns", lambda: importances(shop, outcome))
            shapes = part(
                "the dependence on the columns",
                lambda: dependence(shop, outcome, importance) if importance else None,
            )
        curve = part("the learning curve", lambda: learning_curve(shop, outcome))
    bend = None if tuning is None else complexity(tuning)
    return Insight(table, importance, shapes, curve, bend), skipped


def importances(shop: Workshop, outcome: Outcome) -> list[dict[str, Any]]:
    """Permutation importance of every column, largest first."""
    part = shop.outer_part(0, outcome.tried.features)
    names = part.features._feature_names()
    many = len(names) > MANY_COLUMNS
    folds = range(min(len(shop.folds), 3)) if many else range(len(shop.folds))
    table = [_shuffled(shop, outcome, i, 1 if many else REPEATS) for i in folds]
    rows = np.array(table)  # (folds, columns)
    used = np.unique(part.features.origins())  # a column without features is not looked at
    if len(rows) == 1:  # a single fold: the parts of its judging rows are not refitted
        rows = np.vstack([rows, rows])
        spread = False
    else:
        spread = True
    found = []
    for j in used:
        one = fold_interval(rows[:, j], shop.ratio(), "", len(rows))
        low, high = (one.low, one.high) if spread else (float("nan"), float("nan"))
        found.append({"name": str(names[j]), "estimate": one.estimate, "low": low, "high": high})
    return sorted(found, key=lambda one: (-one["estimate"], one["name"]))


def _shuffled(shop: Workshop, outcome: Outcome, i: int, repeats: int) -> Array:
    """Growth of the loss of fold i for every column, mean over the repeats."""
    part = shop.outer_part(i, outcome.tried.features)
    model, origin = outcome.models[i], part.features.origins()
    rng = np.random.default_rng([shop.seed, i])
    at = np.arange(len(part.judge))
    if len(at) > SAMPLE:
        at = np.sort(rng.choice(len(at), SAMPLE, replace=False))
    Z, rows = part.Z_judge[at], part.judge[at]
    base = shop.score(model, Z, rows)
    orders = [rng.permutation(len(at)) for _ in range(repeats)]
    out = np.zeros(len(part.features.treatments_))
    work = Z.copy()
    for j in np.unique(origin):
        columns = np.flatnonzero(origin == j)
        for order in orders:
            work[:, columns] = Z[order][:, columns]
            out[j] += shop.scorer.sign * (base - shop.score(model, work, rows)) / repeats
        work[:, columns] = Z[:, columns]
    return out


def dependence(
    shop: Workshop, outcome: Outcome, importance: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Partial dependence of the strongest columns."""
    task = shop.scorer.task
    if task.kind not in (*CLASSES, "regression", "ranking"):
        return []
    learn = np.concatenate([judge for _, judge in shop.folds])
    rng = np.random.default_rng(shop.seed)
    rows = np.sort(rng.choice(learn, min(BACKGROUND, len(learn)), replace=False))
    background = shop.frame[rows]
    found = []
    for one in [one for one in importance if one["estimate"] > 0][:STRONGEST]:
        name = one["name"]
        kind = shop.kinds.get(name, "number")
        values = _grid(shop.frame[np.sort(learn)][name], kind)
        if kind in ("text", "list") or len(values) < 2:
            continue
        curves = _curves(shop, outcome, background, name, values)  # (folds, values, outputs)
        found += _records(shop, outcome, name, kind, values, curves)
    return found


def _grid(column: pl.Series, kind: str) -> list[Any]:
    """Values to set the column to: quantiles, or the commonest levels."""
    seen = column.drop_nulls()
    if kind in ("number", "whole"):
        x = seen.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
        x = x[np.isfinite(x)]
        if len(x) == 0:
            return []
        grid = np.unique(np.quantile(x, np.linspace(0.025, 0.975, GRID)))
        return np.unique(np.round(grid)).tolist() if column.dtype.is_integer() else grid.tolist()
    if kind == "date":
        ordered = seen.unique().sort()
        at = np.unique(np.linspace(0, len(ordered) - 1, GRID).astype(int))
        return ordered.gather(at).to_list()
    counts = seen.rename("cell").value_counts(name="n")
    rows = sorted(counts.rows(), key=lambda row: (-row[1], str(row[0])))
    return [row[0] for row in rows[:10]]


def _curves(
    shop: Workshop, outcome: Outcome, background: pl.DataFrame, name: str, values: list[Any]
) -> Array:
    column = background[name]
    m = background.height
    stacked = pl.concat([background] * len(values))
    filled = pl.Series(name, [v for v in values for _ in range(m)])
    stacked = stacked.with_columns(filled.cast(column.dtype, strict=False).alias(name))
    found = []
    for i in range(min(FOLDS, len(shop.folds))):
        part = shop.outer_part(i, outcome.tried.features)
        said = _answers(shop, outcome, i, part.features.transform(stacked))
        found.append(said.reshape(len(values), m, -1).mean(axis=1))
    return np.array(found)


def _classes(outcome: Outcome) -> Array:
    """The classes that any of its models has met; one fold may lack a rare one."""
    return np.unique(np.concatenate([model.classes_ for model in outcome.models]))


def _answers(shop: Workshop, outcome: Outcome, i: int, Z: Array) -> Array:
    model = outcome.models[i]
    if hasattr(model, "predict_proba"):
        return aligned(model, Z, _classes(outcome))
    if hasattr(model, "classes_"):
        return (model.predict(Z)[:, None] == _classes(outcome)).astype(np.float64)
    return np.asarray(shop.scorer.said(model, Z), dtype=np.float64).reshape(len(Z), -1)


def _records(
    shop: Workshop, outcome: Outcome, name: str, kind: str, values: list[Any], curves: Array
) -> list[dict[str, Any]]:
    task = shop.scorer.task
    outputs: list[tuple[int, str]] = [(0, f"prediction of {task.target[0]}")]
    if task.kind in CLASSES:
        classes = list(_classes(outcome))
        wanted = [task.positive] if task.kind == "binary" else _widest(classes, curves)
        outputs = [(classes.index(label), f"probability of {label}") for label in wanted]
    shown = [v if isinstance(v, int | float | str | bool) else str(v) for v in values]
    found = []
    bounded = SHARE if task.kind in CLASSES else ""
    for place, output in outputs:
        bands = [_band(curves[:, v, place], shop, bounded) for v in range(len(values))]
        mean, low, high = (list(column) for column in zip(*bands, strict=True))
        found.append(
            {
                "name": name,
                "values": shown,
                "mean": mean,
                "low": low,
                "high": high,
                "kind": "number" if kind in ("number", "whole") else kind,
                "output": output,
            }
        )
    return found


def _widest(classes: list[Any], curves: Array) -> list[Any]:
    """The classes whose probability moves most."""
    mean = curves.mean(axis=0)
    order = np.argsort(-(mean.max(axis=0) - mean.min(axis=0)), kind="stable")[:SHOWN_CLASSES]
    return [classes[j] for j in order]


def _band(values: Array, shop: Workshop, bounded: str) -> tuple[float, float, float]:
    """Mean and 95 % interval over folds; ``bounded`` names a measure of the same range."""
    if len(values) < 2:
        return float(values[0]), float("nan"), float("nan")
    one = fold_interval(values, shop.ratio(), bounded, len(values))
    return one.estimate, one.low, one.high


def _around(scores: Array, shop: Workshop) -> tuple[float, float, float]:
    """Mean and one standard error to either side: three folds are too few for an interval."""
    mean = float(scores.mean())
    if len(scores) < 2:
        return mean, float("nan"), float("nan")
    error = cv_summary(scores, test_ratio=shop.ratio()).standard_error
    floor, top = BOUNDS.get(shop.scorer.task.metric, (-np.inf, np.inf))
    return mean, max(mean - error, floor), min(mean + error, top)


def learning_curve(shop: Workshop, outcome: Outcome) -> dict[str, Any] | None:
    """Scores of the chosen model on growing shares of the learning rows."""
    folds = range(min(2 if shop.tunes_once() else 3, len(shop.folds)))
    sizes = [max(5, int(share * min(len(shop.folds[i][0]) for i in folds))) for share in SIZES]
    train, test, kept = [], [], []
    for size in dict.fromkeys(sizes):
        pairs = [_at_size(shop, outcome, i, size) for i in folds]
        if any(pair is None for pair in pairs):
            continue
        inside, outside = zip(*[pair for pair in pairs if pair is not None], strict=True)
        kept.append(size)
        train.append(_around(np.array(inside), shop))
        test.append(_around(np.array(outside), shop))
    if len(kept) < 2:
        return None
    found: dict[str, Any] = {"sizes": kept}
    for name, bands in (("train", train), ("test", test)):
        for suffix, values in zip(("", "_low", "_high"), zip(*bands, strict=True), strict=True):
            found[f"{name}{suffix}"] = list(values)
    return found


def _at_size(shop: Workshop, outcome: Outcome, i: int, size: int) -> tuple[float, float] | None:
    """Train and test score of fold i with ``size`` learning rows; None where it cannot be fitted.

    Rows are a random part, or the latest before the judging rows where time orders them.
    """
    learn, judge = shop.folds[i]
    if size == len(learn) and len(shop.folds) > 1:  # this fit is known
        return float(outcome.train_scores[i]), float(outcome.scores[i])
    if shop.kind == "sequential":
        rows = learn[-size:]
    else:
        rng = np.random.default_rng([shop.seed, i])
        rows = np.sort(rng.permutation(learn)[:size])
    if shop.scorer.task.kind in CLASSES and len(np.unique(shop.y[rows])) < 2:
        return None
    features = shop.make_features(outcome.tried.features)
    try:
        Z = features.fit_transform(shop.frame[rows], shop.y[rows])
        other = features.transform(shop.frame[judge])
        part = Part(features, Z, shop.y[rows], other, shop.y[judge], rows, judge)
        model = fit_model(shop, outcome.tried, outcome.params[i], part)
        pair = shop.score(model, Z, rows), shop.score(model, other, judge)
    except FAILURES:  # too few rows for this model: the curve starts later
        return None
    return pair if np.isfinite(pair).all() else None


def complexity(tuning: Tuning) -> dict[str, Any] | None:
    """The curve of the parameter with most values."""
    values = {name: {str(one[name]) for one in tuning.params} for name in tuning.params[0]}
    return curve_of(tuning, max(values, key=lambda name: len(values[name]))) if values else None


def coefficients(shop: Workshop, outcome: Outcome | None) -> dict[str, Any] | None:
    """Least squares or logistic coefficients on standardised columns, or why there are none."""
    task = shop.scorer.task
    name = {
        "regression": "LinearRegression",
        "binary": "LogisticRegression",
        "multiclass": "LogisticRegression",
    }.get(task.kind)
    if outcome is None or name is None or public(name) is None:
        return None
    learn = np.unique(np.concatenate([np.concatenate(fold) for fold in shop.folds]))
    lags = outcome.tried.features.get("lags", False)
    features = shop.make_features({"reference": True, "lags": lags})
    Z = features.fit_transform(shop.frame[learn], shop.y[learn])
    n, p = Z.shape
    count = p * max(1, len(task.classes or ()) - 1)
    if count > WIDE_SUMMARY or n <= p + 1:
        why = f"{p} features for {n} rows: without a penalty the coefficients are not determined"
        if n > p + 1:
            why = (
                f"{count} coefficients are too many for a table; see the importance of the columns"
            )
        return {"rows": [], "valid": False, "reason": why, "notes": []}
    names = features.get_feature_names_out()
    Z = full_rank(Z, names)
    options = {"penalty": None, "max_iter": 500} if name == "LogisticRegression" else {}
    try:
        model = public(name)(**options).fit(pl.DataFrame(*Z), shop.y[learn])
        summary = model.summary()
    except FAILURES as error:
        return {"rows": [], "valid": False, "reason": str(error), "notes": []}
    found = summary_data(summary) | {"separation": getattr(model, "separation_", "none")}
    if shop.kind == "groups":
        return without_errors(found, TOGETHER)
    return found | {"notes": [*found["notes"], IN_TIME]} if shop.kind == "sequential" else found


def without_errors(found: dict[str, Any], why: str) -> dict[str, Any]:
    """The coefficients alone, where standard errors would say more than the rows do.

    >>> one = {"name": "x", "estimate": 2.0, "p_value": 1e-9}
    >>> without_errors({"rows": [one], "valid": True, "reason": "", "notes": ["z"]}, "why")
    {'rows': [{'name': 'x', 'estimate': 2.0, 'p_value': None}], 'valid': False, \
'reason': 'why', 'notes': []}
    """
    if not found["valid"]:
        return found
    rows = [{k: v if k in KEPT else None for k, v in row.items()} for row in found["rows"]]
    return found | {"rows": rows, "valid": False, "reason": why, "notes": []}


def full_rank(Z: Array, names: Sequence[str]) -> tuple[Array, list[str]]:
    """Without columns that depend on the ones before them."""
    keep: list[int] = []
    basis = np.ones((len(Z), 1)) / np.sqrt(len(Z))
    for j in range(Z.shape[1]):
        rest = Z[:, j] - basis @ (basis.T @ Z[:, j])
        rest -= basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > 1e-8 * float(np.linalg.norm(Z[:, j])):
            keep.append(j)
            basis = np.column_stack([basis, rest / size])
    return np.ascontiguousarray(Z[:, keep]), [str(names[j]) for j in keep]


def summary_data(summary: Summary) -> dict[str, Any]:
    """A summary as plain rows."""
    wanted = ("estimate", "standard_error", "statistic", "p_value", "low", "high")
    columns = summary.columns
    rows = []
    for row in summary.rows:
        cells = dict(zip(columns, row, strict=True))
        rows.append({"name": cells["name"]} | {key: cells.get(key) for key in wanted})
    return {
        "rows": rows,
        "valid": bool(summary.valid),
        "reason": summary.reason,
        "notes": list(summary.notes),
    }
