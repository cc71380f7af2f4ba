"""Every question that could be asked at a node, and what each is worth."""

from typing import Any, NamedTuple

import numpy as np

from pellucid import DecisionTreeClassifier
from pellucid.core.functions.impurities import class_impurity
from pellucid.lab.pages.decision_trees.table import METHODS, Grown
from pellucid.lab.scene import line, plane, points, rule, table
from pellucid.tree import candidate_thresholds


class Worth(NamedTuple):
    """What divisions are worth, one entry each: C4.5 weighs the known rows only."""

    threshold: Any  # NaN: one branch per value
    gain: Any
    information: Any  # entropy of the division itself

    @property
    def ratio(self) -> Any:
        safe = np.where(self.information > 0, self.information, 1.0)
        return np.where(self.information > 0, self.gain / safe, 0.0)


def worth(sums: Any, lost: float, criterion: str, threshold: Any) -> Worth:
    """From the class weights (divisions, groups, classes); ``lost``: weight of no known group."""
    size = sums.sum(axis=2)  # (divisions, groups)
    total = size.sum(axis=1)
    share = size / total[:, None]
    inside = (share * class_impurity(sums, criterion)).sum(axis=1)
    gain = class_impurity(sums.sum(axis=1), criterion) - inside
    return Worth(threshold, gain * total / (total + lost), class_impurity(size, "entropy"))


def divisions(grown: Grown, node: int, j: int) -> Worth | None:
    """Column j at a node: one division of a category, or one for every threshold."""
    w = grown.weight[:, node]
    rows = np.flatnonzero(w > 0)
    x, y, w = grown.table[rows, j], grown.y[rows], w[rows]
    missing = np.isnan(x)
    if missing.all():
        return None
    cells = w[:, None] * np.eye(int(grown.data.y.max()) + 1)[y]  # (n, classes)
    none = cells[missing].sum(axis=0)
    cart = isinstance(grown.model, DecisionTreeClassifier)
    criterion = grown.model.criterion if cart else "entropy"
    fractions = not cart and grown.model.missing == "fractions"
    lost = float(none.sum()) if fractions else 0.0
    if grown.categorical[j]:
        values = np.unique(x[~missing])
        sums = np.stack([cells[x == value].sum(axis=0) for value in values])[None]
        if not fractions:
            sums[0, sums[0].sum(axis=1).argmax()] += none  # the most common value
        return worth(sums, lost, criterion, np.array([np.nan]))
    cuts = candidate_thresholds(x, y, rule="midpoint" if cart else "label_change")
    low = (x[None, :] <= cuts[:, None]) @ np.where(missing[:, None], 0.0, cells)
    sums = np.stack([low, cells[~missing].sum(axis=0) - low], axis=1)
    if not cart:
        if not fractions and len(cuts):
            larger = sums.sum(axis=2).argmax(axis=1)
            sums[np.arange(len(cuts)), larger] += none
        return worth(sums, lost, criterion, cuts) if len(cuts) else None
    if missing.any():  # a missing cell goes where it helps more; known or not is a question too
        sides = [sums + none * np.eye(2)[s][:, None] for s in (0, 1)]
        gains = [worth(side, 0.0, criterion, cuts).gain for side in sides]
        known = np.stack([cells[~missing].sum(axis=0), none])[None]
        sums = np.where((gains[0] >= gains[1])[:, None, None], *sides)
        sums, cuts = np.concatenate([sums, known]), np.r_[cuts, np.inf]
    return worth(sums, 0.0, criterion, cuts) if len(cuts) else None


def curves(grown: Grown, node: int) -> Any:
    """CART: the impurity that every threshold of every column would leave."""
    tree = grown.model.tree_
    before = float(tree.impurity[node])
    marks, least = [rule(y=before, label="impurity of the node")], before
    for j, name in enumerate(grown.names):
        known = grown.table[:, j][~np.isnan(grown.table[:, j])]
        low, high = float(known.min()), float(known.max())
        found = divisions(grown, node, j)
        if found is not None:
            order = np.argsort(found.threshold, kind="stable")
            place = (np.minimum(found.threshold, high) - low)[order] / max(high - low, 1e-300)
            left = before - found.gain[order]
            least = min(least, float(left.min()))
            marks.append(line(place, left, colour=j + 2, label=name))
            marks.append(points(place, left, group=j + 2, size=0.5))
            if j == int(tree.feature[node]):
                k = int(np.argmin(left))
                marks.append(points([place[k]], [left[k]], group="accent", size=1.8, label="best"))
    fall = max(before - least, 1e-9)
    title, x = "Impurity after every possible split", "threshold, as share of the column's range"
    box = (0, 1, max(0.0, least - 0.4 * fall), before + 0.15 * fall)
    alt = "Weighted impurity of the two sides for every threshold of every column."
    return plane("splits", marks, title=title, x=x, y="impurity of the two sides", box=box, alt=alt)


def merits(grown: Grown, node: int, method: str) -> Any:
    """ID3 and C4.5: gain and gain ratio of every attribute, the chosen one lit."""
    ratio = METHODS[method] == "gain_ratio"
    rows, chosen = [], int(grown.model.tree_.feature[node])
    for j, name in enumerate(grown.names):
        found = divisions(grown, node, j)
        if found is None:
            rows.append([f"{name}: no cut", 0.0, 0.0, 0.0])
            continue
        best = int(np.argmax(found.ratio if ratio else found.gain))
        asks = f"{name}?" if grown.categorical[j] else f"{name} ≤ {found.threshold[best]:.3g}"
        values = (found.gain[best], found.information[best], found.ratio[best])
        rows.append([asks, *(round(float(v), 4) for v in values)])
    columns = ["question", "gain", "H_A", "gain ratio"]
    column = 3 if ratio else 1
    lit = [(chosen, column)] if chosen >= 0 else []
    title = f"{method} takes the largest {columns[column]}"
    lit_rows = [chosen] if chosen >= 0 else []
    alt = "Gain, split information H_A and gain ratio of every attribute."
    return table("splits", columns, rows, title=title, lit=lit, lit_rows=lit_rows, alt=alt)
