"""Exercises on graphical models: independence, queries, tables, causes, structures."""

import numpy as np

from pellucid.teach.numbers import one, table
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.graphical.adjustment_formula import adjustment_formula
from pellucid.textbook.graphical.d_separation import d_separation
from pellucid.textbook.graphical.joint_enumeration import joint_enumeration
from pellucid.textbook.graphical.most_probable_explanation import most_probable_explanation
from pellucid.textbook.graphical.table_learning import table_learning
from pellucid.textbook.structures.chow_liu import chow_liu, mutual_information
from pellucid.textbook.structures.independence_test import independence_test
from pellucid.textbook.structures.structure_score import structure_score

PARENTS = [[], [], [0, 1]]  # 0 -> 2 <- 1
ARROWS = ((0, 1), (1, 2), (3, 2), (2, 4))  # a chain that meets another cause


def alarm(rng: np.random.Generator) -> Data:
    wet = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.1, 0.9]]])
    rain, sprinkler = one(rng, 0.2, 0.3, 0.4), one(rng, 0.1, 0.5)
    return {
        "rain": np.array([1 - rain, rain]),
        "sprinkler": np.array([1 - sprinkler, sprinkler]),
        "wet": wet,
    }


def chain(rng: np.random.Generator) -> Data:
    return {"a": table(rng, 1, 2)[0], "b": table(rng, 2, 2), "c": table(rng, 2, 2)}


def graph(rng: np.random.Generator) -> Data:
    order = rng.permutation(5)
    name = {i: "ABCDE"[k] for i, k in enumerate(order)}
    return {
        "arrows": ", ".join(f"{name[a]} -> {name[b]}" for a, b in ARROWS),
        "first": name[0],
        "middle": name[1],
        "collider": name[2],
        "other": name[3],
        "child": name[4],
    }


def rows(rng: np.random.Generator) -> Data:
    a = np.repeat([0, 1], 5)
    return {"a": a, "b": np.where(rng.random(10) < 0.3, 1 - a, a)}


def hospital(rng: np.random.Generator) -> Data:
    z = one(rng, 0.4, 0.5, 0.6)
    x_given_z = np.array([one(rng, 0.2, 0.3), one(rng, 0.7, 0.8)])
    y_given = np.array([[0.8, 0.9], [0.3, 0.5]])  # [z, x]
    joint = np.zeros((2, 2, 2))
    for k, share in enumerate((1 - z, z)):
        for x in range(2):
            p = share * (x_given_z[k] if x else 1 - x_given_z[k])
            joint[x, :, k] = p * np.array([1 - y_given[k, x], y_given[k, x]])
    return {"joint": np.round(joint, 6)}


def tables(d: Given) -> list[np.ndarray]:
    return [d.rain, d.sprinkler, d.wet]


def query(d: Given, q: int, evidence: dict[int, int]) -> float:
    return float(joint_enumeration(PARENTS, tables(d), q, evidence)[1])


def separated(a: int, b: int, given: set[int]) -> str:
    return "yes" if d_separation([[], [0], [1, 3], [], [2]], a, b, given) else "no"


def best_chain(d: Given) -> np.ndarray:
    best = most_probable_explanation([[], [0], [1]], [d.a, d.b, d.c], {})
    return np.array([best[v] for v in range(3)])


