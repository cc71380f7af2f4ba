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


FIGURE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
COUNTS = {str(k) for k in range(13)}  # one, two, three: words as much as numbers


def written(text):
    """Numbers that stand in words, without those that a frame fills in."""
    return {
        found for found in FIGURE.findall(re.sub(r"\{[^{}]*\}", "", text)) if found not in COUNTS
    }


def numbers_in(value):
    """All numbers that a frame, a table or a setting holds, however deep, also in its texts."""
    if isinstance(value, dict):
        return {n for part in value.values() for n in numbers_in(part)}
    if isinstance(value, str):
        return {abs(float(n)) for n in re.findall(r"\d+(?:\.\d+)?(?:e[-−+]?\d+)?",
                                                  value.replace("−", "-"))}  # fmt: skip
    if isinstance(value, bool | None):
        return set()
    if isinstance(value, int | float):
        return {abs(float(value))}
    if isinstance(value, list | tuple) and len(value) < 60:
        return {n for part in value for n in numbers_in(part)}
    return set()


def unbound_numbers(page, scene):
    """Numbers written into the words of a scene that nothing on the screen or in ``true`` says."""
    trace = trace_of(page, scene.preset)
    preset = next(one for one in page.presets if one.name == scene.preset)
    held = trace.data.get("held_out")
    rows = trace.data.get("X")
    known = numbers_in([scene.true, preset.words, trace.verdict, dict(trace.params)])
    known |= {float(len(trace.frames) - 1)}
    if rows is not None:
        out = 0 if held is None else int(sum(held))
        known |= {float(len(rows)), float(len(rows) - out), float(out)}
    for frame in trace.frames:
        known |= numbers_in([frame.formula, frame.objective, frame.held_out, frame.numbers])
        known |= numbers_in(list(frame.numbers))
    for panel in trace.data.get("panels", []):
        known |= numbers_in({key: panel.get(key) for key in ("title", "rows", "columns", "box")})
    asked = scene.question
    said = " | ".join([scene.say, asked.text, *(o for k, o in enumerate(asked.options)
                                                if k == asked.answer), asked.why])  # fmt: skip
    return {figure for figure in written(said) if not any(same(figure, n) for n in known)}


def same(figure, value):
    """Whether a written figure is that number, as far as its digits go; shares may be percent."""
    digits = len(figure.partition(".")[2])
    return any(abs(float(figure) - v) <= 0.5000001 * 10**-digits for v in (value, 100 * value))
