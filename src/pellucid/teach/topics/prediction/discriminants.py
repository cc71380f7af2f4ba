"""Exercises on discriminant analysis: normal classes, linear and quadratic rules."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.classification import linear_discriminant_analysis as lda
from pellucid.textbook.classification import quadratic_discriminant_analysis as qda
from pellucid.textbook.classification.fisher_projection import fisher_projection
from pellucid.textbook.classification.regularised_discriminant_analysis import (
    regularised_discriminant_analysis,
)

SQUARE = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])


def line(rng: np.random.Generator) -> Data:
    low = float(rng.integers(1, 4))
    x = np.r_[low + np.array([-1.0, 0, 1]), low + rng.integers(3, 6) + np.array([-1.0, 0, 0, 1])]
    return {"x": x, "y": np.array([0, 0, 0, 1, 1, 1, 1]), "x_new": low + 2}


def plane(rng: np.random.Generator) -> Data:
    scale = np.array([one(rng, 1, 2), one(rng, 3, 4)])
    shift = whole(rng, 2, 5, 2)
    return {"X": np.vstack([SQUARE * scale, SQUARE * scale + shift]), "y": np.repeat([0, 1], 4)}


def spreads(rng: np.random.Generator) -> Data:
    wide = float(rng.integers(2, 5))
    x = np.r_[[-1.0, 0, 1], wide * np.array([-1.0, 0, 1]) + rng.integers(1, 3)]
    return {"x": x, "y": np.repeat([0, 1], 3), "x_new": 1.0}


def linear_fit(d: Given) -> lda.Fit:
    return lda.linear_discriminant_analysis(d.x[:, None], d.y)


def quadratic_fit(d: Given) -> qda.Fit:
    return qda.quadratic_discriminant_analysis(d.x[:, None], d.y)


def unit(a: np.ndarray) -> np.ndarray:
    """Length 1, the first entry positive."""
    return a / np.linalg.norm(a) * np.sign(a[0])


EXERCISES = (
    Exercise(
        "linear",
        "LDA on a line",
        line,
        "Two normal classes with a common variance (divisor n). Classify x_new = {x_new}.",
        (
            Step(
                "means",
                "The means of classes 0 and 1.",
                lambda d: linear_fit(d).means[:, 0],
                ("Class by class.",),
            ),
            Step(
                "s2",
                "The common variance, divisor n.",
                lambda d: float(linear_fit(d).S.item()),
                ("Deviations from the own class mean.",),
                (
                    Slip(
                        "You divided by n - 2; maximum likelihood divides by n.",
                        lambda d: float(linear_fit(d).S.item()) * 7 / 5,
                    ),
                    Slip("You took deviations from the mean of all rows.", lambda d: d.x.var()),
                ),
            ),
            Step(
                "delta",
                "delta_0 and delta_1 at x_new: x m / s2 - m^2 / (2 s2) + ln(prior).",
                lambda d: lda.discriminants(linear_fit(d), np.array([[d.x_new]]))[0],
                ("The priors are the shares 3/7 and 4/7.",),
                (
                    Slip(
                        "You forgot the priors.",
                        lambda d: d.x_new * d.means / d.s2 - d.means**2 / (2 * d.s2),
                    ),
                    Slip(
                        "You used log2 for the priors.",
                        lambda d: (
                            d.x_new * d.means / d.s2
                            - d.means**2 / (2 * d.s2)
                            + np.log2([3 / 7, 4 / 7])
                        ),
                    ),
                ),
            ),
            Step(
                "label",
                "The class of x_new.",
                lambda d: int(np.argmax(d.delta)),
                ("The larger delta wins.",),
            ),
        ),
    ),
    Exercise(
        "threshold",
        "Where LDA cuts",
        line,
        "The same kind of data: where on the line do the classes change?",
        (
            Step(
                "midpoint",
                "The cut for equal priors.",
                lambda d: float(linear_fit(d).means.mean()),
                ("Half-way between the means.",),
                (Slip("This is the mean of all rows.", lambda d: d.x.mean()),),
            ),
            Step(
                "cut",
                "The cut with the priors of the sample.",
                lambda d: float(
                    d.midpoint
                    - linear_fit(d).S.item() / np.diff(linear_fit(d).means[:, 0])[0] * np.log(4 / 3)
                ),
                ("Set delta_0 = delta_1.", "midpoint - s2 / (m1 - m0) ln(p1 / p0)."),
                (
                    Slip(
                        "The cut moves away from the frequent class: the sign is wrong.",
                        lambda d: float(
                            d.midpoint
                            + linear_fit(d).S.item()
                            / np.diff(linear_fit(d).means[:, 0])[0]
                            * np.log(4 / 3)
                        ),
                    ),
                    Slip("You forgot the priors.", lambda d: d.midpoint),
                ),
            ),
        ),
    ),
    Exercise(
        "quadratic",
        "QDA: each class its own variance",
        spreads,
        "Two normal classes with equal priors and variances of their own (divisor n_k). Classify "
        "x_new = {x_new}.",
        (
            Step(
                "variances",
                "The two variances.",
                lambda d: quadratic_fit(d).S[:, 0, 0],
                ("Each class for itself, divisor 3.",),
                (Slip("You divided by n_k - 1.", lambda d: quadratic_fit(d).S[:, 0, 0] * 1.5),),
            ),
            Step(
                "delta",
                "delta_k = -ln(s_k^2) / 2 - (x - m_k)^2 / (2 s_k^2) + ln(1/2) at x_new.",
                lambda d: qda.discriminants(quadratic_fit(d), np.array([[d.x_new]]))[0],
                ("The logarithm of the variance stays: it differs between classes.",),
                (
                    Slip(
                        "You left out -ln(s_k^2) / 2.",
                        lambda d: (
                            qda.discriminants(quadratic_fit(d), np.array([[d.x_new]]))[0]
                            + np.log(d.variances) / 2
                        ),
                    ),
                ),
            ),
            Step(
                "label",
                "The class of x_new.",
                lambda d: int(np.argmax(d.delta)),
                ("The larger delta wins.",),
            ),
        ),
    ),
    Exercise(
        "fisher",
        "Fisher's direction",
        plane,
        "Two classes of four points in the plane. Find the direction a proportional to W^-1 (m1 - "
        "m0).",
        (
            Step(
                "W",
                "The covariance within the classes, divisor n, shape (2, 2).",
                lambda d: lda.linear_discriminant_analysis(d.X, d.y).S,
                ("Deviations from the own class mean.",),
                (
                    Slip(
                        "You divided by n - 2.",
                        lambda d: lda.linear_discriminant_analysis(d.X, d.y).S * 8 / 6,
                    ),
                    Slip(
                        "This is the covariance of all rows: it contains the distance of the "
                        "means.",
                        lambda d: np.cov(d.X.T, bias=True),
                    ),
                ),
            ),
            Step(
                "a",
                "The direction, scaled to length 1 with a positive first entry.",
                lambda d: unit(fisher_projection(d.X, d.y).A[:, 0]),
                ("W is diagonal here.",),
                (
                    Slip(
                        "This is the line through the means: divide by the variances.",
                        lambda d: unit(d.X[4:].mean(axis=0) - d.X[:4].mean(axis=0)),
                    ),
                    Slip(
                        "You divided by standard deviations, not variances.",
                        lambda d: unit(
                            (d.X[4:].mean(axis=0) - d.X[:4].mean(axis=0)) / np.sqrt(np.diag(d.W))
                        ),
                    ),
                ),
            ),
            Step(
                "ratio",
                "The squared Mahalanobis distance of the means.",
                lambda d: float(
                    (d.X[4:].mean(axis=0) - d.X[:4].mean(axis=0))
                    @ np.linalg.solve(d.W, d.X[4:].mean(axis=0) - d.X[:4].mean(axis=0))
                ),
                ("(m1 - m0)' W^-1 (m1 - m0).",),
                (
                    Slip(
                        "This is the plain squared distance.",
                        lambda d: float(((d.X[4:].mean(axis=0) - d.X[:4].mean(axis=0)) ** 2).sum()),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "regularised",
        "Between LDA and QDA",
        spreads,
        "Mix each class's variance with the common one: T_k = a C_k + (1 - a) C with a = 1/2 "
        "(divisors n_k and n).",
        (
            Step(
                "common",
                "The common variance C.",
                lambda d: float(linear_fit(d).S.item()),
                ("Deviations from the own class mean over n = 6.",),
                (Slip("You divided by n - 2.", lambda d: float(linear_fit(d).S.item()) * 1.5),),
            ),
            Step(
                "mixed",
                "The two variances T_k.",
                lambda d: regularised_discriminant_analysis(d.x[:, None], d.y, 0.5, 0.0)[:, 0, 0],
                ("Half of each.",),
                (
                    Slip(
                        "These are the classes' own variances: a = 1.",
                        lambda d: quadratic_fit(d).S[:, 0, 0],
                    ),
                ),
            ),
        ),
    ),
)
