"""Gower's distance: the formula by hand, frames with words, and the models that take it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid
from pellucid.neighbors import (
    Gower,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    check_metric,
    pairwise_distances,
)

TOWNS = np.array(["Ulm", "Rom", "Bonn", None], dtype=object)


def table(n, seed):
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(n) < 0.2, np.nan, rng.integers(18, 80, n).astype(float))
    return pd.DataFrame({
        "age": age,
        "town": TOWNS[rng.integers(4, size=n)],
        "height": rng.normal(170, 10, n),
        "member": pd.Categorical(np.array(["yes", "no"])[rng.integers(2, size=n)]),
    })  # fmt: skip


def by_hand(A, B, w):
    """The definition, cell by cell."""
    ranges = {name: B[name].max() - B[name].min() for name in ("age", "height")}
    D = np.full((len(A), len(B)), np.nan)
    for i in range(len(A)):
        for j in range(len(B)):
            total = mass = 0.0
            for weight, name in zip(w, A.columns, strict=True):
                a, b = A[name].iloc[i], B[name].iloc[j]
                if pd.isna(a) or pd.isna(b):
                    continue
                mass += weight
                total += weight * (abs(a - b) / ranges[name] if name in ranges else a != b)
            if mass:
                D[i, j] = total / mass
    return D


@pytest.mark.parametrize("w", [None, [1.0, 0.0, 2.0, 0.5]], ids=str)
def test_equals_the_definition(w):
    A, B = table(25, 0), table(40, 1)
    weights = np.ones(4) if w is None else w
    assert_allclose(pairwise_distances(A, B, Gower(w=w)), by_hand(A, B, weights), atol=1e-12)
    if w is None:
        D = pairwise_distances(B, metric="gower")
        assert_allclose(D, by_hand(B, B, weights), atol=1e-12)
        assert_array_equal(D, D.T)
        assert_array_equal(np.diag(D), 0.0)
        assert 0 <= D.min() <= D.max() <= 1 + 1e-12
        frame = pl.from_pandas(B.astype({"member": str}))
        assert_allclose(pairwise_distances(frame, metric="gower"), D, atol=1e-12)


def test_numbers_alone_are_scaled_manhattan():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 3)) * [1, 10, 100]
    R = X.max(axis=0) - X.min(axis=0)
    D = pairwise_distances(X, metric="gower")
    assert_allclose(D, pairwise_distances(X / R, metric="manhattan") / 3)
    assert check_metric("gower", X[:20]).is_metric
    half = Gower(categorical=[1], ranges=2 * R)
    expected = (np.abs(X[:, None] - X) / (2 * R))[:, :, [0, 2]].sum(axis=2) + (X[:, None, 1] != X[:, 1])  # fmt: skip  # noqa: E501
    assert_allclose(pairwise_distances(X, metric=half), expected / 3)


@pytest.mark.parametrize("metric", ["gower", Gower()], ids=str)
def test_models_of_neighbours_take_mixed_tables(metric, tmp_path):
    X, Q = table(60, 3), table(20, 4)
    Q.loc[0, "town"] = "Paris"  # a new word differs from all
    Q["member"] = Q["member"].astype(str)
    y = np.random.default_rng(5).integers(3, size=60)
    D = pairwise_distances(Q, X, "gower")
    assert_allclose(D, by_hand(Q, X, np.ones(4)))
    model = KNeighborsClassifier(5, metric=metric).fit(X, y)
    assert_allclose(model.kneighbors(Q)[0], np.sort(D, axis=1)[:, :5])
    known = KNeighborsClassifier(5, metric="precomputed").fit(pairwise_distances(X, metric="gower"), y)  # fmt: skip  # noqa: E501
    assert_allclose(model.predict_proba(Q), known.predict_proba(D))
    assert model.effective_metric_ == "gower"
    assert list(model.feature_names_in_) == list(X.columns)
    pellucid.save(model, tmp_path / "model")
    assert_array_equal(pellucid.load(tmp_path / "model").predict(Q), model.predict(Q))
    wide = RadiusNeighborsClassifier(0.4, metric=metric, outlier_label="most_frequent").fit(X, y)
    votes = np.stack([((D <= 0.4) & (y == c)).sum(axis=1) for c in range(3)], axis=1)
    seen = votes.sum(axis=1) > 0
    assert_array_equal(wide.predict(Q)[seen], votes[seen].argmax(axis=1))
    named = Gower(categorical=["height"])
    assert_allclose(
        NearestNeighbors(n_neighbors=1, metric=named).fit(X).kneighbors(X)[0], 0.0, atol=1e-12
    )


def test_clusterers_take_the_matrix():
    rng = np.random.default_rng(6)
    group = np.repeat([0, 1], 30)
    X = pd.DataFrame({
        "x": group * 10 + rng.normal(size=60),
        "colour": np.array(["red", "blue"])[np.where(rng.random(60) < 0.1, 1 - group, group)],
    })  # fmt: skip
    D = pairwise_distances(X, metric="gower")
    labels = pellucid.KMedoids(2, metric="precomputed", random_state=0).fit(D).labels_
    agree = max((labels == group).mean(), (labels != group).mean())
    assert agree > 0.9  # a swapped colour may outweigh x
    labels = pellucid.DBSCAN(eps=0.25, metric="precomputed").fit(D).labels_
    assert len(set(labels) - {-1}) >= 2


def test_rows_without_a_common_cell():
    X = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 3.0], [4.0, 1.0]])
    with pytest.warns(UserWarning, match="4 pairs of rows share no cell"):
        D = pairwise_distances(X, metric="gower")
    assert np.isnan(D[0, 2])
    model = KNeighborsRegressor(3, metric="gower", weights="distance").fit(X, [1.0, 2.0, 3.0, 4.0])
    answers = model.predict([[np.nan, np.nan], [1.5, np.nan]])
    assert answers[0] == 2.0  # no distance is known: the first three alike
    assert np.isfinite(answers).all()


def test_refusals():
    X = np.eye(3)
    with pytest.raises(ValueError, match="categorical must be"):
        pairwise_distances(X, metric=Gower(categorical=[7]))
    with pytest.raises(ValueError, match=r"'b'.*not columns"):
        pairwise_distances(pd.DataFrame({"a": [1.0, 2.0]}), metric=Gower(categorical=["b"]))
    with pytest.raises(ValueError, match="ranges must hold 3"):
        pairwise_distances(X, metric=Gower(ranges=[1.0]))
    with pytest.raises(ValueError, match="all of w are 0"):
        pairwise_distances(X, metric=Gower(w=np.zeros(3)))
    with pytest.raises(ValueError, match="infinite"):
        pairwise_distances([[np.inf]], metric="gower")
    mixed = [["a", 1.0], ["b", 3.0]]
    assert_allclose(pairwise_distances(mixed, metric="gower"), [[0, 1], [1, 0]])
