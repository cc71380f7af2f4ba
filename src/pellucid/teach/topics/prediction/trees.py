"""Exercises on trees: impurity, questions, pruning, regression trees."""

import numpy as np

from pellucid.teach.numbers import distinct, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.trees.c45 import worth
from pellucid.textbook.trees.cart import cart
from pellucid.textbook.trees.cost_complexity_pruning import cost_complexity_pruning
from pellucid.textbook.trees.id3 import gain, id3
from pellucid.textbook.trees.impurity import gain_ratio, impurity, information_gain
from pellucid.textbook.trees.pessimistic_pruning import feared
from pellucid.textbook.trees.regression_tree import predict, regression_tree


def node(rng: np.random.Generator) -> Data:
    return {"y": np.repeat([0, 1, 2], rng.permutation([1, 2, 5]))}


def tennis(rng: np.random.Generator) -> Data:
    X = np.column_stack([np.repeat([0, 1, 2], [3, 3, 2]), np.tile([0, 1], 4)])
    return {"X": X, "y": np.r_[rng.permutation([1, 0, 0]), rng.permutation([1, 1, 0]), 1, 1]}


def numbers(rng: np.random.Generator) -> Data:
    return {"x": distinct(rng, 1, 20, 6), "y": np.array([0, 0, *rng.permutation([0, 1]), 1, 1])}


def steps(rng: np.random.Generator) -> Data:
    return {
        "x": np.arange(1.0, 7.0),
        "y": np.r_[whole(rng, 1, 4, 3), whole(rng, 8, 12, 3)],
        "q": 2.5,
    }


def pruned(rng: np.random.Generator) -> Data:
    a, b = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    risk = np.array([20 + a + b, 8 + a, 10 + b, 5, 3, 7, 3]) / 100
    return {
        "left": np.array([1, 3, 5, -1, -1, -1, -1]),
        "right": np.array([2, 4, 6, -1, -1, -1, -1]),
        "risk": risk,
    }


def leaf(rng: np.random.Generator) -> Data:
    return {"N": int(rng.integers(6, 16)), "E": int(rng.integers(0, 3))}


def nats(y: np.ndarray) -> float:
    p = np.bincount(y)[np.bincount(y) > 0] / len(y)
    return float(-(p * np.log(p)).sum())


def parts(d: Given, kind: str) -> float:
    low = d.x <= d.threshold
    return float(
        np.mean(low) * impurity(d.y[low], kind) + np.mean(~low) * impurity(d.y[~low], kind)
    )


