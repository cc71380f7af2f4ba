"""A hidden Markov model: the weather behind a week of umbrellas, forwards, backwards, best path.

What breaks it: observations that are as likely in one state as in the other.
"""

from typing import Any

import numpy as np

from pellucid.graphical.sequences.hidden_markov import HiddenMarkovModel
from pellucid.lab.controls import choice, slider
from pellucid.lab.drawing import number
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.sequences import parts
from pellucid.lab.pages.sequences.parts import DAYS, SEEN, STATES, Week
from pellucid.lab.trace import Trace

TITLE, OBJECTIVE = "The weather behind the umbrellas", "log-probability of the days used so far"
CODE = """from pellucid import HiddenMarkovModel

model = HiddenMarkovModel.from_parameters(
    [0.5, 0.5],  # rain, dry
    {transition!r},
    probabilities={probabilities!r},
    categories={seen!r},
)
days = [{days!r}]
filtered, smoothed, path = model.filter(days), model.smooth(days), model.predict(days)
objective = float(model.score(days))
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """One frame per day forwards, one per day backwards, one per day of the best path."""
    days = [params[f"seen_day{t}"] for t in range(1, DAYS + 1)]
    told = [None if day == "unknown" else day for day in days]
    while told and told[-1] is None:
        told.pop()  # days after the last one that is known say nothing
    if not told:
        raise ValueError("no day is known: click a day to say what was seen")
    stay, rain, dry = (params[name] for name in ("stay", "rain", "dry"))
    transition = [[stay, round(1 - stay, 4)], [round(1 - stay, 4), stay]]
    shown = [[rain, round(1 - rain, 4)], [dry, round(1 - dry, 4)]]
    model = HiddenMarkovModel.from_parameters(
        [0.5, 0.5], transition, probabilities=shown, categories=SEEN
    )
    week = Week.of(model, told)
    frames = (*parts.forward(week), *parts.backward(week), *parts.best_path(week))
    made = CODE.format(transition=transition, probabilities=shown, seen=list(SEEN), days=told)
    card, data_ = model.card().to_dict(), {"kind": "none", "panels": []}
    words = (TITLE, OBJECTIVE, verdict(week), made)
    return Trace("HiddenMarkovModel", params, data_, card, frames, *words)


def verdict(week: Week) -> str:
    """A sentence for the end."""
    path = ", ".join(STATES[k] for k in week.path)
    alone = week.smoothed.argmax(axis=1)
    words = f"The best path is {path}; of all {2 ** len(week.told)} paths it has the share "
    words += f"{number(week.share)}."
    if (np.ptp(week.filtered, axis=0) < 1e-9).all():
        return "Every belief stayed at one half: what is seen does not depend on the weather."
    if not np.array_equal(alone, week.path):
        words += " Day by day the likeliest states are others: a path must fit as a whole."
    return words


SUMMARY = """
The weather is hidden, the umbrella is seen. One pass forwards gives what is known so far, one
backwards what the later days add, and the best path explains the week as a whole.
"""
DEFAULTS = ("umbrella", "umbrella", "no umbrella", "umbrella", "umbrella", "no umbrella")
CONTROLS = (
    choice("method", "Method", ("passes",)),
    slider("stay", "P(tomorrow's weather is today's)", 0.7, 0.05, 0.95, 0.05),
    slider("rain", "P(umbrella | rain)", 0.9, 0.05, 0.95, 0.05),
    slider("dry", "P(umbrella | dry)", 0.2, 0.05, 0.95, 0.05),
    *(
        choice(f"seen_day{t}", f"Day {t}", ("unknown", *SEEN), default)
        for t, default in enumerate(DEFAULTS, 1)
    ),
)
PRESETS = read_presets(
    """
A week of umbrellas | Weather stays as it is with 0.7; an umbrella is seen on nine rainy days of
    ten and on two dry ones of ten.
Weather that lasts | The same days, but the weather stays with 0.95: one day without an umbrella is
    no longer enough.
A forgotten day | Nobody wrote down day 3. It is summed out, and its neighbours speak for it.
! An umbrella that says nothing | The umbrella is as likely when it is dry: no number of days
    teaches anything.
""",
    given(),
    given(stay=0.95),
    given(seen_day3="unknown"),
    given(rain=0.6, dry=0.6),
)
PAGE = make_page("sequences", "none", run, SUMMARY, CONTROLS, PRESETS)
