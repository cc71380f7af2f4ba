"""Rows to train, to validate and to test: how many, and where they lie in the file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import IntArray
from pellucid.plots.panels.marks import thinned, write
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend

NAMES = {2: ("train", "test"), 3: ("train", "validation", "test")}
ROOM = 0.1  # share of the rows that leaves room for words
TINTS = {"train": 0, "validation": 4, "test": 1}


class SplitBar(Panel, size=(7.0, 2.6)):
    names: tuple[str, ...]
    counts: IntArray  # (parts,)
    rows: IntArray  # (m,) row numbers
    part: IntArray  # (m,) place of their part in ``names``

    def _draw(self, ax: Axes) -> None:
        """Above: the parts by size. Below: the parts in the order of the rows."""
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Patch

        n, start = int(self.counts.sum()), 0
        tints = [colour(TINTS.get(name, i)) for i, name in enumerate(self.names)]
        for i, name in enumerate(self.names):
            count = int(self.counts[i])
            ax.barh(1.0, count, left=start, height=0.8, color=tints[i], ec="white")
            if count / n >= ROOM:
                x, words_ = start + count / 2, f"{name}\n{count:,} rows\n{count / n:.0%}"
                write(ax, x, 1.0, words_, color="black" if tints[i] == colour(4) else "white")
            start += count
        strip = np.array([to_rgb(tint) for tint in tints])[self.part]
        ax.imshow(strip[None], extent=(0, n, -0.15, 0.35), aspect="auto", interpolation="nearest")
        ax.set(xlim=(0, n), ylim=(-0.25, 1.75), xlabel="rows")
        ax.set_yticks([1.0, 0.1], ["by size", "by row number"])
        ax.grid(False)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        heading(ax, f"{n:,} rows in {int((self.counts > 0).sum())} parts")
        if (self.counts < ROOM * n).any():  # too narrow for words
            said = [f"{a}: {c:,}" for a, c in zip(self.names, self.counts, strict=True)]
            pairs = zip(tints, said, strict=True)
            handles = [Patch(color=tint, label=text) for tint, text in pairs]
            legend(ax, handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def split_bar(split: Any) -> SplitBar:
    """The parts of a split as a bar, and where their rows lie.

    ``split``: ThreeWaySplit, pair (train, test), triple, or dictionary of name -> row numbers.

    Examples
    --------
    >>> from pellucid.evaluation import three_way_split
    >>> picture = split_bar(three_way_split(10, random_state=0))
    >>> picture.names, picture.counts
    (('train', 'validation', 'test'), array([6, 2, 2]))
    """
    if isinstance(split, Mapping):
        names, parts = tuple(map(str, split)), list(split.values())
    elif isinstance(split, tuple | list) and len(split) in NAMES:
        names, parts = NAMES[len(split)], list(split)
    else:
        raise ValueError(
            "split must be a ThreeWaySplit, a pair (train, test) or a dictionary of row numbers, "
            f"got {type(split).__name__}"
        )
    rows = [np.asarray(part, dtype=np.intp).ravel() for part in parts]
    every = np.concatenate(rows) if rows else np.empty(0, dtype=np.intp)
    if not len(every):
        raise ValueError("the split has no rows")
    if len(np.unique(every)) != len(every):
        raise ValueError("a row lies in two parts of the split, or twice in one")
    counts = np.array([len(part) for part in rows])
    order = np.argsort(every)
    kept = order[thinned(len(every))]
    code = np.repeat(np.arange(len(rows)), counts)
    said = [f"{name} {c}" for name, c in zip(names, counts.tolist(), strict=True)]
    alt = f"{len(every)} rows in parts: {', '.join(said)}."
    return SplitBar(alt, names, counts, every[kept], code[kept])
