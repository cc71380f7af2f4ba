r"""Stability: would the same k give the same clusters again?

The same estimator is run many times with one start each, on

    seeds       all rows, another seed each time         (does the search end in one place?)
    subsample   a share of the rows, drawn without replacement
    bootstrap   as many rows as there are, drawn with replacement

and each pair of runs is compared on the rows both have seen, by the adjusted Rand index: 1 for
the same clusters whatever their numbers, 0 by chance. The score is the mean over the pairs.

    modal partition   the one that most runs found, and the share of the runs that did; runs on a
                      part of the rows are completed by ``predict``. An estimator that cannot
                      predict is fitted to all rows instead, and the share is that of the runs
                      which agree with it on all rows they saw.
    consensus         for each pair of rows, the share of the runs with both that put them together

References: Ben-Hur, Elisseeff & Guyon (2002); Monti et al. (2003); von Luxburg (2010).
"""

import warnings
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.partitions import adjusted_rand, cross_counts, renumbered
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator

RESAMPLES = ("seeds", "subsample", "bootstrap")
UNSEEN = -1  # in the labels of a run
LARGEST = 20_000  # rows of a consensus matrix: 3.2 GB


@readable
class StabilityResult(NamedTuple):
    """How well the runs agree, and the partition that most of them found.

    >>> from pellucid import KMeans
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> cluster_stability(KMeans(2), X, n_runs=5, random_state=0).score
    1.0
    """

    score: float  # mean agreement of the pairs
    agreement: Array  # (n_runs, n_runs) adjusted Rand indices, 1 on the diagonal
    modal_share: float  # share of the runs that found the most frequent partition
    modal_labels: IntArray  # (n,) numbered by first row


class Runs(NamedTuple):
    """Labels of many runs."""

    labels: IntArray  # (n_runs, n), UNSEEN where a row was not in the sample
    whole: IntArray | None  # (n_runs, n) labels of all rows, None if the estimator cannot say


def with_settings(estimator: BaseEstimator, **values: Any) -> Any:
    """A clone with these parameters set wherever it has them, also inside a pipeline.

    >>> from pellucid import KMeans
    >>> with_settings(KMeans(3), n_init=1, random_state=5, n_components=2)
    KMeans(n_clusters=3, n_init=1, random_state=5)
    """
    model = clone(estimator)
    last = {name: name.rpartition("__")[2] for name in model.get_params(deep=True)}
    return model.set_params(**{name: values[own] for name, own in last.items() if own in values})


