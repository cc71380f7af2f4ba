"""Exercises on evaluation: rates, curves, folds, calibration, intervals, conformal prediction."""

import numpy as np

from pellucid.teach.numbers import distinct, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.evaluation.confusion_rates import confusion_rates
from pellucid.textbook.evaluation.cross_validation import Predictor, cross_validation
from pellucid.textbook.evaluation.leave_one_out import leave_one_out
from pellucid.textbook.evaluation.one_standard_error import one_standard_error
from pellucid.textbook.evaluation.proportion_interval import proportion_interval
from pellucid.textbook.evaluation.reliability import reliability
from pellucid.textbook.evaluation.roc_curve import roc_curve
from pellucid.textbook.evaluation.split_conformal import split_conformal


def counts(rng: np.random.Generator) -> Data:
    tp, fn, fp = (int(v) for v in (rng.integers(10, 30), rng.integers(5, 15), rng.integers(5, 25)))
    return {"tp": tp, "fn": fn, "fp": fp, "tn": 100 - tp - fn - fp + 100}


def ranked(rng: np.random.Generator) -> Data:
    y = np.array([1, *rng.permutation([1, 1, 0, 0]), 0])
    return {"s": np.array([0.9, 0.8, 0.7, 0.5, 0.4, 0.1]), "y": y}


def folds(rng: np.random.Generator) -> Data:
    return {"y": whole(rng, 1, 12, 6)}


def hat(rng: np.random.Generator) -> Data:
    return {"x": distinct(rng, 0, 8, 4), "y": whole(rng, 1, 12, 4)}


def forecasts(rng: np.random.Generator) -> Data:
    y = np.r_[rng.permutation([1, 0, 0, 0, 0]), rng.permutation([1, 1, 1, 0]), 1]
    return {"p": np.repeat([0.1, 0.6, 0.9], [5, 4, 1]), "y": y}


def accuracy_data(rng: np.random.Generator) -> Data:
    return {"n": 50, "k": int(rng.integers(38, 48))}


def residuals(rng: np.random.Generator) -> Data:
    return {
        "r": rng.permutation(distinct(rng, 1, 40, 9)) / 10,
        "f_new": float(rng.integers(10, 20)),
    }


def path(rng: np.random.Generator) -> Data:
    loss = np.array([9.0, 6.0, 5.2, 5.0, 5.1]) + whole(rng, 0, 2, 5) / 10
    return {"size": np.arange(1, 6), "loss": loss, "se": np.full(5, 0.5)}


def constant(_: np.ndarray, y: np.ndarray) -> Predictor:
    return lambda Q: np.full(len(Q), y.mean())


def hats(d: Given) -> np.ndarray:
    D = np.column_stack([np.ones(4), d.x])
    return D @ np.linalg.solve(D.T @ D, D.T)


