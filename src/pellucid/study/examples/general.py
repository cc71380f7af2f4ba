"""Examples of clustering, components, evaluation and numerics."""

import numpy as np

from pellucid.study.examples.examples import Demo, Line, demo

EIGHT = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], float)


@demo("kmeans", "clusters", "eight points, two rounds by hand", "KMeans")
def kmeans() -> list[Line]:
    from pellucid import KMeans

    model = KMeans(3, init=EIGHT[[4, 5, 7]], tol=0.0).fit(EIGHT)
    return [
        Line("J after assigning", model.history_["after_assignment"][:2], [55, 19.7222222]),
        Line("J after moving", model.history_["after_update"][:2], [26.3333333, 14.3333333]),
        Line("centres", model.cluster_centers_, [7, 13 / 3, 1.5, 3.5, 11 / 3, 9]),
        Line("labels", model.labels_, [2, 1, 0, 2, 0, 0, 1, 2]),
    ]


@demo("kmeans-line", "clusters", "six numbers from a bad start", "KMeans")
def six_numbers() -> list[Line]:
    from pellucid import KMeans

    x = np.array([[1.0], [2], [3], [10], [11], [12]])
    model = KMeans(2, init=[[1.0], [2.0]], tol=0.0).fit(x)
    return [
        Line("first J", model.history_["after_update"][0], 89.2),
        Line("centres", model.cluster_centers_, [2, 11]),
        Line("J", model.inertia_, 4),
    ]


@demo("pca", "components", "four and five points", "PCA")
def components() -> list[Line]:
    from pellucid import PCA

    model = PCA(1, ddof=0).fit([[2, 0], [0, 2], [3, 3], [-1, -1]])
    X = [[1, 2, 0], [2, 1, 1], [3, 5, 2], [4, 3, 3], [5, 6, 9]]
    errors = [PCA(d, ddof=0).fit(X).reconstruction_error_ for d in (1, 2)]
    return [
        Line("eigenvalues of four points", model.eigenvalues_, [4, 1]),
        Line("first direction", model.components_[0], [np.sqrt(0.5), np.sqrt(0.5)]),
        Line("error with 1 and 2 components", errors, [7.0414882170, 1.6725089724]),
    ]


@demo("foods", "components", "what four people like to eat", "PCA")
def foods() -> list[Line]:
    from pellucid import PCA

    X = np.array([[10, 1, 2, 7], [7, 2, 1, 10], [2, 9, 7, 3], [3, 6, 10, 2]], float)
    model = PCA(2, standardize=True).fit(X)
    alice = model.inverse_transform(model.transform(X))[0]
    hand = PCA.from_components([[3, -3, -3, 3], [1, -1, 1, -1]], mean=(5.5, 4.5, 5, 5.5))
    return [
        Line(
            "singular values",
            PCA(standardize=True).fit(X).singular_values_[:3],
            [3.7640325888, 1.2114803013, 0.6036341191],
        ),
        Line("Alice from two components", alice, [9.54625869, 0.49353959, 2.53930347, 7.42342464]),
        Line("by hand-chosen directions", hand.inverse_transform([[1, 1]]), [9.5, 0.5, 3, 7.5]),
    ]


@demo("rates", "evaluation", "a test for a rare thing", "evaluation.rates")
def rates() -> list[Line]:
    from pellucid.evaluation import proportion_interval
    from pellucid.evaluation import rates as count

    found = count(8, 2, 30, 60)
    interval = proportion_interval(68, 100)
    return [
        Line(
            "accuracy, precision, recall",
            [found.accuracy, found.precision, found.recall],
            [0.68, 0.2105263158, 0.8],
        ),
        Line("F1", found.f_beta, 1 / 3),
        Line(
            "interval of the accuracy", [interval.low, interval.high], [0.5833738139, 0.7633085268]
        ),
    ]


@demo(
    "paired-tests",
    "evaluation",
    "five folds, two models: plain and corrected",
    "evaluation.corrected_t_test",
)
def paired_tests() -> list[Line]:
    from pellucid.evaluation import corrected_t_test, paired_t_test

    a, b = [0.90, 0.85, 0.88, 0.92, 0.87], [0.86, 0.84, 0.85, 0.88, 0.86]
    plain, corrected = paired_t_test(a, b), corrected_t_test(a, b, test_ratio=1 / 4)
    return [
        Line("paired t, p", [plain.statistic, plain.p_value], [3.83349086, 0.01856256]),
        Line("corrected t, p", [corrected.statistic, corrected.p_value], [2.55566057, 0.06292667]),
    ]


