"""Units decide nothing: no absolute number stands beside a quantity of the data.

Every estimator answers the same in another unit, or the parameter that is in the unit is named. A
small number in the source that is compared with, added to, or the floor of something has a reason.
"""

from pathlib import Path

import numpy as np
import pytest
from absolute_numbers import found
from estimators import names, reads_tables
from numpy.testing import assert_allclose
from other_units import CASES, IN_UNITS, differing

import pellucid as pe
from pellucid.evaluation.calibration.calibrators import fit_isotonic
from pellucid.inference.sampling.diagnostics import sample_size
from pellucid.reinforcement import MDP

SHARE = 12  # of the cases, one in so many is in the normal run
NETWORKS = {name for name, home in pe._HOME.items() if home.startswith("deep.")}  # by their rates
TRIED = [name for name in names(reads_tables) if name not in NETWORKS | set(IN_UNITS)]
ALL = [(name, *case) for name in TRIED for case in CASES]
REASONS = Path(__file__).parent / "absolute_numbers.txt"


@pytest.mark.parametrize(("name", "what", "unit"), ALL[::SHARE])
def test_a_share_of_the_estimators_in_other_units(name, what, unit):
    assert not differing(name, what, unit)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({name for name, _, _ in ALL}))
def test_every_estimator_in_other_units(name):
    assert not {case: bad for case in CASES if (bad := differing(name, *case))}


def test_the_list_of_units_names_estimators():
    assert set(IN_UNITS) <= set(names(reads_tables))


def reasons():
    """{(file, expression): why}; a line that ends with a colon is the reason of those below."""
    held, why = {}, ""
    for line in REASONS.read_text().splitlines():
        if line.endswith(":") and "\t" not in line:
            why = line.removesuffix(":")
        elif "\t" in line:
            held[tuple(line.split("\t"))] = why
    return held


def test_every_number_that_stands_alone_has_a_reason():
    """A new one is made relative, or gets a line in absolute_numbers.txt under its reason."""
    assert not sorted(set(found()) - set(reasons()))


def test_the_reasons_are_of_lines_that_still_stand():
    held = reasons()
    assert not sorted(set(held) - set(found()))
    assert all(len(why.split()) >= 3 for why in held.values())


# --- parameters that are in the unit follow it ----------------------------------------------------

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) + 4.0 * np.eye(3, 4)[RNG.integers(3, size=60)]
Y = X[:, 0] + 0.3 * RNG.normal(size=60)
SIDE = (X[:, 0] + 0.5 * X[:, 1] > 1).astype(int)
SMALL, LARGE = 2.0**-30, 2.0**30


LAWS = {
    "SVC": lambda s: pe.SVC(kernel="linear", C=s**-2).fit(X * s, SIDE).decision_function(X * s),
    "SVR": lambda s: pe.SVR(kernel="linear", C=s**-2, tol=1e-6).fit(X * s, Y).predict(X * s),
    "hard margin": lambda s: pe.MaximumMarginClassifier().fit(X * s, SIDE).margin_ / s,
    "soft margin": lambda s: pe.MaximumMarginClassifier(C=s**-2).fit(X * s, SIDE).margin_ / s,
    "dual": lambda s: pe.MaximumMarginClassifier(solver="dual").fit(X * s, SIDE).margin_ / s,
    "hulls": lambda s: pe.MaximumMarginClassifier(solver="dual").fit(X * s, SIDE).coef_ * s,
    "poisson": lambda s: (
        pe.HistGradientBoostingRegressor("poisson").fit(X, abs(Y) * s).predict(X) / s
    ),
    "penalised poisson": lambda s: (
        pe.HistGradientBoostingRegressor("poisson", l2_regularization=10 * s)
        .fit(X, abs(Y) * s)
        .predict(X)
        / s
    ),
    "dimension": lambda s: pe.PCA("mle").fit(X * s).n_components_,
    "local factors": lambda s: pe.LocalOutlierFactor().fit(X * s).negative_outlier_factor_,
    "noise": lambda s: (
        pe.FactorAnalysis(1, noise_variance_init=np.ones(4) * s**2).fit(X * s).noise_variance_
        / s**2
    ),
    "kept by a lasso": lambda s: pe.SelectFromModel(pe.Lasso(0.01 * s)).fit(X * s, Y).get_support(),
    "fuzzy centres": lambda s: pe.FuzzyCMeans(3, random_state=0).fit(X * s).cluster_centers_ / s,
    "nystroem": lambda s: (
        pe.Nystroem("linear", n_components=5, random_state=0).fit(X * s).transform(X * s) / s
    ),
    "isotonic": lambda s: fit_isotonic(Y * s, SIDE * 1.0, np.ones(60)).predict(Y * s),
    "chain": lambda s: sample_size(s * np.cumsum(RNG_CHAIN, axis=1)),
    "dantzig": lambda s: pe.DantzigSelector(0.1 * s).fit(X * s, Y).coef_ * s,
}
RNG_CHAIN = np.sin(np.arange(400.0) ** 2).reshape(2, 200)


@pytest.mark.parametrize("unit", [SMALL, LARGE])
@pytest.mark.parametrize("law", LAWS)
def test_answers_follow_the_unit(law, unit):
    assert_allclose(LAWS[law](unit), LAWS[law](1.0), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("unit", [1e-13, 1e13])
@pytest.mark.parametrize("evaluation", ["exact", 20])
def test_the_best_policy_hangs_on_no_unit_of_reward(evaluation, unit):
    """Two actions that differ by a thousandth of the reward."""
    rewards = np.array([[1.0, 1.001], [2.002, 2.0]]) * unit
    mdp = MDP(np.full((2, 2, 2), 0.5), rewards, discount=0.9)
    assert pe.PolicyIteration(evaluation=evaluation).fit(mdp).policy_.tolist() == [1, 0]


@pytest.mark.parametrize("scale", [1e6, 1e9])
def test_linear_machines_of_large_columns_end(scale):
    """A curvature that is singular but for rounding is no error of the user."""
    assert pe.LinearSVC(random_state=0).fit(X * scale, SIDE).score(X * scale, SIDE) == 1
    model = pe.BayesianLogisticRegression(random_state=0).fit(X * scale, SIDE)
    assert model.score(X * scale, SIDE) > 0.9
