"""Studies of odd tables: they end, and what they say is possible."""

import numpy as np
import polars as pl
import pytest

from pellucid import Plan, Study, learn, load, save
from pellucid.study import TaskError, detect_task
from pellucid.study.reading.target_arrays import labelled_rows, target_array
from pellucid.study.saved.evaluation import judge

RNG = np.random.default_rng(0)


def test_groups_with_empty_cells():
    """A row without an owner is a group of its own."""
    who = [f"p{i // 8:02d}" for i in range(240)]
    own = np.repeat(RNG.normal(size=30), 8)
    x = RNG.normal(size=240)
    table = pl.DataFrame({"who": who, "x": x, "y": x + own + 0.3 * RNG.normal(size=240)})
    gaps = [3, 77, 150]
    table = table.with_columns(
        who=pl.when(pl.int_range(pl.len()).is_in(gaps)).then(None).otherwise("who")
    )
    record = learn(table, "y", plan=Plan(groups="who"), effort="quick")
    assert record.split.kind == "groups"
    assert record.final.gain.units == "who"
    assert record.final.gain.total == 33
    assert not record.reproduction["not_scored"]


@pytest.mark.parametrize("name", ["count", "n", "cell", "len"])
def test_a_target_and_an_input_may_have_any_name(name):
    y = np.r_[np.zeros(60), np.ones(25), np.full(10, 2), np.full(5, 3)].astype(int)
    assert detect_task(pl.Series(name, y)).kind == "regression"
    assert detect_task(pl.Series(name, ["a", "b"] * 20)).kind == "binary"
    kind = RNG.choice(["u", "v"], 100)
    record = learn(
        pl.DataFrame({name: kind, "target": (kind == "u") + RNG.normal(size=100)}),
        "target",
        effort="quick",
    )
    assert record.verdict is not None


def test_a_yardstick_without_error_is_not_beaten():
    """The target stays as it is from before the split on: the last value is right."""
    n = 150
    day = np.datetime64("2021-01-01") + np.arange(n)
    y = np.where(np.arange(n) < 60, RNG.normal(size=n), 4.0)
    table = pl.DataFrame({"day": day, "x": RNG.normal(size=n), "y": y})
    record = learn(table, "y", plan=Plan(time="day"), effort="quick")
    assert record.verdict.kind != "shown"


def test_gains_are_possible_gains():
    x = np.r_[np.zeros(6), np.ones(6)]
    table = pl.DataFrame({"x": x, "z": RNG.normal(size=12), "y": np.where(x > 0, "b", "a")})
    gain = learn(table, "y", effort="quick", ignore=["PEL301"]).final.gain
    assert -1 <= gain.low <= gain.high <= 1
    assert gain.high <= 1 - gain.baseline + 1e-12


def test_many_right_answers_of_few_groups_are_few_answers():
    """Every row right, in three test groups: the interval counts groups."""
    group = np.repeat(np.arange(15), 40)
    x = RNG.normal(size=600) * 0.01 + (group % 2)
    table = pl.DataFrame({"g": group, "x": x, "y": np.where(group % 2 == 1, "b", "a")})
    record = learn(table, "y", plan=Plan(groups="g", keep=("x",)), effort="quick")
    assert record.final.table["accuracy"].low < 0.9


def in_time(y, x, **options):
    days = np.datetime64("2020-01-01") + np.arange(len(y))
    table = {"day": days, **{f"x{j}": x[:, j] for j in range(x.shape[1])}, "y": y}
    return learn(pl.DataFrame(table), "y", effort="quick", **options)


def test_a_class_that_comes_late_is_not_in_every_fold():
    """Probabilities of folds with two and with three classes stand side by side."""
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=(300, 3)), np.arange(300)
    z = x[:, 0] + 0.3 * rng.normal(size=300)
    y = np.where((t > 180) & (z > 1), "top", np.where(z > 0, "mid", "low"))
    record = in_time(y, x)
    seen = [len(set(y[learn])) for learn, _ in record.split.folds]
    assert (min(seen), max(seen)) == (2, 3)
    assert record.insight.dependence
    assert sorted(record.model.classes_) == ["low", "mid", "top"]


def test_a_class_that_comes_too_late_is_refused():
    x = np.random.default_rng(0).normal(size=(300, 3))
    with pytest.raises(TaskError, match="in the order of day the target 'y' is 'no' in nearly all"):
        in_time(np.where(np.arange(300) > 238, "yes", "no"), x)


