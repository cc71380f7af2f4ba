r"""The few directions in which rows differ, and how many of them are more than noise.

Horn's parallel analysis: shuffle every column by itself, so that nothing hangs together, and take
the eigenvalues of that. A component counts while its eigenvalue exceeds the 95 % quantile of those
of shuffled tables. No such component, and the answer is that the columns do not hang together.

Reference: Horn (1965).
"""

from typing import Any, NamedTuple

import numpy as np

import pellucid
from pellucid.core.arrays.typing import Array
from pellucid.core.records import plain
from pellucid.study.candidates.candidates import public
from pellucid.study.errors import OptionError
from pellucid.study.tables.numbers import Inputs

METHODS = {"pca": "PCA"}
SHUFFLES, LEVEL = 20, 95
SHOWN_ROWS = 1500  # dots on the map
MOST_ROWS = 20_000  # that are shuffled; eigenvalues of so many rows hardly move


class Reduced(NamedTuple):
    """A fitted model, the scores of the rows and what parallel analysis says."""

    model: Any
    scores: Array  # (n, d)
    noise: Array  # (r,) eigenvalues that shuffled columns reach
    suggested: int
    method: str

    def to_dict(self) -> dict[str, Any]:
        m = self.model
        return plain(
            {
                "method": self.method,
                "components": m.n_components_,
                "suggested": self.suggested,
                "eigenvalues": m.eigenvalues_,
                "eigenvalue_intervals": m.eigenvalue_intervals(),
                "noise_eigenvalues": self.noise,
                "share": m.explained_variance_ratio_,
                "directions": m.components_,
                "loadings": m.loadings_,
                "reconstruction_error": m.reconstruction_error_,
                "error_share": error_share(m),
                "card": str(m.card().optimisation),
                "error": str(m.card().evaluation),
                "map": self._map(),
            }
        )

    def _map(self) -> dict[str, Any]:
        """The first two scores of the rows, or of a sample of them."""
        pick = np.random.default_rng(0).permutation(len(self.scores))[:SHOWN_ROWS]
        xy = np.zeros((len(pick), 2))
        d = min(2, self.scores.shape[1])
        xy[:, :d] = self.scores[pick, :d]
        return {
            "x": xy[:, 0].round(4),
            "y": xy[:, 1].round(4),
            "reach": np.abs(self.scores[:, :d]).max(axis=0),
        }


def error_share(model: Any) -> float:
    """The share of the spread that the scores do not rebuild."""
    return float(max(0.0, 1 - model.explained_variance_ratio_.sum()))


def find_method(name: str) -> None:
    ready = [key for key, needs in METHODS.items() if needs in pellucid._HOME]
    if name not in ready:
        text = f"the method {name!r} is not in this version of Pellucid; there are: "
        raise OptionError(text + ", ".join(ready))


def read_components(text: str, most: int) -> int | float | None:
    """A number, a share of the spread, or None for auto.

    >>> read_components("2", 5), read_components("0.9", 5), read_components("auto", 5)
    (2, 0.9, None)
    """
    if text == "auto":
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if 0 < value < 1:
        return value
    if value != int(value) or not 1 <= value <= most:
        raise OptionError(
            f"--components must be auto, a share between 0 and 1 or a number from 1 to {most}, "
            f"got {text!r}",
        )
    return int(value)


def reduce_rows(inputs: Inputs, components: int | float | None, name: str, seed: int) -> Reduced:
    """Fit; without a wish as many components as parallel analysis finds, at least two."""
    Z = inputs.Z
    whole = public(METHODS[name])().fit(Z)
    noise = shuffled_eigenvalues(Z, len(whole.eigenvalues_), seed)
    beyond = whole.eigenvalues_ > noise
    suggested = len(beyond) if beyond.all() else int(np.argmin(beyond))
    d = min(max(2, suggested), *Z.shape) if components is None else components
    model = public(METHODS[name])(d, random_state=seed).fit(Z)
    return Reduced(model, model.transform(Z), noise, suggested, name)


def shuffled_eigenvalues(Z: Array, count: int, seed: int) -> Array:
    """The quantile of every eigenvalue over tables whose columns are shuffled."""
    rng = np.random.default_rng(seed)
    X = Z[rng.permutation(len(Z))[:MOST_ROWS]]
    found = np.zeros((SHUFFLES, count))
    for i in range(SHUFFLES):
        values = public("PCA")().fit(rng.permuted(X, axis=0)).eigenvalues_[:count]
        found[i, : len(values)] = values
    return np.percentile(found, LEVEL, axis=0)
