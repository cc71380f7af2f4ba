"""What a scene of a story says, held against the frames that it is about."""

import re

from pellucid.lab.page import make_trace

TRACES = {}


def trace_of(page, name):
    """The trace of a preset, made once."""
    if (page.name, name) not in TRACES:
        place = [preset.name for preset in page.presets].index(name)
        TRACES[page.name, name] = make_trace(page, place)
    return TRACES[page.name, name]


class Frames:
    """The numbers of a run, as a scene's ``true`` asks for them."""

    def __init__(self, trace):
        self.frames, self.last = trace.frames, len(trace.frames) - 1

    def n(self, k, name):
        return self.frames[k].numbers[name]

    def J(self, k):  # noqa: N802
        return self.frames[k].objective

    def held(self, k):
        return self.frames[k].held_out


def holds(page, scene):
    """Whether what must be true of the frames is."""
    trace = trace_of(page, scene.preset)
    mine = Frames(trace)
    known = {"n": mine.n, "J": mine.J, "held": mine.held, "last": mine.last,
             "verdict": trace.verdict, "of": lambda name: Frames(trace_of(page, name))}  # fmt: skip
    return eval(scene.true, known)


def unknown_numbers(page, scene):
    """Names in braces that the frame has no number for."""
    frames = trace_of(page, scene.preset).frames
    missing = []
    asked, answered = scene.question.text, scene.question.why
    for text, at in ((scene.say, scene.at), (asked, scene.at), (answered, scene.to),
                     *((option, scene.at) for option in scene.question.options)):  # fmt: skip
        for where, name in re.findall(r"\{(?:(-?\d+): )?([^{}]+)\}", text):
            frame = frames[int(where) if where else at]
            known = {**frame.numbers, "J": frame.objective, "held out": frame.held_out}
            if known.get(name) is None:
                missing.append((where or at, name))
    return missing
