"""A week of observations under a hidden Markov model: its passes, day by day, and their picture."""

from typing import Any, NamedTuple

import numpy as np

from pellucid import HiddenMarkovModel
from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import number, short, sub
from pellucid.lab.scene import Panel, graph, line, plane, points, rule
from pellucid.lab.trace import Frame

DAYS = 6
STATES, SEEN = ("rain", "dry"), ("umbrella", "no umbrella")


class Week(NamedTuple):
    """The days that are known, and what the model says of them."""

    model: HiddenMarkovModel
    told: list[Any]
    B: Array  # (T, 2) P(seen | rain), P(seen | dry); ones on a day that nobody wrote down
    before: Any  # (T,) P(rain) from the days before
    filtered: Any  # (T, 2)
    smoothed: Any  # (T, 2)
    path: Any  # (T,)
    share: float  # P(path | all days)

    @classmethod
    def of(cls, model: HiddenMarkovModel, told: list[Any]) -> "Week":
        """The three answers of the model."""
        B = np.array([[1.0, 1.0] if day is None else like(model, day) for day in told])
        filtered, smoothed = model.filter([told])[0], model.smooth([told])[0]
        before = np.r_[0.5, filtered[:-1] @ model.transition_[:, 0]]
        path = model.predict([told])[0]
        share = float(np.exp(joint(model, B, path) - model.score([told])))
        return cls(model, told, B, before, filtered, smoothed, path, share)

    def word(self, t: int) -> str:
        return self.told[t] or "not written down"


def like(model: HiddenMarkovModel, day: str) -> Any:
    return model.probabilities_[:, SEEN.index(day)]


def joint(model: HiddenMarkovModel, B: Array, path: Any) -> float:
    """log P(path, days)."""
    moves = model.transition_[path[:-1], path[1:]]
    parts = (model.initial_[path[0]], *B[np.arange(len(path)), path], *moves)
    return float(np.log(parts).sum())


def net(week: Week, belief: Any, now: int | None, *, path: Any = (), title: str) -> Panel:
    """Two hidden states a day, what was seen below; a state is as dark as it is probable."""
    nodes, edges = [], []
    T, lit = len(week.told), {(t, int(k)) for t, k in path}
    for t in range(DAYS):
        known = t < T and not np.isnan(belief[t])
        for k, name in enumerate(STATES):
            p = (belief[t] if k == 0 else 1 - belief[t]) if known else None
            label, x, y = name if p is None else f"{name}\n{p:.2f}", t + 1.0, 2.0 - k
            shade = 0.0 if p is None else 0.69 * p  # letters stay dark
            nodes.append({"x": x, "y": y, "label": label, "round": True, "shade": shade})
            nodes[-1] |= {"lit": (t, k) in lit, "colour": k}
        said = {"umbrella": "☂", "no umbrella": "none"}.get(str(week.told[t]) if t < T else "", "?")
        seen = {"x": t + 1.0, "y": 0.0, "label": f"day{t + 1}\n{said}", "lit": t == now}
        nodes.append(seen | {"colour": "warn" if said == "☂" else None, "shade": 0.0})
    for t in range(DAYS - 1):
        for a in range(2):
            for b in range(2):
                on = (t, a) in lit and (t + 1, b) in lit
                edges.append({"source": 3 * t + a, "target": 3 * t + 3 + b, "lit": on})
    alt = "Hidden states of each day with their probabilities, arrows from day to day, and what "
    return graph("days", nodes, edges, title=title, alt=alt + "was seen.")


def curve(week: Week, upto: int, since: int | None = None, path: Any = None) -> Panel:
    """P(rain) by day: what was known that evening, and what is known with hindsight."""
    day = np.arange(1, len(week.told) + 1)
    marks = [rule(y=0.5)]
    filtered, smoothed = week.filtered[:, 0], week.smoothed[:, 0]
    marks += curve_of(day[: upto + 1], filtered[: upto + 1], "accent", "a: that evening")
    if since is not None:
        marks += curve_of(day[since:], smoothed[since:], 1, "s: with hindsight")
    if path is not None:
        marks.append(points(day, 1.0 - path, group=2, size=1.1, label="best path"))
    box, alt = (0.6, DAYS + 0.4, -0.07, 1.07), "The probability of rain on every day."
    return plane("beliefs by day", marks, title="P(rain)", x="day", y="P(rain)", box=box, alt=alt)


def curve_of(x: Any, y: Any, colour: Any, label: str) -> list[Any]:
    return [line(x, y, colour=colour, label=label), points(x, y, group=colour, size=0.9)]


def shown(values: Any, upto: int) -> Any:
    """The values up to a day, nothing after it."""
    return np.where(np.arange(len(values)) <= upto, values, np.nan)


