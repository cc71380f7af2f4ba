"""Exercises on shrinkage: ridge, lasso, best subsets, criteria, Bayesian regression."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.comparison.information_criteria import normal_noise
from pellucid.textbook.shrinkage.bayesian_linear_regression import bayesian_linear_regression
from pellucid.textbook.shrinkage.best_subset import best_of_each_size, best_subset
from pellucid.textbook.shrinkage.elastic_net import elastic_net
from pellucid.textbook.shrinkage.lasso import lasso, soft_threshold
from pellucid.textbook.shrinkage.ridge import ridge
from pellucid.textbook.shrinkage.ridge_leave_one_out import ridge_leave_one_out

ORTHOGONAL = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])  # both columns centred


def one_column(rng: np.random.Generator) -> Data:
    return {
        "x": np.array([-2.0, -1, 0, 1, 2]),
        "y": 2 * np.arange(5) + whole(rng, 1, 6, 5),
        "alpha": one(rng, 5, 10),
    }


def two_columns(rng: np.random.Generator) -> Data:
    w = np.array([float(rng.integers(3, 7)), one(rng, -0.5, 0.5, 0.75)])
    y = 5 + ORTHOGONAL @ w + np.array([0.5, -0.5, -0.5, 0.5])
    return {"X": ORTHOGONAL, "y": y, "alpha": one(rng, 1.0, 1.5, 2.0)}


def subsets(rng: np.random.Generator) -> Data:
    signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]] * 2, dtype=float)
    y = 10 + signs[:, int(rng.integers(3))] * rng.integers(3, 6) + whole(rng, -1, 1, 8)
    return {"X": signs, "y": y + np.array([1.0, 0, 0, 0, -1.0, 0, 0, 0])}


def criteria(rng: np.random.Generator) -> Data:
    first = float(rng.integers(60, 90))
    return {"n": 50, "rss": np.array([first, first - rng.integers(4, 9)]), "k": np.array([3, 5])}


def scale(rng: np.random.Generator) -> Data:
    return {
        "x": float(rng.integers(2, 6)),
        "y": float(rng.integers(4, 12)),
        "s2": one(rng, 2, 4),
        "v": one(rng, 1, 3),
    }


def centred(d: Given) -> tuple[np.ndarray, np.ndarray]:
    X = d.X - d.X.mean(axis=0)
    return X, d.y - d.y.mean()


def rho(d: Given) -> np.ndarray:
    X, y = centred(d)
    return X.T @ y / len(y)


EXERCISES = (
    Exercise(
        "ridge",
        "Ridge with one column",
        one_column,
        "Minimise |y - b - w x|^2 + alpha w^2 with alpha = {alpha}. The intercept b is not "
        "penalised.",
        (
            Step(
                "ols",
                "The least-squares slope (alpha = 0).",
                lambda d: ridge(d.x[:, None], d.y, 0.0).w[0],
                ("x has mean 0.",),
            ),
            Step(
                "w",
                "The ridge slope.",
                lambda d: ridge(d.x[:, None], d.y, d.alpha).w[0],
                ("Set the derivative in w to 0.", "w = sum x y / (sum x^2 + alpha)."),
                (
                    Slip(
                        "You scaled alpha by n: in this objective it stands as it is.",
                        lambda d: ridge(d.x[:, None], d.y, d.alpha * len(d.x)).w[0],
                    ),
                    Slip(
                        "This is the least-squares slope: the penalty was forgotten.",
                        lambda d: d.ols,
                    ),
                    Slip(
                        "You subtracted alpha: that is the lasso's way.",
                        lambda d: d.ols - d.alpha / (d.x @ d.x),
                    ),
                ),
            ),
            Step(
                "b",
                "The intercept.",
                lambda d: ridge(d.x[:, None], d.y, d.alpha).intercept,
                ("x has mean 0.",),
                (
                    Slip(
                        "You penalised the intercept too.",
                        lambda d: d.y.sum() / (len(d.y) + d.alpha),
                    ),
                ),
            ),
            Step(
                "df",
                "The effective number of parameters, the intercept included.",
                lambda d: ridge_leave_one_out(d.x[:, None], d.y, np.array([d.alpha])).df[0],
                ("The trace of the hat matrix.", "1 + sum x^2 / (sum x^2 + alpha)."),
                (
                    Slip(
                        "You forgot the intercept.",
                        lambda d: (
                            ridge_leave_one_out(d.x[:, None], d.y, np.array([d.alpha])).df[0] - 1
                        ),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "lasso",
        "The lasso with orthogonal columns",
        two_columns,
        "Minimise |y - b - X w|^2 / (2 n) + alpha |w|_1 with alpha = {alpha}. The columns of X "
        "are centred and orthogonal.",
        (
            Step(
                "rho",
                "rho_j = x_j'(y - mean y) / n for both columns.",
                rho,
                ("Both columns have x_j'x_j / n = 1.",),
                (Slip("You did not divide by n.", lambda d: rho(d) * len(d.y)),),
            ),
            Step(
                "w",
                "The lasso coefficients.",
                lambda d: lasso(d.X, d.y, d.alpha).w,
                (
                    "Orthogonal columns: each coordinate by itself.",
                    "Soft threshold: towards 0 by alpha, and 0 if it would cross.",
                ),
                (
                    Slip(
                        "These are the least-squares coefficients: soften them.", lambda d: rho(d)
                    ),
                    Slip(
                        "You kept large coefficients whole: that is the hard threshold of subset "
                        "selection.",
                        lambda d: np.where(np.abs(rho(d)) > d.alpha, rho(d), 0.0),
                    ),
                    Slip(
                        "You let a coefficient cross 0: it stays there.",
                        lambda d: rho(d) - d.alpha * np.sign(rho(d)),
                    ),
                ),
            ),
            Step(
                "zeros",
                "How many coefficients are 0?",
                lambda d: int(np.sum(np.asarray(d.w) == 0)),
                ("Which |rho_j| are at most alpha?",),
            ),
            Step(
                "alpha_max",
                "The least alpha for which both coefficients are 0.",
                lambda d: np.abs(rho(d)).max(),
                ("The largest |rho_j|.",),
                (Slip("At this alpha only one of them is 0.", lambda d: np.abs(rho(d)).min()),),
            ),
        ),
    ),
    Exercise(
        "elastic_net",
        "The elastic net, one coordinate",
        two_columns,
        "Minimise |y - b - X w|^2 / (2 n) + alpha (q |w|_1 + (1 - q) |w|^2 / 2) with q = 1/2 and "
        "alpha = {alpha}. The columns are centred and orthogonal.",
        (
            Step(
                "soft",
                "S(rho_1, alpha q), the soft threshold of the first column's rho.",
                lambda d: soft_threshold(rho(d)[0], d.alpha / 2),
                ("rho_1 = x_1'y / n.",),
                (
                    Slip(
                        "You used alpha instead of alpha q.",
                        lambda d: soft_threshold(rho(d)[0], d.alpha),
                    ),
                ),
            ),
            Step(
                "w",
                "Both coefficients.",
                lambda d: elastic_net(d.X, d.y, d.alpha, 0.5).w,
                ("The squares add alpha (1 - q) to the curvature, which is 1 here.",),
                (
                    Slip(
                        "You forgot the squared part: divide by 1 + alpha (1 - q).",
                        lambda d: lasso(d.X, d.y, d.alpha / 2).w,
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "subset",
        "The best subset",
        subsets,
        "Choose columns of X by least squares with an intercept. The columns are orthogonal and "
        "centred.",
        (
            Step(
                "best_one",
                "The number (0, 1, 2) of the best single column.",
                lambda d: best_of_each_size(d.X, d.y)[1].columns[0],
                ("The largest |x_j'y|.",),
            ),
            Step(
                "rss",
                "The residual sum of squares of that one-column model.",
                lambda d: best_of_each_size(d.X, d.y)[1].rss,
                ("sum (y - mean y)^2 - (x_j'y)^2 / x_j'x_j.",),
                (
                    Slip(
                        "You forgot the intercept: centre y first.",
                        lambda d: d.y @ d.y - (d.X[:, int(d.best_one)] @ d.y) ** 2 / len(d.y),
                    ),
                ),
            ),
            Step(
                "size",
                "How many columns has the model that BIC = n ln(RSS / n) + (k + 1) ln n prefers?",
                lambda d: len(best_subset(d.X, d.y).columns),
                ("Compute BIC for k = 0, 1, 2, 3.",),
                (Slip("RSS always falls: BIC charges ln n for every column.", lambda d: 3),),
            ),
        ),
    ),
    Exercise(
        "criteria",
        "AIC against BIC",
        criteria,
        "Two nested linear models on n = {n} rows have the residual sums of squares rss with k "
        "parameters. Use n ln(RSS / n) for -2 log-likelihood.",
        (
            Step(
                "aic",
                "AIC of both models.",
                lambda d: np.array(
                    [normal_noise(r, int(k), d.n).aic for r, k in zip(d.rss, d.k, strict=True)]
                ),
                ("n ln(RSS / n) + 2 k.",),
                (
                    Slip(
                        "You used log10 instead of the natural logarithm.",
                        lambda d: d.n * np.log10(d.rss / d.n) + 2 * d.k,
                    ),
                    Slip("You forgot to divide RSS by n.", lambda d: d.n * np.log(d.rss) + 2 * d.k),
                ),
            ),
            Step(
                "bic",
                "BIC of both models.",
                lambda d: np.array(
                    [normal_noise(r, int(k), d.n).bic for r, k in zip(d.rss, d.k, strict=True)]
                ),
                ("A parameter costs ln n.",),
                (Slip("You charged 2 for a parameter: that is AIC.", lambda d: d.aic),),
            ),
            Step(
                "chosen",
                "The position (0 or 1) of the model that BIC prefers.",
                lambda d: int(np.argmin(d.bic)),
                ("Less is better.",),
                (Slip("The larger one is worse.", lambda d: int(np.argmax(d.bic))),),
            ),
        ),
    ),
    Exercise(
        "posterior",
        "A prior on the slope",
        scale,
        "One observation y = w x + e with e ~ N(0, s2 = {s2}) and the prior w ~ N(0, v = {v}). "
        "There is no intercept.",
        (
            Step(
                "precision",
                "The posterior precision of w.",
                lambda d: 1 / d.v + d.x**2 / d.s2,
                ("Precisions add.",),
                (Slip("You added variances: precisions add.", lambda d: d.v + d.s2 / d.x**2),),
            ),
            Step(
                "mean",
                "The posterior mean of w.",
                lambda d: bayesian_linear_regression(
                    np.array([[d.x]]), np.array([d.y]), np.zeros(2), np.diag([1e-12, d.v]), d.s2
                ).mean[1],
                ("Complete the square.", "mean = (x y / s2) / precision."),
                (
                    Slip("This is least squares: the prior was forgotten.", lambda d: d.y / d.x),
                    Slip(
                        "You forgot to divide by the noise variance.",
                        lambda d: d.x * d.y / d.precision,
                    ),
                ),
            ),
            Step(
                "alpha",
                "The ridge penalty alpha that gives the same w.",
                lambda d: d.s2 / d.v,
                ("Compare the exponents: noise over prior variance.",),
                (Slip("This is its inverse.", lambda d: d.v / d.s2),),
            ),
        ),
    ),
)
