"""Pictures of decision trees: the numbers drawn are those of the definitions, and they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from pellucid import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    LinearRegression,
    MultiwayTreeClassifier,
    ReducedErrorPruning,
    plots,
)
from pellucid.data import load_iris, load_play_ball
from pellucid.tree import best_split, impurity, reduced_error_prune


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
def noisy():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 3))
    return A, (A[:, 0] + 0.5 * A[:, 1] + rng.normal(size=200) > 0).astype(int)


# --- the diagram ----------------------------------------------------------------------------------


def test_tree_draws_every_node_with_its_rows():
    X, y = load_iris()
    model = DecisionTreeClassifier(max_depth=4).fit(X.to_pandas(), y)
    picture = plots.tree(model)
    d = picture.diagram
    assert np.array_equal(d.counts, model.tree_.n_node_samples)
    assert np.allclose(d.shares, model.tree_.value[:, 0])
    inner = [i for i, question in enumerate(d.questions) if question]
    for i in inner:  # a node stands over its children and holds their rows
        below = np.flatnonzero(d.parent == i)
        assert np.isclose(d.x[i], d.x[below].mean())
        assert d.counts[i] == d.counts[below].sum()
        assert (d.y[below] == d.y[i] - 1).all()
    ends = np.setdiff1d(np.arange(len(d.x)), inner)
    assert np.array_equal(np.sort(d.x[ends]), np.arange(model.get_n_leaves()))
    said = drawn(picture)
    assert "petal_width_cm" in said
    assert "47 rows" in said
    assert "1 row" in said
    assert "1 rows" not in said
    assert "petal_length_cm <= 2.45" in picture.dnf["setosa"]
    assert "petal_length_cm" in picture.text


def test_tree_of_categories_and_of_numbers_and_deep_ones(noisy):
    X, y = load_play_ball()
    picture = plots.tree(MultiwayTreeClassifier().fit(X, y))
    assert set(picture.diagram.branches[1:]) >= {"Overcast", "Rainy", "Sunny", "Weak"}
    assert picture.dnf["Yes"].startswith("(Outlook = Overcast)")
    drawn(picture)
    A, c = noisy
    deep = DecisionTreeRegressor().fit(A, A[:, 0])
    shown = plots.tree(deep)
    assert shown.diagram.ends <= 24
    assert shown.diagram.cut.any()
    assert shown.n_nodes == deep.tree_.node_count
    assert "levels of" in drawn(shown)
    drawn(plots.tree(deep, max_depth=1))
    pruned = ReducedErrorPruning(DecisionTreeClassifier(), random_state=0).fit(A, c)
    assert plots.tree(pruned).n_nodes == pruned.estimator_.tree_.node_count
    alone = plots.tree(DecisionTreeClassifier().fit(A, np.zeros(200)))  # a single leaf
    assert alone.dnf == {"0.0": "TRUE"}
    drawn(alone)
    with pytest.raises(ValueError, match=r"tree of pellucid.tree, got LinearRegression"):
        plots.tree(LinearRegression().fit(A, A[:, 0]))
    with pytest.raises(ValueError, match="one target, got 3"):
        plots.tree(DecisionTreeRegressor().fit(A, A))


# --- impurity and thresholds ----------------------------------------------------------------------


def test_impurity_curves_are_the_measures_of_a_node():
    picture = plots.impurity_curves(n=11)
    for i, p in enumerate(picture.p):
        y = [0] * round(10 * p) + [1] * round(10 * (1 - p))
        for name in ("entropy", "gini", "misclassification"):
            assert np.isclose(getattr(picture, name)[i], impurity(y, name))
    drawn(picture)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification", "squared_error"])
def test_split_scan_scores_are_those_of_the_sides(noisy, criterion):
    A, c = noisy
    x = pd.Series(A[:60, 0].round(1), name="width")
    y = A[:60, 1] + A[:60, 0] if criterion == "squared_error" else c[:60]
    picture = plots.split_scan(x, y, criterion=criterion)
    for t, score in zip(picture.thresholds, picture.scores, strict=True):
        left = x.to_numpy() <= t
        sides = left.mean() * impurity(y[left], criterion)
        sides += (~left).mean() * impurity(y[~left], criterion)
        assert np.isclose(score, sides)
    found = best_split(x.to_numpy()[:, None], y, criterion=criterion)
    assert np.isclose(picture.scores[picture.best], found.score)
    assert np.isclose(picture.gain, found.gain)
    if criterion == "gini":
        assert picture.changes[picture.best]  # the optimum is where the label changes
    assert "width" in drawn(picture)


def test_split_scan_of_a_table_and_of_bad_columns():
    X, y = load_iris()
    picture = plots.split_scan(X, y, column="petal_width_cm")
    assert np.isclose(picture.thresholds[picture.best], 0.8)
    with pytest.raises(ValueError, match="one value only"):
        plots.split_scan([1.0, 1.0], ["a", "b"])
    with pytest.raises(ValueError, match="finite numbers"):
        plots.split_scan([1.0, np.nan], ["a", "b"])


# --- missing values -------------------------------------------------------------------------------


def test_missing_descent_weighs_the_leaves_as_the_tree_does():
    X, y = load_play_ball()
    model = MultiwayTreeClassifier().fit(X, y)
    row = dict(X.to_dicts()[0], Outlook=None)
    picture = plots.missing_descent(model, row)
    assert np.isclose(picture.ending.sum(), 1)
    d = picture.diagram
    for i, question in enumerate(d.questions):  # nothing is lost on the way
        if question and picture.ending[i] == 0:
            assert np.isclose(picture.weight[i], picture.weight[d.parent == i].sum())
    table = X.head(1).to_pandas().assign(Outlook=None)
    assert np.allclose(picture.shares, model.predict_proba(table)[0])
    assert picture.answer == model.predict(table)[0]
    assert picture.asked == ("Outlook",)
    assert "missing: Outlook" in drawn(picture)
    empty = plots.missing_descent(model, [None] * 4)
    assert np.allclose(empty.shares, [5 / 14, 9 / 14])  # a row of nothing: the class shares
    whole = MultiwayTreeClassifier(missing="mode").fit(X, y)
    assert set(plots.missing_descent(whole, row).weight) == {0.0, 1.0}
    full = plots.missing_descent(model, X.head(1))
    assert full.asked == ()
    with pytest.raises(ValueError, match="one row, got 14"):
        plots.missing_descent(model, X)


def test_missing_descent_of_a_binary_tree(noisy):
    A, c = noisy
    model = DecisionTreeClassifier(max_depth=3).fit(A, c)
    row = A[0].copy()
    row[model.tree_.feature[0]] = np.nan
    picture = plots.missing_descent(model, row)
    assert np.allclose(picture.shares, model.predict_proba(row[None])[0])
    assert len(picture.asked) == 1
    drawn(picture)


# --- pruning --------------------------------------------------------------------------------------


def test_pruning_errors_are_those_of_trees_grown_at_each_alpha(noisy):
    A, c = noisy
    picture = plots.pruning(DecisionTreeClassifier(), A[:120], c[:120], X_val=A[120:],
                            y_val=c[120:])  # fmt: skip
    for i in (0, len(picture.alphas) // 2, len(picture.alphas) - 1):
        alpha = float(picture.alphas[i]) * (1 + 1e-12)
        again = DecisionTreeClassifier(ccp_alpha=alpha).fit(A[:120], c[:120])
        assert again.get_n_leaves() == picture.sizes[i]
        assert np.isclose(1 - again.score(A[:120], c[:120]), picture.train[i])
        assert np.isclose(1 - again.score(A[120:], c[120:]), picture.test[i])
    assert picture.test[picture.best] == picture.test.min()
    assert (np.diff(picture.sizes) < 0).all()
    drawn(picture)


def test_pruning_by_folds_prefers_a_small_tree_and_log_of_reduced_error(noisy):
    A, c = noisy
    frame = pd.DataFrame(A, columns=list("abc"))
    picture = plots.pruning(DecisionTreeClassifier(), frame, c)
    assert picture.sizes[picture.best] < picture.sizes[0] / 3
    assert picture.sizes[picture.one_standard_error] <= picture.sizes[picture.best]
    drawn(picture)
    line = plots.pruning(DecisionTreeRegressor(), A[:, :1], 2.0 * (A[:, 0] > 0))
    assert line.test[line.best] < 0.1
    model = DecisionTreeClassifier().fit(A[:150], c[:150])
    pruned = reduced_error_prune(model, A[150:], c[150:])
    log = plots.pruning(pruned)
    assert log.sizes[-1] == pruned.tree_.node_count
    assert np.isclose(log.test[-1], 1 - pruned.score(A[150:], c[150:]))
    drawn(log)
    with pytest.raises(ValueError, match="needs the training data"):
        plots.pruning(model)
    with pytest.raises(ValueError, match="got LinearRegression"):
        plots.pruning(LinearRegression())