def forward(week: Week) -> list[Frame]:
    """a_t = P(rain on day t | days 1..t)."""
    stay, frames = float(week.model.transition_[0, 0]), []
    for t in range(len(week.told)):
        a, prior = float(week.filtered[t, 0]), float(week.before[t])
        r, d = week.B[t]
        guess = f"day 1, {week.word(t)}: P(rain) = 0.5 at first"
        if t:
            last = float(week.filtered[t - 1, 0])
            parts = f"{number(stay)}·{number(last)} + {number(1 - stay)}·{number(1 - last)}"
            guess = f"day {t + 1}, {week.word(t)}: before it P(rain) = {parts} = {number(prior)}"
        top = f"{number(prior)}·{number(r)}"
        news = f"a{sub(t + 1)} = {top} / ({top} + {number(1 - prior)}·{number(d)}) = {number(a)}"
        log_p = float(model_score(week, t))
        numbers = {"day": t + 1, "seen": week.word(t), "P(rain) before": short(prior)}
        numbers["P(rain) now"] = short(a)
        title = f"Forwards: what is known on the evening of day {t + 1}"
        belief = shown(week.filtered[:, 0], t)
        panels = [net(week, belief, t, title=title), curve(week, t)]
        frames.append(Frame(t, log_p, None, f"{guess}; {news}", numbers, {"panels": panels}))
    return frames


def model_score(week: Week, t: int) -> float:
    """log P of the days up to t; a day that is not known adds nothing."""
    told = week.told[: t + 1]
    return 0.0 if all(day is None for day in told) else float(week.model.score([told]))


def backward(week: Week) -> list[Frame]:
    """s_t = a_t b_t: the later days weigh each state of day t."""
    T, A = len(week.told), week.model.transition_
    frames: list[Frame] = []
    total = float(week.model.score([week.told]))
    for t in range(T - 1, -1, -1):
        a, s = float(week.filtered[t, 0]), float(week.smoothed[t, 0])
        if t == T - 1:
            rule_, b = f"day {T}: nothing comes after it, so b{sub(T)} = 1", 1.0
        else:
            ahead = week.smoothed[t + 1] / week.filtered[t + 1]  # b of the day after
            c = float(week.before[t + 1] * week.B[t + 1, 0])
            c += float((1 - week.before[t + 1]) * week.B[t + 1, 1])
            b = float(A[0] @ (week.B[t + 1] * ahead)) / c
            terms = [
                f"{number(A[0, k])}·{number(week.B[t + 1, k])}·{number(ahead[k])}" for k in (0, 1)
            ]
            rule_ = f"day {t + 1} looks back from day {t + 2}: "
            rule_ += f"b{sub(t + 1)} = ({' + '.join(terms)}) / {number(c)} = {number(b)}"
        formula = f"{rule_}; s{sub(t + 1)} = a{sub(t + 1)} b{sub(t + 1)} = "
        formula += f"{number(a)}·{number(b)} = {number(s)}"
        numbers = {"day": t + 1, "seen": week.word(t), "P(rain) that evening": short(a)}
        numbers |= {"P(rain) with hindsight": short(s), "b": short(b)}
        title = f"Backwards: day {t + 1} with hindsight"
        now = np.where(np.arange(T) >= t, week.smoothed[:, 0], week.filtered[:, 0])
        panels = [net(week, now, t, title=title), curve(week, T - 1, t)]
        frames.append(Frame(len(frames) + T, total, None, formula, numbers, {"panels": panels}))
    return frames


def best_path(week: Week) -> list[Frame]:
    """v_t(k), the probability of the best path that ends in state k on day t."""
    T, A, B = len(week.told), week.model.transition_, week.B
    total, first = float(week.model.score([week.told])), 2 * T
    v, frames = week.model.initial_ * B[0], []
    come = np.zeros((T, 2), int)
    for t in range(T):
        words = [f"{number(0.5)}·{number(B[0, k])}" for k in (0, 1)]
        if t:
            via = v[:, None] * A  # (from, to)
            come[t] = via.argmax(axis=0)
            words = [
                f"max({number(v[0])}·{number(A[0, k])}, {number(v[1])}·{number(A[1, k])})"
                f"·{number(B[t, k])}"
                for k in (0, 1)
            ]
            v = via.max(axis=0) * B[t]
        so_far = [int(v.argmax())]
        for u in range(t, 0, -1):
            so_far.append(int(come[u, so_far[-1]]))
        so_far = so_far[::-1]
        formula = f"best path to day {t + 1}: v(rain) = {words[0]} = {number(v[0])}; "
        formula += f"v(dry) = {words[1]} = {number(v[1])}"
        numbers = {"day": t + 1, "best path so far": " ".join(STATES[k] for k in so_far)}
        numbers["its probability with the days"] = short(float(v.max()))
        title = f"Best path to day {t + 1}"
        lit = list(enumerate(so_far))
        panels = [
            net(week, week.smoothed[:, 0], t, path=lit, title=title),
            curve(week, T - 1, 0, week.path if t == T - 1 else None),
        ]
        frames.append(Frame(first + t, total, None, formula, numbers, {"panels": panels}))
    alone = week.smoothed.argmax(axis=1)
    numbers = {"best path": " ".join(STATES[k] for k in week.path), "its share": short(week.share)}
    numbers["likeliest day by day"] = " ".join(STATES[k] for k in alone)
    numbers["days on which they differ"] = int((alone != week.path).sum())
    both, all_ = float(np.exp(joint(week.model, B, week.path))), float(np.exp(total))
    formula = (
        f"walk back from the better end: P(path | all days) = {number(both)} / {number(all_)} = "
        f"{number(week.share)}"
    )
    lit = list(enumerate(week.path.tolist()))
    net_ = net(week, week.smoothed[:, 0], None, path=lit, title="The best path of the week")
    panels = [net_, curve(week, T - 1, 0, week.path)]
    frames.append(Frame(first + T, total, None, formula, numbers, {"panels": panels}))
    return frames
