r"""Rows unlike the others, and which of their cells make them so.

Robust normal description of the bulk: start from the half of the rows nearest to the medians, then
concentrate (mean and covariance of the nearest 75 %, again, until the same rows stay), so that the
odd rows do not pull the description towards themselves (Rousseeuw & Van Driessen 1999):

    d^2 = (x - m)' S^-1 (x - m),        a row is rated by d / its median over the rows

Why a row is odd, cell by cell: with Q = S^-1 and g = Q (x - m), the value expected from the other
columns is x_j - g_j / Q_jj with variance 1 / Q_jj, so

    surprise_j = g_j / sqrt(Q_jj)       in standard deviations, given all the others.

Other detectors of the library may rate the rows instead; the reasons are found the same way.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import pellucid
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.study.candidates.candidates import public
from pellucid.study.tables.inputs import Inputs, known_method, load_table, open_inputs
from pellucid.study.wording import listed, source_name

BULK = 0.75  # share of the rows that describe the others
STEPS = 50
FLOOR = 1e-6  # of a variance, so that dependent columns do no harm
SURPRISE = 3.0  # standard deviations worth a word
REASONS, SMEAR = 3, 0.5
SHOWN_ROWS = 3000  # in the picture of the scores
FAR = 3.0  # times the median distance


DETECTORS: dict[str, tuple[str, Callable[[int], Any] | None]] = {  # class, how it is made by a seed
    "normal": ("", None),  # the description above
    "isolation": ("IsolationForest", lambda seed: public("IsolationForest")(random_state=seed)),
    "neighbours": ("LocalOutlierFactor", lambda seed: public("LocalOutlierFactor")()),
    "envelope": ("EllipticEnvelope", lambda seed: public("EllipticEnvelope")(random_state=seed)),
    "density": (
        "DensityOutlier",
        lambda seed: public("DensityOutlier")(public("GaussianMixture")(random_state=seed)),
    ),
    "svm": ("OneClassSVM", lambda seed: public("OneClassSVM")(nu=0.1)),
}


def find_detector(name: str) -> Callable[[int], Any] | None:
    """What makes the detector called ``name``; None for the normal description of this file."""
    ready = [key for key, (needs, _) in DETECTORS.items() if not needs or needs in pellucid._HOME]
    return DETECTORS[known_method(name, ready)][1]


class Bulk(NamedTuple):
    """Mean and inverse covariance of the rows that are like each other."""

    mean: Array  # (p,)
    precision: Array  # (p, p)
    rows: int


class Reason(NamedTuple):
    """One cell that is unlike what the rest of its row lets expect."""

    feature: str
    value: float
    expected: float
    surprise: float  # standard deviations


class Unusual(NamedTuple):
    """Scores of all rows, the flagged ones (oddest first) and their reasons."""

    scores: Array  # (n,), 1 is the median row
    flagged: IntArray
    threshold: float
    reasons: list[list[Reason]]
    method: str
    share: float
    bulk: Bulk


@readable
@dataclass(frozen=True, eq=False)
class Anomalies:
    """The answer of ``find_anomalies``; ``print`` gives it in a few sentences.

    Attributes
    ----------
    unusual : Unusual
        Scores of all rows, the flagged ones (oddest first) and why each is odd.
    inputs : Inputs
        The columns used, as numbers.
    source : str
        Where the table came from.
    random_state : int
        The seed.

    Examples
    --------
    >>> from pellucid.study import find_anomalies
    >>> find_anomalies({"x": [1.5, 2.0, 3.5, 2.5, 1.0, 50.0]}).unusual.flagged.tolist()
    [5]
    """

    unusual: Unusual
    inputs: Inputs
    source: str
    random_state: int

    def to_frame(self) -> pl.DataFrame:
        """Row, score and whether it is flagged, one line per row."""
        rows = np.arange(len(self.unusual.scores))
        flags = np.isin(rows, self.unusual.flagged)
        return pl.DataFrame({"row": rows, "score": self.unusual.scores.round(6), "flagged": flags})

    def to_dict(self) -> dict[str, Any]:
        """The report.json of ``pellucid anomalies``; the command line is left empty."""
        found, numeric = (
            self.unusual,
            dict(zip(self.inputs.names, self.inputs.is_number, strict=True)),
        )
        rows = [
            {
                "row": int(i),
                "score": float(found.scores[i]),
                "reasons": [r._asdict() | {"is_number": numeric[r.feature]} for r in why],
            }
            for i, why in zip(found.flagged, found.reasons, strict=True)
        ]
        some = np.sort(np.random.default_rng(0).permutation(len(found.scores))[:SHOWN_ROWS])
        record = plain(
            {
                "schema": "pellucid-anomalies/1",
                "verdict": [],
                "method": found.method,
                "share": found.share,
                "threshold": found.threshold,
                "flagged": rows,
                "bulk_rows": found.bulk.rows,
                "some_rows": {"row": some, "score": found.scores[some].round(6)},
            }
        )
        record |= self.inputs.about(self.source, self.random_state)
        return record | {"verdict": list(verdict(record))}

    def __str__(self) -> str:
        return " ".join(self.to_dict()["verdict"])


def find_anomalies(
    data: object,
    share: float = 0.01,
    *,
    method: str = "normal",
    drop: Sequence[str] = (),
    random_state: int = 0,
) -> Anomalies:
    """Find the rows of a table that are unlike the others, with the cells that make them so.

    Parameters
    ----------
    data : anything ``pellucid.data.load`` reads
        A path, a frame, a dict of columns ...
    share : float, default=0.01
        Share of the rows to list, between 0 and 1.
    method : {"normal", "isolation", "neighbours", "envelope", "density", "svm"}, default="normal"
        What rates the rows; the reasons are always those of the normal description.
    drop : sequence of str
        Columns to leave out.
    random_state : int, default=0
        The seed.

    Returns
    -------
    Anomalies
        Scores, flagged rows and reasons; ``to_dict()`` is the command's report.json.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> y = 2 * x
    >>> y[7] += 3.0
    >>> found = pellucid.find_anomalies({"x": x, "y": y}).unusual
    >>> found.flagged.tolist(), [reason.feature for reason in found.reasons[0]]
    ([7], ['y', 'x'])
    """
    check.fraction(share=share)
    find_detector(method)
    inputs = open_inputs(load_table(data, drop), drop=drop, reference=True)
    found = find_unusual(inputs, method, share, random_state)
    return Anomalies(found, inputs, source_name(data), random_state)


def find_unusual(inputs: Inputs, name: str, share: float, seed: int) -> Unusual:
    """Rate the rows and explain the share of them that is oddest."""
    make = find_detector(name)
    indicator = ~np.array(inputs.is_number) & is_zero_one(inputs.plain)
    bulk = describe(inputs.Z, indicator)
    Z = expected_in_gaps(inputs.Z, inputs.gaps, bulk)
    if make is None:
        scores = distances(Z, bulk)
        scores = scores / (np.median(scores) or 1.0)
    else:
        model = make(seed).fit(inputs.Z)
        rated = getattr(model, "negative_outlier_factor_", None)
        rated = model.score_samples(inputs.Z) if rated is None else rated
        scores = ratings(rated)
    count = min(max(1, round(share * len(scores))), len(scores))
    flagged = np.argsort(-scores, kind="stable")[:count]
    reasons = [explain(inputs, bulk, int(i), Z[i]) for i in flagged]
    return Unusual(scores, flagged, float(scores[flagged[-1]]), reasons, name, share, bulk)


def ratings(rated: Array) -> Array:
    """Scores that fall with oddness as ratings that rise with it; the median row has 1.

    Scores below zero (distances, path lengths) are divided by their median; others (log densities,
    sums of similarities) have no zero, so that one more is one median deviation.

    >>> ratings(np.array([-2.0, -1.0, -3.0])), ratings(np.array([2.0, 1.0, 0.0]))
    (array([1. , 0.5, 1.5]), array([0., 1., 2.]))
    """
    middle = float(np.median(rated))
    if rated.max() <= 0 and middle < 0:
        return rated / middle
    spread = float(np.median(np.abs(rated - middle)))
    return 1.0 + (middle - rated) / (spread or 1.0)


def is_zero_one(X: Array) -> Array:
    """Columns of 0 and 1 only."""
    return ((X == 0) | (X == 1)).all(axis=0)


def describe(Z: Array, indicator: Array) -> Bulk:
    """Mean and precision of the bulk by concentration steps.

    A rare level may be absent from the bulk: the variance of a 0/1 column is at least that over
    all rows, or every row of the level would count as odd.
    """
    n = len(Z)
    size = max(min(n, Z.shape[1] + 1), int(BULK * n))
    middle = np.median(Z, axis=0)
    spread = np.median(np.abs(Z - middle), axis=0) * 1.4826
    all_spread = Z.std(axis=0)
    spread = np.where(spread > 0, spread, np.where(all_spread > 0, all_spread, 1.0))
    far = (((Z - middle) / spread) ** 2).sum(axis=1)
    rows = np.sort(np.argsort(far, kind="stable")[: max(size * 2 // 3, min(n, 2))])
    bulk = _normal(Z, rows, indicator)
    for _ in range(STEPS):
        kept = np.sort(np.argsort(distances(Z, bulk), kind="stable")[:size])
        if np.array_equal(kept, rows):
            break
        rows = kept
        bulk = _normal(Z, rows, indicator)
    return bulk


def _normal(Z: Array, rows: IntArray, indicator: Array) -> Bulk:
    X = Z[rows]
    mean = X.mean(axis=0)
    S = np.atleast_2d(np.cov(X.T, bias=True))
    least = np.where(indicator, Z.var(axis=0), FLOOR * np.maximum(Z.var(axis=0), FLOOR))
    S[np.diag_indices_from(S)] += np.maximum(least - np.diag(S), 0.0) + FLOOR
    return Bulk(mean, np.asarray(np.linalg.inv(S), dtype=np.float64), len(rows))


def distances(Z: Array, bulk: Bulk) -> Array:
    """d of every row."""
    C = Z - bulk.mean
    return np.sqrt(np.maximum(np.einsum("ij,ij->i", C @ bulk.precision, C), 0.0))


def expected_in_gaps(Z: Array, gaps: BoolArray, bulk: Bulk) -> Array:
    """Empty cells as the others of their row let expect: d is then that of the cells there are.

    With c = x - m and Q = S^-1, the least c' Q c over the gaps g is at c_g = -Q_gg^-1 Q_go c_o.
    """
    filled = Z.copy()
    some = np.flatnonzero(gaps.any(axis=1))
    if not len(some):
        return filled
    patterns, which, sizes = np.unique(gaps[some], axis=0, return_inverse=True, return_counts=True)
    alike = some[np.argsort(which.ravel(), kind="stable")]  # rows of a pattern beside each other
    for pattern, rows in zip(patterns, np.split(alike, np.cumsum(sizes)[:-1]), strict=True):
        Q = bulk.precision[pattern]
        C = Z[np.ix_(rows, ~pattern)] - bulk.mean[~pattern]
        best = -np.linalg.solve(Q[:, pattern], Q[:, ~pattern] @ C.T).T
        filled[np.ix_(rows, pattern)] = bulk.mean[pattern] + best
    return filled


def explain(inputs: Inputs, bulk: Bulk, row: int, z: Array) -> list[Reason]:
    """The cells of a row ``z`` that the other cells do not let expect, the oddest first."""
    Q = bulk.precision
    g = Q @ (z - bulk.mean)
    surprise = g / np.sqrt(np.diag(Q))
    expected = z - g / np.diag(Q)
    order = np.argsort(-np.abs(surprise), kind="stable")[:REASONS]
    top = max(SURPRISE, SMEAR * abs(surprise[order[0]]))  # one wild cell makes the others look odd
    odd = [j for j in order if abs(surprise[j]) >= top] or list(order[:1])
    return [
        Reason(
            inputs.names[j],
            float(inputs.plain[row, j]),
            in_units(inputs, j, expected[j]),
            float(surprise[j]),
        )
        for j in odd
    ]


def in_units(inputs: Inputs, j: int, value: float) -> float:
    """A scaled value in the units of the table: features are scaled by a line."""
    z, x = inputs.Z[:, j], inputs.plain[:, j]
    a, b = int(np.argmin(z)), int(np.argmax(z))
    if z[a] == z[b]:
        return float(x[a])
    return float(x[a] + (value - z[a]) * (x[b] - x[a]) / (z[b] - z[a]))


def verdict(r: dict[str, Any]) -> tuple[str, ...]:
    """How odd the oddest rows are, and by which columns."""
    n, flagged = r["rows"], r["flagged"]
    top = flagged[0]["score"]
    clear = sum(row["score"] > FAR for row in flagged)
    if r["method"] == "normal" and clear == 0:
        first = f"No row stands far out: the oddest is {top:.1f} times as far as the median row."
    else:
        first = f"Row {flagged[0]['row']} is the oddest of {n:,}: {top:.1f} times the median score."
    lines = [first]
    if r["method"] == "normal" and clear:
        what = "row is" if clear == 1 else "rows are"
        lines.append(f"{clear:,} {what} more than {FAR:g} times as far out as the median row.")
    common = [name for name, _ in odd_columns(r).most_common(3)]
    lines.append(
        f"The {len(flagged):,} oddest ({r['share']:.1%}) are listed; most often by "
        f"{listed(common)}. Odd is not wrong: look before you delete."
    )
    return tuple(lines)


def odd_columns(r: dict[str, Any]) -> Counter[str]:
    """How often each feature is a reason."""
    return Counter(why["feature"] for row in r["flagged"] for why in row["reasons"])
