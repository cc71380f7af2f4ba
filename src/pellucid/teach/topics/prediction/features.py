"""Exercises on features: scaling, encoding, words, gaps, and what a column says alone."""

import numpy as np

from pellucid.teach.numbers import distinct, whole
from pellucid.teach.records import Data, Exercise, Slip, Step
from pellucid.textbook.features.equal_bins import equal_bins
from pellucid.textbook.features.f_test import correlation_test, f_test
from pellucid.textbook.features.neighbour_imputation import neighbour_imputation
from pellucid.textbook.features.one_hot_encoding import one_hot_encoding
from pellucid.textbook.features.robust_scaling import robust_scaling
from pellucid.textbook.features.standardise import standardise
from pellucid.textbook.features.target_encoding import shrunk_means
from pellucid.textbook.features.tf_idf import tf_idf


def column(rng: np.random.Generator) -> Data:
    return {
        "x": whole(rng, 1, 4) + 2 * distinct(rng, 0, 6, 5),
        "x_new": float(rng.integers(15, 25)),
    }


def cities(rng: np.random.Generator) -> Data:
    names = rng.permutation(["Bern", "Bern", "Bern", "Genf", "Genf", "Jura"])
    return {"city": names, "y": whole(rng, 1, 9, 6), "m": 2}


def words(rng: np.random.Generator) -> Data:
    counts = np.array([[1, 1, 0], [1, 0, 2], [1, 0, 0]], dtype=float)
    return {"counts": counts * whole(rng, 1, 2, 3, 3)}


def gaps(rng: np.random.Generator) -> Data:
    X = np.column_stack([distinct(rng, 1, 20, 4), whole(rng, 1, 9, 4), whole(rng, 1, 9, 4)])
    X[1, 2] = np.nan
    return {"X": X, "k": 2}


def groups(rng: np.random.Generator) -> Data:
    classes = np.repeat([0, 1, 2], 3)
    return {"x": whole(rng, 1, 5, 9) + 2 * classes, "classes": classes}


def skewed(rng: np.random.Generator) -> Data:
    return {"x": np.append(distinct(rng, 1, 12, 7), float(rng.integers(30, 50))), "K": 4}


