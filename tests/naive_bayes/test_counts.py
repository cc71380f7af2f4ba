"""BernoulliNB, MultinomialNB, ComplementNB: scikit-learn's numbers, laws, corners."""

import numpy as np
import polars as pl
import pytest
import sklearn.naive_bayes as peers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_array, csr_array, csr_matrix, random_array

import pellucid.naive_bayes as ours
from pellucid.data import blocks
from pellucid.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB, ZeroCountWarning

NAMES = ["BernoulliNB", "MultinomialNB", "ComplementNB"]
OUTPUTS = ("predict_proba", "predict_log_proba", "predict_joint_log_proba")
every = pytest.mark.parametrize("name", NAMES)


def counts(n=300, p=8, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.poisson(rng.gamma(1.0, 1.0, size=(3, p))[y]).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, np.array(["ant", "bee", "cat"])[y], rng.random(n)


# Oracle


@every
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 0.3, "fit_prior": False},
        {"class_prior": [0.2, 0.3, 0.5]},
        {"alpha": 1e-12, "force_alpha": False},
    ],
)
@pytest.mark.filterwarnings("ignore:alpha too small")
def test_equals_scikit_learn(name, options):
    X, y, w = counts()
    theirs = getattr(peers, name)(**options).fit(X, y, w)
    tiny = name == "BernoulliNB" and options.get("alpha", 1.0) < 1e-6
    rtol = 1e-5 if tiny else 1e-9  # theirs takes log(1 - exp(log theta)), which loses digits
    for matrix in (X, csr_matrix(X), csr_array(X), csc_array(X)):
        model = getattr(ours, name)(**options).fit(matrix, y, w)
        for attribute in ("feature_log_prob_", "feature_count_", "class_log_prior_"):
            assert_allclose(getattr(model, attribute), getattr(theirs, attribute), rtol=1e-12)
        for method in OUTPUTS:
            expected = getattr(theirs, method)(X)
            assert_allclose(getattr(model, method)(matrix), expected, rtol=rtol, atol=1e-12)
        assert_array_equal(model.predict(matrix), theirs.predict(X))


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_pseudo_counts_per_feature(name):
    X, y, _ = counts()
    alpha = np.linspace(0.1, 2.0, 8)
    theirs = getattr(peers, name)(alpha=alpha).fit(X, y)
    for given in (alpha, np.tile(alpha, (3, 1))):
        model = getattr(ours, name)(alpha=given).fit(X, y)
        assert_allclose(model.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-12)


def test_complement_norm_and_bernoulli_threshold():
    X, y, _ = counts()
    norm = peers.ComplementNB(norm=True).fit(X, y).predict_proba(X)
    assert_allclose(ComplementNB(norm=True).fit(X, y).predict_proba(X), norm)
    above = peers.BernoulliNB(binarize=1.0).fit(X, y).predict_proba(X)
    assert_allclose(BernoulliNB(binarize=1.0).fit(csr_array(X), y).predict_proba(X), above)
    marks = (X > 1).astype(float)
    assert_allclose(BernoulliNB(binarize=None).fit(marks, y).predict_proba(marks), above)


def test_bernoulli_pseudo_counts_per_class_and_feature():
    X, y, _ = counts()
    alpha = np.random.default_rng(1).random((3, 8))
    model = BernoulliNB(alpha=alpha).fit(X, y)
    for k, label in enumerate(["ant", "bee", "cat"]):
        rows = X[y == label] > 0
        theta = (rows.sum(axis=0) + alpha[k]) / (len(rows) + 2 * alpha[k])
        assert_allclose(np.exp(model.feature_log_prob_[k]), theta)


