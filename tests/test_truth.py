"""What a model says is compared with what happened: converged, stopped early, diverged."""

import re
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from estimators import data, every_class, make, public_classes
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import pellucid
from pellucid import BridgeRegression, LinearRegression, MLPClassifier, MLPRegressor
from pellucid.base import Estimator
from pellucid.core.loops.iterate import ConvergenceWarning, DivergenceWarning
from pellucid.core.no_errors import REASONS, no_errors
from pellucid.solvers import GradientDescent, LinearObjective

SETTLED = re.compile(
    r"\bsettled:|\bconverged after|the minimum was reached|the optimum\b|the only minim"
    r"|a local (optimum|maximum|minimum)|a stationary point|of least norm"
)


@contextmanager
def heard():
    """The warnings of a fit."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def line(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1.0, 2.0]
    return X, X @ [1.0, -2.0] + 3 + 0.1 * rng.normal(size=n)


# --- before fit ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(every_class()))
def test_an_unfitted_card_and_summary_say_so(name):
    cls = every_class()[name]
    model = cls(horizon=3) if name == "FiniteHorizon" else make(cls)
    if not isinstance(model, Estimator) or not model.__sklearn_tags__().requires_fit:
        pytest.skip("nothing is learned")
    for method in (model.card, model.summary):
        with pytest.raises(NotFittedError):
            method()


# --- summaries -------------------------------------------------------------------------------


def test_reasons_name_things_that_exist():
    """A sentence that sends the reader somewhere sends him to a public name."""
    for reason in REASONS.values():
        for name, place in re.findall(r"(\w+) in (pellucid\.\w+)", reason):
            package = __import__(place, fromlist=["x"])
            assert hasattr(package, name), (name, place)
        for name in re.findall(r"\b[A-Z]\w+[a-z][A-Z]\w+|\bLinearRegression\b", reason):
            assert hasattr(pellucid, name), name
        assert "; " in reason or ": " in reason, reason
        assert reason == reason.strip()


def test_the_nearest_family_gives_the_reason():
    assert no_errors("pellucid.linear.robust.huber") == REASONS["linear.robust"]
    assert no_errors("pellucid.linear.somewhere.new") == REASONS["linear"]
    assert no_errors("someone.else") == REASONS[""]


# --- descents --------------------------------------------------------------------------------


def limit():
    X, _ = line()
    D = np.column_stack([np.ones(len(X)), X])
    return 2 / np.linalg.eigvalsh(D.T @ D / len(X))[-1]


@pytest.mark.parametrize("tol", [None, 1e-9])
@pytest.mark.parametrize("share", [0.01, 0.4, 0.96, 1.02, 1.1, 1.5])
@pytest.mark.parametrize("steps", [3, 40])
def test_a_descent_that_ends_above_its_start_warns(share, tol, steps):
    X, y = line()
    with heard() as found:
        solver = GradientDescent(share * limit(), max_iter=steps, tol=tol)
        model = LinearRegression(solver=solver).fit(X, y)
    values = model.history_["objective"]
    said = [str(w.message) for w in found]
    risen = values[-1] > values[0]
    assert risen == any(issubclass(w.category, DivergenceWarning) for w in found), said
    if risen:
        assert f"{2 / (2 / limit()):.6g}" in " ".join(said)  # the limit is named
    if share > 0.5:  # beyond 1/L a larger rate is no help
        assert not any("larger rate" in s for s in said), said
    card = str(model.card())
    if found:
        assert not SETTLED.search(card), card
        assert "the only minimiser" not in card


def test_mini_batches_that_end_above_their_start_warn():
    X, y = line()
    f = LinearObjective(np.column_stack([np.ones(len(X)), X]), y, scale="half_mean")
    solver = GradientDescent(3 * limit(), batch_size=5, max_iter=1, tol=None, random_state=0)
    with heard() as found:
        end = solver.minimise(f, "zeros")
    assert end.reason == "diverged" or end.history["value"][-1] > end.history["value"][0]
    assert any("rose from" in str(w.message) or "diverged" in str(w.message) for w in found)


def test_a_descent_that_falls_is_not_accused():
    X, y = line()
    with heard() as found:
        LinearRegression(solver=GradientDescent(0.4 * limit(), max_iter=5, tol=None)).fit(X, y)
    assert not found


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("tol", [None, 1e-9])
def test_a_solver_that_was_cut_off_claims_no_minimum(tol, dependent):
    X, y = line()
    X = X[:, [0, 1, 0]] if dependent else X
    for cls in (LinearRegression, pellucid.Ridge, pellucid.Lasso, pellucid.ElasticNet):
        model = cls(solver=GradientDescent(0.01 * limit(), max_iter=3, tol=tol))
        with heard():
            try:
                model.fit(X, y)
            except ValueError:  # this solver is not for a kink
                continue
            summary = model.summary()
        card = " ".join(str(model.card()).split())
        assert not SETTLED.search(card), card
        assert not summary.valid
        assert np.isnan(summary.arrays.get("low", np.nan)).all()


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_printed_numbers_agree(share):
    """A condition beside eigenvalues is their quotient; they are those of the problem."""
    X, y = line()
    with heard():
        solver = GradientDescent(share * limit(), max_iter=2000)
        card = str(LinearRegression(solver=solver).fit(X, y).card())
    flat = " ".join(card.split())
    low, high = map(float, re.search(r"Hessian ([\d.e+-]+) to ([\d.e+-]+)", flat).groups())
    assert_allclose(high, 2 / limit(), rtol=1e-4)
    for condition in re.findall(r"condition ([\d.e+-]+)\)", flat):
        assert_allclose(float(condition), high / low, rtol=1e-2)


@pytest.mark.parametrize("cls", [MLPClassifier, MLPRegressor])
@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
@pytest.mark.parametrize("steps", [5, 30])
def test_a_network_that_was_cut_off_does_not_say_settled(cls, solver, steps):
    X, y = load_iris(return_X_y=True)
    with heard() as found:
        model = cls(max_iter=steps, solver=solver, random_state=0).fit(X, y)
    unfinished = any(issubclass(w.category, ConvergenceWarning) for w in found)
    assert unfinished
    assert not SETTLED.search(str(model.card()))


def test_a_network_that_settled_says_so():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with heard() as found:
        model = MLPClassifier((5,), max_iter=3000, tol=1e-3, random_state=0).fit(X, y)
    assert not found
    assert "settled" in str(model.card())


# --- every iterative estimator, cut off ------------------------------------------------------

CUT = sorted(
    name for name, cls in public_classes().items() if "max_iter" in make(cls).get_params(deep=False)
)
SHARE = CUT[::3]  # a fixed share; the rest is slow


def cut_off(name):
    cls = public_classes()[name]
    X, y = data(cls)[:2]
    model = make(cls).set_params(max_iter=1)
    with heard() as found:
        try:
            model.fit(X, y)
        except ValueError:  # one step is refused
            pytest.skip("max_iter=1 is refused")
    said = [str(w.message) for w in found if issubclass(w.category, ConvergenceWarning)]
    card = " ".join(str(model.card()).split())
    with heard():
        summary = model.summary()
    if said:
        assert not SETTLED.search(card), card
        assert "duality gap 0.0e+00" not in card
        text = f"{summary.reason} {summary.notes}"
        assert not summary.valid or "converge" in text, text
        steps = [int(k) for s in said for k in re.findall(r"max_iter=(\d+)", s)]
        assert set(steps) <= {1}, said  # the limit that was given
        assert "e+308" not in " ".join(said)
    assert getattr(model, "n_iter_", 1) is not None


@pytest.mark.parametrize("name", SHARE)
def test_cut_off_after_one_step(name):
    cut_off(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CUT if name not in SHARE])
def test_cut_off_after_one_step_all(name):
    cut_off(name)


# --- scales ----------------------------------------------------------------------------------


def test_bridge_states_its_loss_and_the_scale_of_alpha():
    """lambda of the card, put into RSS + lambda P, has the same minimum."""
    X, y = line()
    model = BridgeRegression(0.3, q=1.5).fit(X, y)
    card = model.card()
    assert "RSS/(2n)" in card.evaluation
    stated = float(re.search(r"2 n alpha = ([\d.]+)", " ".join(card.scales)).group(1))
    assert_allclose(stated, 2 * len(X) * 0.3)

    def objective(w):
        r = y - y.mean() - (X - X.mean(axis=0)) @ w
        return r @ r + stated * (np.abs(w) ** 1.5).sum()

    best = objective(model.coef_)
    for move in np.random.default_rng(0).normal(size=(50, 2)) * 1e-3:
        assert objective(model.coef_ + move) >= best - 1e-9
    assert "RSS/(2n)" in BridgeRegression.__doc__
