"""Rounds of the game between a forger and a detective, and their picture."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import braced, number, short
from pellucid.lab.scene import Panel, bars, line, plane, points, rule
from pellucid.lab.trace import Frame
from pellucid.textbook.networks.adversarial_network import rounds

SHOWN, ROWS = 36, 400
FARTHEST = 50.0  # a player beyond has run away
LEAST = 1e-300  # a density below counts as none
NARROW = 1e-3  # a forged bump is drawn at least so wide


class Game(NamedTuple):
    """The real numbers, what they come from, and the players after every round."""

    X: Array
    middles: list[float]
    spread: float
    rate: float
    states: list[Any]
    ran_away: bool

    @classmethod
    def of(cls, params: dict[str, Any], seed: int) -> "Game":
        middle = params["middle"]
        middles = [middle] if params["real"] == "one bump" else [-middle, middle]
        rng = np.random.default_rng(seed)
        X = rng.normal(rng.choice(middles, size=ROWS), params["spread"])
        game, states = rounds(X, params["rate"], rng), []
        for state in game:
            states.append(state)
            away = max(abs(state.a), abs(state.s)) > FARTHEST
            if away or len(states) > params["rounds"]:
                break
        return cls(X, middles, params["spread"], params["rate"], states, away)

    def real(self, x: Array) -> Array:
        return np.mean([bump(x, m, self.spread) for m in self.middles], axis=0)


def bump(x: Array, middle: float, spread: float) -> Array:
    """The density of a normal law."""
    return np.exp(-(((x - middle) / spread) ** 2) / 2) / (spread * (2 * np.pi) ** 0.5)


def forged(x: Array, state: Any) -> Array:
    return bump(x, state.a, max(abs(state.s), NARROW))


def sigma(z: Array) -> Array:
    return 0.5 * (1 + np.tanh(z / 2))


def apart(game: Game, state: Any) -> float:
    """Jensen and Shannon's distance of the forged from the real law, from 0 to ln 2."""
    x = np.linspace(-FARTHEST, FARTHEST, 4001)
    p, q = game.real(x), forged(x, state)
    p, q = p / p.sum(), q / max(float(q.sum()), 1e-300)
    m = (p + q) / 2
    return sum(float(f[f > LEAST] @ np.log(f[f > LEAST] / m[f > LEAST])) for f in (p, q)) / 2


def frames(game: Game) -> list[Frame]:
    last = len(game.states) - 1
    places = np.r_[0, np.geomspace(1, last, SHOWN), np.linspace(1, last, 12)]
    return [frame(game, int(k)) for k in np.unique(places.round().astype(int))]


def reach(game: Game) -> tuple[float, float]:
    """The stretch of the axis that is shown."""
    seen = [s.a for s in game.states if abs(s.a) < 12] + game.X.tolist()
    return min(seen) - 2.0, max(seen) + 2.0


def still(game: Game) -> list[Panel]:
    """The real numbers as bars, and the panels that the frames draw into."""
    low, high = reach(game)
    counts, edges = np.histogram(game.X, np.linspace(game.X.min(), game.X.max(), 25), density=True)
    middle, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
    marks = [bars(middle, counts, colour="quiet", width=width, label="real")]
    title, alt = "Real numbers and the forger's", "A histogram of real numbers and a forged bump."
    box = (low, high, 0.0, 2.2 * float(counts.max()))
    laws = plane("laws", marks, title=title, x="x", y="density", box=box, alt=alt)
    title, alt = "The detective: D(x) = P(real)", "What the detective says at every place."
    marks = [rule(y=0.5, label="cannot tell")]
    look: dict[str, Any] = {"x": "x", "y": "D(x)", "box": (low, high, -0.03, 1.03)}
    detective = plane("detective", marks, title=title, alt=alt, **look)
    a = [s.a for s in game.states if abs(s.a) < 12]
    s = [s.s for s in game.states if abs(s.a) < 12]
    marks = [rule(y=0.0)]
    if len(game.middles) == 1:
        goal = points(game.middles, [game.spread], group="warn", ring=[True], label="the real one")
        marks.append(goal)
    box = (min(a) - 0.5, max([*a, *game.middles]) + 0.5, min(s) - 0.3, max([*s, game.spread]) + 0.3)
    title, alt = "The forger's way", "Middle and spread of the forged numbers, round by round."
    way = plane("way", marks, title=title, x="a", y="s", box=box, alt=alt)
    return [laws, detective, way]


