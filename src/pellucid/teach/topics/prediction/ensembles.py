"""Exercises on ensembles: votes, bootstrap samples, boosting."""

import numpy as np

from pellucid.teach.numbers import one, table, whole
from pellucid.teach.records import Data, Exercise, Slip, Step
from pellucid.textbook.ensembles.adaboost import rounds
from pellucid.textbook.ensembles.committee_theory import (
    committee_theory,
    unique_share,
    variance_of_mean,
)
from pellucid.textbook.ensembles.gradient_boosting import rounds as boosting_rounds
from pellucid.textbook.ensembles.second_order_boosting import best_split
from pellucid.textbook.ensembles.voting import voting


def jury(rng: np.random.Generator) -> Data:
    return {
        "p": one(rng, 0.6, 0.7, 0.8),
        "B": 3,
        "s2": float(rng.integers(4, 10)),
        "r": one(rng, 0.2, 0.5),
    }


def members(rng: np.random.Generator) -> Data:
    return {"P": np.array([table(rng, 1, 2)[0] for _ in range(3)])}


def bag(rng: np.random.Generator) -> Data:
    return {"n": int(rng.integers(4, 9)), "drawn": rng.integers(0, 6, 6)}


def weak(rng: np.random.Generator) -> Data:
    y = np.array([1.0, 1, -1, -1, 1, -1])
    return {"x": np.arange(1.0, 7.0), "y": y if rng.random() < 0.5 else -y[::-1]}


def residuals(rng: np.random.Generator) -> Data:
    return {
        "x": np.arange(1.0, 5.0),
        "y": np.r_[whole(rng, 1, 4, 2), whole(rng, 8, 12, 2)],
        "nu": one(rng, 0.1, 0.5),
    }


def gradients(rng: np.random.Generator) -> Data:
    return {
        "x": np.arange(1.0, 5.0),
        "g": np.r_[-whole(rng, 2, 5, 2), whole(rng, 1, 3, 2)],
        "h": np.ones(4),
        "l2": one(rng, 1, 2),
    }


