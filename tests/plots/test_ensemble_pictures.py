"""Pictures of ensembles: the numbers drawn are those of the definitions, and they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from pellucid import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    GaussianNB,
    GradientBoostingRegressor,
    LinearRegression,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    plots,
)
from pellucid.ensemble import ensemble_diversity, expected_unique_fraction


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


REPEATED = set()  # kinds whose SVG was already compared with a second one: drawing is slow


def drawn(picture):
    """It draws on its own axes, gives the same SVG twice and has words; the texts drawn."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    figure = found if isinstance(found, Figure) else found.figure
    if type(picture) in REPEATED:
        figure.draw_without_rendering()
    else:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)
    return " | ".join(text.get_text() for text in figure.findobj(Text))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 3))
    frame = pd.DataFrame(A, columns=["heat", "load", "noise"])
    return frame, 2 * A[:, 0] + A[:, 1] + 0.3 * rng.normal(size=200)


@pytest.fixture(scope="module")
def labelled(table):
    frame, y = table
    return frame, pd.Series(np.where(y > 0, "on", "off"), name="state")


# --- importance and dependence --------------------------------------------------------------------


def test_importance_of_a_forest_is_its_own_sorted(labelled):
    X, y = labelled
    model = RandomForestClassifier(30, random_state=0).fit(X, y)
    picture = plots.importance(model, X, y, random_state=3)
    assert picture.names[0] == "heat"
    order = [list(X.columns).index(name) for name in picture.names]
    found = model.oob_permutation_importance(X, y, random_state=3)
    assert np.allclose(picture.permutation, found.mean[order])
    assert np.allclose(picture.permutation_error, 1.96 * found.std[order] / np.sqrt(30))
    assert (np.diff(picture.permutation) <= 0).all()
    assert np.isclose(picture.impurity.sum(), 1)
    each = np.array([m.feature_importances_ for m in model.estimators_])
    assert np.allclose(picture.impurity, each.mean(axis=0)[order], atol=1e-8)
    assert "out-of-bag rows" in drawn(picture)


def test_importance_of_any_model_is_the_rise_of_its_error(table):
    X, y = table
    model = LinearRegression().fit(X, y)
    picture = plots.importance(model, X, y, n_repeats=40)
    # shuffling column j of a linear model adds about 2 w^2 var(x_j)
    expected = 2 * model.coef_**2 * X.to_numpy().var(axis=0)
    assert np.allclose(picture.permutation[:2], expected[:2], rtol=0.1)
    assert np.isnan(picture.impurity).all()
    assert "heat" in drawn(picture)
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    assert plots.importance(forest, X, y, oob=False).rows == "the rows given"
    assert np.isnan(plots.importance(forest).permutation).all()
    with pytest.raises(ValueError, match="X and y are needed"):
        plots.importance(model)


def test_dependence_of_a_line_is_the_line(table):
    X, y = table
    model = LinearRegression().fit(X, y)
    picture = plots.dependence(model, X, "load", n=5)
    means = X.to_numpy().mean(axis=0)
    line = model.intercept_ + means @ model.coef_ + model.coef_[1] * (picture.grid - means[1])
    assert np.allclose(picture.mean[0], line)
    assert np.allclose(np.diff(picture.single, axis=1), model.coef_[1] * np.diff(picture.grid))
    assert "load" in drawn(picture)


def test_dependence_of_classes_sums_to_one(labelled):
    X, y = labelled
    three = np.where(X["heat"] > 1, "hot", y)
    model = RandomForestClassifier(10, random_state=0).fit(X, three)
    picture = plots.dependence(model, X, 0, n=7)
    assert picture.classes == ("hot", "off", "on")
    assert np.allclose(picture.mean.sum(axis=0), 1)
    drawn(picture)
    two = plots.dependence(RandomForestClassifier(10, random_state=0).fit(X, y), X, 0, n=7)
    assert two.target == "probability of on"
    assert two.mean.shape == (1, 7)
    assert two.mean[0, -1] > two.mean[0, 0] + 0.5


# --- forests --------------------------------------------------------------------------------------


def test_proximity_map_is_the_principal_axes_of_proximities(labelled, table):
    X, y = labelled
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    picture = plots.proximity_map(model, X, y)
    P = model.proximity(X)[np.ix_(picture.rows, picture.rows)]
    assert np.allclose(picture.proximity, P)
    H = np.eye(200) - 1 / 200
    values = np.linalg.eigvalsh(H @ P @ H)[::-1]
    assert np.allclose((picture.at**2).sum(axis=0), values[:2])  # variances of the axes
    assert np.isclose(picture.share, values[:2].sum() / values[values > 0].sum())
    assert picture.within > 3 * picture.between
    assert (np.diff(picture.values) >= 0).all()
    assert "rows, sorted by state" in drawn(picture)
    forest = RandomForestRegressor(20, random_state=0).fit(*table)
    drawn(plots.proximity_map(forest, *table, oob=True))
    with pytest.raises(ValueError, match="needs a forest, got LinearRegression"):
        plots.proximity_map(LinearRegression().fit(*table), *table)


