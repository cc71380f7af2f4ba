r"""Why a saved model says what it says: of itself, of a table, of one row.

card, summary    from the model alone: what it is, its coefficients with standard errors
importance       permutation: how much worse the measure gets on DATA when a column is
                 shuffled, mean over parts of the rows, Student's interval over the parts;
                 of the model itself: the spread of a column's part of a linear score, or what
                 the splits of a tree gained
dependence       mean prediction with one column set to a value, the others as in DATA (or at
                 their middle in training); the band holds the predictions of 80 % of the rows
contributions    Shapley's division of one row's prediction (``attributing``)
rules            a decision tree in words (``rule_words``)
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtrit
from sklearn.base import BaseEstimator

from pellucid.base import Estimator
from pellucid.core.arrays.columns import frame_columns
from pellucid.core.arrays.frames import frame_matrix
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.records import plain
from pellucid.study.columns.lagged_features import LaggedFeatures
from pellucid.study.columns.rule_words import tree_rules
from pellucid.study.columns.series_model import SeriesModel
from pellucid.study.columns.table_features import TableFeatures
from pellucid.study.judging.measure import chunks
from pellucid.study.reading.cell_values import kind_of
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.records import Task
from pellucid.study.saved.attribution import ROWS, shapley
from pellucid.study.saved.drift import sketch_columns, typical_row
from pellucid.study.saved.evaluation import ask, known_rows, learned_overlap
from pellucid.study.saved.prediction import (
    Parts,
    innermost,
    needed_columns,
    probabilities,
    take_apart,
)

PIECES, LEAST = 10, 8  # parts of the rows for an interval, and rows in each
SAMPLE, BACKGROUND, REPEATS = 5000, 200, 3
STRONGEST, GRID, MOST_LEVELS, SHOWN_CLASSES = 4, 15, 10, 3
HEAVY = ("training", "calibration", "marks")  # of what the file says of its study
FULL_TABLE = 200  # coefficients; more are not shown


class Explained(NamedTuple):
    """Plain data for a screen or a page; None where a part does not apply."""

    about: dict[str, Any]
    card: dict[str, Any]
    summary: dict[str, Any] | None  # {columns, rows, valid, reason, notes}
    importance: list[dict[str, Any]] | None  # [{name, estimate, low, high}]
    metric: str
    model_importance: dict[str, Any] | None  # {kind, rows: [{name, share}]}
    dependence: list[dict[str, Any]]  # [{name, values, mean, low, high, kind, output}]
    contributions: dict[str, Any] | None
    rules: dict[str, Any] | None  # {rules: [{when, then, rows}], dnf: {label: formula}}
    rows: int  # of DATA; 0 without
    met: float = 0.0  # share of these that the model has learned from, where beyond chance

    def to_dict(self) -> dict[str, Any]:
        return plain(self._asdict())


class Machine(NamedTuple):
    """The parts of the model that explanations ask."""

    model: Any
    parts: Parts
    columns: list[str]
    names: list[str]  # of the features
    origin: IntArray  # the column of every feature

    def features(self, X: pl.DataFrame) -> Array:
        if self.parts.features is None:
            return frame_matrix(X)
        return np.ascontiguousarray(self.parts.numbers(X), dtype=np.float64)

    def outputs(self, Z: Array) -> Array:
        """(n, outputs): probabilities, or numbers."""
        last = self.parts.last
        if hasattr(last, "predict_proba"):
            return probabilities(last, Z)
        if hasattr(last, "classes_"):
            said = np.searchsorted(last.classes_, last.predict(Z))
            return np.eye(len(last.classes_))[said]
        return np.asarray(last.predict(Z), dtype=np.float64).reshape(len(Z), -1)

    def output_names(self) -> list[str]:
        about = self.parts.about
        if hasattr(self.parts.last, "classes_"):
            given = about.get("classes") or list(map(str, self.parts.last.classes_))
            return [f"probability of {label}" for label in given]
        return [f"prediction of {name}" for name in about.get("target") or ["the target"]]


def machine_of(model: BaseEstimator) -> Machine:
    """Take the model apart; a model without names gets x0, x1, ..."""
    parts = take_apart(model)
    columns = needed_columns(model)
    if isinstance(parts.features, LaggedFeatures):
        columns = list(parts.features.feature_names_in_)  # the lags among them
    if columns is None:
        columns = [f"x{j}" for j in range(parts.last.n_features_in_)]
    if isinstance(parts.features, TableFeatures):
        names = [str(name) for name in parts.features.get_feature_names_out()]
        return Machine(model, parts, columns, names, parts.features.origins())
    if parts.features is not None:
        raise ValueError(
            "only models of `pellucid learn` and models without a pipeline can be explained, got "
            f"a {type(parts.features).__name__} before the model"
        )
    return Machine(model, parts, columns, columns, np.arange(len(columns)))


def explain_model(
    model: BaseEstimator,
    frame: pl.DataFrame | None = None,
    *,
    target: str | Sequence[str] | None = None,
    row: int | None = None,
    feature: str | None = None,
    random_state: int = 0,
) -> Explained:
    """Everything that can be said of a saved model, with or without rows.

    Parameters
    ----------
    model : fitted model, as ``learn`` saves it or any other
    frame : polars.DataFrame, optional
        Rows to explain on; permutation importance needs their targets too.
    target : str or list of str, optional
        Default: the target of the study.
    row : int, optional
        Number of a row of ``frame``, from 0: its prediction is divided among the columns.
    feature : str, optional
        Column whose dependence is wanted; default: the strongest ones.
    random_state : int, default=0

    Examples
    --------
    >>> import pellucid
    >>> table = pl.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 0.0, 1.0]})
    >>> model = pellucid.LinearRegression().fit(table, [1.0, 3.0, 5.0, 7.0])
    >>> found = explain_model(model, table, row=3)
    >>> [(one["name"], round(one["part"], 6)) for one in found.contributions["parts"]]
    [('a', 3.0), ('b', 0.0)]
    """
    machine = machine_of(model)
    teller = machine
    rng = np.random.default_rng(random_state)
    if row is not None and frame is None:
        raise ValueError("a row can be explained only with the table it stands in")
    if feature is not None and feature not in machine.columns:
        raise ValueError(f"{feature!r} is none of the model's columns")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a summary warns of what its notes say too
        if frame is not None and isinstance(machine.parts.features, LaggedFeatures):
            frame, ahead = machine.parts.features.placed(frame)
            teller = _teller(model, machine, ahead, row)
        X = None if frame is None else sampled(frame, SAMPLE, rng)
        found, metric, met = importances(machine, X, target, rng)
        Z = None if X is None else machine.features(X.select(machine.columns))
        own = own_importance(machine, Z)
        strongest = [feature] if feature is not None else order_of(machine, found, own)
        curves = dependences(machine, X, strongest, feature is not None, rng)
        return Explained(
            {k: v for k, v in machine.parts.about.items() if k not in HEAVY},
            card_of(machine),
            summary_of(machine),
            found,
            metric,
            own,
            curves,
            None if row is None else contributions(teller, frame, row, rng),
            rules_of(machine),
            0 if frame is None else frame.height,
            met,
        )


def _teller(model: Any, machine: Machine, ahead: Array, row: int | None) -> Machine:
    """What predicts this row: beyond the reach of the lags it is another model."""
    if row is None or not 0 <= row < len(ahead) or not isinstance(model, SeriesModel):
        return machine
    beyond = model.far is not None and ahead[row] > model.reach
    return machine_of(model.far_) if beyond else machine


def sampled(frame: pl.DataFrame, most: int, rng: np.random.Generator) -> pl.DataFrame:
    """At most so many rows, in their order."""
    if frame.height <= most:
        return frame
    return frame[np.sort(rng.choice(frame.height, most, replace=False))]


# --- of itself -----------------------------------------------------------------------------------


def card_of(machine: Machine) -> dict[str, Any]:
    last = machine.parts.last
    return last.card().to_dict() if hasattr(last, "card") else {}


def summary_of(machine: Machine) -> dict[str, Any] | None:
    """The table of coefficients with the names of the features; None where there is none."""
    last = innermost(machine.parts.last)
    if not hasattr(last, "summary") or type(last).summary is Estimator.summary:
        return None
    if len(machine.names) > FULL_TABLE:
        reason = f"{len(machine.names)} coefficients are too many for a table"
        return {"columns": [], "rows": [], "valid": False, "reason": reason, "notes": []}
    found, about = last.summary(), machine.parts.about
    notes = list(found.notes)
    if found.valid and (by := about.get("groups") or about.get("time")):
        notes.append(f"rows are taken to be independent; by {by} they hang together")
    plain_names = {f"x{j}": name for j, name in enumerate(machine.names)}
    rows = [[_named(row[0], plain_names), *row[1:]] for row in found.rows]
    return plain(
        {
            "columns": list(found.columns),
            "rows": rows,
            "valid": bool(found.valid),
            "reason": found.reason,
            "notes": notes,
        }
    )


def _named(text: str, names: dict[str, str]) -> str:
    """
    >>> _named("b: x1", {"x1": "age"}), _named("intercept", {"x1": "age"})
    ('b: age', 'intercept')
    """
    head, colon, tail = text.rpartition(": ")
    return f"{head}{colon}{names.get(tail, tail)}"


def rules_of(machine: Machine) -> dict[str, Any] | None:
    last = innermost(machine.parts.last)
    if not hasattr(last, "tree_"):
        return None
    features = machine.parts.features
    return tree_rules(last, features, machine.names)


def own_importance(machine: Machine, Z: Array | None) -> dict[str, Any] | None:
    """What the model itself holds important, as shares of the whole; None where it cannot say."""
    last, d = innermost(machine.parts.last), len(machine.columns)
    found = _own_shares(machine, last, Z)
    if found is None:
        return None
    kind, shares = found
    order = sorted(range(d), key=lambda j: (-shares[j], machine.columns[j]))
    rows = [{"name": machine.columns[j], "share": float(shares[j])} for j in order]
    return {"kind": kind, "rows": rows}


def _own_shares(machine: Machine, last: Any, Z: Array | None) -> tuple[str, Array] | None:
    """How it is measured, and the share of every column."""
    d = len(machine.columns)
    if hasattr(last, "estimators_") and hasattr(last, "_member_weights"):
        return _average_shares(machine, last, Z)
    if hasattr(last, "feature_importances_"):
        kind = "gain of its splits"
        gains = np.asarray(last.feature_importances_, dtype=np.float64)
        size = np.asarray(np.bincount(machine.origin, gains, minlength=d), dtype=np.float64)
    elif hasattr(last, "coef_") and np.shape(last.coef_)[-1] == len(machine.names):
        kind = "spread of its part of the score"
        size = linear_sizes(np.atleast_2d(last.coef_), machine.origin, Z, d)
    else:
        return None
    total = float(size.sum())
    return kind, size / total if total > 0 else size


def _average_shares(machine: Machine, last: Any, Z: Array | None) -> tuple[str, Array] | None:
    """The shares of the members that can say them, by the members' weights."""
    found, weights = [], []
    for member, weight in zip(last.estimators_, last._member_weights(), strict=True):
        one = _own_shares(machine, member, Z)
        if one is not None:
            found.append(one[1])
            weights.append(float(weight))
    if not found:
        return None
    some = "" if len(found) == len(last.estimators_) else f"{len(found)} of "
    kind = f"mean of {some}its {len(last.estimators_)} models, by their weights"
    return kind, np.average(found, axis=0, weights=weights)


