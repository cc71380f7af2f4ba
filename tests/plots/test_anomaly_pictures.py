"""Pictures of odd rows and of labels that spread."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.pipeline import make_pipeline

from pellucid import (
    DensityOutlier,
    EllipticEnvelope,
    IsolationForest,
    KMeans,
    LabelPropagation,
    LabelSpreading,
    LocalOutlierFactor,
    OneClassSVM,
    plots,
)
from pellucid.data import make_moons
from pellucid.features import StandardScaler


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    A = rng.multivariate_normal([3, 2], [[2, 1.2], [1.2, 1]], 60)
    return pd.DataFrame(np.vstack([A, [[9, -3], [-4, 6]]]), columns=["height", "weight"])


REPEATED = set()


def drawn(picture):
    """It draws on its own axes, gives the same SVG twice and has words."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    if type(picture) in REPEATED:
        (found if isinstance(found, Figure) else found.figure).draw_without_rendering()
    else:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)
    return found


def texts(found):
    figure = found if isinstance(found, Figure) else found.figure
    return " | ".join(text.get_text() for text in figure.findobj(Text))


@pytest.mark.parametrize(
    "model",
    [
        DensityOutlier(contamination=0.05),
        EllipticEnvelope(contamination=0.05, random_state=0),
        IsolationForest(contamination=0.05, random_state=0),
        LocalOutlierFactor(10, novelty=True),
        OneClassSVM(nu=0.1),
    ],
    ids=["density", "envelope", "forest", "factor", "svm"],
)
def test_map_has_the_scores_of_the_detector(data, model):
    model.fit(data)
    picture = plots.anomaly_map(model, data)
    places = np.stack(np.meshgrid(*picture.lines), axis=-1).reshape(-1, 2)
    rows = pd.DataFrame(places, columns=data.columns)
    assert np.allclose(picture.scores.ravel(), np.ravel(model.decision_function(rows)))
    assert np.array_equal(picture.odd, picture.of_rows < 0)
    clear = np.abs(picture.of_rows) > 1e-9  # rows on the edge may fall to either side
    assert np.array_equal(picture.odd[clear], (model.predict(data) == -1)[clear])
    assert picture.odd[[60, 61]].all()
    assert {"height", "60", "61"} <= set(texts(drawn(picture)).split(" | "))


def test_training_rows_only_one_column_and_many(data):
    factor = LocalOutlierFactor(10, contamination=0.05)
    said = factor.fit_predict(data)
    picture = plots.anomaly_map(factor, data)
    assert picture.scores is None
    assert np.array_equal(picture.odd, said == -1)
    drawn(picture)
    with pytest.raises(ValueError, match="judges the 62 rows"):
        plots.anomaly_map(factor, data[:9])
    x = data[["height"]]
    line = plots.anomaly_map(DensityOutlier(contamination=0.05).fit(x), x)
    assert line.scores.shape == line.lines[0].shape
    drawn(line)
    wide = np.hstack([data.to_numpy(), np.random.default_rng(1).normal(size=(62, 2))])
    model = make_pipeline(StandardScaler(), DensityOutlier(contamination=0.05)).fit(wide)
    many = plots.anomaly_map(model, wide)
    assert np.array_equal(many.odd, model.predict(wide) == -1)  # rows are judged whole
    assert "median" in many.note
    with pytest.raises(ValueError, match="decision_function"):
        plots.anomaly_map(KMeans(2, random_state=0).fit(data), data)


def test_odd_rows_are_not_thinned_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 1))
    X[:3] = [[50.0], [60.0], [70.0]]
    model = DensityOutlier(contamination=0.001).fit(X)
    picture = plots.anomaly_map(model, X)
    assert len(picture.at) < 6000
    assert picture.odd.sum() == picture.n_odd == (model.predict(X) == -1).sum()


# --- few labels ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moons():
    X, truth = make_moons(120, noise=0.05, random_state=0)
    y = np.full(120, -1)
    for k in (0, 1):
        y[np.flatnonzero(truth == k)[:2]] = k
    return X, y


@pytest.mark.parametrize(
    "model",
    [LabelSpreading("knn", n_neighbors=5, alpha=0.9, max_iter=500, tol=1e-6),
     LabelPropagation("knn", n_neighbors=5, max_iter=2000, tol=1e-6)],
    ids=["spreading", "propagation"],
)  # fmt: skip
def test_label_rounds_are_those_of_the_fit(moons, model):
    X, y = moons
    model.fit(X, y)
    picture = plots.label_rounds(model, X, y, at=(0, 1, 4, -1))
    assert picture.rounds.tolist() == [0, 1, 4, model.n_iter_]
    assert picture.reached[0] == 4
    assert (np.diff(picture.reached) >= 0).all()  # labels spread
    assert picture.reached[1] > 4
    assert np.allclose(picture.pictures[-1].shares, model.label_distributions_)
    assert np.array_equal(picture.pictures[0].known, y != -1)
    assert "no label yet" in texts(drawn(picture))
    drawn(picture.pictures[1])


def test_one_round_of_spreading_by_hand(moons):
    X, y = moons
    model = LabelSpreading(gamma=5.0, alpha=0.7, max_iter=200, tol=1e-8).fit(X, y)
    one = plots.label_rounds(model, X, y, at=[1]).pictures[0].shares
    W = np.exp(-5.0 * ((X[:, None] - X) ** 2).sum(axis=2))
    np.fill_diagonal(W, 0)
    d = W.sum(axis=1)
    Y = (y[:, None] == [0, 1]).astype(float)
    F = 0.7 * (W / np.sqrt(np.outer(d, d))) @ Y + 0.3 * Y
    assert np.allclose(one, F / F.sum(axis=1, keepdims=True))


def test_label_rounds_refuses_others(moons, data):
    X, y = moons
    with pytest.raises(ValueError, match="spread labels"):
        plots.label_rounds(KMeans(2, random_state=0).fit(data), data, np.zeros(62))
    model = LabelSpreading("knn", n_neighbors=5, alpha=0.9, max_iter=500, tol=1e-6).fit(X, y)
    with pytest.raises(ValueError, match="another run"):
        plots.label_rounds(model, X[:60], y[:60])
