"""Metrics with intervals: bootstrap of the area under the ROC curve, DeLong, silhouettes, tables.

Bound: a bootstrap of n rows draws n random counts and runs once through the sorted labels; DeLong
is one sort; silhouettes are n^2/2 distances. SciPy's bootstrap is given a vectorised area (a sort
of every resample by NumPy) and 100 resamples; its line says so, and its time is to be multiplied
by 100 for the 10,000 of ours.
"""

import numpy as np

from benchmarks.harness import Case

N_AUC, RESAMPLES, FEWER = 100_000, 10_000, 100


def scores(n=N_AUC):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=n).astype(np.float64)
    return y, rng.normal(size=n) + y


def numpy_auc(y, s, axis=-1):
    """A vectorised area for resamples in rows, without ties."""
    order = np.argsort(s, axis=-1)
    t = np.take_along_axis(y, order, axis=-1)
    negatives = np.cumsum(1 - t, axis=-1)
    P = t.sum(axis=-1)
    return (t * negatives).sum(axis=-1) / (P * (t.shape[-1] - P))


def pellucid_bca(data):
    from pellucid.evaluation import metric_interval

    found = metric_interval("roc_auc", *data, method="bca", n_resamples=RESAMPLES)
    return np.array([found.low, found.high])


def scipy_fewer(data):
    """100 resamples, percentile limits: SciPy's BCa would sort n times more for its jackknife."""
    from scipy.stats import bootstrap

    y, s = data
    found = bootstrap(
        (y, s), numpy_auc, paired=True, vectorized=True, n_resamples=FEWER, batch=10,
        method="percentile", rng=0,
    )  # fmt: skip
    return np.array(found.confidence_interval)


def scikit_learn_fewer(data):
    """100 resamples with scikit-learn's area of repeated rows."""
    from sklearn.metrics import roc_auc_score

    y, s = data
    rng = np.random.default_rng(0)
    values = []
    for _ in range(FEWER):
        rows = rng.integers(len(y), size=len(y))
        values.append(roc_auc_score(y[rows], s[rows]))
    return np.quantile(values, [0.025, 0.975])


def large_scores():
    y, s = scores(1_000_000)
    return y, np.round(s, 4)  # with ties


def pellucid_delong(data):
    from pellucid.evaluation.metrics.delong import delong_variance

    found = delong_variance(*data)
    return np.array([found.auc, found.variance])


def numpy_delong(data):
    """Sun and Xu's mid-ranks in NumPy."""
    y, s = data
    x, z = s[y == 1], s[y == 0]
    m, n = len(x), len(z)

    def midrank(v):
        _, inverse, counts = np.unique(v, return_inverse=True, return_counts=True)
        last = np.cumsum(counts)
        return (last - (counts - 1) / 2)[inverse]

    joint = midrank(np.concatenate([x, z]))
    v10 = (joint[:m] - midrank(x)) / n
    v01 = 1 - (joint[m:] - midrank(z)) / m
    return np.array([v10.mean(), v10.var(ddof=1) / m + v01.var(ddof=1) / n])


def scipy_delong(data):
    """The same with SciPy's rankdata."""
    from scipy.stats import rankdata

    y, s = data
    x, z = s[y == 1], s[y == 0]
    m, n = len(x), len(z)
    joint = rankdata(np.concatenate([x, z]))
    v10 = (joint[:m] - rankdata(x)) / n
    v01 = 1 - (joint[m:] - rankdata(z)) / m
    return np.array([v10.mean(), v10.var(ddof=1) / m + v01.var(ddof=1) / n])


def clusters(p):
    def make():
        rng = np.random.default_rng(0)
        centres = rng.normal(scale=4.0, size=(10, p))
        labels = rng.integers(10, size=50_000)
        return centres[labels] + rng.normal(size=(50_000, p)), labels

    return make


def pellucid_silhouette(data):
    from pellucid.evaluation.metrics.silhouette import mean_silhouette

    return mean_silhouette(*data)


def scikit_learn_silhouette(data):
    from sklearn.metrics import silhouette_score

    return silhouette_score(*data)


