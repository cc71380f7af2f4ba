"""Three fixed splits of a table: two thirds to learn from, one third to judge.

groups   whole groups judge, every group once
time     three stretches of three quarters of the rows, an eighth apart; the last third judges
else     three folds, stratified for classes
"""

from typing import Any

import numpy as np

SPLITS = 3


def splits_of(entry: dict[str, Any], frame: Any) -> list[tuple[Any, Any]]:
    """Rows to learn from and rows to judge, three times; the same on every machine."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

    n = frame.height
    if entry["time"]:
        return [_stretch(n, i) for i in range(SPLITS)]
    rows = np.zeros((n, 1))
    y = frame[entry["target"]].to_numpy()
    if entry["group"]:
        groups = frame[entry["group"]].to_numpy()
        folds = GroupKFold(SPLITS, shuffle=True, random_state=0).split(rows, y, groups)
    elif entry["kind"] == "class":
        folds = StratifiedKFold(SPLITS, shuffle=True, random_state=0).split(rows, y.astype(str))
    else:
        folds = KFold(SPLITS, shuffle=True, random_state=0).split(rows)
    return list(folds)


def _stretch(n: int, i: int) -> tuple[Any, Any]:
    """The i-th of the overlapping stretches of rows in time, cut at two thirds."""
    begin, end = n * i // 8, n * (i + 6) // 8
    cut = begin + 2 * (end - begin) // 3
    return np.arange(begin, cut), np.arange(cut, end)