def test_bernoulli_posterior_by_brute_force():
    X, y, _ = counts(missing=0.2)
    model = BernoulliNB().fit(X, y)
    joint = np.empty((len(X), 3))
    for k, label in enumerate(model.classes_):
        rows = X[y == label]
        seen = ~np.isnan(rows)
        theta = ((rows > 0).sum(axis=0) + 1) / (seen.sum(axis=0) + 2)
        factor = np.where(X > 0, theta, 1 - theta)
        factor[np.isnan(X)] = 1.0
        joint[:, k] = len(rows) / len(X) * factor.prod(axis=1)
    assert_allclose(model.predict_proba(X), joint / joint.sum(axis=1, keepdims=True))
    assert_allclose(model.score_samples(X), np.log(joint.sum(axis=1)))


# Laws


@every
def test_missing_cells_sparse_and_dense_agree(name):
    X, y, w = counts(missing=0.2)
    dense = getattr(ours, name)().fit(X, y, w)
    sparse = getattr(ours, name)().fit(csr_array(X), y, w)
    assert_allclose(dense.feature_log_prob_, sparse.feature_log_prob_, rtol=1e-12)
    assert_allclose(dense.predict_proba(X), sparse.predict_proba(csr_array(X)))
    blank = np.full((1, 8), np.nan)
    prior = np.full(3, 1 / 3) if name == "ComplementNB" else dense.class_prior_
    assert_allclose(dense.predict_proba(blank)[0], prior)


@every
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_explain_sums_to_the_joint(name, missing):
    X, y, _ = counts(missing=missing)
    model = getattr(ours, name)().fit(X, y)
    prior = 0.0 if name == "ComplementNB" else model.class_log_prior_
    parts = model.explain(X)
    assert parts.shape == (len(X), 3, 8)
    assert_allclose(parts.sum(axis=2) + prior, model.predict_joint_log_proba(X))
    assert_allclose(model.explain(csr_array(X)), parts)


@every
def test_partial_fit_is_exact(name):
    X, y, _ = counts(missing=0.1)
    whole = getattr(ours, name)().fit(X, y)
    parts = getattr(ours, name)()
    for start in range(0, len(X), 70):
        rows = slice(start, start + 70)
        matrix = X[rows] if start % 140 else csr_array(X[rows])
        parts.partial_fit(matrix, y[rows], classes=np.unique(y))
    assert_array_equal(parts.feature_log_prob_, whole.feature_log_prob_)
    assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


@every
def test_blocks(name):
    X, y, _ = counts(9000)
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(8)]).with_columns(y=pl.Series(y))
    parts = getattr(ours, name)().fit_blocks(blocks(frame, target="y", block_rows=1000))
    whole = getattr(ours, name)().fit(X, y)
    assert_array_equal(parts.feature_log_prob_, whole.feature_log_prob_)


@every
def test_recovers_its_own_sample(name):
    X, y, _ = counts()
    truth = getattr(ours, name)().fit(X, y)
    Z, labels = truth.sample(60_000, random_state=0)
    again = getattr(ours, name)().fit(Z, labels)
    assert_allclose(np.exp(again.class_log_prior_), np.exp(truth.class_log_prior_), atol=0.01)
    if name != "ComplementNB":
        expected = np.exp(truth.feature_log_prob_)
        assert_allclose(np.exp(again.feature_log_prob_), expected, atol=0.01)
    assert (again.predict(X) == truth.predict(X)).mean() > 0.98


# Zero probabilities


def test_zero_is_named_and_the_prior_decides():
    X, y = np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0]]), [0, 0, 1]
    for matrix in (X, csr_array(X)):
        with pytest.warns(ZeroCountWarning, match=r"class 0 gives column 1 > 0"):
            model = MultinomialNB(alpha=0).fit(matrix, y)
        rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
        query = rows if matrix is X else csr_array(rows)
        assert_allclose(
            model.predict_proba(query), [[1, 0], [0, 1], [2 / 3, 1 / 3], [2 / 3, 1 / 3]]
        )
        assert_array_equal(model.predict(query), [0, 1, 0, 0])
        assert not np.isnan(model.predict_log_proba(query)).any()