EXERCISES = (
    Exercise(
        "rates",
        "Four counts",
        counts,
        "A classifier gives tp = {tp}, fn = {fn}, fp = {fp}, tn = {tn}.",
        (
            Step(
                "accuracy",
                "The accuracy.",
                lambda d: confusion_rates(d.tp, d.fn, d.fp, d.tn).accuracy,
                ("Right over all.",),
            ),
            Step(
                "recall",
                "The recall (sensitivity).",
                lambda d: confusion_rates(d.tp, d.fn, d.fp, d.tn).recall,
                ("Of the true ones found.",),
                (
                    Slip(
                        "This is the precision: its denominator is tp + fp.",
                        lambda d: d.tp / (d.tp + d.fp),
                    ),
                ),
            ),
            Step(
                "precision",
                "The precision.",
                lambda d: confusion_rates(d.tp, d.fn, d.fp, d.tn).precision,
                ("Of the found ones true.",),
                (
                    Slip(
                        "This is the recall: its denominator is tp + fn.",
                        lambda d: d.tp / (d.tp + d.fn),
                    ),
                ),
            ),
            Step(
                "f1",
                "The F1 score.",
                lambda d: 2 * d.precision * d.recall / (d.precision + d.recall),
                ("The harmonic mean.",),
                (Slip("You took the arithmetic mean.", lambda d: (d.precision + d.recall) / 2),),
            ),
            Step(
                "balanced",
                "The balanced accuracy.",
                lambda d: confusion_rates(d.tp, d.fn, d.fp, d.tn).balanced_accuracy,
                ("The mean of recall and specificity.",),
                (
                    Slip(
                        "You averaged recall and precision.", lambda d: (d.precision + d.recall) / 2
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "roc",
        "The curve of a score",
        ranked,
        "Six rows with scores s and classes y.",
        (
            Step(
                "point",
                "(false positive rate, true positive rate) when rows with s >= 0.7 are called 1.",
                lambda d: np.array([np.mean(d.s[d.y == 0] >= 0.7), np.mean(d.s[d.y == 1] >= 0.7)]),
                ("Shares of the zeros and of the ones.",),
                (
                    Slip(
                        "You exchanged the two rates.",
                        lambda d: np.array(
                            [np.mean(d.s[d.y == 1] >= 0.7), np.mean(d.s[d.y == 0] >= 0.7)]
                        ),
                    ),
                ),
            ),
            Step(
                "auc",
                "The area under the ROC curve.",
                lambda d: roc_curve(d.s, d.y).area,
                ("The share of pairs (1, 0) in the right order.",),
                (
                    Slip(
                        "This is 1 - AUC: a one should score above a zero.",
                        lambda d: 1 - roc_curve(d.s, d.y).area,
                    ),
                ),
            ),
            Step(
                "ap",
                "The average precision.",
                lambda d: roc_curve(d.s, d.y).average_precision,
                ("The precision at each one found, averaged over the ones.",),
                (Slip("This is the area under the ROC curve.", lambda d: d.auc),),
            ),
        ),
    ),
    Exercise(
        "folds",
        "Three folds by hand",
        folds,
        "The model predicts the mean of its training rows. Use 3 folds of two neighbouring rows "
        "and squared loss.",
        (
            Step(
                "training",
                "The mean squared error of the model fitted on all rows, on these rows.",
                lambda d: d.y.var(),
                ("The variance with divisor n.",),
                (Slip("You divided by n - 1.", lambda d: d.y.var(ddof=1)),),
            ),
            Step(
                "losses",
                "The mean squared loss of each of the three folds.",
                lambda d: cross_validation(constant, d.y[:, None], d.y, 3).folds,
                ("Mean of the other four rows against the two left out.",),
                (
                    Slip(
                        "You used the mean of all rows: the fold has then been seen.",
                        lambda d: ((d.y - d.y.mean()) ** 2).reshape(3, 2).mean(axis=1),
                    ),
                ),
            ),
            Step(
                "cv",
                "The cross-validated loss.",
                lambda d: float(np.mean(d.losses)),
                ("The mean of the folds.",),
            ),
            Step(
                "se",
                "The plain standard error of that mean.",
                lambda d: float(np.std(d.losses, ddof=1) / np.sqrt(3)),
                ("Deviation of the folds (divisor k - 1) over the root of k.",),
                (
                    Slip(
                        "You divided by k, not k - 1, in the variance.",
                        lambda d: float(np.std(d.losses) / np.sqrt(3)),
                    ),
                    Slip(
                        "You forgot to divide by the root of k.",
                        lambda d: float(np.std(d.losses, ddof=1)),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "loo",
        "Leave one out without leaving out",
        hat,
        "Fit y = a + b x to four rows by least squares.",
        (
            Step(
                "h",
                "The diagonal of the hat matrix.",
                lambda d: np.diag(hats(d)),
                ("1/n + (x - mean)^2 / sum (x - mean)^2.",),
                (Slip("You left out 1/n.", lambda d: np.diag(hats(d)) - 0.25),),
            ),
            Step(
                "loo",
                "The leave-one-out mean squared error.",
                lambda d: leave_one_out(hats(d), d.y).loo,
                ("Divide each residual by 1 - h before squaring.",),
                (
                    Slip(
                        "This is the training error.",
                        lambda d: float(((d.y - hats(d) @ d.y) ** 2).mean()),
                    ),
                    Slip(
                        "You divided by 1 - h after squaring.",
                        lambda d: float(
                            ((d.y - hats(d) @ d.y) ** 2 / (1 - np.diag(hats(d)))).mean()
                        ),
                    ),
                ),
            ),
            Step(
                "gcv",
                "The generalised cross-validation error.",
                lambda d: leave_one_out(hats(d), d.y).gcv,
                ("With the mean of the h in place of each.",),
            ),
        ),
    ),
    Exercise(
        "calibration",
        "Do the probabilities hold?",
        forecasts,
        "Ten forecasts p of three kinds and their outcomes y.",
        (
            Step(
                "observed",
                "The observed shares in the three groups, p rising.",
                lambda d: reliability(d.p, d.y).observed,
                ("Group by group.",),
            ),
            Step(
                "ece",
                "The expected calibration error.",
                lambda d: reliability(d.p, d.y).ece,
                ("|p - share|, weighed by the size of the group.",),
                (
                    Slip(
                        "You did not weigh by the size of the groups.",
                        lambda d: float(np.abs(np.array([0.1, 0.6, 0.9]) - d.observed).mean()),
                    ),
                ),
            ),
            Step(
                "brier",
                "The Brier score.",
                lambda d: reliability(d.p, d.y).brier,
                ("The mean of (p - y)^2.",),
                (Slip("You forgot to square.", lambda d: float(np.abs(d.p - d.y).mean())),),
            ),
        ),
    ),
    Exercise(
        "interval",
        "How sure is an accuracy?",
        accuracy_data,
        "A classifier is right on {k} of {n} test rows. Use z = 1.96.",
        (
            Step("share", "The observed accuracy.", lambda d: d.k / d.n, ("k / n.",)),
            Step(
                "normal",
                "The normal (Wald) interval, (low, high).",
                lambda d: (
                    d.share + 1.96 * np.sqrt(d.share * (1 - d.share) / d.n) * np.array([-1, 1])
                ),
                ("p -+ z sqrt(p (1 - p) / n).",),
                (
                    Slip(
                        "You forgot to divide by n.",
                        lambda d: (
                            d.share + 1.96 * np.sqrt(d.share * (1 - d.share)) * np.array([-1, 1])
                        ),
                    ),
                    Slip(
                        "You forgot the root.",
                        lambda d: (
                            d.share + 1.96 * d.share * (1 - d.share) / d.n * np.array([-1, 1])
                        ),
                    ),
                ),
            ),
            Step(
                "wilson",
                "Wilson's interval, (low, high).",
                lambda d: np.array(proportion_interval(d.k, d.n)),
                ("Solve (phat - p)^2 = z^2 p (1 - p) / n for p.",),
                (Slip("This is the normal interval.", lambda d: d.normal),),
            ),
        ),
    ),
    Exercise(
        "conformal",
        "An interval that covers",
        residuals,
        "The absolute residuals r of nine calibration rows and the prediction {f_new} of a new "
        "row. The coverage shall be 80 %.",
        (
            Step(
                "rank",
                "Which place among the sorted residuals is used (from 1)?",
                lambda d: int(np.ceil(10 * 0.8)),
                ("ceil((n + 1) c).",),
                (Slip("You used n, not n + 1.", lambda d: int(np.ceil(9 * 0.8)) - 1),),
            ),
            Step(
                "q",
                "That residual.",
                lambda d: float(np.sort(d.r)[int(d.rank) - 1]),
                ("Sort first.",),
                (Slip("You did not sort the residuals.", lambda d: float(d.r[int(d.rank) - 1])),),
            ),
            Step(
                "interval",
                "The interval (low, high) of the new row.",
                lambda d: split_conformal(np.zeros(9), d.r, np.array([d.f_new]), 0.8)[0],
                ("Prediction -+ q.",),
            ),
        ),
    ),
    Exercise(
        "one_standard_error",
        "The simplest of the good ones",
        path,
        "Cross-validated losses of models with 1 to 5 columns and their standard errors.",
        (
            Step(
                "best",
                "The size with the least loss.",
                lambda d: int(d.size[d.loss.argmin()]),
                ("The first of equals.",),
            ),
            Step(
                "limit",
                "The largest loss that the one-standard-error rule accepts.",
                lambda d: d.loss.min() + d.se[d.loss.argmin()],
                ("Best loss plus its standard error.",),
                (
                    Slip("You took two standard errors.", lambda d: d.loss.min() + 2 * d.se[0]),
                    Slip("You subtracted it.", lambda d: d.loss.min() - d.se[0]),
                ),
            ),
            Step(
                "chosen",
                "The size that the rule chooses.",
                lambda d: int(d.size[one_standard_error(d.loss, d.se, d.size)]),
                ("The smallest size with a loss up to the limit.",),
                (Slip("This is the best one.", lambda d: d.best),),
            ),
        ),
    ),
)
