"""GaussianMixture: the catalogue's examples, scikit-learn as oracle, and the laws of EM."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixture_tables import TEN, three_groups
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Peer

import pellucid
from pellucid import GaussianMixture, KMeans
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.mixture import MixtureStart
from pellucid.mixture.gaussian.gaussians import STRUCTURES, full_covariances, shape_of

SIX = np.array([[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]])


def quiet(model, X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **options)


# --- examples of the catalogue -------------------------------------------------------------


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_example_10(kind):
    ones = np.ones(shape_of(kind, 2, 1))
    start = MixtureStart(means=[[4.0], [6.0]], covariances=ones)
    options = {"covariance_type": kind, "reg_covar": 0, "tol": 0, "init_params": start}
    one = GaussianMixture(2, max_iter=1, **options).fit(TEN[:, None])
    assert_allclose(one.means_.ravel(), [0.4568777645, 9.1419277498], atol=1e-9)
    assert_allclose(one.covariances_.ravel(), [0.2545117672, 0.2772551622], atol=1e-9)
    assert_allclose(one.weights_, [0.4002058, 0.5997942], atol=1e-7)
    many = GaussianMixture(2, max_iter=100, **options).fit(TEN[:, None])
    assert_allclose(many.means_.ravel(), [0.451425, 9.1425833333], atol=1e-9)
    assert_allclose(many.covariances_.ravel(), [0.2097942319, 0.2697733347], atol=1e-9)
    assert_allclose(many.weights_, [0.4, 0.6], atol=1e-9)
    values = many.history_["log_likelihood"]
    assert_allclose(values[:3], [-72.158648, -13.902119, -13.865726], atol=1e-6)
    assert_array_equal(many.history_["before"][1:], values[:-1])


def test_example_11():
    model = GaussianMixture.from_parameters([0.7, 0.3], [[0.0], [6.0]], [[[1.0]], [[4.0]]])
    assert_allclose(model.predict_proba([[2.0]]), [[14 / 17, 3 / 17]], atol=1e-12)
    assert_allclose(np.exp(model.score_samples([[2.0]])), 0.0458923215, atol=1e-10)
    gradient = model.gradient([[2.0]])
    assert_allclose(gradient.means.ravel(), [1.6470588235, -0.1764705882], atol=1e-10)
    assert_allclose(gradient.covariances.ravel(), [1.2352941176, 0.0661764706], atol=1e-10)
    assert_allclose(gradient.weights, [14 / 17 / 0.7, 3 / 17 / 0.3], atol=1e-10)


def test_example_12():
    start = MixtureStart([0.5, 0.5], [[1.0], [2.0]], np.array(1.0), ("weights", "covariances"))
    options = {"covariance_type": "tied_spherical", "tol": 0, "init_params": start}
    first = GaussianMixture.from_parameters(
        [0.5, 0.5], [[1.0], [2.0]], 1.0, covariance_type="tied_spherical"
    )
    assert_allclose(first.predict_proba(SIX)[0], [0.6224593, 0.3775407], atol=1e-7)
    means = ((1.6301295091, 7.6956460836), (1.999986118, 10.9998886558), (2, 11))
    for rounds, expected in enumerate(means, start=1):
        model = GaussianMixture(2, max_iter=rounds, **options).fit(SIX)
        assert_allclose(model.means_.ravel(), expected, atol=1e-9 if rounds < 3 else 1e-4)
        assert_array_equal(model.weights_, [0.5, 0.5])
        assert model.covariances_ == 1.0
    values = model.history_["log_likelihood"][:3]
    assert_allclose(values, [-131.522641, -28.255811, -11.672514], atol=1e-6)


def test_example_13():
    for eps, expected in ((1.0, [0.5491469396, 0.4508530604]), (0.1, [1.86e-8, 1.0])):
        model = GaussianMixture.from_parameters(
            [0.9, 0.1], [[0.0], [4.0]], eps, covariance_type="tied_spherical"
        )
        assert_allclose(model.predict_proba([[2.5]])[0], expected, atol=1e-9, rtol=2e-3 if eps < 1
                        else 1e-9)  # fmt: skip
    model = GaussianMixture.from_parameters([0.3, 0.7], [[0.0], [3.0]], np.ones((2, 1, 1)))
    X = [[0.5], [2.0], [3.1]]
    half = np.full((3, 2), 0.5)
    assert_allclose(model.evidence_lower_bound(X, half), -8.2983456803, atol=1e-9)
    assert_allclose(model.log_likelihood(X), -5.0993874412, atol=1e-9)
    assert_allclose(
        model.evidence_lower_bound(X, model.predict_proba(X)), model.log_likelihood(X), rtol=1e-14
    )


def test_example_14():
    X = three_groups()
    values, criteria = [], []
    for k in (1, 2, 3, 4):
        model = quiet(
            GaussianMixture(k, n_init=20, tol=1e-9, max_iter=500, reg_covar=0, random_state=0), X
        )
        values.append(model.log_likelihood(X))
        criteria.append(model.bic(X))
    assert_allclose(values[:3], [-898.7749, -676.9155, -586.0792], atol=1e-3)
    assert values[3] >= -580.13  # a better local maximum is welcome
    assert_allclose(criteria[:3], [1826.069, 1416.573, 1269.123], atol=2e-3)
    assert int(np.argmin(criteria)) == 2


# --- oracle --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("p", [1, 3, 9, 26])
def test_scikit_learn_takes_the_same_steps(kind, p):
    rng = np.random.default_rng(p)
    X = rng.normal(size=(300, p)) + 3 * rng.integers(3, size=(300, 1)) + 5
    k, w = 4, np.array([0.1, 0.2, 0.3, 0.4])
    means = X[:k]
    A = rng.normal(size=(k, p, p))
    S = A @ A.transpose(0, 2, 1) + np.eye(p)
    cov = {
        "full": S, "tied": S[0], "diag": np.diagonal(S, axis1=1, axis2=2), "spherical": S[:, 0, 0]
    }[kind]  # fmt: skip
    precision = np.linalg.inv(cov) if kind in ("full", "tied") else 1 / cov
    options = {"covariance_type": kind, "max_iter": 7, "tol": 0.0, "random_state": 0}
    options |= {"weights_init": w, "means_init": means, "precisions_init": precision}
    ours, theirs = quiet(GaussianMixture(k, **options), X), quiet(Peer(k, **options), X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-7)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert_allclose([ours.aic(X), ours.bic(X)], [theirs.aic(X), theirs.bic(X)], rtol=1e-8)
    assert ours.n_parameters_ == theirs._n_parameters()


@pytest.mark.parametrize("kind", STRUCTURES)
def test_a_tied_structure_is_the_full_one_written_out(kind):
    """Densities of every structure equal those of its (k, p, p) covariances."""
    X = three_groups()
    model = quiet(GaussianMixture(3, covariance_type=kind, random_state=0), X)
    assert model.covariances_.shape == shape_of(kind, 3, 2)
    S = full_covariances(model.covariances_, kind, 3, 2)
    full = GaussianMixture.from_parameters(model.weights_, model.means_, S)
    assert_allclose(full.score_samples(X), model.score_samples(X), rtol=1e-10)
    d = np.random.default_rng(0).normal(size=(3, 2)) * 1e-6
    moved = GaussianMixture.from_parameters(model.weights_, model.means_ + d, S)
    back = GaussianMixture.from_parameters(model.weights_, model.means_ - d, S)
    slope = (moved.log_likelihood(X[:40]) - back.log_likelihood(X[:40])) / 2
    assert_allclose((full.gradient(X[:40]).means * d).sum(), slope, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("kind", STRUCTURES)
def test_the_gradient_is_zero_at_the_maximum(kind):
    X = three_groups()
    model = quiet(
        GaussianMixture(
            3, covariance_type=kind, reg_covar=0, tol=1e-14, max_iter=2000, random_state=0
        ),
        X,
    )
    gradient = model.gradient(X)
    assert_allclose(gradient.means, 0, atol=1e-3)
    assert_allclose(gradient.weights, len(X), rtol=1e-6)  # the multiplier of sum pi = 1
    if kind == "full":
        assert_allclose(gradient.covariances, 0, atol=1e-2)


# --- laws ----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    p=st.integers(1, 5),
    k=st.integers(1, 8),
    kind=st.sampled_from(STRUCTURES),
    init=st.sampled_from(["kmeans", "k-means++", "random", "random_from_data"]),
    rounding=st.booleans(),
    weighted=st.booleans(),
)
def test_em_never_falls_and_stays_finite(seed, n, p, k, kind, init, rounding, weighted):
    """Also with duplicate rows, weights of zero, k near n and fewer rows than columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10 ** rng.uniform(-3, 3) + 10 ** rng.uniform(-2, 4)
    X = np.round(X) if rounding else X
    w = rng.integers(0, 3, size=n) + np.eye(n)[0] if weighted else None
    model = GaussianMixture(
        min(k, n), covariance_type=kind, reg_covar=0, tol=0, max_iter=15, init_params=init,
        random_state=seed,
    )  # fmt: skip
    try:
        quiet(model, X, sample_weight=w)
    except ValueError as error:  # no start has an inverse covariance: it says so
        assert "collapsed" in str(error)  # noqa: PT017
        model.set_params(reg_covar=1e-3 * max(X.var(), 1e-300) + 1e-12)
        quiet(model, X, sample_weight=w)
    else:
        values = model.history_["log_likelihood"]
        assert (np.diff(values) >= -1e-7 * np.maximum(1, np.abs(values[1:]))).all()
    for name in ("weights_", "means_", "covariances_", "precisions_"):
        assert np.isfinite(getattr(model, name)).all()
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert_allclose(model.weights_.sum(), 1)