def frame(game: Game, k: int) -> Frame:
    """The players after k rounds."""
    state = game.states[k]
    a, s, D = float(state.a), float(state.s), np.asarray(state.D)
    begins = f"start: G(z) = {number(a)} + {number(s)} z, D = ½ everywhere"
    if k:
        old, rate = game.states[k - 1], game.rate
        pushes = [(new - before) / rate for new, before in ((a, old.a), (s, old.s))]
        begins = (
            f"round {k}: G climbs: a ← {number(old.a)} + {number(rate)} · {braced(pushes[0])} = "
            f"{number(a)}, s ← {number(old.s)} + {number(rate)} · {braced(pushes[1])} = {number(s)}"
        )
    at = float(sigma(np.array(D @ [1.0, a, a * a])))
    away = apart(game, state)
    powers = ("", f"·{braced(a)}", f"·{braced(a * a)}")
    terms = " + ".join(f"{braced(float(c))}{x}" for c, x in zip(D, powers, strict=True))
    formula = (
        f"{begins}; D(a) = σ(u + v a + w a²) = σ({terms}) = {number(at)}; "
        f"distance of forged from real {number(away)}"
    )
    numbers: dict[str, Any] = {"round": k, "a": short(a), "s": short(s)}
    numbers |= {"D at the forger's middle": short(at), "distance": short(away)}
    numbers["loss of the detective (1.386: a guess)"] = short(float(state.detective_loss))
    numbers["loss of the forger (0.693: a guess)"] = short(float(state.forger_loss))
    share = hidden(game, state)
    if share is not None:
        numbers["forged where nothing is real"] = short(share)
    panels = [laws_panel(game, state), detective_panel(game, state), way_panel(game, k)]
    return Frame(k, away, None, formula, numbers, {"panels": panels})


def hidden(game: Game, state: Any) -> float | None:
    """The share of forged numbers farther than three spreads from every real middle."""
    x = np.linspace(-FARTHEST, FARTHEST, 4001)
    q = forged(x, state)
    far = np.all([np.abs(x - m) > 3 * game.spread for m in game.middles], axis=0)
    total = float(q.sum())
    return round(float(q[far].sum() / total), 12) if total > 0 else None


def laws_panel(game: Game, state: Any) -> Panel:
    x = np.linspace(*reach(game), 240)
    return plane("laws", [line(x, forged(x, state), label="G: forged", width=2.4)])


def detective_panel(game: Game, state: Any) -> Panel:
    x = np.linspace(*reach(game), 160)
    p, q = game.real(x), forged(x, state)
    known = p + q > 1e-9
    best = np.where(known, p / np.where(known, p + q, 1.0), np.nan)
    D = sigma(np.stack([np.ones_like(x), x, x**2], axis=1) @ state.D)
    marks = [
        line(x, best, colour="quiet", dashed=True, label="best answer p / (p + q)"),
        line(x, D, colour="warn", label="D(x)"),
    ]
    return plane("detective", marks)


def way_panel(game: Game, k: int) -> Panel:
    way = game.states[: k + 1]
    a, s = np.array([w.a for w in way]), np.array([w.s for w in way])
    every = max(1, len(a) // 300)
    marks = [line(a[::every], s[::every], colour="accent", width=1.2, label="its way")]
    marks.append(points(a[-1:], s[-1:], group="accent", size=1.3, label="now"))
    return plane("way", marks)