def labels_of(model: BaseEstimator, X: ArrayLike) -> IntArray:
    """Fit and label the rows; a run that did not converge is a run all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit_predict(X))


def rows_of_run(resample: str, n: int, fraction: float, rng: Rng) -> IntArray:
    """The rows one run is fitted to."""
    if resample == "seeds":
        return np.arange(n)
    if resample == "bootstrap":
        return np.sort(rng.integers(n, size=n))
    return np.sort(rng.choice(n, max(2, round(fraction * n)), replace=False))


def run_many(
    estimator: BaseEstimator, X: Array, *, n_runs: int, resample: str, fraction: float, rng: Rng
) -> Runs:
    """Labels of ``n_runs`` runs with one start each."""
    n = len(X)
    labels = np.full((n_runs, n), UNSEEN, dtype=np.intp)
    whole = np.empty((n_runs, n), dtype=np.intp)
    complete = True
    for r in range(n_runs):
        rows = rows_of_run(resample, n, fraction, rng)
        model = with_settings(estimator, n_init=1, random_state=int(rng.integers(2**31)))
        found = renumbered(labels_of(model, X[rows]))
        labels[r, rows] = found
        if resample == "seeds":
            whole[r] = found
        elif hasattr(model, "predict"):
            whole[r] = renumbered(np.asarray(model.predict(X)))
        else:
            complete = False
    return Runs(labels, whole if complete else None)


def pair_agreement(a: IntArray, b: IntArray) -> float:
    """The adjusted Rand index on the rows that both runs saw; NaN if fewer than two.

    >>> pair_agreement(np.array([0, 0, 1, -1]), np.array([1, 1, 0, 0]))
    1.0
    """
    both = (a != UNSEEN) & (b != UNSEEN)
    return adjusted_rand(cross_counts(a[both], b[both])) if both.sum() >= 2 else float("nan")


def agreements(labels: IntArray) -> Array:
    """The agreement of every pair of runs."""
    n_runs = len(labels)
    A = np.eye(n_runs)
    for i in range(n_runs):
        for j in range(i):
            A[i, j] = A[j, i] = pair_agreement(labels[i], labels[j])
    return A


def modal_partition(whole: IntArray) -> tuple[float, IntArray]:
    """The most frequent row of ``whole`` (the first of equals) and its share."""
    counts = Counter(row.tobytes() for row in whole)
    key, times = counts.most_common(1)[0]
    first = next(row for row in whole if row.tobytes() == key)
    return times / len(whole), first


def _checked(
    estimator: BaseEstimator, X: ArrayLike, n_runs: int, resample: str, fraction: float
) -> Array:
    check.whole(at_least=2, n_runs=n_runs)
    check.one_of(RESAMPLES, resample=resample)
    check.fraction(fraction=fraction)
    if not hasattr(estimator, "fit_predict"):
        name = type(estimator).__name__
        raise TypeError(f"estimator must have fit_predict, as clusterings do, got {name}")
    if resample == "seeds":
        settings = {key.rpartition("__")[2] for key in estimator.get_params(deep=True)}
        if "random_state" not in settings:
            why = f"{type(estimator).__name__} has no random_state, so every run would be the same"
            raise ValueError(f"{why}; use resample='subsample' or 'bootstrap'")
    rows = frame_matrix(X) if is_frame(X) else X
    return check_array(rows, dtype=np.float64, ensure_min_samples=2)


def cluster_stability(
    estimator: BaseEstimator,
    X: ArrayLike,
    *,
    n_runs: int = 20,
    resample: str = "seeds",
    fraction: float = 0.8,
    random_state: Seed = None,
) -> StabilityResult:
    """Run a clustering many times and measure how well the runs agree.

    Parameters
    ----------
    estimator : estimator with ``fit_predict``
        Runs are clones with ``n_init=1`` and a seed of their own.
    X : array-like of shape (n_samples, n_features)
        The rows.
    n_runs : int, default=20
        How often the clustering is repeated.
    resample : {"seeds", "subsample", "bootstrap"}, default="seeds"
        What differs between the runs: the seed alone, or the rows too.
    fraction : float, default=0.8
        The share of the rows in a subsample.
    random_state : int, RandomState, Generator or None
        Seed of the runs.

    Returns
    -------
    StabilityResult
        ``score, agreement, modal_share, modal_labels``.

    Examples
    --------
    >>> from pellucid import KMeans
    >>> X = [[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]
    >>> result = cluster_stability(KMeans(2), X, n_runs=5, random_state=0)
    >>> result.score, result.modal_share, result.modal_labels
    (1.0, 1.0, array([0, 0, 0, 1, 1, 1]))
    """
    A = _checked(estimator, X, n_runs, resample, fraction)
    rng = generator(random_state)
    runs = run_many(estimator, A, n_runs=n_runs, resample=resample, fraction=fraction, rng=rng)
    table = agreements(runs.labels)
    above = table[np.triu_indices(n_runs, 1)]
    if runs.whole is not None:
        share, modal = modal_partition(runs.whole)
    else:
        modal = renumbered(labels_of(with_settings(estimator, random_state=0), A))
        same = [pair_agreement(run, modal) == 1.0 for run in runs.labels]
        share = float(np.mean(same))
    return StabilityResult(float(np.nanmean(above)), table, share, modal)


def consensus_matrix(
    estimator: BaseEstimator,
    X: ArrayLike,
    *,
    n_runs: int = 20,
    resample: str = "subsample",
    fraction: float = 0.8,
    random_state: Seed = None,
) -> Array:
    """How often each pair of rows was put together, of the runs that saw both.

    Parameters
    ----------
    estimator, X, n_runs, resample, fraction, random_state
        As for ``cluster_stability``; NaN for two rows that were never seen together.

    Examples
    --------
    >>> from pellucid import KMeans
    >>> C = consensus_matrix(KMeans(2), [[0.0], [0.1], [9.0], [9.1]], resample="seeds", n_runs=4)
    >>> C[0]
    array([1., 1., 0., 0.])
    """
    A = _checked(estimator, X, n_runs, resample, fraction)
    n = len(A)
    if n > LARGEST:
        raise ValueError(f"a consensus of {n} rows would take {8e-9 * n * n:.1f} GB; use a sample")
    rng = generator(random_state)
    runs = run_many(estimator, A, n_runs=n_runs, resample=resample, fraction=fraction, rng=rng)
    together, seen = np.zeros((n, n)), np.zeros((n, n))
    for label in runs.labels:
        for g in range(int(label.max()) + 1):
            group = np.flatnonzero(label == g)
            together[np.ix_(group, group)] += 1.0
        rows = np.flatnonzero(label != UNSEEN)
        seen[np.ix_(rows, rows)] += 1.0
    return np.divide(together, seen, out=np.full((n, n), np.nan), where=seen > 0)
