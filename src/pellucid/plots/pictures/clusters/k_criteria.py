"""Criteria for the number of clusters side by side, each with the number that it prefers."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.plots.panels.marks import spot, words
from pellucid.plots.panels.style import GREY, Picture, colour, heading, panels, together

WORDS = {
    "elbow": ("error J", "elbow"),
    "silhouette": ("mean silhouette, high is good", "silhouette"),
    "calinski_harabasz": ("between / within, high is good", "Calinski-Harabasz"),
    "stability": ("adjusted Rand, high is good", "stability"),
    "aic": ("AIC, low is good", "AIC"),
    "bic": ("BIC, low is good", "BIC"),
    "heldout_log_likelihood": ("log density, high is good", "held-out density"),
    "heldout_inertia": ("distance, low is good", "held-out distance"),
    "gap": ("gap, high is good", "gap statistic"),
}


class KCriteria(Picture):
    n_clusters: IntArray  # (m,)
    criteria: tuple[str, ...]
    values: tuple[Array, ...]  # each (m,), NaN where not defined
    errors: tuple[Array | None, ...]  # standard errors where the criterion has them
    choices: tuple[int | None, ...]
    best: int
    kind: str

    def plot(self) -> Any:
        """All criteria; the figure."""
        grid = panels(len(self.criteria), columns=2 if len(self.criteria) in (2, 4) else 3)
        drawn = (self.criteria, self.values, self.errors, self.choices)
        for ax, name, values, error, choice in zip(grid, *drawn, strict=True):
            label, title = WORDS.get(name, (name, name))
            fine = np.isfinite(values)
            x, y, spread = (
                self.n_clusters[fine],
                values[fine],
                None if error is None else error[fine],
            )
            look = {"color": colour(0), "ecolor": GREY, "ms": 4, "lw": 1.4, "capsize": 2}
            ax.errorbar(x, y, fmt="-o", yerr=spread, **look)
            ax.axvline(self.best, color=GREY, ls=":", lw=1.2)
            if choice is not None:
                spot(ax, choice, values[self.n_clusters == choice], "D", colour(1), zorder=4)
            said = "no choice" if choice is None else f"k = {choice}"
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.set(xlabel="number of clusters k", ylabel=label)
            ax.set_xlim(self.n_clusters[0] - 0.5, self.n_clusters[-1] + 0.5)
            heading(ax, f"{title}: {said}")
        return together(grid, self.title)


def k_criteria(scan: Any) -> KCriteria:
    """What each criterion of a search says of every k, and what they agree on.

    ``scan``: fitted ClusterNumberSearch.

    Examples
    --------
    >>> from pellucid import ClusterNumberSearch
    >>> from pellucid.plots import k_criteria
    >>> X = [[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3], [9.0], [9.1], [9.2], [9.3]]
    >>> search = ClusterNumberSearch(n_clusters=range(2, 6), criteria=("elbow", "silhouette"),
    ...                              random_state=0).fit(X)
    >>> k_criteria(search).choices
    (3, 3)
    """
    if not hasattr(scan, "choices_"):
        raise ValueError(f"scan must be a fitted ClusterNumberSearch, got {type(scan).__name__}")
    results, names = scan.results_, tuple(scan.choices_)
    choices = tuple(scan.choices_[name] for name in names)
    title = {
        "one": f"Most criteria agree on {scan.best_n_clusters_} clusters",
        "several": f"The criteria disagree; most votes for {scan.best_n_clusters_} clusters",
        "none": "No clusters: rows without any look the same",
    }[scan.kind_] + " (dotted)"
    said = [f"{n} {'none' if k is None else k}" for n, k in zip(names, choices, strict=True)]
    alt = f"Criteria for the number of clusters: {words(said, 9)}. {title}."
    n_clusters = np.asarray(results["n_clusters"])
    values = tuple(np.asarray(results[name], dtype=np.float64) for name in names)
    errors, best = tuple(results.get(f"{name}_error") for name in names), int(scan.best_n_clusters_)
    return KCriteria(alt, n_clusters, names, values, errors, choices, best, scan.kind_, title=title)
