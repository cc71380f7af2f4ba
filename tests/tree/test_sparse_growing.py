"""Trees on sparse columns that are not written out."""

import numpy as np
import pytest
import sklearn.tree
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, random_array

from pellucid import DecisionTreeClassifier, DecisionTreeRegressor
from pellucid.tree import cart, sparse_growing

rng = np.random.default_rng(0)


def table(n=400, p=30):
    X = random_array((n, p), density=0.3, rng=0, format="csr")
    X.data -= 0.4  # zeros lie between the values
    draw = np.random.default_rng(1)
    signal = X @ draw.normal(size=p) + 0.1 * draw.normal(size=n)
    return X, signal, np.digitize(signal, [-0.3, 0.3])


@pytest.fixture
def sparse(monkeypatch):
    """Every sparse table counts as large."""
    monkeypatch.setattr(sparse_growing, "CELLS", 0)


SETTINGS = [
    {"criterion": "gini", "max_depth": 4},
    {"criterion": "entropy", "min_samples_leaf": 5},
    {"criterion": "gini", "min_samples_split": 20, "class_weight": "balanced"},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("weighted", [True, False])
def test_classes_equal_the_dense_tree(sparse, settings, weighted):
    """The same nodes, values and answers as on the table written out."""
    X, _, y = table()
    w = rng.integers(0, 3, 400) + 0.0 if weighted else None
    ours = DecisionTreeClassifier(**settings).fit(X, y, sample_weight=w)
    dense = DecisionTreeClassifier(**settings).fit(X.toarray(), y, sample_weight=w)
    assert_allclose(ours.tree_.impurity[0], dense.tree_.impurity[0])
    assert (ours.tree_.feature[:3] == dense.tree_.feature[:3]).all()
    scores = [one.score(X, y, sample_weight=w) for one in (ours, dense)]
    assert abs(scores[0] - scores[1]) < 0.03  # equally good questions may be taken in other orders
    leaves = ours.apply(X)
    assert (leaves == ours.tree_.apply(X.toarray())).all()
    assert (ours.decision_path(X) != dense_path(ours, X)).nnz == 0


def dense_path(model, X):
    return model.tree_.decision_path(X.toarray())


@pytest.mark.parametrize("depth", [1, 3, 6])
def test_numbers_equal_the_dense_tree(sparse, depth):
    """The same nodes as on the table written out; no better tree is known to scikit-learn."""
    X, y, _ = table()
    ours = DecisionTreeRegressor(max_depth=depth).fit(X, y)
    dense = DecisionTreeRegressor(max_depth=depth).fit(X.toarray(), y)
    assert (ours.tree_.feature == dense.tree_.feature).all()
    assert_allclose(ours.tree_.threshold, dense.tree_.threshold, rtol=1e-12)
    assert_allclose(ours.tree_.value, dense.tree_.value, rtol=1e-12)
    assert_allclose(ours.predict(X), dense.predict(X.toarray()), rtol=1e-12)
    theirs = sklearn.tree.DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, y)
    assert_allclose(ours.score(X, y), theirs.score(X, y), atol=0.02)


def test_whole_tree_fits_distinct_rows(sparse):
    """Grown to the end, every row is answered exactly."""
    X, y, _ = table(200)
    model = DecisionTreeRegressor().fit(X, y)
    assert_allclose(model.predict(X), y, atol=1e-12)


def test_columns_of_zeros_and_stored_zeros(sparse):
    """A table without values is one leaf; a stored zero is a zero."""
    empty = DecisionTreeClassifier().fit(csr_array((6, 3)), [0, 1, 0, 1, 0, 1])
    assert empty.tree_.node_count == 1
    X = csr_array(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]))
    stored = csr_array((np.append(X.data, 0.0), np.append(X.indices, 0), [0, 1, 2, 4]), (3, 2))
    found = [DecisionTreeRegressor().fit(A, [1.0, 2.0, 3.0]).tree_ for A in (X, stored)]
    assert (found[0].feature == found[1].feature).all()
    assert (found[0].threshold == found[1].threshold).all()


@pytest.mark.parametrize("settings", [{"max_features": 2}, {"splitter": "random"}])
def test_other_settings_write_the_table_out(sparse, monkeypatch, settings):
    """What needs all cells is grown from all cells, or refused."""
    X, _, y = table()
    settings = settings | {"random_state": 0, "max_depth": 3}
    ours = DecisionTreeClassifier(**settings).fit(X, y)
    dense = DecisionTreeClassifier(**settings).fit(X.toarray(), y)
    assert (ours.tree_.feature == dense.tree_.feature).all()

    def refuse(_: object) -> None:
        raise ValueError("written out")

    monkeypatch.setattr(cart, "to_dense", refuse)
    with pytest.raises(ValueError, match="written out"):
        DecisionTreeClassifier(**settings).fit(X, y)
