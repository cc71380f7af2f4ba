"""Slices: the place of the errors is found, and chance is not called a place."""

import numpy as np
import polars as pl

from pellucid.study.judging.slices import error_slices


def test_a_bad_level_and_a_bad_quarter_come_first():
    rng = np.random.default_rng(0)
    n = 400
    level = rng.choice(["a", "b", "c"], n)
    x = rng.normal(size=n)
    errors = np.abs(rng.normal(size=n)) * np.where(level == "b", 4, 1)
    frame = pl.DataFrame({"level": level, "x": x})
    kinds = {"level": "category", "x": "number"}
    found = error_slices(frame, kinds, errors, wrong=False)
    assert (found[0]["column"], found[0]["slice"], found[0]["beyond"]) == ("level", "b", True)
    errors = (rng.random(n) < np.where(x > np.quantile(x, 0.75), 0.7, 0.1)).astype(float)
    found = error_slices(frame, kinds, errors, wrong=True)
    assert found[0]["slice"].startswith("highest quarter")
    assert found[0]["low"] <= found[0]["error"] <= found[0]["high"]


def test_chance_is_rarely_called_a_place():
    rng = np.random.default_rng(1)
    alarms = 0
    for _ in range(100):
        frame = pl.DataFrame(
            {f"c{j}": rng.choice(["u", "v", "w"], 200) for j in range(5)} | {"x": rng.random(200)}
        )
        kinds = {**{f"c{j}": "category" for j in range(5)}, "x": "number"}
        errors = (rng.random(200) < 0.3).astype(float)
        alarms += any(one["beyond"] for one in error_slices(frame, kinds, errors, wrong=True))
    assert alarms <= 8


def test_missing_cells_are_a_slice_and_small_ones_are_none():
    x = pl.Series("x", [None] * 20 + list(range(40)), dtype=pl.Float64)
    few = pl.Series("few", ["rare"] * 3 + ["common"] * 57)
    errors = np.r_[np.ones(20), np.zeros(40)]
    kinds = {"x": "number", "few": "category"}
    found = error_slices(pl.DataFrame([x, few]), kinds, errors, wrong=True)
    assert found[0]["slice"] == "missing"
    assert all(one["slice"] != "rare" for one in found)


def test_quarters_of_large_numbers_are_written_out():
    size = np.linspace(1650.0, 16_200.0, 200)
    found = error_slices(pl.DataFrame({"size": size}), {"size": "number"}, size, wrong=False)
    assert found[0]["slice"].startswith("highest quarter (12,562 to 16,200)")


def test_few_values_are_named_not_called_quarters():
    year = np.repeat([2007, 2008, 2009], 30)
    errors = np.repeat([1.0, 0.0, 0.0], 30)
    kinds = {"year": "whole"}
    found = error_slices(pl.DataFrame({"year": year}), kinds, errors, wrong=True)
    assert [one["slice"] for one in found] == ["2007"]
