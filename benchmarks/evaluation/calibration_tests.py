"""Do tests, conformal methods and bounds keep their promises? Measured by simulation.

Every function returns rows ``Row(what, nominal, measured, error, n)``: the promised and the
measured share, the Monte Carlo standard error of the measured one, and the number of simulations.
``kind`` says what the promise is: "about" the nominal share, "at most", "at least", or "too eager"
where the point is that it is not kept; "reported" rows are measured without a promise.
"""

import warnings
from typing import NamedTuple

import numpy as np

from pellucid import (
    ConformalClassifier,
    ConformalRegressor,
    GaussianNB,
    LinearRegression,
    QuantileRegressor,
    Ridge,
)
from pellucid.evaluation import (
    adjust_p_values,
    bayesian_comparison,
    cochran_q_test,
    corrected_t_test,
    finite_class_bound,
    five_by_two_test,
    friedman_test,
    margin_bound,
    mcnemar_test,
    mean_test,
    paired_t_test,
    rademacher_bound,
    rademacher_complexity,
    validation_bound,
    vc_bound,
)


class Row(NamedTuple):
    what: str
    nominal: float
    measured: float
    error: float
    n: int
    kind: str = "about"


def row(what: str, nominal: float, hits: int, n: int, kind: str = "about") -> Row:
    """A share of n simulations with its standard error."""
    share = float(hits / n)
    return Row(what, nominal, share, float(np.sqrt(max(share * (1 - share), 1 / n) / n)), n, kind)


# --- type-I error ----------------------------------------------------------------------------


def plain_tests(repeats: int = 20_000, seed: int = 0) -> list[Row]:
    """Tests whose null hypothesis can be simulated directly."""
    g = np.random.default_rng(seed)
    count = dict.fromkeys(("mean", "paired", "five_t", "five_f", "friedman", "cochran"), 0)
    labels = dict.fromkeys(("exact", "chi2", "uncorrected", "auto"), 0)
    interval = family = 0
    for _ in range(repeats):
        count["mean"] += mean_test(g.normal(1.0, 2.0, size=8), 1.0).reject
        common = g.normal(size=8)
        paired = paired_t_test(common + g.normal(size=8), common + g.normal(size=8))
        count["paired"] += paired.reject
        d = g.normal(size=(5, 2))
        count["five_t"] += five_by_two_test(d).reject
        count["five_f"] += five_by_two_test(d, statistic="f").reject
        right = g.random((60, 4)) < (0.3 + 0.5 * g.random((60, 1)))
        count["cochran"] += cochran_q_test(right).reject
        many = g.random((200, 2)) < 0.7
        for method in labels:
            labels[method] += mcnemar_test(many[:, 0], many[:, 1], method=method).reject
        test = mcnemar_test(g.random(80) < 0.8, g.random(80) < 0.6)
        interval += test.low <= 0.2 <= test.high
        family += (adjust_p_values(g.random(6)) < 0.05).any()
    ranks = repeats // 10  # the studentized range takes milliseconds
    for _ in range(ranks):
        count["friedman"] += friedman_test(g.normal(size=(20, 4))).reject
    rows = [
        row("mean_test, normal values", 0.05, count["mean"], repeats),
        row("paired_t_test, independent test sets", 0.05, count["paired"], repeats),
        row("five_by_two_test t, independent halves", 0.05, count["five_t"], repeats, "at most"),
        row("five_by_two_test F, independent halves", 0.05, count["five_f"], repeats, "at most"),
        row("cochran_q_test, 4 models, 60 rows", 0.05, count["cochran"], repeats),
        row("friedman_test, 4 models, 20 data sets", 0.05, count["friedman"], ranks),
        row("interval of mcnemar_test, 80 rows", 0.95, interval, repeats),
        row("any of 6 true hypotheses after Holm", 0.05, family, repeats, "at most"),
    ]
    kinds = {"exact": "at most", "chi2": "at most", "auto": "at most", "uncorrected": "about"}
    return rows + [
        row(f"mcnemar_test {name}, 200 rows", 0.05, hits, repeats, kinds[name])
        for name, hits in labels.items()
    ]


def _two_models(g, n: int):
    """y depends on ten columns alike; each model sees five: by symmetry neither is better."""
    X = g.normal(size=(n, 10))
    y = 0.5 * X.sum(axis=1) + g.normal(size=n)
    one, two = (np.column_stack([np.ones(n), X[:, 5 * j : 5 * j + 5]]) for j in (0, 1))
    return lambda splits: (
        np.array([(_error(one, y, *split), _error(two, y, *split)) for split in splits]).T
    )