EXERCISES = (
    Exercise(
        "standardise",
        "Mean 0, variance 1",
        column,
        "Standardise the column x (divisor n) and bring the new value {x_new} to the same units.",
        (
            Step("mean", "The mean of x.", lambda d: d.x.mean(), ("Sum over n.",)),
            Step(
                "sd",
                "The standard deviation with the divisor n.",
                lambda d: d.x.std(),
                ("Root of the mean squared deviation.",),
                (
                    Slip("You divided by n - 1; here the divisor is n.", lambda d: d.x.std(ddof=1)),
                    Slip("This is the variance: the root is missing.", lambda d: d.x.var()),
                ),
            ),
            Step(
                "z",
                "The new value in these units.",
                lambda d: (d.x_new - d.mean) / d.sd,
                ("Use mean and deviation of the training column.",),
                (
                    Slip("You divided by the variance.", lambda d: (d.x_new - d.mean) / d.sd**2),
                    Slip(
                        "You took the new value into mean and deviation: they come from the "
                        "training rows alone.",
                        lambda d: standardise(
                            np.append(d.x, d.x_new)[:, None], np.array([[d.x_new]])
                        )[0, 0],
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "robust",
        "Median and quartiles",
        skewed,
        "The column x has one wild value. Scale it by median and quartiles (linear interpolation).",
        (
            Step(
                "median",
                "The median.",
                lambda d: np.median(d.x),
                ("Even number of rows: the mean of the two in the middle.",),
                (Slip("This is the mean: the wild value moves it.", lambda d: d.x.mean()),),
            ),
            Step(
                "iqr",
                "The interquartile range Q3 - Q1.",
                lambda d: np.subtract(*np.quantile(d.x, [0.75, 0.25])),
                ("Position of a quantile q: q (n - 1), counted from 0.",),
                (Slip("This is the standard deviation.", lambda d: d.x.std()),),
            ),
            Step(
                "z",
                "The scaled value of the last row.",
                lambda d: robust_scaling(d.x[:, None], d.x[:, None])[-1, 0],
                ("(x - median) / range.",),
                (
                    Slip(
                        "You used mean and standard deviation.",
                        lambda d: (d.x[-1] - d.x.mean()) / d.x.std(),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "encoding",
        "A category as a number",
        cities,
        "Encode the column city by the target y; the mean of a city counts as if m = {m} rows of "
        "the overall mean were added.",
        (
            Step(
                "columns",
                "How many columns has the one-hot encoding with the first category dropped?",
                lambda d: one_hot_encoding(d.city, drop_first=True).shape[1],
                ("One per category, less one.",),
                (Slip("You kept all: with an intercept they are dependent.", lambda d: 3),),
            ),
            Step("overall", "The mean of y.", lambda d: d.y.mean()),
            Step(
                "bern",
                "The shrunk mean of Bern.",
                lambda d: shrunk_means(d.city, d.y, d.m)["Bern"],
                ("(n_c mean_c + m mean) / (n_c + m).",),
                (
                    Slip(
                        "You did not shrink: this is Bern's own mean.",
                        lambda d: d.y[d.city == "Bern"].mean(),
                    ),
                ),
            ),
            Step(
                "jura",
                "The shrunk mean of Jura, which has one row.",
                lambda d: shrunk_means(d.city, d.y, d.m)["Jura"],
                ("One row against m imagined ones.",),
                (
                    Slip(
                        "You did not shrink: one row tells its own target.",
                        lambda d: d.y[d.city == "Jura"].mean(),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "tf_idf",
        "Words that are rare elsewhere",
        words,
        "Three texts in the rows, three words in the columns of counts. Weights are tf (ln((1 + "
        "n) / (1 + n_t)) + 1), rows then scaled to length 1.",
        (
            Step(
                "idf",
                "The factors ln((1 + n) / (1 + n_t)) + 1 of the three words.",
                lambda d: np.log(4 / (1 + (d.counts > 0).sum(axis=0))) + 1,
                ("n_t counts texts with the word, not occurrences.",),
                (
                    Slip(
                        "You used log2 instead of the natural logarithm.",
                        lambda d: np.log2(4 / (1 + (d.counts > 0).sum(axis=0))) + 1,
                    ),
                    Slip(
                        "You counted occurrences, not texts.",
                        lambda d: np.log(4 / (1 + d.counts.sum(axis=0))) + 1,
                    ),
                ),
            ),
            Step(
                "first",
                "The weights of the first text, scaled to length 1.",
                lambda d: tf_idf(d.counts)[0],
                ("Divide by the root of the sum of squares.",),
                (
                    Slip("You did not scale the row to length 1.", lambda d: d.counts[0] * d.idf),
                    Slip(
                        "You scaled the sum to 1, not the length.",
                        lambda d: d.counts[0] * d.idf / (d.counts[0] * d.idf).sum(),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "gap",
        "Fill a gap from the neighbours",
        gaps,
        "One cell of X is missing. Fill it with the mean of the k = {k} nearest rows, by the "
        "squared distance (p / shared) sum of (a - b)^2 over the shared columns.",
        (
            Step(
                "distances",
                "The squared distances of row 1 to rows 0, 2 and 3 (rows are counted from 0).",
                lambda d: 1.5 * ((d.X[[0, 2, 3], :2] - d.X[1, :2]) ** 2).sum(axis=1),
                ("Two of three columns are shared: the factor is 3/2.",),
                (
                    Slip(
                        "You left out the factor p / shared.",
                        lambda d: ((d.X[[0, 2, 3], :2] - d.X[1, :2]) ** 2).sum(axis=1),
                    ),
                ),
            ),
            Step(
                "filled",
                "The value of the gap.",
                lambda d: neighbour_imputation(d.X, d.k)[1, 2],
                ("The mean of the column over the two nearest rows.",),
                (Slip("You took the mean of the whole column.", lambda d: np.nanmean(d.X[:, 2])),),
            ),
        ),
    ),
    Exercise(
        "f_test",
        "Does the class matter?",
        groups,
        "The column x in three classes of three rows each. Test whether the means differ.",
        (
            Step(
                "between",
                "The sum of squares between the classes.",
                lambda d: sum(3 * (d.x[d.classes == k].mean() - d.x.mean()) ** 2 for k in range(3)),
                ("n_c (mean_c - mean)^2, summed.",),
                (
                    Slip(
                        "You forgot the sizes of the classes.",
                        lambda d: sum(
                            (d.x[d.classes == k].mean() - d.x.mean()) ** 2 for k in range(3)
                        ),
                    ),
                ),
            ),
            Step(
                "within",
                "The sum of squares within the classes.",
                lambda d: sum(
                    ((d.x[d.classes == k] - d.x[d.classes == k].mean()) ** 2).sum()
                    for k in range(3)
                ),
                ("Around the own mean.",),
                (
                    Slip(
                        "You took deviations from the mean of all: this is the total.",
                        lambda d: ((d.x - d.x.mean()) ** 2).sum(),
                    ),
                ),
            ),
            Step(
                "F",
                "The F statistic.",
                lambda d: f_test(d.x, d.classes).F,
                ("Between over 2, within over 6.",),
                (
                    Slip("You forgot the degrees of freedom.", lambda d: d.between / d.within),
                    Slip(
                        "You divided the part between by K, not K - 1.",
                        lambda d: (d.between / 3) / (d.within / 6),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "bins",
        "Equal widths or equal counts",
        skewed,
        "Cut x into K = {K} bins, numbered from 0.",
        (
            Step(
                "width",
                "The width of a bin of equal widths.",
                lambda d: np.ptp(d.x) / d.K,
                ("Range over K.",),
            ),
            Step(
                "by_width",
                "The bins of all rows with equal widths.",
                lambda d: equal_bins(d.x, d.K, "width"),
                ("Edges min + k width; the largest value belongs to the last bin.",),
                (
                    Slip(
                        "You numbered the bins from 1.", lambda d: equal_bins(d.x, d.K, "width") + 1
                    ),
                ),
            ),
            Step(
                "by_count",
                "The bins of all rows with equal counts.",
                lambda d: equal_bins(d.x, d.K, "count"),
                ("Two rows per bin.",),
                (Slip("This is equal width.", lambda d: d.by_width),),
            ),
        ),
    ),
    Exercise(
        "correlation",
        "Is the relation more than chance?",
        lambda rng: {"x": np.arange(6.0), "y": np.arange(6.0) + whole(rng, 0, 5, 6)},
        "Test whether the numbers x and y are related by a straight line.",
        (
            Step(
                "r",
                "The correlation.",
                lambda d: np.corrcoef(d.x, d.y)[0, 1],
                ("Covariance over both deviations.",),
            ),
            Step(
                "F",
                "The F statistic with 1 and n - 2 degrees of freedom.",
                lambda d: correlation_test(d.x, d.y).F,
                ("r^2 / (1 - r^2) (n - 2).",),
                (
                    Slip("You forgot to square r.", lambda d: d.r / (1 - d.r) * 4),
                    Slip("You multiplied by n.", lambda d: d.r**2 / (1 - d.r**2) * 6),
                ),
            ),
        ),
    ),
)
