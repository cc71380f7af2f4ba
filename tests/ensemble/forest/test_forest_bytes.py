"""What a forest weighs: bytes per node in memory, in the file, and at the peak of growing."""

import subprocess
import sys

import numpy as np
import pytest

import pellucid
from pellucid import (
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from pellucid.ensemble.forest.joining import LARGE, Joiner, lean
from pellucid.ensemble.forest.record import Forest, join_forests, join_trees
from pellucid.ensemble.tree_sums import tree_sum
from pellucid.persist import writer
from pellucid.persist.format import ModelFileError
from pellucid.report.source.trees import parts_of, python_trees

PEAK = """
import resource, sys
import numpy as np
from pellucid import RandomForestRegressor
from pellucid.core.runtime.threads import limit_threads
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


def assert_same_trees(found, wanted, trees):
    for t in trees:
        for ours, theirs in zip(found.tree(t), wanted.tree(t), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.fixture(scope="module")
def large():
    """A forest of numbers that is kept lean."""
    X, y = data(8000)
    return RandomForestRegressor(10, max_features=1, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def classes():
    """Trees of three classes, not lean."""
    X, y = data(600)
    codes = np.digitize(y, [-1.0, 1.0])
    return {
        name: RandomForestClassifier(4, criterion=name, random_state=0).fit(X, codes)
        for name in ("gini", "entropy")
    }


@pytest.mark.parametrize("model", [RandomForestClassifier, RandomForestRegressor])
def test_a_file_is_no_larger_than_the_node_arrays(model, tmp_path):
    """Issue of memory: 21 bytes a node for numbers and for classes, and less in the file."""
    X, z = data(8000)
    y = np.digitize(z, [-1.0, 1.0]) if model is RandomForestClassifier else z
    fitted = model(50, max_features=1, random_state=0).fit(X, y)
    forest = fitted.forest_
    assert len(forest.feature) > LARGE
    assert nbytes(forest) <= 21.1 * len(forest.feature)
    path = tmp_path / "forest.pellucid"
    pellucid.save(fitted, path)
    assert path.stat().st_size <= nbytes(forest)
    again = pellucid.load(path)
    np.testing.assert_array_equal(again.predict(X[:200]), fitted.predict(X[:200]))
    for name in Forest._fields:
        found, wanted = getattr(again.forest_, name), getattr(forest, name)
        np.testing.assert_array_equal(found, wanted)
        assert getattr(found, "dtype", None) == getattr(wanted, "dtype", None)


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss differs")
def test_growing_needs_little_more_than_the_forest():
    """Joining does not double the memory: 110 bytes a node here when all trees wait for it."""
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 60


def test_lean_forests_have_every_number(large):
    """What is left out is derived to the bit: each tree equals the one of a small forest."""
    X, y = data(8000)
    forest = large.forest_
    leaves = int((forest.right < 0).sum())
    assert forest.weight.dtype == np.float32
    assert (len(forest.size), len(forest.weight)) == (leaves, leaves)
    assert len(forest.value) == len(forest.spread) == len(forest.impurity) == 0
    two = RandomForestRegressor(2, max_features=1, random_state=0).fit(X, y)
    assert len(two.forest_.feature) < LARGE
    assert {len(field) for field in two.forest_[1:10]} == {len(two.forest_.feature)}
    assert_same_trees(forest, two.forest_, range(2))
    np.testing.assert_array_equal(forest.importances()[:2], two.forest_.importances())
    np.testing.assert_array_equal(
        two.forest_.sum_values(X[:100]), lean(two.forest_).sum_values(X[:100])
    )


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_lean_classes_have_every_number(classes, criterion):
    """Pure leaves hold the number of their class; votes, shares and trees are the same."""
    X = data(600)[0]
    model = classes[criterion]
    small = lean(model.forest_)
    assert small.measure == criterion
    assert len(small.value) == len(small.impurity) == 0
    assert nbytes(small) < 22 * len(small.right)
    small.check()
    assert_same_trees(small, model.forest_, range(4))
    for read in ("sum_values", "apply"):
        np.testing.assert_array_equal(getattr(small, read)(X), getattr(model.forest_, read)(X))
    np.testing.assert_array_equal(small.count_votes(X, 0, 3), model.forest_.count_votes(X, 0, 3))
    leaves = model.forest_.apply(X) + model.forest_.start[:-1, None]
    np.testing.assert_array_equal(small.at(leaves), model.forest_.at(leaves))
    both = join_forests(small, model.forest_)
    assert both.measure == ""
    both.check()
    assert_same_trees(both, model.forest_, range(4))
    assert_same_trees(join_forests(small, small), model.forest_, range(4))


def test_everything_reads_a_lean_forest(monkeypatch):
    """Out of bag, importances, quantiles, errors and source do not depend on what is stored."""
    X, y = data(300)
    names = ("oob_score_", "feature_importances_")

    def read(model, y):
        fitted = model(5, oob_score=True, max_samples=0.5, random_state=0).fit(X, y)
        found = [getattr(fitted, name) for name in names]
        found.append(fitted.oob_permutation_importance(X, y, n_repeats=1, random_state=0).mean)
        found.append(fitted.proximity(X[:20]))
        if model is RandomForestRegressor:
            found += [fitted.predict_quantiles(X[:20]), *fitted.predict(X[:20], return_std=True)]
        else:
            found += [fitted.predict_proba(X), fitted.vote_counts(X)]
        scores = {}
        exec(python_trees(parts_of(fitted)), scores)
        found.append(scores["scores"](X[0].tolist()))
        return fitted, found

    for model, target in ((RandomForestRegressor, y), (RandomForestClassifier, y > 0)):
        full, wanted = read(model, target)
        with monkeypatch.context() as patch:
            patch.setattr("pellucid.ensemble.forest.joining.LARGE", 1)
            small, found = read(model, target)
        assert len(full.forest_.value) == len(full.forest_.right)
        assert len(small.forest_.value) == 0
        for ours, theirs in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert_same_trees(small.forest_, full.forest_, range(5))
        np.testing.assert_array_equal(tree_sum(small).weight, tree_sum(full).weight)


def test_lean_keeps_what_does_not_follow(classes):
    """Impure leaves keep the impurity, uneven weights their 64 bits, other errors the spread."""
    X, y = data(400)
    w = np.random.default_rng(1).random(len(y))

    def small(model, y=y, **fit):
        full = model.fit(X, y, **fit).forest_
        found = lean(full)
        found.check()
        assert_same_trees(found, full, range(full.n_trees))
        return full, found

    full, found = small(RandomForestRegressor(2, min_samples_leaf=5, random_state=0))
    assert len(found.spread) == len(found.value) == 0
    np.testing.assert_array_equal(found.impurity, full.impurity)
    full, found = small(ExtraTreesRegressor(2, random_state=0), sample_weight=w)
    assert found.weight.dtype == np.float64
    full, found = small(RandomForestRegressor(2, criterion="absolute_error", random_state=0))
    np.testing.assert_array_equal(found.spread, full.spread)
    full, found = small(RandomForestClassifier(2, max_depth=3, random_state=0), y > 0)
    np.testing.assert_array_equal(found.value, full.value)
    np.testing.assert_array_equal(found.impurity, full.impurity)
    full, found = small(RandomForestRegressor(2, random_state=0), np.stack([y, -y], axis=1))
    np.testing.assert_array_equal(found.value, full.value)


def test_forests_of_both_kinds_join(large):
    """Lean before, full behind: the joined forest is full, and the other way round."""
    X, y = data(400)
    other = RandomForestRegressor(2, min_samples_leaf=5, random_state=0).fit(X, y).forest_
    for a, b in ((large.forest_, other), (other, large.forest_)):
        both = join_forests(a, b)
        both.check()
        assert {len(field) for field in both[1:10]} == {len(both.feature)}
        for t in range(both.n_trees):
            tree = a.tree(t) if t < a.n_trees else b.tree(t - a.n_trees)
            for ours, theirs in zip(both.tree(t), tree, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_trees_may_come_in_any_order(large, monkeypatch):
    """The joiner waits for the tree whose turn it is; impure trees make the others full."""
    monkeypatch.setattr("pellucid.ensemble.forest.joining.LARGE", 1)
    X, y = data(400)
    impure = RandomForestRegressor(2, min_samples_leaf=5, random_state=0).fit(X, y).forest_
    trees = [large.forest_.tree(t) for t in range(3)] + [impure.tree(0)]
    joiner = Joiner(7)
    for t in (2, 3, 0, 1):
        joiner.add(7 + t, trees[t], np.full(t + 1, t, np.int32))
    assert joiner.rows.tolist() == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]
    found, wanted = joiner.forest(), join_trees(trees)
    assert found.start.tolist() == wanted.start.tolist()
    assert len(found.spread) == len(found.value) == 0
    assert len(found.impurity) == len(found.feature)
    assert_same_trees(found, wanted, range(4))


def test_damaged_lean_forests_are_refused(large, classes):
    """No number is derived before the nodes have been looked at."""
    forest, pure = large.forest_, lean(classes["gini"].forest_)
    wild = forest.right.copy()
    wild[0] = 2**30
    ends = np.flatnonzero(forest.right < 0)
    more = forest.right.copy()
    more[ends[0]], more[ends[-2]] = ends[0] + 2, -1
    label = {}
    for bad in (3.0, -1.0, 0.5, np.nan):
        label[bad] = pure.threshold.copy()
        label[bad][pure.right < 0] = bad
    for bad in (
        forest._replace(right=wild),
        forest._replace(right=more),
        forest._replace(impurity=np.zeros(3)),
        forest._replace(spread=np.zeros((0, 2))),
        forest._replace(weight=forest.weight.astype(np.float16)),
        forest._replace(weight=forest.weight[:-1]),
        forest._replace(size=forest.size[:-1]),
        forest._replace(threshold=forest.threshold[:-1]),
        pure._replace(measure=""),
        pure._replace(measure="squared_error"),
        *(pure._replace(threshold=threshold) for threshold in label.values()),
    ):
        with pytest.raises(ValueError, match=r"of the (forest|tree)"):
            bad.check()


def test_a_file_with_too_few_thresholds_is_refused(large, tmp_path, monkeypatch):
    cut = large.forest_._to_file()
    cut = cut._replace(threshold=cut.threshold[:-1])
    monkeypatch.setattr(Forest, "_to_file", lambda self: cut)
    with pytest.raises(ModelFileError, match="do not fit together"):
        pellucid.save(large, tmp_path / "cut.pellucid")
    monkeypatch.setattr(writer, "build_model", lambda *parts: None)  # a file that nobody checked
    pellucid.save(large, tmp_path / "cut.pellucid")
    with pytest.raises(ModelFileError, match="do not fit together"):
        pellucid.load(tmp_path / "cut.pellucid")


def test_files_from_before_are_read(large, classes, tmp_path, monkeypatch):
    """An entry for every node, or for every node but thresholds of questions only."""

    def before(forest):
        found = forest._replace(threshold=forest.threshold[forest.feature >= 0])
        return found if len(forest.value) else forest

    X = data(100)[0]
    odd = IsolationForest(n_estimators=5, random_state=0).fit(X)
    for way in (before, lambda forest: forest):
        with monkeypatch.context() as patch:
            patch.setattr(Forest, "_to_file", way)
            for k, model in enumerate((large, classes["gini"], odd)):
                pellucid.save(model, tmp_path / f"{k}.pellucid")
        for k, model in enumerate((large, classes["gini"], odd)):
            again = pellucid.load(tmp_path / f"{k}.pellucid")
            assert_same_trees(again.forest_, model.forest_, range(3))


def test_short_files_of_any_forest(classes, tmp_path):
    """Questions only: features in one byte, eight missing sides in another."""
    forest = classes["entropy"].forest_
    short = forest._to_file()
    inner = int((forest.feature >= 0).sum())
    assert (len(short.feature), short.feature.dtype) == (inner, np.int8)
    assert len(short.missing_left) == -(-inner // 8)
    assert len(short.threshold) == inner
    for ours, theirs in zip(short._from_file(), forest, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    single = RandomForestClassifier(2).fit([[0.0], [1.0]], [1, 1]).forest_
    for ours, theirs in zip(single._to_file()._from_file(), single, strict=True):
        np.testing.assert_array_equal(ours, theirs)
