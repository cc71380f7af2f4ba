"""The kind of a verdict, its reason, its sentences and its interval say the same of every gain."""

import math
import re
from itertools import product

import numpy as np
import pytest

from pellucid.evaluation import Interval
from pellucid.study.records import Gain, LeaderboardRow, Scarce, Task
from pellucid.study.verdict.verdict import REASONS, Case, reach_verdict

RMSE = Task("regression", ("price",), (), None, "rmse", False, 0, "")
TASKS = {
    "rmse": RMSE,
    "accuracy": Task("binary", ("ill",), ("no", "yes"), "yes", "accuracy", True, 0, ""),
    "log_loss": Task("binary", ("ill",), ("no", "yes"), "yes", "log_loss", False, 0, ""),
}
BASE = {"rmse": 8.5, "accuracy": 0.6, "log_loss": 0.85}
ENDS = (-2.0, -0.3, -0.1, 0.0, 0.2, 0.9, 1.1, 3.0)  # of an interval, in useful gains
FIRST = {"shown": "Yes.", "not_shown": "Not shown.", "excluded": "No."}
FEW = Scarce("ill = yes", 0, 60, 2, 300)
INTERVALS = [pair for pair in product(ENDS, repeat=2) if pair[0] <= pair[1]] + [(math.nan,) * 2]


def row(name, complexity, **more):
    one = Interval(0.9, 0.85, 0.95, 0.02, "", 100)
    given = {"chosen": False, "best": False} | more
    return LeaderboardRow(
        name, name, one, 0.9, 0.1, complexity, np.nan, given["chosen"], given["best"], (), {}
    )


ROWS = (row("ridge regression", 1, chosen=True, best=True), row("guessing", 0))


def gains(metric):
    """Every shape of a gain: its interval, rows, folds, deals, held rows and scarce values."""
    base = BASE[metric]
    useful = 0.05 if metric == "accuracy" else 0.1 * base
    shapes = (
        INTERVALS,
        (46, 500),  # test rows; a useful gain needs 74
        ((1.0, 1.0), (-1.0, -1.0)),  # folds
        (None, 0.01, 0.6),  # deals that score as well
        (1.0, 0.001),  # p-value of the learning rows
        (None, FEW, FEW._replace(test=1)),
    )
    for (low, high), n, folds, dealt, held, scarce in product(*shapes):
        middle = 0.0 if math.isnan(low) else (low + high) / 2
        ends = (low * useful, high * useful) if scarce is None else (math.nan, math.nan)
        one = Gain(middle * useful, *ends, 0.04, useful, base, 3.0, n=n, total=5 * n, least=74)
        dealt = dealt if ends[0] > 0 else None
        yield one._replace(folds=folds, held=held, dealt=dealt, scarce=scarce)


def told(metric, gain):
    sign = 1 if TASKS[metric].greater_is_better else -1
    score = gain.baseline + sign * gain.estimate
    near = Interval(score, score - 0.01, score + 0.01, 0.01, "t", gain.n)
    return reach_verdict(Case(TASKS[metric], near, gain, "ridge regression", ROWS, (), 0.05))


@pytest.mark.parametrize("metric", TASKS)
def test_sentence_reason_and_interval_agree_for_every_gain(metric):
    kinds, reasons = set(), set()
    for g in gains(metric):
        verdict, reason = told(metric, g), g.reason()
        text, why = " ".join(verdict.text), verdict.reasons[0]
        kinds.add(verdict.kind)
        reasons.add(reason)
        assert why == REASONS[reason]
        assert text.startswith(FIRST[g.verdict()])
        assert not re.search(r"\bnan\b|\binf\b|undefined|\bNone\b", text), text
        above, below = g.low > 0, g.high < g.useful
        # what the reason says of the interval is so
        assert ("lies above 0" in why) <= above
        assert ("lies below a useful gain" in why) <= below
        assert ("holds both 0 and a useful gain" in why) <= (g.low <= 0 and not below)
        # what the sentences say of it is so
        assert ("less than a useful gain" in text) <= (below and verdict.kind == "not_shown")
        assert ("can still be luck" in text) <= (g.low <= 0 < g.estimate)
        assert ("real but small" in text) == (verdict.kind == "shown" and below)
        assert ("are too few to show" in text) <= (g.n < g.least and not above)
        assert ("the folds of the learning rows do not agree" in text) == (reason == "folds")
        assert ("dealt out" in text) == (reason == "dealt") == ("dealt out" in why)
        assert ("Of the 300 rows" in text) == (reason == "scarce")
        assert ("scores exactly as" in text) == (reason == "same")
        # the interval printed is the one that decides
        for low, high in re.findall(r"lies between (\S+) and (\S+?)(?: |$)", text):
            scale = 100 if metric == "accuracy" else 1
            assert float(low) == pytest.approx(scale * g.low, rel=0.01, abs=1e-9)
            assert float(high) == pytest.approx(scale * g.high, rel=0.01, abs=1e-9)
        if verdict.kind == "shown" and reason == "interval":
            assert above
            assert g.folds_agree()
        if g.scarce is not None:
            held = g.held < 0.025 and g.scarce.test and g.estimate > 0
            assert verdict.kind == ("shown" if held else "not_shown")
        if reason == "few":
            assert f"{g.n} rows are too few to show one" in text
            assert "would need about 74 set aside to be told from" in text
            assert "About" in verdict.text[2]
    assert kinds == {"shown", "not_shown", "excluded"}
    assert reasons == set(REASONS)


def test_a_gain_that_excludes_a_useful_one_on_too_few_rows_does_not_claim_to_hold_it():
    g = Gain(-0.09, -0.168, -0.019, 0.02, 0.085, 0.85, 1.6, "guessing", "rows", 46, 230, (-0.1,))
    verdict = told("log_loss", g._replace(least=74))
    assert verdict.kind == "not_shown"
    assert verdict.reasons == (REASONS["few"],)
    assert verdict.text[1:3] == (
        "What these rows can say: the gain lies between -0.168 and -0.019 (95 %).",
        "That is less than a useful gain (0.085), but 46 rows are too few to show one: a model "
        "that has one would need about 74 set aside to be told from guessing. About 370 rows would "
        "settle it.",
    )
    assert told("log_loss", g._replace(n=74, least=74)).kind == "excluded"


def test_a_record_of_a_gain_is_json():
    found = Gain(0.1, math.nan, math.nan, math.nan, 0.05, 0.6, 12.5, scarce=FEW).to_dict()
    assert found["low"] is None
    assert found["scarce"] == FEW._asdict()
