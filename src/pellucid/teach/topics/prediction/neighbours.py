"""Exercises on neighbours: distances, votes, prototypes, outliers."""

import numpy as np

from pellucid.teach.numbers import distinct, one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.neighbors.distances import cosine, jaccard, mahalanobis, minkowski
from pellucid.textbook.neighbors.gower_distance import gower_distance
from pellucid.textbook.neighbors.hashing import collision_probability
from pellucid.textbook.neighbors.local_outlier_factor import local_outlier_factor
from pellucid.textbook.neighbors.nearest_neighbours import Found, mean, nearest_neighbours, vote
from pellucid.textbook.neighbors.prototypes import classify, prototypes


def two_points(rng: np.random.Generator) -> Data:
    return {"a": whole(rng, 0, 5, 2), "b": whole(rng, 6, 9, 2), "S": np.diag([4.0, one(rng, 1, 9)])}


def labelled(rng: np.random.Generator) -> Data:
    x = distinct(rng, 1, 20, 7)
    y = rng.permutation([0, 0, 0, 1, 1, 1, 1])
    return {"x": x, "y": y, "t": whole(rng, 1, 9, 7), "q": float(rng.integers(2, 19)) + 0.3, "k": 3}


def classes(rng: np.random.Generator) -> Data:
    return {
        "X": np.vstack([whole(rng, 0, 4, 3, 2), whole(rng, 5, 9, 3, 2)]),
        "y": np.repeat([0, 1], 3),
        "q": whole(rng, 3, 6, 2),
    }


def people(rng: np.random.Generator) -> Data:
    return {
        "age": np.array([20.0, 60.0, float(rng.integers(25, 55))]),
        "pets": np.array([[0, 1, 1], [1, 1, 1], [1, 0, 1]])[rng.permutation(3)],
    }


def line(rng: np.random.Generator) -> Data:
    return {"x": np.append(np.arange(4.0) * one(rng, 1, 2), float(rng.integers(15, 25))), "k": 2}


def hashes(rng: np.random.Generator) -> Data:
    return {
        "angle": one(rng, 30, 45, 60),
        "bits": int(rng.integers(3, 6)),
        "tables": int(rng.integers(2, 6)),
    }


def near(d: Given) -> Found:
    return nearest_neighbours(d.x[:, None], np.array([[d.q]]), d.k)


