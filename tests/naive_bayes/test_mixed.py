"""MixedNB: brute-force posteriors by scipy.stats, the one-kind classes, laws, corners."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.neighbors import KernelDensity

import pellucid
from pellucid.data import blocks
from pellucid.discriminant import GaussianDensity
from pellucid.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    MixedNB,
    ZeroCountWarning,
)
from pellucid.naive_bayes.gaussian import UnseenFeatureWarning, ZeroVarianceWarning

ALL = {
    "count": "poisson",
    "wait": "exponential",
    "smooth": "kde",
    "binned": "histogram",
    "skewed": "gumbel_r",
}


def table(n=300, seed=0):
    """A frame with one column of every kind, and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    frame = pl.DataFrame(
        {
            "height": rng.normal(size=n) + y,
            "colour": np.array(["red", "green", "blue", "grey"])[(rng.integers(4, size=n) + y) % 4],
            "member": rng.random(n) < 0.2 + 0.25 * y,
            "count": rng.poisson(1.0 + 2 * y),
            "wait": rng.exponential(1.0 + y),
            "smooth": rng.normal(size=n) * (1 + y),
            "binned": rng.normal(size=n) - y,
            "skewed": rng.gumbel(size=n) + y,
        }
    )
    return frame, np.array(["ant", "bee", "cat"])[y]


def brute_force(frame, y, alpha=1.0, var_smoothing=1e-9):
    """log p(x, k) of the first six kinds by scipy.stats, one class and column at a time."""
    g = frame["height"].to_numpy()
    epsilon = var_smoothing * g.var()
    out = np.empty((len(y), 3))
    for k, label in enumerate(np.unique(y)):
        own = frame.filter(pl.Series(y == label))
        n = len(own)
        logs = np.full(len(y), np.log(n / len(y)))
        x = own["height"].to_numpy()
        logs += st.norm.logpdf(g, x.mean(), np.sqrt(x.var() + epsilon))
        share = {
            v: ((own["colour"] == v).sum() + alpha) / (n + 4 * alpha)
            for v in frame["colour"].unique()
        }
        logs += np.log([share[v] for v in frame["colour"]])
        p = (own["member"].sum() + alpha) / (n + 2 * alpha)
        logs += st.bernoulli.logpmf(frame["member"].to_numpy().astype(int), p)
        logs += st.poisson.logpmf(frame["count"].to_numpy(), own["count"].mean())
        logs += st.expon.logpdf(frame["wait"].to_numpy(), scale=own["wait"].mean())
        kde = st.gaussian_kde(own["smooth"].to_numpy(), bw_method="silverman")
        logs += kde.logpdf(frame["smooth"].to_numpy())
        out[:, k] = logs
    return out


def test_equals_brute_force():
    frame, y = table()
    frame = frame.drop("binned", "skewed")
    model = MixedNB({k: v for k, v in ALL.items() if k in frame.columns}).fit(frame, y)
    assert model.distributions_ == [
        "gaussian", "categorical", "bernoulli", "poisson", "exponential", "kde",
    ]  # fmt: skip
    joint = brute_force(frame, y)
    assert_allclose(model.predict_joint_log_proba(frame), joint, rtol=1e-10)
    evidence = logsumexp(joint, axis=1, keepdims=True)
    assert_allclose(model.predict_proba(frame), np.exp(joint - evidence), rtol=1e-9, atol=1e-14)
    assert_allclose(model.score_samples(frame), evidence[:, 0], rtol=1e-10)
    parts = model.explain(frame)
    assert parts.shape == (300, 3, 6)
    assert_allclose(np.log(model.class_prior_) + parts.sum(axis=2), joint, rtol=1e-10)


def test_family_is_maximum_likelihood():
    frame, y = table()
    for given in (st.gumbel_r, "gumbel_r", "scipy.stats.gumbel_r"):
        model = MixedNB({"skewed": given}).fit(frame.select("skewed"), y)
        assert model.distributions_ == ["scipy.stats.gumbel_r"]
        x = frame["skewed"].to_numpy()
        for k, label in enumerate(model.classes_):
            theta = st.gumbel_r.fit(x[y == label])
            assert_allclose(model.explain(frame.select("skewed"))[:, k, 0],
                            st.gumbel_r.logpdf(x, *theta))  # fmt: skip


