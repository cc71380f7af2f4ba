"""Exercises on optimisation: descent, Newton, momentum, thresholds, constraints."""

from collections.abc import Callable

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.mathematics.quadratic_minimum import quadratic_minimum
from pellucid.textbook.mathematics.taylor_series import taylor_series
from pellucid.textbook.optimisation.adam import adam
from pellucid.textbook.optimisation.gradient_descent import steps
from pellucid.textbook.optimisation.kkt_conditions import kkt_conditions
from pellucid.textbook.optimisation.momentum import momentum
from pellucid.textbook.optimisation.newton_root import steps as newton_steps
from pellucid.textbook.optimisation.proximal_gradient import proximal_gradient, soft


def bowl(rng: np.random.Generator) -> Data:
    return {
        "a": float(rng.integers(1, 4)),
        "c": float(rng.integers(4, 9)),
        "x": whole(rng, 1, 4, 2),
        "rate": 0.1,
    }


def root(rng: np.random.Generator) -> Data:
    number = int(rng.choice([2, 3, 5, 7, 11]))
    return {"s": number, "x": float(np.ceil(np.sqrt(number)))}


def quadratic(rng: np.random.Generator) -> Data:
    return {
        "A": np.array([[float(rng.integers(2, 5)), 1.0], [1.0, float(rng.integers(2, 5))]]),
        "b": whole(rng, -6, 6, 2),
    }


def penalised(rng: np.random.Generator) -> Data:
    return {"t": np.array([float(rng.integers(3, 7)), 0.25]), "a": 1.0, "L": one(rng, 1, 2)}


def limited(rng: np.random.Generator) -> Data:
    return {"t": whole(rng, 2, 5, 2)}


def slope(d: Given) -> np.ndarray:
    return np.array([d.a, d.c]) * d.x


def gradient(d: Given) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.array([d.a, d.c]) * x


def nearest(d: Given) -> np.ndarray:
    return d.t - (d.t.sum() - 2) / 2


