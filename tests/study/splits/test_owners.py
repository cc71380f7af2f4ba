"""Units that own rows are found from the data, and nothing else is taken for one."""

import numpy as np
import polars as pl
import pytest
from leak_tables import clean, frame_of, people, units

from pellucid.study import Plan, audit_table, detect_task, make_split
from pellucid.study.reading.profiles import read_columns
from pellucid.study.splits.owners import _roughness, _share, find_owner, near_copies

UNITS, CLEAN = units(), clean()


def owner(table, target, **plan):
    frame = frame_of(table)
    rows = np.flatnonzero(frame[target].is_not_null().to_numpy())
    return find_owner(read_columns(frame), detect_task(frame[target]), Plan(**plan), rows)


@pytest.mark.parametrize("name", list(UNITS))
def test_units_are_found_and_kept_together(name):
    table, target, unit = UNITS[name]
    frame = frame_of(table)
    task = detect_task(frame[target])
    split = make_split(frame, task)
    assert (split.kind, split.groups) == ("groups", unit)
    assert "--groups none" in split.reason
    sides = [(split.train, split.test), *split.folds]
    assert all(not set(frame[unit].gather(a)) & set(frame[unit].gather(b)) for a, b in sides)
    found = audit_table(frame, task, split=split)[0]
    assert [f.where for f in found.findings if f.code == "PEL308"] == [(unit,)]
    assert next(c.role for c in found.columns if c.name == unit) == "groups"


@pytest.mark.parametrize("name", list(UNITS))
def test_names_and_order_do_not_matter(name):
    """Neither the names of the columns nor the order of the rows is evidence."""
    table, target, unit = UNITS[name]
    frame = frame_of(table).sample(fraction=1.0, shuffle=True, seed=3)
    frame = frame.rename({c: f"v{i}" for i, c in enumerate(frame.columns)})
    places = {c: f"v{i}" for i, c in enumerate(table)}
    assert owner(frame, places[target]).name == places[unit]


@pytest.mark.parametrize("name", [n for n in CLEAN if n != "digits"])
def test_clean_tables_have_no_units(name):
    table, target = CLEAN[name]()
    assert owner(table, target) is None


def test_how_to_overrule():
    table, target, unit = UNITS["age and sex"]
    frame = frame_of(table)
    task = detect_task(frame[target])
    for plan in (Plan(groups="none"), Plan(keep=(unit,)), Plan(drop=(unit,))):
        split = make_split(frame, task, plan)
        assert (split.kind, split.groups) == ("random", None)
        codes = {f.code for f in audit_table(frame, task, plan, split=split)[0].findings}
        assert "PEL308" not in codes
    named = make_split(frame, task, Plan(groups=unit))
    assert named.groups == unit
    assert "found" not in named.reason
    codes = {f.code for f in audit_table(frame, task, Plan(groups=unit), split=named)[0].findings}
    assert "PEL308" not in codes


def test_a_quantity_is_no_unit():
    """What is fixed for every year of age is a curve over age; shuffled, the same is a code."""
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 400)
    table = {"age": age, "dose": 0.37 * age**1.5, "x": rng.normal(size=400)}
    table["y"] = rng.normal(size=400)
    assert owner(table, "y") is None
    code = rng.permutation(40)[age - 20]
    assert owner(table | {"age": code}, "y").name == "age"


def test_months_by_name_are_no_units():
    """Names that stand in the order of the table are a calendar if their neighbours are alike."""
    rng = np.random.default_rng(0)
    month = np.repeat(["Jan", "Feb", "March", "April", "May", "June", "July", "Aug", "Sep"], 60)
    day = np.repeat(np.arange(270), 2)
    table = {"month": month, "day": day, "y": rng.normal(size=540)}
    assert owner(table, "y") is None
    frame = frame_of(table)
    split = make_split(frame, detect_task(frame["y"]))
    found = audit_table(frame, detect_task(frame["y"]), split=split)[0].findings
    assert [f.where for f in found if f.code == "PEL304"] == [("day",)]  # and says so
    shuffled = rng.permutation(270)[day]  # the same names with something of their own
    height = np.repeat(rng.normal(size=9), 60)
    assert owner(table | {"day": shuffled, "height": height}, "y").name == "month"


def test_of_very_many_columns_names_are_asked_first():
    rng = np.random.default_rng(0)
    who, of = people(rng)
    pixels = {f"p{i}": rng.integers(0, 99, len(who)) for i in range(80)}
    table = {"height": of(rng.normal(170, 9, 60)), **pixels, "who": [f"n{k}" for k in who]}
    assert owner(table | {"y": rng.normal(size=len(who))}, "y").name == "who"


