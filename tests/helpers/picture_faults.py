"""The pictures of the examples in the docstrings, and what is wrong with a drawing.

``python tests/helpers/picture_faults.py [NAME ...]`` prints the faults; with ``--out FOLDER`` it
also saves the pictures to look at.
"""

import doctest
import functools
import importlib
import inspect
import sys
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.text import Text

from pellucid import plots

SMALL = (4.4, 3.3)  # inches of a figure with little room
LEAST = 7.0  # points of a text that can be read
OUTSIDE = 2.0  # pixels that a text may leave the figure by
TOUCH = 0.15  # share of the smaller text that another may cover
HIDDEN = 0.05  # share of the points that a legend may cover
NAMES = [name for name in plots.__all__ if name != "svg"]
# words in boxes: at their own size only
ROOM = ("agent_loop", "d_separation", "metropolis_flow", "taxonomy")
DEEP = ("attention", "embeddings", "feature_maps", "generated")


def pictures(name):
    """What the example of a picture makes, in order."""
    function, made = getattr(plots, name), []
    module = importlib.import_module(function.__module__)

    @functools.wraps(function)
    def spy(*args, **kwargs):
        made.append(function(*args, **kwargs))
        return made[-1]

    scope = {**vars(module), name: spy}
    setattr(plots, name, spy)
    try:
        for example in doctest.DocTestParser().get_examples(function.__doc__):
            exec(compile(example.source, name, "exec"), scope)
    finally:
        setattr(plots, name, function)
    return made


def drawn(picture, small=False):
    """The figure of a picture; ``small``: on axes of a small figure, None where it takes none."""
    if not small:
        found = picture.plot()
        figure = getattr(found, "figure", found)
    elif "ax" in inspect.signature(picture.plot).parameters:
        figure = plt.figure(figsize=SMALL, layout="constrained")
        try:
            picture.plot(figure.add_subplot(projection="3d" if needs_depth(picture) else None))
        except (TypeError, ValueError):
            return None  # it draws several panels, and says so
    else:
        return None
    figure.canvas.draw()
    return figure


def needs_depth(picture):
    """Whether a picture draws on axes with a third dimension."""
    found = picture.plot()
    deep = getattr(found, "name", "") == "3d"
    plt.close(getattr(found, "figure", found))
    return deep


def texts(figure):
    """(text, box in pixels) of everything written that can be seen."""
    silent, found = unseen(figure), []
    for text in figure.findobj(Text):
        shown = text.get_text().strip() and text.get_visible() and text.get_alpha() != 0
        if shown and id(text) not in silent:
            box = text.get_window_extent()
            if box.width > 0 and box.height > 0:
                found.append((text, box))
    return found


def unseen(figure):
    """Labels of hidden axes, and of ticks beyond the limits, which are not drawn."""
    found = set()
    for ax in figure.axes:
        for axis in (getattr(ax, name, None) for name in ("xaxis", "yaxis", "zaxis")):
            if axis is None:
                continue
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            labels = {id(t) for tick in ticks for t in (tick.label1, tick.label2)}
            on = ax.get_visible() and ax.axison and axis.get_visible()
            drawn = axis._update_ticks() if on else []
            found |= labels - {id(t) for tick in drawn for t in (tick.label1, tick.label2)}
            found |= set() if on else {id(axis.label), id(axis.offsetText)}
    return found


def overlap(a, b):
    """Share of the smaller box that the other covers."""
    wide = min(a.x1, b.x1) - max(a.x0, b.x0)
    tall = min(a.y1, b.y1) - max(a.y0, b.y0)
    if wide <= 0 or tall <= 0:
        return 0.0
    return wide * tall / min(a.width * a.height, b.width * b.height)


def points(ax):
    """Places of all marks on the axes, in pixels."""
    found = [
        c.get_offset_transform().transform(c.get_offsets())
        for c in ax.collections
        if len(c.get_offsets()) > 1
    ]
    for line in ax.lines:
        if line.get_marker() not in (None, "", "None", " ") and line.get_visible():
            found.append(line.get_transform().transform(line.get_xydata()))
    return np.concatenate(found) if found else np.empty((0, 2))


def faults(figure):
    """One sentence for each fault."""
    found, written = [], texts(figure)
    edge = figure.bbox
    for text, box in written:
        said = text.get_text().replace("\n", " / ")[:40]
        if text.get_fontsize() < LEAST:
            found.append(f"small: {said!r} has {text.get_fontsize():.1f} points")
        over = max(edge.x0 - box.x0, box.x1 - edge.x1, edge.y0 - box.y0, box.y1 - edge.y1)
        if over > OUTSIDE and type(text).__name__ != "Text3D":
            found.append(f"outside: {said!r} leaves the figure by {over:.0f} pixels")
    flat = [(t, b) for t, b in written if getattr(t.axes, "name", "") != "3d"]
    for (a, box_a), (b, box_b) in combinations(flat, 2):
        if (
            a.get_rotation() % 90 == 0
            and b.get_rotation() % 90 == 0
            and overlap(box_a, box_b) > TOUCH
        ):
            found.append(f"overlap: {a.get_text()[:30]!r} and {b.get_text()[:30]!r}")
    for ax in figure.axes:
        legend, at = ax.get_legend(), points(ax)
        if legend is not None and legend.get_visible() and len(at):
            box = legend.get_window_extent()
            share = np.mean([box.contains(x, y) for x, y in at])
            if share > HIDDEN:
                found.append(
                    f"legend: covers {share:.0%} of the points of {ax.get_title(loc='left')[:30]!r}"
                )
    return found


def main(arguments):
    out = Path(arguments.pop(arguments.index("--out") + 1)) if "--out" in arguments else None
    names = [name for name in arguments if name != "--out"] or [n for n in NAMES if n not in DEEP]
    for name in names:
        for i, picture in enumerate(pictures(name)):
            for small in (False,) if name in ROOM else (False, True):
                figure = drawn(picture, small)
                for fault in faults(figure) if figure else ():
                    print(f"{name} {i}{' small' if small else ''}: {fault}", flush=True)
                if out is not None and figure:
                    figure.savefig(out / f"{name}-{i}{'s' if small else ''}.png", dpi=80)
                plt.close("all")


if __name__ == "__main__":
    import matplotlib as mpl

    mpl.use("Agg")
    main(sys.argv[1:])
