"""Trees, forests and boosting as plain Python or C99: tables of nodes and a short walk.

The sums are taken in the model's own order, so that the answers are the model's, bit for bit.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.ensemble.boosting.gradient_model import GradientBoosting
from pellucid.ensemble.boosting.hist_model import HistGradientBoosting
from pellucid.ensemble.forest.forest_model import ForestEstimator
from pellucid.ensemble.tree_sums import TreeSum, places_of, tree_sum


class Parts(NamedTuple):
    """What the code needs beside the nodes."""

    trees: TreeSum
    right: Any  # (nodes,) of all nodes
    start: Array  # (K,) what the sums begin with
    after: Array  # (K,) what is added to them at the end
    divide: int
    places: dict[int, dict[Any, int]]  # of the columns of categories
    labels: list[Any] | None
    exponential: bool


def parts_of(model: BaseEstimator) -> Parts:
    """The sums of the model in its own order."""
    trees = tree_sum(model)
    K = len(trees.constant)
    start, after, divide = np.zeros(K), np.zeros(K), 1
    if isinstance(model, ForestEstimator):
        trees, divide = trees._replace(value=model.forest_.answers()), model.forest_.n_trees
    elif isinstance(model, GradientBoosting):
        after = trees.constant
    elif isinstance(model, HistGradientBoosting):
        start = trees.constant
    first = np.repeat(trees.start[:-1], np.diff(trees.start))
    right = np.where(trees.right >= 0, first + trees.right, -1)
    labels = model.classes_.tolist() if is_classifier(model) else None
    logarithm = trees.scale == "logarithm of the prediction"
    return Parts(trees, right, start, after, divide, places_of(model, trees), labels, logarithm)


def python_trees(parts: Parts) -> str:
    """FEATURE, THRESHOLD, ... and ``scores(x)``."""
    trees, K = parts.trees, len(parts.start)
    lines = [
        f"FEATURE = {np.maximum(trees.feature, -1).tolist()}",
        f"THRESHOLD = {_python(trees.threshold)}",
        f"MISSING_LEFT = {trees.missing_left.tolist()}",
        f"RIGHT = {parts.right.tolist()}",
        f"VALUE = {[tuple(row) for row in trees.value.tolist()]}",
        f"TREES = {list(zip(trees.start[:-1].tolist(), trees.column.tolist(), strict=True))}",
    ]
    cell = "x[FEATURE[i]]"
    if parts.places:
        sets = {
            i: sum(
                int(np.uint64(np.int64(word))) << (64 * k)
                for k, word in enumerate(trees.sets[trees.category[i]].tolist())
            )
            for i in np.flatnonzero(trees.category >= 0).tolist()
        }
        lines += [f"PLACES = {parts.places}", f"LEFT_PLACES = {sets}"]
        ask = (
            "            if i in LEFT_PLACES:\n"
            "                place = PLACES[FEATURE[i]].get(cell, -1)\n"
            "                left = MISSING_LEFT[i] if place < 0 else LEFT_PLACES[i] >> place & 1\n"
            "            else:\n"
            "                left = cell <= THRESHOLD[i] or (cell != cell and MISSING_LEFT[i])\n"
        )
    else:
        ask = "            left = cell <= THRESHOLD[i] or (cell != cell and MISSING_LEFT[i])\n"
    end = "total"
    if parts.divide > 1:
        end = f"[v / {parts.divide} for v in total]"
    elif parts.after.any():
        end = f"[a + v for a, v in zip({_python(parts.after)}, total)]"
    lines.append(f'''

def scores(x):
    """The {K} sum(s) of the trees for one row; float("nan") is a missing cell."""
    total = {_python(parts.start)}
    for i, column in TREES:
        while FEATURE[i] >= 0:
            cell = {cell}
{ask}            i = i + 1 if left else RIGHT[i]
        for k, v in enumerate(VALUE[i]):
            total[column + k] += v
    return {end}''')
    return "\n".join(lines)


def c_trees(parts: Parts) -> str:
    """static arrays and ``scores(x, out)``."""
    if parts.places:
        raise ValueError("C source is written for columns of numbers; this model asks categories")
    trees, K, width = parts.trees, len(parts.start), parts.trees.value.shape[1]
    arrays = [
        c_array("int", "feature", np.maximum(trees.feature, -1)),
        c_array("double", "threshold", trees.threshold),
        c_array("unsigned char", "missing_left", trees.missing_left),
        c_array("int", "right_child", parts.right),
        c_array("double", "value", trees.value.ravel()),
        c_array("int", "first_node", trees.start[:-1]),
        c_array("int", "first_sum", trees.column),
        c_array("double", "start", parts.start),
    ]
    if parts.after.any():
        arrays.append(c_array("double", "after", parts.after))
    end = f"total[k] / {parts.divide}.0" if parts.divide > 1 else "after[k] + total[k]"
    if parts.divide == 1 and not parts.after.any():
        end = "total[k]"
    return (
        "\n".join(arrays)
        + f"""

/* The {K} sum(s) of the trees for one row; NAN is a missing cell. */
void scores(const double *x, double *out) {{
    double total[{K}];
    for (int k = 0; k < {K}; k++) total[k] = start[k];
    for (int t = 0; t < {trees.n_trees}; t++) {{
        int i = first_node[t];
        while (feature[i] >= 0) {{
            double cell = x[feature[i]];
            int left = cell <= threshold[i] || (cell != cell && missing_left[i]);
            i = left ? i + 1 : right_child[i];
        }}
        for (int k = 0; k < {width}; k++) total[first_sum[t] + k] += value[{width} * i + k];
    }}
    for (int k = 0; k < {K}; k++) out[k] = {end};
}}"""
    )


def _python(values: ArrayLike) -> str:
    """A list of floats that Python reads back exactly; infinity without a name."""
    return repr(np.asarray(values, np.float64).tolist()).replace("inf", "1e999")


def c_array(kind: str, name: str, values: ArrayLike) -> str:
    """``static const kind name[] = {...};``"""
    words = ", ".join(repr(v).replace("inf", "INFINITY") for v in np.asarray(values).tolist())
    return f"static const {kind} {name}[] = {{{words}}};"
