"""Cases that once gave NaN, memory that nobody wrote, or an error from inside a library."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from estimators import make
from scales import faults_of

import pellucid
from pellucid import solvers
from pellucid.naive_bayes import ZeroCountWarning

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))

SQUARES = (
    "SVC", "NuSVC", "SVR", "NuSVR", "LinearSVC", "LinearSVR", "OneClassSVM", "LabelPropagation",
    "LabelSpreading", "KernelRidge",
)  # fmt: skip
TARGETS = (
    "LinearSVR", "RandomForestRegressor", "ExtraTreesRegressor", "BaggingRegressor",
    "GradientBoostingRegressor", "HistGradientBoostingRegressor", "AdaBoostRegressor",
)  # fmt: skip
CASES = [(name, "X", 1e300) for name in SQUARES]
CASES += [(name, "X", 1e-310) for name in ("Normalizer", "SplineTransformer", "GaussianBasis")]
CASES += [("NaturalSplineBasis", "columns", 150.0)]
CASES += [("SmoothingSpline", "X", scale) for scale in (1e-300, 1e300, 1e-310)]
CASES += [("OrdinalLogisticRegression", "X", 1e300), ("NMF", "X", 1e-310)]
CASES += [(name, "y", 1e300) for name in TARGETS if name in pellucid._HOME]


@pytest.mark.parametrize(("name", "what", "scale"), CASES)
def test_no_scale_gives_nan_in_silence(name, what, scale):
    assert faults_of(name, what, scale) is None


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e-300, 1e300])
def test_bins_do_not_depend_on_the_unit(scale):
    codes = pellucid.KBinsDiscretizer().fit(X).transform(X)
    scaled = pellucid.KBinsDiscretizer().fit(X * scale).transform(X * scale)
    scaled.check_format(full_check=True)
    assert np.array_equal(scaled.toarray(), codes.toarray())


def test_bins_of_the_largest_numbers():
    ends = np.where(X > 0, 1.7e308, -1.7e308)
    with np.errstate(all="ignore"):
        bins = pellucid.KBinsDiscretizer(2, strategy="kmeans").fit(ends)
    bins.transform(ends).check_format(full_check=True)


ENCODERS = ["OneHotEncoder", "OrdinalEncoder", "TargetEncoder"]


@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("name", [name for name in ENCODERS if name in pellucid._HOME])
def test_given_categories_with_a_missing_value(name, missing):
    cells = np.array([["a"], ["b"], [missing], ["a"]] * 10, dtype=object)
    encoder = getattr(pellucid, name)(categories=[np.array(["a", "b", missing], dtype=object)])
    found = encoder.fit(cells, X[:, 0]).transform(cells)
    assert found.shape[0] == 40


@pytest.mark.parametrize("labels", [[0, 1, 0, 1], np.array(["u", "v", "u", "v"], dtype=object)])
def test_categories_of_an_object_array_without_smoothing(labels):
    cells = np.array([["a", "x"], ["b", "y"], ["a", "y"], ["b", "x"]], dtype=object)
    with pytest.warns(ZeroCountWarning, match="column 0 = 'b' the probability 0"):
        model = pellucid.CategoricalNB(alpha=0).fit(cells, labels)
    assert model.predict(cells).tolist() == list(labels)


def test_positive_coefficients_of_nothing():
    assert pellucid.LinearRegression(positive=True).fit([[1]], [0]).coef_.tolist() == [0.0]


def test_kernel_components_keep_rows_of_their_own():
    rows = X.copy()
    model = pellucid.KernelPCA(2, kernel="rbf").fit(rows)
    before = model.transform(X)
    rows[:] = 0.0
    assert np.array_equal(model.transform(X), before)


def test_an_objective_takes_a_plain_list():
    f = solvers.LinearObjective(X[:, :2], X[:, 2])
    assert f.value([0.5, -0.5]) == f.value(np.array([0.5, -0.5]))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_tree_that_may_only_fall(criterion):
    x = np.linspace(0, 1, 200)[:, None]
    y = np.sin(8 * x[:, 0]) + 0.3 * rng.normal(size=200)
    tree = pellucid.DecisionTreeRegressor(criterion=criterion, monotonic_cst=[-1]).fit(x, y)
    assert (np.diff(tree.predict(x)) <= 0).all()


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("DecisionTreeRegressor", "max_depth", 2**63),
        ("NMF", "max_iter", 2**63),
        ("LassoCV", "max_iter", 10**40),
        ("KernelRidge", "alpha", np.inf),
        ("StackingClassifier", "cv", ()),
    ],
)
def test_parameters_beyond_every_type_are_refused(name, parameter, value):
    """They reached compiled code, or NumPy spoke."""
    model = make(getattr(pellucid, name)).set_params(**{parameter: value})
    with pytest.raises(ValueError, match=f"{parameter} must be "):
        model.fit(np.abs(X), (X[:, 0] > 0).astype(int))


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("NMF", "max_iter", 2**63 - 1),
        ("LassoCV", "max_iter", 2**63 - 1),
        ("HuberRegressor", "epsilon", 1e308),
    ],
)
def test_parameters_at_the_ends_of_their_types(name, parameter, value):
    model = make(getattr(pellucid, name)).set_params(**{parameter: value})
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model.fit(np.abs(X), X[:, 0])


@pytest.mark.parametrize("column", [3, 5000, 10**12])
def test_a_vocabulary_that_was_changed_by_hand(column):
    """The count was written where the vocabulary said."""
    model = pellucid.CountVectorizer().fit(["red green", "blue red"] * 3)
    model.vocabulary_["red"] = column
    with pytest.raises(ValueError, match=f"vocabulary_ names the column {column} of 3"):
        model.transform(["red green"])


def test_new_classes_in_a_later_part_are_refused():
    model = pellucid.MLPClassifier(random_state=0)
    model.partial_fit(X, np.arange(40) % 2, classes=[0, 1])
    with pytest.raises(ValueError, match="class"):
        model.partial_fit(X, np.arange(40) % 3)


def test_a_curve_whose_sums_overflow_is_refused():
    with pytest.raises(
        ValueError, match="y is too large in row 0: the sum over the rows overflows"
    ):
        pellucid.IsotonicRegression().fit([0, 1], [1e308, -1e308], [3, 3])


@pytest.mark.parametrize("value", [0.0, 1.0, 1e100])
def test_columns_that_do_not_vary_are_not_unmixed(value):
    with pytest.raises(ValueError, match="no column varies"):
        pellucid.FastICA(2).fit(np.full((9, 3), value))


def test_every_case_that_was_reported_names_a_test_that_exists():
    tests = Path(__file__).parents[1]
    lines = (tests / "core" / "listed_cases.txt").read_text("utf-8").splitlines()[1:]
    assert len(lines) > 30
    for line in lines:
        file, test = line.split(" | ")[1].split("::")
        assert f"def {test}(" in (tests.parent / file).read_text("utf-8"), line
