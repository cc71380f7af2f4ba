"""What a recorded fit looks like: the rows, what the model says of them, its coefficients.

The task decides the first panel. Classes: the class of every place; numbers: a curve over one
column, shades over two, predicted against actual for more; groups: regions and centres. More than
two columns are seen along their first two principal axes.
"""

from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor
from sklearn.utils import get_tags

from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.lab.scene import Mark, Panel, heat, lattice, line, plane, points, regions, segments
from pellucid.lab.scene import around as box_of
from pellucid.plots.panels.planes import View, view_of

MOST_ROWS = 2000  # drawn
SIDE, SMALL_SIDE = 40, 28  # cells of a plane; with many frames
MANY = 100  # frames
MOST_DOTS = 120_000  # of all frames together, where the dots move
MOST_LEVELS = 60  # classes that a grid can hold
CURVE = 121


class Stage(NamedTuple):
    """The rows as they are drawn, and how a place is turned into a row for the model."""

    task: str  # classes, values, points or outliers
    X: Any  # the rows drawn, as the estimator reads them; None where nothing can be drawn
    y: Any  # codes of classes, numbers, or None
    levels: tuple[Any, ...]
    names: tuple[str, ...]
    view: View | None
    box: tuple[float, ...]
    side: int
    named: bool  # the fit saw column names
    positive: bool
    note: str
    dots: int  # moving ones per frame

    @property
    def few(self) -> Any:
        """Rows whose dots move: all, or evenly chosen ones, so that many frames stay small."""
        n = len_rows(self) if self.y is None else len(self.y)
        return np.unique(np.linspace(0, n - 1, min(n, self.dots)).round().astype(int))

    def rows(self, places: Array) -> Any:
        """The rows that places of the plane stand for."""
        assert self.view is not None
        rows = self.view.rows(places)
        rows = np.maximum(rows, 0.0) if self.positive else rows
        if not self.named:
            return rows
        import polars

        return polars.DataFrame(rows, schema=list(self.names))


def task_of(model: BaseEstimator, y: ArrayLike) -> str:
    if is_outlier_detector(model):
        return "outliers"
    if y is None or np.ndim(y) != 1:
        return "points"
    return "classes" if is_classifier(model) else "values" if is_regressor(model) else "points"


def numbers_of(X: ArrayLike) -> Array | None:
    """X as a matrix of numbers, or None if it is not a table of numbers."""
    if issparse(X):
        return None
    try:
        M = frame_matrix(X) if is_frame(X) else np.asarray(X, dtype=np.float64)
    except (ValueError, TypeError):
        return None
    return M if M.ndim == 2 and M.size and M.shape[1] else None


def column_names(X: ArrayLike, model: BaseEstimator, p: int) -> tuple[str, ...]:
    names = getattr(model, "feature_names_in_", None)
    if names is None and is_frame(X):
        names = nw.from_native(X, eager_only=True).columns
    return tuple(f"x{j}" for j in range(p)) if names is None else tuple(map(str, names))


def chosen_rows(n: int) -> Any:
    """The rows that are drawn: all, or a fixed sample in their order."""
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))


def take(X: ArrayLike, rows: np.ndarray) -> Any:
    if is_frame(X):
        return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()
    return np.asarray(X)[rows]


