"""Exercises on linear classifiers: odds, logistic regression, perceptron, softmax, labels."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.classification.least_squares_classifier import least_squares_classifier
from pellucid.textbook.classification.logistic_regression import newton_steps, sigmoid
from pellucid.textbook.classification.perceptron import corrections, perceptron
from pellucid.textbook.classification.softmax_regression import softmax


def exam(rng: np.random.Generator) -> Data:
    return {
        "b0": -float(rng.integers(3, 7)),
        "b1": one(rng, 0.5, 1, 1.5),
        "x": float(rng.integers(2, 8)),
    }


def newton_data(rng: np.random.Generator) -> Data:
    return {
        "x": np.array([-2.0, -1, 0, 1, 2]),
        "y": np.r_[0.0, 0.0, rng.permutation([0.0, 1.0]), 1.0],
    }


def separable(rng: np.random.Generator) -> Data:
    low = whole(rng, -4, -1, 2, 2)
    X = np.vstack([low, whole(rng, 1, 4, 2, 2)])
    return {"X": X, "y": np.array([-1.0, -1, 1, 1])}


def scores(rng: np.random.Generator) -> Data:
    return {"z": whole(rng, -2, 3, 3) + np.array([0.0, 0.5, 1.0]), "y": int(rng.integers(3))}


def probabilities(rng: np.random.Generator) -> Data:
    return {"p": np.round(rng.uniform(0.15, 0.9, 4), 1), "y": np.array([1, 1, 0, 0])}


def three(rng: np.random.Generator) -> Data:
    x = np.sort(rng.choice(np.arange(1, 10), 3, replace=False)).astype(float)
    return {"x": np.repeat(x, 2) + np.tile([0.0, 0.5], 3), "y": np.repeat([0, 1, 2], 2)}


def first_step(d: Given) -> np.ndarray:
    states = newton_steps(d.x[:, None], d.y, 1.0)
    next(states)
    return next(states).b


def log_loss(d: Given) -> float:
    return float(-np.mean(np.where(d.y == 1, np.log(d.p), np.log(1 - d.p))))


EXERCISES = (
    Exercise(
        "odds",
        "Read a logistic model",
        exam,
        "P(pass | hours x) = s(b0 + b1 x) with the logistic function s. A student works x = {x} "
        "hours.",
        (
            Step(
                "log_odds",
                "The log-odds of passing.",
                lambda d: d.b0 + d.b1 * d.x,
                ("The linear part.",),
                (Slip("You forgot the intercept.", lambda d: d.b1 * d.x),),
            ),
            Step(
                "p",
                "The probability of passing.",
                lambda d: float(sigmoid(np.asarray(d.log_odds))),
                ("1 / (1 + exp(-z)).",),
                (
                    Slip(
                        "The sign of the exponent is wrong: this is the probability of failing.",
                        lambda d: float(sigmoid(-np.asarray(d.log_odds))),
                    ),
                    Slip(
                        "These are the odds exp(z): divide by 1 + odds.",
                        lambda d: np.exp(d.log_odds),
                    ),
                ),
            ),
            Step(
                "ratio",
                "By what factor do the odds grow with one more hour?",
                lambda d: np.exp(d.b1),
                ("exp of the slope.",),
                (
                    Slip(
                        "The slope adds to the log-odds; the odds are multiplied by its "
                        "exponential.",
                        lambda d: d.b1,
                    ),
                ),
            ),
            Step(
                "even",
                "After how many hours is the chance 1/2?",
                lambda d: -d.b0 / d.b1,
                ("Where the log-odds are 0.",),
                (Slip("The sign is wrong.", lambda d: d.b0 / d.b1),),
            ),
        ),
    ),
    Exercise(
        "newton",
        "One Newton step of logistic regression",
        newton_data,
        "Minimise the logistic loss plus w^2 / 2 (alpha = 1, the intercept is free) from b = (0, "
        "0), b = (intercept, w).",
        (
            Step(
                "gradient",
                "The gradient at the start, (intercept, w).",
                lambda d: next(newton_steps(d.x[:, None], d.y, 1.0)).gradient,
                ("All probabilities are 1/2 there.", "D'(s - y) with D = [1 x]."),
                (
                    Slip(
                        "The sign is wrong: the gradient of the loss is D'(s - y).",
                        lambda d: -next(newton_steps(d.x[:, None], d.y, 1.0)).gradient,
                    ),
                ),
            ),
            Step(
                "hessian",
                "The second derivative in w at the start.",
                lambda d: 0.25 * d.x @ d.x + 1,
                ("s (1 - s) = 1/4 for every row; the penalty adds alpha.",),
                (
                    Slip("You forgot the penalty.", lambda d: 0.25 * d.x @ d.x),
                    Slip("You forgot the weights s (1 - s).", lambda d: d.x @ d.x + 1),
                ),
            ),
            Step(
                "b",
                "(intercept, w) after one step.",
                first_step,
                (
                    "x has mean 0, so both coordinates are separate.",
                    "b - gradient / second derivative.",
                ),
                (Slip("You added the step: subtract it.", lambda d: -first_step(d)),),
            ),
        ),
    ),
    Exercise(
        "perceptron",
        "The perceptron, row by row",
        separable,
        "From w = (0, 0), b = 0 visit the rows in order, again and again; a row with y (b + w'x) "
        "<= 0 is corrected by w += y x, b += y.",
        (
            Step(
                "first",
                "(b, w1, w2) after the first correction.",
                lambda d: np.append(next(corrections(d.X, d.y)).b, next(corrections(d.X, d.y)).w),
                ("At 0 the first row counts as wrong.",),
                (Slip("You added x without its sign y.", lambda d: np.append(1.0, d.X[0])),),
            ),
            Step(
                "count",
                "How many corrections are made until an epoch has none?",
                lambda d: len(list(corrections(d.X, d.y))),
                ("Go on until all four rows are right.",),
            ),
            Step(
                "w",
                "(b, w1, w2) at the end.",
                lambda d: np.append(perceptron(d.X, d.y).b, perceptron(d.X, d.y).w),
                ("The sum of the corrections.",),
            ),
        ),
    ),
    Exercise(
        "softmax",
        "From scores to probabilities",
        scores,
        "A model gives the scores z to three classes 0, 1, 2; the true class is {y}.",
        (
            Step(
                "p",
                "The probabilities.",
                lambda d: softmax(d.z[None])[0],
                ("exp(z_k) over the sum.",),
                (
                    Slip(
                        "You divided the scores by their sum: take exponentials first.",
                        lambda d: d.z / d.z.sum(),
                    ),
                    Slip("You forgot to divide by the sum.", lambda d: np.exp(d.z)),
                ),
            ),
            Step(
                "loss",
                "The cross-entropy loss of this row (natural logarithm).",
                lambda d: -np.log(d.p[int(d.y)]),
                ("Minus the log of the probability of the true class.",),
                (
                    Slip("You used log2.", lambda d: -np.log2(d.p[int(d.y)])),
                    Slip("The minus sign is missing.", lambda d: np.log(d.p[int(d.y)])),
                ),
            ),
            Step(
                "gradient",
                "The gradient of the loss in z.",
                lambda d: np.asarray(d.p) - np.eye(3)[int(d.y)],
                ("Probabilities minus the one-hot label.",),
                (
                    Slip("The sign is wrong.", lambda d: np.eye(3)[int(d.y)] - np.asarray(d.p)),
                    Slip("You forgot to subtract the label.", lambda d: d.p),
                ),
            ),
        ),
    ),
    Exercise(
        "log_loss",
        "Two losses of probabilities",
        probabilities,
        "A classifier gives p = P(y = 1) to four rows.",
        (
            Step(
                "accuracy",
                "The accuracy at the threshold 1/2 (p >= 1/2 says 1).",
                lambda d: float(np.mean((d.p >= 0.5) == d.y)),
                ("Count the right ones.",),
            ),
            Step(
                "log_loss",
                "The mean log loss (natural logarithm).",
                log_loss,
                ("-ln p where y = 1, -ln(1 - p) where y = 0.",),
                (
                    Slip(
                        "You took -ln p for every row: where y = 0 it is -ln(1 - p).",
                        lambda d: float(-np.log(d.p).mean()),
                    ),
                    Slip("You used log2.", lambda d: log_loss(d) / np.log(2)),
                    Slip("This is the sum: divide by n.", lambda d: 4 * log_loss(d)),
                ),
            ),
            Step(
                "brier",
                "The Brier score.",
                lambda d: float(np.mean((d.p - d.y) ** 2)),
                ("The mean squared difference.",),
                (Slip("You forgot to square.", lambda d: float(np.abs(d.p - d.y).mean())),),
            ),
        ),
    ),
    Exercise(
        "masking",
        "Least squares on indicators",
        three,
        "Three classes on a line are coded as 0/1 columns and fitted by least squares with an "
        "intercept.",
        (
            Step(
                "B",
                "The coefficients, shape (2, 3): intercepts in the first row.",
                lambda d: least_squares_classifier(d.x[:, None], d.y),
                ("Three regressions with the same x.",),
            ),
            Step(
                "sums",
                "The sum of the three slopes.",
                lambda d: float(np.sum(np.asarray(d.B)[1])),
                ("The indicators sum to 1 in every row.",),
                (Slip("1 is the sum of the intercepts.", lambda d: 1.0),),
            ),
            Step(
                "middle",
                "The fitted indicator of class 1 at the mean of x.",
                lambda d: float(np.asarray(d.B)[0, 1] + np.asarray(d.B)[1, 1] * d.x.mean()),
                ("A regression passes through the means.",),
            ),
        ),
    ),
)
