"""What a model says is compared with what happened: converged, stopped early, diverged."""

import re
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from estimators import data, every_class, make, public_classes, reads_labels
from numpy.testing import assert_allclose
from sklearn.base import is_classifier, is_clusterer, is_regressor
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import pellucid
from pellucid import BridgeRegression, LinearRegression, MLPClassifier, MLPRegressor
from pellucid.base import Estimator
from pellucid.core.loops.admission import ADMITS, ended_early
from pellucid.core.loops.iterate import ConvergenceWarning, DivergenceWarning, History
from pellucid.core.no_errors import REASONS, no_errors
from pellucid.solvers import GradientDescent, LinearObjective

EVERY = sorted(public_classes())
SETTLED = re.compile(
    r"\bsettled:|the minimum is|\bconverged after|the minimum was reached|the optimum\b"
    r"|the only minim"
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


def test_models_that_are_said_to_give_errors_give_them():
    """The advice holds for the very call that it names, defaults and all."""
    X, y = line()
    for where, reason in REASONS.items():
        for name, given in re.findall(r"\b([A-Z]\w+(?:Regression|Regressor))(\([^)]*\))?", reason):
            model = eval(f"pellucid.{name}{given or '()'}", {"pellucid": pellucid, "np": np})
            labels = np.random.default_rng(0).random(len(X)) < 0.5
            model.fit(X, labels if hasattr(model, "predict_proba") else y)
            summary = model.summary()
            assert summary.valid, (where, name)
            assert np.isfinite(summary.standard_error).all(), (where, name)


@pytest.mark.parametrize("name", EVERY)
def test_what_is_advised_works_for_the_class(name):
    """Errors on new rows where something is predicted, stability where clusters are found."""
    cls = public_classes()[name]
    model, reason = make(cls), no_errors(cls.__module__)
    if "cross_validated" in reason or "permutation_importance" in reason:
        assert is_classifier(model) or is_regressor(model), reason
    if "cluster_stability" in reason:
        assert is_clusterer(model), reason
        again = {"resample": "bootstrap", "n_runs": 2, "random_state": 0}
        if name != "ClusterNumberSearch":  # searches, and is no clusterer by itself
            assert "resample='bootstrap'" in reason
            with heard():
                pellucid.cluster.cluster_stability(model, data(cls, 40)[0], **again)
    coefficients = "no coefficient belongs to a column" in reason or "has no coefficients" in reason
    if coefficients and (is_classifier(model) or is_regressor(model)):
        X, y = data(cls)[:2]
        with heard():
            model.fit(X, y)
        assert not hasattr(model, "coef_"), reason


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


# --- rates that are far too large ------------------------------------------------------------

RATES = ("learning_rate", "learning_rate_init", "eta0")
FREE = {"Perceptron"}  # from a start of 0 the rate changes the length of w and no answer


def with_rate(name, rate):
    """The class with this rate (None: its own), where it has one that is a number."""
    model = public_classes()[name](**({} if name == "TSNE" else given_for(name)))
    known = model.get_params(deep=False)
    if rate is None or not (found := [key for key in RATES[::-1] if key in known]):
        return model
    if "eta0" in known and known.get("learning_rate") == "optimal":
        model.set_params(learning_rate="constant")
    return model.set_params(**{found[0]: rate})


def given_for(name):
    known = public_classes()[name]().get_params(deep=False)
    small = {"n_components": 3} if "n_components" in known else {}
    return {**small, **({"random_state": 0} if "random_state" in known else {})}


def has_rate(name):
    known = make(public_classes()[name]).get_params(deep=False)
    return any(key in known for key in RATES)


def takes_descents(name):
    """Whether ``solver`` takes a descent; a class may refuse it."""
    cls = public_classes()[name]
    if "solver" not in make(cls).get_params(deep=False):
        return False
    with heard():
        try:
            cls(solver=GradientDescent(1e-3, max_iter=1)).fit(*iris(cls))
        except (ValueError, TypeError):
            return False
    return True


def iris(cls, scaled=False):
    X, c = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) if scaled else X
    return (X, c) if is_classifier(cls()) or not is_regressor(cls()) else (X[:, :3], X[:, 3])


def rises(name, history):
    """Whether the history of any target ends above its start."""
    if name in NO_DESCENT or not len(history):
        return False
    likelihood = history[0].get("log_likelihood") == history[0]["objective"]
    sign, rose = -1 if likelihood else 1, False
    for target in {row.get("target") for row in history}:
        mine = [float(row["objective"]) for row in history if row.get("target") == target]
        rose |= sign * (mine[-1] - mine[0]) > 1e-9 * max(abs(mine[0]), abs(mine[-1]))
    return rose


