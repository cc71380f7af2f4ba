"""The audit of a table against skrub's TableReport.

Bound: every numeric column is sorted once (5 million numbers in 0.15 s), every text column is
counted once, all bytes are hashed once. The peer profiles columns and their associations; it does
not look for leaks, copies of rows, exact sums or identifiers, so the answers that are compared are
the counts of missing cells and of distinct values.
"""

import json

import numpy as np

from benchmarks.harness import Case

COLOURS = np.array(["red", "green", "blue", "grey"])


def table(n, p):
    """Numbers, whole numbers, levels, truth values, an identifier and two classes."""
    import pandas as pd

    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n) for j in range(p - 10)}
    columns["x0"][::50] = np.nan
    columns |= {f"w{j}": rng.integers(0, 1000, n) for j in range(3)}
    columns |= {f"c{j}": COLOURS[rng.integers(0, 4, n)] for j in range(3)}
    columns["shop"] = np.char.add("s", rng.integers(0, 500, n).astype(str))
    columns["truth"] = rng.random(n) < 0.3
    columns["code"] = np.char.add("A", rng.permutation(n).astype(str))
    columns["y"] = (columns["x1"] + rng.normal(size=n) > 0) * 1
    return pd.DataFrame(columns)


def tall():
    return table(200_000, 30)


def wide():
    import pandas as pd

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2000))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(2000)])
    return pd.concat([frame, pd.Series(rng.integers(0, 2, 60), name="y")], axis=1)


def ours(frame):
    from pellucid.study import audit

    columns = audit(frame, "y").columns
    return np.array([column.missing for column in columns])


def skrub_report(frame, **options):
    from skrub import TableReport

    report = TableReport(frame, title="", verbose=0, **options)
    columns = json.loads(report.json())["columns"]  # the numbers, without the page around them
    return np.array([column["null_count"] for column in columns])


def skrub_plain(frame):
    return skrub_report(frame, plot_distributions=False, compute_associations=False)


CASES = [
    Case(
        "audit 200,000 x 30",
        tall,
        {"pellucid": ours, "skrub TableReport": skrub_report, "skrub without plots": skrub_plain},
        np.array_equal,
        "one sort per numeric column: 20 x 4 ms; one hash of 50 MB: 30 ms",
        note="the peer's associations are computed on a sample of 3,000 rows",
        rounds=1,
        repeats=1,
    ),
    Case(
        "audit 60 x 2,000",
        wide,
        {"pellucid": ours, "skrub without plots": skrub_plain},
        np.array_equal,
        "2,000 columns at 0.1 ms of Python each",
        rounds=1,
        repeats=1,
    ),
]
