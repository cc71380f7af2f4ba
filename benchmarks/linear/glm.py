"""Generalised linear models: counts, amounts, claims, and their standard errors.

Bound: a Newton pass over 100,000 x 50 is 0.13 G multiply-adds and 40 MB. Answers are compared by
the objective they reach, half the mean deviance + (alpha/2) |w|^2.
"""

import warnings

import numpy as np

from benchmarks.harness import Case

N, P, ALPHA = 100_000, 50, 1e-3
LIMIT = "three passes of n p^2/2 multiply-adds over 40 MB after a sample has shown the way"


def table(kind):
    def make():
        rng = np.random.default_rng(0)
        X = rng.standard_normal((N, P)) @ (np.eye(P) + 0.1 * rng.standard_normal((P, P)))
        mu = np.exp(0.5 + X @ (0.05 * rng.standard_normal(P)))
        if kind == "poisson":
            return X, rng.poisson(mu).astype(np.float64)
        if kind == "gamma":
            return X, rng.gamma(2.0, mu / 2)
        jumps = rng.poisson(2 * np.sqrt(mu))
        return X, np.where(jumps > 0, rng.gamma(np.maximum(jumps, 1), 0.5 * np.sqrt(mu)), 0.0)

    return make


def objective(data, p, coef, intercept):
    """What all of them minimise."""
    from sklearn.metrics import mean_tweedie_deviance

    X, y = data
    half = mean_tweedie_deviance(y, np.exp(X @ coef + intercept), power=p) / 2
    return half + 0.5 * ALPHA * coef @ coef


def line(model):
    """The answer: slopes and intercept."""
    return np.append(model.coef_, model.intercept_)


def pellucid(name, **params):
    def run(data):
        import pellucid

        model = getattr(pellucid, name)(alpha=ALPHA, **params).fit(*data)
        return line(model)

    return run


def sklearn(name, solver, **params):
    def run(data):
        import sklearn.linear_model

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            how = {"alpha": ALPHA, "solver": solver, "max_iter": 1000, **params}
            model = getattr(sklearn.linear_model, name)(**how).fit(*data)
        return line(model)

    return run


def glum(family, p):
    def run(data):
        from glum import GeneralizedLinearRegressor, TweedieDistribution

        how = TweedieDistribution(p) if family == "tweedie" else family
        model = GeneralizedLinearRegressor(family=how, alpha=ALPHA, l1_ratio=0.0, link="log")
        model.fit(*data)
        return line(model)

    return run


def pellucid_errors(data):
    from pellucid import PoissonRegressor

    return PoissonRegressor(alpha=0).fit(*data).summary().standard_error


def statsmodels_errors(data):
    import statsmodels.api as sm

    return sm.GLM(data[1], sm.add_constant(data[0]), sm.families.Poisson()).fit().bse


def overdispersed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 10))
    mu = np.exp(0.5 + X @ (0.1 * rng.standard_normal(10)))
    return X, rng.poisson(mu * rng.gamma(2.0, 0.5, len(mu))).astype(np.float64)


def pellucid_negative_binomial(data):
    from pellucid import NegativeBinomialRegressor

    return np.array([NegativeBinomialRegressor().fit(*data).log_likelihood_])


def statsmodels_negative_binomial(data):
    import statsmodels.api as sm

    model = sm.NegativeBinomial(data[1], sm.add_constant(data[0]))
    return np.array([model.fit(disp=0, maxiter=200).llf])


def near(kind, p):
    """The objective of the peer is no lower than ours by more than its stopping rule."""

    def check(ours, theirs):
        data = table(kind)()
        mine, other = (objective(data, p, w[:-1], w[-1]) for w in (ours, theirs))
        return bool(mine <= other + 1e-7 * abs(other))

    return check


def same(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6))


LEVEL = (
    "Level with newton-cholesky: both spend their time in X'WX. Ours takes a start from a sample "
    "and four passes over all rows, and ends 1.6e-11 lower: it asks for means known to a millionth."
)


def case(name, kind, p, note="", **params):
    peers = {
        f"scikit-learn ({s})": sklearn(name, s, **params) for s in ("lbfgs", "newton-cholesky")
    }
    peers["glum"] = glum(kind, p)
    title = f"{name} {N:,} x {P}"
    contenders = {"pellucid": pellucid(name, **params), **peers}
    return Case(title, table(kind), contenders, near(kind, p), LIMIT, note)


CASES = [
    case("PoissonRegressor", "poisson", 1, LEVEL),
    case("GammaRegressor", "gamma", 2),
    case("TweedieRegressor", "tweedie", 1.5, power=1.5),
    Case(
        f"PoissonRegressor, standard errors {N:,} x {P}",
        table("poisson"),
        {"pellucid": pellucid_errors, "statsmodels": statsmodels_errors},
        same,
        LIMIT,
    ),
    Case(
        "NegativeBinomialRegressor, dispersion estimated 20,000 x 10",
        overdispersed,
        {"pellucid": pellucid_negative_binomial, "statsmodels": statsmodels_negative_binomial},
        same,
        "six passes, mostly the gamma function and its derivatives of every row",
    ),
]
