"""Exercises on mixtures and EM."""

import numpy as np

from pellucid.teach.numbers import distinct, one
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.mixtures import bernoulli_mixture, gaussian_mixture
from pellucid.textbook.mixtures.density_outlier import density_outlier
from pellucid.textbook.mixtures.gaussian_mixture import Mixture, expectation, maximisation


def line(rng: np.random.Generator) -> Data:
    x = np.array([0.0, 1.0, float(rng.integers(3, 5)), float(rng.integers(5, 7))])
    return {"x": x, "w": np.array([0.5, 0.5]), "m": np.array([0.0, 4.0]), "v": np.array([1.0, 1.0])}


def soft(rng: np.random.Generator) -> Data:
    q = np.round(rng.choice(np.arange(1, 10), 4) / 10, 1)
    return {"x": distinct(rng, 0, 9, 4), "q": np.column_stack([q, 1 - q])}


def coins(rng: np.random.Generator) -> Data:
    X = np.array([[1.0, 1, 1, 1, 0], [0, 1, 1, 0, 1], [1, 0, 0, 0, 0]])
    return {
        "X": X[rng.permutation(3)][:, rng.permutation(5)],
        "w": np.array([0.5, 0.5]),
        "t": np.array([[0.6] * 5, [0.4] * 5]),
    }


def densities(rng: np.random.Generator) -> Data:
    return {
        "w": np.array([0.25, 0.75]) if rng.random() < 0.5 else np.array([0.4, 0.6]),
        "m": np.array([0.0, one(rng, 2, 3)]),
        "s": 1.0,
        "x": 1.0,
    }


def odd(rng: np.random.Generator) -> Data:
    return {"x": np.append(distinct(rng, 0, 9, 7), float(rng.integers(25, 40))), "share": 0.125}


def start(d: Given) -> Mixture:
    return Mixture(d.w, d.m[:, None], d.v[:, None, None])


def after(d: Given) -> Mixture:
    return maximisation(d.x[:, None], expectation(d.x[:, None], start(d)).q)