def test_histogram_is_a_smoothed_density():
    frame, y = table()
    part = frame.select("binned")
    model = MixedNB({"binned": "histogram"}).fit(part, y)
    edges, logs = model.densities_[0]
    x = frame["binned"].to_numpy()
    for k, label in enumerate(model.classes_):
        own = x[y == label]
        N = np.histogram(own, edges)[0]
        expected = (N + 1) / (len(own) + len(N)) / np.diff(edges)
        assert_allclose(np.exp(logs[k]), expected)
    assert_allclose((np.exp(logs) * np.diff(edges)).sum(axis=1), 1)
    whole = np.histogram(x, edges)[0]
    assert whole.max() < 2 * whole.min() + 2  # bins at quantiles
    far = model.explain(pl.DataFrame({"binned": [-1e9, 1e9]}))
    assert_allclose(far[:, :, 0], [logs[:, 0], logs[:, -1]])


@pytest.mark.parametrize("density", [GaussianDensity(0.0), KernelDensity(bandwidth=0.5)])
def test_estimators_stand_for_columns(density):
    frame, y = table()
    X = frame.select("height", "smooth").to_numpy()
    model = MixedNB({1: density}).fit(X, y)
    for k, label in enumerate(model.classes_):
        own = clone(density).fit(X[y == label][:, 1:])
        assert_allclose(model.explain(X)[:, k, 1], own.score_samples(X[:, 1:]))
    assert model.sample(5, random_state=0)[0].shape == (5, 2)


# --- one kind of columns ----------------------------------------------------------------------


def test_all_gaussian_is_gaussian_nb():
    frame, y = table()
    X = frame.select("height", "smooth", "binned").to_numpy()
    w = np.random.default_rng(0).random(len(y))
    ours, theirs = MixedNB().fit(X, y, w), GaussianNB().fit(X, y, w)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-14)
    assert ours.epsilon_ == theirs.epsilon_
    X[::7, 1] = np.nan
    ours, theirs = MixedNB().fit(X, y), GaussianNB().fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-13)


def test_all_categorical_is_categorical_nb():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    X = (rng.integers(4, size=(200, 3)) + y[:, None]) % 4
    for options in ({}, {"alpha": 0.3, "prior_alpha": 2.0}):
        ours = MixedNB("categorical", **options).fit(X, y)
        theirs = CategoricalNB(**options).fit(X, y)
        assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X))
    words = np.array(["a", "b", "c", "d"], dtype=object)[X]
    words[0, 0] = None
    ours, theirs = MixedNB().fit(words, y), CategoricalNB().fit(words, y)
    assert_allclose(ours.predict_joint_log_proba(words), theirs.predict_joint_log_proba(words))


def test_all_truth_values_are_bernoulli_nb():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100)
    X = rng.random((100, 4)) < 0.3 + 0.3 * y[:, None]
    ours, theirs = MixedNB(fit_prior=False).fit(X, y), BernoulliNB(fit_prior=False).fit(X, y)
    assert ours.distributions_ == ["bernoulli"] * 4
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X))


# --- missing cells, weights, parts --------------------------------------------------------------


def with_gaps(frame, seed=1):
    rng = np.random.default_rng(seed)
    return frame.with_columns(
        [
            pl.when(pl.Series(rng.random(len(frame)) < 0.2))
            .then(None)
            .otherwise(pl.col(c))
            .alias(c)
            for c in frame.columns
        ]
    )


def test_missing_cells_are_left_out_exactly():
    """The fit of a column is that of its seen rows; the joint leaves the factor out."""
    frame, y = table()
    gaps = with_gaps(frame)
    model = MixedNB(ALL | {"member": "bernoulli"}).fit(gaps, y)
    parts = model.explain(gaps)
    for j, name in enumerate(frame.columns):
        seen = gaps[name].is_not_null().to_numpy()
        assert (parts[~seen, :, j] == 0).all()
        if name == "binned":
            continue
        kind = ALL.get(name, {"member": "bernoulli"}.get(name))
        alone = MixedNB("auto" if kind is None else {name: kind}, var_smoothing=0.0)
        alone.fit(gaps.filter(pl.Series(seen)).select(name), y[seen])
        expected = alone.explain(gaps.filter(pl.Series(seen)).select(name))[:, :, 0]
        assert_allclose(parts[seen, :, j], expected, rtol=1e-6)
    assert_allclose(
        model.predict_joint_log_proba(gaps), np.log(model.class_prior_) + parts.sum(axis=2)
    )


