"""Exercises on regression: lines, standard errors, residuals, polynomials, counts, quantiles."""

import numpy as np

from pellucid.teach.numbers import distinct, one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.regression.collinearity import collinearity
from pellucid.textbook.regression.least_squares_descent import least_squares_descent
from pellucid.textbook.regression.normal_equations import normal_equations
from pellucid.textbook.regression.polynomial_regression import polynomial_regression, products
from pellucid.textbook.regression.quantile_regression import quantile_regression
from pellucid.textbook.regression.residual_diagnostics import residual_diagnostics
from pellucid.textbook.regression.simple_regression import simple_regression


def pairs(rng: np.random.Generator) -> Data:
    x = distinct(rng, 1, 9, 5)
    return {"x": x, "y": whole(rng, 1, 3) * x + whole(rng, 2, 9, 5)}


def new_pair(rng: np.random.Generator) -> Data:
    return {**pairs(rng), "x_new": float(rng.integers(10, 15))}


def plane(rng: np.random.Generator) -> Data:
    X = np.column_stack([[0.0, 0, 1, 1, 2, 2], [0.0, 1, 0, 1, 0, 1]])
    return {"X": X, "y": X @ whole(rng, 1, 4, 2) + whole(rng, 1, 6, 6)}


def curve(rng: np.random.Generator) -> Data:
    x = np.arange(-2.0, 3.0)
    return {"x": x, "y": whole(rng, 1, 2) * x**2 + whole(rng, -3, 3, 5), "x_new": 3.0}


def descent_data(rng: np.random.Generator) -> Data:
    return {"x": np.array([-1.0, 0, 1, 2]), "y": whole(rng, 1, 6, 4), "rate": one(rng, 0.1, 0.2)}


def two_columns(rng: np.random.Generator) -> Data:
    x1 = np.array([-2.0, -1, 0, 1, 2])
    return {"x1": x1, "x2": x1 + rng.permutation([-1.0, 1.0, 0.0, 1.0, -1.0])}


def wages(rng: np.random.Generator) -> Data:
    return {"y": np.append(distinct(rng, 10, 30, 4), float(rng.integers(90, 120))), "q": 0.5}


def errors_of(d: Given) -> np.ndarray:
    line = simple_regression(d.x, d.y)
    return d.y - line.intercept - line.slope * d.x


