"""scikit-learn's own contract, for every public estimator, with no expected failure."""

import os
import subprocess
import sys
import unittest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import pellucid
from estimators import every_public_estimator

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
ARRAY_API = bool(os.environ.get("SCIPY_ARRAY_API"))


def _name(check):
    return getattr(check, "func", check).__name__


def _cases(array_api):
    for estimator in [*every_public_estimator(), *VARIANTS]:
        for instance, check in estimator_checks_generator(estimator):
            name = _name(check)
            if name.startswith("check_array_api") == array_api:
                yield pytest.param(instance, check, id=f"{estimator!r}-{name}")


def _run(estimator, check):
    try:
        check(estimator)
    except unittest.SkipTest as skipped:  # a check that did not run has proved nothing
        if "cross decomposition" in str(skipped):  # by name: theirs is not deterministic, ours is
            check.func("Deterministic", estimator)
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
