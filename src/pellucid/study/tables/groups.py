"""``group_table``: the groups of a table's rows, what sets each apart, a model for new rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.decomposition import PCA
from pellucid.study.errors import OptionError
from pellucid.study.tables.group_count import Grouping, group_rows
from pellucid.study.tables.group_words import verdict
from pellucid.study.tables.grouping_methods import find_method
from pellucid.study.tables.inputs import Inputs, load_table, open_inputs
from pellucid.study.wording import source_name

DISTANCES = ("euclidean", "manhattan", "cosine")
MAP_ROWS = 1500  # dots on the map
WEAK = 0.3  # standard deviations below which a difference is not worth a word


@readable
@dataclass(frozen=True, eq=False)
class GroupedTable:
    """The answer of ``group_table``; ``print`` gives it in a few sentences.

    Attributes
    ----------
    grouping : Grouping
        The answer ("groups", "none" or "several"), every number of groups tried, the findings.
    inputs : Inputs
        The columns used, as numbers.
    source : str
        Where the table came from.
    random_state : int
        The seed.

    Examples
    --------
    >>> from pellucid.study import group_table
    >>> group_table({"x": [0.0, 1.0, 2.0, 10.0, 11.5, 12.0]}, 2, restarts=1).grouping.chosen.k
    2
    """

    grouping: Grouping
    inputs: Inputs
    source: str
    random_state: int

    @property
    def labels(self) -> IntArray:
        """The group of every row, -1 where it is in none."""
        return self.grouping.chosen.labels

    @cached_property
    def memberships(self) -> Array:
        """How clearly each row belongs to its group, from 0 to 1."""
        return memberships(self.grouping.chosen.model, self.inputs.Z, self.labels)

    @property
    def model(self) -> Pipeline:
        """Features and fitted model; ``model.predict`` groups new rows where the method can."""
        return Pipeline([("features", self.inputs.features), ("model", self.grouping.chosen.model)])

    def to_frame(self) -> pl.DataFrame:
        """Row, group and membership, one line per row: the clusters.csv of the command."""
        columns = {"cluster": self.labels, "membership": self.memberships.round(4)}
        return pl.DataFrame({"row": np.arange(len(self.labels)), **columns})

    def to_dict(self) -> dict[str, Any]:
        """The report.json of ``pellucid cluster``; the command line is left empty."""
        record = {"schema": "pellucid-clusters/1", "verdict": []} | self.grouping.to_dict()
        record |= self.inputs.about(self.source, self.random_state)
        record |= describe(self.grouping, self.inputs)
        return record | {"verdict": list(verdict(record))}

    def __str__(self) -> str:
        return " ".join(self.to_dict()["verdict"])


def group_table(
    data: object,
    k: str | int | Sequence[int] = "auto",
    *,
    method: str = "kmeans",
    distance: str = "euclidean",
    scale: bool = True,
    restarts: int = 10,
    drop: Sequence[str] = (),
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> GroupedTable:
    """Group the rows of a table, if they form groups.

    Parameters
    ----------
    data : anything ``pellucid.data.load`` reads
        A path, a frame, a dict of columns ...
    k : "auto", int, sequence of int or str, default="auto"
        The numbers of groups to try; "auto" is 2 to 10, "2..5" and "2,4,8" work too.
    method : str, default="kmeans"
        kmeans, bisecting, fuzzy, gmm, agglomerative, divisive or spectral; dbscan and hdbscan find
        the number themselves.
    distance : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        How far two rows are apart.
    scale : bool, default=True
        Give every column the same spread; False takes them in their own units.
    restarts : int, default=10
        Starts for every number of groups.
    drop : sequence of str
        Columns to leave out.
    random_state : int, default=0
        The seed.
    progress : callable (text), optional
        Told what is being done.

    Returns
    -------
    GroupedTable
        Labels, findings and the fitted model; ``to_dict()`` is the command's report.json.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> x = np.repeat([0.0, 5.0, 10.0], 20) + np.tile(np.linspace(0, 1, 20), 3)
    >>> found = pellucid.group_table({"x": x, "y": x**2}, k="2..5", restarts=2)
    >>> found.grouping.answer, np.bincount(found.labels).tolist()
    ('groups', [20, 20, 20])
    """
    check.one_of(DISTANCES, distance=distance)
    check_count(method, k)
    frame = load_table(data, drop)
    inputs = open_inputs(frame, drop=drop, scale=scale)
    counts = read_counts(k, len(inputs.Z))
    found = group_rows(
        inputs,
        inputs.plain if scale else open_inputs(frame, drop=drop).Z,
        counts,
        name=method,
        distance=distance,
        restarts=restarts,
        seed=random_state,
        free=len(counts) > 1,
        say=progress or (lambda text: None),
    )
    return GroupedTable(found, inputs, source_name(data), random_state)


def check_count(method: str, k: str | int | Sequence[int]) -> None:
    """Refuse an unknown ``method``, and a number ``k`` for one that finds it itself."""
    if find_method(method).dense is not None and k != "auto":
        raise OptionError(f"{method} finds the number of groups itself; leave out --k")


def read_counts(k: str | int | Sequence[int], n: int) -> list[int]:
    """The numbers of groups to try among ``n`` rows.

    >>> read_counts("2..5", 100), read_counts(3, 100), read_counts("auto", 5), read_counts([4], 9)
    ([2, 3, 4, 5], [3], [2, 3, 4], [4])
    """
    most = n - 1
    if k == "auto":
        return list(range(2, min(10, most) + 1))
    parts = k.split(",") if isinstance(k, str) else np.atleast_1d(k).astype(str).tolist()
    try:
        found: list[int] = []
        for part in parts:
            low, _, high = part.partition("..")
            found += range(int(low), int(high or low) + 1)
    except ValueError as error:
        raise OptionError(f"--k must be auto, 3, 2..10 or 2,4,8, got {k!r}") from error
    found = sorted(set(found))
    if not found or found[0] < 2 or found[-1] > most:
        raise OptionError(f"--k must lie between 2 and {most} (rows - 1), got {k!r}")
    return found


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
                if abs(effect[j]) >= WEAK
            ]
        )
    return found


def memberships(model: BaseEstimator, Z: Array, labels: IntArray) -> Array:
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
