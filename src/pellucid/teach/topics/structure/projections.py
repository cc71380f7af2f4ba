"""Exercises on projections: principal components, low rank, probabilistic PCA."""

import numpy as np

from pellucid.teach.numbers import one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.mathematics.gram_schmidt import gram_schmidt
from pellucid.textbook.mathematics.orthogonal_projection import orthogonal_projection
from pellucid.textbook.projections.pca import Components, pca, scores
from pellucid.textbook.projections.power_iteration import products
from pellucid.textbook.projections.principal_angles import principal_angles
from pellucid.textbook.projections.probabilistic_pca import probabilistic_pca
from pellucid.textbook.projections.truncated_svd import truncated_svd


def cloud(rng: np.random.Generator) -> Data:
    a, b = float(rng.integers(2, 5)), 1.0
    X = np.array([[a, a], [-a, -a], [b, -b], [-b, b]]) + whole(rng, 1, 5, 2)
    return {"X": X}


def covariance(rng: np.random.Generator) -> Data:
    return {"S": np.array([[float(rng.integers(3, 7)), 2.0], [2.0, float(rng.integers(2, 4))]])}


def matrix(rng: np.random.Generator) -> Data:
    return {"A": np.array([[3.0, 0], [0, 2], [0, 0]]) * whole(rng, 1, 3, 1)}


def vectors(rng: np.random.Generator) -> Data:
    return {
        "X": np.column_stack([[1.0, 1, 1, 1], whole(rng, 0, 3) + np.arange(4.0)]),
        "y": whole(rng, 1, 9, 4),
    }


def spectrum(rng: np.random.Generator) -> Data:
    return {
        "values": np.array([float(rng.integers(8, 12)), float(rng.integers(4, 7)), 2.0, 1.0]),
        "n": 20,
    }


def lines(rng: np.random.Generator) -> Data:
    return {"a": whole(rng, 1, 4, 2), "b": [*whole(rng, -4, -1, 1).tolist(), one(rng, 1, 2)]}


def positive(u: np.ndarray) -> np.ndarray:
    return u * np.sign(u[np.abs(u).argmax()])


def found(d: Given) -> Components:
    return pca(d.X, 1)


def rows_with(values: np.ndarray, n: int) -> np.ndarray:
    """n rows whose 1/n covariance is diagonal with these eigenvalues."""
    t = np.arange(n)
    waves = [np.cos(2 * np.pi * t / n), np.sin(2 * np.pi * t / n)]
    waves += [np.cos(4 * np.pi * t / n), np.sin(4 * np.pi * t / n)]
    return np.column_stack(waves) * np.sqrt(2 * values)