EXERCISES = (
    Exercise(
        "descent",
        "Down a bowl",
        bowl,
        "f(x) = (a x1^2 + c x2^2) / 2 with a = {a}, c = {c}, from the point x with the rate "
        "{rate}.",
        (
            Step(
                "gradient",
                "The gradient at x.",
                slope,
                ("The factor 1/2 cancels.",),
                (
                    Slip("You differentiated without the factor 1/2.", lambda d: 2 * slope(d)),
                    Slip("This is f, term by term.", lambda d: np.array([d.a, d.c]) * d.x**2 / 2),
                ),
            ),
            Step(
                "first",
                "The point after one step.",
                lambda d: d.x - d.rate * np.asarray(d.gradient),
                ("Against the gradient.",),
                (Slip("You went uphill.", lambda d: d.x + d.rate * np.asarray(d.gradient)),),
            ),
            Step(
                "second",
                "The point after two steps.",
                lambda d: [
                    p for p, _ in zip(steps(gradient(d), d.x, d.rate), range(3), strict=False)
                ][-1],
                ("Each coordinate shrinks by 1 - rate times its curvature.",),
                (
                    Slip(
                        "You used the first gradient twice.",
                        lambda d: d.x - 2 * d.rate * np.asarray(d.gradient),
                    ),
                ),
            ),
            Step(
                "largest",
                "The rate from which on the descent no longer converges.",
                lambda d: 2 / max(d.a, d.c),
                ("2 over the largest curvature.",),
                (
                    Slip(
                        "1 / L is a safe rate; the limit is twice that.",
                        lambda d: 1 / max(d.a, d.c),
                    ),
                    Slip(
                        "The largest curvature decides, not the least.", lambda d: 2 / min(d.a, d.c)
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "newton_root",
        "A square root by Newton",
        root,
        "Find the root of f(x) = x^2 - {s} by Newton's method from x = {x}.",
        (
            Step(
                "first",
                "x after one step.",
                lambda d: list(newton_steps(lambda x: x * x - d.s, lambda x: 2 * x, d.x))[1],
                ("x - f(x) / f'(x).",),
                (
                    Slip("You added the step.", lambda d: d.x + (d.x**2 - d.s) / (2 * d.x)),
                    Slip(
                        "You divided by f instead of f'.",
                        lambda d: d.x - 2 * d.x / (d.x**2 - d.s) if d.x**2 != d.s else 0.0,
                    ),
                ),
                1e-5,
            ),
            Step(
                "second",
                "x after two steps (six digits).",
                lambda d: list(newton_steps(lambda x: x * x - d.s, lambda x: 2 * x, d.x))[2],
                ("The same from the new place.",),
                (),
                1e-5,
            ),
        ),
    ),
    Exercise(
        "quadratic",
        "The lowest point of a quadratic",
        quadratic,
        "q(x) = x'Ax + b'x with the symmetric matrix A.",
        (
            Step(
                "x",
                "The minimiser.",
                lambda d: quadratic_minimum(d.A, d.b)[0],
                ("The gradient is 2Ax + b.",),
                (
                    Slip(
                        "You forgot the 2 of the gradient.",
                        lambda d: 2 * quadratic_minimum(d.A, d.b)[0],
                    ),
                    Slip("The sign is wrong.", lambda d: -quadratic_minimum(d.A, d.b)[0]),
                ),
            ),
            Step(
                "value",
                "The least value.",
                lambda d: float(np.asarray(d.x) @ d.A @ d.x + d.b @ d.x),
                ("Put x in; it is b'x / 2.",),
            ),
            Step(
                "condition",
                "The condition number of A.",
                lambda d: float(np.linalg.cond(d.A)),
                ("Largest over least eigenvalue.",),
                (Slip("This is its inverse.", lambda d: 1 / float(np.linalg.cond(d.A))),),
            ),
        ),
    ),
    Exercise(
        "proximal",
        "A step with a kink",
        penalised,
        "Minimise |x - t|^2 L / 2 + a |x|_1 with a = {a} and L = {L} by one proximal gradient "
        "step from 0 with the rate 1 / L.",
        (
            Step(
                "z",
                "The point after the gradient step.",
                lambda d: d.t,
                ("The gradient at 0 is -L t.",),
                (Slip("You forgot the rate 1 / L.", lambda d: d.L * d.t if d.L != 1 else -d.t),),
            ),
            Step(
                "x",
                "The point after the soft threshold.",
                lambda d: proximal_gradient(lambda x: d.L * (x - d.t), np.zeros(2), d.a, d.L, 1),
                ("Towards 0 by a / L, and 0 if it would cross.",),
                (
                    Slip(
                        "The threshold is a / L, not a.",
                        lambda d: soft(np.asarray(d.z), 2 * d.a / d.L),
                    ),
                    Slip("You let a coordinate cross 0.", lambda d: np.asarray(d.z) - d.a / d.L),
                ),
            ),
        ),
    ),
    Exercise(
        "momentum",
        "Momentum and Adam",
        bowl,
        "The same bowl f(x) = (a x1^2 + c x2^2) / 2 with a = {a}, c = {c}; rate {rate}, momentum "
        "0.9, Adam's constants 0.9 and 0.999.",
        (
            Step(
                "second",
                "The point after two steps with momentum (v = 0.9 v - rate gradient).",
                lambda d: momentum(gradient(d), d.x, d.rate, 2),
                ("The second velocity holds 0.9 of the first.",),
                (
                    Slip(
                        "This is plain descent: the momentum was forgotten.",
                        lambda d: d.x * (1 - d.rate * np.array([d.a, d.c])) ** 2,
                    ),
                ),
            ),
            Step(
                "adam",
                "The point after one step of Adam.",
                lambda d: adam(gradient(d), d.x, d.rate, 1),
                (
                    "With the corrections m / (1 - 0.9) and r / (1 - 0.999) the first step has "
                    "the length of the rate in every coordinate.",
                ),
                (
                    Slip(
                        "You forgot the corrections of the first steps.",
                        lambda d: d.x - d.rate * 0.1 * slope(d) / np.sqrt(0.001 * slope(d) ** 2),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "kkt",
        "The nearest point of a half-plane",
        limited,
        "Minimise |x - t|^2 / 2 subject to x1 + x2 <= 2.",
        (
            Step(
                "x",
                "The minimiser.",
                nearest,
                ("The constraint is active.", "Go from t along (-1, -1) until x1 + x2 = 2."),
                (
                    Slip("This is t: it violates the constraint.", lambda d: d.t),
                    Slip(
                        "You moved only the first coordinate.",
                        lambda d: np.array([2 - d.t[1], d.t[1]]),
                    ),
                ),
            ),
            Step(
                "multiplier",
                "The multiplier of the constraint.",
                lambda d: float(
                    kkt_conditions(
                        nearest(d) - d.t, np.array([nearest(d).sum() - 2]), np.ones((1, 2))
                    ).multipliers[0]
                ),
                ("x - t + u (1, 1) = 0.",),
                (
                    Slip(
                        "A multiplier of <= is not negative.", lambda d: -float((d.t.sum() - 2) / 2)
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "taylor",
        "Near a point",
        lambda rng: {"x0": one(rng, 0, 0.5, 1), "x": 0.1},
        "Approximate exp(x0 + h) around x0 = {x0} for h = {x} by a polynomial of degree 2.",
        (
            Step(
                "coefficients",
                "The coefficients of 1, h and h^2.",
                lambda d: taylor_series(np.exp, d.x0, 2),
                ("f^(k)(x0) / k!.",),
                (
                    Slip(
                        "You forgot to divide by the factorials.",
                        lambda d: np.full(3, np.exp(d.x0)),
                    ),
                ),
            ),
            Step(
                "value",
                "The value of the polynomial (five digits).",
                lambda d: float(np.asarray(d.coefficients) @ d.x ** np.arange(3)),
                ("Put h in.",),
                (
                    Slip(
                        "You stopped at degree 1.",
                        lambda d: float(np.asarray(d.coefficients)[:2] @ d.x ** np.arange(2)),
                    ),
                ),
                1e-5,
            ),
        ),
    ),
)
