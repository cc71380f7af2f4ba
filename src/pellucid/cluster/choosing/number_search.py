r"""How many clusters? Several criteria side by side, and what they agree on.

Every k is fitted, every criterion (``criteria``) says which k it prefers, and the most votes win,
the smaller k on ties. A criterion may have no preference (None: no elbow, nothing stable).

    kind   "one"      most of the criteria agree
           "several"  no k has more than half of the votes; or two numbers or more are good in the
                      eyes of half of the criteria, as where groups consist of groups
           "none"     there are no clusters: one cluster is as good as any

A criterion finds the k good that it prefers; the elbow every candidate; the silhouette every local
maximum of at least 0.5, the ratio every local maximum, the stability every one of at least 0.9.

Silhouettes, ratios and elbows compare two clusters or more with each other; they find "the best"
number in rows without any clusters too. So where k = 1 is among the candidates (and they are
consecutive) the rows are also compared with rows that have none: J is taken as a function of k
for even rows in the box of the principal axes (gap statistic). If J falls no more than for the
best of 19 such sets (a test at the 5 % level), the answer is "none" and ``best_n_clusters_`` is 1,
whatever the other criteria prefer.

Reference: Tibshirani, Walther & Hastie (2001).
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.cluster.choosing import criteria as c
from pellucid.cluster.choosing.elbow_rule import ElbowResult
from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.kmeans.passes import enough_rows
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import single_threaded_blas

CRITERIA: tuple[str, ...] = ("elbow", "silhouette", "calinski_harabasz", "stability", "aic", "bic")
CRITERIA += ("heldout_log_likelihood", "heldout_inertia", "gap")
SMALLEST_IS_BEST = ("aic", "bic")


def _can(name: str) -> Any:
    def asked(self: Any) -> bool:
        estimator = getattr(self, "best_estimator_", None) or self.estimator or KMeans()
        return hasattr(estimator, name)

    return asked


def elect(choices: dict[str, int | None], counts: list[int]) -> tuple[int, str]:
    """The k of most votes, the smaller one on ties, and whether most agree on it.

    >>> elect({"elbow": 3, "silhouette": 3, "stability": 2}, [1, 2, 3])
    (3, 'one')
    >>> elect({"elbow": None, "silhouette": 3, "stability": 2}, [1, 2, 3])
    (2, 'several')
    """
    votes = Counter(k for k in choices.values() if k is not None)
    if not votes:
        return counts[0], "none"
    best = min(votes, key=lambda k: (-votes[k], k))
    if best == 1:
        return 1, "none"
    return best, "one" if 2 * votes[best] > len(choices) else "several"


def good_numbers(
    choices: dict[str, int | None], results: dict[str, Array], bend: ElbowResult | None
) -> dict[int, tuple[str, ...]]:
    """The numbers that at least half of the criteria, and two, find good; and which they are.

    >>> found = {"n_clusters": np.arange(1, 5), "silhouette": np.array([np.nan, 0.6, 0.5, 0.7])}
    >>> good_numbers({"silhouette": 4, "elbow": 2}, found, ElbowResult(2, (2, 4), "several"))
    {2: ('silhouette', 'elbow'), 4: ('silhouette', 'elbow')}
    """
    fans: dict[int, list[str]] = {}
    for name, choice in choices.items():
        found = set() if choice is None else {choice}
        if name == "elbow" and bend is not None:
            found |= set(bend.candidates)
        elif name in c.GOOD:
            found |= set(c.local_maxima(results["n_clusters"], results[name], c.GOOD[name]))
        for k in sorted(found - {1}):
            fans.setdefault(k, []).append(name)
    enough = max(2, (len(choices) + 1) // 2)
    return {k: tuple(fans[k]) for k in sorted(fans) if len(fans[k]) >= enough}


def most_votes(choices: dict[str, int | None]) -> str:
    """Which numbers lead where none has more than half of the votes.

    >>> most_votes({"elbow": 6, "silhouette": 3})
    '3 and 6 have 1 vote each; the smallest is taken'
    """
    votes = Counter(k for k in choices.values() if k is not None)
    most = max(votes.values())
    first = sorted(k for k in votes if votes[k] == most)
    if len(first) == 1:
        return f"{first[0]} has the most votes, but not more than half of them"
    each = f"{most} vote{'s' if most > 1 else ''} each"
    return f"{' and '.join(map(str, first))} have {each}; the smallest is taken"


class ClusterNumberSearch(ClusterMixin, MetaEstimatorMixin, Estimator):
    """Choose the number of clusters by several criteria.

    Parameters
    ----------
    estimator : estimator with ``fit_predict``, default=None
        With ``n_clusters`` or ``n_components``; None is ``KMeans(n_init=10)``.
    n_clusters : iterable of int, or int, default=tuple(range(1, 12))
        The numbers to try.
    criteria : sequence of str, default=("elbow", "silhouette", "calinski_harabasz", "stability")
        Also ``"aic"``, ``"bic"``, ``"heldout_log_likelihood"``, ``"heldout_inertia"``, ``"gap"``.
    n_runs : int, default=10
        Subsamples for the stability.
    cv : int or splitter, default=5
        Folds of the held-out criteria.
    random_state : int, RandomState, Generator or None
        Seeds of the fits, the subsamples and the reference rows.

    Attributes
    ----------
    results_ : dict of arrays
        ``n_clusters``, ``inertia`` and one per criterion, NaN where it is not defined; for
        ``heldout_inertia`` and ``gap`` also their standard errors (``.._error``).
    choices_ : dict
        Criterion -> its k, or None where it has none.
    elbow_ : ElbowResult or None
    kind_ : {"one", "several", "none"}
        Whether one number stands out, several are good, or there are no clusters.
    good_ : dict
        The numbers that half of the criteria find good -> those criteria; they may be several
        although one has the most votes.
    best_n_clusters_ : int
        The most votes, the smaller k on ties; 1 if ``kind_`` is ``"none"``.
    findings_ : tuple of str
        What to know of the choice, in words.
    best_estimator_ : estimator
    labels_ : ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import ClusterNumberSearch
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(m, 0.3, (40, 2)) for m in (0, 4, 8)])
    >>> search = ClusterNumberSearch(n_clusters=range(1, 7), random_state=0).fit(X)
    >>> search.best_n_clusters_, search.kind_, search.choices_["silhouette"]
    (3, 'one', 3)
    """

    _training_state = ("labels_",)

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        n_clusters: int | Iterable[int] = tuple(range(1, 12)),
        criteria: Iterable[str] = ("elbow", "silhouette", "calinski_harabasz", "stability"),
        n_runs: int = 10,
        cv: Folds = 5,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_clusters = n_clusters
        self.criteria = criteria
        self.n_runs = n_runs
        self.cv = cv
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Try every number of clusters on X."""
        counts, names = self._check_parameters()
        A = self._check_training(X).X
        enough_rows(counts[-1], len(A))
        context = FitContext(self, X=X, max_steps=len(counts))
        rng = generator(self.random_state)
        estimator = KMeans(n_init=10) if self.estimator is None else self.estimator
        make = partial(c.number_of, estimator)
        setting = c.Setting(A, make, self.n_runs, self.cv, rng)
        fits = []
        with single_threaded_blas():  # held once, not in each of many small fits
            for i, k in enumerate(counts):
                fits.append(c.fit_number(setting, k, int(rng.integers(2**31))))
                context.step(i, None)
            self.results_, self.choices_, self.elbow_ = _judge(setting, fits, names)
            gap = self._reference(setting, counts)
        self.best_n_clusters_, self.kind_ = elect(self.choices_, counts)
        self.good_ = good_numbers(self.choices_, self.results_, self.elbow_)
        if gap is not None and not gap.clustered:
            self.best_n_clusters_, self.kind_, self.good_ = 1, "none", {}
        elif self.kind_ == "one" and len(self.good_) > 1:
            self.kind_ = "several"
        self.findings_ = tuple(self._sentences(gap))
        best = fits[counts.index(self.best_n_clusters_)]
        self.best_estimator_, self.labels_ = best.model, best.labels
        context.end(None)
        return self

    def _check_parameters(self) -> tuple[list[int], list[str]]:
        check.whole(at_least=2, n_runs=self.n_runs)
        if isinstance(self.cv, int | float | str):
            check.whole(at_least=2, cv=self.cv)
        given = self.n_clusters
        counts = list(given) if np.iterable(given) and not isinstance(given, str) else [given]
        for k in counts or [0]:
            check.whole(n_clusters=k)
        if isinstance(self.criteria, str):
            raise ValueError(f"criteria must be a list of names, got {self.criteria!r}")
        names = list(dict.fromkeys(self.criteria))
        for name in names:
            check.one_of(CRITERIA, criteria=name)
        if not names:
            raise ValueError(f"criteria must name at least one of {', '.join(CRITERIA)}")
        counts = sorted({int(k) for k in counts})
        whole = counts == list(range(counts[0], counts[0] + len(counts)))
        if ("elbow" in names and not whole) or ("gap" in names and not _from_one(counts)):
            raise ValueError(f"the elbow needs consecutive n_clusters, gap from 1, got {counts}")
        return counts, names

    def _reference(self, setting: c.Setting, counts: list[int]) -> c.Gap | None:
        """Compare with rows that have no clusters, where one cluster is a candidate."""
        if not _from_one(counts) or len(counts) < 2:
            return None
        asked = "gap" in self.criteria
        gap = c.gap_statistic(setting, counts)
        self.results_["gap"], self.results_["gap_error"] = gap.gap, gap.error
        if asked:
            self.choices_["gap"] = gap.n_clusters
        return gap

    def _sentences(self, gap: c.Gap | None) -> list[str]:
        said = [f"{name}: {'none' if k is None else k}" for name, k in self.choices_.items()]
        found = []
        if self.kind_ == "none":
            even = "there are no clusters: the rows are no more grouped than rows spread evenly"
            alone = "no criterion finds more than one cluster"
            found.append(even if gap is not None and not gap.clustered else alone)
        elif self.kind_ == "several":
            if elect(self.choices_, [])[1] == "several":
                word = most_votes(self.choices_)
                found.append(f"the criteria disagree ({', '.join(said)}): {word}")
            if len(self.good_) > 1:
                each = [f"{k} ({', '.join(names)})" for k, names in self.good_.items()]
                found.append(f"several numbers are good: {'; '.join(each)}")
        elif len({k for k in self.choices_.values() if k is not None}) > 1:
            found.append(f"not all criteria agree ({', '.join(said)})")
        if self.elbow_ is not None and self.elbow_.kind != "one":
            found.append(str(self.elbow_))
        return found

    @available_if(_can("predict"))
    def predict(self, X: ArrayLike) -> IntArray:
        """The cluster of each row, by the best estimator."""
        A = self._check_input(X)
        return self.best_estimator_.predict(A)

    @available_if(_can("score"))
    def score(self, X: ArrayLike, y: MaybeArray = None) -> float:
        """The score of the best estimator."""
        A = self._check_input(X)
        return self.best_estimator_.score(A)

    def card(self) -> Card:
        """What was tried, by which criteria, and what came out."""
        check_is_fitted(self)
        tried = self.results_["n_clusters"]
        said = {name: "none" if k is None else k for name, k in self.choices_.items()}
        model = type(c.last_step(self.best_estimator_)).__name__
        return Card(
            f"{model} with {self.best_n_clusters_} cluster(s)",
            f"votes of {len(said)} criteria over k = {int(tried[0])} .. {int(tried[-1])}; "
            "the smaller k on ties; one cluster if rows without clusters look the same",
            f"every k is fitted on its own; stability by {self.n_runs} subsamples; "
            f"answer: {self.kind_}",
            {"number of clusters": self.best_n_clusters_, **said},
            warnings=self.findings_,
        )


