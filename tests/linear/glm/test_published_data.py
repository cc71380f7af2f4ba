"""Twelve fits to published data: coefficients and errors to eight digits of statsmodels.

The tables come with statsmodels: capital punishment, Scottish votes and committees (Gill 2001,
Generalized Linear Models: A Unified Approach), visits to doctors of the RAND experiment (Cameron &
Trivedi 2005), strikes (Kennan 1985), affairs (Fair 1978), the cancer trial of Stata's manual. What
R printed for some of them is in ``tests/golden/glm.toml`` and ``counts.toml``.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels
import statsmodels.api as sm
from numpy.testing import assert_allclose

from pellucid import (
    GammaRegressor,
    NegativeBinomialRegressor,
    PoissonRegressor,
    TweedieRegressor,
)

LOG, IDENTITY = sm.families.links.Log(), sm.families.links.Identity()
RELATIVE = 1e-8


def bundled(name):
    data = getattr(sm.datasets, name).load_pandas()
    return data.exog.to_numpy(float), data.endog.to_numpy(float)


def punished():
    X, y = bundled("cpunish")
    X[:, 3] = np.log(X[:, 3])  # the rate of violent crime, as in the book
    return X, y


def visits():
    X, y = bundled("randhie")
    return X[:, np.ptp(X, axis=0) > 0], y


def cancer():
    folder = Path(statsmodels.__file__).parent / "genmod/tests/results"
    t = pd.read_csv(folder / "stata_cancer_glm.csv")
    X = np.column_stack([t["age"], t["drug"] == 2, t["drug"] == 3])
    return X.astype(float), t["studytime"].to_numpy(float)


def strikes():
    return bundled("strikes")


POISSON, GAMMA = sm.families.Poisson(), sm.families.Gamma(LOG)
FITS = {
    "executions, Poisson": (punished, PoissonRegressor(alpha=0), POISSON),
    "executions, Tweedie 1.5": (
        punished,
        TweedieRegressor(power=1.5, link="log", alpha=0),
        sm.families.Tweedie(LOG, 1.5),
    ),
    "visits, Poisson": (visits, PoissonRegressor(alpha=0), POISSON),
    "visits, Tweedie 1.2": (
        visits,
        TweedieRegressor(power=1.2, link="log", alpha=0),
        sm.families.Tweedie(LOG, 1.2),
    ),
    "committees, Poisson": (lambda: bundled("committee"), PoissonRegressor(alpha=0), POISSON),
    "votes, Gamma": (lambda: bundled("scotland"), GammaRegressor(alpha=0), GAMMA),
    "cancer, Gamma": (cancer, GammaRegressor(alpha=0), GAMMA),
    "cancer, Gamma, identity": (
        cancer,
        TweedieRegressor(power=2, link="identity", alpha=0),
        sm.families.Gamma(IDENTITY),
    ),
    "strikes, Gamma": (strikes, GammaRegressor(alpha=0), GAMMA),
    "affairs, Tweedie 1.5": (
        lambda: bundled("fair"),
        TweedieRegressor(power=1.5, link="log", alpha=0),
        sm.families.Tweedie(LOG, 1.5),
    ),
}


@pytest.mark.filterwarnings("ignore:The Identity link function")
@pytest.mark.parametrize("name", FITS)
def test_coefficients_and_errors(name):
    read, model, family = FITS[name]
    X, y = read()
    model.set_params(tol=1e-12).fit(X, y)
    fit = sm.GLM(y, sm.add_constant(X), family).fit(tol=1e-14, maxiter=200, scale="X2")
    if isinstance(family, sm.families.Poisson):
        fit = sm.GLM(y, sm.add_constant(X), family).fit(tol=1e-14, maxiter=200)
    assert_allclose(np.append(model.intercept_, model.coef_), fit.params, rtol=RELATIVE)
    assert_allclose(model.standard_errors_, fit.bse, rtol=RELATIVE)
    assert_allclose(model.deviance_, fit.deviance, rtol=RELATIVE)


@pytest.mark.parametrize(
    "read", [lambda: bundled("committee"), visits], ids=["committees", "visits"]
)
def test_negative_binomial(read):
    """Coefficients and errors at the estimated dispersion, and the dispersion itself."""
    X, y = read()
    model = NegativeBinomialRegressor(tol=1e-12).fit(X, y)
    family = sm.families.NegativeBinomial(LOG, alpha=model.dispersion_)
    fit = sm.GLM(y, sm.add_constant(X), family).fit(tol=1e-13, tol_criterion="params", maxiter=200)
    assert_allclose(np.append(model.intercept_, model.coef_), fit.params, rtol=RELATIVE)
    assert_allclose(model.standard_errors_, fit.bse, rtol=RELATIVE)
    start = np.append(fit.params, model.dispersion_)
    both = sm.NegativeBinomial(y, sm.add_constant(X)).fit(
        start, disp=0, method="newton", maxiter=200, tol=1e-14
    )
    assert_allclose(model.dispersion_, both.params[-1], rtol=RELATIVE)
    assert_allclose(model.log_likelihood_, both.llf, rtol=RELATIVE)
