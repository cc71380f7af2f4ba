r"""Do the rows form groups, and how many?

For every k: the within-cluster error J, the mean silhouette, Calinski and Harabasz's ratio, and
the stability (adjusted Rand index of the groups with those of subsamples). Each criterion has a
favourite k; the most votes win, the smaller k on ties. Whether there are groups at all is asked
of the gap statistic: log J(k) of the rows against rows spread evenly over the box of their
principal axes. One group there, and the answer is "none"; an elbow at several k on which the
criteria do not agree, and the answer is "several".

    elbow   drop_k = J(k-1) - J(k) >= 2 drop_(k+1)  and  >= 5 % of J(1) - J(K)
    gap     smallest k with gap(k) >= gap(k+1) - s(k+1),  s = sd sqrt(1 + 1/B)

Methods that look for dense parts (dbscan, hdbscan) find k themselves and leave rows out (label -1);
they are judged by the rows they keep, and fewer than two dense parts is the answer "none".

References: Tibshirani, Walther & Hastie (2001); Rousseeuw (1987); Ben-Hur et al. (2002).
"""

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import adjusted_rand_score

from pellucid.cluster.choosing.elbow_rule import ElbowResult, elbow
from pellucid.cluster.choosing.measures import silhouette_score
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.distances import unit_rows
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.records import plain
from pellucid.evaluation.metrics.silhouette import calinski_harabasz_index, mean_silhouette
from pellucid.study.checks.findings import finding
from pellucid.study.errors import OptionError, TaskError
from pellucid.study.records import Finding
from pellucid.study.tables.grouping_methods import EUCLIDEAN, METHODS, Method, find_method
from pellucid.study.tables.inputs import Inputs

SILHOUETTE_ROWS = 4000  # silhouettes are means over pairs: a sample of the rows is enough
GAP_ROWS, REFERENCES = 1500, 10
SUBSAMPLES, SHARE = 10, 0.8
UNSTABLE, SAME = 0.75, 0.8  # adjusted Rand indices
AS_STABLE = 0.02
TINY = 0.01  # share of the rows


class Measures(NamedTuple):
    """One k: its labels and how good they are."""

    k: int
    error: float
    silhouette: float
    calinski_harabasz: float
    stability: float
    starts: float  # share of the restarts that reached the best error
    labels: IntArray
    model: Any


class Grouping(NamedTuple):
    """The answer, and all that led to it."""

    answer: str  # "groups", "none", "several"
    chosen: Measures
    tried: list[Measures]
    single: float  # the error of one group
    elbow: ElbowResult
    gap: dict[str, list[float]]
    choices: dict[str, int | None]  # criterion -> k
    findings: tuple[Finding, ...]
    other_scale: float  # adjusted Rand index with the other scaling
    method: str
    distance: str

    def to_dict(self) -> dict[str, Any]:
        keep = ("k", "error", "silhouette", "calinski_harabasz", "stability", "starts")
        rows = [{key: getattr(m, key) for key in keep} for m in self.tried]
        labels = self.chosen.labels
        dense = METHODS[self.method].dense is not None
        return plain(
            {
                "answer": self.answer,
                "k": self.chosen.k,
                "method": self.method,
                "distance": self.distance,
                "tried": rows,
                "error_of_one_group": self.single,
                "elbow": self.elbow._asdict(),
                "gap": self.gap,
                "choices": self.choices,
                "agreement_with_other_scaling": self.other_scale,
                "sizes": np.bincount(labels[labels >= 0], minlength=self.chosen.k).tolist(),
                "noise": int((labels < 0).sum()) if dense else None,
                "findings": [f.to_dict() for f in self.findings],
            }
        )