def make_stage(model: BaseEstimator, X: Any, y: Any, n_frames: int) -> Stage:
    """What can be drawn of these rows, for a model fitted on them."""
    M, tags = numbers_of(X), get_tags(model).input_tags
    task, target = task_of(model, y), None if y is None else np.asarray(y)
    if M is None or (target is not None and len(target) != len(M)):
        return Stage(task, None, None, (), (), None, (), SIDE, False, False, "", 0)
    rows, notes = chosen_rows(len(M)), []
    if len(rows) < len(M):
        notes.append(f"{len(rows)} of {len(M)} rows are drawn")
    M, bad = M[rows], ~np.isfinite(M[rows])
    if bad.any():
        known = [column[np.isfinite(column)] for column in M.T]
        middle = np.array([np.median(values) if len(values) else 0.0 for values in known])
        M = np.where(bad, middle, M)
        notes.append("missing cells are drawn at the median")
    levels, seen = known_levels(model, target, task)
    names = column_names(X, model, M.shape[1])
    no_plane = M.shape[1] > 2 and (len(M) < 2 or task == "values")
    view = None if no_plane or tags.categorical else view_of(M, names)
    if view is not None and view.note:
        notes.append(view.note)
    target = None if seen is None else seen[rows]
    side = SIDE if n_frames <= MANY else SMALL_SIDE
    box = box_of(flat_places(view, target, task)) if view is not None else ()
    drawn = (take(X, rows), target, levels, names, view, box, side)
    named, dots = hasattr(model, "feature_names_in_"), max(50, MOST_DOTS // n_frames)
    return Stage(task, *drawn, named, tags.positive_only, "; ".join(notes), dots)


def known_levels(model: BaseEstimator, y: Any, task: str) -> tuple[tuple[Any, ...], Any]:
    """The classes and the code of every row; numbers as they are; nothing else is drawn."""
    if task == "values":
        return (), y.astype(np.float64)
    if task != "classes":
        return (), None
    known = np.asarray(getattr(model, "classes_", [])).ravel().tolist()
    found = list(dict.fromkeys([*known, *np.unique(y).tolist()]))
    return tuple(found), np.array([found.index(v) for v in y.tolist()])


def flat_places(view: View, y: Any, task: str) -> Array:
    """Two coordinates per row: with one column the other is the target, or nothing."""
    if view.at.shape[1] == 2:
        return view.at
    up = np.zeros(len(view.at)) if y is None else np.asarray(y, float)
    return np.column_stack([view.at[:, 0], up])


def against(stage: Stage) -> bool:
    """Whether the panel is predicted against actual."""
    return stage.task == "values" and stage.X is not None and stage.view is None


def still(stage: Stage) -> list[Panel]:
    """The panels that stay: the rows."""
    if against(stage):
        low, high = float(stage.y.min()), float(stage.y.max())
        air = 0.15 * (high - low or 1.0)
        ends = [low - air, high + air]
        diagonal = line(ends, ends, colour="quiet", dashed=True, width=1.0, label="equal")
        title, box = "Predicted against actual", (*ends, *ends)
        alt = "Predictions of the rows against their true values"
        return [plane("rows", [diagonal], title=title, x="actual", y="predicted", box=box, alt=alt)]
    if stage.view is None:
        return []
    at = flat_places(stage.view, stage.y, stage.task)
    group = stage.y if stage.task == "classes" else None
    wide = stage.view.at.shape[1] == 2
    up = stage.view.names[1] if wide else {"classes": "class", "values": "y"}.get(stage.task, "")
    marks = [points(at[:, 0], at[:, 1], group=group, data=True, size=0.8)]
    alt = f"{len(at)} rows. {stage.note}".strip()
    return [plane("rows", marks, title="Rows", x=stage.view.names[0], y=up, box=stage.box, alt=alt)]


def moving(stage: Stage, model: BaseEstimator) -> list[Panel]:
    """What the model of one step adds to the rows."""
    if model is None or stage.X is None:
        return []
    if against(stage):
        said = np.asarray(model.predict(stage.X), float)
        return [plane("rows", [points(stage.y[stage.few], said[stage.few], size=0.8)])]
    if stage.view is None:
        return []
    marks = (wide_marks if stage.view.at.shape[1] == 2 else narrow_marks)(stage, model)
    shown = [plane("rows", marks, box=stage.box)] if marks else []
    return shown + after_panel(stage, model)


def answers(model: BaseEstimator, rows: np.ndarray) -> Any:
    """What the model says of places, or None where it refuses some: far from rows, for example."""
    if not hasattr(model, "predict"):
        return None
    try:
        said = np.asarray(model.predict(rows))
    except ValueError:
        return None
    return said if said.ndim == 1 else None


def wide_marks(stage: Stage, model: BaseEstimator) -> list[Mark]:
    """Regions or shades of a plane, and centres."""
    _, _, places = lattice(stage.box, stage.side)
    said, grid = answers(model, stage.rows(places)), (stage.side, stage.side)
    if said is None:
        return own_groups(stage, model) + centre_marks(stage, model) + axis_marks(stage, model)
    if stage.task == "values":
        low, high = float(stage.y.min()), float(stage.y.max())
        return [heat(said.astype(float).reshape(grid), stage.box, low=low, high=high)]
    codes = (said < 0).astype(int) if stage.task == "outliers" else codes_of(said, stage.levels)
    shown = [regions(codes.reshape(grid), stage.box)]
    return shown + centre_marks(stage, model)


def own_groups(stage: Stage, model: BaseEstimator) -> list[Mark]:
    """The rows by the group that the fit put them in, where it says so."""
    labels = answers(model, stage.X)
    labels = getattr(model, "labels_", None) if labels is None else codes_of(labels, stage.levels)
    if labels is None or len(labels) != len_rows(stage):
        return []
    return [grouped(stage, labels)]


def codes_of(said: Any, levels: tuple[Any, ...]) -> Any:
    """Answers as places in the list of classes, or in their own order where there is none."""
    if not levels and said.dtype.kind in "iu" and said.min() >= 0 and said.max() <= MOST_LEVELS:
        return said  # numbers of groups
    known = list(levels) if levels else np.unique(said).tolist()
    known += [v for v in dict.fromkeys(said.tolist()) if v not in known]
    place = {v: min(k, MOST_LEVELS) for k, v in enumerate(known)}
    return np.array([place[v] for v in said.tolist()])


def grouped(stage: Stage, labels: np.ndarray) -> Mark:
    """The rows coloured by the group that a clusterer put them in; -1 is pale."""
    assert stage.view is not None
    labels = np.asarray(labels)[stage.few]
    at = flat_places(stage.view, stage.y, stage.task)[stage.few]
    return points(at[:, 0], at[:, 1], group=np.maximum(labels, 0), faint=labels < 0, size=0.8)


def centre_marks(stage: Stage, model: BaseEstimator) -> list[Mark]:
    assert stage.view is not None
    for name in ("cluster_centers_", "means_", "theta_"):
        found = getattr(model, name, None)
        if isinstance(found, np.ndarray) and found.shape[1:] == (len(stage.names),):
            at = stage.view.place(found)
            up = at[:, 1] if at.shape[1] == 2 else np.zeros(len(at))
            group = np.arange(len(at)) if len(at) <= MOST_LEVELS else None
            ring = np.ones(len(at), bool)
            return [points(at[:, 0], up, group=group, size=1.8, ring=ring, label="centre")]
    return []


def axis_marks(stage: Stage, model: BaseEstimator) -> list[Mark]:
    """The first principal axes as arrows of two standard deviations."""
    axes, spread = (getattr(model, name, None) for name in ("components_", "explained_variance_"))
    mean = getattr(model, "mean_", None)
    if axes is None or spread is None or mean is None or axes.shape[1] != len(stage.names):
        return []
    assert stage.view is not None
    k = min(2, len(axes))
    tips = stage.view.place(mean + 2.0 * np.sqrt(spread[:k])[:, None] * axes[:k])
    start = np.repeat(stage.view.place(mean[None]), k, axis=0)
    look: dict[str, Any] = {"width": 2.5, "arrow": True, "label": "principal axes"}
    return [segments(*start[:, :2].T, *tips[:, :2].T, colour="accent", **look)]


def narrow_marks(stage: Stage, model: BaseEstimator) -> list[Mark]:
    """A curve over one column: predictions, probabilities of the classes, or a density."""
    x = np.linspace(stage.box[0], stage.box[1], CURVE)
    if stage.task == "values":
        said = answers(model, stage.rows(x[:, None]))
        return [] if said is None else [line(x, said.astype(float), label="prediction")]
    if stage.task == "classes":
        return class_curves(stage, model, x)
    return own_groups(stage, model) + centre_marks(stage, model)


def class_curves(stage: Stage, model: BaseEstimator, x: Array) -> list[Mark]:
    """The probability of the second of two classes, or the predicted class."""
    rows = stage.rows(x[:, None])
    said = answers(model, rows)
    if said is None:
        return []
    marks = [line(x, codes_of(said, stage.levels), colour="quiet", label="predicted class")]
    if len(stage.levels) == 2 and hasattr(model, "predict_proba"):
        share = np.asarray(model.predict_proba(rows), float)[:, 1]
        marks.append(line(x, share, label=f"probability of {stage.levels[1]}"))
    return marks


def after_panel(stage: Stage, model: BaseEstimator) -> list[Panel]:
    """Where a transformer puts the rows, if it makes numbers of them."""
    if stage.task != "points" or not hasattr(model, "transform") or hasattr(model, "predict"):
        return []
    made = numbers_of(model.transform(stage.X))
    if made is None or len(made) != len_rows(stage) or not np.isfinite(made[:, :2]).all():
        return []
    made = made[stage.few]
    up = made[:, 1] if made.shape[1] > 1 else np.zeros(len(made))
    marks = [points(made[:, 0], up, size=0.8)]
    y = "second output" if made.shape[1] > 1 else ""
    alt = "The rows after the transformation"
    return [plane("after", marks, title="After the transformation", x="first output", y=y, alt=alt)]


def len_rows(stage: Stage) -> int:
    return 0 if stage.view is None else len(stage.view.at)