@pytest.mark.parametrize("sparse", [False, True])
def test_bernoulli_zeros(sparse):
    X, y = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), ["a", "a", "b"]
    form = csr_array if sparse else np.asarray
    with pytest.warns(ZeroCountWarning, match=r"class 'b' gives column 0 = 1"):
        model = BernoulliNB(alpha=0).fit(form(X), y)
    query = form(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [np.nan, 1.0]]))
    expected = [[1, 0], [0, 1], [2 / 3, 1 / 3], [0.5, 0.5]]
    assert_allclose(model.predict_proba(query), expected)
    assert not np.isnan(model.explain(query)).any()


def test_complement_zeros_stay_finite():
    with pytest.warns(ZeroCountWarning, match="in the other classes"):
        model = ComplementNB(alpha=0).fit([[1, 0], [0, 1]], [0, 1])
    assert np.isfinite(model.predict_log_proba([[1, 1], [0, 0]])).all()
    assert_array_equal(model.predict([[1, 0], [0, 1]]), [0, 1])


# Corners


@every
def test_one_class_and_a_class_not_seen_yet(name):
    model = getattr(ours, name)().fit([[1.0, 2.0]], ["only"])
    assert_array_equal(model.predict_proba([[3.0, 0.0]]), [[1.0]])
    model = getattr(ours, name)().partial_fit([[1.0, 2.0], [0.0, 1.0]], [0, 1], classes=[0, 1, 2])
    assert np.isfinite(model.feature_log_prob_).all()
    assert not np.isnan(model.predict_proba([[1.0, 1.0]])).any()


@every
@pytest.mark.parametrize("sparse", [False, True])
def test_infinite_cells_are_refused(name, sparse):
    X, y, _ = counts()
    model = getattr(ours, name)().fit(X, y)
    X[7, 2] = np.inf
    matrix = csr_array(X) if sparse else X
    for call in (lambda: getattr(ours, name)().fit(matrix, y), lambda: model.predict(matrix)):
        with pytest.raises(ValueError, match="infinity" if sparse else "column 2, row 7"):
            call()


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_negative_counts_are_refused(name, form):
    with pytest.raises(ValueError, match=r"Negative values in data.*column 1 holds one"):
        getattr(ours, name)().fit(form([[1.0, -1.0], [2.0, 3.0]]), [0, 1])


@every
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": -1}, "alpha must be >= 0"),
        ({"alpha": "much"}, "alpha must be a number"),
        ({"alpha": [1.0, 2.0]}, "shape must be"),
        ({"alpha": np.full(8, -1.0)}, "All values in alpha must be greater than 0 or equal"),
        ({"class_prior": [1.0]}, "Number of priors must match number of classes: 3 needed"),
        ({"class_prior": [1.0, -1.0, 1.0]}, "class_prior must hold numbers >= 0"),
        ({"class_prior": [0.0, 0.0, 0.0]}, "at least one must be positive"),
        ({"fit_prior": "yes"}, "fit_prior must be True or False"),
        ({"force_alpha": 2}, "force_alpha must be True or False"),
    ],
)
def test_bad_parameters(name, options, message):
    X, y, _ = counts()
    with pytest.raises(ValueError, match=message):
        getattr(ours, name)(**options).fit(X, y)


def test_marks_must_be_marks():
    with pytest.raises(ValueError, match="binarize=None needs an X of 0 and 1 only, got"):
        BernoulliNB(binarize=None).fit([[0.5], [1.0]], [0, 1])


@every
def test_a_large_sparse_matrix_is_never_dense(name):
    """20,000 x 50,000: 8 GB if it were dense."""
    rng = np.random.default_rng(0)
    X = random_array((20_000, 50_000), density=0.0005, format="csr", rng=rng)
    X.data[:] = np.ceil(3 * X.data)
    y = rng.integers(2, size=20_000)
    model = getattr(ours, name)().fit(X, y)
    theirs = getattr(peers, name)().fit(X, y)
    assert_allclose(model.predict_proba(X[:100]), theirs.predict_proba(X[:100]), rtol=1e-8)
    assert len(model.predict(X)) == 20_000