def genes(rng, n=83, p=2308):
    """More columns than rows by far: four kinds of tumours, as their genes tell them apart."""
    kind = rng.permutation(np.repeat(np.arange(4), [29, 11, 18, n - 58]))
    X = rng.normal(size=(n, p))
    X[:, :60] += 1.2 * rng.normal(size=(4, 60))[kind]
    labels = np.array(["EWS", "BL", "NB", "RMS"])[kind]
    return pl.DataFrame({**{f"g{j}": np.exp(0.8 * X[:, j]) for j in range(p)}, "y": labels})


def many_classes(rng, n=2000, k=200):
    code = np.arange(n) % k
    X = rng.normal(size=(k, 8))[code] + 0.5 * rng.normal(size=(n, 8))
    return pl.DataFrame({**{f"x{j}": X[:, j] for j in range(8)}, "y": [f"c{v}" for v in code]})


def test_many_classes_have_no_table_of_coefficients():
    """A table of classes times columns is not read by anyone, and its fit took minutes."""
    table = many_classes(np.random.default_rng(0), n=800, k=80)
    record = learn(table, "y", plan=Plan(candidates=("lda",)), effort="quick")
    assert record.insight.coefficients["rows"] == []
    assert "632 coefficients are too many for a table" in record.insight.coefficients["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("make", [genes, many_classes])
@pytest.mark.parametrize("limit", [None, 20.0])
def test_wide_tables_and_many_classes_end(make, limit):
    """Whole, or with what the limit leaves: guessing, the linear model, a verdict and a model."""
    table = make(np.random.default_rng(0))
    record = learn(table, "y", plan=Plan(time_limit=limit))
    assert record.verdict.kind == "shown"
    assert len(record.model.classes_) == table["y"].n_unique()
    assert len(record.leaderboard) >= 2
    if limit is None:
        assert not record.partial
    elif record.partial:
        assert "the time limit of 20 s left no time for" in record.partial


def test_years_that_count_for_the_order_of_time():
    """Long ago, or few of them: years in the order of the rows are a time, never a name."""
    rng = np.random.default_rng(3)
    wave = 40 * np.sin(np.arange(120) / 2) + rng.normal(0, 5, 120)
    record = learn({"YEAR": np.arange(1700, 1820), "spots": wave}, "spots", effort="quick")
    assert (record.split.kind, record.split.time) == ("sequential", "YEAR")
    few = {"YEAR": np.arange(1947, 1963), "x": np.arange(16) + rng.normal(0, 1, 16)}
    few["y"] = 3 * few["x"] + rng.normal(0, 0.1, 16)
    record = learn(few, "y", effort="quick")
    assert record.split.kind == "sequential"
    assert min(len(past) for past, _ in record.split.folds) >= 6
    assert record.verdict.chosen != "guessing"


def test_quarters_of_a_year_are_measured_against_the_year_before():
    """A trend that any model follows is no merit where last year's mean follows it closer."""
    rng = np.random.default_rng(4)
    level = np.cumsum(1 + rng.normal(0, 0.3, 160))
    table = {
        "year": np.repeat(np.arange(1960, 2000), 4),
        "quarter": np.tile(np.arange(1, 5), 40),
        "related": level + rng.normal(0, 30, 160),
        "level": level,
    }
    record = learn(table, "level", effort="quick")
    assert record.final.gain.yardstick == "the mean of the year before"
    assert record.verdict.kind != "shown"


def test_one_choice_among_four_belongs_to_its_person():
    """Every person has as many rows chosen as every other: no mean tells them apart."""
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(1, 61), 4)
    income = rng.integers(1, 9, 60)[person - 1]
    cost = rng.gamma(3, 10, 240)
    chosen = (cost.reshape(60, 4).argmin(axis=1)[:, None] == np.arange(4)).ravel().astype(int)
    table = {
        "person": person,
        "way": np.tile(np.arange(1, 5), 60),
        "income": income,
        "cost": cost,
        "chosen": chosen,
    }
    record = learn(table, "chosen", effort="quick")
    assert record.split.groups == "person"


def test_counts_of_what_happened_at_least_once():
    rng = np.random.default_rng(6)
    table = {"x": rng.normal(size=17), "n": [1] * 9 + [2, 2, 2, 3, 4, 6, 9, 37]}
    assert learn(table, "n", effort="quick").task.nature == "counts"


def normal(n, p, seed):
    X = np.random.default_rng(seed).normal(size=(n, p)).round(3)
    return X, {f"x{i}": X[:, i] for i in range(p)}


def test_a_leak_left_out_is_told_with_both_scores_and_what_keeps_it():
    X, cells = normal(200, 4, 0)
    verdict = learn(
        pl.DataFrame(cells | {"y": 3 * X[:, 0] + 2}), target="y", effort="quick"
    ).verdict
    told = next(one for one in verdict.text if one.startswith("x0 was left out"))
    assert float(told.split("With it, the model misses by ")[1].split(";")[0]) < 0.01
    assert "--keep x0" in " ".join(verdict.text)


