"""Examples of regression."""

import numpy as np

from pellucid.study.examples.examples import Demo, Line, demo

R = np.array(
    [[1, 2, 1], [2, 1, 0], [3, 4, 1], [4, 3, 1], [5, 6, 0], [6, 5, 2], [7, 8, 1], [8, 6, 3]], float
)
Y = np.array([3, 2, 6, 5, 9, 8, 12, 13], float)
THREE = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
NINE = np.arange(9.0)[:, None], np.array([0, 2, 1, 3, 6, 5, 4, 7, 9], float)


def unit_norm() -> np.ndarray:
    C = R - R.mean(axis=0)
    return C / np.linalg.norm(C, axis=0)


@demo(
    "least-squares",
    "regression",
    "eight rows, three columns, with standard errors",
    "LinearRegression",
)
def least_squares() -> list[Line]:
    from pellucid import LinearRegression

    model = LinearRegression().fit(R, Y)
    s = model.summary()
    b = [-0.40073634, 0.56754460, 1.01161144, 0.59643161]
    return [
        Line("intercept and slopes", [model.intercept_, *model.coef_], b),
        Line("residual sum of squares", model.rss_, 3.2546020957),
        Line("noise variance, unbiased", model.sigma2_, 0.8136505239),
        Line("noise variance, maximum likelihood", model.sigma2_ml_, 0.4068252620),
        Line("standard errors", s.standard_error, [0.73790755, 0.37491690, 0.33118722, 0.49608457]),
    ]


@demo("simple-line", "regression", "200 noisy points on a line", "linear.simple_regression")
def simple_line() -> list[Line]:
    from pellucid.linear import simple_regression

    x = np.linspace(0, 10, 200)
    y = 3 * x + 1 + np.random.RandomState(0).normal(0, 2, 200)
    line = simple_regression(x, y)
    return [
        Line("slope", line.slope, 2.9626408753),
        Line("intercept", line.intercept, 1.3286166099),
    ]


@demo(
    "gradient-descent",
    "regression",
    "ten steps on three points",
    "LinearRegression",
    "solvers.GradientDescent",
)
def gradient_descent() -> list[Line]:
    from pellucid import LinearRegression
    from pellucid.solvers import GradientDescent

    model = LinearRegression(solver=GradientDescent(0.1, max_iter=10, tol=None)).fit(*THREE)
    path, loss = model.history_["parameters"], model.history_["objective"]
    return [
        Line("after 1 step", path[1], [0.2333333, 0.3333333]),
        Line("after 2 steps", path[2], [0.41, 0.5877778]),
        Line("after 10 steps", path[-1], [0.8910679307, 1.3210888629]),
        Line("loss at 0, 1, 2, 10", loss[[0, 1, 2, -1]], [3.5, 2.0420370, 1.1970152, 0.0457893863]),
    ]


@demo("ridge", "regression", "two columns that say the same", "Ridge")
def ridge() -> list[Line]:
    from pellucid import Ridge

    X, y = [[1, 2], [2, 3], [3, 4]], [1, 2, 3]
    one, tenth = Ridge(1.0).fit(X, y), Ridge(0.1).fit(X, y)
    return [
        Line("penalty 1", [one.intercept_, *one.coef_], [0, 0.4, 0.4]),
        Line("penalty 0.1", [tenth.intercept_, *tenth.coef_], [-18 / 41, 20 / 41, 20 / 41]),
    ]


@demo("ridge-path", "regression", "leave-one-out along the penalties", "linear.ridge_path")
def ridge_path() -> list[Line]:
    from pellucid.linear import ridge_path

    x = np.linspace(1, 5, 15)[:, None]
    path = ridge_path(x, np.exp(x[:, 0]), alphas=[0.0, 0.1, 1.0], shrink_intercept=True)
    return [
        Line("leave-one-out", path.loocv, [579.4274005, 574.7496513, 620.2651754]),
        Line("generalised", path.gcv, [511.6766041, 509.3329291, 552.7158482]),
        Line("degrees of freedom", path.df, [2, 1.9519490, 1.6615980]),
    ]


@demo("lasso", "regression", "the table of eight rows", "Lasso")
def lasso() -> list[Line]:
    from pellucid import Lasso

    model = Lasso(0.1, tol=1e-12).fit(R, Y)
    return [Line("slopes at 0.1", model.coef_, [0.65998301, 0.93525913, 0.40135939])]


