"""How good the members of an ensemble are, how often they disagree, and how much each counts."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Model
from pellucid.ensemble.committees.resampling import ensemble_diversity
from pellucid.plots.panels.marks import spot
from pellucid.plots.panels.style import GREY, Picture, colour, heading, legend_below, panels

MOST = 30  # members drawn


class Heard(BaseEstimator):
    """A member that reads its own columns and answers with the labels of the committee."""

    def __init__(
        self, model: Model, columns: np.ndarray | None = None, classes: np.ndarray | None = None
    ) -> None:
        self.model, self.columns, self.classes = model, columns, classes

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.model)

    def predict(self, X: np.ndarray) -> Any:
        said = np.asarray(self.model.predict(X if self.columns is None else X[:, self.columns]))
        return said if self.classes is None else self.classes[said.astype(np.intp)]


class Diversity(Picture):
    """Members in the order of the ensemble."""

    names: tuple[str, ...]
    scores: Array  # (B,) accuracy, or R squared
    better_than_chance: BoolArray
    chance: float
    weights: Array  # (B,) in the vote, summing to 1
    disagreement: Array  # (B, B)
    error_correlation: Array  # (B, B)
    together: float  # score of the ensemble
    metric: str

    def plot(self) -> Any:
        """Disagreement, correlation of the errors, scores with weights; the figure."""
        B = len(self.names)
        first, second, third = panels(3, columns=3, size=(4.4, 4.2))
        most = max(float(self.disagreement.max()), 1e-9)
        tables = (
            (first, self.disagreement, "Blues", "how often two disagree", 0.0, most),
            (second, self.error_correlation, "RdBu_r", "correlation of their errors", -1.0, 1.0),
        )
        for ax, values, cmap, title, low, high in tables:
            image = ax.imshow(values, cmap=cmap, vmin=low, vmax=high)
            ax.figure.colorbar(image, ax=ax, shrink=0.8)
            ax.grid(False)
            heading(ax, title, f"mean {_off_diagonal(values):.3g}")
            ticks = range(B) if B <= 12 else range(0, B, 5)
            ax.set_yticks(ticks, [self.names[i] for i in ticks])
            ax.set_xticks(ticks, [self.names[i] for i in ticks], rotation=90)
        tint = [colour(0) if good else colour(1) for good in self.better_than_chance]
        hatch = [None if good else "//" for good in self.better_than_chance]
        third.barh(np.arange(B), self.scores, color=tint, hatch=hatch, height=0.7, alpha=0.85)
        third.axvline(self.together, color="black", lw=1.5, label=f"all: {self.together:.3g}")
        third.axvline(self.chance, color=GREY, ls="--", lw=1.2, label=f"chance: {self.chance:.3g}")
        if not np.allclose(self.weights, self.weights[0]):
            y = np.arange(B)
            spot(third, self.weights, y, "D", colour(4), size=5, label="weight in the vote")
        ticks = range(B) if B <= 12 else range(0, B, 5)
        third.set_yticks(ticks, [self.names[i] for i in ticks])
        third.invert_yaxis()
        third.set(xlabel=self.metric)
        legend_below(third, ncols=3)
        heading(third, "Members and all together")
        return first.figure


def _off_diagonal(values: Array) -> float:
    apart = values[~np.eye(len(values), dtype=bool)]
    apart = apart[np.isfinite(apart)]
    return float(apart.mean()) if apart.size else float("nan")


def _members(E: Model) -> tuple[list[str], list[Any]]:
    """Names and members that answer with the labels of the ensemble."""
    members = getattr(E, "estimators_", None)
    if members is None or len(members) == 0 or np.ndim(members) > 1:
        raise ValueError(f"diversity needs an ensemble of whole members, got {type(E).__name__}")
    members = list(members)[:MOST]
    named = getattr(E, "named_estimators_", None)
    names = [str(i + 1) for i in range(len(members))]
    if named is not None and len(named) == len(members):
        names = [str(name) for name in named]
    features = getattr(E, "estimators_features_", [None] * len(members))
    found = []
    for model, columns in zip(members, features, strict=False):
        own = getattr(model, "classes_", None)
        coded = own is not None and not np.isin(own, E.classes_).all()
        coded = coded or (hasattr(E, "le_") and own is not None)
        found.append(Heard(model, columns, E.classes_ if coded else None))
    return names, found


def _table(X: ArrayLike, members: list[Any]) -> Any:
    """Rows as the members know them: members of a committee are often fitted without names."""
    plain = not hasattr(members[0].model, "feature_names_in_") or members[0].columns is not None
    if is_frame(X) and plain:
        return frame_matrix(X)
    return X if is_frame(X) else np.asarray(X)


def diversity(E: Model, X: ArrayLike, y: ArrayLike) -> Diversity:
    """Agreement, scores and weights of the members of an ensemble.

    ``E``: fitted forest, bagging, voting or AdaBoost model (the first 30 members); ``X``, ``y``:
    rows that the members have not seen.

    Examples
    --------
    >>> from pellucid import DecisionTreeClassifier, GaussianNB, VotingClassifier
    >>> from pellucid.plots import diversity
    >>> X, y = [[0], [1], [2], [3]], ["a", "a", "b", "b"]
    >>> model = VotingClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())])
    >>> picture = diversity(model.fit(X, y), X, y)
    >>> picture.names, picture.scores.tolist(), picture.disagreement[0, 1].item()
    (('bayes', 'tree'), [1.0, 1.0], 0.0)
    """
    check_is_fitted(E)
    names, members = _members(E)
    rows, y = _table(X, members), np.asarray(y)
    report = ensemble_diversity(members, rows, y)
    weights = getattr(E, "estimator_weights_", getattr(E, "weights", None))
    weights = np.ones(len(names)) if weights is None else np.asarray(weights)[: len(names)]
    said = np.asarray(E.predict(X))
    if is_classifier(E):
        metric, chance = "share right", 1.0 / max(len(np.unique(y)), 1)
        together = float((said == y).mean())
    else:
        metric, chance = "R²", 0.0
        together = 1 - float(((said - y) ** 2).sum() / max(((y - y.mean()) ** 2).sum(), 1e-300))
    apart = _off_diagonal(report.disagreement)
    alt = (
        f"{len(names)} members of {type(E).__name__}: {metric} {report.accuracies.min():.3g} to "
        f"{report.accuracies.max():.3g}, {int(report.better_than_chance.sum())} better than "
        f"chance, mean disagreement {apart:.3g}; together {together:.3g}."
    )
    pairs = (report.disagreement, report.error_correlation)
    better, shares = np.asarray(report.better_than_chance), weights / weights.sum()
    scores = (report.accuracies, better, chance, shares)
    return Diversity(alt, tuple(names), *scores, *pairs, together, metric)