EXERCISES = (
    Exercise(
        "pca",
        "Principal components of four points",
        cloud,
        "Four points in the plane. The covariance has the divisor n - 1.",
        (
            Step(
                "S",
                "The covariance matrix.",
                lambda d: np.cov(d.X.T),
                ("Centre first.",),
                (
                    Slip(
                        "You divided by n; here the divisor is n - 1.",
                        lambda d: np.cov(d.X.T, bias=True),
                    ),
                    Slip("You did not centre the columns.", lambda d: d.X.T @ d.X / 3),
                ),
            ),
            Step(
                "u",
                "The first direction, of length 1, its entries positive.",
                lambda d: positive(found(d).directions[0]),
                ("The eigenvector of the largest eigenvalue; the points lie along a diagonal.",),
                (
                    Slip("Its length must be 1.", lambda d: np.ones(2)),
                    Slip(
                        "This is the second direction.",
                        lambda d: np.array([1.0, -1.0]) / np.sqrt(2),
                    ),
                ),
            ),
            Step(
                "variance",
                "The variance along it.",
                lambda d: float(found(d).variances[0]),
                ("The eigenvalue.",),
                (
                    Slip("You divided by n.", lambda d: 0.75 * float(found(d).variances[0])),
                    Slip(
                        "This is the standard deviation.",
                        lambda d: float(np.sqrt(found(d).variances[0])),
                    ),
                ),
            ),
            Step(
                "share",
                "The share of the whole variance that it explains.",
                lambda d: float(d.variance / np.trace(np.cov(d.X.T))),
                ("Over the sum of both eigenvalues.",),
            ),
            Step(
                "scores",
                "The coordinates of the four points along it.",
                lambda d: scores(d.X, found(d))[:, 0] * np.sign(found(d).directions[0][0]),
                ("Centre, then multiply by the direction.",),
                (Slip("You did not centre the points.", lambda d: d.X @ np.asarray(d.u)),),
            ),
        ),
    ),
    Exercise(
        "eigen",
        "Eigenvalues of a covariance",
        covariance,
        "A covariance matrix S of two columns.",
        (
            Step(
                "values",
                "The eigenvalues, the larger first.",
                lambda d: np.linalg.eigvalsh(d.S)[::-1],
                ("Trace and determinant: l^2 - trace l + det = 0.",),
                (
                    Slip(
                        "These are the diagonal entries: the columns are correlated.",
                        lambda d: np.diag(d.S),
                    ),
                    Slip("The larger comes first.", lambda d: np.linalg.eigvalsh(d.S)),
                ),
            ),
            Step(
                "share",
                "The share of the first component.",
                lambda d: float(np.asarray(d.values)[0] / np.trace(d.S)),
                ("Over the trace.",),
            ),
            Step(
                "second",
                "The direction after two products of power iteration from (1, 1) / sqrt(2).",
                lambda d: [s.u for s, _ in zip(products(d.S), range(3), strict=False)][-1],
                ("Multiply, scale to length 1, repeat.",),
                (
                    Slip(
                        "You did not scale to length 1.",
                        lambda d: d.S @ d.S @ np.ones(2) / np.sqrt(2),
                    ),
                    Slip(
                        "You stopped after one product.",
                        lambda d: [s.u for s, _ in zip(products(d.S), range(2), strict=False)][-1],
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "low_rank",
        "The nearest matrix of rank 1",
        matrix,
        "Approximate A by a matrix of rank 1.",
        (
            Step(
                "values",
                "The singular values of A, falling.",
                lambda d: truncated_svd(d.A, 2).D,
                ("The columns are orthogonal: their lengths.",),
                (
                    Slip(
                        "These are the eigenvalues of A'A: take roots.",
                        lambda d: truncated_svd(d.A, 2).D ** 2,
                    ),
                ),
            ),
            Step(
                "error",
                "The squared error (sum of squares) of the best rank-1 matrix.",
                lambda d: truncated_svd(d.A, 1).error ** 2,
                ("The squares of the singular values left out.",),
                (Slip("You forgot to square.", lambda d: float(np.asarray(d.values)[1])),),
            ),
        ),
    ),
    Exercise(
        "gram_schmidt",
        "Orthogonal columns",
        vectors,
        "Make the columns of X orthonormal by Gram-Schmidt and project y on them.",
        (
            Step(
                "Q",
                "The matrix Q, shape (4, 2).",
                lambda d: gram_schmidt(d.X)[0],
                ("Subtract the part along the first column, then scale.",),
                (
                    Slip(
                        "You did not scale to length 1.",
                        lambda d: gram_schmidt(d.X)[0] * np.diag(gram_schmidt(d.X)[1]),
                    ),
                    Slip(
                        "You scaled but did not subtract the part along the first column.",
                        lambda d: d.X / np.linalg.norm(d.X, axis=0),
                    ),
                ),
            ),
            Step(
                "fit",
                "The projection of y on the columns.",
                lambda d: orthogonal_projection(d.X) @ d.y,
                ("Q Q'y.",),
                (
                    Slip(
                        "This is Q'y: multiply by Q once more.",
                        lambda d: np.append(np.asarray(d.Q).T @ d.y, [0, 0]),
                    ),
                ),
            ),
            Step(
                "distance",
                "The squared distance of y from the plane.",
                lambda d: float(((d.y - np.asarray(d.fit)) ** 2).sum()),
                ("What is left over.",),
                (
                    Slip(
                        "This is the distance, not its square.",
                        lambda d: float(np.linalg.norm(d.y - np.asarray(d.fit))),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "ppca",
        "Noise from the last directions",
        spectrum,
        "The 1/n covariance of n = {n} rows has the eigenvalues given. Fit probabilistic PCA with "
        "two directions.",
        (
            Step(
                "noise",
                "The noise variance.",
                lambda d: float(np.asarray(d.values)[2:].mean()),
                ("The mean of the eigenvalues left out.",),
                (Slip("This is their sum.", lambda d: float(d.values[2:].sum())),),
            ),
            Step(
                "lengths",
                "The squared lengths of the two columns of W.",
                lambda d: d.values[:2] - d.noise,
                ("Eigenvalue minus noise.",),
                (Slip("You forgot to subtract the noise.", lambda d: d.values[:2]),),
            ),
            Step(
                "log_likelihood",
                "The log-likelihood of the n rows.",
                lambda d: probabilistic_pca(rows_with(d.values, d.n), 2).log_likelihood,
                ("-n/2 (p ln 2 pi + ln |C| + tr C^-1 S), and the trace is p = 4 here.",),
                (
                    Slip(
                        "You forgot the trace.",
                        lambda d: (
                            probabilistic_pca(rows_with(d.values, d.n), 2).log_likelihood + 2 * d.n
                        ),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "angle",
        "The angle between two lines",
        lines,
        "Two lines through the origin along a and b.",
        (
            Step(
                "cosine",
                "The absolute cosine of their angle.",
                lambda d: float(
                    abs(np.dot(d.a, d.b)) / (np.linalg.norm(d.a) * np.linalg.norm(d.b))
                ),
                ("|a'b| over both lengths.",),
                (Slip("You forgot the lengths.", lambda d: float(abs(np.dot(d.a, d.b)))),),
            ),
            Step(
                "angle",
                "The principal angle in degrees.",
                lambda d: float(
                    principal_angles(np.asarray(d.a)[:, None], np.asarray(d.b)[:, None])[0]
                ),
                ("Between 0 and 90.",),
                (Slip("This is in radians.", lambda d: float(np.arccos(d.cosine))),),
            ),
        ),
    ),
)
