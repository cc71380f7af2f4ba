"""What "agree" means for a method of the textbook and its fast twin.

``same`` is equality to 1e-8. Where both draw at random, ``same_mean`` and ``same_law`` are tests of
statistics, each with the seed of its file, that fail by chance once in ``1 / FALSE_ALARM`` seeds.
Whatever compares more loosely says why after ``# looser:``; ``test_textbook_frame`` looks.
"""

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

LOOSEST = 1e-8
FALSE_ALARM = 1e-4  # of one call, however many numbers it compares


def same(ours, theirs, rtol=LOOSEST, atol=0.0):
    """Every number to ``rtol`` of itself, or to ``atol`` where numbers cancel to 0."""
    assert max(rtol, atol) <= LOOSEST
    assert_allclose(ours, theirs, rtol, atol)


def same_mean(draws, other):
    """Independent draws, a row each, have the mean of other draws, or the mean that is given.

    Welch's test, or Student's where the mean is given, of every column at ``FALSE_ALARM`` shared
    among the columns. What never varies must be equal.
    """
    draws, other = np.asarray(draws, dtype=float), np.asarray(other, dtype=float)
    error = draws.var(axis=0, ddof=1) / len(draws)
    freedom, target = len(draws) - 1.0, other
    if other.ndim == draws.ndim:
        second = other.var(axis=0, ddof=1) / len(other)
        parts = error**2 / (len(draws) - 1) + second**2 / (len(other) - 1)
        error, target = error + second, other.mean(axis=0)
        freedom = error**2 / np.where(parts == 0, 1, parts)
    limit = stats.t.isf(FALSE_ALARM / 2 / error.size, freedom) * np.sqrt(error)
    away = np.abs(draws.mean(axis=0) - target)
    sure = error == 0
    assert np.all(np.where(sure, away <= LOOSEST * np.abs(target), away <= limit)), away / limit


def same_law(draws, other):
    """Independent numbers come from one continuous law, by the test of Kolmogorov and Smirnov."""
    assert stats.ks_2samp(np.ravel(draws), np.ravel(other)).pvalue > FALSE_ALARM


def slopes(f, x, h=1e-4):
    """The gradient of f by differences of the fourth order, in the shape of x."""
    out = np.empty(x.shape)
    for at in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[at] = h
        near, far = f(x + e) - f(x - e), f(x + 2 * e) - f(x - 2 * e)
        out[at] = (8 * near - far) / (12 * h)
    return out