EXERCISES = (
    Exercise(
        "impurity",
        "How mixed is a node?",
        node,
        "A node holds rows of three classes with the labels y.",
        (
            Step(
                "gini",
                "The Gini impurity.",
                lambda d: impurity(d.y, "gini"),
                ("1 - sum of squared shares.",),
                (
                    Slip(
                        "This is the sum of the squares: subtract it from 1.",
                        lambda d: 1 - impurity(d.y, "gini"),
                    ),
                ),
            ),
            Step(
                "entropy",
                "The entropy in bits.",
                lambda d: impurity(d.y, "entropy"),
                ("-sum p log2 p.",),
                (
                    Slip("You used the natural logarithm instead of log2.", lambda d: nats(d.y)),
                    Slip("You used log10 instead of log2.", lambda d: nats(d.y) / np.log(10)),
                    Slip("The minus sign is missing.", lambda d: -impurity(d.y, "entropy")),
                ),
            ),
            Step(
                "error",
                "The misclassification rate of the majority.",
                lambda d: impurity(d.y, "misclassification"),
                ("1 - the largest share.",),
                (
                    Slip(
                        "This is the share of the majority.",
                        lambda d: 1 - impurity(d.y, "misclassification"),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "id3",
        "Which category is asked first?",
        tennis,
        "Two columns of categories and classes y. Choose the first question by information gain "
        "(log2).",
        (
            Step(
                "gains",
                "The gains of both columns.",
                lambda d: np.array([gain(d.X[:, j], d.y, 2) for j in range(2)]),
                ("Entropy before minus the weighted mean after.",),
                (
                    Slip(
                        "You used the natural logarithm instead of log2.",
                        lambda d: np.log(2) * np.array([gain(d.X[:, j], d.y, 2) for j in range(2)]),
                    ),
                    Slip(
                        "You averaged the parts without their sizes.",
                        lambda d: np.array(
                            [
                                impurity(d.y, "entropy")
                                - np.mean(
                                    [
                                        impurity(d.y[d.X[:, j] == v], "entropy")
                                        for v in np.unique(d.X[:, j])
                                    ]
                                )
                                for j in range(2)
                            ]
                        ),
                    ),
                ),
            ),
            Step(
                "first",
                "The column (0 or 1) that ID3 asks first.",
                lambda d: int(id3(d.X, d.y).feature),
                ("The larger gain.",),
                (Slip("This one gains less.", lambda d: int(np.argmin(d.gains))),),
            ),
            Step(
                "ratio",
                "The gain ratio of column 0.",
                lambda d: gain_ratio(d.y, d.X[:, 0]),
                ("Gain over the entropy of the column itself.",),
                (
                    Slip(
                        "You divided by the entropy of the classes.",
                        lambda d: d.gains[0] / impurity(d.y, "entropy"),
                    ),
                    Slip("You did not divide.", lambda d: d.gains[0]),
                ),
            ),
        ),
    ),
    Exercise(
        "threshold",
        "The best threshold",
        numbers,
        "One number x and two classes. CART asks x <= t with t half-way between neighbouring "
        "values, by Gini.",
        (
            Step(
                "candidates",
                "How many thresholds are tried?",
                lambda d: len(np.unique(d.x)) - 1,
                ("Between neighbours.",),
                (Slip("One less: between neighbours.", lambda d: len(d.x)),),
            ),
            Step(
                "threshold",
                "The best threshold (the lowest of equals).",
                lambda d: cart(d.x[:, None], d.y, depth=1).threshold,
                ("Try those where the class changes.",),
            ),
            Step(
                "after",
                "The weighted Gini impurity after that question.",
                lambda d: parts(d, "gini"),
                ("Weigh each side by its share of the rows.",),
                (
                    Slip(
                        "You did not weigh the sides.",
                        lambda d: float(
                            np.mean(
                                [
                                    impurity(d.y[d.x <= d.threshold], "gini"),
                                    impurity(d.y[d.x > d.threshold], "gini"),
                                ]
                            )
                        ),
                    ),
                ),
            ),
            Step(
                "gain",
                "The gain of that question.",
                lambda d: information_gain(d.y, (d.x <= d.threshold).astype(int), "gini"),
                ("Impurity before minus after.",),
            ),
        ),
    ),
    Exercise(
        "regression_tree",
        "A step function",
        steps,
        "Fit a regression tree with one question to y and predict at x = {q}.",
        (
            Step(
                "before",
                "The sum of squares around the mean.",
                lambda d: ((d.y - d.y.mean()) ** 2).sum(),
                ("One leaf: the mean.",),
            ),
            Step(
                "threshold",
                "The threshold.",
                lambda d: regression_tree(d.x[:, None], d.y, depth=1).threshold,
                ("Where the sum of squares within both sides is least.",),
            ),
            Step(
                "after",
                "The sum of squares after the question.",
                lambda d: float(
                    (
                        (d.y - predict(regression_tree(d.x[:, None], d.y, depth=1), d.x[:, None]))
                        ** 2
                    ).sum()
                ),
                ("Each side around its own mean.",),
            ),
            Step(
                "prediction",
                "The prediction at x = q.",
                lambda d: float(
                    predict(regression_tree(d.x[:, None], d.y, depth=1), np.array([[d.q]]))[0]
                ),
                ("The mean of the leaf.",),
                (
                    Slip("This is the mean of all rows.", lambda d: d.y.mean()),
                    Slip(
                        "This is the median of the leaf.",
                        lambda d: float(np.median(d.y[d.x <= d.threshold])),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "pruning",
        "The weakest link",
        pruned,
        "A tree with the root 0, inner nodes 1 and 2, leaves 3 to 6; risk holds R(t) of every "
        "node as a leaf (share of rows times impurity).",
        (
            Step(
                "links",
                "g(t) = (R(t) - R(T_t)) / (leaves - 1) of nodes 0, 1 and 2.",
                lambda d: np.array(
                    [
                        (d.risk[0] - d.risk[3:].sum()) / 3,
                        d.risk[1] - d.risk[3] - d.risk[4],
                        d.risk[2] - d.risk[5] - d.risk[6],
                    ]
                ),
                ("R(T_t) sums the leaves below t.",),
                (
                    Slip(
                        "You divided by the number of leaves, not leaves - 1.",
                        lambda d: np.array(
                            [
                                (d.risk[0] - d.risk[3:].sum()) / 4,
                                (d.risk[1] - d.risk[3] - d.risk[4]) / 2,
                                (d.risk[2] - d.risk[5] - d.risk[6]) / 2,
                            ]
                        ),
                    ),
                ),
                1e-4,
            ),
            Step(
                "first",
                "The node that is cut first.",
                lambda d: int(np.argmin(d.links)),
                ("The least g.",),
            ),
            Step(
                "alphas",
                "The alphas of the whole sequence, from 0 on.",
                lambda d: cost_complexity_pruning(d.left, d.right, d.risk)[0],
                ("Cut, compute g again, repeat.",),
                tolerance=1e-4,
            ),
        ),
    ),
    Exercise(
        "pessimistic",
        "Errors to be feared",
        leaf,
        "A leaf holds {N} training rows of which {E} are wrong. C4.5 fears the rate U with P(at "
        "most E errors of N | U) = 1/4.",
        (
            Step("training", "The training error rate.", lambda d: d.E / d.N),
            Step(
                "feared",
                "The number of errors N U to be feared.",
                lambda d: feared(d.E, d.N),
                ("U is the 3/4 quantile of Beta(E + 1, N - E).",),
                (Slip("This is the rate U: multiply by N.", lambda d: feared(d.E, d.N) / d.N),),
            ),
        ),
    ),
    Exercise(
        "split_info",
        "Many values gain by chance",
        lambda rng: {
            "groups": np.array([[2, 0], [0, 2], [1, 1]])[rng.permutation(3)]
            + np.array([[int(rng.integers(0, 2)), 0], [0, 0], [0, 0]])
        },
        "A question with three branches; groups holds the counts of both classes in each branch.",
        (
            Step(
                "gain",
                "The information gain in bits.",
                lambda d: worth(d.groups)[0],
                ("Entropy of the column sums minus the weighted entropies of the rows.",),
                (
                    Slip(
                        "You used the natural logarithm.", lambda d: worth(d.groups)[0] * np.log(2)
                    ),
                ),
            ),
            Step(
                "info",
                "The split information (the entropy of the branch sizes).",
                lambda d: worth(d.groups)[1],
                ("Shares of the rows in each branch.",),
                (
                    Slip(
                        "You used the natural logarithm.", lambda d: worth(d.groups)[1] * np.log(2)
                    ),
                ),
            ),
            Step(
                "ratio",
                "The gain ratio.",
                lambda d: d.gain / d.info,
                ("Gain over split information.",),
                (
                    Slip(
                        "This is the gain times the split information: divide.",
                        lambda d: d.gain * d.info,
                    ),
                ),
            ),
        ),
    ),
)
