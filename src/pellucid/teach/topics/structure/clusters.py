"""Exercises on clusters: k-means, linkage, density, and how good a grouping is."""

import numpy as np

from pellucid.teach.numbers import distinct, one
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.clusters.adjusted_rand import adjusted_rand
from pellucid.textbook.clusters.dbscan import State as Regions
from pellucid.textbook.clusters.dbscan import dbscan
from pellucid.textbook.clusters.elbow import elbow
from pellucid.textbook.clusters.fuzzy_c_means import memberships
from pellucid.textbook.clusters.k_medoids import k_medoids
from pellucid.textbook.clusters.kmeans import State as Groups
from pellucid.textbook.clusters.kmeans import kmeans, rounds
from pellucid.textbook.clusters.linkage import linkage
from pellucid.textbook.clusters.partition_counts import partition_counts
from pellucid.textbook.clusters.silhouette import silhouette


def line(rng: np.random.Generator) -> Data:
    x = np.r_[distinct(rng, 0, 6, 3), distinct(rng, 8, 14, 3)]
    return {"x": x, "centres": x[:2]}


def far(rng: np.random.Generator) -> Data:
    gaps = rng.permutation([1.0, 2.0, 4.0, 7.0])
    return {"x": np.append(0.0, np.cumsum(gaps))}


def dense(rng: np.random.Generator) -> Data:
    x = np.r_[[0.0, 1, 2, 3], [10.0, 11, 12], float(rng.integers(18, 25))]
    return {"x": x + one(rng, 0, 5), "eps": 1.5, "m": 3}


def groups(rng: np.random.Generator) -> Data:
    return {
        "x": np.r_[distinct(rng, 0, 4, 2), distinct(rng, 7, 12, 3)],
        "labels": np.array([0, 0, 1, 1, 1]),
    }


def two_groupings(rng: np.random.Generator) -> Data:
    return {
        "first": np.array([0, 0, 0, 1, 1, 1]),
        "second": np.array([0, 0, 1, 1, 1, 1])[rng.permutation(6)],
    }


def curve(rng: np.random.Generator) -> Data:
    drops = np.array([float(rng.integers(40, 60)), float(rng.integers(25, 35)), 5.0, 3.0])
    return {"E": 110 - np.append(0.0, np.cumsum(drops))}


def fuzzy(rng: np.random.Generator) -> Data:
    return {"x": 2.0, "centres": np.array([0.0, float(rng.integers(3, 9))]), "m": 2.0}


def second_state(d: Given) -> Groups:
    states = rounds(d.x[:, None], d.centres[:, None])
    next(states)
    return next(states)


def regions(d: Given) -> Regions:
    return dbscan(d.x[:, None], d.eps, d.m)


