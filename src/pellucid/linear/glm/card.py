"""The card of a generalised linear model."""

from typing import Any

from pellucid.core.records import Card
from pellucid.linear.glm.families import Family


def glm_card(model: Any, family: Family) -> Card:
    """What is minimised and how, with the numbers of this fit."""
    score = "b + x'w" if model.fit_intercept else "x'w"
    mean = (
        f"log E[y] = {score} (+ offset)" if family.link == "log" else f"E[y] = {score} (+ offset)"
    )
    what, remark = f"half the mean {family.name} deviance", model._remark()
    if remark:
        what = f"minus the mean {family.name} log-likelihood ({remark})"
    alpha = float(model.alpha)
    evaluation = f"{what}: maximum likelihood, no penalty"
    scales: tuple[str, ...] = ("alpha = 0: lambda = 0 in every scale",)
    if alpha > 0:
        free = "; the intercept is free" if model.fit_intercept else ""
        evaluation = f"{what} + {alpha / 2:g} |w|^2{free}"
        n = model.n_observations_
        scales = (f"lambda = {alpha * n:.6g} in sum half deviance + (lambda/2) |w|^2",)
    shown = ["df", "deviance", "null_deviance", "dispersion", "pearson_dispersion"]
    shown += ["log_likelihood", "aic", "bic"]
    numbers = {"n": model.n_observations_, **{name: getattr(model, f"{name}_") for name in shown}}
    notes = []
    if model._vanishing:
        notes.append("the mean of some rows with y = 0 runs to 0: no finite maximum")
    if not model._converged:
        notes.append("the iteration did not converge")
    return Card(
        representation=f"{mean}, Var[y] = {family.formula}: {family.name}",
        evaluation=evaluation,
        optimisation=f"{model._how}; {model._certificate}{' for this dispersion' * bool(remark)}",
        numbers={**numbers, "n_iter": model.n_iter_},
        scales=scales,
        warnings=tuple(notes),
    )
