"""The permutation test of a score against scikit-learn's, with the same shuffles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GroupKFold
from sklearn.model_selection import permutation_test_score as theirs

from pellucid import GaussianNB, Ridge
from pellucid.evaluation import permutation_test_score


def table(n=40, shift=1.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return rng.normal(size=(n, 2)) + shift * y[:, None], y


def test_same_as_scikit_learn():
    X, y = table()
    given = {"n_permutations": 9, "random_state": 3, "cv": 3}
    ours, other = (
        permutation_test_score(GaussianNB(), X, y, **given),
        theirs(GaussianNB(), X, y, **given),
    )
    assert_allclose(ours.score, other[0])
    assert_allclose(ours.permutation_scores, other[1])
    assert ours.pvalue == other[2]
    number = {"n_permutations": 5, "scoring": "r2", "cv": 3}
    pair = [f(Ridge(), X, X[:, 0] + y, **number)[2] for f in (permutation_test_score, theirs)]
    assert pair[0] == pair[1]


def test_within_groups():
    X, y = table()
    groups = np.repeat(np.arange(4), 10)
    given = {"groups": groups, "cv": GroupKFold(4), "n_permutations": 5}
    ours, other = (
        permutation_test_score(GaussianNB(), X, y, **given),
        theirs(GaussianNB(), X, y, **given),
    )
    assert_allclose(ours.permutation_scores, other[1])


def test_nothing_to_learn_is_not_shown():
    X, y = table(shift=0.0, seed=2)
    assert permutation_test_score(GaussianNB(), X, y, n_permutations=19).pvalue > 0.05
    assert "shuffled" in str(permutation_test_score(GaussianNB(), *table(), n_permutations=3))


def test_refusals():
    with pytest.raises(ValueError, match="n_permutations"):
        permutation_test_score(GaussianNB(), *table(), n_permutations=0)
