"""Public tables on which studies once said something false: what is said now is true.

Small ones run in ``make test``, the rest in ``make test-all``.
"""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid import Plan, learn

PUBLIC = Path(__file__).parent / "public"


def public(name):
    return pl.read_csv(PUBLIC / f"{name}.csv")


def study(name, target, effort="standard", **plan):
    return learn(public(name), target, effort=effort, plan=Plan(**plan))


def check_words(record):
    """What no verdict may say, and what every one must: its own numbers, intervals with a width."""
    said = str(record.verdict)
    assert "no better than chance" not in said
    assert "too few to be sure" not in said
    assert "would have been -" not in said
    first = {"suspect": "Too good", "shown": "Yes.", "not_shown": "Not shown.", "excluded": "No."}
    assert said.startswith(first[record.verdict.kind])
    for low, high in re.findall(r"interval ([\d.,]+) to ([\d.,]+)", said):
        assert low != high.rstrip(".,")
    gain = record.final.gain
    assert gain.low < gain.high
    if record.verdict.kind == "excluded":
        assert gain.high < gain.useful
    advice = said.split("Next, ")[-1]
    assert f"use {record.verdict.chosen}" not in advice
    return said


@pytest.mark.slow
def test_weather_is_measured_against_yesterdays_and_not_denied():
    """Rain and sun are told apart; days like yesterday are what a model has to beat."""
    record = study("seattle_weather", "weather")
    check_words(record)
    assert record.split.kind == "sequential"
    assert record.final.gain.yardstick == "the last value"
    assert (record.verdict.kind, record.task.metric) == ("shown", "accuracy")
    accuracy = record.final.table["accuracy"]
    assert accuracy.low > record.final.baseline["accuracy"].estimate


def test_seizures_of_people_are_counts_of_groups():
    record = study("epil", "y", effort="quick")
    said = check_words(record)
    assert (record.task.nature, record.split.groups) == ("counts", "subject")
    assert record.verdict.kind in ("shown", "not_shown")
    assert "a new subject" in said


def test_unemployment_is_measured_against_the_last_month():
    record = study("economics", "unemploy", effort="quick")
    check_words(record)
    gain = record.final.gain
    assert (gain.yardstick, round(gain.baseline)) == ("the last value", 292)
    assert record.verdict.kind in ("shown", "not_shown")
    assert record.final.table["rmse"].estimate < 0.1 * record.final.baseline["rmse"].estimate


@pytest.mark.slow
def test_names_on_the_titanic_are_no_features():
    record = study("titanic_half", "Survived")
    said = check_words(record)
    final = record.final
    assert record.verdict.kind == "shown"
    assert final.table["log_loss"].high < final.baseline["log_loss"].estimate
    assert "Name" in dict(record.features.left_out)
    for name in ("Age", "PClass", "Sex"):
        assert f"drop {name}" not in said
        assert not any(name in str(f.fix) and "rop" in str(f.fix) for f in record.findings)


def test_chicks_are_weighed_again_and_again():
    record = study("chicks", "weight", effort="quick")
    assert "a new Chick" in check_words(record)
    assert (record.split.kind, record.split.groups) == ("groups", "Chick")
    assert record.verdict.kind == "shown"
    train, test = (
        public("chicks")["Chick"].gather(r) for r in (record.split.train, record.split.test)
    )
    assert not set(train) & set(test)


@pytest.mark.parametrize(("name", "target"), [("doctor_visits", "visits"), ("affairs", "affairs")])
def test_visits_and_affairs_are_counts(name, target):
    record = study(name, target, effort="quick")
    check_words(record)
    assert (record.task.kind, record.task.nature) == ("regression", "counts")
    assert "the Poisson deviance stands beside it where every" in record.task.reason
    above = all(row["prediction"] > 0 for row in record.final.predictions)
    assert ("poisson_deviance" in record.final.table) == above
    assert record.verdict.kind != "excluded"


def test_prices_between_their_own_ends_are_too_good_to_be_true():
    record = study("cars", "Price", effort="quick")
    said = check_words(record)
    assert record.verdict.kind == "suspect"
    assert "Min.Price and Max.Price, whose mean it is" in said
    assert "--drop Min.Price,Max.Price" in said
    honest = study("cars", "Price", effort="quick", drop=("Min.Price", "Max.Price"))
    assert honest.verdict.kind == "shown"
    assert honest.final.table["r2"].high < 1


def messy(clean, rng):
    """The prices as people write them, one form for each column."""
    n = clean.height
    share = rng.random(n)
    money = [f"${v:,.0f}" for v in clean["price"]]
    size = [f"{v:,}" for v in clean["lotsize"]]
    return (
        clean.with_columns(tax=pl.Series(np.round(1018.84 + 400 * share, 2)), rate=100 * share),
        clean.with_columns(
            price=pl.Series(money),
            lotsize=pl.Series(size),
            tax=pl.Series([f"€{v:,.2f}" for v in np.round(1018.84 + 400 * share, 2)]),
            rate=pl.Series([f"{100 * v:.12f}%" for v in share]),
        ),
    )


def test_messy_house_prices_are_those_of_the_clean_table(tmp_path):
    """Money, thousands and percent; "$42,000" is a number, not one of 219 classes."""
    clean, dirty = messy(public("house_prices"), np.random.default_rng(0))
    clean.write_csv(tmp_path / "clean.csv")
    dirty.write_csv(tmp_path / "dirty.csv")
    one, other = (learn(tmp_path / f"{n}.csv", "price", effort="quick") for n in ("clean", "dirty"))
    assert other.task.kind == one.task.kind == "regression"
    rmse = [record.final.table["rmse"].estimate for record in (one, other)]
    assert rmse[1] == pytest.approx(rmse[0], rel=0.01)
    assert "within $" in str(other.verdict)
    assert {c.name: c.kind for c in other.audit.columns}.keys() == set(clean.columns)
    assert not set(dict(other.features.left_out)) - set(dict(one.features.left_out))
    pellucid.save(other.model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert np.allclose(again.predict(other._inputs(dirty)), other.predict(dirty))
