"""The scores of one answer on the judged rows, with their own chance."""

import math
from typing import Any

import numpy as np

LEAST = 1e-6  # a class said to be impossible costs log(1e6), not infinity


def log_loss(y: Any, likely: Any, classes: Any) -> Any:
    """The loss of every row; a class that was not in the rows learned from has no probability."""
    p = np.clip(np.nan_to_num(np.asarray(likely, dtype=float)), LEAST, None)
    p = p / p.sum(axis=1, keepdims=True)
    at = {str(word): j for j, word in enumerate(classes)}
    column = np.array([at.get(str(label), -1) for label in y])
    return np.where(column >= 0, -np.log(p[np.arange(len(y)), column]), -math.log(LEAST))


def scores_of(y: Any, answer: dict[str, Any], kind: str, groups: Any = None) -> dict[str, Any]:
    """Every measure with its standard error (over whole groups where there are groups)."""
    if kind == "number":
        square = (np.asarray(answer["prediction"], dtype=float) - np.asarray(y, dtype=float)) ** 2
        rmse = math.sqrt(float(square.mean()))
        return {"rmse": [rmse, _error(square, groups) / (2 * rmse) if rmse else 0.0]}
    hit = np.asarray(answer["prediction"]).astype(str) == np.asarray(y).astype(str)
    found = {"accuracy": [float(hit.mean()), _error(hit.astype(float), groups)]}
    if np.size(answer["likely"]):
        loss = log_loss(y, answer["likely"], answer["classes"])
        found["log_loss"] = [float(loss.mean()), _error(loss, groups)]
    return found


def tested_scores(y: Any, answer: dict[str, Any], kind: str, groups: Any) -> dict[str, Any] | None:
    """Scores of the model that the tool's own estimate is about; None where it is the same one."""
    if not np.size(answer.get("tested", ())):
        return None
    other = answer | {"prediction": answer["tested"], "likely": np.empty(0)}
    return scores_of(y, other, kind, groups)


def _error(values: Any, groups: Any) -> float:
    """The standard error of a mean, over rows or over whole groups."""
    n = len(values)
    at = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(at, weights=values - values.mean())
    m = len(sums)
    return float(math.sqrt(m / (m - 1) * (sums**2).sum()) / n) if m > 1 else math.nan
