"""Simulated studies whose truth is known: is the verdict right, does the interval cover?

    .venv/bin/python tests/helpers/verdict_rates.py --jobs 16 --seeds 200

prints how often each kind of study claims a shuffled target, covers its own score, and denies a
planted signal. ``tests/study/test_verdict_rates.py`` holds the counts to what the study promises.
"""

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import polars as pl

from pellucid import Plan, learn
from pellucid.study.columns.lags import lag_columns
from pellucid.study.judging.gain import measured, told_by
from pellucid.study.judging.measure import make_scorer

KINDS = ("number", "two classes", "three classes", "groups", "time")
QUESTIONS = {"claims a shuffled target": KINDS, "covers": KINDS, "denies a signal": ("number",)}
NEW = 20_000  # rows that stand for the truth


def draw(kind, n, rng):
    """A table of one kind whose target depends on x0 and x1, with noise."""
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
    """The record of one quick study, and the generator that can draw more of its rows."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    table = pl.DataFrame(draw(kind, n, rng))
    if shuffled:
        table = table.with_columns(y=pl.Series(rng.permutation(table["y"].to_numpy())))
    plan = Plan(groups="who") if kind == "groups" else Plan()
    return learn(table, "y", plan=plan, random_state=seed, effort="quick"), rng


def claims(kind, seed):
    """Does a study of a shuffled target say "Yes"?"""
    return study(kind, 120, seed, shuffled=True)[0].verdict.kind == "shown"


def covers(kind, seed):
    """Does the interval hold the tested model's score on new rows? None: it only guesses."""
    return holds_truth(kind, *study(kind, 250, seed))


def holds_truth(kind, record, rng):
    """Does the interval of this study hold the tested model's score on new rows of ``rng``?"""
    if record.verdict.chosen == "guessing":
        return None
    new = pl.DataFrame(draw(kind, NEW, rng))
    X = in_time(record, new) if kind == "time" else record._inputs(new)
    scorer = make_scorer(record.task, None)
    truth = measured(scorer, new["y"].to_numpy(), told_by(scorer, record.tested, X))
    interval = record.final.table[record.task.metric]
    if not interval.low < interval.high:
        raise AssertionError(f"{kind}: an interval of width 0, {interval}")
    return interval.low <= truth <= interval.high


def in_time(record, new):
    """New rows as the test rows were given: one step ahead, with their own past as lags.

    Their days are those that judge, since no model knows the years to come.
    """
    last, lags = record.split.test, record.tested[0].lags
    past = [] if lags is None else lag_columns(lags, new).get_columns()
    day = new["day"].gather(last[np.arange(new.height) % len(last)])
    return new.with_columns(*past, day)


def denies(kind, seed):
    """Does a study of 250 rows with R2 = 0.3 say "No"?"""
    rng = np.random.default_rng([seed, 77])
    X = rng.normal(size=(250, 5))
    y = X[:, 0] + np.sqrt(0.7 / 0.3) * rng.normal(size=250)
    table = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(5)}, "y": y})
    return learn(table, "y", random_state=seed, effort="quick").verdict.kind == "excluded"


ASK = dict(zip(QUESTIONS, (claims, covers, denies), strict=True))


def count(question, kind, seeds):
    """How many studies of these seeds answer yes, and how many answer at all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = [ASK[question](kind, seed) for seed in seeds]
    known = [one for one in answers if one is not None]
    return int(sum(known)), len(known)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--seeds", type=int, default=40)
    asked = options.parse_args()
    blocks = [range(a, min(a + 5, asked.seeds)) for a in range(0, asked.seeds, 5)]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for question, kinds in QUESTIONS.items():
            every = np.zeros(2, dtype=int)
            for kind in kinds:
                found = np.sum(list(pool.map(partial(count, question, kind), blocks)), axis=0)
                every += found
                print(f"{question:<26}{kind:<15}{found[0]:>4} of {found[1]}", flush=True)
            print(f"{question:<26}{'all':<15}{every[0]:>4} of {every[1]}", flush=True)


if __name__ == "__main__":
    main()