def test_another_name_is_no_evidence():
    """A column that only renames the levels says nothing about them."""
    rng = np.random.default_rng(0)
    who, of = people(rng)
    table = {"who": who, "name": [f"n{k}" for k in who], "x": rng.normal(size=480)}
    table["y"] = rng.normal(size=480)
    assert owner(table, "y") is None
    assert owner(table | {"height": of(rng.normal(170, 9, 60))}, "y").columns == ("height",)


def test_each_class_in_one_unit_is_not_split_by_unit():
    """Nobody could learn a class whose only unit judges."""
    rng = np.random.default_rng(0)
    who, of = people(rng, 12, 20)
    table = {"who": who, "size": of(rng.normal(size=12)), "x": rng.normal(size=240)}
    table["y"] = [f"class {k}" for k in who]
    frame = frame_of(table)
    assert make_split(frame, detect_task(frame["y"])).kind == "stratified"


def test_share_and_roughness():
    """The share is 0 on average where levels say nothing; the ratio is 2."""
    rng = np.random.default_rng(0)
    shares, ratios = [], []
    for _ in range(200):
        x = rng.normal(size=(20, 5))
        within = ((x - x.mean(axis=1, keepdims=True)) ** 2).sum()
        shares.append(_share(within, ((x - x.mean()) ** 2).sum(), 100, 20))
        ratios.append(_roughness(x.mean(axis=1)[:, None]))
    assert abs(np.mean(shares)) < 0.02
    assert abs(np.mean(ratios) - 2) < 0.1


def test_near_copies_stay_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    both = np.vstack([X, X + 1e-4 * rng.normal(size=X.shape)])
    frame = pl.DataFrame(both).with_columns(y=pl.Series(np.tile(rng.normal(size=150), 2)))
    task = detect_task(frame["y"])
    split = make_split(frame, task)
    for a, b in [(split.train, split.test), *split.folds]:
        assert not set(a % 150) & set(b % 150)
    (found,) = (f for f in audit_table(frame, task, split=split)[0].findings if f.code == "PEL303")
    assert found.severity == "warning"
    assert found.evidence == {"rows": 150, "on_both_sides": 0, "nearly": True}
    alone = frame.head(150)
    codes = near_copies(read_columns(alone), task, Plan(), np.arange(150))
    assert len(np.unique(codes)) == 150


def test_units_of_a_long_table_are_seen_whole():
    """In a long table some levels are looked at with all their rows, wherever these are."""
    rng = np.random.default_rng(0)
    who, of = people(rng, 8_000, 5)
    table = {"who": who, "height": of(rng.normal(170, 9, 8_000)), "x": rng.normal(size=len(who))}
    assert owner(table | {"y": rng.normal(size=len(who))}, "y").name == "who"
    assert owner({"k": who % 50, "x": table["x"], "y": rng.normal(size=len(who))}, "y") is None


def test_the_houses_of_a_district_are_no_rows_of_one_thing():
    """Districts have a town, and places near each other; a person has one age in all rows."""
    rng = np.random.default_rng(2)
    district = rng.permutation(np.repeat(np.arange(60), rng.integers(4, 20, 60)))
    n = len(district)
    town = (district * 7 % 60) // 2
    centre = rng.normal(size=(60, 2)) * 10
    place = centre[district] + rng.normal(size=(n, 2))
    size = rng.normal(size=n)
    price = size + 0.8 * rng.normal(size=60)[district] + rng.normal(size=n)
    table = pl.DataFrame(
        {
            "code": [f"z{d}" for d in district],
            "town": [f"t{t}" for t in town],
            "north": place[:, 0],
            "east": place[:, 1],
            "size": size,
            "price": price,
        }
    )
    assert owner(table, "price") is None
    age = rng.normal(size=60).round(3)[district]
    found = owner(table.with_columns(age=age), "price")
    assert found is not None
    assert (found.name, found.rule) == ("code", "own")


@pytest.mark.parametrize("seed", range(4))
def test_people_without_a_name_are_known_by_what_comes_back_together(seed):
    """Heights and weights are decimals; a row's place in the file says nothing."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(25), 6))
    height, weight = rng.normal(170, 8, 25).round(1), rng.normal(70, 9, 25).round(1)
    y = rng.normal(size=25)[who] + 0.1 * rng.normal(size=150)
    noise = rng.normal(size=150)
    known = {"height": height[who], "weight": weight[who], "noise": noise, "y": y}
    assert owner(known, "y").name in ("height", "weight")
    # a scale that is read to a whole degree, and the same in another unit, are no people
    c = rng.integers(5, 30, 150) + 0.5
    assert (
        owner({"celsius": c, "fahrenheit": c * 1.8 + 32, "noise": noise, "y": c + y}, "y") is None
    )
