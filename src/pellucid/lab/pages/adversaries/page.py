"""Adversaries: a forger of numbers and a detective learn from each other, and circle.

The game is that of ``pellucid.textbook``; a test holds its losses equal to those of
``pellucid.deep``, whose players have layers, in PyTorch.
What breaks it: a forger who can only make one bump, and steps too long.
"""

from typing import Any

import numpy as np

from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import number
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.adversaries import parts
from pellucid.lab.pages.adversaries.parts import FARTHEST, Game
from pellucid.lab.trace import Trace

OBJECTIVE = "distance of forged from real (Jensen–Shannon; ln 2: nothing in common)"
CODE = """import numpy as np
{hushed}
from scipy.stats import norm
from pellucid.textbook.networks.adversarial_network import rounds

rng = np.random.default_rng({seed})
middles = {middles}
X = rng.normal(rng.choice(middles, size=400), {spread!r})
game = rounds(X, {rate!r}, rng)
result = [next(game) for _ in range({n} + 1)][-1]
x = np.linspace(-{far}, {far}, 4001)
p = np.mean([norm.pdf(x, m, {spread!r}) for m in middles], axis=0)
q = norm.pdf(x, result.a, max(abs(result.s), 1e-3))
p, q = p / p.sum(), q / q.sum()
m = (p + q) / 2
parts = ((f[f > 1e-300], m[f > 1e-300]) for f in (p, q))
objective = sum(float(f @ np.log(f / half)) for f, half in parts) / 2
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Rounds of the game; not all are shown."""
    with np.errstate(all="ignore"):  # players who run away leave the numbers
        game = Game.of(params, seed)
        frames = parts.frames(game)
    said: dict[str, Any] = {
        "seed": seed,
        "rate": game.rate,
        "n": len(game.states) - 1,
        "far": FARTHEST,
    }
    said["hushed"] = 'np.seterr(all="ignore")  # they run away' if game.ran_away else ""
    code = CODE.format(middles=game.middles, spread=game.spread, **said)
    card = {
        "representation": "G(z) = a + s z, z ~ N(0, 1); D(x) = σ(u + v x + w x²)",
        "evaluation": "D climbs E log D(x) + E log(1 − D(G)), G climbs E log D(G)",
        "optimisation": f"gradient steps in turn, η = {game.rate:g}, batches of 100",
    }
    words = ("A forger and a detective", OBJECTIVE, verdict(game, frames), code)
    shown = {"kind": "none", "panels": parts.still(game)}
    return Trace("adversarial_network", params, shown, card, tuple(frames), *words)


def verdict(game: Game, frames: list[Any]) -> str:
    """A sentence for the end."""
    last = frames[-1].numbers
    if game.ran_away:
        return f"After {last['round']} rounds the players have run away: a = {number(last['a'])}."
    least = min(abs(state.s) for state in game.states)
    words = f"The forger ends at a = {number(last['a'])}, s = {number(last['s'])}"
    if len(game.middles) > 1:
        share = last["forged where nothing is real"]
        return words + f": one bump over two; {share:.0%} of it lies where nothing is real."
    return words + f"; on its way s fell to {number(least)}: it made nearly always the same number."


SUMMARY = "One makes false numbers, one tells them from real ones. Each learns from the other."
CONTROLS = (
    choice("method", "Method", ("adversaries",)),
    choice("real", "Real numbers come from", ("one bump", "two bumps")),
    slider("middle", "Its middle (of two: on either side)", 2.0, -4.0, 4.0, 0.5),
    slider("spread", "Its spread", 0.7, 0.2, 2.0, 0.1),
    slider("rate", "Rate η of both", 0.1, 0.01, 1.0, 0.01, log=True),
    counter("rounds", "Rounds", 2000, 10, 3000, 10),
)
PRESETS = read_presets(
    """
Two players | Real numbers lie round 2, the forger begins round 0. Neither is told what is right:
    each only sees the other.
! Two bumps | The forger can make one bump. It lays it over both, and much of it falls between.
! Steps too long | Each overtakes the other, further every time.
""",
    given(),
    given(real="two bumps", spread=0.5),
    given(rate=0.5),
)
PAGE = make_page("adversaries", "none", run, SUMMARY, CONTROLS, PRESETS)
