"""Rounds of factor analysis, and their picture."""

from typing import Any, NamedTuple

import numpy as np

from pellucid import PCA
from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import number, short, sub, vector
from pellucid.lab.scene import Panel, bars, heat, plane, points, rule, segments, text
from pellucid.lab.trace import Frame

COLUMNS = 6


class Tests(NamedTuple):
    """The marks, what made them, and the fitted model."""

    X: Array
    z: Array  # (n, k) abilities
    W: Array  # (k, COLUMNS) loadings that made them
    S: Array  # covariances of the marks, over n
    axis: Any  # PCA with one component
    model: Any

    @classmethod
    def of(cls, X: Array, z: Array, W: Array, model: Any) -> "Tests":
        return cls(X, z, W, np.cov(X.T, bias=True), PCA(1).fit(X), model)

    def own(self, model: Any) -> Array:
        """The share of every test's variance that is its own."""
        return model.noise_variance_ / np.diag(self.S)

    def agreement(self, model: Any) -> tuple[float, float]:
        """How closely the first factor and the first principal component follow the ability."""
        seen = [m.transform(self.X)[:, 0] for m in (model, self.axis)]
        a, b = (abs(float(np.corrcoef(one, self.z[:, 0])[0, 1])) for one in seen)
        return a, b


def still(known: Tests) -> list[Panel]:
    """The panels that the frames draw into."""
    top = 1.12 * max(float(np.diag(known.S).max()), float(made(known).max()))
    title, alt = "Variance of every test: shared + its own", "A bar per test, in two parts."
    box = (0.4, COLUMNS + 0.6, 0.0, top)
    parts = plane("variances", [], title=title, x="test", y="variance", box=box, alt=alt)
    left = {**left_panel(known, None), "marks": []}
    return [parts, second_panel(known, []), left]


def total(known: Tests, label: str) -> Any:
    at = np.arange(1, COLUMNS + 1)
    return bars(at, np.diag(known.S), colour="quiet", width=0.62, label=label)


def made(known: Tests) -> Array:
    """The variance that the abilities of these pupils give every test."""
    return np.asarray((known.z @ known.W).var(axis=0))


def second_panel(known: Tests, marks: list[Any]) -> Panel:
    """The factor beside the ability, or the loadings of two factors."""
    if known.model.components_.shape[0] == 1:
        title, alt = "Factor and ability of every pupil", "One point per pupil."
        return plane("second", marks, title=title, x="ability", y="E[z | x]", alt=alt)
    reach = 1.25 * float(np.abs(known.model.components_[:2]).max())
    title, alt = "Loadings of the tests", "An arrow per test: its loadings on two factors."
    look: dict[str, Any] = {
        "x": "w₁",
        "y": "w₂",
        "box": (-reach, reach, -reach, reach),
        "equal": True,
    }
    return plane("second", marks, title=title, alt=alt, **look)


def left_panel(known: Tests, model: Any) -> Panel:
    """S, or what a model leaves of it."""
    left = known.S if model is None else known.S - model.get_covariance()
    size = np.sqrt(np.diag(known.S))
    off = left / np.outer(size, size)
    box = (0.5, COLUMNS + 0.5, 0.5, COLUMNS + 0.5)
    name = "S" if model is None else "what is left"
    marks = [heat(off, box, low=-1.0, high=1.0, diverging=True, label=name)]
    title = "Correlations S" if model is None else "What is left of them, S − C"
    alt = "Correlations of all pairs of tests that the model does not explain."
    return plane("left", marks, title=title, x="test", y="test", box=box, equal=True, alt=alt)


def begin(known: Tests) -> Frame:
    """The table of covariances, before anything is fitted."""
    S, v = known.S, known.axis.components_[0]
    off = S - np.diag(np.diag(S))
    i, j = (int(k) for k in np.unravel_index(np.abs(off).argmax(), S.shape))
    formula = (
        f"S, the covariances of {len(known.X)} pupils: s{sub(i + 1)}{sub(j + 1)} = "
        f"{number(S[i, j])} is the largest between two tests; x = z W + ε explains them by few z"
    )
    numbers: dict[str, Any] = {"pupils": len(known.X), "variance of test 6": short(float(S[5, 5]))}
    numbers["PCA: weight of test 6"] = short(float(abs(v[5])))
    numbers["largest of S off the diagonal"] = short(float(np.abs(off).max()))
    panels = [
        plane("variances", [total(known, "variance")]),
        second_panel(known, []),
        left_panel(known, None),
    ]
    return Frame(0, None, None, formula, numbers, {"panels": panels})


def frame(known: Tests, model: Any, k: int) -> Frame:
    """The loadings after a round."""
    W, psi, S = model.components_, model.noise_variance_, known.S
    shared = (W**2).sum(axis=0)
    value = float(model.score_samples(known.X).mean())
    j = int(np.diag(S).argmax())
    squares = " + ".join(f"{number(abs(w))}²" for w in W[:, j])
    C = model.get_covariance()
    left = S - C
    off = np.abs(left - np.diag(np.diag(left)))
    formula = (
        f"round {k}: x ~ N(μ, C), C = W′W + Ψ; test {j + 1}: W′W gives {squares} = "
        f"{number(shared[j])}, Ψ{sub(j + 1)} = {number(psi[j])}; S has "
        f"s{sub(j + 1)}{sub(j + 1)} = {number(S[j, j])}"
    )
    numbers: dict[str, Any] = {"round": k, "log-likelihood per row": short(value, 5)}
    numbers["shared by test 6"] = short(float(shared[5] / (shared[5] + psi[5])))
    numbers["least Ψ of a test, as a share"] = short(float(known.own(model).min()))
    numbers["largest of S − C off the diagonal"] = short(float(off.max()))
    if len(known.W) == 1:
        ours, theirs = known.agreement(model)
        numbers |= {"r of the factor": short(ours), "r of PCA's first": short(theirs)}
    numbers["loadings of test 1"] = vector(W[:, 0])
    at = np.arange(1, COLUMNS + 1)
    marks = [total(known, "its own Ψ")]
    marks.append(bars(at, shared, colour="accent", width=0.62, label="shared W"))
    marks.append(points(at, made(known), group="warn", size=1.1, label="made by the abilities"))
    panels = [plane("variances", marks), second(known, model), left_panel(known, model)]
    return Frame(k, value, None, formula, numbers, {"panels": panels})


def second(known: Tests, model: Any) -> Panel:
    W = model.components_
    if len(W) > 1:
        zero = np.zeros(COLUMNS)
        arrows = segments(zero, zero, W[0], W[1], colour="accent", width=2.0, arrow=True)
        names = text(1.1 * W[0], 1.1 * W[1], [str(j + 1) for j in range(COLUMNS)])
        marks = [rule(x=0.0), rule(y=0.0), arrows | {"label": "W"}, names]
        return second_panel(known, marks)
    z = model.transform(known.X)[:, 0]
    z = z if float(W.sum()) > 0 else -z  # a factor has no sign of its own
    return second_panel(known, [points(known.z[:, 0], z, group="accent", size=0.8, label="pupils")])
