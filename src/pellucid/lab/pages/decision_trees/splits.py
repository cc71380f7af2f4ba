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


def c45_cut(found: Worth, weight: float, known: Any) -> Worth | None:
    """C4.5's cut of a number: the greatest gain, less the price of choosing among the cuts.

    The threshold is the largest of the ``known`` values up to the midpoint.
    """
    paid = found.gain - np.log2(max(len(found.gain), 1)) / weight
    best = int(np.argmax(paid)) if len(paid) else 0
    if not len(paid) or not paid[best] > 0:
        return None
    threshold = known[known <= found.threshold[best]].max()
    return Worth(np.array([threshold]), paid[[best]], found.information[[best]])


def enough_gain(grown: Grown, found: list[Worth | None]) -> float:
    """The average gain of the questions, C4.5's bar; names of rows are left out of it."""
    n = len(grown.table)
    many = [
        is_one and len(np.unique(grown.table[:, j])) >= 0.3 * n
        for j, is_one in enumerate(grown.categorical)
    ]
    gains = [
        float(f.gain[0])
        for f, row_number in zip(found, many, strict=True)
        if f is not None and (all(many) or not row_number)
    ]
    return float(np.mean(gains)) if gains else 0.0


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
    ratio = not cart and grown.model.criterion == "gain_ratio"
    if grown.categorical[j]:
        values = np.unique(x[~missing])
        sums = np.stack([cells[x == value].sum(axis=0) for value in values])[None]
        if not fractions:
            sums[0, sums[0].sum(axis=1).argmax()] += none  # the most common value
        if ratio and (sums.sum(axis=2) >= 2 - 1e-9).sum() < 2:
            return None
        return worth(sums, lost, criterion, np.array([np.nan]))
    cuts = candidate_thresholds(x, y, rule="midpoint" if cart or ratio else "label_change")
    low = (x[None, :] <= cuts[:, None]) @ np.where(missing[:, None], 0.0, cells)
    sums = np.stack([low, cells[~missing].sum(axis=0) - low], axis=1)
    if not cart:
        if not fractions and len(cuts):
            larger = sums.sum(axis=2).argmax(axis=1)
            sums[np.arange(len(cuts)), larger] += none
        if not ratio:
            return worth(sums, lost, criterion, cuts) if len(cuts) else None
        column = grown.table[:, j]
        least = np.clip(0.1 * w[~missing].sum() / cells.shape[1], 2, 25) - 1e-9
        side = ((x[None, :] <= cuts[:, None]) & ~missing) @ w
        wide = np.minimum(side, w[~missing].sum() - side) >= least
        found = worth(sums[wide], lost, criterion, cuts[wide])
        return c45_cut(found, float(w.sum()), column[~np.isnan(column)])
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
        if not len(known):  # nothing is known of it anywhere
            continue
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
    asked = [divisions(grown, node, j) for j in range(len(grown.names))]
    for j, (name, found) in enumerate(zip(grown.names, asked, strict=True)):
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
    if ratio:
        title += f" among gains of about {enough_gain(grown, asked):.4f}, the average, or more"
    lit_rows = [chosen] if chosen >= 0 else []
    alt = "Gain, split information H_A and gain ratio of every attribute."
    return table("splits", columns, rows, title=title, lit=lit, lit_rows=lit_rows, alt=alt)
