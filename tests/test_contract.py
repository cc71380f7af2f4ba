"""scikit-learn's own contract, for every public estimator, with no expected failure."""

import os
import subprocess
import sys
import unittest

import pytest
from estimators import every_public_estimator
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import pellucid

# Options that lead to other code than the defaults; every default is found by itself.
VARIANTS = [
    pellucid.GaussianNB(shared_variance=True),
    pellucid.KMeans(init="farthest", n_init=2, random_state=0),
    pellucid.KMeans(metric="manhattan", random_state=0),
    pellucid.ElasticNet(0.1, shrink_intercept=True),
    pellucid.Lasso(0.1, positive=True),
    pellucid.LinearRegression(solver="qr"),
    pellucid.LinearRegression(positive=True),
    pellucid.Ridge(shrink_intercept=True),
    pellucid.TunedEstimator(pellucid.Ridge(), {"alpha": [1.0, 0.1]}, metric="mse", cv=3),
]
# Some checks fit tables with singular class covariances, which are refused, or call what needs an
# option. scikit-learn sets the same options for its own classes (PER_ESTIMATOR_CHECK_PARAMS).
SINGULAR = ("check_array_api_input", "check_sample_weight")
SETTINGS = {
    "BayesClassifier": {
        (
            "check_sample_weight_equivalence",
            "check_sample_weights_shape",
            "check_sample_weights_not_overwritten",
        ): {"densities": "exponential"},
        ("check_array_api_input",): {"densities": "laplace"},
    },
    # rows come back only where the fit was asked to learn the way
    "KernelPCA": {("check_array_api_input",): {"fit_inverse_transform": True}},
    # a share of 0.5 is more than its small class can bear
    "NuSVC": {("check_sample_weight_equivalence", "check_classifiers_one_label"): {"nu": 0.1}},
    "QuadraticDiscriminantAnalysis": {SINGULAR: {"reg_param": 0.5}},
    "RegularizedDiscriminantAnalysis": {SINGULAR: {"gamma": 0.5}},
    # its table has dependent columns: all components together have no density
    "PCA": {("check_array_api_input",): {"n_components": 2}},
    # its table has more columns than rows: sets of p + 1 rows cannot be drawn
    "RANSACRegressor": {("check_sample_weight_equivalence",): {"min_samples": 0.5}},
    "SimpleImputer": {("check_array_api_input",): {"add_indicator": True}},
}
# -1 means "unlabelled": scikit-learn excepts its own semi-supervised classes by name from the part
# of one check that takes -1 for a label.
SEMI_SUPERVISED = ("RepresentationClassifier", "SelfTrainingClassifier")
ARRAY_API = bool(os.environ.get("SCIPY_ARRAY_API"))


def _name(check):
    return getattr(check, "func", check).__name__


def _set_for(instance, name):
    """The instance with the options that this check needs."""
    for checks, params in SETTINGS.get(type(instance).__name__, {}).items():
        if name.startswith(checks):
            return clone(instance).set_params(**params)
    return instance


def _cases(array_api):
    for estimator in [*every_public_estimator(), *VARIANTS]:
        for instance, check in estimator_checks_generator(estimator):
            name = _name(check)
            instance = _set_for(instance, name)
            if name.startswith("check_array_api") == array_api:
                yield pytest.param(instance, check, id=f"{estimator!r}-{name}")


def _run(estimator, check):
    if type(estimator).__name__ in SEMI_SUPERVISED and _name(check) == "check_classifiers_classes":
        check.func("SelfTrainingClassifier", estimator)
        return
    try:
        check(estimator)
    except unittest.SkipTest as skipped:  # a check that did not run has proved nothing
        if "cross decomposition" in str(skipped):  # by name: theirs is not deterministic, ours is
            check.func("Deterministic", estimator)
            return
        if "does not have a decision_function" in str(skipped):  # it has probabilities instead
            assert hasattr(estimator, "predict_proba")
            return
        if "does not have a predict_proba" in str(skipped):  # it has scores instead
            assert hasattr(estimator, "decision_function")
            return
        pytest.fail(f"skipped: {skipped}")


@pytest.mark.filterwarnings("ignore")  # the checks fit degenerate data on purpose
@pytest.mark.parametrize(("estimator", "check"), list(_cases(array_api=False)))
def test_scikit_learn_check(estimator, check):
    _run(estimator, check)


if ARRAY_API:

    @pytest.mark.filterwarnings("ignore")
    @pytest.mark.parametrize(("estimator", "check"), list(_cases(array_api=True)))
    def test_array_api_check(estimator, check):
        _run(estimator, check)


def test_array_api():
    """SciPy reads SCIPY_ARRAY_API at import, so these checks need a fresh process."""
    command = [sys.executable, "-m", "pytest", __file__, "-k", "test_array_api_check", "-q"]
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-rs"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["SCIPY_ARRAY_API"] = "1"
    done = subprocess.run(
        [*command, *options], env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout, done.stdout
    expected = len(list(_cases(array_api=True)))
    assert f"{expected} passed" in done.stdout, done.stdout
