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
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

import pellucid
from pellucid.cluster.choosing.elbow_rule import ElbowResult, elbow
from pellucid.cluster.choosing.measures import silhouette_score
from pellucid.cluster.density.dbscan import k_distances
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.distances import unit_rows
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.records import plain
from pellucid.decomposition import PCA
from pellucid.evaluation.metrics.silhouette import calinski_harabasz_index, mean_silhouette
from pellucid.study.candidates.candidates import public
from pellucid.study.checks.findings import finding
from pellucid.study.errors import OptionError, TaskError
from pellucid.study.records import Finding
from pellucid.study.tables.numbers import Inputs

SILHOUETTE_ROWS = 4000  # silhouettes are means over pairs: a sample of the rows is enough
GAP_ROWS, REFERENCES = 1500, 10
SUBSAMPLES, SHARE = 10, 0.8
UNSTABLE, SAME = 0.75, 0.8  # adjusted Rand indices
AS_STABLE = 0.02
TINY = 0.01  # share of the rows
LEAST_GROUP = 0.05  # share of the rows that hdbscan calls a group
RADII, SEARCHED_ROWS = 25, 5000  # that are tried for dbscan
MAP_ROWS = 1500  # dots on the map


class Method(NamedTuple):
    """A way to group rows: its class and how it is made for k groups."""

    needs: str  # public class
    make: Callable[[int, str, int, int], Any]  # (k, distance, restarts, seed)
    dense: Callable[[Array, str], Any] | None = None  # (Z, distance): finds k itself


def _kmeans(k: int, distance: str, restarts: int, seed: int) -> Any:
    return public("KMeans")(k, metric=distance, n_init=restarts, random_state=seed)


def _mixture(k: int, distance: str, restarts: int, seed: int) -> Any:
    return public("GaussianMixture")(k, n_init=restarts, random_state=seed)


def _merging(k: int, distance: str, restarts: int, seed: int) -> Any:
    linkage = "ward" if distance == "euclidean" else "average"
    return public("AgglomerativeClustering")(k, metric=distance, linkage=linkage)


def _dividing(k: int, distance: str, restarts: int, seed: int) -> Any:
    return public("DivisiveClustering")(k, metric=distance)


def _spectral(k: int, distance: str, restarts: int, seed: int) -> Any:
    return public("SpectralClustering")(k, n_init=restarts, random_state=seed)


def _bisecting(k: int, distance: str, restarts: int, seed: int) -> Any:
    return public("BisectingKMeans")(k, n_init=restarts, random_state=seed)


def _fuzzy(k: int, distance: str, restarts: int, seed: int) -> Any:
    return public("FuzzyCMeans")(k, n_init=restarts, random_state=seed)


def _no_count(k: int, distance: str, restarts: int, seed: int) -> Any:
    raise NotImplementedError("the method finds the number of groups itself")


