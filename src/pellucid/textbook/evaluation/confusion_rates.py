r"""Confusion rates: what the four counts of a two-class table say.

Given       TP, FN, FP, TN: truth in rows, prediction in columns
Solve       recall TP / (TP + FN): of the true ones found; precision TP / (TP + FP): of the found
            ones true; specificity TN / (TN + FP); F = 2 P R / (P + R), their harmonic mean;
            balanced accuracy, the mean of recall and specificity; Matthews' correlation of truth
            and prediction; kappa, the agreement beyond chance
Step        accuracy (TP + TN) / n says little when one class is rare: saying "no" always is then
            nearly perfect. Recall and specificity do not depend on how rare the class is,
            precision does.
Cost        one pass over the rows.
The fast version has many classes, averages and intervals.
"""

from typing import NamedTuple

import numpy as np


class Rates(NamedTuple):
    accuracy: float
    recall: float
    precision: float
    specificity: float
    f1: float
    balanced_accuracy: float
    mcc: float
    kappa: float


def confusion_rates(tp: int, fn: int, fp: int, tn: int) -> Rates:
    n = tp + fn + fp + tn
    accuracy, recall, specificity = (tp + tn) / n, tp / (tp + fn), tn / (tn + fp)
    precision = tp / (tp + fp)
    root = np.sqrt(float((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))
    chance = ((tp + fn) * (tp + fp) + (tn + fp) * (tn + fn)) / n**2
    return Rates(
        accuracy,
        recall,
        precision,
        specificity,
        2 * precision * recall / (precision + recall),
        (recall + specificity) / 2,
        float((tp * tn - fp * fn) / root),
        (accuracy - chance) / (1 - chance),
    )