def linear_sizes(coef: Array, origin: IntArray, Z: Array | None, d: int) -> Array:
    """Standard deviation of a column's part; without rows features count as standardised."""
    size = np.zeros(d)
    for j in np.unique(origin):
        at = origin == j
        parts = coef[:, at] if Z is None else (Z[:, at] @ coef[:, at].T).std(axis=0)
        size[j] = np.sqrt((parts**2).sum())
    return size


# --- of a table ----------------------------------------------------------------------------------


def importances(
    machine: Machine,
    X: pl.DataFrame | None,
    target: str | Sequence[str] | None,
    rng: np.random.Generator,
) -> tuple[list[dict[str, Any]] | None, str, float]:
    """Permutation importance where the answers are known, its measure, the share of rows met."""
    about = machine.parts.about
    names = [target] if isinstance(target, str) else list(target or about.get("target") or [])
    if X is None or not names or any(name not in X.columns for name in names):
        return None, str(about.get("metric") or ""), 0.0
    rows, _, task = known_rows(machine.model, X, names)
    answers, _ = ask(machine.model, rows, task, None)
    Z = machine.features(rows.select(machine.columns))
    found = permuted(machine, Z, answers, rng)  # (columns, pieces)
    pieces = found.shape[1]
    mean = found.mean(axis=1)
    gap = np.full(len(mean), np.nan)
    if pieces > 1:
        gap = stdtrit(pieces - 1, 0.975) * found.std(axis=1, ddof=1) / np.sqrt(pieces)
    rows_ = [
        {"name": name, "estimate": float(m), "low": float(m - g), "high": float(m + g)}
        for name, m, g in zip(machine.columns, mean, gap, strict=True)
    ]
    overlap = learned_overlap(about, rows, answers.y)
    met = overlap.share if overlap is not None and overlap.beyond_chance else 0.0
    return sorted(rows_, key=lambda one: (-one["estimate"], one["name"])), answers.task.metric, met


