"""What a forest weighs: bytes per node in memory, in the file, and at the peak of growing."""

import subprocess
import sys

import numpy as np
import pytest

import pellucid
from pellucid import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from pellucid.ensemble.forest_joining import LARGE, Joiner, lean
from pellucid.ensemble.forest_record import Forest, join_forests, join_trees
from pellucid.persist.format import ModelFileError

PEAK = """
import resource, sys
import numpy as np
from pellucid import RandomForestRegressor
from pellucid.core.threads import limit_threads
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rng = np.random.default_rng(0)
X = rng.normal(size=(10_000, 5))
y = X[:, 0] + rng.normal(size=len(X))
with limit_threads(1):
    RandomForestRegressor(1, random_state=0, max_features=1).fit(X, y)
    before = peak()
    forest = RandomForestRegressor(30, random_state=0, max_features=1).fit(X, y).forest_
print((peak() - before) / len(forest.feature))
"""


def nbytes(forest):
    return sum(part.nbytes for part in forest if isinstance(part, np.ndarray))


def data(n, d=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n)


@pytest.fixture(scope="module")
def large():
    """A forest of numbers that is kept lean."""
    X, y = data(8000)
    return RandomForestRegressor(10, max_features=1, random_state=0).fit(X, y)


@pytest.mark.parametrize("model", [RandomForestClassifier, RandomForestRegressor])
def test_a_file_is_no_larger_than_the_node_arrays(model, tmp_path):
    """Issue of memory: 33 bytes a node for numbers, 49 for two classes, and less in the file."""
    X, z = data(8000)
    y = z > 0 if model is RandomForestClassifier else z
    fitted = model(50, max_features=1, random_state=0).fit(X, y)
    forest = fitted.forest_
    assert len(forest.feature) > LARGE
    assert nbytes(forest) <= (49.1 if model is RandomForestClassifier else 33.1) * len(
        forest.feature
    )
    path = tmp_path / "forest.pellucid"
    pellucid.save(fitted, path)
    assert path.stat().st_size <= nbytes(forest)
    again = pellucid.load(path)
    np.testing.assert_array_equal(again.predict(X[:200]), fitted.predict(X[:200]))
    for name in Forest._fields:
        np.testing.assert_array_equal(getattr(again.forest_, name), getattr(forest, name))


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss differs")
def test_growing_needs_little_more_than_the_forest():
    """Joining does not double the memory: 60 bytes a node here, 110 when all trees wait for it."""
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 80


def test_lean_forests_have_every_number(large):
    """What is left out is derived to the bit: each tree equals the one of a small forest."""
    X, y = data(8000)
    forest = large.forest_
    assert (forest.weight.dtype, len(forest.spread), len(forest.impurity)) == (np.float32, 0, 0)
    two = RandomForestRegressor(2, max_features=1, random_state=0).fit(X, y).forest_
    assert len(two.feature) < LARGE
    assert len(two.impurity) == len(two.spread) == len(two.feature)
    for t in range(2):
        for ours, full in zip(forest.tree(t), two.tree(t), strict=True):
            np.testing.assert_array_equal(ours, full)
    np.testing.assert_array_equal(forest.importances()[:2], two.importances())


def test_lean_keeps_what_does_not_follow():
    """Impure leaves keep the impurity, uneven weights their 64 bits, other errors the spread."""
    X, y = data(400)
    w = np.random.default_rng(1).random(len(y))

    def small(model, **fit):
        full = model.fit(X, y, **fit).forest_
        return full, lean(full)

    full, found = small(RandomForestRegressor(2, min_samples_leaf=5, random_state=0))
    assert len(found.spread) == 0
    np.testing.assert_array_equal(found.impurity, full.impurity)
    full, found = small(ExtraTreesRegressor(2, random_state=0), sample_weight=w)
    assert found.weight.dtype == np.float64
    full, found = small(RandomForestRegressor(2, criterion="absolute_error", random_state=0))
    np.testing.assert_array_equal(found.spread, full.spread)


def test_forests_of_both_kinds_join(large):
    """Lean before, full behind: the joined forest is full, and the other way round."""
    X, y = data(400)
    other = RandomForestRegressor(2, min_samples_leaf=5, random_state=0).fit(X, y).forest_
    for a, b in ((large.forest_, other), (other, large.forest_)):
        both = join_forests(a, b)
        assert len(both.impurity) == len(both.spread) == len(both.feature)
        for t in range(both.n_trees):
            tree = a.tree(t) if t < a.n_trees else b.tree(t - a.n_trees)
            for ours, theirs in zip(both.tree(t), tree, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_trees_may_come_in_any_order(large, monkeypatch):
    """The joiner waits for the tree whose turn it is; impure trees make the others full."""
    monkeypatch.setattr("pellucid.ensemble.forest_joining.LARGE", 1)
    X, y = data(400)
    impure = RandomForestRegressor(2, min_samples_leaf=5, random_state=0).fit(X, y).forest_
    trees = [large.forest_.tree(t) for t in range(3)] + [impure.tree(0)]
    joiner = Joiner(7)
    for t in (2, 3, 0, 1):
        assert joiner.add(7 + t, trees[t], t) == t
    found, wanted = joiner.forest(), join_trees(trees)
    assert found.start.tolist() == wanted.start.tolist()
    assert len(found.spread) == 0
    assert len(found.impurity) == len(found.feature)
    for t in range(4):
        for ours, theirs in zip(found.tree(t), wanted.tree(t), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_damaged_lean_forests_are_refused(large):
    """No number is derived before the nodes have been looked at."""
    forest = large.forest_
    wild = forest.right.copy()
    wild[0] = 2**30
    for bad in (
        forest._replace(right=wild),
        forest._replace(impurity=np.zeros(3)),
        forest._replace(spread=np.zeros((0, 2))),
        forest._replace(weight=forest.weight.astype(np.float16)),
        forest._replace(threshold=forest.threshold[:-1]),
    ):
        with pytest.raises(ValueError, match=r"of the (forest|tree)"):
            bad.check()


def test_a_file_with_too_few_thresholds_is_refused(large, tmp_path, monkeypatch):
    cut = large.forest_._to_file()
    cut = cut._replace(threshold=cut.threshold[:-1])
    monkeypatch.setattr(Forest, "_to_file", lambda self: cut)
    pellucid.save(large, tmp_path / "cut.pellucid")
    with pytest.raises(ModelFileError, match="do not fit together"):
        pellucid.load(tmp_path / "cut.pellucid")