def admits_a_rise(name, model, scaled):
    """A fit that rises warns once of it, and its card says so; none ends in NumPy's words."""
    with heard() as found:
        model.fit(*iris(public_classes()[name], scaled))
    for w in found:
        assert w.category is not RuntimeWarning, w.message
    told = [str(w.message) for w in found if issubclass(w.category, DivergenceWarning)]
    rose = rises(name, model.history_)
    assert told or not rose, (model, model.history_)
    card = " ".join(str(model.card()).split())
    if told:
        assert ADMITS.search(card), card
        assert not SETTLED.search(card), card
    assert not re.search(r"\b(nan|inf)\b", card), card
    assert len([text for text in told if "rose" in text]) <= len(getattr(model, "classes_", "1"))
    return told


RATED = sorted(name for name in EVERY if has_rate(name) and name not in FREE)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("rate", [3.0, 50.0, 1000.0, 1e6])
@pytest.mark.parametrize("name", RATED)
def test_a_rate_that_is_far_too_large_is_never_silent(name, rate, scaled):
    admits_a_rise(name, with_rate(name, rate), scaled)


@pytest.mark.parametrize("rate", [1.0, 1000.0])
@pytest.mark.parametrize("name", [name for name in EVERY if takes_descents(name)])
def test_a_descent_inside_a_model_is_never_silent(name, rate):
    cls = public_classes()[name]
    solver = GradientDescent(rate, max_iter=5, tol=None)
    told = admits_a_rise(name, cls(solver=solver, **given_for(name)), False)
    assert told or rate < 10


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("name", RATED)
def test_a_default_rate_is_not_accused(name, scaled):
    assert not admits_a_rise(name, with_rate(name, None), scaled)


@pytest.mark.parametrize(
    ("name", "rate", "cure"),
    [
        ("AdaBoostClassifier", 3.0, "lower learning_rate=3"),
        ("GradientBoostingClassifier", 50.0, "lower learning_rate=50"),
        ("GradientBoostingRegressor", 3.0, "lower learning_rate=3"),
        ("HistGradientBoostingClassifier", 1000.0, "lower learning_rate=1000"),
        ("HistGradientBoostingRegressor", 3.0, "lower learning_rate=3"),
        ("MLPClassifier", 1000.0, "lower learning_rate_init=1000"),
        ("MLPRegressor", 3.0, "lower learning_rate_init=3"),
        ("SGDClassifier", 1000.0, "lower eta0=1000"),
    ],
)
def test_a_rise_is_told_with_both_numbers_and_the_cure(name, rate, cure):
    """The numbers are those of the history; the card repeats the sentence of the warning."""
    model = with_rate(name, rate)
    (told,) = admits_a_rise(name, model, False)
    first, last = map(float, re.search(r"from (\S+) at the start to (\S+) at", told).groups())
    objective = model.history_["objective"]
    if name != "SGDClassifier":  # its history begins after an epoch, and its end is noisy
        assert_allclose([first, last], objective[[0, -1]], rtol=1e-5)
    assert first < last
    assert cure in told
    assert told.removeprefix(f"{name}: ") in model.card().warnings


def test_a_sample_of_the_rows_is_no_rise():
    """Boosting on half of the rows: the mean of a lucky or unlucky half is not the objective."""
    X, y = line(40)
    for seed in range(20):
        how = {"subsample": 0.5, "n_estimators": 1, "learning_rate": 1e-6, "random_state": seed}
        with heard() as found:
            pellucid.GradientBoostingRegressor(**how).fit(X, y)
        assert not found


def test_noise_that_cannot_be_learned_is_no_rise():
    rng = np.random.default_rng(0)
    for n in (8, 60, 3000):
        X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
        for model in (
            pellucid.SGDRegressor(max_iter=20, tol=None, learning_rate="constant", random_state=0),
            MLPRegressor(
                hidden_layer_sizes=(4,), learning_rate_init=1e-9, max_iter=2, random_state=0
            ),
        ):
            with heard() as found:
                model.fit(X, y)
            assert not any("rose" in str(w.message) for w in found), (n, model)


