"""Exercises on decisions: losses, thresholds, Bayes error, several classes from two."""

import numpy as np

from pellucid.teach.numbers import distinct, one, table, whole
from pellucid.teach.records import Data, Exercise, Slip, Step
from pellucid.textbook.decisions.bayes_error import bayes_error
from pellucid.textbook.decisions.best_constant import best_constant
from pellucid.textbook.labels.cut_point import cut_point
from pellucid.textbook.labels.expected_loss import expected_loss


def costs(rng: np.random.Generator) -> Data:
    L = np.array([[0.0, float(rng.integers(1, 4))], [float(rng.integers(5, 10)), 0.0]])
    return {"L": L, "p": one(rng, 0.1, 0.2, 0.3)}


def scored(rng: np.random.Generator) -> Data:
    s = np.round(np.sort(rng.choice(np.arange(1, 20), 6, replace=False)) / 20, 2)
    y = np.array([0, 0, *rng.permutation([0, 1]), 1, 1])
    return {"s": s, "y": y, "L": np.array([[0.0, 1.0], [float(rng.integers(2, 5)), 0.0]])}


def normals(rng: np.random.Generator) -> Data:
    return {"m": np.array([0.0, float(rng.integers(2, 5))]), "sigma": one(rng, 0.5, 2)}


def demand(rng: np.random.Generator) -> Data:
    return {"y": distinct(rng, 5, 30, 5), "under": one(rng, 4, 9), "over": 1.0}


def doctor(rng: np.random.Generator) -> Data:
    return {
        "P": table(rng, 1, 3)[0],
        "L": np.array([[0.0, 4, 4, 1], [6, 0, 4, 1], [9, 4, 0, 1]])
        + np.pad(whole(rng, 0, 1, 1), (0, 3)),
    }


def phi(z: float) -> float:
    from scipy.special import ndtr

    return float(ndtr(z))


EXERCISES = (
    Exercise(
        "costs",
        "Treat or wait",
        costs,
        "L[truth, decision]: rows are healthy (0) and ill (1), columns wait (0) and treat (1). A "
        "patient is ill with probability p = {p}.",
        (
            Step(
                "risks",
                "The expected losses of waiting and of treating.",
                lambda d: np.array([1 - d.p, d.p]) @ d.L,
                ("Weigh each row of L with its probability.",),
                (
                    Slip(
                        "You weighed columns, not rows: L is [truth, decision].",
                        lambda d: d.L @ np.array([1 - d.p, d.p]),
                    ),
                ),
            ),
            Step(
                "decision",
                "The best decision, 0 or 1.",
                lambda d: int(expected_loss(np.array([[1 - d.p, d.p]]), d.L)[0]),
                ("The least expected loss.",),
                (
                    Slip(
                        "You decided for the more likely state: the costs differ.",
                        lambda d: int(d.p > 0.5),
                    ),
                ),
            ),
            Step(
                "threshold",
                "From which probability of illness on is treating better?",
                lambda d: d.L[0, 1] / (d.L[0, 1] + d.L[1, 0]),
                ("Set both expected losses equal.",),
                (
                    Slip(
                        "You exchanged the two costs.",
                        lambda d: d.L[1, 0] / (d.L[0, 1] + d.L[1, 0]),
                    ),
                    Slip("1/2 is right for equal costs only.", lambda d: 0.5),
                ),
            ),
        ),
    ),
    Exercise(
        "cut",
        "Where to cut a score",
        scored,
        "Six rows with scores s and classes y. Say 1 where s >= t. L[truth, decision] gives the "
        "costs.",
        (
            Step(
                "at_half",
                "The cost of the cut t = 0.5.",
                lambda d: d.L[d.y, (d.s >= 0.5).astype(int)].sum(),
                ("Add L over the six rows.",),
                (
                    Slip(
                        "You counted errors: they do not all cost the same.",
                        lambda d: float(np.sum(d.y != (d.s >= 0.5))),
                    ),
                ),
            ),
            Step(
                "least",
                "The least cost over all cuts.",
                lambda d: cut_point(d.s, d.y, d.L).best,
                ("Try the middles between neighbouring scores and both ends.",),
            ),
            Step(
                "number",
                "How many of these cuts (the five middles, minus and plus infinity) have that "
                "cost?",
                lambda d: int(
                    np.sum(cut_point(d.s, d.y, d.L).costs == cut_point(d.s, d.y, d.L).best)
                ),
                ("Seven cuts in all.",),
            ),
        ),
    ),
    Exercise(
        "bayes_error",
        "What no classifier can avoid",
        normals,
        "Two equally frequent classes on a line, normal with the means m and the same standard "
        "deviation {sigma}.",
        (
            Step("cut", "The best cut.", lambda d: d.m.mean(), ("Half-way between the means.",)),
            Step(
                "D",
                "The distance of the means in standard deviations.",
                lambda d: (d.m[1] - d.m[0]) / d.sigma,
                ("Divide by sigma.",),
                (
                    Slip("You divided by the variance.", lambda d: (d.m[1] - d.m[0]) / d.sigma**2),
                    Slip("You did not divide by sigma.", lambda d: d.m[1] - d.m[0]),
                ),
            ),
            Step(
                "error",
                "The Bayes error.",
                lambda d: bayes_error(np.array([0.5, 0.5]), d.m[:, None], np.array([[d.sigma**2]])),
                ("Phi(-D / 2).",),
                (
                    Slip("You took Phi(-D): the cut is half-way.", lambda d: phi(-d.D)),
                    Slip(
                        "You added both tails: each class has half of the weight.",
                        lambda d: 2 * phi(-d.D / 2),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "newsvendor",
        "How much to order",
        demand,
        "Demands y of five days. A piece too few costs {under}, a piece too many costs {over}.",
        (
            Step(
                "q",
                "The quantile to order.",
                lambda d: d.under / (d.under + d.over),
                (
                    "At the best order one more piece brings nothing.",
                    "Share below = under / (under + over).",
                ),
                (Slip("You exchanged the costs.", lambda d: d.over / (d.under + d.over)),),
            ),
            Step(
                "order",
                "The best order for these five days.",
                lambda d: best_constant(d.y, "quantile", d.under / (d.under + d.over)),
                ("The least y with at least that share of the days at or below it.",),
                (
                    Slip("This is the mean: it is best for squared costs.", lambda d: d.y.mean()),
                    Slip(
                        "This is the median: it is best for equal costs.",
                        lambda d: float(np.median(d.y)),
                    ),
                ),
            ),
            Step(
                "cost",
                "The total cost of the five days with it.",
                lambda d: float(
                    np.sum(
                        np.where(d.y > d.order, d.under * (d.y - d.order), d.over * (d.order - d.y))
                    )
                ),
                ("Too few costs more than too many.",),
            ),
        ),
    ),
    Exercise(
        "reject",
        "Three illnesses, or ask a colleague",
        doctor,
        "P holds the probabilities of three illnesses; column d < 3 of L is the loss of deciding "
        "for illness d, column 3 of asking a colleague.",
        (
            Step(
                "risks",
                "The four expected losses.",
                lambda d: d.P @ d.L,
                ("One product per column.",),
            ),
            Step(
                "decision",
                "The best column, 0 to 3.",
                lambda d: int(expected_loss(d.P[None], d.L)[0]),
                ("The least one.",),
                (Slip("You chose the most likely illness.", lambda d: int(d.P.argmax())),),
            ),
        ),
    ),
)
