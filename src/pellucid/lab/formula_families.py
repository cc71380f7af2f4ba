"""The formulas of groups, mixtures, ensembles, margins, networks, decisions and closed forms."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.lab.drawing import number, vector
from pellucid.lab.formula_lines import (
    Moment,
    change,
    finite,
    joined,
    moved_value,
    shown_objective,
)

MOST_CENTRES = 4  # written out in one line


# Groups and mixtures: places that move.
def places_of(model: BaseEstimator) -> Any:
    for name in ("cluster_centers_", "means_"):
        found = getattr(model, name, None)
        if isinstance(found, np.ndarray) and found.ndim == 2:
            return found
    return None


def moved_places(moment: Moment, letter: str) -> str:
    new, old = places_of(moment.model), places_of(moment.before)
    if new is None:
        return ""
    known = old is not None and old.shape == new.shape
    parts = [
        f"{letter}{k} {f'{vector(old[k])} →' if known else '='} {vector(centre)}"
        for k, centre in enumerate(new[:MOST_CENTRES])
    ]
    return ", ".join(parts) + (", …" if len(new) > MOST_CENTRES else "")


def centres(moment: Moment, rule: str = "c_k ← mean of the rows nearest to c_k") -> str:
    return joined(rule, moved_places(moment, "c"), shown_objective(moment))


def fuzzy_centres(moment: Moment) -> str:
    return centres(moment, "c_k ← Σ u_ik^m x_i / Σ u_ik^m")


def medoids(moment: Moment) -> str:
    swaps = moment.value("swaps")
    count = "" if swaps is None else f": {number(swaps)} swaps"
    rule = f"swap a medoid for a row where that lowers Σ d(x, medoid){count}"
    return joined(rule, shown_objective(moment))


EM = "E: r_ik ∝ π_k p(x_i | k),  M: μ_k ← Σ r_ik x_i / Σ r_ik"
ASCENT = "θ ← θ + η ∇ log-likelihood(θ)"
BAUM_WELCH = "E: r_tk = p(z_t = k | x_1 … x_T),  M: means and transitions weighted by them"
BOUND = "E: r_ik ∝ exp E[ln π_k p(x_i | k)],  M: beliefs in π, μ, Σ given r"


def likelihood(moment: Moment, rule: str = EM, what: str = "log-likelihood") -> str:
    moved = moved_value(moment)
    weights = getattr(moment.model, "weights_", None)
    share = f"π = {vector(weights)}" if isinstance(weights, np.ndarray) else ""
    return joined(rule, moved_places(moment, "μ"), share, moved and f"{what} {moved}")


# Ensembles.
def adaboost(moment: Moment) -> str:
    error, alpha = moment.value("error"), moment.value("alpha")
    if error is None or alpha is None:
        return change(moment)
    extra = " + ½ ln(K−1)" if len(getattr(moment.model, "classes_", ())) > 2 else ""
    rate = finite(getattr(moment.model, "learning_rate", None))
    extra += "" if rate in (None, 1.0) else f", times {number(rate)}"
    return joined(
        f"ε = {number(error)},  α = ½ ln((1−ε)/ε){extra} = {number(alpha)}",
        "d_i ← d_i exp(−α y_i f(x_i)) / Z",
        shown_objective(moment),
    )


def boosting(moment: Moment) -> str:
    rate = finite(getattr(moment.model, "learning_rate", None))
    step = "ν" if rate is None else number(rate)
    return joined(f"F ← F + {step} · h,  h a tree for −∂L/∂F", shown_objective(moment))


def forest(moment: Moment) -> str:
    count = getattr(moment.model, "n_estimators", "B")
    return f"f(x) = mean of {count} trees, each grown with its own random rows or cuts"


def tree(moment: Moment) -> str:
    numbers = moment.model.card().numbers
    root, leaves = (finite(numbers.get(f"impurity of the {w}")) for w in ("root", "leaves"))
    drop = "" if root is None or leaves is None else f"{number(root)} → {number(leaves)}"
    return joined(
        "split where the impurity falls most: Δi = i(t) − p_L i(L) − p_R i(R)",
        f"{numbers.get('nodes')} nodes, {numbers.get('leaves')} leaves",
        drop and f"impurity {drop}",
    )


# Margins.
DUALS = {
    "SVR": "min ½ βᵀKβ − y·β + ε |β|₁,  |β_i| ≤ C,  Σ β = 0",
    "NuSVR": "min ½ βᵀKβ − y·β,  |β_i| ≤ C,  |β|₁ ≤ C ν n,  Σ β = 0",
    "OneClassSVM": "min ½ αᵀKα,  0 ≤ α_i ≤ 1,  Σ α = ν n",
    "NuSVC": "min ½ Σ α_i α_j y_i y_j k(x_i, x_j),  0 ≤ α_i ≤ 1,  Σ α = ν n,  Σ α_i y_i = 0",
    "MaximumMarginClassifier": "min ½ |w|² + C Σ ξ_i,  y_i f(x_i) ≥ 1 − ξ_i,  ξ_i ≥ 0",
}
MARGIN = "min ½ Σ α_i α_j y_i y_j k(x_i, x_j) − Σ α_i,  0 ≤ α_i ≤ C,  Σ α_i y_i = 0"


def support(moment: Moment) -> str:
    count, steps = getattr(moment.model, "n_support_", None), moment.value("steps")
    return joined(
        DUALS.get(type(moment.model).__name__, MARGIN),
        "" if steps is None else f"{number(steps)} pairs of multipliers moved",
        "" if count is None else f"{int(np.sum(count))} support vectors",
        shown_objective(moment),
    )


# Networks.
def network(moment: Moment) -> str:
    rate, norms = moment.value("learning_rate"), moment.row.get("gradient_norms")
    new, old = (getattr(m, "vector_", None) for m in (moment.model, moment.before))
    moved = ""
    if new is not None and old is not None and new.shape == old.shape:
        moved = f"|θ − θ_before| = {number(float(np.linalg.norm(new - old)))}"
    return joined(
        "θ ← θ − η · step(∇L)" + ("" if rate is None else f", η = {number(rate)}"),
        "" if norms is None else f"|∇L| by layer {vector(norms)}",
        moved,
        shown_objective(moment),
    )


# Decisions.
BELLMAN = "U(s) ← max_a [r(s,a) + γ Σ P(s′|s,a) U(s′)]"
STAGES = "U_t(s) = max_a [r(s,a) + γ Σ P(s′|s,a) U_{t−1}(s′)], t steps to go"
POLICY = "U = r_π + γ P_π U,  then π(s) ← argmax_a [r(s,a) + γ Σ P(s′|s,a) U(s′)]"
PROGRAMME = "min Σ w(s) U(s)  with  U(s) ≥ r(s,a) + γ Σ P(s′|s,a) U(s′) for all s, a"


def planning(moment: Moment, rule: str = BELLMAN) -> str:
    worth = moment.value("change")
    values = getattr(moment.model, "values_", None)
    shown = f"U = {vector(np.asarray(values, float)[..., :6])}" if values is not None else ""
    return joined(rule, shown, "" if worth is None else f"largest change {number(worth)}")


def acting(moment: Moment, rule: str) -> str:
    said = {"return": "return", "length": "steps", "td_error": "mean error of a step"}
    found = ((words, moment.value(key)) for key, words in said.items())
    return joined(rule, ", ".join(f"{words} {number(v)}" for words, v in found if v is not None))


# Closed forms.
def naive_bayes(moment: Moment) -> str:
    prior = getattr(moment.model, "class_prior_", None)
    if prior is None and hasattr(moment.model, "class_log_prior_"):
        prior = np.exp(moment.model.class_log_prior_)
    shown = "" if prior is None else f"p(c) = {vector(prior)}"
    return joined("class = argmax_c [ln p(c) + Σ_j ln p(x_j | c)]", shown)


def discriminant(moment: Moment) -> str:
    priors = getattr(moment.model, "priors_", None)
    shown = "" if priors is None else f"π = {vector(priors)}"
    rule = "δ_k(x) = ln π_k − ½ ln|Σ_k| − ½ (x−μ_k)ᵀ Σ_k⁻¹ (x−μ_k)"
    if type(moment.model).__name__.startswith("Linear"):
        rule = "δ_k(x) = ln π_k − ½ (x−μ_k)ᵀ Σ⁻¹ (x−μ_k)"
    return joined(rule, shown, moved_places(moment._replace(before=None), "μ"))


def components(moment: Moment, of: str = "the covariance") -> str:
    share = getattr(moment.model, "explained_variance_ratio_", None)
    shown = f"shares of the variance {vector(share)}" if isinstance(share, np.ndarray) else ""
    return joined(f"z = Vᵀ(x − mean),  V the first eigenvectors of {of}", shown)


def neighbours(moment: Moment) -> str:
    k = getattr(moment.model, "n_neighbors", None)
    near = "the rows within the radius" if k is None else f"the {k} nearest rows"
    return f"ŷ(x) = vote or mean of {near};  nothing is minimised"