@demo(
    "soft-threshold",
    "regression",
    "orthonormal columns: lasso cuts, ridge shrinks",
    "Lasso",
    "Ridge",
)
def soft_threshold() -> list[Line]:
    from pellucid import Lasso, Ridge

    X, y = np.eye(4), np.array([3, -0.4, 1, 0])
    a = Lasso(0.5 / 4, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    b = Ridge(1.0, fit_intercept=False).fit(X, y).coef_
    return [Line("lasso", a, [2.5, 0, 0.5, 0]), Line("ridge", b, [1.5, -0.2, 0.5, 0])]


@demo("least-angle", "regression", "the knots of the path", "Lars")
def least_angle() -> list[Line]:
    from pellucid import Lars

    model = Lars().fit(unit_norm(), Y)
    return [
        Line("columns enter", model.active_, [0, 1, 2]),
        Line("second knot", model.coef_path_.T[2], [4.80633116, 4.233921, 0]),
        Line("end", model.coef_path_.T[3], [3.67810942, 6.22572672, 1.56385686]),
        Line("correlations", 8 * model.alphas_, [10.02971775, 9.45730758, 1.56102788, 0]),
    ]


@demo("stagewise", "regression", "370 small steps", "StagewiseRegression")
def stagewise() -> list[Line]:
    from pellucid import StagewiseRegression

    model = StagewiseRegression().fit(unit_norm(), Y)
    steps = [a for _, a in model.moves_[:4]]
    return [
        Line("first moves", steps, [10.0297177, 1.2766984, -1.1043493, 0.9552666]),
        Line("steps to least squares", model.n_iter_, 370),
    ]


@demo("best-subset", "regression", "all subsets of three columns", "BestSubsetRegression")
def best_subset() -> list[Line]:
    from pellucid import BestSubsetRegression

    model = BestSubsetRegression(criterion="aic").fit(R, Y)
    rss, aic = [s.rss for s in model.subsets_], [s.aic for s in model.subsets_]
    return [
        Line("RSS of 0, 1, 2, 3 columns", rss, [111.5, 10.904762, 4.430712, 3.254602]),
        Line("AIC", aic, [23.076664, 6.478064, 1.272949, 0.805028]),
        Line("Cp of two columns", model.subsets_[2].cp, 3.445473),
    ]


@demo("stepwise", "regression", "forward and backward by AIC", "StepwiseRegression")
def stepwise() -> list[Line]:
    from pellucid import StepwiseRegression

    model = StepwiseRegression(direction="both").fit(R, Y)
    values = [s.value for s in model.steps_]
    return [Line("AIC of every step", values, [23.076664, 6.478064, 1.272949, 0.805028])]


@demo(
    "component-regression",
    "regression",
    "least squares on principal components",
    "PrincipalComponentRegression",
)
def components() -> list[Line]:
    from pellucid import PrincipalComponentRegression

    one = PrincipalComponentRegression(1).fit(R, Y)
    two = PrincipalComponentRegression(2).fit(R, Y)
    return [
        Line("one component", one.scaled_coef_, [1.55726713, 1.40833825, 1.16692677]),
        Line("two components", two.scaled_coef_, [1.67497601, 1.90124287, 0.41496819]),
        Line("residual squares", [one.rss_, two.rss_], [7.8526536, 3.4139541]),
    ]


@demo("group-lasso", "regression", "columns that enter together", "GroupLasso")
def group_lasso() -> list[Line]:
    from pellucid import GroupLasso

    coef = GroupLasso(1, groups=[0, 0, 1], tol=1e-12).fit(R, Y).coef_
    return [Line("slopes, the third is a group", coef, [0.76147379, 0.71853520, 0])]


@demo("dantzig", "regression", "a linear programme", "DantzigSelector")
def dantzig() -> list[Line]:
    from pellucid import DantzigSelector

    coef = DantzigSelector(0.1).fit(R, Y).coef_
    return [Line("slopes at 0.1", coef, [0.93639196, 0.72002266, 0.15531011])]


@demo("bridge", "regression", "between lasso and ridge", "BridgeRegression")
def bridge() -> list[Line]:
    from pellucid import BridgeRegression

    coef = BridgeRegression(0.1, q=1.5).fit(R, Y).coef_
    return [Line("slopes, power 1.5", coef, [0.67004534, 0.91609463, 0.40671953])]


@demo(
    "bayesian-line",
    "regression",
    "hours and scores, prior and posterior",
    "BayesianLinearRegression",
)
def bayesian_line() -> list[Line]:
    from pellucid import BayesianLinearRegression

    X, y = [[1.0], [2.0], [3.0], [4.0], [4.5]], [3, 5, 7, 9, 10]
    model = BayesianLinearRegression(prior_covariance=1e6, noise_variance=1.0).fit(X, y)
    mean, sd = model.predict([[3.5]], return_std=True)
    return [
        Line("posterior mean", model.mean_, [0.99999948, 2.00000011]),
        Line("score after 3.5 hours", [mean[0], sd[0]], [7.99999987, 1.11530374]),
        Line("log evidence", model.log_evidence_, -20.26699243),
    ]


@demo(
    "cubic-spline",
    "regression",
    "nine points, two knots",
    "LinearRegression",
    "features.TruncatedPowerBasis",
)
def cubic_spline() -> list[Line]:
    from sklearn.pipeline import make_pipeline

    from pellucid import LinearRegression
    from pellucid.features import TruncatedPowerBasis

    model = make_pipeline(TruncatedPowerBasis([2.5, 5.5], degree=3), LinearRegression()).fit(*NINE)
    line = model[-1]
    b = [0.18328140, 0.82615206, 0.10921311, -0.01103059, -0.03178255, 0.40678078]
    return [
        Line("coefficients", [line.intercept_, *line.coef_], b),
        Line("residual squares", line.rss_, 7.7846806),
    ]


@demo("smoothing-spline", "regression", "nine points, penalty 10", "SmoothingSpline")
def smoothing_spline() -> list[Line]:
    from pellucid import SmoothingSpline

    model = SmoothingSpline(10.0).fit(*NINE)
    return [
        Line("degrees of freedom", model.df_, 2.7634722),
        Line("residual squares", model.rss_, 10.1682095),
    ]


DEMOS = tuple(one for one in list(vars().values()) if isinstance(one, Demo))