def test_an_eigenvalue_that_is_rounding_has_no_sign():
    """Intercepts of all classes may grow together: flat, and not strictly convex."""
    X, c = load_iris(return_X_y=True)
    for rate in (0.05, 1.0, 1000.0):
        with heard():
            model = pellucid.LogisticRegression(solver=GradientDescent(rate, max_iter=4))
            card = " ".join(str(model.fit(X, c).card()).split())
        low, high = map(float, re.search(r"Hessian (\S+) to (\S+);", card).groups())
        assert low == 0 < high
        assert "strictly convex:" not in card
        two = pellucid.LogisticRegression(solver=GradientDescent(rate, max_iter=4))
        with heard():
            card = " ".join(str(two.fit(X[:100], c[:100]).card()).split())
        assert "strictly convex: there is one minimum" in card


# --- numbers beside the formula they belong to -----------------------------------------------


def test_squares_that_are_halved_are_said_to_be():
    X, y = line()
    for model in (
        pellucid.SGDRegressor(random_state=0),
        MLPRegressor(hidden_layer_sizes=(4,), random_state=0),
    ):
        with heard():
            card = model.fit(X, y).card()
        assert "/ 2" in card.evaluation, card.evaluation
    numbers = pellucid.SGDRegressor(random_state=0).fit(X, y).card().numbers
    assert "objective, mean of the last epoch" in numbers
    assert "hinge loss" in pellucid.SGDClassifier(random_state=0).fit(X, y > 3).card().evaluation


def test_a_network_that_swings_below_its_start_does_not_diverge():
    X, y = line(7)
    rows = {"falls": [9.0, 1.0, 1.3], "rises": [9.0, 1.0, 9.5]}
    with heard():
        model = MLPRegressor(hidden_layer_sizes=(4,), max_iter=12, random_state=0).fit(X, y)
    for what, losses in rows.items():
        model.history_ = History([{"step": i, "objective": v} for i, v in enumerate(losses * 5)])
        assert ("diverging" in model.card().optimisation) == (what == "rises")
        assert "lowest value" in model.card().optimisation


@pytest.mark.parametrize("C", [0.1, 3.0, np.inf])
def test_a_penalised_model_has_one_aic(C):
    """The same model of two classes under two names: the same degrees of freedom."""
    X, y = line()
    labels = np.where(y + 4 * np.random.default_rng(3).normal(size=len(y)) > 3, 1, 0)
    one, two = (
        getattr(pellucid, f"{kind}LogisticRegression")(C=C).fit(X, labels)
        for kind in ("", "Ordinal")
    )
    assert_allclose([one.aic_, one.bic_], [two.aic_, two.bic_], rtol=1e-6)


# --- one group, every row kept ---------------------------------------------------------------


def test_one_group_is_no_choice_among_many():
    """With one centre or one density there is no other optimum to fall into."""
    X, _ = line()
    one_density = pellucid.mixture.GaussianComponent
    for k in (1, 2):
        models = [
            pellucid.KMeans(k, random_state=0),
            pellucid.GaussianMixture(k, random_state=0),
            pellucid.Mixture([one_density() for _ in range(k)], max_iter=2000, random_state=0),
        ]
        for model in models:
            card = " ".join(str(model.fit(X).card()).split())
            assert ("of many" in card or "many local maxima" in card) == (k > 1), card
    whole = pellucid.KMeans(4, random_state=0).fit(np.repeat(np.eye(4), 3, axis=0))
    assert whole.inertia_ == 0
    assert "the least there is" in " ".join(str(whole.card()).split())


def test_a_forest_says_whether_it_was_judged():
    X, y = line()
    for judged in (False, True):
        model = pellucid.RandomForestRegressor(20, oob_score=judged, random_state=0).fit(X, y)
        evaluation = model.card().evaluation
        assert ("is judged out of bag" in evaluation) == judged
        assert ("out-of-bag score" in model.card().numbers) == judged
    assert "looks at all features" in model.card().optimisation
    some = pellucid.RandomForestRegressor(20, max_features=1, random_state=0).fit(X, y)
    assert "1 of 2 features drawn at random" in some.card().optimisation


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
        assert ADMITS.search(card), card
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


@pytest.mark.parametrize("name", ["ValueIteration", "PolicyIteration"])
def test_a_planner_that_was_cut_off_says_so(name):
    world = pellucid.reinforcement.grid_world(["..+", ".#-", "..."])
    whole, cut = (getattr(pellucid, name)(**given) for given in ({}, {"max_iter": 1}))
    assert not ADMITS.search(str(whole.fit(world).card()))
    with pytest.warns(ConvergenceWarning):
        cut.fit(world)
    assert ADMITS.search(" ".join(str(cut.card()).split()))


def test_a_model_that_left_out_every_column_says_why():
    X, y = line()
    model = pellucid.ARDRegression().fit(1e12 * X, 1e9 * y)  # slopes of 1e-3, dropped below 1e-2
    card = " ".join(str(model.card()).split())
    assert not model.coef_.any()
    assert "threshold_lambda=10000 is in units of X and y" in card
    assert not SETTLED.search(card)


