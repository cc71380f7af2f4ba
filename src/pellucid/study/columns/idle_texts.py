"""Which columns of free text help: names of rows become hundreds of features and teach nothing.

A linear model with a fixed penalty is fitted on the learning rows of every fold without the text
columns, then with one of them; a column that does not lower the loss of the judging rows (log loss,
squared error), on average and in most folds, is left out.
"""

import warnings

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.evaluation.splits.folds import FAILURES
from pellucid.linear import LogisticRegression, Ridge
from pellucid.study.candidates.training import Workshop
from pellucid.study.reading.target_arrays import CLASSES

MOST_ROWS = 50_000  # beyond, words have enough rows to speak for themselves


def idle_texts(shop: Workshop) -> tuple[str, ...]:
    """The text columns that do not help in the folds; all may help where there is nothing else."""
    texts = [name for name, kind in shop.kinds.items() if kind == "text"]
    others = [name for name in shop.kinds if name not in texts]
    kind = shop.scorer.task.kind
    if not texts or not others or len(shop.y) > MOST_ROWS or kind not in (*CLASSES, "regression"):
        return ()
    idle = []
    try:
        plain = _losses(shop, others)
        for name in texts:
            gain = plain - _losses(shop, [*others, name])
            gain = gain[np.isfinite(gain)]
            if len(gain) and not (gain.mean() > 0 and 2 * (gain > 0).sum() > len(gain)):
                idle.append(name)
    except FAILURES:  # a fold that cannot be learned from says nothing about words
        return ()
    return tuple(idle)


def _losses(shop: Workshop, columns: list[str]) -> Array:
    """Mean loss of a linear model on the judging rows of every fold."""
    classes = shop.scorer.task.kind in CLASSES
    found = []
    for i in range(len(shop.folds)):
        part = shop.outer_part(i, {"columns": columns})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not classes:
                model = Ridge(alpha=10.0).fit(part.Z_learn, part.y_learn)
                found.append(float(((model.predict(part.Z_judge) - part.y_judge) ** 2).mean()))
                continue
            model = LogisticRegression(C=0.1).fit(part.Z_learn, part.y_learn)
        known = np.isin(part.y_judge, model.classes_)
        at = np.searchsorted(model.classes_, part.y_judge[known])
        said = model.predict_proba(part.Z_judge)[known][np.arange(len(at)), at]
        found.append(float(-np.log(np.maximum(said, 1e-12)).mean()) if len(said) else np.nan)
    return np.array(found)
