"""Examples of classification and trees."""

import numpy as np

from pellucid.study.examples.examples import Demo, Line, demo

SIX = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
TWO_X = np.array(
    [[0, 0], [1, 0], [0, 1], [1, 2], [3, 3], [4, 3], [3, 5], [5, 4], [4, 4], [6, 5]], float
)
TWO_Y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
QUERY = {"Outlook": "Sunny", "Temperature": "Hot", "Humidity": "Normal", "Wind": "Weak"}


@demo("logistic", "classification", "six points, with standard errors", "LogisticRegression")
def logistic() -> list[Line]:
    from pellucid import LogisticRegression

    model = LogisticRegression(C=np.inf).fit(*SIX)
    s = model.summary()
    return [
        Line(
            "intercept and slope",
            [model.intercept_[0], model.coef_[0, 0]],
            [-3.0350689646, 1.2140275859],
        ),
        Line("log-likelihood", model.log_likelihood_, -2.4779868350),
        Line("standard errors", s.standard_error, [2.5457130028, 0.9125855599]),
        Line("p-values", s.p_value, [0.2331720663, 0.1834140282]),
    ]


@demo("softmax", "classification", "three classes on a line", "LogisticRegression")
def softmax() -> list[Line]:
    from pellucid import LogisticRegression

    y = [0, 0, 1, 0, 1, 2, 1, 0, 2, 1, 2, 2]
    model = LogisticRegression(C=np.inf).fit(np.arange(12.0)[:, None], y)
    return [
        Line("log-likelihood", model.log_likelihood_, -9.7021596210),
        Line(
            "probabilities at 5",
            model.predict_proba([[5.0]])[0],
            [0.3307975570, 0.4778763474, 0.1913260956],
        ),
    ]


@demo(
    "bayesian-logistic", "classification", "six points with a prior", "BayesianLogisticRegression"
)
def bayesian_logistic() -> list[Line]:
    from pellucid import BayesianLogisticRegression

    model = BayesianLogisticRegression(prior=1.0).fit(*SIX)
    return [
        Line("most probable weights", model.map_, [-0.5869746091, 0.4123753392]),
        Line(
            "posterior covariance",
            model.posterior_covariance_,
            [0.6602776628, -0.1747123171, -0.1747123171, 0.1362854648],
        ),
    ]


@demo("perceptron", "classification", "AND, row by row", "Perceptron")
def perceptron() -> list[Line]:
    from pellucid import Perceptron

    square = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    model = Perceptron(shuffle=False).fit(square, [0, 0, 0, 1])
    return [
        Line("AND: intercept and weights", [model.intercept_[0], *model.coef_[0]], [-4, 3, 2]),
        Line("epochs", model.n_iter_, 9),
    ]


@demo(
    "masking",
    "classification",
    "least squares hides the middle class",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
)
def masking() -> list[Line]:
    from pellucid import LeastSquaresClassifier, LinearDiscriminantAnalysis

    x, y = np.array([[0.0], [1], [4], [5], [8], [9]]), [0, 0, 1, 1, 2, 2]
    model = LeastSquaresClassifier().fit(x, y)
    lda = LinearDiscriminantAnalysis().fit(x, y)
    return [
        Line("least squares never says 1", model.predict(x), [0, 0, 0, 2, 2, 2]),
        Line(
            "its values at 20", model.fitted_values([[20.0]]), [-1.5597964377, 1 / 3, 2.2264631043]
        ),
        Line("discriminant analysis", lda.predict(x), y),
    ]


@demo("discriminant", "classification", "two clouds, one covariance", "LinearDiscriminantAnalysis")
def discriminant() -> list[Line]:
    from pellucid import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis(covariance_estimator="unbiased").fit(TWO_X, TWO_Y)
    return [
        Line("shared covariance", model.covariance_, [0.9791666667, 0.3125, 0.3125, 0.84375]),
        Line("weights", model.coef_, [2.8525469169, 2.7953529937]),
        Line("intercept", model.intercept_, [-12.8894410581]),
        Line("log-odds at (2, 1)", model.decision_function([[2, 1]]), [-4.3889942306]),
    ]


@demo(
    "regularised-discriminant",
    "classification",
    "between linear and quadratic",
    "RegularizedDiscriminantAnalysis",
)
def between() -> list[Line]:
    from pellucid import RegularizedDiscriminantAnalysis

    def log_odds(alpha: float) -> float:
        model = RegularizedDiscriminantAnalysis(alpha, 0.0, divisor="unbiased")
        return float(model.fit(TWO_X, TWO_Y).decision_function([[2, 1]])[0])

    found = [log_odds(alpha) for alpha in (0.0, 0.5, 1.0)]
    expected = [-4.3889942306, -3.9058946492, -2.4909815694]
    return [Line("log-odds, from linear to quadratic", found, expected)]


@demo("hyperplane", "classification", "score, distance, projection", "discriminant.Hyperplane")
def hyperplane() -> list[Line]:
    from pellucid.discriminant import Hyperplane

    plane = Hyperplane((3, 4), -5)
    point = [[3, 4]]
    return [
        Line(
            "score, distance, origin",
            [plane.score(point)[0], plane.distance(point)[0], plane.origin_distance],
            [20, 4, 1],
        ),
        Line("projection", plane.project(point), [0.6, 0.8]),
    ]


