"""Models to serve."""

from typing import Any, NamedTuple

import polars as pl
import pytest

pytest.importorskip("uvicorn")


class Studied(NamedTuple):
    table: pl.DataFrame
    mass: Any  # a number, with intervals
    sex: Any  # two classes, with probabilities and sets


@pytest.fixture(scope="session")
def studied():
    """Studies of the penguins, made once."""
    import pellucid
    from pellucid.data import load_table

    table = load_table("penguins")
    found = [
        pellucid.learn(table, target, effort="quick").model for target in ("body_mass_g", "sex")
    ]
    return Studied(table, *found)
