"""Bag of words and tf-idf on 20,000 texts of 150 words, and selection of columns.

Bound: 20 MB of text read once by the compiled scan; lower-casing and joining are Python's own
and take about as long.
"""

import numpy as np

from benchmarks.harness import Case

TEXTS, WORDS, DISTINCT = 20_000, 150, 30_000


def texts():
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    lengths = rng.integers(2, 11, size=DISTINCT)
    vocabulary = np.array(["".join(rng.choice(letters, size=length)) for length in lengths])
    drawn = vocabulary[rng.zipf(1.3, size=(TEXTS, WORDS)) % DISTINCT]
    return [" ".join(row) for row in drawn]


def _counts(module):
    def run(data):
        from importlib import import_module

        X = import_module(module).CountVectorizer().fit_transform(data)
        return np.array([X.shape[1], X.sum(), X.nnz, X.indices[:1000].sum()])

    return run


def counts():
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer().fit_transform(texts())


def _tfidf(module):
    def run(X):
        from importlib import import_module

        Z = import_module(module).TfidfTransformer().fit_transform(X)
        return np.array([Z.sum(), Z.data[:1000].sum()])

    return run


def _vectorizer(module, name):
    def run(data):
        from importlib import import_module

        Z = getattr(import_module(module), name)().fit_transform(data)
        return np.array([Z.sum(), Z.nnz, Z.indices[:1000].sum()])

    return run


def columns():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1_000_000, 50))
    return X, X[:, :5].sum(axis=1) + rng.standard_normal(len(X))


def _f_regression(module):
    def run(data):
        from importlib import import_module

        home = import_module(module)
        return home.SelectKBest(home.f_regression, k=5).fit(*data).scores_

    return run


def _percentile(module):
    def run(data):
        from importlib import import_module

        home = import_module(module)
        return home.SelectPercentile(home.f_regression, percentile=10).fit(*data).get_support()

    return run


def few():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((5_000, 20))
    return X, X[:, :5].sum(axis=1) + rng.standard_normal(len(X))


def _information(module):
    def run(data):
        from importlib import import_module

        home = import_module(module)
        return home.mutual_info_regression(*data, random_state=0)

    return run


def _ours(name):
    from pellucid import LinearRegression, features

    return getattr(features, name), LinearRegression()


def _theirs(name):
    from sklearn import feature_selection
    from sklearn.linear_model import LinearRegression

    return getattr(feature_selection, name), LinearRegression()


def _select(find, name, **params):
    def run(data):
        selector, model = find(name)
        return selector(model, **params).fit(*data).get_support()

    return run


def same(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-9))


OURS, THEIRS = "pellucid.features", "sklearn.feature_selection"
SEQUENTIAL = {"n_features_to_select": 5}

CASES = [
    Case(
        f"CountVectorizer {TEXTS:,} texts of {WORDS} words",
        texts,
        {
            "pellucid": _counts("pellucid"),
            "scikit-learn": _counts("sklearn.feature_extraction.text"),
        },
        same,
        "20 MB of text",
    ),
    Case(
        "TfidfTransformer on their counts",
        counts,
        {"pellucid": _tfidf("pellucid"), "scikit-learn": _tfidf("sklearn.feature_extraction.text")},
        same,
        "the entries of the sparse matrix, read and written once",
    ),
    *(
        Case(
            f"{name} {TEXTS:,} texts of {WORDS} words",
            texts,
            {
                "pellucid": _vectorizer("pellucid", name),
                "scikit-learn": _vectorizer("sklearn.feature_extraction.text", name),
            },
            same,
            "20 MB of text",
        )
        for name in ("TfidfVectorizer", "HashingVectorizer")
    ),
    Case(
        "SelectPercentile(f_regression) 1,000,000 x 50",
        columns,
        {"pellucid": _percentile(OURS), "scikit-learn": _percentile(THEIRS)},
        same,
        "400 MB read once",
    ),
    Case(
        "SelectKBest(f_regression) 1,000,000 x 50",
        columns,
        {"pellucid": _f_regression(OURS), "scikit-learn": _f_regression(THEIRS)},
        same,
        "400 MB read once",
    ),
    Case(
        "mutual_info_regression 5,000 x 20",
        few,
        {"pellucid": _information(OURS), "scikit-learn": _information(THEIRS)},
        lambda ours, theirs: bool(np.allclose(ours, theirs, atol=1e-4)),
        "one neighbour search in the plane per column",
    ),
    Case(
        "SequentialFeatureSelector(LinearRegression) 5,000 x 20, 5 columns",
        few,
        {
            "pellucid": _select(_ours, "SequentialFeatureSelector", **SEQUENTIAL),
            "scikit-learn": _select(_theirs, "SequentialFeatureSelector", **SEQUENTIAL),
        },
        same,
        "450 small least-squares fits",
    ),
    Case(
        "RFE(LinearRegression) 5,000 x 20",
        few,
        {"pellucid": _select(_ours, "RFE"), "scikit-learn": _select(_theirs, "RFE")},
        same,
        "11 small least-squares fits",
    ),
    Case(
        "RFECV(LinearRegression) 5,000 x 20, 5 folds",
        few,
        {"pellucid": _select(_ours, "RFECV"), "scikit-learn": _select(_theirs, "RFECV")},
        same,
        "115 small least-squares fits",
    ),
    Case(
        "SelectFromModel(LinearRegression) 5,000 x 20",
        few,
        {
            "pellucid": _select(_ours, "SelectFromModel"),
            "scikit-learn": _select(_theirs, "SelectFromModel"),
        },
        same,
        "one small least-squares fit",
    ),
]
