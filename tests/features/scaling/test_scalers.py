"""StandardScaler, UnitNormScaler, MinMaxScaler, RobustScaler, Normalizer, add_dummy_feature."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.preprocessing as peer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.features import (
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
    UnitNormScaler,
    add_dummy_feature,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(LEAF_ROWS + 77, 5)) * [1, 1e-3, 1e3, 1, 1] + [0, 1, 1e5, -3, 100]
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
OPTIONS = [
    {},
    {"with_mean": False},
    {"with_std": False},
    {"with_mean": False, "with_std": False},
]


def compare(ours, theirs, A, B, rtol=1e-9):
    """Same attributes, same transform, same way back."""
    for name, value in vars(theirs).items():
        if name.endswith("_") and not name.startswith("_") and value is not None:
            assert_allclose(getattr(ours, name), value, rtol=rtol, atol=1e-12, err_msg=name)
    assert_allclose(ours.transform(B), theirs.transform(B), rtol=rtol, atol=1e-7)
    back = ours.inverse_transform(ours.transform(B))
    assert_allclose(back, B, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("A", [X, HOLES], ids=["whole", "missing"])
@pytest.mark.parametrize("options", OPTIONS)
def test_standard_scaler_oracle(options, A):
    B = A[:500]
    compare(StandardScaler(**options).fit(A), peer.StandardScaler(**options).fit(A), A, B)


@pytest.mark.parametrize("A", [X, HOLES], ids=["whole", "missing"])
@pytest.mark.parametrize("options", [{}, {"feature_range": (-2, 3)}])
def test_minmax_scaler_oracle(options, A):
    compare(MinMaxScaler(**options).fit(A), peer.MinMaxScaler(**options).fit(A), A, A[:500])


def test_minmax_scaler_clips():
    ours = MinMaxScaler(clip=True).fit(X[:100]).transform(X)
    theirs = peer.MinMaxScaler(clip=True).fit(X[:100]).transform(X)
    assert_allclose(ours, theirs, atol=1e-9)
    assert ours.min() == 0
    assert ours.max() == 1


@pytest.mark.parametrize("A", [X, HOLES], ids=["whole", "missing"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"with_centering": False},
        {"with_scaling": False},
        {"quantile_range": (10.0, 80.0), "unit_variance": True},
    ],
)
def test_robust_scaler_oracle(options, A):
    compare(RobustScaler(**options).fit(A), peer.RobustScaler(**options).fit(A), A, A[:500])


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_normalizer_oracle(norm):
    A = X - X.mean(axis=0)
    A[3] = 0
    expected = peer.Normalizer(norm).fit_transform(A)
    assert_allclose(Normalizer(norm).fit_transform(A), expected, rtol=1e-14)
    S = sp.random(50, 8, 0.3, format="csr", random_state=0)
    ours, theirs = Normalizer(norm).fit_transform(S), peer.Normalizer(norm).fit_transform(S)
    assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-14)


def test_normalizer_holds_where_squares_leave_the_range():
    A = np.array([[3e200, 4e200], [3e-200, 4e-200], [3.0, 4.0]])
    assert_allclose(Normalizer().fit_transform(A), np.tile([0.6, 0.8], (3, 1)), rtol=1e-15)


def test_normalizer_needs_no_fit():
    assert_allclose(Normalizer().transform([[3.0, 4.0]]), [[0.6, 0.8]])


@pytest.mark.parametrize("cls", [StandardScaler, RobustScaler])
def test_sparse_is_scaled_and_stays_sparse(cls):
    S = sp.random(400, 6, 0.6, format="csr", random_state=1)
    option = {"with_mean": False} if cls is StandardScaler else {"with_centering": False}
    ours = cls(**option).fit(S)
    theirs = getattr(peer, cls.__name__)(**option).fit(S)
    assert sp.issparse(ours.transform(S))
    assert_allclose(ours.transform(S).toarray(), theirs.transform(S).toarray(), rtol=1e-12)
    assert_allclose(ours.inverse_transform(ours.transform(S)).toarray(), S.toarray(), rtol=1e-12)
    assert_allclose(ours.fit(S.toarray()).scale_, theirs.scale_, rtol=1e-12)
    with pytest.raises(ValueError, match="False"):
        cls().fit(S)


def test_sparse_moments_with_weights_and_missing_cells():
    S = sp.random(300, 4, 0.5, format="csr", random_state=2)
    S.data[::7] = np.nan
    w = rng.integers(0, 4, size=300).astype(float)
    ours = StandardScaler(with_mean=False).fit(S, sample_weight=w)
    dense = StandardScaler(with_mean=False).fit(S.toarray(), sample_weight=w)
    assert_allclose(ours.mean_, dense.mean_, rtol=1e-12)
    assert_allclose(ours.var_, dense.var_, rtol=1e-12)
    assert_array_equal(ours.n_samples_seen_, dense.n_samples_seen_)


@pytest.mark.parametrize("value", [0.1, 1e-10, 1e10])
@pytest.mark.parametrize("n", [100, LEAF_ROWS + 77])
def test_a_sparse_column_that_does_not_vary_is_not_divided(value, n):
    """Whatever the weights: the sums of the weights of stored and of all cells differ in digits."""
    S, w = sp.csr_array(np.full((n, 1), value)), rng.random(n)
    for weight in (None, w):
        with pytest.warns(UserWarning, match="constant"):
            model = StandardScaler(with_mean=False).fit(S, sample_weight=weight)
        assert model.var_[0] == 0
        assert model.scale_[0] == 1
        assert model.mean_[0] == value


def test_batches_report_to_callbacks():
    class Recorder:
        def __init__(self):
            self.seen = []

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            self.seen.append(fitted_estimator.transform(X[:5]))

        def teardown(self, estimator, context):
            pass

    recorder = Recorder()
    model = StandardScaler().set_callbacks(recorder).partial_fit(X[:50])
    assert_array_equal(recorder.seen, [model.transform(X[:5])])


def test_ddof_is_that_of_numpy():
    model = StandardScaler(ddof=1).fit(X)
    assert_allclose(model.var_, X.var(axis=0, ddof=1), rtol=1e-12)
    assert_allclose(model.transform(X).std(axis=0, ddof=1), 1, rtol=1e-9)
    with pytest.raises(ValueError, match="ddof"):
        StandardScaler(ddof=5).fit([[1.0], [2.0]])


@pytest.mark.parametrize("cls", [StandardScaler, UnitNormScaler, MinMaxScaler])
@pytest.mark.parametrize("A", [X, HOLES], ids=["whole", "missing"])
def test_batches_are_one_fit(cls, A):
    """partial_fit over uneven batches has the statistics of one fit (Chan's merge)."""
    whole, parts = cls().fit(A), cls()
    for start, stop in ((0, 1), (1, 700), (700, len(A))):
        parts = partial_fit_quietly(parts, A[start:stop])
    for name in ("mean_", "var_", "scale_", "min_", "data_max_", "n_samples_seen_"):
        if hasattr(whole, name):
            assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-11, err_msg=name)
    assert_array_equal(parts.fit(A).transform(A), whole.transform(A))  # fit starts afresh