def test_a_row_without_cells_gets_the_prior():
    frame, y = table()
    model = MixedNB(ALL).fit(frame, y)
    empty = frame[:1].with_columns(
        [pl.lit(None, dtype=t).alias(c) for c, t in frame.schema.items()]
    )
    assert_allclose(model.predict_proba(empty)[0], model.class_prior_)


def test_weights_are_repetitions_for_every_kind():
    frame, y = table(150)
    w = np.random.default_rng(5).integers(0, 3, size=len(y))
    rows = np.repeat(np.arange(len(y)), w)
    weighted = MixedNB(ALL).fit(frame, y, sample_weight=w)
    repeated = MixedNB(ALL).fit(frame[rows], y[rows])
    assert_allclose(
        weighted.predict_joint_log_proba(frame), repeated.predict_joint_log_proba(frame), rtol=1e-7
    )


def test_partial_fit_is_exact():
    frame, y = table()
    frame = frame.drop("smooth", "binned", "skewed")
    kinds = {"count": "poisson", "wait": "exponential"}
    whole = MixedNB(kinds).fit(frame, y)
    parts = MixedNB(kinds)
    for start in range(0, 300, 70):
        parts.partial_fit(frame[start : start + 70], y[start : start + 70], classes=np.unique(y))
    assert_allclose(
        parts.predict_joint_log_proba(frame), whole.predict_joint_log_proba(frame), rtol=1e-12
    )


def test_blocks_serve_the_sums():
    frame, y = table(9000)
    frame = frame.select(
        "height", "count", "wait", pl.col("member").cast(pl.Float64),
        code=pl.col("colour").rank("dense").cast(pl.Float64),
    )  # fmt: skip
    kinds = {
        "count": "poisson",
        "wait": "exponential",
        "member": "bernoulli",
        "code": "categorical",
    }
    whole = MixedNB(kinds).fit(frame, y)
    source = blocks(frame.with_columns(y=pl.Series(y)), target="y", block_rows=1000)
    parts = MixedNB(kinds).fit_blocks(source)
    assert_allclose(
        parts.predict_joint_log_proba(frame), whole.predict_joint_log_proba(frame), rtol=1e-10
    )


@pytest.mark.parametrize("kind", ["kde", "histogram", "gamma", GaussianDensity()])
def test_what_needs_all_rows_says_so(kind):
    X, y = np.random.default_rng(0).random((30, 2)) + 0.1, np.arange(30) % 2
    with pytest.raises(ValueError, match=r"partial_fit cannot serve column 1.*all rows at once"):
        MixedNB({1: kind}).partial_fit(X, y, classes=[0, 1])
    source = blocks(pl.DataFrame(X, schema=["a", "b"]).with_columns(y=pl.Series(y)), target="y")
    with pytest.raises(ValueError, match=r"fit_blocks cannot serve column 'b'"):
        MixedNB({1: kind}).fit_blocks(source)


# --- recovery, sampling, files --------------------------------------------------------------------


def test_samples_look_like_the_data():
    frame, y = table(3000)
    model = MixedNB(ALL).fit(frame, y)
    X, labels = model.sample(20_000, random_state=0)
    for label in model.classes_:
        own, drawn = frame.filter(pl.Series(y == label)), X[labels == label]
        for j, name in enumerate(frame.columns):
            if name == "colour":
                shares = own["colour"].value_counts(normalize=True).sort("colour")
                assert_allclose(
                    [np.mean(drawn[:, j] == v) for v in shares["colour"]], shares["proportion"],
                    atol=0.03,
                )  # fmt: skip
            else:
                expected = own[name].cast(pl.Float64)
                assert_allclose(np.mean(drawn[:, j].astype(float)), expected.mean(),
                                atol=0.12 * max(expected.std(), 1))  # fmt: skip
    drawn = pd.DataFrame(X, columns=frame.columns).infer_objects()
    again = MixedNB({**ALL, "member": "bernoulli"}).fit(drawn, labels)
    assert_allclose(again.densities_[3].rate, model.densities_[3].rate, rtol=0.05)


