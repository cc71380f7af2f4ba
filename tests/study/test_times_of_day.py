"""Lengths of time and times of day are seconds, whatever a column counts in."""

import datetime

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid.study import Plan
from pellucid.study.saved.evaluation import judge

rng = np.random.default_rng(0)


def waits(unit):
    """Minutes of waiting that grow with the hour, in a frame that counts in ``unit``."""
    hour = np.repeat(np.arange(24), 8)
    wait = 600 + 30 * hour + rng.normal(0, 40, len(hour)).round()
    cells = [None if i % 50 == 0 else datetime.timedelta(seconds=w) for i, w in enumerate(wait)]
    return pl.DataFrame(
        {
            "begun": [datetime.time(int(h), 30) for h in hour],
            "noise": rng.normal(size=len(hour)),
            "wait": pl.Series(cells, dtype=pl.Duration(unit)),
        }
    )


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_units_of_time_change_nothing(unit, tmp_path):
    """The target is told in seconds; files, new rows and new scores read it so too."""
    table = waits(unit)
    record = pellucid.learn(table, "wait", effort="quick", plan=Plan(candidates=("ridge",)))
    assert 30 < record.final.table["rmse"].estimate < 55
    pellucid.save(record.model, tmp_path / "m.pellucid")
    model = pellucid.load(tmp_path / "m.pellucid")
    said = record.predict(table.drop("wait"))
    np.testing.assert_array_equal(model.predict(table.drop("wait")), said)
    truth = table["wait"].dt.total_seconds().to_numpy()
    known = ~np.isnan(truth.astype(float))
    assert np.abs(said[known] - truth[known]).mean() < 45
    assert judge(model, table, None).table["rmse"].estimate < 55
