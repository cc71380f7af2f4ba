"""The card of a logistic model, with its penalty in the scales of the textbooks."""

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.records import Card


def penalty_scales(C: float, ratio: float, n: float, shrink_intercept: bool) -> tuple[str, ...]:
    """The same penalty as other books write it.

    >>> penalty_scales(5.0, 0.0, 4.0, True)[0]
    'lambda = 0.1 in sum loss + lambda |w|^2'
    """
    if ratio == 1:
        return (f"lambda = {1 / C:.6g} in sum loss + lambda |w|_1",)
    if ratio > 0:
        l1, l2 = f"{ratio / C:.6g} |w|_1", f"{(1 - ratio) / (2 * C):.6g} |w|^2"
        return (f"lambda = {l1} and {l2} beside sum loss",)
    half = "in sum loss + (lambda/2) |w|^2, and in a mean gradient that adds (lambda/m) w"
    where = "all coefficients" if shrink_intercept else "the slopes (the intercept is free)"
    return (
        f"lambda = {1 / (2 * C):.6g} in sum loss + lambda |w|^2",
        f"lambda = {1 / C:.6g} {half}",
        f"reg = {1 / (n * C):.6g} in a mean gradient that adds reg w (m = {n:.6g} rows)",
        f"prior N(0, {C:.6g} I) on {where}: the mode of the posterior",
    )


def _uniqueness(model: BaseEstimator, price: float) -> str:
    """How many minima a ridge penalty leaves: adding a number to all free intercepts changes none.

    That there is one is not that it was found.
    """
    if len(model.classes_) > 2 and model.fit_intercept and not price:
        return "strictly convex but for a number added to all intercepts, which changes no answer"
    one = "the minimum is the only one" if model._converged else "there is one minimum"
    return f"strictly convex: {one}"


def logistic_card(model: BaseEstimator, strength: float, ratio: float, price: float) -> Card:
    """The card of a fitted LogisticRegression."""
    K, n = len(model.classes_), model.n_observations_
    score = "b + x'w" if model.fit_intercept else "x'w"
    if K == 2:
        what = f"log P({model.classes_[1]})/P({model.classes_[0]}) = {score}: a hyperplane"
    else:
        what = f"P(k | x) proportional to exp({score}) with b, w of class k, {K} classes: softmax"
    loss = "sum of -log P(y | x)"
    if strength == 0:
        evaluation = f"{loss}: maximum likelihood, no penalty"
        scales: tuple[str, ...] = ("C = inf: lambda = 0 in every scale",)
    else:
        C = 1 / strength
        evaluation = f"{C:g} x {loss} + {(1 - ratio) / 2:g} |W|^2 + {ratio:g} |W|_1"
        evaluation += "; the intercept is penalised too" if price else "; the intercept is free"
        scales = penalty_scales(C, ratio, n, price == 1.0)
    certificate = model._certificate
    if not certificate and strength > 0:
        certificate = "convex" if ratio else _uniqueness(model, price)
    notes = []
    if model.separation_ != "none":
        notes.append(f"the classes are separated ({model.separation_}): no finite maximum")
    if not model._converged:
        notes.append("the iteration did not converge")
    shown = ("df", "log_likelihood", "null_log_likelihood", "aic", "bic")
    numbers = {"n": n, **{name: getattr(model, f"{name}_") for name in shown}}
    numbers |= {"nonzero": int(np.count_nonzero(model.coef_)), "n_iter": int(model.n_iter_[0])}
    return Card(
        representation=what,
        evaluation=evaluation,
        optimisation="; ".join(part for part in (model._how, certificate) if part),
        numbers=numbers,
        scales=scales,
        warnings=tuple(notes),
    )
