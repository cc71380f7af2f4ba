"""The table that a tree is grown from: ranges, row numbers, erased cells; and the grown tree."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid import DecisionTreeClassifier, MultiwayTreeClassifier
from pellucid.lab.page import LabData
from pellucid.tree.multiway.multiway import walk
from pellucid.tree.multiway.record import MultiwayTree

METHODS = {"ID3": "entropy", "C4.5": "gain_ratio", "CART": "gini"}
LOST = ("by chance", "in the last class only")
FILL = {"fractions": "fractions", "most common value": "mode"}


class Grown(NamedTuple):
    """A full tree and what its frames are drawn from."""

    model: Any
    data: LabData
    table: Any  # training rows as the tree reads them, NaN missing
    y: Any
    test: Any
    y_test: Any
    names: tuple[str, ...]
    categorical: Any  # (d,)
    read: Callable[[Any], Any]  # points of the plane -> rows of the table
    parent: Any
    children: list[list[int]]
    weight: Any  # (n, nodes) how much of each training row is in each node
    erased: Any  # (rows of the data,) rows without x1
    edges: Any  # (ranges + 1, 2) of ID3's columns
    code: str


def range_edges(data: LabData, params: dict[str, Any]) -> Any:
    return np.linspace(data.X.min(axis=0), data.X.max(axis=0), params["ranges"] + 1)


def make_table(data: LabData, params: dict[str, Any], seed: int) -> tuple[Any, Any, Any, str]:
    """Columns of all rows, which are categories, how points of the plane are read, the Python."""
    X, code, columns = data.X, "", [data.X]
    ranges, bins = params["method"] == "ID3", params["ranges"]
    edges = range_edges(data, params)[1:-1]

    def in_ranges(rows: np.ndarray) -> Any:
        return np.column_stack([np.digitize(rows[:, j], edges[:, j]) for j in (0, 1)]).astype(float)

    if ranges:
        columns = [in_ranges(X)]
        code += f"edges = np.linspace(X.min(axis=0), X.max(axis=0), {bins + 1})[1:-1]\n"
        code += "X = np.column_stack([np.digitize(X[:, j], edges[:, j]) for j in (0, 1)]) * 1.0\n"
    if params["row_number"]:
        columns.append(np.arange(len(X), dtype=float)[:, None])
        code += "X = np.column_stack([X, np.arange(len(X))])  # the row number as an attribute\n"
    table = np.column_stack(columns)
    erased = np.zeros(len(X), bool)
    if params["missing"] > 0:
        train = np.arange(len(X)) if data.held_out is None else np.flatnonzero(~data.held_out)
        if params["lost"] == LOST[1]:
            train = train[data.y[train] == data.y.max()]
        order = np.random.default_rng([seed, 13]).permutation(train)
        erased[order[: round(params["missing"] * len(train))]] = True
        table[erased, 0] = np.nan
        code += f"X[{np.flatnonzero(erased).tolist()}, 0] = np.nan  # cells that are not known\n"
    categorical = np.array([ranges, ranges, params["method"] != "CART"][: table.shape[1]])

    def read(rows: np.ndarray) -> Any:
        found = in_ranges(rows) if ranges else rows
        return np.column_stack([found, np.full(len(rows), -1.0)]) if params["row_number"] else found

    return table, erased, (categorical, read), code


def make_model(params: dict[str, Any], categorical: Any) -> tuple[Any, str]:
    """The estimator, not fitted, and the Python that makes it."""
    depth = params["depth"]
    if params["method"] == "CART":
        words = f"criterion={params['criterion']!r}, max_depth={depth}"
        model = DecisionTreeClassifier(criterion=params["criterion"], max_depth=depth)
        imported = "from pellucid import DecisionTreeClassifier\n\n"
        return model, f"{imported}model = DecisionTreeClassifier({words})"
    columns = np.flatnonzero(categorical).tolist()
    settings = {"criterion": METHODS[params["method"]], "max_depth": depth}
    settings |= {"categorical_features": columns, "missing": FILL[params["fill"]]}
    settings |= {"pruning": None}  # the page prunes in steps of its own
    words = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    imported = "from pellucid import MultiwayTreeClassifier\n\n"
    return MultiwayTreeClassifier(**settings), f"{imported}model = MultiwayTreeClassifier({words})"


def grow(data: LabData, params: dict[str, Any], seed: int) -> Grown:
    """The full tree of the training rows."""
    table, erased, (categorical, read), code = make_table(data, params, seed)
    held = np.zeros(len(table), bool) if data.held_out is None else data.held_out
    model, made = make_model(params, categorical)
    model.fit(table[~held], data.y[~held])
    tree = model.tree_
    parent = tree.parent if isinstance(tree, MultiwayTree) else tree.depths()[1]
    children: list[list[int]] = [[] for _ in range(tree.node_count)]
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            children[above].append(node)
    names = (*data.names, "row number")[: table.shape[1]]
    rows, y, weight = table[~held], data.y[~held], weights(model, table[~held], parent)
    read_as = (names, categorical, read, parent, children, weight, erased)
    code, edges = f"{code}||{made}", range_edges(data, params)
    return Grown(model, data, rows, y, table[held], data.y[held], *read_as, edges, code)


def weights(model: BaseEstimator, table: Any, parent: Any) -> Any:
    """The part of each row that reaches each node."""
    tree = model.tree_
    if not isinstance(tree, MultiwayTree):
        return model.decision_path(table).toarray().astype(float)
    visit = walk(tree, model._columns(table), fractions=model.missing == "fractions")
    W = np.zeros((len(table), tree.node_count))
    np.add.at(W, (visit.rows, visit.nodes), visit.weight)
    for node in range(tree.node_count - 1, 0, -1):
        W[:, parent[node]] += W[:, node]
    return W


def question(grown: Grown, node: int) -> str:
    """What a node asks."""
    tree = grown.model.tree_
    j, t = int(tree.feature[node]), float(tree.threshold[node])
    if grown.categorical[j]:
        return f"{grown.names[j]}?"
    if np.isinf(t):
        return f"{grown.names[j]} known"
    return f"{grown.names[j]} ≤ {t:.3g}"


def branch(grown: Grown, node: int) -> str:
    """What leads to a node."""
    above = int(grown.parent[node])
    tree = grown.model.tree_
    j = int(tree.feature[above])
    if grown.categorical[j]:
        value = int(grown.model.categories_[j][int(tree.branch[node])])
        if j < 2:
            return "…".join(f"{edge:.3g}" for edge in grown.edges[value : value + 2, j])
        return str(value)
    return "yes" if grown.children[above][0] == node else "no"
