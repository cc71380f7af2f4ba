"""What is bundled: one record per table, generator and network."""

from inspect import signature
from typing import NamedTuple

from pellucid.core.readable import readable
from pellucid.data.generators import GENERATORS
from pellucid.data.tables import NETWORKS, TABLES


@readable
class DataInfo(NamedTuple):
    """One line of the list.

    >>> DataInfo("points", "table", 8, 2, "Eight points").kind
    'table'
    """

    name: str  # as ``load_table``, ``make`` or ``load_network`` takes it
    kind: str  # table, generator or network
    rows: int | None  # of a generator: by default; None where it has none
    columns: int | None  # with the target; of a network: its variables
    description: str  # one line


COLUMNS = {
    "blobs": 3,
    "line_labels": 3,
    "mixture": None,
    "moons": 3,
    "rings": 3,
    "three_clusters": 3,
    "two_blobs": 3,
}
CLOUDS = {"three_clusters": 3, "two_blobs": 2}
VARIABLES = {
    "alarm": 37,
    "asia": 8,
    "cancer": 5,
    "child": 20,
    "earthquake": 5,
    "insurance": 27,
    "sachs": 11,
    "survey": 6,
}


def list_data() -> list[DataInfo]:
    """Every bundled table, generator and network.

    >>> from pellucid.data import list_data
    >>> [item.name for item in list_data() if item.kind == "network"][:2]
    ['alarm', 'asia']
    """
    tables = [
        DataInfo(name, "table", info.rows, info.columns, info.description)
        for name, info in TABLES.items()
    ]
    networks = [
        DataInfo(name, "network", None, VARIABLES[name], f"Bayesian network {name} in BIF")
        for name in NETWORKS
    ]
    return tables + [generator_info(name) for name in GENERATORS] + networks


def generator_info(name: str) -> DataInfo:
    """Size by default and first line of the docstring."""
    make = GENERATORS[name]
    first = next(iter(signature(make).parameters.values())).default
    rows = first * CLOUDS.get(name, 1) if isinstance(first, int) else None
    description = (make.__doc__ or "").splitlines()[0]
    return DataInfo(name, "generator", rows, COLUMNS.get(name, 2), description)