def _folds(g, n: int, k: int):
    order = g.permutation(n)
    return [(np.setdiff1d(order, part), part) for part in np.array_split(order, k)]


def overlapping_folds(repeats: int = 2000, seed: int = 1) -> list[Row]:
    """Two equally good models on 60 rows, compared on training sets that overlap."""
    g = np.random.default_rng(seed)
    names = ("10 folds", "3 x 10 folds", "30 random splits")
    eager, corrected, certain, n = dict.fromkeys(names, 0), dict.fromkeys(names, 0), 0, 60
    for _ in range(repeats):
        errors = _two_models(g, n)
        random = [(order[6:], order[:6]) for order in (g.permutation(n) for _ in range(30))]
        folds = [split for _ in range(3) for split in _folds(g, n, 10)]
        for name, splits in zip(names, (folds[:10], folds, random), strict=True):
            a, b = errors(splits)
            eager[name] += paired_t_test(a, b).reject
            corrected[name] += corrected_t_test(a, b, test_ratio=1 / 9).reject
            if name == names[0]:
                worse, _, better = bayesian_comparison(a - b, test_ratio=1 / 9, rope=0.0)
                certain += max(worse, better) > 0.975
    rows = []
    for name in names:
        kind = "reported" if name == names[0] else "too eager"
        rows.append(row(f"paired_t_test, {name} (overlap)", 0.05, eager[name], repeats, kind))
        rows.append(row(f"corrected_t_test, {name}", 0.05, corrected[name], repeats, "at most"))
    return [
        *rows,
        row("bayesian_comparison > 0.975, 10 folds", 0.05, certain, repeats, "at most"),
    ]


def real_halvings(repeats: int = 2000, seed: int = 5) -> list[Row]:
    """Two equally good models by 5 x 2 cross-validation: small data make the halves agree."""
    g = np.random.default_rng(seed)
    rows = []
    for n, kind in ((60, "reported"), (300, "at most")):
        hits = {"t": 0, "f": 0}
        for _ in range(repeats):
            halves = [split for _ in range(5) for split in _folds(g, n, 2)]
            a, b = _two_models(g, n)(halves)
            for statistic in hits:
                d = (a - b).reshape(5, 2)
                hits[statistic] += five_by_two_test(d, statistic=statistic).reject
        rows += [
            row(f"five_by_two_test {s}, halvings of {n} rows", 0.05, count, repeats, kind)
            for s, count in hits.items()
        ]
    return rows


def _error(Z, y, train, test) -> float:
    """Squared error of least squares on these columns."""
    A = Z[train]
    beta = np.linalg.solve(A.T @ A, A.T @ y[train])
    return float(np.mean((y[test] - Z[test] @ beta) ** 2))


# --- coverage of conformal methods -----------------------------------------------------------


