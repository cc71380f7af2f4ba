"""Encoders and imputers: 1,000,000 x 5 text, fit and transform; filling of missing cells.

Bound: the one-hot matrix has 5 M indices and 5 M ones (60 MB) that must be written; the addresses
or text views of the cells (40 to 80 MB) must be read. Polars' dummies are a dense frame of bytes,
so they are compared by their column sums.
"""

import numpy as np

from benchmarks.harness import Case

N, P, K = 1_000_000, 5, 300
LIMIT = "5 M cells read, 60 MB of CSR or 40 MB of codes written"


def objects():
    rng = np.random.default_rng(0)
    words = np.array([f"category_{i:04d}" for i in range(K)], dtype=object)
    return words[rng.integers(K, size=(N, P))]


def fixed_width():
    return objects().astype("U")


def whole_numbers():
    return np.random.default_rng(0).integers(K, size=(N, P))


def polars_frame():
    import polars as pl

    X = objects()
    return pl.DataFrame({f"c{j}": pl.Series(X[:, j], dtype=pl.String) for j in range(P)})


def pandas_frame():
    import pandas as pd

    X = objects()
    return pd.DataFrame({f"c{j}": X[:, j] for j in range(P)})


def arrow_table():
    import pyarrow as pa

    X = objects()
    return pa.table({f"c{j}": pa.array(X[:, j]) for j in range(P)})


def totals(Z):
    return np.asarray(Z.sum(axis=0)).ravel()


def pellucid_one_hot(X):
    from pellucid import OneHotEncoder

    return totals(OneHotEncoder().fit_transform(X))


def sklearn_one_hot(X):
    from sklearn.preprocessing import OneHotEncoder

    return totals(OneHotEncoder().fit_transform(X))


def polars_one_hot(frame):
    dummies = frame.to_dummies()
    return dummies.select(sorted(dummies.columns)).sum().to_numpy().ravel()


def pellucid_ordinal(X):
    from pellucid import OrdinalEncoder

    return OrdinalEncoder().fit_transform(X).sum(axis=0)


def sklearn_ordinal(X):
    from sklearn.preprocessing import OrdinalEncoder

    return OrdinalEncoder().fit_transform(X).sum(axis=0)


def polars_ordinal(frame):
    import polars as pl

    ranks = frame.select(pl.all().rank("dense").cast(pl.Float64) - 1).to_numpy()
    return ranks.sum(axis=0)


def pellucid_codes(X):
    from pellucid import OrdinalEncoder

    return OrdinalEncoder().fit_transform(X).max(axis=0) + 1


def sklearn_codes(X):
    from sklearn.preprocessing import OrdinalEncoder

    return OrdinalEncoder().fit_transform(X).max(axis=0) + 1


def category_encoders_codes(X):
    from category_encoders import OrdinalEncoder

    return OrdinalEncoder().fit_transform(X).to_numpy().max(axis=0)


def labels():
    return objects()[:, 0]


def pellucid_labels(y):
    from pellucid import LabelBinarizer, LabelEncoder

    codes = LabelEncoder().fit_transform(y)
    return codes.sum() + LabelBinarizer(sparse_output=True).fit_transform(y).indices.sum()


def sklearn_labels(y):
    from sklearn.preprocessing import LabelBinarizer, LabelEncoder

    codes = LabelEncoder().fit_transform(y)
    return codes.sum() + LabelBinarizer(sparse_output=True).fit_transform(y).indices.sum()


def with_target():
    return objects(), np.random.default_rng(1).standard_normal(N)


def pellucid_target(data):
    from sklearn.model_selection import KFold

    from pellucid import TargetEncoder

    return TargetEncoder(cv=KFold(5)).fit_transform(*data).mean(axis=0)


def sklearn_target(data):
    from sklearn.model_selection import KFold
    from sklearn.preprocessing import TargetEncoder

    return TargetEncoder(cv=KFold(5)).fit_transform(*data).mean(axis=0)


def numbers():
    return np.random.default_rng(0).standard_normal((N, P))


def pellucid_bins(X, strategy="quantile"):
    from pellucid import KBinsDiscretizer

    model = KBinsDiscretizer(10, strategy=strategy, subsample=None)
    return totals(model.fit_transform(X))


def sklearn_bins(X, strategy="quantile"):
    from sklearn.preprocessing import KBinsDiscretizer

    model = KBinsDiscretizer(10, strategy=strategy, subsample=None)
    return totals(model.fit_transform(X))


def pellucid_kmeans_bins(X):
    return pellucid_bins(X, "kmeans")


def sklearn_kmeans_bins(X):
    return sklearn_bins(X, "kmeans")


def holes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 10))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def pellucid_mean(X):
    from pellucid import SimpleImputer

    return SimpleImputer(add_indicator=True).fit_transform(X).sum(axis=0)


