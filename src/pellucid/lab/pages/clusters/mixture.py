"""Gaussian mixtures on the page of clusters: responsibilities, and the bound that EM lifts."""

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.lab.drawing import literal, number, quietly, told, vector
from pellucid.lab.page import LabData
from pellucid.lab.pages.clusters.parts import enough_rows, first_centers, rows_panel
from pellucid.lab.scene import Mark, Panel, ellipse, line, plane, points, rule, segments, table
from pellucid.lab.trace import Frame, Trace
from pellucid.mixture.gaussian.gaussian_mixture import GaussianMixture
from pellucid.plots.panels.replay import em_rounds

EM_ROUNDS = 50
_COLUMNS = ["component", "weight π", "N = Σ r", "mean μ"]


def mixture_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """Every round of EM, with the bound that it lifts."""
    X, _ = data.train
    k = params["k"]
    enough_rows(X, k)
    kind: dict[str, Any] = {"covariance_type": params["covariance"], "init_params": "k-means++"}
    settings = {**kind, "max_iter": EM_ROUNDS, "tol": 1e-4, "random_state": seed}
    said = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    given = ""
    if params["start"] == "one corner":
        settings["means_init"] = first_centers(X, k, "one corner", seed)
        given = f"    means_init={literal(settings['means_init'])},\n"
    with warnings.catch_warnings(record=True, action="always") as heard:
        fitted = GaussianMixture(k, **settings).fit(X)
    fit = f"model = GaussianMixture({k},\n{given}    {said}).fit(X)\n"
    models = em_rounds(fitted, X)
    values = np.array([m.score(X) for m in models])
    bound = [b.evidence_lower_bound(X, a.predict_proba(X)) / len(X) for a, b in pairwise(models)]
    frames = tuple(_round(data, models, values, bound, i) for i in range(len(models)))
    said = "Rows coloured by the likeliest component, components as ellipses."
    title = "Log-likelihood and the bound that M lifts"
    alt = "Log-likelihood per row and the bound after each M step."
    panels = [
        rows_panel(data, "Rows and components (1 and 2 deviations)", held=True, alt=said),
        plane("bound", [], title=title, x="round", y="per row", alt=alt),
        table("components", _COLUMNS, [], title="Components"),
    ]
    why = "a component has collapsed" if fitted.converged_ else "EM is not done"
    code = (
        f"{'import warnings' + chr(10) if heard else ''}import numpy as np\n\n"
        f"from pellucid import GaussianMixture\n\nX = {literal(X)}\n"
        f"{quietly(fit, why) if heard else fit}"
        "objective = model.score(X)\n"
    )
    shown, card = told(data, "points", panels), fitted.card().to_dict()
    words = ("Gaussian mixture by EM", "log-likelihood per row", _climb(values), code)
    return Trace("GaussianMixture", params, shown, card, frames, *words)


def _climb(values: np.ndarray) -> str:
    falls = bool((np.diff(values) < -1e-9).any())
    how = "with a fall, since a little is added to the variances" if falls else "without a fall"
    return (
        f"{len(values) - 1} rounds; the log-likelihood per row went from {number(values[0])} to "
        f"{number(values[-1])} {how}."
    )


def _covariance(model: BaseEstimator, j: int) -> Any:
    C = np.asarray(model.covariances_)
    if C.ndim == 3:
        return C[j]
    return C if C.ndim == 2 else C[j] * np.eye(2)


def _round(data: LabData, models: Any, values: np.ndarray, bound: Any, i: int) -> Frame:
    X, _ = data.train
    model = models[i]
    R = model.predict_proba(X)
    labels, sure = R.argmax(axis=1), R.max(axis=1)
    label = "rows (ring: no share reaches 0.8)"
    marks: list[Mark] = [points(*X.T, group=labels, ring=sure < 0.8, label=label)]
    for j, mean in enumerate(model.means_):
        marks += ellipse(mean, _covariance(model, j), colour=j)
    k = R.shape[1]
    look: dict[str, Any] = {"size": 1.8, "ring": np.ones(k, bool), "label": "means"}
    marks.append(points(*model.means_.T, group=np.arange(k), **look))
    N = R.sum(axis=0)
    rows = [
        [j + 1, number(model.weights_[j]), number(N[j]), vector(model.means_[j])]
        for j in range(len(N))
    ]
    alt = "Weight, size and mean of each."
    cells = table("components", _COLUMNS, rows, title="Components", alt=alt)
    panels = [plane("rows", marks), _bound(values, bound, i), cells]
    unsure = int(sure.argmin())
    if i == 0:
        formula = f"start: μ₁ = {vector(model.means_[0])}, π = {vector(model.weights_)}"
    else:
        j = int(((model.means_ - models[i - 1].means_) ** 2).sum(axis=1).argmax())
        before = models[i - 1].predict_proba(X)[:, j]
        formula = (
            f"M: N_{j + 1} = Σ r = {number(before.sum())}, μ_{j + 1} ← Σ r x / N = "
            f"{vector(model.means_[j])}; E: x = {vector(X[unsure])} gets r = {vector(R[unsure])}"
        )
    numbers = {
        "log-likelihood per row": round(float(values[i]), 4),
        "least sure row": round(float(sure.min()), 3),
        "rows below 0.8": int((sure < 0.8).sum()),
        **({"bound before E": round(float(bound[i - 1]), 4)} if i else {}),
    }
    gap = float(values[i] - values[i - 1]) if i else None
    held = model.score(data.test[0]) if len(data.test[0]) else None
    return Frame(i, float(values[i]), gap, formula, numbers, {"panels": panels}, held)


def _bound(values: np.ndarray, bound: Any, i: int) -> Panel:
    t = np.arange(i + 1)
    marks: list[Mark] = [
        line(t, values[: i + 1], colour=0, label="log-likelihood"),
        points(t, values[: i + 1], group=0, size=0.7),
    ]
    if i:
        low, label = np.array(bound[:i]), "bound after M, before E"
        marks.append(points(t[1:], low, group=1, size=0.7, label=label))
        marks.append(segments(t[1:], low, t[1:], values[1 : i + 1], colour=1, width=2.0))
    marks.append(rule(x=float(i), colour="quiet"))
    return plane("bound", marks)