@demo("mcnemar", "evaluation", "only A right 9 times, only B 3", "evaluation.mcnemar_test")
def mcnemar() -> list[Line]:
    from pellucid.evaluation import mcnemar_test

    a = np.array([True] * 9 + [False] * 3 + [True] * 10)
    b = np.array([False] * 9 + [True] * 3 + [True] * 10)
    chi2 = mcnemar_test(a, b, method="chi2")
    return [
        Line("exact p of 9 against 3", mcnemar_test(a, b).p_value, 0.14599609),
        Line("chi-squared", [chi2.statistic, chi2.p_value], [2.08333333, 0.14891467]),
    ]


@demo("many-tests", "evaluation", "four p-values at once", "evaluation.adjust_p_values")
def many_tests() -> list[Line]:
    from pellucid.evaluation import adjust_p_values

    p = [0.01, 0.04, 0.03, 0.005]
    return [
        Line("Holm", adjust_p_values(p, "holm"), [0.03, 0.06, 0.06, 0.02]),
        Line("Bonferroni", adjust_p_values(p, "bonferroni"), [0.04, 0.16, 0.12, 0.02]),
        Line(
            "Benjamini-Hochberg", adjust_p_values(p, "benjamini_hochberg"), [0.02, 0.04, 0.04, 0.02]
        ),
    ]


@demo(
    "one-standard-error", "evaluation", "the simplest that will do", "evaluation.one_standard_error"
)
def one_standard_error() -> list[Line]:
    from pellucid.evaluation import one_standard_error as choose

    mean, error = [0.70, 0.78, 0.81, 0.82, 0.815], [0.02, 0.015, 0.012, 0.013, 0.02]
    return [Line("the simplest within one error", choose(mean, error, [1, 2, 3, 4, 5]), 2)]


@demo(
    "bounds",
    "evaluation",
    "what a validation set can promise",
    "evaluation.validation_bound",
    "maths.hoeffding",
)
def bounds() -> list[Line]:
    from pellucid.evaluation import validation_bound, validation_size
    from pellucid.maths import hoeffding

    gaps = [validation_bound(0.0, 100, n_models=m).gap for m in (1, 10)]
    return [
        Line("Hoeffding, 100 draws, 0.1", float(hoeffding(n=100, eps=0.1)), 0.2706705665),
        Line("gap of 1 and 10 models, 100 rows", gaps, [0.1223873415, 0.1627623631]),
        Line("rows for 0.05 with 10 models", validation_size(0.05, n_models=10), 1060),
    ]


@demo("bias-variance", "evaluation", "three models at two points", "evaluation.decompose_squared")
def bias_and_variance() -> list[Line]:
    from pellucid.evaluation import decompose_squared

    parts = decompose_squared([[1, 2], [3, 2], [2, 5]], [2, 2])
    return [
        Line(
            "bias squared, variance, total",
            [parts.bias2, parts.variance, parts.total],
            [0.5, 4 / 3, 11 / 6],
        )
    ]


@demo("newton", "numerics", "a square root", "solvers.newton_root")
def newton() -> list[Line]:
    from pellucid.solvers import newton_root

    found = newton_root(lambda x: x * x - 2, 1.0)
    steps = [1.5, 1.41666667, 1.41421569, 1.41421356]
    return [Line("x^2 = 2 from 1, four steps", found.history["x"][1:5], steps)]


@demo("natural-spline", "numerics", "straight beyond the last knots", "features.NaturalSplineBasis")
def natural_spline() -> list[Line]:
    from pellucid.features import NaturalSplineBasis

    basis = NaturalSplineBasis([1.0, 2.0, 3.0], include_bias=True).fit([[1.0], [3.0]])
    at = np.array([0.5, 1, 1.5, 2, 2.5, 3, 4])[:, None]
    return [Line("third function", basis.transform(at)[:, 2], [0, 0, 0.0625, 0.5, 1.5625, 3, 6])]


@demo("conditioning", "numerics", "units spoil a matrix", "maths.conditioning")
def conditioning() -> list[Line]:
    from pellucid.maths import conditioning as measure

    rs = np.random.RandomState(0)
    X = np.column_stack([np.ones(50), rs.uniform(0, 1, 50), rs.uniform(0, 100, 50)])
    found = measure(X)
    return [
        Line("condition", found.condition, 47166.71, 1e-6),
        Line("with unit columns", found.condition_scaled, 1.19362, 1e-5),
    ]


DEMOS = tuple(one for one in list(vars().values()) if isinstance(one, Demo))
