"""Everything that prints low and high holds the truth as often as it says, or prints a caveat."""

import importlib
import inspect
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks.calibration.case import Case, Outcome, Part, judge, replicate
from benchmarks.calibration.page import page
from benchmarks.calibration.runner import CHUNK, cases, tasks

CASES = {case.name: case for case in cases()}
NAMES = Path(__file__).with_name("public_names.txt")

# public things with a confidence that give no interval of their own, and why
NO_INTERVAL = {
    "base.Estimator.summary": "says why there is none",
    "ensemble.rule_lists.rule_list": "a confidence of pruning",
    "tree.multiway.classifier.MultiwayTreeClassifier": "a confidence of pruning",
    "ensemble.forest.regressor.ForestRegressor.calibrate_intervals": "predict_interval has it",
    "ensemble.forest.intervals.ForestCalibration": "a record",
    "evaluation.conformal.conformal_classifier.ConformalClassifier": "predict_set has it",
    "evaluation.conformal.conformal_regressor.ConformalRegressor": "predict_interval has it",
    "evaluation.conformal.conformal_scores.conformal_quantile": "ConformalRegressor has it",
    "evaluation.intervals.intervals.Interval": "a record",
    "evaluation.explain.accumulated.AccumulatedEffects": "a record",
    "evaluation.calibration.reliability_curve.Reliability": "a record",
    "evaluation.metrics.tasks.clustering_metrics": "describes these rows; there is no truth beyond",
    "inference.estimation.model_check.PredictiveCheck.interval": "of simulated statistics",
    "inference.estimation.predictive.Predictive.interval": "quantiles of draws, as Chains",
    "inference.estimation.posteriors.Posterior.interval": "GridPosterior and Chains have it",
    "inference.beliefs.normal_inverse_wishart.NormalInverseWishart.interval": "of each marginal",
    "reinforcement.comparing.compare_agents": "Student's interval of mean_interval over seeds",
}


def found(name):
    """The object of a dotted public name."""
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:i]))
        except ImportError:
            continue
        for part in parts[i:]:
            thing = getattr(thing, part)
        return thing
    raise AssertionError(name)


def home(thing):
    """Where a thing is written: one place for all classes that share it."""
    return f"{thing.__module__}.{thing.__qualname__}".removeprefix("pellucid.")


def test_every_interval_has_a_design():
    """Whatever public thing takes a confidence is simulated, or is excused by name."""
    homes = defaultdict(list)
    for line in NAMES.read_text().splitlines():
        name, _, signature = line.partition(" ")
        if "confidence=" in signature.replace("!", "") and ".plots." not in name:
            homes[home(found(name))].append(name)
    simulated = {home(found(f"pellucid.{case.thing}")) for case in CASES.values()}
    missing = {h: n[:2] for h, n in homes.items() if h not in simulated and h not in NO_INTERVAL}
    assert not missing
    assert not simulated & NO_INTERVAL.keys()


def test_names_of_cases_are_unique_and_real():
    assert len(CASES) == len(cases())
    for case in CASES.values():
        assert callable(found(f"pellucid.{case.thing}"))
        assert inspect.signature(case.draw)


def made(share, caveat="", at_least=False, said=""):
    """A case that holds the truth in this share of replications."""

    def draw(rng):
        return Outcome([rng.random() < share], said)

    return Case("base", "made", draw, caveat=caveat, at_least=at_least)


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        (made(0.95), "holds"),
        (made(0.85), "fails"),
        (made(1.0), "fails"),
        (made(1.0, at_least=True), "holds"),
        (made(0.85, at_least=True), "fails"),
        (made(0.85, caveat="too narrow", said="it is too\n  narrow here"), "said"),
        (made(0.85, caveat="too narrow", said="all is well"), "fails"),
        (made(0.95, caveat="too narrow", said="all is well"), "holds"),
    ],
)
def test_verdicts(case, verdict):
    """The gate sees an interval that is too short, too long or silent."""
    row = judge(case, [replicate(case, range(2000))])
    assert row.verdict == verdict
    assert row.n == 2000
    assert 0.002 < row.error < 0.01


