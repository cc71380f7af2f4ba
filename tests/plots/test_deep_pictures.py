"""Pictures of deep models: what is drawn against what the models answer."""

import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import GaussianMixture, plots

deep_only = pytest.mark.skipif(
    os.environ.get("PELLUCID_DEEP") != "1",
    reason="run by make test-deep, which installs PyTorch",
)
rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def drawn(picture):
    assert isinstance(picture.plot(), Axes | Figure)
    assert picture.alt.endswith(".")
    assert plots.svg(picture) == plots.svg(picture)


@deep_only
def test_feature_maps_are_what_the_filters_answer():
    from pellucid.deep import ConvolutionalClassifier, Training, convolve

    X = rng.normal(size=(20, 6, 6))
    model = ConvolutionalClassifier((5, 3), training=Training(max_epochs=1), random_state=0)
    model.fit(X, np.arange(20) % 2)
    picture = plots.feature_maps(model, X[3], most=2)
    assert picture.filters.shape == (2, 3, 3)
    assert picture.counts == (5, 3)
    for filters, found, i in zip(picture.filters, picture.first, picture.numbers - 1, strict=True):
        assert_allclose(filters, model.filters_[0][i, 0], rtol=1e-6)
        bias = float(model.weights_["filters.0.bias"][i])
        hand = np.maximum(convolve(X[3], model.filters_[0][i, 0]) + bias, 0)
        assert_allclose(found[1:-1, 1:-1], hand, atol=1e-6)  # zeros around the image are ours
    drawn(picture)
    assert_array_equal(plots.feature_maps(model, X[3].ravel()).image, X[3])
    with pytest.raises(ValueError, match=r"one image of shape \(1, 6, 6\), got shape \(2, 6, 6\)"):
        plots.feature_maps(model, X[:2])
    with pytest.raises(ValueError, match="convolutional network, got GaussianMixture"):
        plots.feature_maps(GaussianMixture(), X[0])


@deep_only
def test_feature_maps_of_coloured_images():
    from pellucid.deep import ConvolutionalRegressor, Training

    X = rng.normal(size=(8, 3, 5, 4))
    model = ConvolutionalRegressor((2,), training=Training(max_epochs=1), random_state=0)
    picture = plots.feature_maps(model.fit(X, np.arange(8.0)), X[0])
    assert picture.image.shape == (5, 4, 3)
    assert_allclose(picture.filters, model.filters_[0].mean(axis=1), rtol=1e-6)
    picture.plot()


@deep_only
def test_attention_over_tokens():
    from pellucid.deep import Training, TransformerClassifier, TransformerSequenceModel

    quick = Training(max_epochs=1)
    texts = ["the cat sat", "a dog ran off"] * 4
    model = TransformerClassifier(8, n_heads=2, training=quick, random_state=0)
    picture = plots.attention(model.fit(texts, [0, 1] * 4), "a dog ran off")
    assert picture.seen == picture.looking == ("a", "dog", "ran", "off")
    assert_array_equal(picture.weights, model.attention_maps("a dog ran off"))
    assert_allclose(picture.weights.sum(axis=-1), 1, atol=1e-6)
    drawn(picture)
    pairs = [["x", "y"], ["y"]] * 4
    sequence = TransformerSequenceModel(8, n_heads=2, n_layers=1, training=quick, random_state=0)
    sequence.fit(pairs, pairs)
    cross = plots.attention(sequence, ["x", "y"], ["y"])
    assert (cross.looking, cross.seen) == (("start", "y"), ("x", "y"))
    assert_array_equal(cross.weights, sequence.attention_maps(["x", "y"], ["y"]).cross)
    own = plots.attention(sequence, ["x", "y"], ["y", "x"], kind="decoder")
    assert not own.weights[..., ~np.tri(3, dtype=bool)].any()
    assert len(plots.attention(sequence, ["x", "y"]).looking) >= 1
    with pytest.raises(ValueError, match="kind must be one of"):
        plots.attention(sequence, ["x"], kind="self")


@deep_only
def test_embeddings_are_principal_coordinates():
    from pellucid.deep import GraphNeuralNetworkClassifier, Training

    A = np.triu(rng.random((9, 9)) < 0.4, 1).astype(float)
    graph = (A + A.T, rng.normal(size=(9, 2)))
    model = GraphNeuralNetworkClassifier(
        (5, 4), readout=None, training=Training(max_epochs=3), random_state=0
    ).fit(graph, [0, 1, 1, 0, 1, 0, -1, -1, -1])
    picture = plots.embeddings(model, graph)
    H = model.node_embeddings(graph)
    C = H - H.mean(axis=0)
    values = np.sort(np.linalg.eigvalsh(C.T @ C))[::-1]
    assert_allclose((picture.points**2).sum(axis=0), values[:2], atol=1e-9)
    assert_allclose(picture.share, values[:2].sum() / values.sum())
    assert_array_equal(picture.edges, np.argwhere(A))
    assert_array_equal(picture.labels, model.predict(graph))
    drawn(picture)
    with pytest.raises(ValueError, match="one entry per node, got 3 for 9"):
        plots.embeddings(model, graph, [0, 1, 1])


def test_generated_rows_beside_real_ones():
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["width", "height"])
    model = GaussianMixture(random_state=0).fit(frame)
    picture = plots.generated(model, frame, n=40)
    assert picture.names == ("width", "height")
    assert picture.real.shape == picture.made.shape == (40, 2)
    assert {tuple(r) for r in picture.real} <= {tuple(r) for r in frame.to_numpy()}
    drawn(picture)
    wide = rng.normal(size=(60, 5)) * [5, 3, 1, 1, 1]
    flat = plots.generated(GaussianMixture(random_state=0).fit(wide), wide, n=60)
    assert_allclose(
        flat.real.std(axis=0)[0], np.linalg.svd(wide - wide.mean(axis=0))[1][0] / 60**0.5
    )
    one = plots.generated(GaussianMixture(random_state=0).fit(wide[:, :1]), wide[:, :1])
    one.plot()
    images = plots.generated(GaussianMixture(random_state=0).fit(wide[:, :4]), wide[:, :4], (2, 2))
    assert images.real.shape == (24, 2, 2)
    images.plot()
    with pytest.raises(ValueError, match=r"rows of 5 numbers are no images of shape \(2, 2\)"):
        plots.generated(model, wide, (2, 2))
    with pytest.raises(ValueError, match="it has no sample"):
        plots.generated(object(), wide)