# --- every estimator, on tables of four kinds ------------------------------------------------

KINDS = ("plain", "six rows", "dependent columns", "units of 1e12")
# whose objective is a likelihood, a score or a density: it rises
RISING = {"BayesianGaussianMixture", "FactorAnalysis", "ScoreBasedStructure"}
# whose rows of history judge members one by one, or a sample of rows, or begin outside the set
NO_DESCENT = {"AdaBoostRegressor", "MiniBatchKMeans", "MaximumMarginClassifier"}
NO_DESCENT |= {"GaussianProcessClassifier"}  # a problem after the other
NO_DESCENT |= {"FastICA", "TSNE"}  # a stationary point; another objective while it exaggerates


def table(cls, kind):
    X, y = data(cls, 60)[:2]
    if kind == "six rows":
        return X[:6], None if y is None else y[:6]
    if kind == "plain":
        return X, y
    if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or X.shape[1] < 2:
        pytest.skip("not a table of numbers")
    if kind == "dependent columns":
        return np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))]), y
    return 1e12 * X, 1e9 * y if y is not None and y.dtype.kind == "f" else y


def fitted(name, kind):
    """A fitted model and the warnings of its fit; what it refuses says nothing."""
    cls = public_classes()[name]
    X, y = table(cls, kind)
    model = make(cls)
    with heard() as found:
        try:
            model.fit(X) if reads_labels(cls) else model.fit(X, y)
        except ValueError:
            pytest.skip("refused")
    return model, found


def told(name, kind):
    """The laws of what a fitted model says."""
    model, found = fitted(name, kind)
    late = [str(w.message) for w in found if issubclass(w.category, ConvergenceWarning)]
    with heard() as again:
        card, summary = model.card(), model.summary()
    for w in [*found, *again]:
        assert w.category is not RuntimeWarning, f"no sentence of ours: {w.message}"
    text = " ".join(str(card).split())
    assert not re.search(
        r"\b(nan|inf)\b|e\+30\d", re.sub("within inf|determinant = -inf", "", text)
    ), text
    for part, whole in re.findall(r"\b(\d+) of (\d+) ", text):
        assert int(part) <= int(whole), text
    for what, value in card.numbers.items():
        if re.search(r"\b(share|shrinkage|p-value)\b", what) and np.ndim(value) == 0:
            assert 0 <= value <= 1 + 1e-9, (what, value)
    if not late:
        assert not ended_early(model), text
    history = getattr(model, "history_", ())
    if len(history) and name not in NO_DESCENT:
        first, last = (float(history[i]["objective"]) for i in (0, -1))
        likelihood = history[0].get("log_likelihood") == first
        sign = -1 if name in RISING or likelihood else 1
        slack = 1e-9 * max(abs(first), abs(last), 1e-9)
        assert sign * (last - first) <= slack or found, (first, last)
    lawful(summary)


def lawful(summary):
    """What the table of a summary says of itself."""
    arrays = {k: np.asarray(v, dtype=float) for k, v in summary.arrays.items()}
    shown = " ".join(summary.notes)
    if "low" in arrays:
        low, high, b = arrays["low"], arrays["high"], arrays["estimate"]
        seen = np.isfinite(low) & np.isfinite(high)
        assert ((low <= b) & (b <= high))[seen].all()
        if not np.isfinite(low).any():
            assert not re.search(r"\binterval|\blow\b", shown), shown
            assert not re.search(r"\btests? (is|are)\b|-tests", shown), shown
    if "p_value" in arrays:
        p = arrays["p_value"]
        assert ((p >= 0) & (p <= 1) | np.isnan(p)).all()
        if "likelihood ratio" not in shown and "Wilks" not in shown:
            known = np.isfinite(arrays["statistic"])
            b, se, z = (arrays[k][known] for k in ("estimate", "standard_error", "statistic"))
            assert_allclose(z, b / se, rtol=1e-6)
    for what, value in summary.scalars.items():
        if what.endswith("p_value"):
            assert np.isnan(value) or (summary.valid and 0 <= value <= 1), what
    assert summary.valid == (not summary.reason)


@pytest.mark.parametrize(("name", "kind"), [(n, KINDS[i % 4]) for i, n in enumerate(EVERY)][::3])
def test_what_a_fit_says(name, kind):
    told(name, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EVERY)
def test_what_every_fit_says(name, kind):
    told(name, kind)


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
