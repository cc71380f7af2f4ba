"""The error of an ensemble after 1, 2, ... members."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.plots.panels.marks import stroke, words
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend


class EnsembleError(Panel, size=(6.4, 4.2)):
    """One curve per kind of rows; entry b - 1 is the error of the first b members."""

    curves: dict[str, Array]
    best: dict[str, int]  # members at the least error of each curve
    metric: str
    members: str  # trees, rounds or members

    def _draw(self, ax: Axes) -> None:
        for i, (label, values) in enumerate(self.curves.items()):
            b = np.arange(1, len(values) + 1)
            ax.plot(b, values, lw=1.8, label=label, **stroke(i))
            at = self.best[label]
            ax.plot(at, values[at - 1], "D", color=colour(i), mec="black", ms=6, zorder=4)
        ax.set(xlabel=f"number of {self.members}", ylabel=self.metric)
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        legend(ax)
        heading(ax, self.title, "diamonds: the least error")


def _answers(E: Model, X: ArrayLike) -> Iterator[Any]:
    """What the first 1, 2, ... members say of X."""
    if hasattr(E, "staged_predict"):
        yield from E.staged_predict(X)
        return
    total: Any = 0.0
    for b, member in enumerate(_members(E)):
        if not is_classifier(E):
            total = total + np.asarray(member.predict(X), dtype=np.float64)
            yield total / (b + 1)
            continue
        total = total + np.asarray(member.predict_proba(X))
        yield E.classes_[total.argmax(axis=1)]


def _members(E: Model) -> list[Any]:
    members = getattr(E, "estimators_", None)
    if members is None or not hasattr(E, "oob_permutation_importance"):
        kind = type(E).__name__
        raise ValueError(f"{kind} cannot be read member by member: give a forest or boosting")
    return list(members)


def _errors(E: Model, X: np.ndarray, y: np.ndarray) -> Array:
    y = np.asarray(y)
    if is_classifier(E):
        return np.array([float((np.asarray(a) != y).mean()) for a in _answers(E, X)])
    return np.array([float(((np.asarray(a) - y) ** 2).mean()) for a in _answers(E, X)])


def _own(E: Model) -> dict[str, Array]:
    """The curves that the fit left: out of bag, training and validation."""
    curves: dict[str, Array] = {}
    if hasattr(E, "oob_curve_"):
        curves["out of bag"] = np.asarray(E.oob_curve_)
    history = getattr(E, "history_", None)
    if history is not None and "train_error" in history.columns:
        rows = [row for row in history if row.get("train_error") is not None]
        values = np.array([float(row["train_error"]) for row in rows])
        curves["training rows"] = values[np.isfinite(values)]
        if len(E.classes_) == 2:
            bound = np.array([float(row["objective"]) for row in rows])
            curves["bound: product of the normalisers"] = bound[np.isfinite(values)]
    return curves


def ensemble_error(E: Model, X: Any = None, y: Any = None, *, train: Any = None) -> EnsembleError:
    """Out-of-bag, training and test error against the number of members.

    ``E``: fitted random forest, AdaBoostClassifier, gradient or histogram boosting; ``X``, ``y``:
    test rows, optional; ``train``: (X, y); training rows, whose error is drawn too.

    Examples
    --------
    >>> from pellucid import RandomForestClassifier
    >>> from pellucid.plots import ensemble_error
    >>> X, y = [[i] for i in range(20)], [0] * 10 + [1] * 10
    >>> model = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    >>> picture = ensemble_error(model, X, y)
    >>> list(picture.curves), picture.curves["test rows"][-1].item()
    (['out of bag', 'test rows'], 0.0)
    """
    check_is_fitted(E)
    curves = _own(E)
    metric = "share wrong" if is_classifier(E) else "mean squared error"
    if train is not None:
        curves["training rows"] = _errors(E, *train)
    if X is not None and y is not None:
        curves["test rows"] = _errors(E, X, y)
    if not curves:  # gradient boosting keeps losses
        metric = "loss"
        for name, label in (("train_score_", "training rows"), ("validation_score_", "validation")):
            values = np.asarray(getattr(E, name, ()), dtype=np.float64)
            if values.size:
                curves[label] = np.abs(values)
    if not curves:
        raise ValueError(f"{type(E).__name__} left no error curve: give test rows X and y")
    curves = {label: v for label, v in curves.items() if np.isfinite(v).any()}
    best = {label: int(np.nanargmin(v)) + 1 for label, v in curves.items()}
    kind = "rounds" if hasattr(E, "staged_predict") else "trees"
    last = words([f"{label} {v[-1]:.3g}" for label, v in curves.items()])
    most = max(len(v) for v in curves.values())
    title = f"{type(E).__name__} with {most} {kind}: {last}"
    alt = f"{metric} of {type(E).__name__} against the number of {kind}; with {most}: {last}."
    return EnsembleError(alt, curves, best, metric, kind, title=title)