EXERCISES = (
    Exercise(
        "distances",
        "Four ways to be near",
        two_points,
        "Two points a and b in the plane, and the covariance S of the data.",
        (
            Step(
                "euclid",
                "The Euclidean distance.",
                lambda d: minkowski(d.a, d.b),
                ("Root of the sum of squares.",),
                (Slip("The root is missing.", lambda d: minkowski(d.a, d.b) ** 2),),
            ),
            Step(
                "city",
                "The city-block distance.",
                lambda d: minkowski(d.a, d.b, 1),
                ("Sum of absolute differences.",),
            ),
            Step(
                "largest",
                "The maximum (Chebyshev) distance.",
                lambda d: float(np.abs(d.a - d.b).max()),
                ("The largest difference.",),
            ),
            Step(
                "mahalanobis",
                "The Mahalanobis distance.",
                lambda d: mahalanobis(d.a, d.b, d.S),
                ("Divide each difference by its standard deviation; S is diagonal.",),
                (
                    Slip(
                        "You divided by variances outside the square: divide the squares.",
                        lambda d: float(np.sqrt((((d.a - d.b) / np.diag(d.S)) ** 2).sum())),
                    ),
                    Slip("The root is missing.", lambda d: mahalanobis(d.a, d.b, d.S) ** 2),
                ),
            ),
        ),
    ),
    Exercise(
        "vote",
        "Three neighbours vote",
        labelled,
        "Rows on a line with classes y and targets t. Predict at q = {q} with k = {k}.",
        (
            Step(
                "rows",
                "The rows (from 0) of the three nearest, nearest first.",
                lambda d: near(d).rows[0],
                ("Sort by |x - q|.",),
            ),
            Step(
                "share",
                "The share of class 1 among them.",
                lambda d: float(vote(near(d), d.y)[0, 1]),
                ("A mean of zeros and ones.",),
            ),
            Step(
                "weighted",
                "The share of class 1 with weights 1 / distance.",
                lambda d: float(vote(near(d), d.y, by_distance=True)[0, 1]),
                ("Weights of the ones over all weights.",),
                (
                    Slip(
                        "You weighed by the distance: near rows must count more.",
                        lambda d: float(
                            near(d).distances[0] @ d.y[near(d).rows[0]] / near(d).distances[0].sum()
                        ),
                    ),
                    Slip("You did not weigh.", lambda d: d.share),
                ),
            ),
            Step(
                "mean",
                "The kNN regression of t at q (equal weights).",
                lambda d: float(mean(near(d), d.t)[0]),
                ("The mean of the three targets.",),
                (Slip("This is the mean of all rows.", lambda d: d.t.mean()),),
            ),
        ),
    ),
    Exercise(
        "prototypes",
        "The nearest mean",
        classes,
        "Three rows of each class. A new row q gets the class of the nearest class mean.",
        (
            Step(
                "means",
                "The two means, shape (2, 2).",
                lambda d: prototypes(d.X, d.y),
                ("Class by class.",),
            ),
            Step(
                "squares",
                "The squared distances of q to both means.",
                lambda d: ((np.asarray(d.means) - d.q) ** 2).sum(axis=1),
                ("No root needed.",),
            ),
            Step(
                "label",
                "The class of q.",
                lambda d: int(classify(prototypes(d.X, d.y), d.q[None])[0]),
                ("The nearer mean.",),
                (Slip("This is the farther one.", lambda d: int(np.argmax(d.squares))),),
            ),
        ),
    ),
    Exercise(
        "mixed",
        "Ages and pets",
        people,
        "Three people with an age and three yes/no columns. Compare them by Gower's distance and "
        "by Jaccard's.",
        (
            Step(
                "gower",
                "Gower's distance of persons 0 and 1.",
                lambda d: gower_distance(d.age[:, None], d.pets)[0, 1],
                ("The mean over four columns: |difference| / range, or 0 / 1.",),
                (
                    Slip(
                        "You summed: take the mean over the columns.",
                        lambda d: 4 * gower_distance(d.age[:, None], d.pets)[0, 1],
                    ),
                    Slip(
                        "You did not divide the ages by their range.",
                        lambda d: (40 + np.sum(d.pets[0] != d.pets[1])) / 4,
                    ),
                ),
            ),
            Step(
                "jaccard",
                "Jaccard's distance of the pets of persons 0 and 1.",
                lambda d: jaccard(d.pets[0].astype(bool), d.pets[1].astype(bool)),
                ("1 - both / either.",),
                (
                    Slip(
                        "This is the similarity: subtract it from 1.",
                        lambda d: 1 - jaccard(d.pets[0].astype(bool), d.pets[1].astype(bool)),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "outlier",
        "The local outlier factor",
        line,
        "Five points on a line, the last far away. Use k = {k} neighbours.",
        (
            Step(
                "reach",
                "The distance of every row to its second neighbour.",
                lambda d: np.sort(np.abs(d.x[:, None] - d.x), axis=1)[:, 2],
                ("Not counting itself.",),
                (
                    Slip(
                        "You counted the row itself as its neighbour.",
                        lambda d: np.sort(np.abs(d.x[:, None] - d.x), axis=1)[:, 1],
                    ),
                ),
            ),
            Step(
                "lof",
                "The LOF of the last row.",
                lambda d: float(local_outlier_factor(d.x[:, None], d.k)[-1]),
                (
                    "Reach distance to a neighbour b: max(d, reach of b).",
                    "Mean density of the neighbours over the own density.",
                ),
                (
                    Slip(
                        "This is its inverse.",
                        lambda d: 1 / float(local_outlier_factor(d.x[:, None], d.k)[-1]),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "hashing",
        "Random planes",
        hashes,
        "Two rows form an angle of {angle} degrees. Each of {tables} tables hashes rows by the "
        "signs of {bits} random planes.",
        (
            Step(
                "one",
                "The probability that one plane leaves both rows on one side.",
                lambda d: collision_probability(np.cos(np.deg2rad(d.angle)), 1, 1),
                ("1 - angle / 180 degrees.",),
                (
                    Slip(
                        "This is the cosine, not the probability.",
                        lambda d: np.cos(np.deg2rad(d.angle)),
                    ),
                    Slip("This is the probability of being separated.", lambda d: d.angle / 180),
                ),
            ),
            Step(
                "bucket",
                "The probability of the same bucket in one table.",
                lambda d: d.one**d.bits,
                ("All planes must agree.",),
            ),
            Step(
                "found",
                "The probability of sharing a bucket in at least one table.",
                lambda d: collision_probability(np.cos(np.deg2rad(d.angle)), d.bits, d.tables),
                ("1 - (1 - p)^tables.",),
                (
                    Slip("You multiplied by the number of tables.", lambda d: d.bucket * d.tables),
                    Slip("This is the probability of all tables.", lambda d: d.bucket**d.tables),
                ),
            ),
        ),
    ),
    Exercise(
        "cosine",
        "Directions only",
        lambda rng: {"a": whole(rng, 1, 5, 3), "b": whole(rng, 1, 5, 3), "c": one(rng, 2, 3)},
        "Two vectors a and b; what changes when b is stretched by {c}?",
        (
            Step(
                "cosine",
                "The cosine distance of a and b.",
                lambda d: cosine(d.a, d.b),
                ("1 - a'b / (|a| |b|).",),
                (
                    Slip(
                        "This is the similarity: subtract it from 1.",
                        lambda d: 1 - cosine(d.a, d.b),
                    ),
                ),
                1e-4,
            ),
            Step(
                "stretched",
                "The cosine distance of a and c b.",
                lambda d: cosine(d.a, d.c * d.b),
                ("Lengths do not matter.",),
                (
                    Slip(
                        "The length cancels: nothing is multiplied by c.",
                        lambda d: d.c * cosine(d.a, d.b),
                    ),
                ),
                1e-4,
            ),
        ),
    ),
)