EXERCISES = (
    Exercise(
        "jury",
        "Three heads",
        jury,
        "Three members are right with probability p = {p} each. Their answers have the variance "
        "{s2} and the correlation {r}.",
        (
            Step(
                "majority",
                "The probability that the majority is right, if they are independent.",
                lambda d: committee_theory(d.p, d.B),
                ("Two or three are right.", "p^3 + 3 p^2 (1 - p)."),
                (
                    Slip(
                        "You forgot that three different pairs can be right.",
                        lambda d: d.p**3 + d.p**2 * (1 - d.p),
                    ),
                    Slip("This is the probability that all are right.", lambda d: d.p**3),
                ),
            ),
            Step(
                "variance",
                "The variance of their mean.",
                lambda d: variance_of_mean(d.s2, d.B, d.r),
                ("r s2 + (1 - r) s2 / B.",),
                (
                    Slip(
                        "You took them as independent: what they share does not average out.",
                        lambda d: d.s2 / d.B,
                    ),
                ),
            ),
            Step(
                "limit",
                "The variance of the mean of very many such members.",
                lambda d: d.r * d.s2,
                ("Only the shared part stays.",),
                (Slip("It does not go to 0: the members are correlated.", lambda d: 0.0),),
            ),
        ),
    ),
    Exercise(
        "voting",
        "Soft and hard votes",
        members,
        "Three classifiers give the probabilities P of classes 0 and 1 for one row.",
        (
            Step(
                "hard",
                "The class with most votes.",
                lambda d: int(voting(d.P[:, None], hard=True)[0]),
                ("Each member says its likelier class; a tie of a member goes to 0.",),
            ),
            Step(
                "mean",
                "The mean probability of class 1.",
                lambda d: d.P[:, 1].mean(),
                ("Over the three.",),
                (Slip("This is class 0.", lambda d: d.P[:, 0].mean()),),
            ),
            Step(
                "soft",
                "The class of the soft vote.",
                lambda d: int(voting(d.P[:, None])[0]),
                ("The larger mean probability.",),
            ),
        ),
    ),
    Exercise(
        "bootstrap",
        "How much of the data is seen?",
        bag,
        "A bootstrap sample draws n rows from n with replacement. First n = {n}; then the rows "
        "drawn of six are given in drawn.",
        (
            Step(
                "miss",
                "The probability that a certain row is not in a sample of n = {n}.",
                lambda d: (1 - 1 / d.n) ** d.n,
                ("n draws that all miss it.",),
                (
                    Slip(
                        "This is the limit exp(-1); compute it for this n.",
                        lambda d: float(np.exp(-1)),
                    ),
                ),
            ),
            Step(
                "share",
                "The expected share of different rows in the sample.",
                lambda d: unique_share(d.n),
                ("1 minus the above.",),
                (Slip("This is the share that is missing.", lambda d: d.miss),),
            ),
            Step(
                "out",
                "How many of the six rows 0 to 5 are out of bag in the sample drawn?",
                lambda d: 6 - len(np.unique(d.drawn)),
                ("Count the rows that do not occur.",),
                (Slip("You counted those that do occur.", lambda d: len(np.unique(d.drawn))),),
            ),
        ),
    ),
    Exercise(
        "adaboost",
        "One round of AdaBoost",
        weak,
        "Labels y = -1 or +1 on a line. The first stump x <= t is chosen by weighted Gini with "
        "equal weights.",
        (
            Step(
                "threshold",
                "The threshold of the first stump.",
                lambda d: next(rounds(d.x[:, None], d.y)).stump.threshold,
                ("Try the middles between neighbours.",),
            ),
            Step(
                "error",
                "Its weighted error e.",
                lambda d: next(rounds(d.x[:, None], d.y)).e,
                ("Weights of 1/6.",),
            ),
            Step(
                "alpha",
                "Its weight a = ln((1 - e) / e) / 2.",
                lambda d: float(np.log((1 - d.error) / d.error) / 2),
                ("Natural logarithm.",),
                (
                    Slip(
                        "You forgot the factor 1/2.",
                        lambda d: float(np.log((1 - d.error) / d.error)),
                    ),
                    Slip("You used log2.", lambda d: float(np.log2((1 - d.error) / d.error) / 2)),
                    Slip(
                        "You turned the ratio round.",
                        lambda d: float(np.log(d.error / (1 - d.error)) / 2),
                    ),
                ),
            ),
            Step(
                "weights",
                "The weights of the six rows after the round.",
                lambda d: next(rounds(d.x[:, None], d.y)).d,
                (
                    "Times exp(-a y f), then normalise.",
                    "The rows that were wrong together get 1/2.",
                ),
                (
                    Slip(
                        "You forgot to normalise.",
                        lambda d: (
                            next(rounds(d.x[:, None], d.y)).d * next(rounds(d.x[:, None], d.y)).Z
                        ),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "boosting",
        "Fit what is left over",
        residuals,
        "Gradient boosting for squared error with stumps and the learning rate nu = {nu}.",
        (
            Step(
                "start",
                "The first prediction of every row.",
                lambda d: np.full(4, d.y.mean()),
                ("The mean.",),
                (Slip("It starts from the mean, not from 0.", lambda d: np.zeros(4)),),
            ),
            Step(
                "residuals",
                "The residuals that the first stump is fitted to.",
                lambda d: d.y - np.asarray(d.start),
                ("y - F.",),
                (Slip("The sign is wrong.", lambda d: np.asarray(d.start) - d.y),),
            ),
            Step(
                "after",
                "The predictions after one round.",
                lambda d: next(boosting_rounds(d.x[:, None], d.y, d.nu, 1)).F,
                ("Add nu times the mean residual of the leaf.",),
                (
                    Slip(
                        "You forgot the learning rate.",
                        lambda d: next(boosting_rounds(d.x[:, None], d.y, 1.0, 1)).F,
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "second_order",
        "A leaf by gradient and curvature",
        gradients,
        "Four rows on a line with gradients g, curvatures h and the penalty l2 = {l2}.",
        (
            Step(
                "root",
                "The best value of one leaf with all rows.",
                lambda d: -d.g.sum() / (d.h.sum() + d.l2),
                ("-G / (H + l2).",),
                (
                    Slip(
                        "The sign is wrong: go against the gradient.",
                        lambda d: d.g.sum() / (d.h.sum() + d.l2),
                    ),
                    Slip("You forgot the penalty.", lambda d: -d.g.sum() / d.h.sum()),
                ),
            ),
            Step(
                "threshold",
                "The best threshold.",
                lambda d: best_split(d.x[:, None], d.g, d.h, d.l2, 1).threshold,
                ("Compute G^2 / (H + l2) of both sides.",),
            ),
            Step(
                "gain",
                "Its gain, half of the rise of G^2 / (H + l2).",
                lambda d: best_split(d.x[:, None], d.g, d.h, d.l2, 1).gain,
                ("Left plus right minus whole, halved.",),
                (
                    Slip(
                        "You forgot the half.",
                        lambda d: 2 * best_split(d.x[:, None], d.g, d.h, d.l2, 1).gain,
                    ),
                ),
            ),
        ),
    ),
)
