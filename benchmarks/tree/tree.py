"""Decision trees: 100,000 x 20, fit and predict, exact splits on both sides.

scikit-learn-intelex accelerates forests only; its single trees are scikit-learn's.
MultiwayTreeClassifier, MultiwayTreeRegressor and ReducedErrorPruning have no compiled peer: a
multiway split of two categories is a binary one, so scikit-learn's tree on one column of codes per
category (and its cost-complexity pruning) is what a user would take instead.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 100_000, 20
NOTE = "scikit-learn-intelex has no single trees of its own."


def classes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    score = X[:, 0] * X[:, 1] + X[:, 2] - np.abs(X[:, 3]) + 0.7 * rng.standard_normal(N)
    return X, (score > 0).astype(int)


def numbers():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    return X, X[:, 0] * X[:, 1] + X[:, 2] - np.abs(X[:, 3]) + 0.7 * rng.standard_normal(N)


def binary_table():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(20_000, 12)).astype(float)
    y = (X[:, 0] == X[:, 1]) & (X[:, 2] > 0) ^ (rng.random(20_000) < 0.1)
    return X, y.astype(int)


def _fit(model, data):
    X, y = data
    model.fit(X, y)
    return np.array([model.score(X[:2000], y[:2000])])


def pellucid_classifier(data):
    from pellucid import DecisionTreeClassifier

    return _fit(DecisionTreeClassifier(), data)


def sklearn_classifier(data):
    from sklearn.tree import DecisionTreeClassifier

    return _fit(DecisionTreeClassifier(random_state=0), data)


def pellucid_regressor(data):
    from pellucid import DecisionTreeRegressor

    return _fit(DecisionTreeRegressor(), data)


def sklearn_regressor(data):
    from sklearn.tree import DecisionTreeRegressor

    return _fit(DecisionTreeRegressor(random_state=0), data)


_models = {}


def _predict(cls, data):
    X, y = data
    if cls not in _models:
        _models[cls] = cls(max_depth=12).fit(X, y)  # in the warm-up call only
    return np.array([(_models[cls].predict(X) == y).mean()])


def pellucid_predict(data):
    from pellucid import DecisionTreeClassifier

    return _predict(DecisionTreeClassifier, data)


def sklearn_predict(data):
    from sklearn.tree import DecisionTreeClassifier

    return _predict(DecisionTreeClassifier, data)


def pellucid_multiway(data):
    from pellucid import MultiwayTreeClassifier

    model = MultiwayTreeClassifier("entropy", categorical_features=list(range(12)))
    return _fit(model, data)


def pellucid_multiway_regressor(data):
    from pellucid import MultiwayTreeRegressor

    return _fit(MultiwayTreeRegressor(categorical_features=list(range(12))), data)


def sklearn_entropy(data):
    from sklearn.tree import DecisionTreeClassifier

    return _fit(DecisionTreeClassifier(criterion="entropy", random_state=0), data)


def pellucid_pruned(data):
    from pellucid import DecisionTreeClassifier, ReducedErrorPruning

    return _fit(ReducedErrorPruning(DecisionTreeClassifier(), random_state=0), data)


def sklearn_pruned(data):
    """The course's alternative: the alpha of cost-complexity pruning by a held-out third."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = data
    rows = np.random.default_rng(0).permutation(len(y))
    held, grow = rows[: len(y) * 3 // 10], rows[len(y) * 3 // 10 :]
    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X[grow], y[grow])
    alphas = np.unique(np.maximum(path.ccp_alphas, 0.0))[:: max(1, len(path.ccp_alphas) // 10)]
    models = [
        DecisionTreeClassifier(random_state=0, ccp_alpha=a).fit(X[grow], y[grow]) for a in alphas
    ]
    best = max(models, key=lambda model: model.score(X[held], y[held]))
    return np.array([best.score(X[:2000], y[:2000])])


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, atol=0.02))


CASES = [
    Case(
        f"DecisionTreeClassifier fit {N:,} x {P}, gini, grown whole",
        classes,
        {"pellucid": pellucid_classifier, "scikit-learn": sklearn_classifier},
        close,
        "20 sorts of 100,000 numbers, then 16 MB read and written per level",
        NOTE,
    ),
    Case(
        f"DecisionTreeRegressor fit {N:,} x {P}, squared error, grown whole",
        numbers,
        {"pellucid": pellucid_regressor, "scikit-learn": sklearn_regressor},
        close,
        "20 sorts of 100,000 numbers, then 16 MB read and written per level",
        NOTE,
    ),
    Case(
        f"DecisionTreeClassifier predict {N:,} x {P}, depth 12",
        classes,
        {"pellucid": pellucid_predict, "scikit-learn": sklearn_predict},
        close,
        "16 MB read once, 1.2 M comparisons",
        NOTE,
    ),
    Case(
        "MultiwayTreeClassifier fit 20,000 x 12 categories of two values, entropy",
        binary_table,
        {"pellucid": pellucid_multiway, "scikit-learn": sklearn_entropy},
        close,
        "2 MB read per level",
    ),
    Case(
        "MultiwayTreeRegressor fit 20,000 x 12 categories of two values",
        binary_table,
        {"pellucid": pellucid_multiway_regressor, "scikit-learn": sklearn_regressor},
        close,
        "2 MB read per level",
        "About level: the growth itself is four fifths of our time.",
    ),
    Case(
        "ReducedErrorPruning of a tree, 20,000 x 12, against the best ccp_alpha",
        binary_table,
        {"pellucid": pellucid_pruned, "scikit-learn": sklearn_pruned},
        close,
        "one fit",
        "scikit-learn has cost-complexity pruning only: a path and ten fits.",
    ),
]
