"""Exercises on theory: bounds, dimensions, bias and variance."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Slip, Step
from pellucid.textbook.theory.bias_variance import bias_variance
from pellucid.textbook.theory.finite_class_bound import finite_class_bound
from pellucid.textbook.theory.growth_function import growth_function
from pellucid.textbook.theory.hoeffding import deviation, hoeffding
from pellucid.textbook.theory.markov_chebyshev import markov, markov_chebyshev
from pellucid.textbook.theory.perceptron_bound import mistakes, perceptron_bound
from pellucid.textbook.theory.rademacher_complexity import rademacher_complexity
from pellucid.textbook.theory.vc_bound import vc_bound


def poll(rng: np.random.Generator) -> Data:
    return {"n": int(rng.choice([100, 150, 200])), "e": one(rng, 0.1, 0.12), "delta": 0.05}


def rules(rng: np.random.Generator) -> Data:
    return {
        "size": int(rng.choice([100, 1000])),
        "n": int(rng.choice([200, 500])),
        "delta": 0.05,
        "loss": one(rng, 0.1, 0.2),
    }


def dimension(rng: np.random.Generator) -> Data:
    return {"d": int(rng.integers(2, 4)), "n": int(rng.integers(6, 10)), "rows": 5000, "loss": 0.1}


def fits(rng: np.random.Generator) -> Data:
    return {"P": whole(rng, 3, 9, 4, 1), "truth": np.array([5.0]), "noise": one(rng, 1, 2)}


def separable(rng: np.random.Generator) -> Data:
    a = float(rng.integers(1, 4))
    return {
        "X": np.array([[a, 1.0], [a, -1.0], [-a, 1.0], [-a, -1.0]]),
        "y": np.array([1.0, 1, -1, -1]),
    }


def waiting(rng: np.random.Generator) -> Data:
    return {
        "m": float(rng.integers(4, 8)),
        "v": one(rng, 4, 9),
        "n": int(rng.choice([25, 100])),
        "e": 1.0,
    }


EXERCISES = (
    Exercise(
        "hoeffding",
        "A poll",
        poll,
        "A mean of n = {n} votes of 0 or 1. How sure is it?",
        (
            Step(
                "delta_bound",
                "Hoeffding's bound on P(|mean - truth| >= {e}).",
                lambda d: hoeffding(d.n, d.e),
                ("2 exp(-2 n e^2).",),
                (
                    Slip(
                        "You forgot that the deviation can go both ways: twice as much.",
                        lambda d: hoeffding(d.n, d.e) / 2,
                    ),
                    Slip("You forgot the square of e.", lambda d: 2 * np.exp(-2 * d.n * d.e)),
                    Slip("You forgot the 2 in the exponent.", lambda d: 2 * np.exp(-d.n * d.e**2)),
                ),
            ),
            Step(
                "width",
                "The deviation that is exceeded with probability at most {delta}.",
                lambda d: deviation(d.n, d.delta),
                ("sqrt(ln(2 / delta) / (2 n)).",),
                (
                    Slip("You used log10.", lambda d: np.sqrt(np.log10(2 / d.delta) / (2 * d.n))),
                    Slip(
                        "You forgot the 2 of both sides.",
                        lambda d: np.sqrt(np.log(1 / d.delta) / (2 * d.n)),
                    ),
                ),
                1e-4,
            ),
            Step(
                "votes",
                "How many votes are needed for a deviation of {e} at {delta}?",
                lambda d: int(np.ceil(np.log(2 / d.delta) / (2 * d.e**2))),
                ("Solve for n and round up.",),
                (Slip("Round up.", lambda d: int(np.floor(np.log(2 / d.delta) / (2 * d.e**2)))),),
            ),
        ),
    ),
    Exercise(
        "finite_class",
        "Choose among many rules",
        rules,
        "The best of {size} rules has the training error {loss} on n = {n} rows.",
        (
            Step(
                "bound",
                "The bound on its true error that holds with probability 95 % (union bound, "
                "one-sided).",
                lambda d: finite_class_bound(d.loss, d.n, d.size, d.delta),
                ("loss + sqrt(ln(|F| / delta) / (2 n)).",),
                (
                    Slip(
                        "You forgot the number of rules: this holds for one rule fixed beforehand.",
                        lambda d: finite_class_bound(d.loss, d.n, 1, d.delta),
                    ),
                    Slip(
                        "You used log2.",
                        lambda d: d.loss + np.sqrt(np.log2(d.size / d.delta) / (2 * d.n)),
                    ),
                ),
                1e-4,
            ),
            Step(
                "consistent",
                "The bound if its training error were 0 (consistent case).",
                lambda d: finite_class_bound(0.0, d.n, d.size, d.delta, consistent=True),
                ("ln(|F| / delta) / n.",),
                (
                    Slip(
                        "Without training errors there is no root.",
                        lambda d: finite_class_bound(0.0, d.n, d.size, d.delta),
                    ),
                ),
                1e-4,
            ),
        ),
    ),
    Exercise(
        "vc",
        "Counting labelings",
        dimension,
        "A class of rules has the VC dimension {d}.",
        (
            Step(
                "growth",
                "Sauer's bound on the number of labelings of {n} points.",
                lambda d: growth_function(d.n, d.d),
                ("C(n, 0) + ... + C(n, d).",),
                (
                    Slip(
                        "This is 2^n: more than the dimension cannot be shattered.",
                        lambda d: 2**d.n,
                    ),
                    Slip("You forgot C(n, 0).", lambda d: growth_function(d.n, d.d) - 1),
                ),
            ),
            Step(
                "bound",
                "The VC bound on the true error for {rows} rows, training error {loss}, 95 %.",
                lambda d: vc_bound(d.loss, d.rows, d.d, 0.05),
                ("loss + sqrt((8 / n)(ln G(2n) + ln(4 / 0.05))).",),
                (
                    Slip(
                        "You used G(n), not G(2n).",
                        lambda d: (
                            d.loss
                            + np.sqrt(
                                8 / d.rows * (np.log(growth_function(d.rows, d.d)) + np.log(80))
                            )
                        ),
                    ),
                ),
                1e-4,
            ),
            Step(
                "lines",
                "How many points can lines in the plane shatter?",
                lambda d: 3,
                ("Dimension plus one.",),
                (Slip("Four points always have a labeling that no line makes.", lambda d: 4),),
            ),
        ),
    ),
    Exercise(
        "bias",
        "Bias and variance",
        fits,
        "Four models trained on different samples predict P at one point; the truth is 5 and the "
        "noise variance {noise}.",
        (
            Step(
                "bias2",
                "The squared bias.",
                lambda d: float((d.P.mean() - 5) ** 2),
                ("Mean prediction minus truth.",),
                (
                    Slip("This is the bias: square it.", lambda d: float(d.P.mean() - 5)),
                    Slip(
                        "This is the mean squared error: it contains the variance.",
                        lambda d: float(((d.P - 5) ** 2).mean()),
                    ),
                ),
            ),
            Step(
                "variance",
                "The variance of the predictions (divisor 4).",
                lambda d: bias_variance(d.P, d.truth, d.truth[None]).variance,
                ("Around their own mean.",),
                (
                    Slip("You divided by n - 1.", lambda d: float(d.P.var(ddof=1))),
                    Slip(
                        "You took squares around the truth.",
                        lambda d: float(((d.P - 5) ** 2).mean()),
                    ),
                ),
            ),
            Step(
                "error",
                "The expected squared error of a new observation.",
                lambda d: d.bias2 + d.variance + d.noise,
                ("All three parts.",),
                (Slip("You forgot the noise.", lambda d: d.bias2 + d.variance),),
            ),
        ),
    ),
    Exercise(
        "perceptron",
        "How many mistakes at most?",
        separable,
        "Four points with |x| <= R that a line through the origin separates.",
        (
            Step(
                "R",
                "The largest length of a row.",
                lambda d: float(np.linalg.norm(d.X, axis=1).max()),
                ("Root of the sum of squares.",),
                (Slip("This is its square.", lambda d: float((d.X**2).sum(axis=1).max())),),
            ),
            Step(
                "bound",
                "Novikoff's bound (R / g)^2 with the widest margin g.",
                lambda d: perceptron_bound(d.X, d.y),
                ("The best direction is the first axis.",),
                (
                    Slip(
                        "You forgot the square.",
                        lambda d: float(np.sqrt(perceptron_bound(d.X, d.y))),
                    ),
                ),
            ),
            Step(
                "mistakes",
                "How many mistakes does the perceptron make (rows in order, no intercept, from 0)?",
                lambda d: mistakes(d.X, d.y),
                ("Go through the rows until an epoch has none.",),
            ),
        ),
    ),
    Exercise(
        "rademacher",
        "How well can a class follow noise?",
        lambda rng: {
            "outputs": np.array([[1.0, 1, 1], [-1, -1, -1], [1, 1, -1], [1, -1, -1]])[
                : int(rng.integers(2, 5))
            ]
        },
        "Each row of outputs is what one function says of three points.",
        (
            Step(
                "R",
                "The empirical Rademacher complexity.",
                lambda d: rademacher_complexity(d.outputs),
                ("Over the eight sign vectors: the best mean product, averaged.",),
                (
                    Slip(
                        "You forgot to divide by the number of points.",
                        lambda d: 3 * rademacher_complexity(d.outputs),
                    ),
                ),
            ),
            Step(
                "all",
                "What would it be for a class with all eight labelings?",
                lambda d: rademacher_complexity(
                    np.array([[a, b, c] for a in (-1.0, 1) for b in (-1.0, 1) for c in (-1.0, 1)])
                ),
                ("Some function agrees with every sign vector.",),
            ),
        ),
    ),
    Exercise(
        "chebyshev",
        "From a mean and a variance",
        waiting,
        "Waiting times are positive with the mean {m} and the variance {v}; n = {n} of them are "
        "averaged.",
        (
            Step(
                "markov",
                "Markov's bound on P(one waiting time >= twice the mean).",
                lambda d: markov(d.m, 2 * d.m),
                ("mean / a.",),
                (Slip("This is its complement.", lambda d: 1 / 2 + 0.25),),
            ),
            Step(
                "chebyshev",
                "Chebyshev's bound on P(|average - mean| >= {e}).",
                lambda d: markov_chebyshev(d.v, d.e, d.n),
                ("v / (n e^2).",),
                (
                    Slip("You forgot n: this is one waiting time.", lambda d: d.v / d.e**2),
                    Slip(
                        "You took the standard deviation.", lambda d: np.sqrt(d.v) / (d.n * d.e**2)
                    ),
                ),
            ),
        ),
    ),
)
