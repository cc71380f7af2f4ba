"""Exercises on kernels and margins: Gram matrices, features, support vectors."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.kernels.kernel_alignment import kernel_alignment
from pellucid.textbook.kernels.kernel_functions import (
    gaussian,
    kernel_functions,
    linear,
    polynomial,
    quadratic_features,
)
from pellucid.textbook.kernels.kernel_perceptron import kernel_perceptron
from pellucid.textbook.kernels.kernel_ridge import kernel_ridge
from pellucid.textbook.kernels.maximum_margin import Plane, maximum_margin
from pellucid.textbook.kernels.smo import smo


def pair(rng: np.random.Generator) -> Data:
    return {"x": whole(rng, 1, 4, 2), "z": whole(rng, 1, 4, 2)}


def near(rng: np.random.Generator) -> Data:
    return {"X": np.array([[0.0], [1.0], [float(rng.integers(2, 5))]]), "s": one(rng, 1, 2)}


def street(rng: np.random.Generator) -> Data:
    a = float(rng.integers(1, 4))
    X = np.array([[0.0, 0], [0, 2], [2 * a, 0], [2 * a, 2], [2 * a + 3, 1]])
    return {"X": X, "y": np.array([-1.0, -1, 1, 1, 1])}


def two(rng: np.random.Generator) -> Data:
    return {"X": np.array([[0.0, 0.0], whole(rng, 1, 4, 2)]), "y": np.array([-1.0, 1.0]), "C": 10.0}


def ridge_data(rng: np.random.Generator) -> Data:
    return {"x": np.array([-1.0, 0, 1]), "y": whole(rng, 1, 9, 3), "alpha": one(rng, 1, 2)}


def xor(rng: np.random.Generator) -> Data:
    X = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])[rng.permutation(4)]
    return {"X": X, "y": np.prod(X, axis=1) * one(rng, 1, -1)}


def plane(d: Given) -> Plane:
    return maximum_margin(d.X, d.y)


EXERCISES = (
    Exercise(
        "features",
        "A product in six dimensions",
        pair,
        "The polynomial kernel k(x, z) = (x'z + 1)^2 of two vectors in the plane.",
        (
            Step(
                "k",
                "k(x, z).",
                lambda d: polynomial(d.x[None], d.z[None])[0, 0],
                ("Add 1, then square.",),
                (
                    Slip("You forgot the + 1.", lambda d: (d.x @ d.z) ** 2),
                    Slip("You squared before adding 1.", lambda d: (d.x @ d.z) ** 2 + 1),
                    Slip("You forgot the square.", lambda d: d.x @ d.z + 1),
                ),
            ),
            Step(
                "phi",
                "The features of x: 1, sqrt(2) x1, sqrt(2) x2, x1^2, x2^2, sqrt(2) x1 x2.",
                lambda d: quadratic_features(d.x[None])[0],
                ("The roots make the products agree.",),
                (
                    Slip(
                        "You left out the roots of 2.",
                        lambda d: (
                            quadratic_features(d.x[None])[0]
                            / np.array([1, 2**0.5, 2**0.5, 1, 1, 2**0.5])
                        ),
                    ),
                ),
            ),
            Step(
                "product",
                "phi(x)'phi(z).",
                lambda d: float(np.asarray(d.phi) @ quadratic_features(d.z[None])[0]),
                ("It must be k(x, z).",),
            ),
        ),
    ),
    Exercise(
        "gaussian",
        "The Gaussian kernel",
        near,
        "Three points on a line and k(x, z) = exp(-(x - z)^2 / (2 s^2)) with s = {s}.",
        (
            Step(
                "K",
                "The Gram matrix, shape (3, 3).",
                lambda d: gaussian(d.X, d.X, d.s),
                ("Ones on the diagonal.",),
                (
                    Slip(
                        "You forgot the 2 in the denominator.",
                        lambda d: gaussian(d.X, d.X, d.s / np.sqrt(2)),
                    ),
                    Slip(
                        "You did not square the distance.",
                        lambda d: np.exp(-np.abs(d.X - d.X.T) / (2 * d.s**2)),
                    ),
                ),
            ),
            Step(
                "least",
                "Its least eigenvalue.",
                lambda d: kernel_functions(gaussian(d.X, d.X, d.s)),
                ("A kernel has none below 0.",),
            ),
            Step(
                "distance",
                "The squared distance of the first two points in the feature space.",
                lambda d: float(
                    np.asarray(d.K)[0, 0] + np.asarray(d.K)[1, 1] - 2 * np.asarray(d.K)[0, 1]
                ),
                ("k(x, x) - 2 k(x, z) + k(z, z).",),
                (Slip("This is the distance in the input space.", lambda d: 1.0),),
            ),
        ),
    ),
    Exercise(
        "margin",
        "The widest street",
        street,
        "Five points of two classes. Find the plane w'x + b with the largest margin, y (w'x + b) "
        ">= 1.",
        (
            Step(
                "w",
                "The vector w.",
                lambda d: plane(d).w,
                ("The street is parallel to the second axis.", "Nearest points have y f = 1."),
                (
                    Slip(
                        "Your w is not scaled: the nearest points must have y f = 1.",
                        lambda d: np.array([1.0, 0.0]),
                    ),
                ),
            ),
            Step(
                "b",
                "The offset b.",
                lambda d: plane(d).b,
                ("f = -1 at the first point.",),
                (Slip("The sign is wrong.", lambda d: -plane(d).b),),
            ),
            Step(
                "margin",
                "The distance of the plane to the nearest points.",
                lambda d: plane(d).margin,
                ("1 / |w|.",),
                (
                    Slip(
                        "This is the whole width of the street: halve it.",
                        lambda d: 2 * plane(d).margin,
                    ),
                ),
            ),
            Step(
                "supports",
                "How many points lie on the margin?",
                lambda d: int(np.sum(np.abs(d.y * (d.X @ plane(d).w + plane(d).b) - 1) < 1e-6)),
                ("y f = 1.",),
            ),
        ),
    ),
    Exercise(
        "dual",
        "Two points, one multiplier",
        two,
        "An SVM with the linear kernel and C = {C} on one point of each class.",
        (
            Step(
                "K",
                "The Gram matrix, shape (2, 2).",
                lambda d: linear(d.X, d.X),
                ("Inner products.",),
            ),
            Step(
                "a",
                "The multipliers (both are equal).",
                lambda d: smo(linear(d.X, d.X), d.y, d.C).a,
                ("sum a y = 0, and both points lie on the margin.", "a = 2 / |x2 - x1|^2."),
                (Slip("You forgot the 2.", lambda d: np.full(2, 1 / float(d.X[1] @ d.X[1]))),),
            ),
            Step(
                "w",
                "w = sum a_i y_i x_i.",
                lambda d: (np.asarray(d.a) * d.y) @ d.X,
                ("Put the multipliers in.",),
            ),
            Step(
                "b",
                "The offset b.",
                lambda d: smo(linear(d.X, d.X), d.y, d.C).b,
                ("f = -1 at the origin.",),
                (Slip("The sign is wrong.", lambda d: -smo(linear(d.X, d.X), d.y, d.C).b),),
            ),
        ),
    ),
    Exercise(
        "kernel_ridge",
        "Kernel ridge with three rows",
        ridge_data,
        "Kernel ridge (no intercept) with the linear kernel k(x, z) = x z and alpha = {alpha}.",
        (
            Step(
                "a",
                "The coefficients a of the rows.",
                lambda d: kernel_ridge(np.outer(d.x, d.x), d.y, d.alpha).a,
                ("Solve (K + alpha I) a = y.",),
                (
                    Slip(
                        "You forgot alpha: without it K cannot be solved for all y.",
                        lambda d: np.linalg.pinv(np.outer(d.x, d.x)) @ d.y,
                    ),
                ),
            ),
            Step(
                "w",
                "The slope w = sum a_i x_i.",
                lambda d: float(np.asarray(d.a) @ d.x),
                ("It is ridge's slope: x'y / (x'x + alpha).",),
            ),
            Step(
                "prediction", "The prediction at x = 2.", lambda d: 2 * d.w, ("sum a_i k(x_i, 2).",)
            ),
        ),
    ),
    Exercise(
        "xor",
        "A kernel that separates",
        xor,
        "Four corners of a square, opposite ones of one class: no line separates them. Take k = "
        "(x'z + 1)^2.",
        (
            Step(
                "counts",
                "The mistakes of the kernel perceptron on each row, rows in order.",
                lambda d: kernel_perceptron(polynomial(d.X, d.X), d.y),
                ("f = sum a_j y_j k(x_j, x); wrong if y f <= 0.",),
            ),
            Step(
                "alignment",
                "The kernel alignment of k with these classes.",
                lambda d: kernel_alignment(polynomial(d.X, d.X), d.y),
                ("Centre K and y y', then the cosine.",),
                (
                    Slip(
                        "You did not centre the kernel.",
                        lambda d: float(
                            (polynomial(d.X, d.X) * np.outer(d.y, d.y)).sum()
                            / (np.linalg.norm(polynomial(d.X, d.X)) * 4)
                        ),
                    ),
                ),
            ),
        ),
    ),
)
