"""scikit-learn's own tests pass with our classes, but for those with a line in ``reasons.txt``."""

import re
from pathlib import Path

import pytest
from sklearn_names import test_modules as modules_of_sklearn
from sklearn_runs import Comparison, Reason, both_sides, compare, judge, read_reasons, renewed

SAMPLE = ("feature_selection/tests/test_variance_threshold.py", "tests/test_naive_bayes.py")
PARTS = (  # module, tests of it, classes whose models they make
    ("linear_model/_glm/tests/test_glm.py", "identity or score or wrong_y", "TweedieRegressor"),
    ("linear_model/_glm/tests/test_glm.py", "tags", "PoissonRegressor GammaRegressor"),
    ("linear_model/tests/test_omp.py", "", "OrthogonalMatchingPursuit"),
    ("linear_model/tests/test_ransac.py", "", "RANSACRegressor"),
    ("linear_model/tests/test_theil_sen.py", "", "TheilSenRegressor"),
    ("linear_model/tests/test_ridge.py", "class_weights", "RidgeClassifier RidgeClassifierCV"),
    ("tests/test_isotonic.py", "", "IsotonicRegression"),
    ("tests/test_multioutput.py", "regressor_chain", "RegressorChain"),
    ("tests/test_multioutput.py", "multi_target_regression", "MultiOutputRegressor"),
    ("ensemble/tests/test_weight_boosting.py", "oneclass or diabetes", "AdaBoostRegressor"),
    ("gaussian_process/tests/test_gpr.py", "prior or interpolation", "GaussianProcessRegressor"),
    ("gaussian_process/tests/test_gpc.py", "random_starts", "GaussianProcessClassifier"),
    ("decomposition/tests/test_nmf.py", "transform or negative", "NMF"),
    ("decomposition/tests/test_fastica.py", "", "FastICA"),
    ("decomposition/tests/test_incremental_pca.py", "batch or check", "IncrementalPCA"),
    ("manifold/tests/test_mds.py", "", "MDS"),
    ("cluster/tests/test_k_means.py", "minibatch or wrong_params", "MiniBatchKMeans"),
    ("neighbors/tests/test_kde.py", "not kde_sample", "KernelDensity"),
    ("neighbors/tests/test_nearest_centroid.py", "", "NearestCentroid"),
    ("covariance/tests/test_covariance.py", "", "LedoitWolf"),
    ("covariance/tests/test_graphical_lasso.py", "", "GraphicalLasso GraphicalLassoCV"),
    ("preprocessing/tests/test_data.py", "quantile", "QuantileTransformer"),
    ("preprocessing/tests/test_data.py", "maxabs", "MaxAbsScaler"),
    ("impute/tests/test_impute.py", "iterative_imputer_zero or clip", "IterativeImputer"),
    ("feature_selection/tests/test_rfe.py", "rfecv_mockclassifier or min_step", "RFECV RFE"),
    ("feature_selection/tests/test_feature_select.py", "percentile", "SelectPercentile"),
    ("feature_extraction/tests/test_text.py", "hashing", "HashingVectorizer"),
    ("feature_extraction/tests/test_text.py", "tfidf", "TfidfVectorizer"),
)
MODULES = modules_of_sklearn()
DIFFERENCES = Path(__file__).parents[2] / "docs/differences.md"


def check(module):
    shown = compare(*both_sides(module))
    verdict = judge({module: shown}, read_reasons())
    failures = [f"{test}: {shown.failures[test]}" for test in verdict.unlabelled]
    assert not failures, "\n".join(["fail with ours and have no line:", *failures])
    assert not verdict.stale, "\n".join(["lines without a failure:", *verdict.stale])


@pytest.mark.parametrize("module", SAMPLE)
def test_sample(module):
    check(module)


FIRST = PARTS[::3]  # the others take another minute: make test-all


@pytest.mark.parametrize(
    ("module", "only", "classes"),
    [pytest.param(*part, marks=() if part in FIRST else pytest.mark.slow) for part in PARTS],
)
def test_part(module, only, classes):
    """Some tests of every class that people ask for: none of them fails without a line."""
    theirs, ours = both_sides(module, only=only or None, quick=True)
    shown = compare(theirs, ours)
    unlabelled = judge({module: shown}, read_reasons()).unlabelled
    assert not unlabelled, "\n".join(f"{test}: {shown.failures[test]}" for test in unlabelled)
    assert set(classes.split()) <= {name for outcome in ours.values() for name in outcome.made}


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted(set(MODULES) - set(SAMPLE)))
def test_module(module):
    check(module)


def anchors():
    """The sections of the page, as links name them."""
    for line in DIFFERENCES.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            words = re.sub(r"[^\w\s-]", "", line[3:].strip().lower())
            yield "#" + re.sub(r"\s+", "-", words)


def test_every_line_names_a_module_a_reason_and_a_section():
    known, seen = set(anchors()), set()
    for reason in read_reasons():
        assert reason.pattern.split("::")[0] in MODULES, reason
        assert len(reason.why) > 10, reason
        assert reason.section in known, reason
        assert reason.pattern not in seen, reason
        seen.add(reason.pattern)


def test_names_are_read_from_the_sources():
    from sklearn_names import public_names, shared_names

    assert {"Ridge", "SVC", "CountVectorizer"} <= shared_names()
    assert "GridSearchCV" in public_names()["sklearn.model_selection"]
    assert "linear_model/tests/test_ridge.py" in MODULES


def test_a_missing_or_stale_line_is_seen():
    failures = {"a.py::t[1]": "has no attribute '_x'", "a.py::u[2]": "AssertionError"}
    shown = {"a.py": Comparison(("a.py::t[1]", "a.py::u[2]", "a.py::v"), failures)}
    old = [Reason("a.py::v", "no failure any more", "#wording")]
    verdict = judge(shown, old)
    assert verdict.unlabelled == list(failures)
    assert verdict.stale == ["a.py::v"]
    lines = renewed(shown, old)
    assert [line.pattern for line in lines] == ["a.py::t"]
    assert judge(shown, lines).unlabelled == ["a.py::u[2]"]
    by_hand = Reason("a.py::u[*]", "reviewed by hand", "#wording")
    assert judge(shown, [*lines, by_hand]).unlabelled == []
