"""The ladder of Gaussian rules, Box's M, tails."""

import numpy as np
import pytest
from discriminant_tables import mixed
from numpy.testing import assert_allclose
from scipy.stats import chi2
from sklearn.model_selection import StratifiedKFold, cross_val_score

from pellucid import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from pellucid.discriminant import discriminant_ladder
from pellucid.discriminant.ladder import squares_and_products

CV = StratifiedKFold(5, shuffle=True, random_state=3)


def by_name(ladder):
    return {rung.name: rung for rung in ladder.rungs}


def test_errors_are_those_of_refits():
    X, y = mixed(300)
    rungs = by_name(discriminant_ladder(X, y, cv=CV))
    models = {
        "LDA": (LinearDiscriminantAnalysis(covariance_estimator="unbiased"), X),
        "QDA": (QuadraticDiscriminantAnalysis(covariance_estimator="unbiased"), X),
        "naive Bayes": (RegularizedDiscriminantAnalysis(1, covariance_type="diag"), X),
        "nearest mean": (RegularizedDiscriminantAnalysis(0, covariance_type="spherical"), X),
        "weighted Euclidean": (RegularizedDiscriminantAnalysis(0, covariance_type="diag"), X),
        "LDA on squares": (LinearDiscriminantAnalysis("lsqr"), squares_and_products(X)),
    }
    assert rungs.keys() == models.keys()
    for name, (model, table) in models.items():
        scores = cross_val_score(model, table, y, cv=CV)
        assert_allclose(rungs[name].error, 1 - scores.mean(), atol=1e-12)
        assert_allclose(rungs[name].standard_error, scores.std(ddof=1) / np.sqrt(5), atol=1e-12)
    assert (rungs["LDA"].n_parameters, rungs["QDA"].n_parameters) == (10, 30)
    assert rungs["LDA on squares"].n_parameters == 30


def test_box_m_by_hand():
    X, y = mixed(300)
    box = discriminant_ladder(X, y, cv=CV).box_m
    each, n = [np.cov(X[y == k].T) for k in range(3)], np.bincount(y)
    S = sum((n[k] - 1) * each[k] for k in range(3)) / (n.sum() - 3)
    logs = [np.linalg.slogdet(C)[1] for C in each]
    M = (n.sum() - 3) * np.linalg.slogdet(S)[1] - (n - 1) @ logs
    c = ((1 / (n - 1)).sum() - 1 / (n.sum() - 3)) * (2 * 16 + 12 - 1) / (6 * 5 * 2)
    assert box.df == 20
    assert_allclose([box.statistic, box.chi2], [M, (1 - c) * M], rtol=1e-9)
    assert_allclose(box.p_value, chi2(20).sf((1 - c) * M), rtol=1e-7)


@pytest.mark.slow
def test_box_m_has_its_level():
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(400):
        y = np.arange(120) % 3
        X = rng.normal(size=(120, 3)) + y[:, None]
        rejected += discriminant_ladder(X, y, cv=2, random_state=0).box_m.p_value < 0.05
    assert 5 < rejected < 40


def test_recommendations():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    spheres = rng.normal(size=(600, 3)) + 2 * y[:, None]
    easy = discriminant_ladder(spheres, y, random_state=0)
    assert easy.recommended == "nearest mean"
    assert easy.box_m.p_value > 0.001
    assert "nothing speaks against" in easy.notes[-1]
    rings = rng.normal(size=(600, 3)) * np.where(y, 5.0, 1.0)[:, None]
    curved = discriminant_ladder(rings, y, random_state=0)
    assert curved.recommended in ("naive Bayes", "QDA", "LDA on squares")
    assert curved.box_m.p_value < 1e-6
    heavy = rng.standard_t(2.5, size=(600, 3)) + 2 * y[:, None]
    tails = discriminant_ladder(heavy, y, random_state=0)
    assert "heavier" in tails.normality
    assert "logistic" in tails.notes[-1]
    coded = np.column_stack([spheres, rng.integers(2, size=600)])
    assert "two values" in discriminant_ladder(coded, y, random_state=0).notes[-1]


def test_rungs_that_cannot_be_estimated():
    X, y = mixed(120, p=5)
    keep = (y != 2) | (np.cumsum(y == 2) <= 5)
    ladder = discriminant_ladder(X[keep], y[keep], random_state=0)
    rungs = by_name(ladder)
    assert not rungs["QDA"].estimable
    assert "n_k = 4 <= p = 5" in rungs["QDA"].reason
    assert np.isnan(rungs["QDA"].error)
    assert rungs["LDA"].estimable
    assert "5 rows for 5 columns" in ladder.box_m.reason
    assert "n_k = 4" in str(ladder)
    assert ladder.to_dict()["rungs"][0]["name"] == "nearest mean"
    assert "<script" not in ladder._repr_html_()


def test_same_seed_same_table():
    X, y = mixed()
    a, b = (discriminant_ladder(X, y, random_state=4) for _ in range(2))
    assert str(a) == str(b)


def test_refusals():
    X, y = mixed()
    with pytest.raises(ValueError, match="class"):
        discriminant_ladder(X, np.zeros(len(X)))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="column 1, row 3"):
        discriminant_ladder(X, y)