EXERCISES = (
    Exercise(
        "kmeans",
        "k-means on a line",
        line,
        "Group six points into two groups by k-means, from the centres given.",
        (
            Step(
                "labels",
                "The groups (0 or 1) of the six points after the first assignment.",
                lambda d: next(rounds(d.x[:, None], d.centres[:, None])).labels,
                ("Each to its nearest centre; the first of equals.",),
            ),
            Step(
                "means",
                "The centres after the first update.",
                lambda d: second_state(d).centres[:, 0],
                ("The means of the groups.",),
                (
                    Slip(
                        "You took medians.",
                        lambda d: np.array(
                            [np.median(d.x[np.asarray(d.labels) == k]) for k in range(2)]
                        ),
                    ),
                ),
            ),
            Step(
                "final",
                "The centres at the end.",
                lambda d: kmeans(d.x[:, None], d.centres[:, None]).centres[:, 0],
                ("Repeat until no label changes.",),
                (Slip("You stopped after one round.", lambda d: d.means),),
            ),
            Step(
                "J",
                "The sum of squared distances at the end.",
                lambda d: kmeans(d.x[:, None], d.centres[:, None]).J,
                ("To the own centre.",),
                (
                    Slip(
                        "You did not square.",
                        lambda d: float(
                            np.abs(d.x[:, None] - np.asarray(d.final)).min(axis=1).sum()
                        ),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "linkage",
        "Merge the nearest",
        far,
        "Five points on a line are merged by single and by complete linkage.",
        (
            Step(
                "single",
                "The four merge heights of single linkage, rising.",
                lambda d: linkage(d.x[:, None], "single")[:, 2],
                ("The gaps, sorted.",),
            ),
            Step(
                "complete",
                "The four merge heights of complete linkage.",
                lambda d: linkage(d.x[:, None], "complete")[:, 2],
                ("The distance of groups is that of their farthest points.",),
                (
                    Slip("These are the heights of single linkage.", lambda d: d.single),
                    Slip(
                        "These are the heights of average linkage.",
                        lambda d: linkage(d.x[:, None], "average")[:, 2],
                    ),
                ),
            ),
            Step(
                "largest",
                "The last height of complete linkage.",
                lambda d: float(np.asarray(d.complete)[-1]),
                ("The whole range.",),
            ),
        ),
    ),
    Exercise(
        "dbscan",
        "Dense and lonely",
        dense,
        "DBSCAN with eps = {eps} and at least m = {m} points within eps, the point itself counted.",
        (
            Step(
                "core",
                "How many points are core points?",
                lambda d: int(regions(d).core.sum()),
                ("Count the points within eps of each, itself included.",),
                (
                    Slip(
                        "You did not count the point itself.",
                        lambda d: int(
                            np.sum((np.abs(d.x[:, None] - d.x) <= d.eps).sum(axis=1) > d.m)
                        ),
                    ),
                ),
            ),
            Step(
                "groups",
                "How many groups are found?",
                lambda d: int(regions(d).labels.max()) + 1,
                ("Connected core points.",),
            ),
            Step(
                "noise",
                "How many points are noise?",
                lambda d: int(np.sum(regions(d).labels < 0)),
                ("Neither core nor within eps of a core point.",),
                (
                    Slip(
                        "Points on the border of a group are no noise.",
                        lambda d: int(np.sum(~regions(d).core)),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "silhouette",
        "Is a point well placed?",
        groups,
        "Five points in two groups. Look at the first one.",
        (
            Step(
                "a",
                "Its mean distance to the others of its group.",
                lambda d: float(abs(d.x[1] - d.x[0])),
                ("One other point.",),
                (Slip("You counted the point itself.", lambda d: float(abs(d.x[1] - d.x[0])) / 2),),
            ),
            Step(
                "b",
                "Its mean distance to the other group.",
                lambda d: float(np.abs(d.x[2:] - d.x[0]).mean()),
                ("Over three points.",),
                (
                    Slip(
                        "You took the nearest one.", lambda d: float(np.abs(d.x[2:] - d.x[0]).min())
                    ),
                ),
            ),
            Step(
                "s",
                "Its silhouette.",
                lambda d: (d.b - d.a) / max(d.a, d.b),
                ("(b - a) / max(a, b).",),
                (Slip("The sign is wrong.", lambda d: (d.a - d.b) / max(d.a, d.b)),),
            ),
            Step(
                "mean",
                "The mean silhouette of all five.",
                lambda d: float(silhouette(d.x[:, None], d.labels).mean()),
                ("The same for every point.",),
            ),
        ),
    ),
    Exercise(
        "agreement",
        "Do two groupings agree?",
        two_groupings,
        "Two groupings of the same six rows.",
        (
            Step(
                "pairs",
                "How many pairs of rows are together in both?",
                lambda d: int(
                    np.sum(
                        np.triu((d.first[:, None] == d.first) & (d.second[:, None] == d.second), 1)
                    )
                ),
                ("Fifteen pairs in all.",),
                (
                    Slip(
                        "You counted each pair twice.",
                        lambda d: (
                            2
                            * int(
                                np.sum(
                                    np.triu(
                                        (d.first[:, None] == d.first)
                                        & (d.second[:, None] == d.second),
                                        1,
                                    )
                                )
                            )
                        ),
                    ),
                ),
            ),
            Step(
                "ari",
                "The adjusted Rand index.",
                lambda d: adjusted_rand(d.first, d.second),
                ("A = 6 pairs together in the first, B = 7 in the second; chance gives A B / 15.",),
                (
                    Slip(
                        "This is the plain Rand index: it does not subtract chance.",
                        lambda d: (15 - 6 - 7 + 2 * d.pairs) / 15,
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "elbow",
        "How many groups?",
        curve,
        "E holds the error with 1, 2, ..., 5 groups. An elbow has a drop at least twice the next "
        "one.",
        (
            Step(
                "drops",
                "The four drops.",
                lambda d: -np.diff(d.E),
                ("E(k - 1) - E(k).",),
                (Slip("The sign is wrong.", lambda d: np.diff(d.E)),),
            ),
            Step(
                "k",
                "The number of groups at the elbow.",
                lambda d: elbow(d.E),
                ("The sharpest: the largest ratio of a drop to the next.",),
                (
                    Slip(
                        "One more: the drop to k groups belongs to k.",
                        lambda d: (elbow(d.E) or 0) - 1,
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "fuzzy",
        "A little of both",
        fuzzy,
        "A point at x = {x} between two centres; fuzzy c-means with m = {m}.",
        (
            Step(
                "u",
                "Its memberships in both groups.",
                lambda d: memberships(np.array([[d.x]]), d.centres[:, None], d.m)[0][0],
                ("Proportional to 1 / squared distance for m = 2.",),
                (
                    Slip(
                        "You used distances, not their squares.",
                        lambda d: (
                            (1 / np.abs(d.x - d.centres)) / (1 / np.abs(d.x - d.centres)).sum()
                        ),
                    ),
                    Slip(
                        "You exchanged the groups.",
                        lambda d: memberships(np.array([[d.x]]), d.centres[:, None], d.m)[0][0][
                            ::-1
                        ],
                    ),
                ),
            ),
            Step(
                "J",
                "Its part of the objective, sum of u^m times squared distance.",
                lambda d: float(np.asarray(d.u) ** 2 @ (d.x - d.centres) ** 2),
                ("Square the memberships.",),
                (
                    Slip(
                        "You did not raise u to m.",
                        lambda d: float(np.asarray(d.u) @ (d.x - d.centres) ** 2),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "medoids",
        "Medoids and counting",
        far,
        "Find two medoids (rows of the data) with the least sum of distances, and count the "
        "possible groupings.",
        (
            Step(
                "J",
                "The least sum of distances with two medoids.",
                lambda d: k_medoids(np.abs(d.x[:, None] - d.x), 2).J,
                ("Try where to cut the line; the medoid of a group is its median.",),
                (
                    Slip(
                        "You used means and squares: that is k-means.",
                        lambda d: min(
                            float(((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum())
                            for a, b in ((d.x[:i], d.x[i:]) for i in range(1, 5))
                        ),
                    ),
                ),
            ),
            Step(
                "groupings",
                "In how many ways can five rows be put into two groups?",
                lambda d: partition_counts(len(d.x))[2],
                ("2^4 - 1: neither group is empty, and they have no names.",),
                (
                    Slip(
                        "You named the groups: each grouping was counted twice.",
                        lambda d: 2 * partition_counts(5)[2],
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "seeding",
        "k-means++",
        lambda rng: {"x": np.array([0.0, *distinct(rng, 1, 9, 3)])},
        "The first centre is the first point. With which probability is each point the next "
        "centre?",
        (
            Step(
                "p",
                "The probabilities of the four points.",
                lambda d: d.x**2 / (d.x**2).sum(),
                ("Proportional to the squared distance to the nearest centre.",),
                (
                    Slip("You did not square the distances.", lambda d: d.x / d.x.sum()),
                    Slip("You took equal probabilities.", lambda d: np.full(4, 0.25)),
                ),
            ),
            Step(
                "expected",
                "The mean squared distance to the centres after the next draw, weighed by these "
                "probabilities.",
                lambda d: float(
                    sum(
                        p * np.minimum(d.x**2, (d.x - c) ** 2).mean()
                        for p, c in zip(np.asarray(d.p), d.x, strict=True)
                    )
                ),
                ("For each possible second centre take the nearer of the two.",),
            ),
        ),
    ),
)
