r"""Calinski and Harabasz' index: variance between the groups over variance within them.

Define      W = sum_i |x_i - mean of its group|^2,  B = sum_g n_g |mean_g - mean|^2,
            W + B = total sum of squares (Pythagoras), index = [B / (k - 1)] / [W / (n - k)]
Step        the F statistic of the analysis of variance, with the groups as the factor: compare it
            between numbers of groups and take the largest. It is no test: the groups were chosen.
Cost        n p.
The fast version is the same sum, with the labels checked.
"""

import numpy as np


def calinski_harabasz(X: np.ndarray, labels: np.ndarray) -> float:
    groups = [X[labels == g] for g in np.unique(labels)]
    n, k = len(X), len(groups)
    W = sum(((G - G.mean(axis=0)) ** 2).sum() for G in groups)
    B = sum(len(G) * ((G.mean(axis=0) - X.mean(axis=0)) ** 2).sum() for G in groups)
    return float((B / (k - 1)) / (W / (n - k)))
