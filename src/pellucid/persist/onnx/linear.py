"""Linear models as ONNX: one product, one sum, and the link."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.persist.allowed import class_name
from pellucid.persist.onnx.graph import Answer, Graph, Output, refuse

REGRESSORS = (
    "ARDRegression",
    "BayesianLinearRegression",
    "BayesianRidge",
    "BestSubsetRegression",
    "BridgeRegression",
    "DantzigSelector",
    "ElasticNet",
    "ElasticNetCV",
    "GroupLasso",
    "HuberRegressor",
    "Lars",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LassoLarsIC",
    "LinearRegression",
    "LinearSVR",
    "MultiTaskLasso",
    "PrincipalComponentRegression",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "SGDRegressor",
    "StagewiseRegression",
    "StepwiseRegression",
)
LOGISTIC = (
    "FirthLogisticRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "StepwiseLogisticRegression",
)
MARGINS = ("LeastSquaresClassifier", "LinearSVC", "Perceptron")
NUMBER = np.dtype(np.float64)


def regressor(g: Graph, model: Any, x: str) -> Answer:
    """x W + b."""
    W = np.asarray(model.coef_, np.float64)
    found = g.affine(x, np.atleast_2d(W).T, model.intercept_)
    if W.ndim == 1:
        return Answer([Output("prediction", g.column(found), NUMBER)])
    return Answer([Output("prediction", found, NUMBER, (len(W),))])


def scores(g: Graph, model: Any, x: str) -> str:
    """One column for two classes, else one for each."""
    if len(getattr(model, "interactions_", ())):
        refuse(model, "it has products of columns; only plain columns are converted")
    return g.affine(x, np.atleast_2d(model.coef_).T, model.intercept_)


def chosen(g: Graph, model: Any, z: str) -> str:
    """The number of the class with the largest score."""
    if len(model.coef_) > 1:
        return g.largest(z)
    return g.positive(z, zero=getattr(model, "_zero_is_positive", False))


def logistic(g: Graph, model: Any, x: str) -> Answer:
    """Scores that are log-odds."""
    z = scores(g, model, x)
    P = g.two(z) if len(model.coef_) == 1 else g.softmax(z)
    return g.classes(model, chosen(g, model, z), probabilities(model, P))


def probabilities(model: Any, P: str) -> Output:
    return Output("probabilities", P, NUMBER, (len(model.classes_),))


def margins(g: Graph, model: Any, x: str) -> Answer:
    """Scores that are no probabilities."""
    z = scores(g, model, x)
    if len(model.coef_) == 1:
        decision = Output("decision", g.column(z), NUMBER)
    else:
        decision = Output("decision", z, NUMBER, (len(model.coef_),))
    return g.classes(model, chosen(g, model, z), decision)


def stochastic(g: Graph, model: Any, x: str) -> Answer:
    """SGDClassifier: probabilities where the loss gives them."""
    if model.loss == "log_loss" and len(model.coef_) == 1:
        return logistic(g, model, x)
    if model.loss not in ("log_loss", "modified_huber"):
        return margins(g, model, x)
    z = scores(g, model, x)
    if model.loss == "log_loss":
        return g.classes(model, g.largest(z), probabilities(model, against_rest(g, z)))
    clipped = g.op("Max", g.op("Min", z, 1.0), -1.0)
    p = g.op("Div", g.op("Add", clipped, 1.0), 2.0)
    if len(model.coef_) == 1:
        P = g.join(g.op("Sub", 1.0, p), p)
    else:  # equal where every class says 0
        none = g.op("Equal", g.op("ReduceSum", p, np.array([1])), 0.0)
        P = g.share(g.choose(none, 1.0, p))
    return g.classes(model, chosen(g, model, z), probabilities(model, P))


def against_rest(g: Graph, z: str) -> str:
    """Sigmoids made to sum to 1; in logs, log s(z) = min(z, 0) - log(1 + exp(-|z|))."""
    small = g.op("Exp", g.op("Neg", g.op("Abs", z)))
    return g.softmax(g.op("Sub", g.op("Min", z, 0.0), g.op("Log", g.op("Add", small, 1.0))))


def one_vs_rest(g: Graph, model: Any, x: str) -> Answer:
    """Linear rules, one for each class; probabilities where all members have them."""
    members = model.estimators_
    if model.multilabel_:
        refuse(model, "it answers several labels; one is converted")
    names = [(class_name(type(member)) or "?").removeprefix("pellucid.") for member in members]
    for member, known in zip(members, names, strict=True):
        if known not in (*LOGISTIC, *MARGINS):
            refuse(model, f"its members must be linear rules, got {type(member).__name__}")
    z = g.join(*(scores(g, member, x) for member in members))
    several = len(members) > 1
    index = g.largest(z) if several else g.positive(z)
    if not set(names) <= set(LOGISTIC):
        tail = (len(members),) if several else ()
        found = Output("decision", z if several else g.column(z), NUMBER, tail)
        return g.classes(model, index, found)
    p = g.sigmoid(z)
    if several:
        total = g.op("ReduceSum", p, np.array([1]))
        none = g.op("Equal", total, 0.0)
        P = g.choose(none, 1.0 / len(members), g.op("Div", p, g.choose(none, 1.0, total)))
    else:
        P = g.join(g.op("Sub", 1.0, p), p)
    return g.classes(model, index, probabilities(model, P))


PREDICTORS: dict[str, Callable[[Graph, Any, str], Answer]] = {
    **dict.fromkeys(REGRESSORS, regressor),
    **dict.fromkeys(LOGISTIC, logistic),
    **dict.fromkeys(MARGINS, margins),
    "LinearDiscriminantAnalysis": logistic,
    "OneVsRestClassifier": one_vs_rest,
    "SGDClassifier": stochastic,
}