@pytest.mark.parametrize("kind", STRUCTURES)
def test_bound_touches_the_likelihood_and_lies_below(kind):
    X = three_groups()
    model = quiet(GaussianMixture(3, covariance_type=kind, max_iter=2, random_state=1), X)
    R = model.predict_proba(X)
    total = model.log_likelihood(X)
    assert_allclose(model.evidence_lower_bound(X, R), total, rtol=1e-12)
    assert_allclose(model.history_["log_likelihood"][-1], total, rtol=1e-12)
    assert_allclose(model.lower_bound_ * len(X), total, rtol=1e-12)
    other = 0.9 * R + 0.1 / 3
    assert model.evidence_lower_bound(X, other) < total


def test_small_spheres_are_kmeans():
    """With S = e I fixed and e -> 0, EM is Lloyd's algorithm."""
    X = three_groups()
    start = X[[0, 100, 200]]
    known = MixtureStart([0.8, 0.1, 0.1], start, np.array(1e-7), ("covariances",))
    soft = quiet(
        GaussianMixture(
            3, covariance_type="tied_spherical", reg_covar=0, tol=0, max_iter=30, init_params=known
        ),
        X,
    )
    hard = KMeans(3, init=start, n_init=1, stop="labels").fit(X)
    assert_array_equal(soft.predict(X), hard.labels_)
    assert_allclose(soft.means_, hard.cluster_centers_, atol=1e-9)