def partial_fit_quietly(model, batch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the first row alone is constant
        return model.partial_fit(batch)


def test_partial_fit_of_random_batches_against_scikit_learn():
    ours, theirs = StandardScaler(), peer.StandardScaler()
    for batch in np.array_split(HOLES, 9):
        ours.partial_fit(batch)
        theirs.partial_fit(batch)
    assert_allclose(ours.mean_, theirs.mean_, rtol=1e-12)
    assert_allclose(ours.scale_, theirs.scale_, rtol=1e-7)  # theirs loses digits far from 0
    assert_allclose(ours.scale_, np.nanstd(HOLES, axis=0), rtol=1e-12)


def test_example_19_unit_norm():
    out = UnitNormScaler().fit_transform([[1.0], [2.0], [3.0]]).ravel()
    assert_allclose(out, [-0.70710678, 0, 0.70710678], atol=1e-8)


def test_unit_norm_gives_correlations():
    Z = UnitNormScaler().fit_transform(X)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(Z.T @ Z, np.corrcoef(X.T), atol=1e-9)
    back = UnitNormScaler().fit(X)
    assert_allclose(back.inverse_transform(back.transform(X)), X, rtol=1e-12)


def test_rescaling_does_not_change_what_follows():
    """Affine equivariance: standardised columns do not know their units."""
    a, b = np.array([2.0, -3.0, 0.1, 5.0, 1.0]), np.array([1.0, 0.0, 2.0, 3.0, 4.0])
    left = StandardScaler().fit_transform(X[:, :4])
    right = StandardScaler().fit_transform(X[:, :4] * a[:4] + b[:4])
    assert_allclose(left * np.sign(a[:4]), right, atol=1e-7)


@pytest.mark.parametrize("cls", [StandardScaler, UnitNormScaler, MinMaxScaler, RobustScaler])
def test_constant_columns_warn_and_do_not_divide(cls):
    A = np.column_stack([np.full(10, 0.1), np.arange(10.0)])
    with pytest.warns(UserWarning, match=r"'x0'"):
        model = cls().fit(A)
    assert model.scale_[0] == 1
    assert np.isfinite(model.transform(A)).all()
    assert (model.transform(A)[:, 0] == 0).all()


def test_a_small_spread_on_a_large_mean_is_not_constant():
    """The sums start at a value of the column, so no digits are lost far from 0."""
    column = 1e8 + 0.01 * rng.standard_normal((200_000, 1))
    scale = StandardScaler().fit(column).scale_
    assert_allclose(scale, np.std(column - 1e8), rtol=1e-6)


@pytest.mark.parametrize("cls", [StandardScaler, UnitNormScaler, MinMaxScaler, RobustScaler])
def test_a_column_without_values_is_named(cls):
    A = np.column_stack([np.full(5, np.nan), np.arange(5.0)])
    with pytest.warns(UserWarning, match=r"'x0'.*no value"):
        model = cls().fit(A)
    out = model.transform(A)
    assert np.isnan(out[:, 0]).all()
    assert np.isfinite(out[:, 1]).all()


@pytest.mark.parametrize("cls", [StandardScaler, MinMaxScaler, RobustScaler, Normalizer])
def test_in_place_only_if_asked(cls):
    A = X.copy()
    cls().fit(A).transform(A)
    assert_array_equal(A, X)
    out = cls(copy=False).fit(A).transform(A)
    assert out is A
    assert_allclose(out, cls().fit_transform(X), rtol=1e-14)


def test_inverse_checks_the_columns():
    with pytest.raises(ValueError, match="3 features"):
        StandardScaler().fit(X).inverse_transform(np.ones((2, 3)))


@pytest.mark.parametrize("given", [(1, 1), (2, 1), "ab", (1, 2, 3)])
def test_bad_ranges(given):
    with pytest.raises(ValueError, match="feature_range"):
        MinMaxScaler(given).fit(X)
    if given != (1, 1):
        with pytest.raises(ValueError, match=r"quantile.range"):
            RobustScaler(quantile_range=given).fit(X)


def test_add_dummy_feature():
    assert_array_equal(add_dummy_feature([[2.0], [3.0]], 5.0), [[5, 2], [5, 3]])
    S = sp.csr_matrix(np.eye(3))
    assert_array_equal(add_dummy_feature(S).toarray(), np.hstack([np.ones((3, 1)), np.eye(3)]))
    assert type(add_dummy_feature(S)) is type(S)


def test_in_a_pipeline_with_our_own_model():
    y = X[:, 0] - X[:, 3]
    model = make_pipeline(StandardScaler(), pellucid.Ridge(1e-8)).fit(X[:, [0, 3]], y)
    assert_allclose(model.predict(X[:, [0, 3]]), y, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e-170, 1e-9, 1e9, 1e170, 1e300, 1e307])