def sklearn_mean(X):
    from sklearn.impute import SimpleImputer

    return SimpleImputer(add_indicator=True).fit_transform(X).sum(axis=0)


def pellucid_median(X):
    from pellucid import SimpleImputer

    return SimpleImputer(strategy="median").fit_transform(X).sum(axis=0)


def sklearn_median(X):
    from sklearn.impute import SimpleImputer

    return SimpleImputer(strategy="median").fit_transform(X).sum(axis=0)


def pellucid_indicator(X):
    from pellucid import MissingIndicator

    return MissingIndicator().fit_transform(X).sum(axis=0)


def sklearn_indicator(X):
    from sklearn.impute import MissingIndicator

    return MissingIndicator().fit_transform(X).sum(axis=0)


def few_holes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, 20)) + rng.standard_normal((5_000, 1))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def pellucid_knn(X):
    from pellucid import KNNImputer

    return KNNImputer().fit_transform(X)


def sklearn_knn(X):
    from sklearn.impute import KNNImputer

    return KNNImputer().fit_transform(X)


def pellucid_chain(X):
    from pellucid import IterativeImputer

    return IterativeImputer(max_iter=5, sample_posterior=False, tol=0.0).fit_transform(X)


def sklearn_chain(X):
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(max_iter=5, sample_posterior=False, tol=0.0).fit_transform(X)


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-7, atol=1e-7))


def case(name, data, contenders, same=close, limit=LIMIT, note=""):
    return Case(name, data, contenders, same, limit, note, rounds=2, repeats=2)


SIZE = f"{N:,} x {P} text, {K} categories"
CASES = [
    *(
        case(
            f"OneHotEncoder {SIZE}, {kind}",
            data,
            {"pellucid": pellucid_one_hot, "scikit-learn": sklearn_one_hot, **more},
        )
        for kind, data, more in [
            ("objects", objects, {}),
            ("fixed width", fixed_width, {}),
            ("polars", polars_frame, {"polars to_dummies": polars_one_hot}),
            ("pandas", pandas_frame, {}),
            ("pyarrow", arrow_table, {}),
            ("whole numbers", whole_numbers, {}),
        ]
    ),
    *(
        case(
            f"OrdinalEncoder {SIZE}, {kind}",
            data,
            {"pellucid": pellucid_ordinal, "scikit-learn": sklearn_ordinal, **more},
        )
        for kind, data, more in [
            ("objects", objects, {}),
            ("polars", polars_frame, {"polars rank": polars_ordinal}),
        ]
    ),
    case(
        f"OrdinalEncoder {SIZE}, pandas",
        pandas_frame,
        {
            "pellucid": pellucid_codes,
            "scikit-learn": sklearn_codes,
            "category-encoders": category_encoders_codes,
        },
        note="category-encoders numbers in order of appearance; the number of codes is compared.",
    ),
    case(
        f"LabelEncoder and LabelBinarizer, {N:,} labels of {K}",
        labels,
        {"pellucid": pellucid_labels, "scikit-learn": sklearn_labels},
    ),
    case(
        f"TargetEncoder {SIZE}, 5 folds",
        with_target,
        {"pellucid": pellucid_target, "scikit-learn": sklearn_target},
    ),
    case(
        f"KBinsDiscretizer {N:,} x {P}, 10 quantile bins, all rows",
        numbers,
        {"pellucid": pellucid_bins, "scikit-learn": sklearn_bins},
    ),
    case(
        f"KBinsDiscretizer {N:,} x {P}, 10 k-means bins, all rows",
        numbers,
        {"pellucid": pellucid_kmeans_bins, "scikit-learn": sklearn_kmeans_bins},
    ),
    case(
        f"SimpleImputer mean and indicator {N:,} x 10",
        holes,
        {"pellucid": pellucid_mean, "scikit-learn": sklearn_mean},
        limit="80 MB read twice, 160 MB written",
    ),
    case(
        f"SimpleImputer median {N:,} x 10",
        holes,
        {"pellucid": pellucid_median, "scikit-learn": sklearn_median},
        limit="80 MB read, partitioned, 80 MB written",
    ),
    case(
        f"MissingIndicator {N:,} x 10",
        holes,
        {"pellucid": pellucid_indicator, "scikit-learn": sklearn_indicator},
        limit="80 MB read, 10 MB written",
    ),
    case(
        "KNNImputer 5,000 x 20, 10 % missing",
        few_holes,
        {"pellucid": pellucid_knn, "scikit-learn": sklearn_knn},
        limit="0.4 G multiply-adds",
    ),
    case(
        "IterativeImputer 5,000 x 20, 10 % missing, 5 rounds",
        few_holes,
        {"pellucid": pellucid_chain, "scikit-learn": sklearn_chain},
        same=lambda ours, theirs: bool(np.allclose(ours, theirs, atol=5e-3)),
        limit="100 regressions of 5,000 x 19",
    ),
]
