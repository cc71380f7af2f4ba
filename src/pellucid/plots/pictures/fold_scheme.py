"""How a splitter cuts the rows: a line per fold, which rows train and which test."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from pellucid.core import check
from pellucid.core.typing import IntArray
from pellucid.evaluation.folds import splitter_of
from pellucid.plots.style import axes, colour, heading, legend, thinned

MOST_FOLDS = 25
MOST_ROWS = 2000
TEST, IDLE = -1, 0


@dataclass(frozen=True)
class FoldScheme:
    """-1 tests, 0 is not used, k >= 1 trains (k times, where rows are drawn again)."""

    use: IntArray  # (folds, m) of the folds and rows drawn
    rows: IntArray  # (m,) row numbers
    train: IntArray  # (all folds,) rows that train, with repetitions
    test: IntArray  # (all folds,)
    n: int
    strips: dict[str, IntArray]  # codes of class and group per row drawn
    name: str
    alt: str

    def plot(self, ax: Any = None) -> Any:
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Patch

        folds, strips = len(self.use), len(self.strips)
        ax = axes(ax, figsize=(7.0, 1.8 + 0.28 * (folds + strips)))
        train, test = np.array(to_rgb(colour(0))), np.array(to_rgb(colour(1)))
        cells = np.ones((*self.use.shape, 3)) * 0.94
        cells[self.use == TEST] = test
        most = max(int(self.use.max()), 1)
        for times in range(1, most + 1):
            depth = 0.65 if most == 1 else 0.3 + 0.7 * times / most
            cells[self.use == times] = 1 - depth * (1 - train)
        ax.imshow(
            cells, aspect="auto", interpolation="nearest", extent=(0, self.n, folds - 0.5, -0.5)
        )
        labels = [f"fold {i + 1}" for i in range(folds)]
        for s, (what, codes) in enumerate(self.strips.items()):
            tints = np.array([to_rgb(colour(2 + c % 6)) for c in codes.tolist()])
            y = folds + s
            ax.imshow(tints[None], aspect="auto", interpolation="nearest",
                      extent=(0, self.n, y + 0.4, y - 0.3))  # fmt: skip
            labels.append(what)
        for i in range(1, folds):
            ax.axhline(i - 0.5, color="white", lw=2)
        ax.set(xlim=(0, self.n), ylim=(folds + strips - 0.5, -0.5), xlabel="row number")
        ax.set_yticks(range(folds + strips), labels)
        ax.tick_params(axis="y", length=0)
        ax.grid(False)
        ax.spines["left"].set_visible(False)
        more = len(self.train) - folds
        note = f"the first {folds} of {len(self.train)} folds" if more else ""
        heading(ax, f"{self.name}: {self._sizes()}", note)
        word = "trains" if most == 1 else "trains (darker: drawn more often)"
        handles = [Patch(color=1 - (0.65 if most == 1 else 0.8) * (1 - train), label=word),
                   Patch(color=test, label="tests")]  # fmt: skip
        if (self.use == IDLE).any():
            handles.append(Patch(color=(0.94,) * 3, label="not used"))
        legend(ax, handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return ax

    def _sizes(self) -> str:
        return f"{_span(self.train)} rows train, {_span(self.test)} test"


def _span(counts: IntArray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low} to {high}"


def fold_scheme(cv: Any, n: Any, *, y: Any = None, groups: Any = None) -> FoldScheme:
    """Which rows every fold trains on and which it tests.

    Parameters
    ----------
    cv : int, splitter, or list of (train, test) row numbers
        k-fold, stratified, sequential (``TimeSeriesSplit``), bootstrap (``BootstrapSplit``), ...
    n : int or table
        Number of rows, or the data.
    y, groups : array of shape (n,), optional
        For splitters that look at them; classes and groups are drawn as strips of colour. With a
        whole number ``cv`` and classes in y the folds are stratified.

    Examples
    --------
    >>> picture = fold_scheme(3, 6)
    >>> picture.use
    array([[-1, -1,  1,  1,  1,  1],
           [ 1,  1, -1, -1,  1,  1],
           [ 1,  1,  1,  1, -1, -1]])
    """
    if isinstance(n, Integral):
        check.whole(n=n, at_least=2)
        X, count = np.zeros((int(n), 1)), int(n)
    else:
        X, count = n, _num_samples(n)
    for what, given in (("y", y), ("groups", groups)):
        if given is not None and len(given) != count:
            raise ValueError(f"{what} must have {count} entries, got {len(given)}")
    target = None if y is None else np.asarray(y)
    classes = target is not None and type_of_target(target) in ("binary", "multiclass")
    splitter = splitter_of(cv, target, classifier=classes)
    splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(X, target, groups)]
    if not splits:
        raise ValueError("the splitter makes no folds")
    use = np.zeros((min(len(splits), MOST_FOLDS), count), dtype=np.intp)
    for line, (train, test) in zip(use, splits, strict=False):
        np.add.at(line, train, 1)
        line[test] = TEST
    kept = thinned(count, MOST_ROWS)
    strips = {}
    for what, given in (("class", target if classes else None), ("group", groups)):
        if given is not None:
            strips[what] = np.unique(np.asarray(given), return_inverse=True)[1][kept]
    sizes = [np.array([len(pair[side]) for pair in splits]) for side in (0, 1)]
    name = "given folds" if isinstance(cv, list) else type(splitter).__name__
    alt = (
        f"{name} of {count} rows: {len(splits)} folds, {_span(sizes[0])} rows train and "
        f"{_span(sizes[1])} test."
    )
    return FoldScheme(use[:, kept], kept, sizes[0], sizes[1], count, strips, name, alt)
