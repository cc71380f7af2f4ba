r"""The few directions in which rows differ, and how many of them are more than noise.

Horn's parallel analysis: shuffle every column by itself, so that nothing hangs together, and take
the eigenvalues of that. A component counts while its eigenvalue exceeds the 95 % quantile of those
of shuffled tables. No such component, and the answer is that the columns do not hang together.

Reference: Horn (1965).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

import pellucid
from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.study.candidates.candidates import public
from pellucid.study.errors import OptionError
from pellucid.study.tables.inputs import Inputs, known_method, load_table, open_inputs
from pellucid.study.wording import listed, source_name

METHODS = {"pca": "PCA"}
SHUFFLES, LEVEL = 20, 95
SHOWN_ROWS = 1500  # dots on the map
STRONG = 0.5  # a correlation worth a word
MOST_ROWS = 20_000  # that are shuffled; eigenvalues of so many rows hardly move


class Reduced(NamedTuple):
    """A fitted model, the scores of the rows and what parallel analysis says."""

    model: Any
    scores: Array  # (n, d)
    noise: Array  # (r,) eigenvalues that shuffled columns reach
    suggested: int
    method: str


@readable
@dataclass(frozen=True, eq=False)
class ReducedTable:
    """The answer of ``reduce_table``; ``print`` gives it in a few sentences.

    Attributes
    ----------
    reduced : Reduced
        The fitted model, the scores of the rows and how many components stand out of noise.
    inputs : Inputs
        The columns used, as numbers.
    source : str
        Where the table came from.
    random_state : int
        The seed.

    Examples
    --------
    >>> from pellucid.study import reduce_table
    >>> table = {"a": [1.5, 2.0, 3.5, 4.0, 5.0], "b": [2.5, 4.0, 6.0, 8.5, 9.0]}
    >>> reduce_table(table, 1).scores.shape
    (5, 1)
    """

    reduced: Reduced
    inputs: Inputs
    source: str
    random_state: int

    @property
    def scores(self) -> Array:
        """The rows on the components, (rows, components)."""
        return self.reduced.scores

    @property
    def model(self) -> Pipeline:
        """Features and fitted model; ``model.transform`` gives the scores of new rows."""
        return Pipeline([("features", self.inputs.features), ("model", self.reduced.model)])

    def to_frame(self) -> pl.DataFrame:
        """The scores and the squared error of every row: the scores.csv of the command."""
        errors = self.reduced.model.reconstruction_errors(self.inputs.Z)
        scores = zip(self._names, self.scores.T, strict=True)
        return pl.DataFrame(
            {"row": np.arange(len(errors)), **dict(scores), "squared_error": errors}
        )

    def loadings_frame(self) -> pl.DataFrame:
        """The correlation of every feature with every component: the loadings.csv."""
        loadings = zip(self._names, self.reduced.model.loadings_.T, strict=True)
        return pl.DataFrame({"feature": list(self.inputs.names), **dict(loadings)})

    @property
    def _names(self) -> list[str]:
        return [f"component_{k + 1}" for k in range(self.reduced.model.n_components_)]

    def to_dict(self) -> dict[str, Any]:
        """The report.json of ``pellucid reduce``; the command line is left empty."""
        found, m = self.reduced, self.reduced.model
        record = plain(
            {
                "schema": "pellucid-components/1",
                "verdict": [],
                "method": found.method,
                "components": m.n_components_,
                "suggested": found.suggested,
                "eigenvalues": m.eigenvalues_,
                "eigenvalue_intervals": m.eigenvalue_intervals(),
                "noise_eigenvalues": found.noise,
                "share": m.explained_variance_ratio_,
                "directions": m.components_,
                "loadings": m.loadings_,
                "reconstruction_error": m.reconstruction_error_,
                "error_share": error_share(m),
                "card": str(m.card().optimisation),
                "error": str(m.card().evaluation),
                "map": row_map(found.scores),
            }
        )
        record |= self.inputs.about(self.source, self.random_state)
        return record | {"verdict": list(verdict(record))}

    def __str__(self) -> str:
        return " ".join(self.to_dict()["verdict"])


def reduce_table(
    data: object,
    components: str | float = "auto",
    *,
    method: str = "pca",
    scale: bool = True,
    drop: Sequence[str] = (),
    random_state: int = 0,
) -> ReducedTable:
    """Replace the columns of a table by a few that hold most of what varies.

    Parameters
    ----------
    data : anything ``pellucid.data.load`` reads
        A path, a frame, a dict of columns ...
    components : "auto", int or float, default="auto"
        A number, a share of the spread such as 0.9, or "auto": those that stand out of noise.
    method : {"pca"}, default="pca"
        How the directions are found.
    scale : bool, default=True
        Give every column the same spread; False takes them in their own units.
    drop : sequence of str
        Columns to leave out.
    random_state : int, default=0
        The seed.

    Returns
    -------
    ReducedTable
        Scores, loadings and the fitted model; ``to_dict()`` is the command's report.json.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> found = pellucid.reduce_table({"a": x, "b": -x, "c": rng.normal(size=100)})
    >>> found.reduced.suggested, found.scores.shape
    (1, (100, 2))
    """
    find_method(method)
    inputs = open_inputs(load_table(data, drop), drop=drop, scale=scale)
    wanted = read_components(components, min(inputs.Z.shape))
    found = reduce_rows(inputs, wanted, method, random_state)
    return ReducedTable(found, inputs, source_name(data), random_state)


def row_map(scores: Array) -> dict[str, Any]:
    """The first two scores of the rows, or of a sample of them."""
    pick = np.random.default_rng(0).permutation(len(scores))[:SHOWN_ROWS]
    xy = np.zeros((len(pick), 2))
    d = min(2, scores.shape[1])
    xy[:, :d] = scores[pick, :d]
    reach = np.abs(scores[:, :d]).max(axis=0)
    return {"x": xy[:, 0].round(4), "y": xy[:, 1].round(4), "reach": reach}


def error_share(model: BaseEstimator) -> float:
    """The share of the spread that the scores do not rebuild."""
    return float(max(0.0, 1 - model.explained_variance_ratio_.sum()))


def find_method(name: str) -> str:
    """The public class of the method called ``name``."""
    return METHODS[known_method(name, [key for key in METHODS if METHODS[key] in pellucid._HOME])]


def read_components(components: str | float, most: int) -> int | float | None:
    """A number up to ``most``, a share of the spread, or None for auto.

    >>> read_components("2", 5), read_components(0.9, 5), read_components("auto", 5)
    (2, 0.9, None)
    """
    if components == "auto":
        return None
    try:
        value = float(components)
    except ValueError:
        value = -1.0
    if 0 < value < 1:
        return value
    if value != int(value) or not 1 <= value <= most:
        raise OptionError(
            f"--components must be auto, a share between 0 and 1 or a number from 1 to {most}, "
            f"got {components!r}"
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


def verdict(r: dict[str, Any]) -> tuple[str, ...]:
    """What the first directions are, and how many count."""
    d, suggested = r["components"], r["suggested"]
    what = "direction holds" if d == 1 else "directions hold"
    lines = [f"{d} {what} {sum(r['share']):.0%} of what varies in {len(r['features'])} features."]
    if suggested == 0:
        return (
            "The columns do not hang together: no direction stands out.",
            "Shuffled columns give eigenvalues as large as these: a table of independent columns "
            "would look the same.",
        )
    more = "component stands" if suggested == 1 else "components stand"
    lines.append(
        f"{suggested} {more} out of what shuffled columns give (parallel analysis with "
        f"{SHUFFLES} shuffles)."
    )
    return (*lines, *(f"Component {k + 1}: {component_words(r, k)}." for k in range(min(d, 2))))


def component_words(r: dict[str, Any], k: int) -> str:
    """The columns that go with a component and those that go against it."""
    names, values = r["features"], [row[k] for row in r["loadings"]]
    order = sorted(range(len(values)), key=lambda j: -abs(values[j]))
    strong = [j for j in order[:5] if abs(values[j]) >= STRONG] or order[:1]
    up = [names[j] for j in strong if values[j] > 0]
    down = [names[j] for j in strong if values[j] <= 0]
    words = [f"high {listed(up)}"] if up else []
    words += [f"low {listed(down)}"] if down else []
    return " with ".join(words)
