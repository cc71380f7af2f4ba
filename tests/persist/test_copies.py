"""Copies that predict and hold nothing else of the training."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression as Foreign
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid import (
    BaggingClassifier,
    DecisionTreeClassifier,
    KMeans,
    KNeighborsClassifier,
    LogisticRegression,
    MLPRegressor,
    RandomForestClassifier,
    SelfTrainingClassifier,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=80) > 0).astype(int)
MODELS = [
    DecisionTreeClassifier(),
    RandomForestClassifier(8, random_state=0),
    BaggingClassifier(n_estimators=5, oob_score=False, random_state=0),
    MLPRegressor(hidden_layer_sizes=(4,), max_iter=5, random_state=0),
    KMeans(3, random_state=0),
    KNeighborsClassifier(3, weights=np.exp),
    SelfTrainingClassifier(LogisticRegression()),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


def arrays_of(value, found):
    """Every array that is reachable, by identity."""
    if isinstance(value, np.ndarray):
        found[id(value)] = value
    elif isinstance(value, dict):
        for item in value.values():
            arrays_of(item, found)
    elif isinstance(value, list | tuple):
        for item in value:
            arrays_of(item, found)
    elif hasattr(value, "get_params"):
        arrays_of(vars(value), found)
    return found


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.filterwarnings("ignore:.*no convergence")
def test_a_copy_predicts_the_same_and_shares_nothing(model, tmp_path):
    model.fit(
        X, np.where(np.arange(80) < 9, -1, Y) if isinstance(model, SelfTrainingClassifier) else Y
    )
    before = sorted(vars(model))
    small = pellucid.predict_only(model)
    assert type(small) is type(model)
    assert_array_equal(small.predict(X), model.predict(X))
    assert sorted(vars(model)) == before
    assert not hasattr(small, "history_")
    for name in getattr(type(model), "_training_state", ()):
        assert not hasattr(small, name)
    shared = arrays_of(small, {}).keys() & arrays_of(model, {}).keys()
    assert not shared
    if not callable(getattr(model, "weights", None)):
        pellucid.save(small, tmp_path / "small.pellucid")
        again = pellucid.load(tmp_path / "small.pellucid")
        assert_array_equal(again.predict(X), model.predict(X))


def test_parts_lose_their_histories_too():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    assert hasattr(model[-1], "history_")
    assert not hasattr(pellucid.predict_only(model)[-1], "history_")


def test_refusals():
    with pytest.raises(TypeError, match="fitted estimator, got a"):
        pellucid.predict_only([1, 2])
    with pytest.raises(NotFittedError):
        pellucid.predict_only(KMeans())
    assert pellucid.predict_only(Foreign().fit(X, Y)).coef_.shape == (3,)