def normal(x: np.ndarray | float, m: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.exp(-((x - m) ** 2) / (2 * v)) / np.sqrt(2 * np.pi * v)


def coin_round(d: Given, n: int) -> bernoulli_mixture.State:
    states = bernoulli_mixture.rounds(d.X, d.w, d.t)
    return [next(states) for _ in range(n + 1)][-1]


EXERCISES = (
    Exercise(
        "expectation",
        "The E-step",
        line,
        "A mixture of two normal densities with the weights w, means m and variances v.",
        (
            Step(
                "joint",
                "w_k N(x_i; m_k, v_k), shape (4, 2).",
                lambda d: d.w * normal(d.x[:, None], d.m, d.v),
                ("The density of each component times its weight.",),
                (Slip("You forgot the weights.", lambda d: normal(d.x[:, None], d.m, d.v)),),
                1e-5,
            ),
            Step(
                "q",
                "The responsibilities, shape (4, 2).",
                lambda d: expectation(d.x[:, None], start(d)).q,
                ("Divide each row by its sum.",),
                (
                    Slip(
                        "You divided columns by their sums.",
                        lambda d: d.joint / np.sum(d.joint, axis=0),
                    ),
                    Slip(
                        "You rounded to the nearest component: that is k-means.",
                        lambda d: np.eye(2)[np.argmax(d.joint, axis=1)],
                    ),
                ),
            ),
            Step(
                "log_likelihood",
                "The log-likelihood of the four points.",
                lambda d: float(np.log(np.sum(d.joint, axis=1)).sum()),
                ("Log of the row sums, summed.",),
                (
                    Slip(
                        "You summed the logs of the components: the sum comes first.",
                        lambda d: float(np.log(d.joint).sum()),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "maximisation",
        "The M-step",
        soft,
        "Four points and their responsibilities q in two components.",
        (
            Step(
                "w",
                "The new weights.",
                lambda d: maximisation(d.x[:, None], d.q).w,
                ("Column means of q.",),
                (Slip("These are sums: divide by n.", lambda d: d.q.sum(axis=0)),),
            ),
            Step(
                "m",
                "The new means.",
                lambda d: maximisation(d.x[:, None], d.q).m[:, 0],
                ("Weighted means.",),
                (
                    Slip(
                        "You divided by n, not by the sum of the weights.",
                        lambda d: d.q.T @ d.x / 4,
                    ),
                ),
            ),
            Step(
                "v",
                "The new variances.",
                lambda d: maximisation(d.x[:, None], d.q).S[:, 0, 0],
                ("Weighted squares around the new means, over the sum of the weights.",),
                (
                    Slip(
                        "You took the deviations from the mean of all points.",
                        lambda d: d.q.T @ (d.x - d.x.mean()) ** 2 / d.q.sum(axis=0),
                    ),
                    Slip(
                        "You divided by n.",
                        lambda d: (
                            np.array(
                                [d.q[:, k] @ (d.x - np.asarray(d.m)[k]) ** 2 for k in range(2)]
                            )
                            / 4
                        ),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "em_round",
        "A whole round of EM",
        line,
        "One round of EM from the weights w, means m and variances v.",
        (
            Step(
                "means",
                "The means after the round.",
                lambda d: after(d).m[:, 0],
                ("Responsibilities, then weighted means.",),
                (
                    Slip(
                        "You gave each point wholly to one component: that is k-means.",
                        lambda d: np.array(
                            [
                                d.x[np.abs(d.x - d.m[0]) <= np.abs(d.x - d.m[1])].mean(),
                                d.x[np.abs(d.x - d.m[0]) > np.abs(d.x - d.m[1])].mean(),
                            ]
                        ),
                    ),
                ),
            ),
            Step(
                "rise",
                "By how much does the log-likelihood rise?",
                lambda d: float(
                    expectation(d.x[:, None], after(d)).log_likelihood
                    - expectation(d.x[:, None], start(d)).log_likelihood
                ),
                ("It can never fall.",),
                (
                    Slip(
                        "This is the fall: the sign is wrong.",
                        lambda d: float(
                            expectation(d.x[:, None], start(d)).log_likelihood
                            - expectation(d.x[:, None], after(d)).log_likelihood
                        ),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "coins",
        "Two coins, unknown which",
        coins,
        "Each row of X is five throws (1 = heads) of one of two coins with the chances of heads "
        "t, chosen with probabilities w. One round of EM.",
        (
            Step(
                "q",
                "The probability that each row came from the first coin.",
                lambda d: coin_round(d, 0).q[:, 0],
                ("Likelihood 0.6^h 0.4^(5-h) against 0.4^h 0.6^(5-h).",),
                (Slip("These belong to the second coin.", lambda d: coin_round(d, 0).q[:, 1]),),
            ),
            Step(
                "heads",
                "The new chance of heads of the first coin (the mean over its five columns).",
                lambda d: float(coin_round(d, 1).t[0].mean()),
                ("Expected heads over expected throws.",),
                (
                    Slip(
                        "You divided by all throws, not the expected ones of this coin.",
                        lambda d: float(np.asarray(d.q) @ d.X.mean(axis=1)) / 3,
                    ),
                ),
            ),
            Step(
                "weight",
                "The new probability of the first coin.",
                lambda d: float(np.mean(d.q)),
                ("The mean responsibility.",),
            ),
        ),
    ),
    Exercise(
        "density",
        "A density with two hills",
        densities,
        "p(x) = w1 N(x; m1, 1) + w2 N(x; m2, 1).",
        (
            Step(
                "p",
                "p(1).",
                lambda d: float(
                    np.exp(
                        np.logaddexp.reduce(
                            gaussian_mixture.log_joint(
                                np.array([[d.x]]), Mixture(d.w, d.m[:, None], np.ones((2, 1, 1)))
                            )[0]
                        )
                    )
                ),
                ("Weighted sum of both densities.",),
                (
                    Slip(
                        "You forgot the weights.",
                        lambda d: float(normal(d.x, d.m, np.ones(2)).sum()),
                    ),
                ),
                1e-4,
            ),
            Step(
                "posterior",
                "P(second component | x = 1).",
                lambda d: float(d.w[1] * normal(d.x, d.m, np.ones(2))[1] / d.p),
                ("Bayes' rule.",),
                (
                    Slip(
                        "This is the first component.",
                        lambda d: float(d.w[0] * normal(d.x, d.m, np.ones(2))[0] / d.p),
                    ),
                ),
            ),
            Step(
                "mean",
                "The mean of the mixture.",
                lambda d: float(d.w @ d.m),
                ("The weighted mean of the means.",),
                (Slip("You did not weigh.", lambda d: d.m.mean()),),
            ),
            Step(
                "variance",
                "The variance of the mixture.",
                lambda d: float(1 + d.w @ (d.m - d.mean) ** 2),
                ("Within plus between.",),
                (Slip("You forgot the distance of the means.", lambda d: 1.0),),
            ),
        ),
    ),
    Exercise(
        "outlier",
        "Rows of low density",
        odd,
        "A normal density is fitted to x (divisor n); the {share} share of least density is "
        "called odd.",
        (
            Step(
                "moments",
                "The mean and the variance (divisor n).",
                lambda d: np.array([d.x.mean(), d.x.var()]),
                ("Maximum likelihood.",),
                (Slip("You divided by n - 1.", lambda d: np.array([d.x.mean(), d.x.var(ddof=1)])),),
            ),
            Step(
                "odd",
                "The row (from 0) that is called odd.",
                lambda d: int(np.flatnonzero(density_outlier(d.x[:, None], d.share).odd)[0]),
                ("The farthest from the mean.",),
            ),
            Step(
                "z",
                "By how many standard deviations is it off?",
                lambda d: float(abs(d.x[int(d.odd)] - d.moments[0]) / np.sqrt(d.moments[1])),
                ("The outlier itself widens the deviation.",),
                (
                    Slip(
                        "You divided by the variance.",
                        lambda d: float(abs(d.x[int(d.odd)] - d.moments[0]) / d.moments[1]),
                    ),
                ),
            ),
        ),
    ),
)