@pytest.mark.parametrize("kind", STRUCTURES)
def test_weights_are_repetitions_and_rows_have_no_order(kind):
    X = three_groups()[::3]
    w = np.random.default_rng(0).integers(0, 4, size=len(X))
    start = MixtureStart(means=X[[0, 40, 90]])
    model = GaussianMixture(3, covariance_type=kind, init_params=start, tol=0, max_iter=9)
    a = clone(model).fit(X, sample_weight=w)
    b = clone(model).fit(np.repeat(X, w, axis=0)[::-1])
    assert_allclose(a.means_, b.means_, rtol=1e-9)
    assert_allclose(a.covariances_, b.covariances_, rtol=1e-8)


def test_blocks_and_threads_with_groups():
    X = np.tile(three_groups(), (40, 1)) + np.random.default_rng(0).normal(size=(12000, 2)) * 0.1
    assert len(X) > 2 * LEAF_ROWS
    frame = pl.DataFrame(X, schema=["a", "b"])
    models = [
        GaussianMixture(3, random_state=0).fit_blocks(pellucid.data.blocks(frame, block_rows=rows))
        for rows in (3_000, 9_000)
    ]
    assert_array_equal(models[0].means_, models[1].means_)
    assert_array_equal(models[0].covariances_, models[1].covariances_)
    whole = GaussianMixture(3, random_state=0).fit(frame)
    assert_allclose(models[0].score(frame), whole.score(frame), rtol=1e-9)
    with pytest.raises(ValueError, match="'random' draws a number for every row"):
        GaussianMixture(3, init_params="random").fit_blocks(pellucid.data.blocks(frame))