def test_pandas_frames_with_categories():
    frame, y = table()
    table_ = frame.to_pandas()
    table_["colour"] = table_["colour"].astype("category")
    ours = MixedNB(ALL).fit(table_, y)
    assert_allclose(ours.predict_proba(table_), MixedNB(ALL).fit(frame, y).predict_proba(frame))
    assert isinstance(table_, pd.DataFrame)


def test_saves_every_kind(tmp_path):
    frame, y = table()
    model = MixedNB({**ALL, "height": GaussianDensity()}).fit(frame, y)
    pellucid.save(model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert_array_equal(again.predict_joint_log_proba(frame), model.predict_joint_log_proba(frame))
    partial = MixedNB().fit(frame.select("height", "colour"), y)
    pellucid.save(partial, tmp_path / "p.pellucid")
    more = pellucid.load(tmp_path / "p.pellucid").partial_fit(frame.select("height", "colour"), y)
    assert_allclose(more.class_count_, 2 * partial.class_count_)


def stored(model, path):
    """Through a file; a declared record is refused at save, the others at load."""
    pellucid.save(model, path)
    return pellucid.load(path)


def test_a_broken_file_is_refused(tmp_path):
    frame, y = table()
    model = MixedNB(ALL).fit(frame, y)
    for j in (0, 1, 3, 6):
        column = model.densities_[j]
        model.densities_[j] = column._replace(**{column._fields[-1]: column[-1][:-1]})
        with pytest.raises(ValueError, match="does not fit"):
            stored(model, tmp_path / "m.pellucid")
        model.densities_[j] = column


def test_scipy_stats_is_loaded_only_when_asked_for(monkeypatch):
    def refuse(name):
        raise AssertionError(f"asked for {name}")

    monkeypatch.setattr("pellucid.naive_bayes.densities.find_family", refuse)
    monkeypatch.setattr("pellucid.naive_bayes.kinds.find_family", refuse)
    frame, y = table()
    frame = frame.drop("skewed")
    MixedNB({k: v for k, v in ALL.items() if k != "skewed"}).fit(frame, y).predict(frame)
    with pytest.raises(AssertionError, match="gamma"):
        MixedNB({"wait": "gamma"}).fit(frame, y)


# --- corners --------------------------------------------------------------------------------------


def test_zero_probabilities_are_named():
    X = pl.DataFrame({"c": ["a", "a", "b", "b"]})
    with pytest.warns(ZeroCountWarning, match="class 0 gives column 'c' = 'b' the probability 0"):
        model = MixedNB(alpha=0.0).fit(X, [0, 0, 1, 1])
    assert_allclose(model.predict_proba(X)[0], [1, 0])
    with pytest.warns(ZeroCountWarning, match="= 1 the probability 0: only zeros"):
        rare = MixedNB("poisson").fit([[0], [0], [1], [3]], [0, 0, 1, 1])
    assert_allclose(rare.predict_proba([[2]]), [[0, 1]])
    with pytest.warns(ZeroCountWarning, match=r"column 0 in \["):
        MixedNB("histogram", alpha=0.0).fit(np.arange(20.0)[:, None], np.arange(20) > 9)


def test_density_zero_everywhere_leaves_the_prior():
    model = MixedNB("exponential").fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    assert_allclose(model.predict_proba([[-1.0]])[0], [2 / 3, 1 / 3])
    assert model.score_samples([[-1.0]]) == -np.inf
    counts = MixedNB("poisson").fit([[1], [2], [3]], [0, 0, 1])
    assert_allclose(counts.predict_proba([[1.5]])[0], [2 / 3, 1 / 3])


def test_unseen_category_is_left_out_with_a_warning():
    model = MixedNB().fit(pl.DataFrame({"c": ["a", "b", "a"]}), [0, 0, 1])
    with pytest.warns(UserWarning, match="'z', which the fit never saw"):
        proba = model.predict_proba(pl.DataFrame({"c": ["z"]}))
    assert_allclose(proba[0], model.class_prior_)


@pytest.mark.parametrize("kind", ["gaussian", "poisson", "exponential"])
def test_a_column_unseen_in_a_class_stands_on_all(kind):
    X = np.array([[1.0, 3.0], [2.0, 5.0], [1.0, np.nan], [2.0, np.nan]])
    with pytest.warns(UnseenFeatureWarning, match="no value in class 1"):
        model = MixedNB({1: kind}).fit(X, [0, 0, 1, 1])
    parts = model.explain(X[:1])
    assert_allclose(parts[0, 0, 1], parts[0, 1, 1])
    X[:, 1] = np.nan
    with pytest.warns(UnseenFeatureWarning, match="no value at all"):
        model = MixedNB({1: kind}).fit(X, [0, 0, 1, 1])
    assert_array_equal(model.explain(np.ones((1, 2)))[0, :, 1], 0)


@pytest.mark.parametrize("kind", ["kde", "histogram", "gumbel_r"])
def test_kept_columns_unseen(kind):
    X = np.column_stack([np.arange(8.0), [1.0, 2.0, 4.0, 7.0, *[np.nan] * 4]])
    y = np.arange(8) // 4
    with pytest.warns(UnseenFeatureWarning, match="no value in class 1"):
        parts = MixedNB({1: kind}).fit(X, y).explain(X[:4])
    assert_allclose(parts[:, 0, 1], parts[:, 1, 1])
    X[:, 1] = np.nan
    with pytest.warns(UnseenFeatureWarning, match="no value at all"):
        model = MixedNB({1: kind}).fit(X, y)
    assert_array_equal(model.explain(np.ones((1, 2)))[0, :, 1], 0)


def test_point_masses_warn():
    labels = np.array(["a", "a", "b", "b"], dtype=object)
    with pytest.warns(ZeroVarianceWarning, match="constant in class 'a'"):
        model = MixedNB("kde").fit([[1.0], [1.0], [2.0], [3.0]], labels)
    assert np.isfinite(model.predict_log_proba([[1.0], [5.0]])).all()
    with pytest.warns(ZeroVarianceWarning, match="constant in class 0"):
        model = MixedNB("exponential").fit([[0.0], [0.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert_allclose(model.predict_proba([[0.0], [1.0]]), [[1, 0], [0, 1]], atol=1e-12)
    with pytest.warns(ZeroVarianceWarning):
        MixedNB(var_smoothing=0.0).fit([[1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_one_class_is_accepted():
    assert MixedNB().fit([[1.0], [2.0]], ["a", "a"]).predict([[5.0]]) == "a"


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"nobody": "kde"}, "names the column 'nobody'"),
        ({9: "kde"}, "names the column 9"),
        ({0: "kde", "a": "kde"}, "twice"),
        ({"a": "gausian"}, "did you mean 'gaussian'"),
        ({"a": "binom"}, "continuous family"),
        ({"a": 3}, "must be a word"),
        ({"text": "gaussian"}, "'text' is gaussian and needs numbers, got 'tall'"),
        ({"a": "bernoulli"}, "'a' is bernoulli and holds 0 and 1 only, got 0.5"),
        ({"a": "poisson"}, "whole numbers >= 0 only, got 0.5"),
        ({"minus": "exponential"}, "numbers >= 0 only, got -1"),
        (3, "distributions must be"),
    ],
)
def test_bad_kinds_are_refused(kinds, message):
    frame = pl.DataFrame({"a": [0.5, 1.0], "text": ["tall", "short"], "minus": [-1.0, 2.0]})
    with pytest.raises(ValueError, match=message):
        MixedNB(kinds).fit(frame, [0, 1])


def test_weights_of_families_are_whole():
    X = np.random.default_rng(0).random((30, 1)) + 0.1
    with pytest.raises(ValueError, match="whole numbers"):
        MixedNB("auto").set_params(distributions={0: "gamma"}).fit(
            X, np.arange(30) % 2, sample_weight=np.full(30, 0.5)
        )
