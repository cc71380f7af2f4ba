"""Probabilistic PCA by EM on the page of projections."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.runtime.random import generator
from pellucid.decomposition import probabilistic
from pellucid.decomposition.probabilistic import Loadings, ProbabilisticPCA, log_likelihood
from pellucid.lab import scene
from pellucid.lab.drawing import held_rows, literal, number, quietly, short, told, vector
from pellucid.lab.page import LabData
from pellucid.lab.scene import Mark, Panel, around, bars, contours, line, plane, points, rule
from pellucid.lab.trace import Frame, Trace
from pellucid.plots.panels.replay import watched

ROUNDS, SHOWN = 300, 50  # of EM, and how many of them are frames


def rows_panel(data: LabData, title: str) -> Panel:
    box = around(data.X, 0.2)
    spans = box[1] - box[0], box[3] - box[2]
    faint, label = held_rows(data), "rows (open: held out)"
    marks = [points(*data.X.T, group="quiet", faint=faint, data=True, label=label)]
    x, y, equal = *data.names, max(spans) < 6 * min(spans)
    alt = "The rows, the direction and the feet of the rows on it."
    return plane("rows", marks, title=title, x=x, y=y, box=box, equal=equal, alt=alt)


def scree(values: np.ndarray, noise: float | None = None) -> list[Mark]:
    """Eigenvalues as bars; the noise level of probabilistic PCA as a line."""
    n = len(values)
    marks = [bars(np.arange(1, n + 1), values, colour=[0] * n, width=0.5, label="λ")]
    return marks + ([] if noise is None else [rule(y=noise, colour="warn", label="noise σ²")])


def feet(X: np.ndarray, F: Any) -> Mark:
    return scene.segments(*X.T, *F.T, colour="quiet")


def ppca_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """EM from random loadings; every round is a frame."""
    X, _ = data.train
    model = ProbabilisticPCA(1, solver="em", tol=1e-5, max_iter=ROUNDS, random_state=seed)
    fitted, recorder = watched(model, X)
    S = np.cov(X.T, bias=True)
    start = probabilistic.principal_axes(probabilistic.em_start(S, 1, generator(seed)))
    watched_fits = next(iter(recorder.runs.values()))
    states = [start] + [Loadings(one.loadings_, one.noise_variance_) for one in watched_fits]
    states = _aligned(states, S)
    mean = X.mean(axis=0)
    test = data.test[0]
    last = len(states) - 1
    shown = np.unique(np.r_[0, np.geomspace(1, last, SHOWN).round()].astype(int))
    frames = tuple(_round(int(k), states, S, mean, X, test, fitted.eigenvalues_) for k in shown)
    fit = (
        f'model = ProbabilisticPCA(1, solver="em", tol=1e-5, max_iter={ROUNDS}, '
        f"random_state={seed}).fit(X)\n"
    )
    loud = last >= ROUNDS
    best = ProbabilisticPCA(1).fit(X)
    marks, title = scree(fitted.eigenvalues_), "Scree: eigenvalues and noise"
    alt = "The eigenvalues of the covariance as bars."
    panels = [
        rows_panel(data, "Rows, density N(μ, W W' + σ² I) and E[x | z]"),
        _surface(S, states, best, len(X)),
        plane("scree", marks, title=title, x="component", y="variance", alt=alt),
    ]
    code = (
        f"{'import warnings' + chr(10) if loud else ''}import numpy as np\n\n"
        f"from pellucid import ProbabilisticPCA\n\nX = {literal(X)}\n"
        f"{quietly(fit, 'EM is not done') if loud else fit}"
        "objective = float(model.log_likelihood_ / len(X))\n"
    )
    scene_told, verdict = told(data, "points", panels), _verdict(fitted, best, last)
    words = ("Probabilistic PCA by EM", "log-likelihood per row", verdict, code)
    return Trace("ProbabilisticPCA", params, scene_told, fitted.card().to_dict(), frames, *words)


def _aligned(states: list[Any], S: Any) -> list[Any]:
    """Loadings have no sign of their own: each takes the one that the next round goes on with."""
    states = list(states)
    for k in range(len(states) - 1, 0, -1):
        if float(np.sum((S @ states[k - 1].W) * states[k].W)) < 0:
            states[k - 1] = states[k - 1]._replace(W=-states[k - 1].W)
    return states


def _verdict(fitted: BaseEstimator, best: Any, rounds: int) -> str:
    a, b = fitted.loadings_[:, 0], best.loadings_[:, 0]
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    turn = float(np.degrees(np.arccos(min(1.0, abs(a @ b) / length)))) if length > 0 else 0.0
    short = float(best.log_likelihood_ - fitted.log_likelihood_)
    return (
        f"{rounds} rounds; {number(max(short, 0.0))} below the log-likelihood of the closed form, "
        f"{number(turn, 2)}° from its direction."
    )


def _surface(S: Any, states: Any, best: Any, n: int) -> Panel:
    """Level lines of the log-likelihood over W, at the noise of the closed form."""
    path = np.array([s.W[:, 0] for s in states])
    reach = 1.25 * max(float(np.abs(path).max()), float(np.abs(best.loadings_).max()), 1e-9)
    side = np.linspace(-reach, reach, 41)
    s2 = best.noise_variance_
    z = np.array(
        [[log_likelihood(S, Loadings(np.array([[a], [b]]), s2), n) for a in side] for b in side]
    )
    top = float(best.log_likelihood_)
    levels = top - n * np.array([0.01, 0.05, 0.15, 0.4, 0.8, 1.5, 3.0, 6.0])[::-1]
    marks = [contours(side, side, z, levels)]
    ends = np.vstack([best.loadings_.T, -best.loadings_.T])
    marks.append(points(ends[:, 0], ends[:, 1], group="warn", label="closed form, either sign"))
    title, box = "Parameter space: log-likelihood over W", (-reach, reach, -reach, reach)
    alt = "Level lines of the log-likelihood over the two loadings."
    return plane("loadings", marks, title=title, x="w1", y="w2", box=box, equal=True, alt=alt)


def _density(mean: Any, state: Any, X: np.ndarray) -> float:
    """log-likelihood per row of rows not seen."""
    D = X - mean
    return log_likelihood(D.T @ D / len(X), state, len(X)) / len(X)


def _round(
    k: int, states: Any, S: Any, mean: Any, X: np.ndarray, test: Any, eigenvalues: Any
) -> Frame:
    W, s2 = states[k]
    w = W[:, 0]
    m = float(w @ w) + s2  # M = W'W + s2
    z = (X - mean) @ w / m
    F = mean + np.outer(z, w)
    value = log_likelihood(S, states[k], len(X)) / len(X)
    away = mean + 3 * np.outer([-1.0, 1.0], w)
    marks = [
        *scene.ellipse(mean, np.outer(w, w) + s2 * np.eye(2)),
        feet(X, F),
        line(*away.T, label="μ + W z"),
        points(*F.T, group=0, size=0.6, label="μ + W E[z | x]"),
    ]
    path = np.array([s.W[:, 0] for s in states[: k + 1]])
    way = [line(*path.T), points(*path[-1:].T, group="accent", size=1.3)]
    levels = [
        rule(y=s2, colour="warn", label="noise σ²"),
        rule(y=m, colour="accent", label="|W|² + σ²"),
    ]
    panels = [plane("rows", marks), plane("loadings", way), plane("scree", levels)]
    if k == 0:
        formula = f"W₀ = {vector(w)}, σ₀² = tr(S)/2 = {number(s2)}: loadings drawn at random"
    else:
        V, t2 = states[k - 1]
        M = float(V[:, 0] @ V[:, 0]) + t2
        formula = (
            f"E: M = W'W + σ² = {number(M)}, E[z|x] = M⁻¹ W'(x − μ).  "
            f"M: W ← S W (σ² + M⁻¹ W'S W)⁻¹ = {vector(w)}, σ² ← tr(S − S W M⁻¹ W_new')/2 "
            f"= {number(s2)}"
        )
    angle = float(np.degrees(np.arctan2(w[1], w[0])) % 180)
    numbers = {"log-likelihood per row": round(value, 4), "σ²": short(s2)}
    numbers |= {"|W|² + σ²": short(m), "direction (degrees)": round(angle, 1)}
    gap = None if k == 0 else _change(states[k], states[k - 1])
    held = None if not len(test) else _density(mean, states[k], test)
    return Frame(k, value, gap, formula, numbers, {"panels": panels}, held)


def _change(new: Any, old: Any) -> float:
    return float(np.linalg.norm(new.covariance - old.covariance) / np.linalg.norm(new.covariance))