@pytest.mark.parametrize("cls", [StandardScaler, UnitNormScaler])
def test_the_unit_does_not_matter_even_where_squares_leave_the_range(cls, scale, tmp_path):
    table = np.random.default_rng(3).normal(size=(40, 3))
    table[:, 2] = 1.0 + np.arange(40)
    far = table * [scale, scale, 1.0]
    expected = cls().fit_transform(table)
    model = cls().fit(far)
    assert_allclose(model.transform(far), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(model.scale_[2], cls().fit(table).scale_[2])
    parts = cls().partial_fit(far[:15]).partial_fit(far[15:])
    assert_allclose(parts.transform(far), expected, rtol=1e-12, atol=1e-12)
    pellucid.save(parts, tmp_path / "scaler.pellucid")
    again = pellucid.load(tmp_path / "scaler.pellucid").partial_fit(far)
    assert np.isfinite(again.transform(far)).all()


def test_deviations_that_cannot_be_added_up_are_refused():
    table = np.ones((4, 1)) * [[1.0], [2.0], [3.0], [5.0]]
    model = StandardScaler().fit(table)
    with pytest.raises(ValueError, match="'x0' has squares too large to add up"):
        model.partial_fit(table * 1e300)


def test_sparse_columns_in_any_unit():
    table = sp.random_array((60, 4), density=0.4, rng=np.random.default_rng(0)).tocsr()
    expected = StandardScaler(with_mean=False).fit_transform(table).toarray()
    small = StandardScaler(with_mean=False).fit_transform(table * 1e-300).toarray()
    assert_allclose(small, expected, rtol=1e-12)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e-160, 1e160, 1e300, 8e307])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_rows_of_any_size_have_norm_one(norm, scale, kind):
    """Squares vanished and reciprocals overflowed: rows became 0, or stayed as they were."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(20, 5))
    X[0] = 0.0
    X[1, 1:] = 0.0
    unit, found = (Normalizer(norm).fit_transform(kind(Z)) for Z in (X, X * scale))
    if kind is sp.csr_array:
        unit, found = unit.toarray(), found.toarray()
    assert_allclose(found, unit, rtol=1e-9 if scale < 1e-308 else 1e-14)