# --- recovery ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STRUCTURES)
def test_recovers_what_it_samples(kind):
    means = np.array([[0.0, 0.0], [6.0, 1.0], [-2.0, 7.0]])
    C = {
        "full": [[[1, 0.5], [0.5, 1]], [[2, 0], [0, 0.5]], [[1, -0.8], [-0.8, 1]]],
        "tied": [[1, 0.5], [0.5, 2]], "diag": [[1, 2], [2, 0.5], [1, 1]], "tied_diag": [1, 2],
        "spherical": [1, 2, 0.5], "tied_spherical": 1.5,
    }[kind]  # fmt: skip
    truth = GaussianMixture.from_parameters([0.5, 0.3, 0.2], means, C, covariance_type=kind)
    X, z = truth.sample(6000, random_state=0)
    assert X.shape == (6000, 2)
    model = GaussianMixture(3, covariance_type=kind, random_state=0, n_init=3).fit(X)
    order = [int(np.argmin(((model.means_ - m) ** 2).sum(axis=1))) for m in means]
    assert sorted(order) == [0, 1, 2]
    assert_allclose(model.means_[order], means, atol=0.15)
    assert_allclose(model.weights_[order], truth.weights_, atol=0.02)
    full = full_covariances(model.covariances_, kind, 3, 2)[order]
    assert_allclose(full, full_covariances(truth.covariances_, kind, 3, 2), atol=0.2)
    assert np.mean(np.array(order)[z] == model.predict(X)) > 0.97


def test_far_from_zero_nothing_cancels():
    """A million standard deviations from the origin the covariance keeps its digits."""
    X = three_groups()
    far = X + np.array([1e6, -1e6])
    options = {"reg_covar": 0, "tol": 0, "max_iter": 10}
    a = GaussianMixture(3, init_params=MixtureStart(means=X[[0, 100, 200]]), **options).fit(X)
    b = GaussianMixture(3, init_params=MixtureStart(means=far[[0, 100, 200]]), **options).fit(far)
    assert_allclose(a.covariances_, b.covariances_, rtol=1e-7)


# --- bad and degenerate input --------------------------------------------------------------


def test_collapse_stops_the_run_and_names_the_component():
    X = np.vstack([np.zeros((5, 1)), np.random.default_rng(0).normal(5, 1, (40, 1))])
    with pytest.warns(ConvergenceWarning, match=r"component \d has collapsed"):
        model = GaussianMixture(
            2, reg_covar=0, tol=0, max_iter=50, init_params=MixtureStart(means=[[0.0], [5.0]])
        ).fit(X)
    assert np.isfinite(model.score(X))
    assert model.covariances_.min() > 0
    with pytest.raises(ValueError, match="raise reg_covar"):
        GaussianMixture(1, reg_covar=0).fit(np.ones((6, 2)))


def degenerate_tables():
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(30, 2))
    return {
        "one point": np.ones((8, 2)),
        "a repeated point": np.vstack([cloud, np.full((20, 2), 9.0)]),
        "k too large": np.repeat(rng.normal(size=(3, 2)), 4, axis=0),
        "n < p": rng.normal(size=(4, 9)),
        "constant column": np.column_stack([rng.normal(size=12), np.full(12, 3.0)]),
    }


def flat(kind, case):
    """Whether a component has no width of its own: a mean of variances, or of groups, may have."""
    if case in ("one point", "k too large"):
        return True
    if case == "a repeated point":
        return not kind.startswith("tied")
    if case == "constant column":
        return not kind.endswith("spherical")
    return True  # 4 rows, 4 components: points


