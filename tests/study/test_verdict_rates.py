"""How often the verdict and the interval of the score are right, over many simulated studies.

The whole counts are for ``make test-all``; ``make test`` takes a few seeds of each.
"""

import numpy as np
import polars as pl
import pytest
from scipy.special import bdtr, bdtrc

from pellucid import Plan, learn
from pellucid.study.judging.gain import measured, told_by
from pellucid.study.judging.measure import make_scorer

KINDS = ("number", "two classes", "three classes", "groups", "time")
QUICK = {"effort": "quick"}


def draw(kind, n, rng):
    """A table of one kind whose target depends on x1 and x2, with noise."""
    X = rng.normal(size=(n, 4))
    f = X[:, 0] - 0.7 * X[:, 1]
    table = {f"x{j}": X[:, j] for j in range(4)}
    if kind == "two classes":
        return table | {"y": np.where(f + 1.5 * rng.normal(size=n) > 0, "yes", "no")}
    if kind == "three classes":
        code = np.digitize(f + 1.2 * rng.normal(size=n), [-0.7, 0.7])
        return table | {"y": np.array(["low", "mid", "top"])[code]}
    if kind == "groups":
        who = np.arange(n) // 5
        own = rng.normal(size=who[-1] + 1)[who]
        return table | {"who": [f"p{i}" for i in who], "y": f + own + rng.normal(size=n)}
    if kind == "time":
        e = np.empty(n)
        e[0] = rng.normal()
        for i in range(1, n):
            e[i] = 0.4 * e[i - 1] + rng.normal()
        day = np.datetime64("2020-01-01") + np.arange(n)
        return table | {"day": day.astype("datetime64[D]"), "y": f + e}
    return table | {"y": f + 1.5 * rng.normal(size=n)}


def study(kind, n, seed, shuffled=False):
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    table = pl.DataFrame(draw(kind, n, rng))
    if shuffled:
        table = table.with_columns(y=pl.Series(rng.permutation(table["y"].to_numpy())))
    plan = Plan(groups="who") if kind == "groups" else Plan()
    return learn(table, "y", plan=plan, random_state=seed, **QUICK), rng


def covered(kind, seed):
    """Does the interval of the study hold the model's score on 20,000 new rows?"""
    record, rng = study(kind, 250, seed)
    if record.verdict.chosen == "guessing":
        return None
    new = pl.DataFrame(draw(kind, 20_000, rng))
    if kind == "time":  # of the days that judge: no model knows the years to come
        last = record.split.test
        new = new.with_columns(day=new["day"].gather(last[np.arange(20_000) % len(last)]))
    X = record._inputs(new)
    scorer = make_scorer(record.task, None)
    truth = measured(scorer, new["y"].to_numpy(), told_by(scorer, record.tested, X))
    interval = record.final.table[record.task.metric]
    assert interval.low < interval.high
    return interval.low <= truth <= interval.high


def claims(kind, seeds):
    return sum(study(kind, 120, seed, shuffled=True)[0].verdict.kind == "shown" for seed in seeds)


@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_targets_are_not_claimed_and_plain_ones_are(kind):
    assert claims(kind, [0, 1]) == 0
    record, _ = study(kind, 250, 0)
    assert record.verdict.kind == "shown"
    assert covered(kind, 1) is not None


def test_a_third_of_the_variance_is_not_denied():
    assert denied(range(3)) == 0


def denied(seeds):
    """Planted R2 = 0.3 with 250 rows: how often the verdict is "No"."""
    count = 0
    for seed in seeds:
        rng = np.random.default_rng([seed, 77])
        X = rng.normal(size=(250, 5))
        y = X[:, 0] + np.sqrt(0.7 / 0.3) * rng.normal(size=250)
        table = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(5)}, "y": y})
        count += learn(table, "y", random_state=seed, **QUICK).verdict.kind == "excluded"
    return count


@pytest.mark.slow
def test_at_most_one_shuffled_study_in_twenty_claims_something():
    alarms = sum(claims(kind, range(40)) for kind in KINDS)
    assert bdtrc(alarms - 1, 200, 0.05) > 0.01, f"{alarms} of 200"


@pytest.mark.slow
def test_a_planted_signal_is_denied_in_at_most_one_study_in_twenty():
    assert denied(range(40)) <= 2


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say():
    found = [covered(kind, seed) for kind in KINDS for seed in range(40)]
    known = [one for one in found if one is not None]
    hits = sum(known)
    assert min(bdtr(hits, len(known), 0.95), bdtrc(hits - 1, len(known), 0.95)) > 0.01, hits
