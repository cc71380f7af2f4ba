"""Two ways to a posterior: Laplace's normal density at the peak, Metropolis' walk over it."""

from functools import partial
from typing import Any

import numpy as np

from pellucid.inference import GaussianWalk, laplace_approximation, metropolis_hastings
from pellucid.inference.estimation.laplace import climb
from pellucid.inference.estimation.laplace import make_target as with_derivatives
from pellucid.lab.drawing import heard, hushed, number, vector
from pellucid.lab.pages.bayes.rows import Rows, Story, still
from pellucid.lab.pages.bayes.targets import Target, landscape, make_target, marginal, rule_at
from pellucid.lab.scene import ellipse, line, plane, points, segments
from pellucid.lab.trace import Frame

MOST_FRAMES = 55
ONE_BY_ONE = 25  # moves that have a frame of their own
SHOWN = 150  # draws that stay in the picture
LINES = 25  # of these, drawn among the rows
TITLE = {
    "boundary": "Rows and boundaries w·(x − x̄) = 0",
    "two means": "Rows and means of x1",
    "line": "Rows and lines x2 = t₁ + t₂ x1",
}


def parameter_plane(target: Target, marks: list[Any], alt: str) -> Any:
    title, y = "Posterior of the parameters", target.names[1]
    return plane("parameters", marks, title=title, x=target.names[0], y=y, box=target.box, alt=alt)


def now_at(place: Any) -> Any:
    """The present parameters."""
    return points(place[:1], place[1:], group="accent", size=1.7, label="now")


# Laplace ----------------------------------------------------------------------------------------


def laplace(rows: Rows, params: dict[str, Any], seed: int) -> Story:
    """Newton's climb to the peak, then the normal density that fits it."""
    target = make_target(rows, params["target"])
    calculus = with_derivatives(target.log_density, None, None)
    run, _ = heard(lambda: climb(calculus, target.start))
    path = np.array([row["x"] for row in run.history])
    path = path[np.unique(np.linspace(0, len(path) - 1, MOST_FRAMES).round().astype(int))]
    result, warned = heard(lambda: laplace_approximation(target.log_density, target.start))
    ground, x, rise = landscape(target)
    truth = marginal(x, rise)
    view = (target, calculus, path, x, truth)
    frames = [climb_frame(*view, i, normal=False) for i in range(len(path))]
    last = climb_frame(*view, len(path) - 1, normal=True)
    frames.append(last._replace(step=len(path), formula=end_words(result)))
    far = float(np.abs(truth - bell(x, result.mode[0], result.cov[0, 0])).sum() * (x[1] - x[0]) / 2)
    verdict = (
        f"A normal density at {vector(result.mode)}; its marginal and the true one differ by "
        f"{number(far)} of their mass" + (": another peak has the rest." if far > 0.35 else ".")
    )
    code = target.code + (
        f"\n{hushed(warned)}from pellucid.inference import laplace_approximation\n\n"
        f"result = laplace_approximation(log_density, {target.start.tolist()})\n"
        "objective = -log_density(result.mode)\n"
    )
    card = {
        "representation": "a normal density N(mode, A⁻¹), A = −∇² log g at the mode",
        "evaluation": "log g, the logarithm of likelihood times prior",
        "optimisation": f"Newton's method with halved steps, {result.n_iter} steps",
    }
    panels = [still(rows, TITLE[params["target"]]), parameter_plane(target, ground, "Density.")]
    shown_frames = drawn(frames, target, rows, path)
    return Story("laplace_approximation", card, panels, shown_frames, "−log g(θ)", verdict, code)


def drawn(frames: list[Frame], target: Target, rows: Rows, path: Any) -> list[Frame]:
    """Each frame with the present parameters among the rows."""
    out = []
    for i, frame in enumerate(frames):
        marks = target.draw(path[min(i, len(path) - 1)][None])
        panel = plane("data", marks, box=rows.box, alt="The rows and the present parameters.")
        out.append(frame._replace(state={"panels": [panel, *frame.state["panels"]]}))
    return out


