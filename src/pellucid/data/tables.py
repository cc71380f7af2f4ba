"""The bundled tables and networks.

Every ``load_*`` of a table returns ``(X, y)``: a Polars frame and the column to predict, or
``None`` where there is nothing to predict. ``load_table(name)`` gives the whole frame.
"""

import json
from importlib.resources import files
from typing import Any, NamedTuple

import polars as pl

from pellucid.core.arrays import check
from pellucid.data.loader import load

NIST = ("longley", "norris", "wampler1", "wampler2", "wampler3")
NETWORKS = ("alarm", "asia", "cancer", "child", "earthquake", "insurance", "sachs", "survey")


class TableInfo(NamedTuple):
    """One bundled table."""

    rows: int
    columns: int
    target: str | None
    description: str


TABLES = {
    "food": TableInfo(4, 5, "Person", "Four people score four foods; for principal components"),
    "iris": TableInfo(150, 5, "species", "Fisher's iris flowers: four measures, three species"),
    "longley": TableInfo(16, 7, "totemp", "NIST Longley: nearly collinear regression"),
    "norris": TableInfo(36, 2, "y", "NIST Norris: a straight line"),
    "penguins": TableInfo(
        344, 8, "species", "Palmer penguins: three species, mixed types, missing cells"
    ),
    "play_ball": TableInfo(14, 5, "Play", "Weather of 14 days and whether ball was played"),
    "points": TableInfo(8, 2, None, "Eight points in the plane; for k-means by hand"),
    "wampler1": TableInfo(21, 2, "y", "NIST Wampler 1: an exact polynomial of degree 5"),
    "wampler2": TableInfo(21, 2, "y", "NIST Wampler 2: an exact polynomial, small coefficients"),
    "wampler3": TableInfo(21, 2, "y", "NIST Wampler 3: a polynomial of degree 5 with noise"),
}


def load_table(name: str) -> pl.DataFrame:
    """The bundled table called ``name``, target included.

    >>> from pellucid.data import load_table
    >>> load_table("play_ball").shape
    (14, 5)
    """
    check.one_of(TABLES, name=name)
    return load(str(files("pellucid.data") / "tables" / f"{name}.csv"))


def _split(name: str) -> tuple[pl.DataFrame, Any]:
    frame, target = load_table(name), TABLES[name].target
    return (frame, None) if target is None else (frame.drop(target), frame[target])


def load_play_ball() -> tuple[pl.DataFrame, pl.Series]:
    """Fourteen days of weather (4 columns of words) and whether ball was played.

    >>> from pellucid.data import load_play_ball
    >>> X, y = load_play_ball()
    >>> X.columns, y.to_list().count("Yes")
    (['Outlook', 'Temperature', 'Humidity', 'Wind'], 9)
    """
    return _split("play_ball")


def load_food() -> tuple[pl.DataFrame, pl.Series]:
    """Scores of four foods by four people; y holds the people's names, one per row.

    >>> from pellucid.data import load_food
    >>> X, people = load_food()
    >>> X.row(0), people[0]
    ((10, 1, 2, 7), 'Alice')
    """
    return _split("food")


def load_points() -> tuple[pl.DataFrame, None]:
    """Eight points in the plane for k-means; there is nothing to predict, so y is None.

    >>> from pellucid.data import load_points
    >>> X, _ = load_points()
    >>> X.rows()[:2]
    [(2, 10), (2, 5)]
    """
    return _split("points")


def load_iris() -> tuple[pl.DataFrame, pl.Series]:
    """Fisher's iris: 150 flowers, four measures in cm, three species.

    >>> from pellucid.data import load_iris
    >>> X, y = load_iris()
    >>> X.shape, y.n_unique()
    ((150, 4), 3)
    """
    return _split("iris")


def load_penguins() -> tuple[pl.DataFrame, pl.Series]:
    """Palmer penguins (CC0): 344 birds, words and numbers, missing cells, three species.

    >>> from pellucid.data import load_penguins
    >>> X, y = load_penguins()
    >>> X.shape, X["sex"].null_count()
    ((344, 7), 11)
    """
    return _split("penguins")


def load_nist(name: str) -> tuple[pl.DataFrame, pl.Series]:
    """A reference data set of NIST for linear regression: longley, norris, wampler1 to 3.

    ``name`` is one of these.

    >>> from pellucid.data import load_nist
    >>> X, y = load_nist("norris")
    >>> X.shape
    (36, 1)
    """
    check.one_of(NIST, name=name)
    return _split(name)


def nist_certified(name: str) -> dict[str, Any]:
    """Certified values: coef (intercept first), std_err, residual_variance, r2, n, p, model.

    ``name`` is that of ``load_nist``.

    >>> from pellucid.data import nist_certified
    >>> nist_certified("wampler1")["coef"]
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    check.one_of(NIST, name=name)
    text = (files("pellucid.data") / "tables" / "certified.json").read_text(encoding="utf-8")
    return json.loads(text)[name]


def load_network(name: str) -> str:
    """The path of a bundled Bayesian network in BIF, for ``pellucid.graphical.read_network``.

    ``name`` is one of those that ``list_data`` lists, such as "asia".

    >>> from pellucid.data import load_network
    >>> load_network("asia").endswith("asia.bif")
    True
    """
    check.one_of(NETWORKS, name=name)
    return str(files("pellucid.data") / "networks" / f"{name}.bif")