EXERCISES = (
    Exercise(
        "explaining",
        "Rain or sprinkler",
        alarm,
        "Rain and sprinkler are independent; the grass is wet with the probabilities wet[rain, "
        "sprinkler, wet]. State 1 means yes.",
        (
            Step("wet_share", "P(wet).", lambda d: query(d, 2, {}), ("Sum over the four causes.",)),
            Step(
                "rain_given_wet",
                "P(rain | wet).",
                lambda d: query(d, 0, {2: 1}),
                ("P(rain, wet) / P(wet).",),
                (
                    Slip(
                        "This is P(wet | rain): the condition is turned round.",
                        lambda d: query(d, 2, {0: 1}),
                    ),
                    Slip(
                        "You did not divide by P(wet).",
                        lambda d: query(d, 0, {2: 1}) * query(d, 2, {}),
                    ),
                ),
            ),
            Step(
                "explained",
                "P(rain | wet, sprinkler).",
                lambda d: query(d, 0, {2: 1, 1: 1}),
                ("The sprinkler explains the wet grass away.",),
                (
                    Slip(
                        "They are independent only as long as the grass is not seen.",
                        lambda d: d.rain[1],
                    ),
                    Slip("You did not use that the sprinkler is on.", lambda d: d.rain_given_wet),
                ),
            ),
        ),
    ),
    Exercise(
        "separation",
        "Which paths are open?",
        graph,
        "A graph with the arrows {arrows}. Answer yes or no.",
        (
            Step(
                "chain",
                "Are {first} and {collider} independent given {middle}?",
                lambda d: separated(0, 2, {1}),
                ("A chain is blocked by its middle.",),
                (Slip("A chain is blocked when its middle is known.", lambda d: "no"),),
                0.0,
            ),
            Step(
                "marginal",
                "Are {first} and {other} independent when nothing is known?",
                lambda d: separated(0, 3, set()),
                ("Arrows meet head to head at {collider}.",),
                (Slip("A head-to-head node blocks as long as it is not known.", lambda d: "no"),),
                0.0,
            ),
            Step(
                "collider_known",
                "Are {first} and {other} independent given {child}?",
                lambda d: separated(0, 3, {4}),
                ("{child} is a descendant of the head-to-head node.",),
                (Slip("A known descendant opens a head-to-head node.", lambda d: "yes"),),
                0.0,
            ),
        ),
    ),
    Exercise(
        "chain",
        "Along a chain",
        chain,
        "A -> B -> C, two states each: a = P(A), b[A, B] = P(B | A), c[B, C] = P(C | B).",
        (
            Step("B", "P(B = 1).", lambda d: float(d.a @ d.b[:, 1]), ("Sum over A.",)),
            Step(
                "C",
                "P(C = 1).",
                lambda d: float(np.array([1 - d.B, d.B]) @ d.c[:, 1]),
                ("Sum over B.",),
            ),
            Step(
                "A",
                "P(A = 1 | C = 1).",
                lambda d: float(joint_enumeration([[], [0], [1]], [d.a, d.b, d.c], 0, {2: 1})[1]),
                ("P(A, C) over P(C).",),
                (Slip("This is P(C = 1 | A = 1).", lambda d: float(d.b[1] @ d.c[:, 1])),),
            ),
            Step(
                "likeliest",
                "The most probable states of (A, B, C) together.",
                best_chain,
                ("Eight products; not the best state of each alone.",),
            ),
        ),
    ),
    Exercise(
        "tables",
        "Learn a table",
        rows,
        "Ten rows of two yes/no variables with the arrow a -> b.",
        (
            Step(
                "shares",
                "P(b = 1 | a = 0) and P(b = 1 | a = 1) by maximum likelihood.",
                lambda d: table_learning(np.column_stack([d.a, d.b]), [[], [0]], [2, 2])[1][:, 1],
                ("Shares in each half.",),
            ),
            Step(
                "smoothed",
                "The same with one imagined row in every cell.",
                lambda d: table_learning(np.column_stack([d.a, d.b]), [[], [0]], [2, 2], 1.0)[1][
                    :, 1
                ],
                ("(count + 1) / (5 + 2).",),
                (
                    Slip(
                        "You added 1 to the count only.",
                        lambda d: (5 * np.asarray(d.shares) + 1) / 5,
                    ),
                ),
            ),
            Step(
                "G",
                "The G statistic of the independence of a and b.",
                lambda d: independence_test(d.a, d.b).G,
                ("2 sum N ln(N / E).",),
                (Slip("You forgot the factor 2.", lambda d: independence_test(d.a, d.b).G / 2),),
            ),
            Step(
                "bic",
                "The gain in BIC (log-likelihood minus parameters / 2 times ln n) of the arrow.",
                lambda d: (
                    structure_score(np.column_stack([d.a, d.b]), [2, 2], [[], [0]])
                    - structure_score(np.column_stack([d.a, d.b]), [2, 2], [[], []])
                ),
                ("G / 2 minus one more parameter times ln(10) / 2.",),
                (Slip("You forgot what the parameter costs.", lambda d: d.G / 2),),
            ),
        ),
    ),
    Exercise(
        "do",
        "Seeing is not doing",
        hospital,
        "joint[x, y, z] of treatment x, recovery y and severity z, which influences both (z -> x, "
        "z -> y, x -> y).",
        (
            Step(
                "seeing",
                "P(y = 1 | x = 1).",
                lambda d: float(d.joint[1, 1].sum() / d.joint[1].sum()),
                ("Among the treated.",),
            ),
            Step(
                "doing",
                "P(y = 1 | do(x = 1)).",
                lambda d: float(adjustment_formula(d.joint, 1)[1]),
                ("Sum over z of P(y | x, z) P(z).",),
                (Slip("This is seeing: weigh with P(z), not P(z | x).", lambda d: d.seeing),),
            ),
            Step(
                "effect",
                "The effect P(y | do(x = 1)) - P(y | do(x = 0)).",
                lambda d: float(
                    adjustment_formula(d.joint, 1)[1] - adjustment_formula(d.joint, 0)[1]
                ),
                ("The same for x = 0.",),
                (
                    Slip(
                        "This is the difference of what is seen.",
                        lambda d: float(
                            d.joint[1, 1].sum() / d.joint[1].sum()
                            - d.joint[0, 1].sum() / d.joint[0].sum()
                        ),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "chow_liu",
        "The best tree",
        lambda rng: {
            "X": np.column_stack(
                [
                    np.repeat([0, 1], 6),
                    np.r_[0, np.repeat([0, 1], [5, 5]), 1],
                    rng.permutation(np.repeat([0, 1], 6)),
                ]
            )
        },
        "Twelve rows of three yes/no variables (columns 0, 1, 2).",
        (
            Step(
                "I",
                "The mutual information (natural logarithm) of the pairs (0, 1), (0, 2), (1, 2).",
                lambda d: np.array(
                    [mutual_information(d.X[:, i], d.X[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
                ),
                ("sum p(a, b) ln(p(a, b) / (p(a) p(b))).",),
                (
                    Slip(
                        "You used log2.",
                        lambda d: (
                            np.array(
                                [
                                    mutual_information(d.X[:, i], d.X[:, j])
                                    for i, j in ((0, 1), (0, 2), (1, 2))
                                ]
                            )
                            / np.log(2)
                        ),
                    ),
                ),
            ),
            Step(
                "edges",
                "How many edges has the tree?",
                lambda d: len(chow_liu(d.X)),
                ("Variables minus one.",),
                (Slip("All three would close a cycle.", lambda d: 3),),
            ),
            Step(
                "first",
                "Is (0, 1) in the tree? yes or no.",
                lambda d: "yes" if {(0, 1), (1, 0)} & set(chow_liu(d.X)) else "no",
                ("The strongest pair always is.",),
                (),
                0.0,
            ),
        ),
    ),
)
