"""A conjugate belief that changes row by row: the share of class 1."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.inference import BetaBernoulli
from pellucid.lab.drawing import number
from pellucid.lab.pages.bayes.rows import Rows, Story, still
from pellucid.lab.scene import area, band, line, plane, points, rule
from pellucid.lab.trace import Frame

MOST_UPDATES = 40


def conjugate(rows: Rows, params: dict[str, Any], seed: int) -> Story:
    """The share of class 1, row after row: a Beta belief."""
    belief = BetaBernoulli(params["prior_a"], params["prior_b"])
    x = np.linspace(0.005, 0.995, 100)
    hits = (rows.y == 1).astype(int)
    sizes = np.unique(np.rint(np.linspace(0, len(hits), MOST_UPDATES)).astype(int)).tolist()
    start, before, past, frames = belief, belief, [], []
    for i, m in enumerate(sizes):
        belief = start.update(hits[:m]) if m else start
        past.append((m, belief.mean, *belief.interval(0.95)))
        frames.append(beta_frame(rows, x, (start, before, belief), past, i))
        before = belief
    low, high = belief.interval(0.95)
    verdict = (
        f"After {len(hits)} rows the share of class 1 is {number(belief.mean)}, with probability "
        f"0.95 between {number(low)} and {number(high)}."
    )
    card = {
        "representation": "a belief about the share p of class 1: Beta(a, b)",
        "evaluation": "the likelihood p^s (1 − p)^f of s rows of class 1 and f others",
        "optimisation": "none: the posterior is Beta(a + s, b + f), a sum of counts",
    }
    code = (
        "from pellucid.inference import BetaBernoulli\n\n"
        f"result = BetaBernoulli({params['prior_a']}, {params['prior_b']})"
        ".update((y == 1).astype(int))\n"
        "p = np.where(y == 1, result.mean, 1 - result.mean)\n"
        "objective = float(-np.log(p).mean())  # mean log loss of the next row\n"
    )
    y = np.asarray(start.posterior.density(x)).round(4)
    prior = line(x, y, colour="quiet", dashed=True, label="prior")
    panels = [still(rows, "Rows that have been seen (rings)"), beta_panel([prior], 1.0)]
    objective = "mean log loss of the predictive p"
    return Story("BetaBernoulli", card, panels, frames, objective, verdict, code)


def bernoulli_loss(p: float, y: ArrayLike) -> float:
    return float(-np.log(np.where(y == 1, p, 1.0 - p)).mean())


def beta_panel(marks: list[Any], high: float) -> Any:
    title, box = "Belief about the share p of class 1", (0, 1, 0, max(4.0, 1.1 * high))
    alt = "Prior, last and present density of p."
    return plane("belief", marks, title=title, x="p", y="density", box=box, alt=alt)


def beta_frame(rows: Rows, x: ArrayLike, beliefs: Any, past: list[Any], step: int) -> Frame:
    """``beliefs``: at the start, before this step, now."""
    start, before, belief = beliefs
    m, a, b, p = past[-1][0], belief.alpha, belief.beta, float(belief.mean)
    s, f = a - start.alpha, b - start.beta
    formula = (
        f"Beta({number(start.alpha)} + {number(s)}, {number(start.beta)} + {number(f)}) = "
        f"Beta({number(a)}, {number(b)}); E[p] = a/(a + b) = {number(a)}/{number(a + b)} = "
        f"{number(p)}"
    )
    low, high = (float(v) for v in belief.interval(0.95))
    numbers = {"rows seen": m, "a": float(a), "b": float(b), "mean": p}
    numbers["95 % interval"] = f"{number(low)} to {number(high)}"
    curves = [np.asarray(one.posterior.density(x)).round(4) for one in (before, belief)]
    marks = [
        area(np.r_[0.0, x, 1.0], np.r_[0.0, curves[1], 0.0]),
        line(x, curves[0], colour="quiet", width=1.0, label="before this step"),
        line(x, curves[1], label="posterior"),
        rule(x=p, colour="accent", label="mean"),
    ]
    seen, history = rows.X[:m], np.array(past)
    data = [points(*seen.T, group=rows.y[:m], ring=np.ones(m, bool))]
    ends = [band(history[:, 0], *history[:, 2:].T), line(*history[:, :2].T, label="mean")]
    title, alt = "Mean and 95 % interval", "Mean and interval against the rows seen."
    box = (0, len(rows.y), 0, 1)
    scene = [
        plane("data", data, box=rows.box, alt=f"{m} rows have been seen."),
        beta_panel(marks, float(curves[1].max())),
        plane("interval", ends, title=title, x="rows seen", y="p", box=box, alt=alt),
    ]
    objective, held_out = bernoulli_loss(p, rows.y), bernoulli_loss(p, rows.y_test)
    return Frame(step, objective, None, formula, numbers, {"panels": scene}, held_out)