def dense_rows(n: int, p: int) -> int:
    """Rows that make a neighbourhood dense: twice the features, but no more than the rows allow.

    >>> dense_rows(1000, 3), dense_rows(60, 20), dense_rows(1000, 100)
    (6, 4, 50)
    """
    return max(4, min(2 * p, n // 20))


def _dbscan(Z: Array, distance: str) -> Any:
    """DBSCAN with the radius in the middle of those that give the same number of groups longest.

    The radii rise by equal factors from a small distance to the m-th neighbour to thrice a large
    one; many rows are searched in a sample, with m in proportion.
    """
    m = dense_rows(*Z.shape)
    rows = np.random.default_rng(0).permutation(len(Z))[:SEARCHED_ROWS]
    some = Z if len(rows) == len(Z) else np.ascontiguousarray(Z[np.sort(rows)])
    least = max(4, round(m * len(some) / len(Z)))
    near = k_distances(some, least - 1, metric=distance)
    near = near[near > 0]
    low, high = np.quantile(near, (0.1, 0.95)) if len(near) else (1.0, 1.0)
    radii = np.geomspace(low, 3 * high, RADII)
    counts = [
        public("DBSCAN")(eps=r, min_samples=least, metric=distance).fit(some).labels_.max() + 1
        for r in radii
    ]
    eps = float(radii[longest_run(counts)])
    return public("DBSCAN")(eps=eps, min_samples=m, metric=distance)


def longest_run(counts: Sequence[int]) -> int:
    """The middle of the longest run of one count; a count of none does not count.

    >>> longest_run([0, 7, 4, 3, 3, 3, 1, 1]), longest_run([0, 0])
    (4, 1)
    """
    runs, start = [], 0
    for i in range(1, len(counts) + 1):
        if i == len(counts) or counts[i] != counts[start]:
            if counts[start] > 0:
                runs.append((start - i, start, i))
            start = i
    if not runs:
        return len(counts) - 1
    _, first, end = min(runs)
    return (first + end - 1) // 2


def _hdbscan(Z: Array, distance: str) -> Any:
    size = max(8, round(LEAST_GROUP * len(Z)))
    return public("HDBSCAN")(size, min_samples=dense_rows(*Z.shape), metric=distance)


METHODS = {
    "kmeans": Method("KMeans", _kmeans),
    "bisecting": Method("BisectingKMeans", _bisecting),
    "fuzzy": Method("FuzzyCMeans", _fuzzy),
    "gmm": Method("GaussianMixture", _mixture),
    "agglomerative": Method("AgglomerativeClustering", _merging),
    "divisive": Method("DivisiveClustering", _dividing),
    "spectral": Method("SpectralClustering", _spectral),
    "dbscan": Method("DBSCAN", _no_count, _dbscan),
    "hdbscan": Method("HDBSCAN", _no_count, _hdbscan),
}
EUCLIDEAN = ("bisecting", "fuzzy", "gmm", "spectral")  # these know no other distance


def find_method(name: str) -> Method:
    """The method of a name, or one sentence about which there are."""
    ready = [key for key, method in METHODS.items() if method.needs in pellucid._HOME]
    if name not in ready:
        raise OptionError(
            f"the method {name!r} is not in this version of Pellucid; there are: "
            f"{', '.join(ready)}",
        )
    return METHODS[name]


def read_counts(text: str, n: int) -> list[int]:
    """The numbers of groups to try.

    >>> read_counts("2..5", 100), read_counts("3", 100), read_counts("auto", 5)
    ([2, 3, 4, 5], [3], [2, 3, 4])
    """
    most = n - 1
    if text == "auto":
        return list(range(2, min(10, most) + 1))
    try:
        found: list[int] = []
        for part in text.split(","):
            low, _, high = part.partition("..")
            found += range(int(low), int(high or low) + 1)
    except ValueError as error:
        raise OptionError(f"--k must be auto, 3, 2..10 or 2,4,8, got {text!r}") from error
    found = sorted(set(found))
    if not found or found[0] < 2 or found[-1] > most:
        raise OptionError(f"--k must lie between 2 and {most} (rows - 1), got {text!r}")
    return found


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

    def error(self, model: Any, Z: Array, labels: IntArray) -> float:
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


class Trait(NamedTuple):
    """What sets a group apart in one feature."""

    feature: str
    here: float
    overall: float
    effect: float  # difference in standard deviations


def traits(inputs: Inputs, labels: IntArray, most: int = 5) -> list[list[Trait]]:
    """The features in which each group differs most from all rows."""
    mean, spread = inputs.plain.mean(axis=0), inputs.plain.std(axis=0)
    found = []
    for g in range(labels.max() + 1):
        here = inputs.plain[labels == g].mean(axis=0)
        effect = np.divide(here - mean, spread, out=np.zeros(len(mean)), where=spread > 0)
        order = np.argsort(-np.abs(effect), kind="stable")[:most]
        found.append(
            [
                Trait(inputs.names[j], float(here[j]), float(mean[j]), float(effect[j]))
                for j in order
                if abs(effect[j]) >= 0.3
            ]
        )
    return found


def memberships(model: Any, Z: Array, labels: IntArray) -> Array:
    """How clearly a row belongs to its group: a probability, or how much nearer its centre is."""
    if hasattr(model, "probabilities_"):
        return np.asarray(model.probabilities_)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(Z)).max(axis=1)
    if hasattr(model, "transform"):
        D = np.sort(np.asarray(model.transform(Z)), axis=1)
        far = np.where(D[:, 1] > 0, D[:, 1], 1.0)
        return (D[:, 1] - D[:, 0]) / far
    return (labels >= 0).astype(np.float64)


def describe(found: Grouping, inputs: Inputs) -> dict[str, Any]:
    """What the page shows beyond the measures: traits of the groups, a map, the card."""
    labels = found.chosen.labels
    sizes = np.bincount(labels[labels >= 0], minlength=found.chosen.k).tolist()
    number = dict(zip(inputs.names, inputs.is_number, strict=True))
    groups = [
        {
            "group": g,
            "rows": size,
            "traits": [t._asdict() | {"is_number": number[t.feature]} for t in said],
        }
        for g, (size, said) in enumerate(zip(sizes, traits(inputs, labels), strict=True))
    ]
    model = found.chosen.model
    card = str(model.card().evaluation) if hasattr(model, "card") else ""
    return plain({"groups": groups, "map": row_map(inputs.Z, labels), "card": card})


def row_map(Z: Array, labels: IntArray) -> dict[str, Any]:
    """The rows, or a sample of them, on their two widest directions."""
    d = min(2, *Z.shape)
    model = PCA(d).fit(Z)
    scores = np.zeros((len(Z), 2))
    scores[:, :d] = model.transform(Z)
    pick = np.random.default_rng(0).permutation(len(Z))[:MAP_ROWS]
    return {
        "x": scores[pick, 0].round(4),
        "y": scores[pick, 1].round(4),
        "group": labels[pick],
        "middles": [scores[labels == g].mean(axis=0) for g in range(labels.max() + 1)],
        "share": model.explained_variance_ratio_.sum(),
        "directions": d,
    }
