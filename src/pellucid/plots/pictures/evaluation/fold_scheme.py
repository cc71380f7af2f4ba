"""How a splitter cuts the rows: a line per fold, which rows train and which test."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Folds, IntArray
from pellucid.evaluation.splits.folds import splitter_of
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading, legend

MOST_FOLDS = 15
MOST_ROWS = 2000
TEST, IDLE = -1, 0
UNUSED = 0.94  # grey of rows that a fold leaves out


class FoldScheme(Picture):
    """-1 tests, 0 is not used, k >= 1 trains (k times, where rows are drawn again)."""

    use: IntArray  # (folds, m) of the folds and rows drawn
    rows: IntArray  # (m,) row numbers
    train: IntArray  # (all folds,) rows that train, with repetitions
    test: IntArray  # (all folds,)
    n: int
    strips: dict[str, IntArray]  # codes of class and group per row drawn
    name: str

    def plot(self, ax: Axes | None = None) -> Any:
        from matplotlib.colors import to_rgb

        folds, strips = len(self.use), len(self.strips)
        ax = axes(ax, figsize=(7.0, 1.8 + 0.28 * (folds + strips)))
        extent = (0, self.n, folds - 0.5, -0.5)
        ax.imshow(self._cells(), aspect="auto", interpolation="nearest", extent=extent)
        for y, codes in enumerate(self.strips.values(), start=folds):
            tints = np.array([to_rgb(colour(2 + c % 6)) for c in codes.tolist()])
            extent = (0, self.n, y + 0.4, y - 0.3)
            ax.imshow(tints[None], aspect="auto", interpolation="nearest", extent=extent)
        for i in range(1, folds):
            ax.axhline(i - 0.5, color="white", lw=2)
        ax.set(xlim=(0, self.n), ylim=(folds + strips - 0.5, -0.5), xlabel="row number")
        labels = [*(f"fold {i + 1}" for i in range(folds)), *self.strips]
        ax.set_yticks(range(folds + strips), labels)
        ax.tick_params(axis="y", length=0)
        ax.grid(False)
        ax.spines["left"].set_visible(False)
        every = len(self.train)
        note = f"the first {folds} of {every} folds" if every > folds else ""
        heading(ax, f"{self.name}: {self._sizes()}", note)
        self._legend(ax)
        return ax

    def _times(self) -> int:
        """The most often that a row is drawn to train in one fold."""
        return max(int(self.use.max()), 1)

    def _cells(self) -> Array:
        """Colours (folds, m, 3)."""
        from matplotlib.colors import to_rgb

        cells = np.full((*self.use.shape, 3), UNUSED)
        cells[self.use == TEST] = to_rgb(colour(1))
        most = self._times()
        for times in range(1, most + 1):
            cells[self.use == times] = _blue(0.65 if most == 1 else 0.3 + 0.7 * times / most)
        return cells

    def _legend(self, ax: Axes) -> None:
        from matplotlib.patches import Patch

        once = self._times() == 1
        word = "trains" if once else "trains (darker:\ndrawn more often)"
        blue = Patch(color=_blue(0.65 if once else 0.8), label=word)
        handles = [blue, Patch(color=colour(1), label="tests")]
        if (self.use == IDLE).any():
            handles.append(Patch(color=(UNUSED, UNUSED, UNUSED), label="not used"))
        legend(ax, handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))

    def _sizes(self) -> str:
        return f"{_span(self.train)} rows train, {_span(self.test)} test"


def _blue(depth: float) -> tuple[float, float, float]:
    """The colour of training rows, from white (0) to full (1)."""
    from matplotlib.colors import to_rgb

    r, g, b = (1 - depth * (1 - part) for part in to_rgb(colour(0)))
    return r, g, b


def _span(counts: IntArray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low} to {high}"


def fold_scheme(cv: Folds, n: Any, *, y: Any = None, groups: Any = None) -> FoldScheme:
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
    top = max(int(part.max()) for pair in splits for part in pair if len(part))
    if top >= count:
        raise ValueError(f"a fold names row {top}, but there are {count} rows (0 to {count - 1})")
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
    return FoldScheme(alt, use[:, kept], kept, sizes[0], sizes[1], count, strips, name)
