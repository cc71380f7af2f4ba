"""Rows that depend on their neighbours in the file are noticed; a sorted file is no sign."""

import numpy as np
import polars as pl
import pytest
from leak_tables import clean, frame_of
from row_tables import by, design, independent, people, walks

from pellucid.study import Plan, Study
from pellucid.study.checks.neighbours import neighbours_of, row_order, stretch_folds
from pellucid.study.reading.profiles import read_columns
from pellucid.study.reading.target_arrays import CLASSES


def screened(table, *, classes):
    columns = read_columns(pl.DataFrame(table))
    target = columns.pop("y")
    return row_order(target, columns, np.zeros(len(target.cells), dtype=int), classes=classes)


def study(table, target="y", **plan):
    made = Study(frame_of(table), target, effort="quick")
    linear = "logistic" if made.task.kind in CLASSES else "ridge"
    made.plan = Plan(candidates=(linear, "boosting"), **plan)
    return made


def doubt(made):
    """How neighbours made the score, and whether the verdict is suspect; None if they did not."""
    found = made.suspect()
    return (found.how, found.perfect) if found is not None and found.of_neighbours() else None


@pytest.mark.parametrize("classes", [False, True])
def test_the_screen_sees_people_and_walks(classes):
    """Only the columns that people have of their own are named."""
    for seed in range(4):
        found = screened(people(seed, classes=classes), classes=classes)
        assert found.alike == ("x0", "x1", "x2")
        assert screened(people(seed, classes=classes, m=40, k=8), classes=classes) is not None
        assert screened(walks(seed, classes=classes, p=3), classes=classes) is not None


@pytest.mark.parametrize("classes", [False, True])
def test_the_screen_lets_sorted_files_pass(classes):
    """Of a hundred independent tables in any order at most one is looked at twice."""
    seen = [
        (seed, n, bend, name)
        for seed in range(5)
        for n in (100, 400)
        for bend in (False, True)
        for name in (None, "y", "x0", "x1", "g")
        if screened(by(independent(seed, classes=classes, n=n, bend=bend), name), classes=classes)
    ]
    assert len(seen) <= 1, seen


def test_settings_of_an_experiment_explain_themselves():
    for seed in range(5):
        assert screened(design(seed), classes=False) is None
        assert screened(design(seed, shuffled=True), classes=False) is None
    exact = {
        name: x for name, x in people(0, jitter=0.0).items() if name in ("x0", "x1", "x2", "y")
    }
    assert screened(exact, classes=False) is not None  # each tells all people apart: no settings


def test_many_rows_are_looked_at_in_chunks():
    rows, chunk = neighbours_of(200_000)
    assert len(rows) == 5000
    assert len(np.unique(rows)) == 5000
    assert (np.diff(rows)[np.diff(chunk) == 0] == 1).all()


@pytest.mark.parametrize("finer", [1, 5])
def test_stretches_are_whole_and_apart(finer):
    """Every row is judged once; rows near a judged stretch of their class teach nothing."""
    label = np.sort(np.random.default_rng(0).integers(0, 2, 200))
    folds = stretch_folds(label, finer)
    judged = np.concatenate([judge for _, judge in folds])
    assert sorted(judged.tolist()) == list(range(200))
    for learn, judge in folds:
        assert set(label[learn]) == set(label[judge]) == {0, 1}
        near = np.abs(learn[:, None] - judge) + 1000 * (label[learn][:, None] != label[judge])
        assert near.min() > 80 // (10 * finer)
        assert (np.diff(judge) > 1).sum() == 2 * finer - 1


@pytest.mark.parametrize("classes", [False, True])
def test_people_without_a_name_are_no_yes(classes):
    """The verdict tells both scores and what to name; saying that there are no groups ends it."""
    table = people(3, classes=classes)
    record = study(table).run()
    assert record.verdict.kind == "suspect"
    said = str(record.verdict)
    assert "rows next to each other in the file are alike in y and in x0, x1 and x2." in said
    assert "Where whole stretches of the file are kept apart, the model" in said
    assert "`--groups none` says so." in said
    (found,) = (f for f in record.findings if f.code == "PEL310")
    assert (found.severity, found.where) == ("error", ("x0", "x1", "x2"))
    assert not {"PEL307", "PEL309"} & {f.code for f in record.findings}
    sign = 1 if classes else -1
    kept = record.to_dict()["suspicion"]
    assert sign * kept["with_columns"]["estimate"] > sign * kept["without"]["estimate"]
    assert "rests on rows next to each other" in record.verdict.reasons[0]


def test_what_overrules_it():
    table = people(3)
    assert study(table, groups="none").suspect() is None
    assert study(table, time_limit=1e-3).suspect() is None  # no time to ask
    quiet = study(table)
    quiet.ignore = frozenset({"PEL310"})
    assert doubt(quiet) is None


def test_walks_that_seem_related_in_every_stretch():
    """A target moved along the file is told as well as the true one."""
    record = study(walks(1)).run()
    assert record.suspicion.how == "moved"
    assert "Moved some way along the file, to rows it does not belong to, y is told" in str(
        record.verdict
    )


def test_a_gain_that_stretches_leave_open_is_remarked_upon():
    made = study(people(0))
    assert doubt(made) == ("stretches", False)
    record = made.run()
    assert record.verdict.kind == "shown"
    assert "where whole stretches of the file are kept apart" in str(record.verdict)
    assert [f.severity for f in record.findings if f.code == "PEL310"] == ["warning"]


@pytest.mark.slow
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        people,
        lambda seed, **k: people(seed, m=40, k=8, **k),
        lambda s, **k: walks(s, p=3, **k),
        walks,
    ],
)
def test_few_plain_yeses_are_left(make, classes):
    """Of eight tables each without a true relation at most one; before this check, nearly all."""
    records = [Study(pl.DataFrame(make(seed, classes=classes)), "y", effort="quick").run()
               for seed in range(8)]  # fmt: skip
    plain = [r for r in records if r.verdict.kind == "shown" and r.suspicion is None]
    assert len(plain) <= 1


@pytest.mark.slow
def test_clean_tables_raise_no_alarm():
    """Neither as they are nor sorted by their target."""
    for name, make in clean().items():
        table, target = make()
        for frame in (frame_of(table), frame_of(table).sort(target, maintain_order=True)):
            columns = read_columns(frame)
            goal = columns.pop(target)
            made = study(frame, target)
            one, classes = np.zeros(frame.height, dtype=int), made.task.kind in CLASSES
            if row_order(goal, columns, one, classes=classes) is not None:
                assert doubt(made) is None, name