@pytest.mark.parametrize("case", degenerate_tables())
@pytest.mark.parametrize("kind", STRUCTURES)
def test_degenerate_tables_survive_and_are_said(kind, case):
    """Every collapse, every structure: finite numbers, and a warning where a variance is none."""
    X = degenerate_tables()[case]
    k = 2 if case in ("a repeated point", "constant column") else 4
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = GaussianMixture(k, covariance_type=kind, random_state=0).fit(X)
    words = " ".join(str(w.message) for w in said if w.category is ConvergenceWarning)
    assert ("collapsed" in words or "explain no row" in words) == flat(kind, case), words
    assert np.isfinite(model.score_samples(X)).all()
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    for name in ("weights_", "means_", "covariances_", "precisions_"):
        assert np.isfinite(getattr(model, name)).all()
    if case == "one point":
        assert "explain no row" in words


def test_no_convergence_is_said():
    with pytest.warns(ConvergenceWarning, match="max_iter=1 rounds"):
        GaussianMixture(3, max_iter=1, random_state=0, tol=1e-9).fit(three_groups())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.6], [[0.0], [1.0]], [[[1.0]], [[1.0]]]), "sum to 1"),
        (([1.5, -0.5], [[0.0], [1.0]], [[[1.0]], [[1.0]]]), ">= 0"),
        (([0.5, 0.5], [[0.0], [1.0]], [[[1.0]], [[-1.0]]]), "positive definite.*component 1"),
        (([0.5, 0.5], [[0.0], [1.0]], [1.0, 1.0]), "shape"),
        (([1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.0, 1.0]]]), "symmetric"),
        (([1.0], [0.0], [[[1.0]]]), "means must have shape"),
    ],
)
def test_impossible_parameters_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture.from_parameters(*arguments)


def test_other_bad_input():
    with pytest.raises(ValueError, match="n_components=7"):
        GaussianMixture(7).fit(SIX)
    with pytest.raises(ValueError, match="fixed must be one of"):
        GaussianMixture(1, init_params=MixtureStart(fixed=("mean",))).fit(SIX)
    model = GaussianMixture(2, random_state=0).fit(SIX)
    with pytest.raises(ValueError, match="responsibilities must have shape"):
        model.evidence_lower_bound(SIX, [[1.0]])
    with pytest.raises(ValueError, match="sum to 1"):
        model.evidence_lower_bound(SIX, np.ones((6, 2)))


def test_warm_start_goes_on():
    X = three_groups()
    long = GaussianMixture(3, tol=0, max_iter=6, random_state=0).fit(X)
    short = GaussianMixture(3, tol=0, max_iter=3, random_state=0, warm_start=True).fit(X).fit(X)
    assert_allclose(short.means_, long.means_, rtol=1e-12)


def test_a_part_may_be_held():
    X = three_groups()
    start = MixtureStart(means=[[1.0, 1.0], [3.0, 2.0], [2.0, 4.0]], fixed=("means",))
    model = GaussianMixture(3, init_params=start, reg_covar=0).fit(X)
    assert_array_equal(model.means_, start.means)
    assert (np.diff(model.history_["log_likelihood"]) >= 0).all()
    D = X - model.means_[0]
    r = model.predict_proba(X)[:, 0]
    assert_allclose(model.covariances_[0], (D.T * r) @ D / r.sum(), rtol=0.05)
    assert "means held fixed" in str(model.card())


@pytest.mark.parametrize("covariance", ["full", "tied", "diag", "spherical"])
def test_the_answer_does_not_depend_on_where_arrays_lie(covariance):
    """The same rows at other addresses, with other arrays between: the same bits."""
    rows = np.random.default_rng(1).normal(size=(200, 3))
    model = GaussianMixture(2, covariance_type=covariance, random_state=0, max_iter=3)
    kept, found = [], set()
    for i in range(120):
        X = np.empty(608)[i % 8 : i % 8 + 600].reshape(200, 3)
        X[:] = rows
        kept.append(np.empty(np.random.default_rng(i).integers(1, 3000)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X if i % 2 else X.copy())
        found.add(tuple(np.asarray(model.lower_bounds_).tolist()))
    assert len(found) == 1
