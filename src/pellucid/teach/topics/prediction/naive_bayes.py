"""Exercises on naive Bayes: counting, smoothing, normal columns."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.classification import bernoulli_naive_bayes as bernoulli
from pellucid.textbook.classification import categorical_naive_bayes as categorical
from pellucid.textbook.classification import gaussian_naive_bayes as gaussian
from pellucid.textbook.classification import multinomial_naive_bayes as multinomial
from pellucid.textbook.theory.bayes_rule import bayes_rule


def clinic(rng: np.random.Generator) -> Data:
    return {
        "prior": one(rng, 0.01, 0.02, 0.05),
        "sensitivity": one(rng, 0.9, 0.95),
        "specificity": one(rng, 0.9, 0.95),
    }


def weather(rng: np.random.Generator) -> Data:
    X = np.column_stack([rng.permutation([0, 0, 1, 1, 2, 2, 0, 1]), rng.integers(0, 2, 8)])
    return {"X": X, "y": np.array([0, 0, 0, 1, 1, 1, 1, 1]), "x_new": np.array([0, 1])}


def texts(rng: np.random.Generator) -> Data:
    X = whole(rng, 0, 3, 4, 3)
    X[:, 0] += 1
    return {"X": X, "y": np.array([0, 0, 1, 1]), "x_new": np.array([2.0, 1, 0])}


def yes_no(rng: np.random.Generator) -> Data:
    return {
        "X": rng.integers(0, 2, (6, 3)).astype(float),
        "y": np.array([0, 0, 1, 1, 1, 1]),
        "x_new": np.array([1.0, 0, 0]),
    }


def heights(rng: np.random.Generator) -> Data:
    x = np.r_[160 + 2 * np.array([-1.0, 0, 1]), 170 + 2 * np.array([-1.0, 0, 0, 1])]
    return {
        "x": x + np.repeat(whole(rng, 0, 4, 2), [3, 4]),
        "y": np.array([0] * 3 + [1] * 4),
        "x_new": 168.0,
    }


def normalised(log_joint: np.ndarray) -> np.ndarray:
    p = np.exp(log_joint - log_joint.max())
    return p / p.sum()


def table_fit(d: Given, a: float = 1.0) -> categorical.Fit:
    return categorical.categorical_naive_bayes(d.X, d.y, a)


def share(d: Given) -> float:
    return float(np.mean(d.X[d.y == 1, 0] == d.x_new[0]))


EXERCISES = (
    Exercise(
        "rare",
        "A positive test for a rare disease",
        clinic,
        "A share {prior} of the people is ill. The test finds {sensitivity} of the ill, and "
        "{specificity} of the healthy test negative. A test is positive.",
        (
            Step(
                "positive",
                "The probability of a positive test.",
                lambda d: d.prior * d.sensitivity + (1 - d.prior) * (1 - d.specificity),
                ("Ill and found, or healthy and a false alarm.",),
                (
                    Slip(
                        "You forgot the false alarms of the healthy.",
                        lambda d: d.prior * d.sensitivity,
                    ),
                    Slip(
                        "You took the specificity for the rate of false alarms.",
                        lambda d: d.prior * d.sensitivity + (1 - d.prior) * d.specificity,
                    ),
                ),
            ),
            Step(
                "posterior",
                "The probability of being ill.",
                lambda d: bayes_rule(
                    np.array([d.prior, 1 - d.prior]), np.array([d.sensitivity, 1 - d.specificity])
                )[0],
                ("Bayes: prior times likelihood over the evidence.",),
                (
                    Slip(
                        "This is P(positive | ill): the condition is turned round.",
                        lambda d: d.sensitivity,
                    ),
                    Slip(
                        "You did not divide by the probability of a positive test.",
                        lambda d: d.prior * d.sensitivity,
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "categorical",
        "Tables of shares",
        weather,
        "Two columns of categories (the first 0, 1, 2; the second 0, 1) and classes y. Use "
        "Laplace smoothing (a = 1). Classify x_new.",
        (
            Step("prior", "P(y = 1).", lambda d: float(np.mean(d.y)), ("The share of the class.",)),
            Step(
                "shares",
                "P(x_1 = 0 | y = 1), smoothed.",
                lambda d: float(np.exp(table_fit(d).log_t[0][1, d.x_new[0]])),
                ("(count + 1) / (n_1 + 3): three values.",),
                (
                    Slip("You did not smooth.", share),
                    Slip(
                        "You added 1 to the count but 2, not 3, to the total: the column has "
                        "three values.",
                        lambda d: (share(d) * 5 + 1) / 7,
                    ),
                ),
            ),
            Step(
                "posterior",
                "P(y = 1 | x_new).",
                lambda d: normalised(categorical.log_joint(table_fit(d), d.x_new[None])[0])[1],
                ("Multiply prior and both shares for each class, then normalise.",),
                (
                    Slip(
                        "You forgot the prior.",
                        lambda d: normalised(
                            categorical.log_joint(table_fit(d), d.x_new[None])[0]
                            - table_fit(d).log_prior
                        )[1],
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "words",
        "Multinomial naive Bayes",
        texts,
        "Counts of three words in four texts of two classes, smoothing a = 1. Classify the text "
        "x_new.",
        (
            Step(
                "t",
                "The word probabilities of class 1.",
                lambda d: np.exp(multinomial.multinomial_naive_bayes(d.X, d.y).log_t[1]),
                ("(count + 1) / (words + 3).",),
                (
                    Slip("You did not smooth.", lambda d: d.X[2:].sum(axis=0) / d.X[2:].sum()),
                    Slip(
                        "You counted texts, not words, in the denominator.",
                        lambda d: (d.X[2:].sum(axis=0) + 1) / 5,
                    ),
                ),
            ),
            Step(
                "log_ratio",
                "ln P(1, x) - ln P(0, x).",
                lambda d: float(
                    np.diff(
                        multinomial.log_joint(
                            multinomial.multinomial_naive_bayes(d.X, d.y), d.x_new[None]
                        )[0]
                    )[0]
                ),
                ("The priors are equal: sum of counts times ln t_1 - ln t_0.",),
                (
                    Slip(
                        "The sign is wrong: class 1 minus class 0.",
                        lambda d: (
                            -float(
                                np.diff(
                                    multinomial.log_joint(
                                        multinomial.multinomial_naive_bayes(d.X, d.y), d.x_new[None]
                                    )[0]
                                )[0]
                            )
                        ),
                    ),
                ),
            ),
            Step(
                "label",
                "The class of x_new.",
                lambda d: int(d.log_ratio > 0),
                ("Positive: class 1.",),
            ),
        ),
    ),
    Exercise(
        "absent",
        "An absent word counts too",
        yes_no,
        "Three columns of yes (1) and no (0), classes y, smoothing a = 1 (two values per column). "
        "Classify x_new by Bernoulli naive Bayes.",
        (
            Step(
                "t",
                "P(x_j = 1 | y = 1) of the three columns.",
                lambda d: bernoulli.bernoulli_naive_bayes(d.X, d.y).t[1],
                ("(ones + 1) / (4 + 2).",),
                (Slip("You did not smooth.", lambda d: d.X[2:].mean(axis=0)),),
            ),
            Step(
                "likelihood",
                "P(x_new | y = 1).",
                lambda d: float(np.prod(np.where(d.x_new == 1, d.t, 1 - np.asarray(d.t)))),
                ("1 - t for a column that is 0.",),
                (
                    Slip(
                        "You multiplied only the columns that are 1.",
                        lambda d: float(np.prod(np.asarray(d.t)[d.x_new == 1])),
                    ),
                ),
            ),
            Step(
                "posterior",
                "P(y = 1 | x_new).",
                lambda d: normalised(
                    bernoulli.log_joint(bernoulli.bernoulli_naive_bayes(d.X, d.y), d.x_new[None])[0]
                )[1],
                ("The priors are 1/3 and 2/3.",),
                (
                    Slip(
                        "You took equal priors.",
                        lambda d: normalised(
                            bernoulli.log_joint(
                                bernoulli.bernoulli_naive_bayes(d.X, d.y), d.x_new[None]
                            )[0]
                            - bernoulli.bernoulli_naive_bayes(d.X, d.y).log_prior
                        )[1],
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "normal",
        "A normal column in each class",
        heights,
        "Gaussian naive Bayes with one column (variances with divisor n_k). Classify x_new = "
        "{x_new}.",
        (
            Step(
                "variances",
                "The variances of both classes.",
                lambda d: gaussian.gaussian_naive_bayes(d.x[:, None], d.y).variance[:, 0],
                ("Divisor n_k.",),
                (
                    Slip(
                        "You divided by n_k - 1.",
                        lambda d: np.array([d.x[:3].var(ddof=1), d.x[3:].var(ddof=1)]),
                    ),
                ),
            ),
            Step(
                "log_joint",
                "ln p(x_new, k) of both classes.",
                lambda d: gaussian.log_joint(
                    gaussian.gaussian_naive_bayes(d.x[:, None], d.y), np.array([[d.x_new]])
                )[0],
                ("ln prior - ln(2 pi v) / 2 - (x - m)^2 / (2 v).",),
                (
                    Slip(
                        "You forgot the priors.",
                        lambda d: (
                            gaussian.log_joint(
                                gaussian.gaussian_naive_bayes(d.x[:, None], d.y),
                                np.array([[d.x_new]]),
                            )[0]
                            - np.log([3 / 7, 4 / 7])
                        ),
                    ),
                ),
            ),
            Step(
                "posterior",
                "P(class 1 | x_new).",
                lambda d: float(normalised(np.asarray(d.log_joint))[1]),
                ("Exponentiate and normalise.",),
            ),
        ),
    ),
)