@demo("naive-bayes", "classification", "1 2 3 against 6 7 8", "GaussianNB")
def gaussian_bayes() -> list[Line]:
    from pellucid import GaussianNB

    X = np.array([[1.0], [2], [3], [6], [7], [8]])
    model = GaussianNB(var_smoothing=0).fit(X, [0, 0, 0, 1, 1, 1])
    return [
        Line("variances", model.var_, [2 / 3, 2 / 3]),
        Line("probability of the second at 4.4", model.predict_proba([[4.4]])[0, 1], 0.3208213008),
    ]


@demo("play-ball", "classification", "fourteen days, naive Bayes", "CategoricalNB")
def play_ball() -> list[Line]:
    import polars as pl

    from pellucid import CategoricalNB
    from pellucid.data import load_play_ball

    X, y = load_play_ball()
    query = pl.DataFrame([QUERY])
    found = [CategoricalNB(alpha=a).fit(X, y).predict_proba(query)[0, 1] for a in (0, 1)]
    return [
        Line(
            "P(play | sunny, hot, normal, weak), alpha 0 and 1", found, [0.6729475101, 0.6649127665]
        )
    ]


@demo("spam", "classification", "three messages", "TextNB")
def spam() -> list[Line]:
    from pellucid import TextNB

    model = TextNB().fit(["buy cheap buy", "cheap now", "meet now"], ["spam", "spam", "ham"])
    return [Line("P(spam | cheap now)", model.predict_proba(["cheap now"])[0, 1], 8 / 11)]


@demo(
    "bayes-error",
    "classification",
    "two normal classes",
    "inference.BayesClassifier",
    "inference.Normal",
)
def bayes_error() -> list[Line]:
    from pellucid.inference import BayesClassifier, Normal

    model = BayesClassifier([Normal(0, 1), Normal(2, 1)])
    return [
        Line("cut", model.boundaries(-10, 10), [1.0]),
        Line("Bayes error", model.bayes_error().value, 0.1586552539),
    ]


@demo("decision", "classification", "a loss for every mistake", "inference.bayes_decision")
def decision() -> list[Line]:
    from pellucid.inference import bayes_decision

    losses = np.array([[0, 1, 5], [1, 0, 1], [10, 1, 0]], float)
    p = np.array([0.5, 0.3, 0.2])
    found = bayes_decision(p, losses)
    return [
        Line("expected losses", p @ losses, [2.3, 0.7, 2.8]),
        Line("decide", found.index, 1),
        Line("with equal losses", bayes_decision(p).index, 0),
    ]


@demo("split-gains", "trees", "which question first", "tree.information_gain")
def split_gains() -> list[Line]:
    from pellucid.data import load_play_ball
    from pellucid.tree import gain_ratio, impurity, information_gain

    X, y = load_play_ball()
    gains = [information_gain(y, X[name]) for name in X.columns]
    ratios = [gain_ratio(y, X[name]) for name in X.columns]
    return [
        Line("entropy of Play", impurity(y, "entropy"), 0.9402859587),
        Line("gains", gains, [0.2467498198, 0.0292225657, 0.1518355014, 0.0481270304]),
        Line("gain ratios", ratios, [0.1564275624, 0.0187726462, 0.1518355014, 0.0488486155]),
    ]


@demo(
    "decision-tree",
    "trees",
    "the play table as a tree and a formula",
    "MultiwayTreeClassifier",
    "tree.export_dnf",
)
def multiway_tree() -> list[Line]:
    from pellucid import MultiwayTreeClassifier
    from pellucid.data import load_play_ball
    from pellucid.tree import export_dnf

    X, y = load_play_ball()
    model = MultiwayTreeClassifier("entropy").fit(X, y)
    formula = (
        "(Outlook = Overcast) OR (Outlook = Rainy AND Wind = Weak) OR "
        "(Outlook = Sunny AND Humidity = Normal)"
    )
    return [
        Line("nodes and leaves", [model.node_count_, model.get_n_leaves()], [8, 5]),
        Line("Yes if", export_dnf(model, "Yes"), formula),
    ]


@demo(
    "regression-tree",
    "trees",
    "six numbers, split and pruned",
    "DecisionTreeRegressor",
    "tree.best_split",
)
def regression_tree() -> list[Line]:
    from pellucid import DecisionTreeRegressor
    from pellucid.tree import best_split

    X, y = np.arange(1.0, 7.0)[:, None], np.array([1.0, 2, 2, 6, 7, 9])
    split = best_split(X, y, criterion="squared_error")
    assert split is not None  # y is not constant
    path = DecisionTreeRegressor().cost_complexity_pruning_path(X, y)
    return [
        Line("first split", split.threshold, 3.5),
        Line("squares after it", 6 * split.score, 16 / 3),
        Line("pruning path", path.ccp_alphas, [0, 1 / 12, 1 / 9, 25 / 36, 8.0277777778]),
    ]


DEMOS = tuple(one for one in list(vars().values()) if isinstance(one, Demo))