def conformal_intervals(repeats: int = 2000, seed: int = 2) -> list[Row]:
    """Skewed noise whose spread depends on x, and models that are wrong: coverage at 0.9."""
    g = np.random.default_rng(seed)
    models = {
        "split": ConformalRegressor(Ridge(), confidence=0.9),
        "cv+": ConformalRegressor(Ridge(), method="cv+", confidence=0.9),
        "jackknife+": ConformalRegressor(LinearRegression(), method="jackknife+", confidence=0.9),
        "normalised": ConformalRegressor(Ridge(), method="normalised", confidence=0.9),
        "quantile": ConformalRegressor(
            QuantileRegressor(alpha=0.0), method="quantile", confidence=0.9
        ),
    }
    hits = dict.fromkeys(models, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(repeats):
            X = g.normal(size=(81, 3))
            noise = (0.2 + X[:, 0] ** 2) * (g.exponential(size=81) - 1)
            y = np.abs(X[:, 1]) + X[:, 2] + noise
            for name, model in models.items():
                model.set_params(random_state=i).fit(X[:80], y[:80])
                low, high = model.predict_interval(X[80:])[0]
                hits[name] += low <= y[80] <= high
    promised = {"cv+": 0.8, "jackknife+": 0.8}
    return [
        row(f"ConformalRegressor {name}, confidence 0.9", promised.get(name, 0.9), count, repeats,
            "at least")
        for name, count in hits.items()
    ]  # fmt: skip


def conformal_sets(repeats: int = 2000, seed: int = 3) -> list[Row]:
    """Three classes of unequal size under a wrong model: coverage at 0.9, and per class."""
    g = np.random.default_rng(seed)
    methods = ("lac", "aps", "class")
    hits, rare, seen = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(repeats):
            y = g.choice(3, p=[0.6, 0.25, 0.15], size=401)
            X = np.column_stack([y * g.exponential(size=401), g.normal(size=401) + (y == 2)])
            seen += y[400] == 2
            for method in methods:
                model = ConformalClassifier(
                    GaussianNB(), method=method, confidence=0.9, random_state=i
                ).fit(X[:400], y[:400])
                inside = model.predict_set(X[400:])[0, y[400]]
                hits[method] += inside
                rare[method] += inside and y[400] == 2
    rows = [
        row(f"ConformalClassifier {m}, confidence 0.9", 0.9, hits[m], repeats, "at least")
        for m in methods
    ]
    return [
        *rows,
        row("ConformalClassifier class, rarest class", 0.9, rare["class"], int(seen), "at least"),
    ]


# --- bounds ----------------------------------------------------------------------------------


def bounds(repeats: int = 4000, seed: int = 4) -> list[Row]:
    """How often the true loss exceeds each bound at delta = 0.1."""
    g = np.random.default_rng(seed)
    broken = dict.fromkeys(("one", "many", "consistent", "agnostic", "vc", "rademacher"), 0)
    margin = 0
    cuts = np.linspace(0, 1, 41)
    for _ in range(repeats):
        # validation: the best of 20 models of equal true loss 0.3
        losses = (g.random((20, 100)) < 0.3).mean(axis=1)
        broken["one"] += validation_bound(losses[0], 100, delta=0.1).value < 0.3
        broken["many"] += validation_bound(losses.min(), 100, n_models=20, delta=0.1).value < 0.3
        # thresholds on [0, 1]: truth 1[x > 0.475], on the grid's middle, with and without noise
        x = g.random(60)
        clean, flip = x > 0.475, g.random(60) < 0.2
        said = x[:, None] > cuts
        right = (said == clean[:, None]).all(axis=0)
        if right.any():
            worst = np.abs(cuts[right] - 0.475).max()
            bound = finite_class_bound(0.0, 60, 41, consistent=True, delta=0.1)
            broken["consistent"] += bound.value < worst
        y = clean ^ flip
        mistakes = said != y[:, None]  # (rows, functions)
        train = mistakes.mean(axis=0)
        best = int(np.argmin(train))
        truth = 0.2 + 0.6 * abs(cuts[best] - 0.475)
        broken["agnostic"] += finite_class_bound(train[best], 60, 41, delta=0.1).value < truth
        broken["vc"] += vc_bound(train[best], 60, 1, delta=0.1).value < truth
        R = rademacher_complexity(mistakes.T.astype(float), n_draws=64)
        broken["rademacher"] += rademacher_bound(train[best], R, 60, delta=0.1).value < truth
        # margin: f(x) = x - c on [-1, 1], margin 0.1
        u = g.uniform(-1, 1, size=200)
        t = np.where(g.random(200) < 0.1, -np.sign(u), np.sign(u))
        nu = float(np.mean(t * u < 0.1))
        margin += margin_bound(nu, 200, margin=0.1, delta=0.1).value < 0.1
    names = {
        "one": "validation_bound, one model",
        "many": "validation_bound, the best of 20",
        "consistent": "finite_class_bound, consistent",
        "agnostic": "finite_class_bound, agnostic",
        "vc": "vc_bound, thresholds",
        "rademacher": "rademacher_bound, thresholds",
    }
    rows = [
        row(f"{names[key]} broken", 0.1, count, repeats, "at most") for key, count in broken.items()
    ]
    return [*rows, row("margin_bound (c = 1) broken", 0.1, margin, repeats, "at most")]


def rows(scale: float = 1.0) -> list[tuple[str, float, float, float, int]]:
    """All simulations of this file as plain rows; ``scale`` shortens them."""
    found = [
        *plain_tests(int(20_000 * scale)),
        *overlapping_folds(int(2000 * scale)),
        *real_halvings(int(2000 * scale)),
        *conformal_intervals(int(2000 * scale)),
        *conformal_sets(int(2000 * scale)),
        *bounds(int(4000 * scale)),
    ]
    return [(f"{r.what} ({r.kind})", r.nominal, r.measured, r.error, r.n) for r in found]