def classified(n=100_000, k=3):
    def make():
        rng = np.random.default_rng(0)
        y = rng.integers(k, size=n)
        raw = rng.normal(size=(n, k)) + 1.5 * np.eye(k)[y]
        P = np.exp(raw)
        P /= P.sum(axis=1, keepdims=True)
        return y, P.argmax(axis=1), P

    return make


WANTED = (
    "accuracy", "balanced_accuracy", "precision", "recall", "f_beta", "precision_weighted",
    "f_beta_weighted", "mcc", "kappa", "roc_auc", "average_precision", "log_loss", "brier",
)  # fmt: skip


def pellucid_table(data):
    from pellucid.evaluation import classification_metrics

    table = classification_metrics(*data)
    return np.array([table[name].estimate for name in WANTED])


def scikit_learn_calls(data):
    """One call per number, as users write it; numbers only, no intervals."""
    from sklearn import metrics as sm

    y, p, P = data
    confusion = sm.confusion_matrix(y, p)
    assert confusion.shape == (P.shape[1], P.shape[1])
    Y = np.eye(P.shape[1])[y]
    return np.array(
        [
            sm.accuracy_score(y, p),
            sm.balanced_accuracy_score(y, p),
            sm.precision_score(y, p, average="macro"),
            sm.recall_score(y, p, average="macro"),
            sm.f1_score(y, p, average="macro"),
            sm.precision_score(y, p, average="weighted"),
            sm.f1_score(y, p, average="weighted"),
            sm.matthews_corrcoef(y, p),
            sm.cohen_kappa_score(y, p),
            sm.roc_auc_score(y, P, multi_class="ovr"),
            sm.average_precision_score(Y, P),
            sm.log_loss(y, P),
            sm.brier_score_loss(y, P),
        ]
    )


def labelled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=300_000)
    return np.repeat(rng.normal(size=(300_000, 1)) + y[:, None], 3, axis=1), y


def calibrated(cls, method):
    def run(data):
        from pellucid import GaussianNB

        X, y = data
        model = cls()(GaussianNB(), method=method).fit(X, y)
        return model.predict_proba(X[:1000])[:, 1]

    return run


def ours():
    from pellucid import CalibratedClassifierCV

    return CalibratedClassifierCV


def theirs():
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV


def near(tolerance):
    return lambda a, b: bool(np.allclose(a, b, rtol=tolerance, atol=tolerance))


CASES = [
    Case(
        "BCa interval of the area under the ROC curve, 100,000 rows, 10,000 resamples",
        scores,
        {
            "pellucid": pellucid_bca,
            "SciPy bootstrap, 100 resamples": scipy_fewer,
            "scikit-learn roc_auc_score, 100 resamples": scikit_learn_fewer,
        },
        near(2e-3),
        "1e9 random counts and 1e9 rows of a sorted sweep",
        note="The peers do a hundredth of the resamples; the ratio is for equal work.",
        rounds=2,
        repeats=1,
        work={
            "SciPy bootstrap, 100 resamples": 0.01,
            "scikit-learn roc_auc_score, 100 resamples": 0.01,
        },
    ),
    Case(
        "DeLong's variance, 1,000,000 rows with ties",
        large_scores,
        {
            "pellucid": pellucid_delong,
            "NumPy mid-ranks": numpy_delong,
            "SciPy rankdata": scipy_delong,
        },
        near(1e-9),
        "one sort of 1e6 numbers",
    ),
    *(
        Case(
            f"mean silhouette, 50,000 x {p}, 10 clusters",
            clusters(p),
            {"pellucid": pellucid_silhouette, "scikit-learn": scikit_learn_silhouette},
            near(1e-9),
            "1.25e9 distances",
            rounds=1,
            repeats=1,
        )
        for p in (2, 10, 50)
    ),
    Case(
        "classification_metrics, 100,000 rows, 3 classes (ours with intervals)",
        classified(),
        {"pellucid": pellucid_table, "scikit-learn, one call each": scikit_learn_calls},
        near(1e-9),
        "one pass for the counts, one sort per class",
    ),
    *(
        Case(
            f"CalibratedClassifierCV {method}, 300,000 rows, naive Bayes inside",
            labelled,
            {"pellucid": calibrated(ours, method), "scikit-learn": calibrated(theirs, method)},
            near(1e-6),
            "five fits and maps",
        )
        for method in ("sigmoid", "isotonic", "temperature")
    ),
]