def test_a_caveat_that_is_printed_counts_before_chance():
    """0.924 of 1,000: chance may explain it, but the record says it and so does the page."""
    part = Part((1.0,) * 924 + (0.0,) * 76, 1000)
    assert judge(made(0.924), [part]).verdict == "holds"
    assert judge(made(0.924, caveat="too narrow"), [part]).verdict == "said"
    silent = part._replace(caveats=0)
    assert judge(made(0.924, caveat="too narrow"), [silent]).verdict == "holds"
    near = Part((1.0,) * 931 + (0.0,) * 69, 1000)
    assert judge(made(0.931, caveat="too narrow"), [near]).verdict == "holds"


def test_the_page_is_of_the_cases_of_today():
    """Each case has one row, which quotes the caveat that its record prints now; totals add up."""
    text = (Path(__file__).parents[1] / "benchmarks/CALIBRATION.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    names = [f"{thing.strip('`')}: {design}" for thing, design, *_ in rows]
    assert sorted(names) == sorted(CASES)
    count = dict.fromkeys(("holds", "said", "fails"), 0)
    for name, (*_, nominal, measured, error, _n, verdict) in zip(names, rows, strict=True):
        case, off = CASES[name], abs(float(measured) - float(nominal))
        word = verdict.split()[0].strip(":")
        count[word] += 1
        assert float(nominal) == case.nominal, name
        if word == "said":
            assert verdict == f'said: "{case.caveat}"', name
        elif float(measured) < case.nominal or not case.at_least:
            assert off <= 0.02 + (0 if case.caveat else 2 * float(error)) + 1e-3, name
    total = f"{len(rows)} cases: " + ", ".join(f"{n} {word}" for word, n in count.items())
    assert total in text


def test_replications_are_split_into_tasks_and_merged():
    wanted = [made(0.9), made(0.5)._replace(design="slow", share=0.5)]
    seen = list(tasks(wanted, 100, 0.0))
    assert sum(t.last - t.first for t in seen) == 100 + 50
    assert seen[0].name != seen[1].name  # every case has its first chunk before any its second
    whole = replicate(wanted[0], range(2 * CHUNK))
    halves = [replicate(wanted[0], range(a, a + CHUNK)) for a in (0, CHUNK)]
    assert judge(wanted[0], [whole])[1:] == judge(wanted[0], halves)[1:]


def test_the_page_counts_and_names_what_fails():
    rows = [judge(case, [Part((0.0,) * 50, 0)]) for case in (made(0.0),)]
    text = page(rows, {}, "50 replications")
    assert "1 cases: 0 holds, 0 said, 1 fails" in text
    assert "**fails**" in text


SHARE = (
    "linear.LinearRegression.summary: nonrobust, normal noise, n = 12",
    "linear.LinearRegression.summary: CR2, 8 clusters",
    "linear.BayesianLinearRegression.summary: slopes from the prior, normal noise, n = 15",
    "linear.BayesianRidge.predict_interval: prediction, n = 15",
    "linear.LogisticRegression.summary: profile, two classes, n = 40",
    "evaluation.proportion_interval: wilson, n = 10, p = 0.7",
    "inference.DistributionFit.interval: normal, n = 15",
)


@pytest.mark.parametrize("name", SHARE)
def test_a_share_of_the_intervals_covers(name):
    """Sixty replications of each: gates as wide as chance is."""
    case = CASES[name]
    shares = np.array(replicate(case, range(60)).shares)
    assert shares.mean() > case.nominal - 0.02 - 4 * np.sqrt(case.nominal * (1 - case.nominal) / 60)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_interval_covers_or_says_so(name):
    """As CALIBRATION.md: within 0.02 of nominal, Monte-Carlo error allowed, or the caveat."""
    case = CASES[name]
    part = replicate(case, range(max(40, int(300 * case.share))))
    row = judge(case, [part])
    slack = row.error  # a third error: many cases are run, and none may fail by luck
    low, high = case.nominal - 0.02 - 3 * slack, case.nominal + 0.02 + 3 * slack
    fine = low <= row.measured and (row.measured <= high or case.at_least)
    assert fine or row.verdict != "fails", f"{row.measured:.3f} +- {row.error:.3f}"