def _from_one(counts: list[int]) -> bool:
    return counts == list(range(1, len(counts) + 1))


def _judge(setting: c.Setting, fits: list[c.Fitted], names: list[str]) -> tuple[Any, Any, Any]:
    """The values of every criterion, the k each prefers, and the elbow."""
    counts = [fit.k for fit in fits]
    inertia = np.array([fit.inertia for fit in fits])
    results: dict[str, Array] = {"n_clusters": np.array(counts), "inertia": inertia}
    choices: dict[str, int | None] = {}
    bend = None
    for name in names:
        if name == "elbow":
            bend = c.elbow_of(fits)
            results[name], choices[name] = inertia, bend.n_clusters
        elif name == "stability":
            results[name] = np.array([c.stability_of(setting, fit) for fit in fits])
            choices[name] = c.most_stable(counts, results[name])
        elif name.startswith("heldout"):
            mean, error = np.array([c.heldout_of(setting, k, name) for k in counts]).T
            results[name], results[f"{name}_error"] = mean, error
            choices[name] = c.best_of(counts, mean, largest=True)
            if name == "heldout_inertia":
                choices[name] = c.within_one_error(counts, mean, error)
        elif name != "gap":
            results[name] = np.array([_value(setting, fit, name) for fit in fits])
            choices[name] = c.best_of(counts, results[name], largest=name not in SMALLEST_IS_BEST)
    return results, choices, bend


def _value(setting: c.Setting, fit: c.Fitted, name: str) -> float:
    if name == "silhouette":
        return c.silhouette_of(setting, fit)
    if name == "calinski_harabasz":
        return c.ratio_of(setting, fit)
    return c.information_of(setting, fit, name)
