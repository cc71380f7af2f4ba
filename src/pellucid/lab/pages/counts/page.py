"""Counts whose mean is exp(b + w x): one weighted line after the other until nothing moves.

What breaks it: counts that vary more than Poisson's, and a group in which nothing ever happens.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Rng
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import heard, hushed, number, rows_code, told
from pellucid.lab.page import LabData, given, hold_out, make_page, read_presets
from pellucid.lab.pages.counts import parts
from pellucid.lab.pages.counts.parts import Fitted
from pellucid.lab.trace import Trace
from pellucid.linear import NegativeBinomialRegressor, PoissonRegressor

VARIANCES = {"the mean μ": PoissonRegressor, "μ + a μ²": NegativeBinomialRegressor}


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The fit, watched through its history."""
    assert data is not None
    X, y = data.train
    if (data.y < 0).any():
        raise ValueError(f"a count cannot be below 0, got {data.y.min():g}")
    if len(np.unique(X)) < 2 or len(y) < 3:
        raise ValueError("counts need 3 rows or more that are not held out, at 2 different x")
    kind = VARIANCES[params["variance"]]
    settings = {"alpha": params["alpha"], "max_iter": params["steps"]}
    model, warned = heard(lambda: kind(**settings).fit(X, y))
    fitted = Fitted.of(data, model, params["alpha"])
    frames = tuple(parts.frame(fitted, i) for i in range(len(fitted.path)))
    given_as = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    code = hushed(warned) + rows_code(data) + CODE.format(kind.__name__, given_as)
    words = ("Counts", "mean −log P(y)", verdict(fitted, frames), code)
    shown = told(data, "values", parts.still(fitted))
    return Trace(kind.__name__, params, shown, model.card().to_dict(), frames, *words)


CODE = """from pellucid import {0}

model = {0}({1}).fit(X, y)
objective = float(-model.log_likelihood_ / len(y))
"""


def verdict(fitted: Fitted, frames: Any) -> str:
    """How it ended, and whether the variance is as large as it is taken to be."""
    last, model = frames[-1].numbers, fitted.model
    factor = number(last["factor for a step of 1"])
    if not fitted.ended:
        return (
            f"No end: b is {number(last['b'])} and goes on falling, because a mean of 0 is "
            "likeliest where nothing was counted. A penalty would stop it."
            if fitted.runs_away
            else f"Not at its end after {len(frames) - 1} steps."
        )
    words = f"Each step of 1 in x multiplies the mean by {factor}."
    spread = float(model.pearson_dispersion_)
    if fitted.poisson and spread > 2:
        return (
            f"{words} But the counts vary {number(spread)} times as much as Poisson's: the "
            "standard error is too small."
        )
    return f"{words} Squared residuals are {number(spread)} times what the variance says."


def events(rate: Any, n: int = 60, far: float = 6.0, extra: float = 0.0) -> Any:
    """Rows of counts with that mean; ``extra`` is a of the variance μ + a μ²."""

    def draw(rng: Rng) -> LabData:
        x = np.round(np.sort(far * (np.arange(n) + rng.uniform(0.0, 1.0, n)) / n), 2)
        mean = rate(x) * (rng.gamma(1 / extra, extra, n) if extra else 1.0)
        return LabData(x[:, None], rng.poisson(mean).astype(float), hold_out(n, 0), ("x",))

    return draw


def two_groups(rng: Rng) -> LabData:
    """Group 0 has no event at all, group 1 has three on average."""
    x = np.repeat([0.0, 1.0], 20)
    y = np.where(x == 0, 0.0, rng.poisson(3.0, 40))
    return LabData(x[:, None], y, hold_out(40, 0), ("group",))


def growth(x: Array) -> Any:
    return np.exp(-0.3 + 0.5 * x)


SUMMARY = "Counts: the logarithm of their mean is a straight line, their variance is the mean."
CONTROLS = (
    choice("method", "Method", ("Poisson",)),
    choice("variance", "Variance of a count", VARIANCES),
    slider("alpha", "Penalty α", 0.0, 0.0, 1.0, 0.01),
    counter("steps", "Steps at most", 12, 1, 40),
)
PRESETS = read_presets(
    """
Counts that grow | Sixty counts. Every step fits a line to counts made straight, each with the
    weight of its mean.
Room for more | The variance may be μ + a μ², with a from the rows: negative binomial regression.
A small penalty | Nothing was counted in group 0. A price on w stops the fall.
! More than Poisson | The same curve, but counts scatter far more than Poisson's: its standard error
    is wrong.
! Nothing in one group | No event in group 0: the likelihood has no maximum, b falls for ever.
""",
    given(events(growth)),
    given(events(growth, extra=0.7), variance="μ + a μ²"),
    given(two_groups, alpha=0.05),
    given(events(growth, extra=0.7)),
    given(two_groups),
)
PAGE = make_page("counts", "values", run, SUMMARY, CONTROLS, PRESETS)
