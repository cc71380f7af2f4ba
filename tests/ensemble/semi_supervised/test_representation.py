"""A classifier on a representation learned from labelled and unlabelled rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import PCA, GaussianNB, KMeans, LogisticRegression, RepresentationClassifier, Ridge
from pellucid.ensemble.semi_supervised.representation import is_labelled

rng = np.random.default_rng(0)
group = np.arange(200) % 2
X = rng.normal(size=(200, 30))
X[:, :8] += 2 * group[:, None]
y = np.where(np.arange(200) < 12, group, -1)


def test_by_hand():
    model = RepresentationClassifier(PCA(2), LogisticRegression()).fit(X, y)
    pca = PCA(2).fit(X)
    g = LogisticRegression().fit(pca.transform(X[:12]), y[:12])
    assert_allclose(model.predict_proba(X), g.predict_proba(pca.transform(X)))
    assert_allclose(model.decision_function(X), g.decision_function(pca.transform(X)))
    assert_array_equal(model.classes_, [0, 1])
    assert model.n_labelled_ == 12


def test_unlabelled_rows_help():
    """Many weak columns and six labels: the common direction is seen without labels only."""
    Z = rng.normal(size=(200, 150))
    Z[:, :30] += 1.2 * group[:, None]
    few = np.where(np.arange(200) < 6, group, -1)
    alone = GaussianNB().fit(Z[:6], few[:6]).score(Z[6:], group[6:])
    model = RepresentationClassifier(PCA(1), GaussianNB()).fit(Z, few)
    assert model.score(Z[6:], group[6:]) > max(alone + 0.05, 0.95)


def test_clusters_and_probabilities_as_columns():
    by_clusters = RepresentationClassifier(KMeans(2, random_state=0), GaussianNB()).fit(X, y)
    assert by_clusters.score(X, group) > 0.95

    class Shares:
        """No transform: only probabilities."""

        def __init__(self):
            self.scale = 1.0

        def get_params(self, deep=True):
            return {}

        def fit(self, X):
            self.middle_ = X[:, :8].mean()
            return self

        def predict_proba(self, X):
            p = 1 / (1 + np.exp(-(X[:, :8].mean(axis=1) - self.middle_)))
            return np.stack([1 - p, p], axis=1)

        def __sklearn_tags__(self):
            return GaussianNB().__sklearn_tags__()

    assert RepresentationClassifier(Shares(), GaussianNB()).fit(X, y).score(X, group) > 0.9


def test_marks_of_unlabelled_rows():
    assert is_labelled(np.array(["a", None, -1], dtype=object)).tolist() == [True, False, False]
    assert is_labelled(np.array(["a", "-1"])).tolist() == [True, False]
    assert is_labelled(np.array([True, False])).all()
    words = np.array(["no", "yes", "-1"])[y]
    model = RepresentationClassifier(PCA(1), GaussianNB()).fit(X, words)
    assert_array_equal(model.classes_, ["no", "yes"])


def test_too_few_labels_are_refused():
    with pytest.raises(ValueError, match="no labelled row"):
        RepresentationClassifier(PCA(1), GaussianNB()).fit(X, np.full(200, -1))
    with pytest.raises(ValueError, match="one class only"):
        RepresentationClassifier(PCA(1), GaussianNB()).fit(X, np.where(y == 0, 0, -1))
    with pytest.raises(ValueError, match="transform or predict_proba"):
        RepresentationClassifier(Ridge(), GaussianNB()).fit(X, y)