@pytest.mark.parametrize("p", [1, 3])
def test_columns_that_give_the_target_away_are_kept_and_doubted_where_nothing_else_is_left(p):
    X, cells = normal(200, p, 1)
    y = (X @ np.array([3.0, 2.0, -1.0])[:p] + 2).round(1)
    table = pl.DataFrame(cells | {"y": y})
    verdict = learn(table, target="y", effort="quick").verdict
    assert verdict.kind == "suspect"
    assert all(name in verdict.text[0] for name in cells)
    if p == 1:  # the user says that it is known
        kept = learn(table, target="y", effort="quick", plan=Plan(keep=("x0",)))
        assert kept.verdict.kind == "shown"


def test_few_rows_do_not_say_that_nothing_is_there():
    """A wave in 30 rows that no model could learn; "No" would be a claim about the table."""
    X, cells = normal(30, 6, 3)
    y = np.sin(3 * X[:, 0]) + np.random.default_rng(4).normal(size=30)
    verdict = learn(pl.DataFrame(cells | {"y": y.round(3)}), target="y", effort="quick").verdict
    assert verdict.kind != "excluded"
    assert "will not change that" not in " ".join(verdict.text)


def test_two_numbers_with_fractions_are_two_classes(tmp_path):
    """A dose of 3.5 or 7.25; the saved model is judged by the numbers of the table."""
    X, cells = normal(120, 2, 5)
    table = pl.DataFrame(cells | {"dose": np.where(X[:, 0] > 0, 3.5, 7.25)})
    record = learn(table, "dose", effort="quick", plan=Plan(keep=("x0",), candidates=("tree",)))
    assert record.task.classes == ("3.5", "7.25")
    assert record.verdict.kind == "shown"
    save(record.model, tmp_path / "m.pellucid")
    assert judge(load(tmp_path / "m.pellucid"), table, None).table["accuracy"].estimate > 0.9


def test_a_few_rows_written_out_ten_times_are_a_few_rows():
    """Sixteen rows of noise: every model that remembers is right about their copies."""
    cells = normal(16, 3, 6)[1]
    y = np.random.default_rng(7).normal(size=16).round(2)
    table = pl.concat([pl.DataFrame(cells | {"y": y})] * 10)
    record = learn(table, "y", effort="quick")
    assert record.verdict.kind != "shown"
    assert record.final.gain.units == "different rows"
    assert "PEL104" in {f.code for f in record.findings if f.severity == "warning"}


@pytest.mark.parametrize(
    ("yes", "no", "classes"),
    [
        ("yes ", "no", ("no", "yes")),
        (" yes\n", "\tno", ("no", "yes")),
        ("true", "false", (False, True)),
        ("TRUE ", "False", (False, True)),
    ],
)
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum])
def test_labels_and_groups_are_what_is_read_of_them(yes, no, classes, dtype):
    """No blanks around them, no missing marks; a study of ``yes `` ended with an internal error."""
    up = RNG.normal(size=90) > 0
    cells = pl.Series(np.where(up, yes, no)).scatter([5, 50], ["NA", " "])
    kind = dtype(cells.unique().sort()) if dtype is pl.Enum else dtype
    table = pl.DataFrame({"y": cells.cast(kind), "who": ["a", "a ", "b"] * 30, "x": range(90)})
    study = Study(table, "y", plan=Plan(groups="who"))
    if dtype is not pl.String and isinstance(classes[0], bool):  # a type of levels names levels
        classes = tuple(sorted((yes.strip(), no.strip())))
    assert study.task.classes == classes
    known = labelled_rows(study.frame, study.task)
    assert np.flatnonzero(~known).tolist() == [5, 50]
    y = target_array(study.frame.filter(known), study.task)
    assert set(y.tolist()) == set(classes)
    assert study.frame["who"].n_unique() == 2


@pytest.mark.parametrize(("yes", "no"), [("yes ", "no"), ("TRUE", "false")])
def test_a_study_of_labels_with_blanks_is_judged_by_its_table(yes, no):
    x = RNG.normal(size=90)
    table = pl.DataFrame({"x": x, "y": np.where(x + RNG.normal(size=90) > 0, yes, no)})
    record = learn(table, "y", effort="quick", plan=Plan(candidates=("lda",)))
    judged = judge(record.model, table)
    assert not judged.unknown
    assert (judged.overlap.checked, judged.overlap.learned) == (90, 90)
    assert judged.same_table