class Space(NamedTuple):
    """How to group these rows: method, distance, restarts and seed in one place."""

    method: Method
    distance: str
    restarts: int
    seed: int

    def fit(self, Z: Array, k: int, seed: int | None = None) -> tuple[Any, IntArray]:
        """A fitted model and the labels of the rows."""
        if self.method.dense is not None:
            model = self.method.dense(Z, self.distance)
        else:
            model = self.method.make(k, self.distance, self.restarts, self.seed + (seed or 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = np.asarray(model.fit_predict(Z))
        return model, labels

    def error(self, model: BaseEstimator, Z: Array, labels: IntArray) -> float:
        """J of a model that has one, else the squares within the groups."""
        return float(model.inertia_) if hasattr(model, "inertia_") else squares_within(Z, labels)

    def view(self, Z: Array) -> Array:
        """The rows as the distance sees them."""
        return unit_rows(Z) if self.distance == "cosine" else Z


def squares_within(Z: Array, labels: IntArray) -> float:
    """Squared distances to the middles of the groups, over the rows that are in one."""
    means = [Z[labels == g].mean(axis=0) for g in range(labels.max() + 1)]
    inside = labels >= 0
    return float(((Z[inside] - np.array(means)[labels[inside]]) ** 2).sum()) if means else 0.0


def group_rows(
    inputs: Inputs,
    other: Array,
    counts: list[int],
    *,
    name: str,
    distance: str,
    restarts: int,
    seed: int,
    free: bool,
    say: Callable[[str], None],
) -> Grouping:
    """Try every k and answer; ``free`` when the number was left open, ``other`` scales otherwise.

    ``say(text)`` is told what is being done.
    """
    Z, space = inputs.Z, Space(find_method(name), distance, restarts, seed)
    if distance == "cosine" and not (np.abs(Z).sum(axis=1) > 0).all():
        raise TaskError("a row is zero in every column: it has no direction for cosine")
    if distance != "euclidean" and name in EUCLIDEAN:
        raise OptionError(f"the method {name} takes --distance euclidean, got {distance}")
    if space.method.dense is not None:
        return dense_parts(inputs, other, space, name, say)
    rng = np.random.default_rng(seed)
    tried = []
    for k in counts:
        say(f"{k} groups")
        tried.append(measure(space, Z, k, rng))
    one, labels = space.fit(Z, 1) if name == "kmeans" else (None, np.zeros(len(Z), np.intp))
    single = space.error(one, Z, labels)
    whole = counts == list(range(2, counts[-1] + 1)) and len(counts) >= 3
    bend = ElbowResult(None, (), "none")
    if whole:
        bend = elbow([single, *(m.error for m in tried)], [1, *counts])
    say("rows without groups")
    gap = gap_statistic(space, Z, counts[-1], rng) if free and whole else {}
    choices = favourites(tried, bend if whole else None, gap)
    chosen = elect(tried, choices)
    answer = "groups"
    if free and choices.get("gap") == 1:
        answer = "none"
    elif free and bend.kind == "several" and not agreed(choices, chosen.k):
        answer = "several"
    say("other scaling")
    agreement = float(adjusted_rand_score(chosen.labels, space.fit(other, chosen.k)[1]))
    found = judge(chosen, bend if whole else None, choices, agreement, inputs, free)
    return Grouping(
        answer, chosen, tried, single, bend, gap, choices, found, agreement, name, distance
    )


def dense_parts(
    inputs: Inputs, other: Array, space: Space, name: str, say: Callable[[str], None]
) -> Grouping:
    """The parts that a method finds by density, judged by the rows they hold."""
    say("dense parts")
    found = measure(space, inputs.Z, 0, np.random.default_rng(space.seed))
    kept = np.where(found.labels >= 0, 0, -1)
    say("other scaling")
    agreement = float(adjusted_rand_score(found.labels, space.fit(other, 0)[1]))
    findings = judge(found, None, {}, agreement, inputs, False) if found.k > 1 else ()
    answer = "groups" if found.k > 1 else "none"
    return Grouping(
        answer,
        found,
        [found],
        squares_within(inputs.Z, kept),
        ElbowResult(None, (), "none"),
        {},
        {},
        findings,
        agreement,
        name,
        space.distance,
    )


def measure(space: Space, Z: Array, k: int, rng: np.random.Generator) -> Measures:
    """Fit k groups (0: as many as the method finds) and judge them."""
    model, labels = space.fit(Z, k)
    k = k or int(labels.max()) + 1
    pick = rng.permutation(len(Z))[:SILHOUETTE_ROWS]
    pick = pick[labels[pick] >= 0]
    view, some = space.view(Z), labels[pick]
    codes = np.unique(some, return_inverse=True)[1]
    if not 2 <= len(np.unique(codes)) < len(codes):
        silhouette = float("nan")
    elif space.distance == "manhattan":
        silhouette = silhouette_score(view[pick], codes, metric="manhattan")
    else:
        silhouette = mean_silhouette(view[pick], codes)
    agreement = []
    for run in range(SUBSAMPLES):
        rows = np.sort(rng.choice(len(Z), max(k + 1, int(SHARE * len(Z))), replace=False))
        agreement.append(adjusted_rand_score(labels[rows], space.fit(Z[rows], k, run + 1)[1]))
    runs = np.asarray(getattr(model, "runs_", [1.0]))
    best = float((runs <= runs.min() * (1 + 1e-6)).mean())
    inside = labels >= 0
    ratio = float("nan")
    if k > 1:
        codes = np.unique(labels[inside], return_inverse=True)[1]
        ratio = calinski_harabasz_index(view[inside], codes)
    error = space.error(model, Z, labels)
    return Measures(k, error, silhouette, ratio, float(np.mean(agreement)), best, labels, model)


def gap_statistic(
    space: Space, Z: Array, most: int, rng: np.random.Generator
) -> dict[str, list[float]]:
    """log J of even rows minus log J of these rows, for k = 1..most, with its error."""
    X = Z[rng.permutation(len(Z))[:GAP_ROWS]]
    centred = X - X.mean(axis=0)
    V = np.linalg.svd(centred, full_matrices=False)[2]
    turned = centred @ V.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    quick = space._replace(restarts=min(space.restarts, 3))

    def logs(rows: Array) -> list[float]:
        found = []
        for k in range(1, most + 1):
            labels = quick.fit(rows, k)[1] if k > 1 else np.zeros(len(rows), np.intp)
            means = np.array([rows[labels == g].mean(axis=0) for g in range(labels.max() + 1)])
            found.append(np.log(max(((rows - means[labels]) ** 2).sum(), 1e-300)))
        return found

    own = np.array(logs(X))
    even = np.array(
        [logs(rng.uniform(low, high, turned.shape) @ V + X.mean(axis=0)) for _ in range(REFERENCES)]
    )
    spread = even.std(axis=0) * np.sqrt(1 + 1 / REFERENCES)
    return {"gap": (even.mean(axis=0) - own).tolist(), "error": spread.tolist()}


def favourites(
    tried: list[Measures], bend: ElbowResult | None, gap: dict[str, list[float]]
) -> dict[str, int | None]:
    """The k each criterion would choose; None where it has none."""
    choices: dict[str, int | None] = {}
    if bend is not None:
        choices["elbow"] = bend.n_clusters
    for name in ("silhouette", "calinski_harabasz"):
        values = [round(getattr(m, name), 3) for m in tried]
        finite = [v if v == v else -np.inf for v in values]
        choices[name] = tried[int(np.argmax(finite))].k if len(tried) > 1 else None
    if len(tried) > 1:  # few groups are always stable: the most that are as stable as any
        most = max(m.stability for m in tried)
        stable = [m.k for m in tried if m.stability >= most - AS_STABLE]
        choices["stability"] = max(stable) if most >= UNSTABLE else None
    if gap:
        g, s = gap["gap"], gap["error"]
        good = [k for k in range(1, len(g)) if g[k - 1] >= g[k] - s[k]]
        choices["gap"] = good[0] if good else len(g)
    return choices


def elect(tried: list[Measures], choices: dict[str, int | None]) -> Measures:
    """The k of most votes, the smaller one on ties."""
    votes = Counter(k for k in choices.values() if k is not None and k >= 2)
    if not votes:
        return tried[0]
    best = min(votes, key=lambda k: (-votes[k], k))
    return next(m for m in tried if m.k == best)


def agreed(choices: dict[str, int | None], k: int) -> bool:
    """Whether all criteria but one favour k."""
    picked = [c for c in choices.values() if c is not None]
    return picked.count(k) >= len(picked) - 1


def judge(
    chosen: Measures,
    bend: ElbowResult | None,
    choices: dict[str, int | None],
    agreement: float,
    inputs: Inputs,
    free: bool,
) -> tuple[Finding, ...]:
    """The findings PEL601 to PEL606."""
    found = []
    if free and bend is not None and bend.kind == "none":
        found.append(finding("PEL601"))
    if free and bend is not None and bend.kind == "several":
        found.append(finding("PEL602", elbows=list(bend.candidates)))
    picked: dict[str, Any] = {name: k for name, k in choices.items() if k is not None}
    if free and len(set(picked.values())) > 1:
        found.append(finding("PEL603", **picked))
    if chosen.stability < UNSTABLE:
        found.append(finding("PEL604", stability=round(chosen.stability, 3)))
    sizes = np.bincount(chosen.labels[chosen.labels >= 0], minlength=chosen.k)
    least = max(2.0, TINY * len(chosen.labels))
    if (sizes < least).any():
        found.append(finding("PEL605", sizes=sizes.tolist()))
    if agreement < SAME:
        found.append(finding("PEL606", agreement=round(agreement, 3)))
    order = {"error": 0, "warning": 1, "info": 2}
    return tuple(sorted(found, key=lambda f: order[f.severity]))