def permuted(machine: Machine, Z: Array, answers: Any, rng: np.random.Generator) -> Array:
    """Growth of the loss for every column in every part of the rows."""
    y, scorer, query = answers.y, answers.scorer, answers.query
    pieces = max(1, min(PIECES, len(y) // LEAST))
    parts = [at for at in chunks(y, query, pieces) if usable(y[at], answers.task)] or [
        np.arange(len(y))
    ]
    out = np.zeros((len(machine.columns), len(parts)))
    last = machine.parts.last
    for k, at in enumerate(parts):
        part, work = Z[at], Z[at].copy()
        lists = None if query is None else query[at]
        base = scorer.score(last, part, y[at], lists)
        orders = [rng.permutation(len(at)) for _ in range(REPEATS)]
        for j in np.unique(machine.origin):
            mine = machine.origin == j
            for order in orders:
                work[:, mine] = part[order][:, mine]
                worse = scorer.sign * (base - scorer.score(last, work, y[at], lists))
                out[j, k] += worse / REPEATS
            work[:, mine] = part[:, mine]
    return out


def usable(y: Any, task: Task) -> bool:
    """Curves and means over classes need more than one class."""
    return task.kind not in CLASSES or len(np.unique(y)) > 1


def order_of(machine: Machine, found: Any, own: Any) -> list[str]:
    """The strongest columns, as far as anything is known of their strength."""
    if found is not None:
        return [one["name"] for one in found if one["estimate"] > 0][:STRONGEST]
    if own is not None:
        return [one["name"] for one in own["rows"] if one["share"] > 0][:STRONGEST]
    return machine.columns[:STRONGEST]


def dependences(
    machine: Machine,
    X: pl.DataFrame | None,
    wanted: list[str],
    asked: bool,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """A curve for every wanted column (and, with several classes, for those that move most)."""
    sketches = machine.parts.about.get("training")
    if X is not None and (sketches is None or any(n not in sketches for n in wanted)):
        inputs = X.select(machine.columns)
        kinds = dict(zip(machine.columns, map(kind_of, frame_columns(inputs)), strict=True))
        sketches = sketch_columns(inputs, kinds)
    if sketches is None:
        return []
    rows = typical_row(sketches) if X is None else sampled(X, BACKGROUND, rng)
    background = rows.select(machine.columns)
    found: list[dict[str, Any]] = []
    for name in wanted:
        values = grid_values(sketches[name])
        if len(values) > 1:
            found += curve_records(machine, background, name, sketches[name]["kind"], values)
        elif asked:
            raise ValueError(f"the column {name!r} has no values to move along")
    return found


def grid_values(sketch: dict[str, Any]) -> list[Any]:
    """Quantiles of numbers, dates in steps, or the commonest levels."""
    points = sketch.get("points", np.empty(0))
    if len(points):
        grid = np.unique(np.quantile(points, np.linspace(0.025, 0.975, GRID)))
        if sketch["kind"] == "whole":
            grid = np.unique(np.round(grid))
        if sketch["kind"] == "date":
            return [np.datetime64(int(t), "us").astype("M8[D]").item() for t in grid]
        return grid.tolist()
    return list(sketch.get("levels", {}))[:MOST_LEVELS]


def curve_records(
    machine: Machine, background: pl.DataFrame, name: str, kind: str, values: list[Any]
) -> list[dict[str, Any]]:
    m = background.height
    stacked = pl.concat([background] * len(values))
    cells = pl.Series(name, [v for v in values for _ in range(m)], strict=False)
    said = machine.outputs(machine.features(stacked.with_columns(cells)))
    said = said.reshape(len(values), m, -1)  # (values, rows, outputs)
    mean = said.mean(axis=1)
    names = machine.output_names()
    shown = [v if isinstance(v, int | float | str | bool) else str(v) for v in values]
    found = []
    for k in shown_outputs(machine, mean):
        low, high = np.quantile(said[:, :, k], [0.1, 0.9], axis=1)
        found.append(
            {
                "name": name,
                "values": shown,
                "mean": mean[:, k].tolist(),
                "low": low.tolist() if m > 1 else None,
                "high": high.tolist() if m > 1 else None,
                "kind": {"whole": "number", "truth": "category"}.get(kind, kind),
                "output": names[k],
            }
        )
    return found


def shown_outputs(machine: Machine, mean: Array) -> list[int]:
    """The positive class of two, else those that move most."""
    if mean.shape[1] == 1:
        return [0]
    classes = machine.parts.about.get("classes") or list(
        map(str, getattr(machine.parts.last, "classes_", ()))
    )
    if len(classes) == 2 and machine.parts.about.get("kind") != "multilabel":
        positive = machine.parts.about.get("positive")
        return [classes.index(positive) if positive in classes else 1]
    spread = mean.max(axis=0) - mean.min(axis=0)
    return np.argsort(-spread, kind="stable")[:SHOWN_CLASSES].tolist()


# --- of a row ------------------------------------------------------------------------------------


def contributions(
    machine: Machine, frame: Any, row: int, rng: np.random.Generator
) -> dict[str, Any]:
    """How every column moves the prediction of one row away from the mean prediction."""
    n = frame.height
    if not 0 <= row < n:
        raise ValueError(f"the table has the rows 0 to {n - 1}, there is no row {row}")
    one = frame[row].select(machine.columns)
    z = machine.features(one)[0]
    others = sampled(frame, ROWS, rng).select(machine.columns)
    B = machine.features(others)
    said = machine.outputs(z[None])[0]
    numbers = not hasattr(machine.parts.last, "classes_")
    k = 0 if numbers or len(said) == 1 else int(np.argmax(said))
    found = shapley(
        lambda Z: machine.outputs(Z)[:, k], z, B, machine.origin, len(machine.columns), rng
    )
    cells = dict(zip(machine.columns, one.row(0), strict=True))
    parts = [
        {"name": name, "value": cells[name], "part": float(part), "standard_error": float(error)}
        for name, part, error in zip(
            machine.columns, found.parts, found.standard_error, strict=True
        )
    ]
    parts.sort(key=lambda p: (-abs(p["part"]), p["name"]))
    return {
        "row": row,
        "output": machine.output_names()[k],
        "base": found.base,
        "prediction": float(said[k]),
        "parts": parts,
        "background": len(B),
    }
