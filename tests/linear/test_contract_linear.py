"""scikit-learn's common checks, with no expected failure, for options the defaults do not reach."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from pellucid.linear import LinearRegression, Ridge


@pytest.mark.filterwarnings("ignore")  # the checks fit degenerate data on purpose
@parametrize_with_checks(
    [
        LinearRegression(),
        LinearRegression(solver="qr"),
        LinearRegression(positive=True),
        Ridge(),
        Ridge(shrink_intercept=True),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