def test_ensemble_error_after_all_members_is_that_of_the_model(labelled, table):
    X, y = labelled
    model = RandomForestClassifier(25, oob_score=True, random_state=0).fit(X[:120], y[:120])
    picture = plots.ensemble_error(model, X[120:], y[120:])
    assert np.isclose(picture.curves["test rows"][-1], 1 - model.score(X[120:], y[120:]))
    assert np.isclose(picture.curves["out of bag"][-1], 1 - model.oob_score_)
    assert len(picture.curves["test rows"]) == 25
    first = model.estimators_[0]
    said = model.classes_[first.predict_proba(X[120:]).argmax(axis=1)]
    assert np.isclose(picture.curves["test rows"][0], (said != y[120:]).mean())
    drawn(picture)
    R, t = table
    boosted = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(R, t)
    curve = plots.ensemble_error(boosted, R, t)
    assert np.isclose(curve.curves["test rows"][-1], ((boosted.predict(R) - t) ** 2).mean())
    assert plots.ensemble_error(boosted).metric == "loss"
    with pytest.raises(ValueError, match="left no error curve"):
        plots.ensemble_error(LinearRegression().fit(R, t))


def test_ensemble_error_of_adaboost_has_the_bound(labelled):
    X, y = labelled
    model = AdaBoostClassifier(n_estimators=15).fit(X, y)
    picture = plots.ensemble_error(model, train=(X, y))
    bound = picture.curves["bound: product of the normalisers"]
    assert (picture.curves["training rows"] <= bound + 1e-12).all()
    assert np.isclose(picture.curves["training rows"][-1], 1 - model.score(X, y))
    drawn(picture)


# --- boosting -------------------------------------------------------------------------------------


def test_boosting_weights_give_the_errors_of_the_members(labelled):
    X, y = labelled
    model = AdaBoostClassifier(n_estimators=8).fit(X, y)
    picture = plots.boosting_weights(model, X, y, columns=["heat", "load"])
    assert np.allclose(picture.errors, model.estimator_errors_[:6])
    assert np.allclose(picture.alphas, model.alphas_[:6])
    assert np.allclose(picture.weights.sum(axis=1), 1)
    for i in range(5):  # after the update the last member is right on half of the weight
        assert np.isclose(picture.weights[i + 1][picture.wrong[i]].sum(), 0.5)
    staged = [np.mean(said != y.to_numpy()) for said in model.staged_predict(X)]
    assert np.allclose(picture.committee_errors, staged[:6])
    assert "heat" in drawn(picture)
    late = plots.boosting_weights(model, X, y, columns=["heat"], steps=[0, -1])
    assert late.rounds == (1, 8)
    drawn(late)
    with pytest.raises(ValueError, match="needs AdaBoostClassifier"):
        plots.boosting_weights(GaussianNB().fit(X, y), X, y)


# --- theory and diversity -------------------------------------------------------------------------


def test_diversity_is_that_of_the_members(labelled):
    X, y = labelled
    members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
    model = VotingClassifier(members, weights=[1, 3]).fit(X[:120], y[:120])
    picture = plots.diversity(model, X[120:], y[120:])
    alone = [m.fit(X[:120], y[:120]) for _, m in members]
    report = ensemble_diversity(alone, X[120:], y[120:])
    assert np.allclose(picture.scores, report.accuracies)
    assert np.allclose(picture.disagreement, report.disagreement)
    assert np.allclose(picture.weights, [0.25, 0.75])
    assert np.isclose(picture.together, model.score(X[120:], y[120:]))
    assert "bayes" in drawn(picture)


def test_diversity_of_members_with_few_columns_and_of_forests(labelled, table):
    X, y = labelled
    bag = BaggingClassifier(GaussianNB(), 5, max_features=2, random_state=0).fit(X, y)
    picture = plots.diversity(bag, X, y)
    first, columns = bag.estimators_[0], bag.estimators_features_[0]
    said = np.asarray(first.predict(X.to_numpy()[:, columns]))
    said = bag.classes_[said] if said.dtype.kind in "iu" else said
    assert np.isclose(picture.scores[0], (said == y).mean())
    forest = RandomForestRegressor(40, random_state=0).fit(*table)
    shown = plots.diversity(forest, *table)
    assert len(shown.names) == 30
    assert shown.together > shown.scores.max()
    drawn(shown)
    with pytest.raises(ValueError, match="ensemble of whole members"):
        plots.diversity(GaussianNB().fit(X, y), X, y)


def test_variance_of_average_and_unique_share():
    picture = plots.variance_of_average(50, (0.0, 0.4), variance=2.0)
    B = picture.members
    assert np.allclose(picture.curves, [2 / B, 0.4 * 2 + 0.6 * 2 / B])
    drawn(picture)
    with pytest.raises(ValueError, match="1 to 8 correlations"):
        plots.variance_of_average(10, [])
    share = plots.unique_share(300)
    assert np.allclose(share.expected, [expected_unique_fraction(int(n)) for n in share.n])
    assert abs(share.drawn[-20:].mean() - 0.632) < 0.03
    drawn(share)