EXERCISES = (
    Exercise(
        "line",
        "The least-squares line by hand",
        new_pair,
        "Fit y = a + b x by least squares and predict y at x_new.",
        (
            Step(
                "slope",
                "The slope b.",
                lambda d: simple_regression(d.x, d.y).slope,
                (
                    "The line passes through the means: centre both columns first.",
                    "b = sum (x - mean x)(y - mean y) / sum (x - mean x)^2.",
                ),
                (
                    Slip(
                        "You fitted a line through the origin: the intercept was forgotten.",
                        lambda d: d.x @ d.y / (d.x @ d.x),
                    ),
                    Slip(
                        "You regressed x on y: swap the roles.",
                        lambda d: simple_regression(d.y, d.x).slope,
                    ),
                    Slip(
                        "You divided by the spread of y: that is the correlation, not the slope.",
                        lambda d: np.corrcoef(d.x, d.y)[0, 1],
                    ),
                ),
            ),
            Step(
                "intercept",
                "The intercept a.",
                lambda d: d.y.mean() - d.slope * d.x.mean(),
                ("The line passes through (mean x, mean y).",),
                (
                    Slip(
                        "You added b times the mean of x where it is subtracted.",
                        lambda d: d.y.mean() + d.slope * d.x.mean(),
                    ),
                    Slip(
                        "This is the mean of y: the line has that height at the mean of x, not at "
                        "0.",
                        lambda d: d.y.mean(),
                    ),
                ),
            ),
            Step(
                "prediction",
                "The prediction at x_new.",
                lambda d: d.intercept + d.slope * d.x_new,
                ("Put x_new into a + b x.",),
                (Slip("You forgot the intercept.", lambda d: d.slope * d.x_new),),
            ),
        ),
    ),
    Exercise(
        "standard_error",
        "How sure is the slope?",
        pairs,
        "Fit y = a + b x by least squares. How much would b vary from sample to sample?",
        (
            Step(
                "rss",
                "The residual sum of squares.",
                lambda d: errors_of(d) @ errors_of(d),
                ("Fit the line first; a residual is y minus the fitted value.",),
                (
                    Slip(
                        "You took the squares about the mean of y: those belong to the constant "
                        "model.",
                        lambda d: ((d.y - d.y.mean()) ** 2).sum(),
                    ),
                    Slip(
                        "You averaged the squares: the sum is asked for.",
                        lambda d: (errors_of(d) ** 2).mean(),
                    ),
                ),
            ),
            Step(
                "s2",
                "The unbiased estimate of the noise variance.",
                lambda d: d.rss / (len(d.x) - 2),
                ("Two numbers, a and b, were fitted.", "Divide by n - 2."),
                (
                    Slip(
                        "You divided by n: two parameters were fitted, so divide by n - 2.",
                        lambda d: d.rss / len(d.x),
                    ),
                    Slip(
                        "You divided by n - 1: the intercept and the slope both cost one.",
                        lambda d: d.rss / (len(d.x) - 1),
                    ),
                ),
            ),
            Step(
                "se",
                "The standard error of b.",
                lambda d: np.sqrt(d.s2 / ((d.x - d.x.mean()) ** 2).sum()),
                ("Var(b) = s^2 / sum (x - mean x)^2.",),
                (
                    Slip(
                        "This is the variance of b: the root is missing.",
                        lambda d: d.s2 / ((d.x - d.x.mean()) ** 2).sum(),
                    ),
                    Slip(
                        "You did not centre x in the denominator.",
                        lambda d: np.sqrt(d.s2 / (d.x @ d.x)),
                    ),
                ),
            ),
            Step(
                "t",
                "The t statistic of the hypothesis b = 0.",
                lambda d: simple_regression(d.x, d.y).slope / d.se,
                ("Estimate over its standard error.",),
                (Slip("This is its inverse.", lambda d: d.se / simple_regression(d.x, d.y).slope),),
            ),
        ),
    ),
    Exercise(
        "plane",
        "Two inputs: the normal equations",
        plane,
        "Fit y = b0 + b1 x1 + b2 x2 to the rows of X by least squares.",
        (
            Step(
                "gram",
                "The matrix D'D of D = [1 X], shape (3, 3).",
                lambda d: (
                    np.column_stack([np.ones(len(d.X)), d.X]).T
                    @ np.column_stack([np.ones(len(d.X)), d.X])
                ),
                (
                    "Put a column of ones before X.",
                    "Entry (j, k) is the product of columns j and k.",
                ),
            ),
            Step(
                "b",
                "The coefficients (b0, b1, b2).",
                lambda d: normal_equations(d.X, d.y).b,
                ("Solve D'D b = D'y.",),
                (
                    Slip(
                        "You solved with centred columns: the intercept is b0 = mean y - mean x'b.",
                        lambda d: np.append(d.y.mean(), normal_equations(d.X, d.y).b[1:]),
                    ),
                    Slip(
                        "Your coefficients come in another order: the intercept is the first.",
                        lambda d: np.roll(normal_equations(d.X, d.y).b, -1),
                    ),
                ),
            ),
            Step(
                "s2",
                "The unbiased estimate of the noise variance.",
                lambda d: normal_equations(d.X, d.y).s2,
                ("Residual sum of squares over n minus the number of coefficients.",),
                (
                    Slip(
                        "You divided by n: three coefficients were fitted.",
                        lambda d: normal_equations(d.X, d.y).s2 * (len(d.y) - 3) / len(d.y),
                    ),
                    Slip(
                        "You divided by n - 2: the intercept counts too.",
                        lambda d: normal_equations(d.X, d.y).s2 * (len(d.y) - 3) / (len(d.y) - 2),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "leverage",
        "Which row pulls the line?",
        pairs,
        "Fit y = a + b x by least squares and look at every row's pull on its own fit.",
        (
            Step(
                "h",
                "The leverages h_i, one per row.",
                lambda d: residual_diagnostics(d.x[:, None], d.y).leverage,
                (
                    "h_i is the diagonal of the hat matrix.",
                    "h_i = 1/n + (x_i - mean x)^2 / sum (x - mean x)^2.",
                ),
                (
                    Slip(
                        "You left out the 1/n of the intercept.",
                        lambda d: (d.x - d.x.mean()) ** 2 / ((d.x - d.x.mean()) ** 2).sum(),
                    ),
                ),
            ),
            Step(
                "total",
                "The sum of the leverages.",
                lambda d: float(np.sum(d.h)),
                ("It counts parameters.",),
            ),
            Step(
                "cook",
                "Cook's distance of every row.",
                lambda d: residual_diagnostics(d.x[:, None], d.y).cooks_distance,
                ("e_i^2 h_i / (s^2 (p + 1) (1 - h_i)^2) with p = 1.",),
                (
                    Slip(
                        "You forgot to square 1 - h.",
                        lambda d: (
                            errors_of(d) ** 2
                            * d.h
                            / (2 * normal_equations(d.x[:, None], d.y).s2 * (1 - d.h))
                        ),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "parabola",
        "A parabola is a linear model",
        curve,
        "Fit y = b0 + b1 x + b2 x^2 by least squares and predict y at x_new.",
        (
            Step(
                "columns",
                "How many columns has the design matrix?",
                lambda d: products(d.x[:, None], 2).shape[1],
                ("The constant counts.",),
                (Slip("You forgot the column of ones.", lambda d: 2),),
            ),
            Step(
                "b",
                "The coefficients (b0, b1, b2).",
                lambda d: polynomial_regression(d.x[:, None], d.y, 2),
                (
                    "The columns are 1, x and x^2; nothing else changes.",
                    "x and x^2 are orthogonal on these five points.",
                ),
                (
                    Slip(
                        "You gave the highest power first.",
                        lambda d: polynomial_regression(d.x[:, None], d.y, 2)[::-1],
                    ),
                ),
            ),
            Step(
                "prediction",
                "The prediction at x_new.",
                lambda d: float(np.sum(np.asarray(d.b) * d.x_new ** np.arange(3))),
                ("All three terms count.",),
                (Slip("You left out the square.", lambda d: d.b[0] + d.b[1] * d.x_new),),
            ),
        ),
    ),
    Exercise(
        "descent",
        "Two steps of gradient descent",
        descent_data,
        "Minimise |y - a - b x|^2 / (2 n) by gradient descent from a = b = 0 with the rate {rate}.",
        (
            Step(
                "gradient",
                "The gradient (d/da, d/db) at the start.",
                lambda d: -np.array([d.y.mean(), (d.x * d.y).mean()]),
                ("At 0 the residual is y itself.", "The gradient is -D'(y - D b) / n."),
                (
                    Slip(
                        "The sign is wrong: this is the direction of descent.",
                        lambda d: np.array([d.y.mean(), (d.x * d.y).mean()]),
                    ),
                    Slip("You did not divide by n.", lambda d: -np.array([d.y.sum(), d.x @ d.y])),
                ),
            ),
            Step(
                "first",
                "(a, b) after one step.",
                lambda d: -d.rate * np.asarray(d.gradient),
                ("Go against the gradient.",),
                (
                    Slip(
                        "You went up the hill: subtract the gradient.",
                        lambda d: d.rate * np.asarray(d.gradient),
                    ),
                ),
            ),
            Step(
                "second",
                "(a, b) after two steps.",
                lambda d: least_squares_descent(d.x[:, None], d.y, d.rate, 2).b,
                ("Compute the residuals again at the new place.",),
                (
                    Slip(
                        "You used the old gradient twice.",
                        lambda d: -2 * d.rate * np.asarray(d.gradient),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "inflation",
        "Two columns that say the same",
        two_columns,
        "How much does the company of x2 widen the interval of the coefficient of x1?",
        (
            Step(
                "r",
                "The correlation of x1 and x2.",
                lambda d: np.corrcoef(d.x1, d.x2)[0, 1],
                ("Both columns have mean 0.",),
                (
                    Slip(
                        "This is the slope of a regression, not the correlation.",
                        lambda d: d.x1 @ d.x2 / (d.x1 @ d.x1),
                    ),
                ),
            ),
            Step(
                "vif",
                "The variance inflation factor of x1.",
                lambda d: collinearity(np.column_stack([d.x1, d.x2])).vif[0],
                ("1 / (1 - R^2), with the R^2 of x1 on the other columns.",),
                (
                    Slip("You forgot to square the correlation.", lambda d: 1 / (1 - d.r)),
                    Slip(
                        "This is its root: by how much the standard error grows.",
                        lambda d: 1 / np.sqrt(1 - d.r**2),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "outlier",
        "Mean or median",
        wages,
        "Five wages y, one of them far from the others. Which constant is the best prediction?",
        (
            Step(
                "mean",
                "The constant with the least squared error.",
                lambda d: d.y.mean(),
                ("Set the derivative to 0.",),
                (Slip("This is the median.", lambda d: np.median(d.y)),),
            ),
            Step(
                "median",
                "The constant with the least absolute error.",
                lambda d: float(quantile_regression(np.zeros((len(d.y), 0)), d.y, d.q)[0]),
                ("As many rows below as above.",),
                (Slip("This is the mean.", lambda d: d.y.mean()),),
            ),
        ),
    ),
)