def bell(x: Any, mean: float, variance: float) -> Any:
    return np.exp(-((x - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def climb_frame(
    target: Target, calculus: Any, path: Any, x: Any, truth: Any, i: int, *, normal: bool
) -> Frame:
    at = path[i]
    value, gradient = calculus.value(at), calculus.gradient(at)
    A, way = -calculus.hessian(at), path[: i + 1].T
    peaked = bool(np.linalg.eigvalsh(A)[0] > 0)
    marks = [line(*way, width=1.6), points(*way, group="accent", size=0.8), now_at(at)]
    curves = [line(x, truth, colour="quiet", label="true marginal"), rule_at(float(at[0]))]
    top = float(truth.max())
    if peaked:
        cov = np.linalg.inv(A)
        marks += ellipse(at, cov, colour="warn", label="A⁻¹") if normal else []
        curve = bell(x, at[0], cov[0, 0])
        curves.append(line(x, curve, colour="warn" if normal else "accent", label="normal"))
        top = max(top, float(curve.max()))
    formula = (
        f"θ = {vector(at)}, log g = {number(value)}, ∇ log g = {vector(gradient)}; step = A⁻¹∇"
    )
    if i + 1 < len(path):
        formula += f" → {vector(path[i + 1])}"
    numbers: dict[str, Any] = {"log g": float(value), "|gradient|": float(np.hypot(*gradient))}
    numbers |= dict(zip(target.names, at.tolist(), strict=True))
    numbers["curved down everywhere"] = "yes" if peaked else "no"
    title, box = f"Density of {target.names[0]}", (target.box[0], target.box[1], 0, 1.1 * top)
    alt = "True marginal density and the normal one."
    scene = [
        parameter_plane(target, marks, f"The climb after {i} steps."),
        plane("marginal", curves, title=title, x=target.names[0], y="density", box=box, alt=alt),
    ]
    return Frame(i, -float(value), None, formula, numbers, {"panels": scene}, target.held_out(at))


def end_words(result: Any) -> str:
    s = np.sqrt(np.diag(result.cov))
    rho = float(result.cov[0, 1] / (s[0] * s[1]))
    return (
        f"g ≈ N(mode, A⁻¹): mode {vector(result.mode)}, standard deviations {vector(s)}, "
        f"correlation {number(rho)}; log Z ≈ {number(result.log_evidence)}"
    )


# Metropolis -------------------------------------------------------------------------------------


def metropolis(rows: Rows, params: dict[str, Any], seed: int) -> Story:
    """Propose, compare, move or stay."""
    target = make_target(rows, params["target"])
    wide = np.array([target.box[1] - target.box[0], target.box[3] - target.box[2]])
    scale = (params["step"] * wide / 9.0).tolist()  # 1: about a standard deviation of the target
    run = partial(metropolis_hastings, n_draws=params["draws"], n_burn=0, n_chains=1)
    walk: dict[str, Any] = {
        "proposal": GaussianWalk(scale),
        "keep_proposals": True,
        "random_state": seed,
    }
    chains, warned = heard(lambda: run(target.log_density, target.start, **walk))
    ground, _, _ = landscape(target)
    moments = chosen(params["draws"])
    frames = [start_frame(rows, target)]
    frames += [walk_frame(rows, target, chains, t, i + 1) for i, t in enumerate(moments)]
    code = target.code + (
        f"\n{hushed(warned)}from pellucid.inference import GaussianWalk, metropolis_hastings\n\n"
        f"result = metropolis_hastings(\n    log_density, {target.start.tolist()}, "
        f"n_draws={params['draws']}, n_burn=0, n_chains=1,\n    proposal=GaussianWalk({scale}), "
        f"random_state={seed},\n)\n"
        "objective = -float(result.log_density[0, -1])\n"
    )
    card = {
        "representation": f"{params['draws']} draws of the posterior",
        "evaluation": "log g, the logarithm of likelihood times prior; no constant is needed",
        "optimisation": "none: a random walk whose moves are accepted with probability "
        "min(1, g(θ′)/g(θ))",
    }
    panels = [still(rows, TITLE[params["target"]]), parameter_plane(target, ground, "Density.")]
    algorithm, objective = "metropolis_hastings", "−log g(θ) of the present draw"
    return Story(algorithm, card, panels, frames, objective, verdict(target, chains), code)


def chosen(n: int) -> list[int]:
    """Moves that have a frame: the first ones each, later ones farther apart."""
    first = list(range(1, min(n, ONE_BY_ONE) + 1))
    rest = np.geomspace(max(first[-1], 1), n, MOST_FRAMES - ONE_BY_ONE).round().astype(int)
    return sorted({*first, *rest.tolist()})


def start_frame(rows: Rows, target: Target) -> Frame:
    value, held_out = target.log_density(target.start), target.held_out(target.start)
    scene = [
        plane("data", target.draw(target.start[None]), box=rows.box, alt="The start."),
        parameter_plane(target, [now_at(target.start)], "The start."),
    ]
    numbers = {"moves": 0, **dict(zip(target.names, target.start.tolist(), strict=True))}
    words = f"start θ = {vector(target.start)}, log g(θ) = {number(value)}"
    return Frame(0, -float(value), None, words, numbers, {"panels": scene}, held_out)


def walk_frame(rows: Rows, target: Target, chains: Any, t: int, step: int) -> Frame:
    draws, tried, yes = chains.draws[0, :t], chains.proposals[0, :t], chains.accepted[0, :t]
    before = draws[-2] if t > 1 else target.start
    old, new = target.log_density(before), target.log_density(tried[-1])
    ratio = float(np.exp(min(new - old, 50.0)))
    formula = (
        f"θ′ = {vector(tried[-1])}: r = g(θ′)/g(θ) = exp({number(new)} − ({number(old)})) = "
        f"{number(min(ratio, 1e6))}; u ≤ min(1, r)? "
        + ("yes, move" if yes[-1] else f"no, stay at {vector(before)}")
    )
    recent, refused = draws[-SHOWN:], tried[-SHOWN:][~yes[-SHOWN:]][-40:]
    move, colour = (before, tried[-1]), "accent" if yes[-1] else "warn"
    ends = [[v] for place in move for v in place]
    marks = [
        line(*draws[-ONE_BY_ONE:].T, colour="quiet", width=0.8),
        points(*recent.T, group=0, size=0.6, label="accepted"),
        points(*refused.T, group="warn", size=0.6, label="rejected"),
        segments(*ends, arrow=True, width=1.6, colour=colour, dashed=not yes[-1], label="tried"),
        now_at(draws[-1]),
    ]
    means = {f"mean {name}": float(draws[:, j].mean()) for j, name in enumerate(target.names)}
    numbers = {"moves": t, "accepted": f"{int(yes.sum())} of {t}"}
    numbers |= {"log r": float(max(new - old, -1e6)), **means}
    alt = "The rows and the last draws of the parameters."
    scene = [
        plane("data", target.draw(draws[-LINES:]), box=rows.box, alt=alt),
        parameter_plane(target, marks, f"The walk after {t} moves."),
        trace_panel(target, draws, chains.draws.shape[1]),
    ]
    objective, held_out = -float(chains.log_density[0, t - 1]), target.held_out(draws[-1])
    return Frame(step, objective, None, formula, numbers, {"panels": scene}, held_out)


def trace_panel(target: Target, draws: Any, n: int) -> Any:
    kept = np.unique(np.linspace(0, len(draws) - 1, 300).round().astype(int))
    marks, title = [line(kept + 1, draws[kept, 0], width=1.0)], f"{target.names[0]}, move by move"
    box = (0, n, target.box[0], target.box[1])
    alt = "The first parameter against the number of moves."
    return plane("trace", marks, title=title, x="move", y=target.names[0], box=box, alt=alt)


def verdict(target: Target, chains: Any) -> str:
    """What the chain saw of the posterior."""
    draws = chains.draws[0]
    words = f"{number(chains.acceptance_rate[0])} of {len(draws)} moves were accepted; "
    if len(draws) >= 8:
        worth = number(float(np.min(chains.ess)), 2)
        words += f"the draws are worth about {worth} independent ones. "
    if target.names[0] == "m₁":
        share = number(float((draws[:, 0] < draws[:, 1]).mean()))
        return f"{words}By symmetry m₁ < m₂ has probability 0.5; the chain says {share}."
    half = draws[len(draws) // 2 :]
    return f"{words}The mean of the second half is {vector(half.mean(axis=0))}."
