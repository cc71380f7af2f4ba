"""Exercises on comparing models: paired tests, ranks, many tests, importance."""

import numpy as np

from pellucid.teach.numbers import whole
from pellucid.teach.records import Data, Exercise, Slip, Step
from pellucid.textbook.comparison.adjust_p_values import adjust_p_values
from pellucid.textbook.comparison.corrected_t_test import corrected_t_test
from pellucid.textbook.comparison.friedman_test import friedman_test
from pellucid.textbook.comparison.mcnemar_test import mcnemar_test


def differences(rng: np.random.Generator) -> Data:
    return {"d": (whole(rng, 0, 5, 10) + whole(rng, -1, 1, 10)) / 100, "ratio": 1 / 9}


def outcomes(rng: np.random.Generator) -> Data:
    b, c = int(rng.integers(8, 14)), int(rng.integers(2, 6))
    a = np.r_[np.ones(20 + b), np.zeros(c + 5)]
    return {
        "right_a": a.astype(bool),
        "right_b": np.r_[np.ones(20), np.zeros(b), np.ones(c), np.zeros(5)].astype(bool),
    }


def league(rng: np.random.Generator) -> Data:
    return {
        "S": np.array([rng.permutation([0.8, 0.7, 0.6]) + whole(rng, 0, 9) / 100 for _ in range(5)])
    }


def many(rng: np.random.Generator) -> Data:
    return {
        "p": np.round(
            rng.permutation([0.002, 0.012, 0.02, 0.04, 0.3]) + rng.integers(0, 4) / 1000, 3
        )
    }


EXERCISES = (
    Exercise(
        "paired",
        "Two models on the same folds",
        differences,
        "Differences d of the accuracies of two models in ten folds (a test fold is 1/9 of its "
        "training rows).",
        (
            Step("mean", "The mean difference.", lambda d: d.d.mean()),
            Step(
                "sd",
                "The standard deviation of the differences (divisor k - 1).",
                lambda d: d.d.std(ddof=1),
                ("Divisor 9.",),
                (Slip("You divided by k, not k - 1.", lambda d: d.d.std()),),
                1e-4,
            ),
            Step(
                "t",
                "The plain paired t statistic.",
                lambda d: corrected_t_test(d.d, 0.0).statistic,
                ("mean / (sd / sqrt(k)).",),
                (Slip("You forgot the root of k.", lambda d: d.mean / d.sd),),
            ),
            Step(
                "corrected",
                "The t statistic corrected for overlapping training sets.",
                lambda d: corrected_t_test(d.d, d.ratio).statistic,
                ("Replace 1/k by 1/k + n_test / n_train.",),
                (
                    Slip("This is the uncorrected one.", lambda d: d.t),
                    Slip(
                        "You replaced 1/k by n_test / n_train alone.",
                        lambda d: d.mean / (d.sd * np.sqrt(d.ratio)),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "mcnemar",
        "Two classifiers on the same rows",
        outcomes,
        "right_a and right_b say which test rows each classifier gets right.",
        (
            Step(
                "b",
                "How many rows does only A get right?",
                lambda d: int(np.sum(d.right_a & ~d.right_b)),
                ("A right and B wrong.",),
                (Slip("You counted all rows that A gets right.", lambda d: int(d.right_a.sum())),),
            ),
            Step(
                "c",
                "How many rows does only B get right?",
                lambda d: int(np.sum(~d.right_a & d.right_b)),
                ("B right and A wrong.",),
                (Slip("You counted all rows that B gets right.", lambda d: int(d.right_b.sum())),),
            ),
            Step(
                "chi2",
                "McNemar's statistic with continuity correction.",
                lambda d: mcnemar_test(d.right_a, d.right_b).chi2,
                ("(|b - c| - 1)^2 / (b + c).",),
                (
                    Slip(
                        "You left out the correction -1.", lambda d: (d.b - d.c) ** 2 / (d.b + d.c)
                    ),
                    Slip(
                        "You divided by all rows.",
                        lambda d: (abs(d.b - d.c) - 1) ** 2 / len(d.right_a),
                    ),
                ),
            ),
            Step(
                "p",
                "The exact two-sided p-value.",
                lambda d: mcnemar_test(d.right_a, d.right_b).exact,
                ("Binomial(b + c, 1/2).",),
                (
                    Slip(
                        "This is one-sided: double it.",
                        lambda d: mcnemar_test(d.right_a, d.right_b).exact / 2,
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "ranks",
        "Three models, five data sets",
        league,
        "Accuracies of three models (columns) on five data sets (rows).",
        (
            Step(
                "mean_ranks",
                "The mean ranks of the three models (1 is the best).",
                lambda d: friedman_test(d.S).ranks,
                ("Rank each row by itself.",),
                (Slip("You gave rank 1 to the worst.", lambda d: 4 - friedman_test(d.S).ranks),),
            ),
            Step(
                "chi2",
                "Friedman's statistic.",
                lambda d: friedman_test(d.S).chi2,
                ("12 N / (m (m + 1)) sum (R - (m + 1) / 2)^2 with N = 5, m = 3.",),
                (
                    Slip(
                        "You exchanged data sets and models in the factor.",
                        lambda d: 12 * 3 / 30 * ((d.mean_ranks - 2) ** 2).sum(),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "many_tests",
        "Five tests at once",
        many,
        "Five p-values. Which survive at the level 0.05?",
        (
            Step(
                "bonferroni",
                "The Bonferroni-adjusted p-values, in the given order.",
                lambda d: adjust_p_values(d.p).bonferroni,
                ("Times five, at most 1.",),
                (Slip("A probability cannot exceed 1.", lambda d: 5 * d.p),),
                1e-4,
            ),
            Step(
                "holm",
                "Holm's adjusted p-values.",
                lambda d: adjust_p_values(d.p).holm,
                ("Sort; the smallest times 5, the next times 4, ..., never falling.",),
                (Slip("This is Bonferroni's.", lambda d: d.bonferroni),),
                1e-4,
            ),
            Step(
                "bh",
                "How many does Benjamini-Hochberg reject at 0.05?",
                lambda d: int(np.sum(adjust_p_values(d.p).benjamini_hochberg <= 0.05)),
                ("p_(i) <= 0.05 i / 5 for the largest such i.",),
                (
                    Slip(
                        "This is how many Bonferroni rejects.",
                        lambda d: int(np.sum(d.bonferroni <= 0.05)),
                    ),
                    Slip("This counts the unadjusted ones.", lambda d: int(np.sum(d.p <= 0.05))),
                ),
            ),
        ),
    ),
)
