"""BayesianNetworkClassifier: catalogue values, naive Bayes as an oracle, laws (GRA-15)."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from pellucid import BayesianNetworkClassifier, CategoricalNB, ScoreBasedStructure, data
from pellucid.graphical import DAG, DirichletPrior, structure_score
from pellucid.graphical.structure.structure import edge_matrix

PLAY = """Sunny Hot High Weak No; Sunny Hot High Strong No; Overcast Hot High Weak Yes;
Rainy Mild High Weak Yes; Rainy Cool Normal Weak Yes; Rainy Cool Normal Strong No;
Overcast Cool Normal Strong Yes; Sunny Mild High Weak No; Sunny Cool Normal Weak Yes;
Rainy Mild Normal Weak Yes; Sunny Mild Normal Strong Yes; Overcast Mild High Strong Yes;
Overcast Hot Normal Weak Yes; Rainy Mild High Strong No"""
COLUMNS = ["Outlook", "Temp", "Humidity", "Wind", "Play"]
DAY = pl.DataFrame([["Sunny", "Hot", "Normal", "Weak"]], schema=COLUMNS[:4], orient="row")


def play_ball():
    X = pl.DataFrame([r.split() for r in PLAY.split(";")], schema=COLUMNS, orient="row")
    return X.drop("Play"), X["Play"].to_numpy()


def test_example_24():
    X, y = play_ball()
    model = BayesianNetworkClassifier(prior=None).fit(X, y)
    assert_allclose(model.predict_proba(DAY)[0, 1], 0.6729475, atol=5e-8)
    graph = [("Outlook", "Play")]
    for prior, value in ((None, 0.4), (DirichletPrior(), 0.4285714)):
        model = BayesianNetworkClassifier(graph, prior=prior).fit(X, y)
        assert_allclose(model.predict_proba(DAY)[0, 1], value, atol=5e-8)
        assert_allclose(
            model.network_.query("Play", {"Outlook": "Sunny"}).at({"Play": "Yes"}), value, atol=5e-8
        )


def test_naive_is_naive_bayes():
    X, y = play_ball()
    mine = BayesianNetworkClassifier().fit(X, y)
    theirs = CategoricalNB(alpha=1.0, prior_alpha=1.0).fit(X, y)
    assert_allclose(mine.predict_proba(X), theirs.predict_proba(X))
    holes = X.with_columns(Temp=pl.lit(None, pl.String), Wind=pl.Series([None, "Weak"] * 7))
    assert_allclose(mine.predict_proba(holes), theirs.predict_proba(holes))


@pytest.mark.parametrize(
    "structure",
    ["tan", [("Wind", "Play"), ("Play", "Temp"), ("Outlook", "Temp"), ("Humidity", "Outlook")]],
)
def test_posteriors_are_those_of_the_network(structure):
    """Also with missing cells, which are summed out."""
    X, y = play_ball()
    model = BayesianNetworkClassifier(structure).fit(X, y)
    rng = np.random.default_rng(0)
    holes = X.with_columns(
        [pl.when(pl.Series(rng.random(14) < 0.4)).then(None).otherwise(pl.col(c)).alias(c)
         for c in X.columns]
    )  # fmt: skip
    for frame in (X, holes):
        found = model.predict_proba(frame)
        for row, share in zip(frame.iter_rows(named=True), found, strict=True):
            known = {name: value for name, value in row.items() if value is not None}
            exact = model.network_.query(model.class_name_, known).values
            assert_allclose(share, exact, atol=1e-12)


def test_tan_is_the_best_augmented_tree():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    a = (y + rng.integers(0, 2, 500)) % 3
    b = np.where(rng.random(500) < 0.7, a, rng.integers(0, 3, 500))
    c = np.where(rng.random(500) < 0.7, b, y)
    X = pl.DataFrame({"a": a, "b": b, "c": c})
    tan = BayesianNetworkClassifier("tan").fit(X, y).network_.dag_
    whole = X.with_columns(pl.Series("class", y))
    naive = [("class", f) for f in "abc"]
    trees = [[("a", "b"), ("b", "c")], [("a", "b"), ("a", "c")], [("a", "c"), ("c", "b")]]
    values = [structure_score(naive + tree, whole, score="log_likelihood") for tree in trees]
    assert_allclose(structure_score(tan, whole, score="log_likelihood"), max(values))
    assert edge_matrix(tan, [*"abc", "class"])[3, :3].all()


def test_a_learner_brings_its_graph():
    X, y = play_ball()
    model = BayesianNetworkClassifier(ScoreBasedStructure(score="aic")).fit(X, y)
    assert isinstance(model.network_.dag_, DAG)
    assert set(model.network_.dag_.nodes) == {*X.columns, "class"}
    assert model.score(X, y) > 0.7


def test_missing_training_cells():
    """EM equals leaving the cell out where the class is known and the feature is a leaf."""
    X, y = play_ball()
    holes = X.with_columns(Temp=pl.Series([None] * 4 + X["Temp"].to_list()[4:]))
    by_em = BayesianNetworkClassifier(prior=None).fit(holes, y)
    dropped = BayesianNetworkClassifier(prior=None, missing="drop").fit(holes, y)
    assert_allclose(by_em.predict_proba(X), dropped.predict_proba(X), atol=1e-3)
    with pytest.raises(ValueError, match=r"'Temp' contains NaN in row 0"):
        BayesianNetworkClassifier(missing="raise").fit(holes, y)


def test_unseen_categories():
    X, y = play_ball()
    storm = DAY.with_columns(Outlook=pl.lit("Stormy"))
    with pytest.raises(ValueError, match=r"'Outlook' has no state 'Stormy'"):
        BayesianNetworkClassifier().fit(X, y).predict(storm)
    states = {"Outlook": ["Sunny", "Overcast", "Rainy", "Stormy"]}
    model = BayesianNetworkClassifier(states=states).fit(X, y)
    assert_allclose(model.predict_proba(storm).sum(), 1.0)
    with pytest.raises(ValueError, match="no state 'Sunny'"):
        BayesianNetworkClassifier(states={"Outlook": ["Rainy"]}).fit(X, y)
    numbers = BayesianNetworkClassifier().fit([[0], [1], [1], [0]], [0, 1, 1, 0])
    with pytest.warns(UserWarning, match="never saw"):
        assert_allclose(numbers.predict_proba([[7]]), 0.5)


def test_bad_structures_are_refused():
    X, y = play_ball()
    for structure, word in (
        ("forest", "structure"),
        ([("Outlook", "Temp")], "exactly one node"),
        ([("Play", "Outlook"), ("Play", "Rain")], "exactly one node"),
    ):
        with pytest.raises(ValueError, match=word):
            BayesianNetworkClassifier(structure).fit(X, y)
    with pytest.raises(ValueError, match="class"):
        BayesianNetworkClassifier().fit(X, np.repeat("Yes", 14))


@pytest.mark.parametrize(
    "structure", ["naive", "tan", [("x0", "y"), ("y", "x1"), ("x0", "x1"), ("x2", "x1")]]
)
def test_blocks_count_like_memory(structure):
    """Weights, a class of weight 0 and left-out cells, whose tables are the same bits."""
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=900)
    X = rng.integers(4, size=(900, 3)).astype(float)
    X[:, 0] = (X[:, 0] + y) % 4
    X[:, 2] = np.where(rng.random(900) < 0.7, X[:, 1], X[:, 2])
    X[rng.random(X.shape) < 0.05] = np.nan
    w = np.where(y == 2, 0.0, rng.integers(3, size=900))
    frame = pl.DataFrame(X, schema=["x0", "x1", "x2"])
    labels = np.array(["k", "l", "m"])[y]
    rows = frame.with_columns(label=pl.Series(labels), w=pl.Series(w))
    parts = data.blocks(rows, target="label", weight="w", block_rows=100)
    model = BayesianNetworkClassifier(structure, missing="drop")
    whole, streamed = clone(model).fit(frame, labels, sample_weight=w), model.fit_blocks(parts)
    assert streamed.classes_.tolist() == ["k", "l"]
    assert streamed.states_ == whole.states_
    assert streamed.network_.dag_ == whole.network_.dag_
    for one, other in zip(whole.tables_, streamed.tables_, strict=True):
        assert_array_equal(one, other)
    with pytest.raises(ValueError, match="cannot fill missing cells"):
        BayesianNetworkClassifier(structure).fit_blocks(parts)


def test_blocks_refuse_a_learner():
    parts = data.blocks(pl.DataFrame({"a": [0, 1, 1], "b": [0, 1, 0]}), target="b")
    with pytest.raises(ValueError, match="no structure learner"):
        BayesianNetworkClassifier(ScoreBasedStructure()).fit_blocks(parts)
