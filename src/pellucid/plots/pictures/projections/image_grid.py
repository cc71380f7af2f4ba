"""Rows as pictures (digits), those that were misclassified first."""

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, MaybeArray
from pellucid.plots.panels.style import Picture, colour, new_figure

COLUMNS = 10


class ImageGrid(Picture):
    images: Array  # (m, height, width) or (m, height, width, 3)
    rows: IntArray  # (m,) row numbers of X
    titles: tuple[str, ...]
    wrong: BoolArray  # (m,)
    limits: tuple[float, float]  # of the grey scale

    def plot(self) -> Any:
        """A grid of small images; wrong ones have an orange frame and say what was said."""
        m = len(self.images)
        columns = min(COLUMNS, m)
        rows = -(-m // columns)
        figure = new_figure((max(0.95 * columns, 4.0), 1.2 * rows + 0.5))
        low, high = self.limits
        for i in range(m):
            ax = figure.add_subplot(rows, columns, i + 1)
            ax.imshow(self.images[i], cmap="gray_r", vmin=low, vmax=high, interpolation="nearest")
            ax.set_xticks([])
            ax.set_yticks([])
            tint = colour(1) if self.wrong[i] else "#9CA3AF"
            for spine in ax.spines.values():
                spine.set(color=tint, linewidth=2.5 if self.wrong[i] else 0.8)
            shade = colour(1) if self.wrong[i] else "black"
            ax.set_title(self.titles[i], fontsize="small", pad=3, color=shade)
        figure.suptitle(self.title, fontsize="medium", wrap=True)
        return figure


def image_grid(
    X: ArrayLike, shape: Any, y: MaybeArray = None, yhat: Any = None, *, most: int = 50
) -> ImageGrid:
    """Rows of X as images; where y and yhat are given, the misclassified ones first.

    ``X``: table of shape (n, height * width), or with 3 numbers per pixel; ``shape``: (height,
    width) or (height, width, 3); ``y``, ``yhat``: labels and predictions (n,), optional; ``most``:
    how many images at most.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.plots import image_grid
    >>> picture = image_grid(np.eye(4), (2, 2), [0, 1, 2, 3], [0, 1, 3, 3])
    >>> picture.rows, picture.titles[0]
    (array([2, 0, 1, 3]), '2 → 3')
    """
    check.whole(most=most)
    M = numeric_matrix(X, "X")
    size = tuple(int(s) for s in shape)
    if len(size) not in (2, 3) or (len(size) == 3 and size[2] != 3) or min(size) < 1:
        raise ValueError(f"shape must be (height, width) or (height, width, 3), got {shape!r}")
    if int(np.prod(size)) != M.shape[1]:
        raise ValueError(f"rows of {M.shape[1]} numbers are no images of shape {size}")
    n = len(M)
    truth, said = (None if v is None else column_or_1d(np.asarray(v)) for v in (y, yhat))
    for name, v in (("y", truth), ("yhat", said)):
        if v is not None and len(v) != n:
            raise ValueError(f"X and {name} must have as many rows, got {n} and {len(v)}")
    wrong = np.zeros(n, dtype=bool) if truth is None or said is None else truth != said
    order = np.concatenate([np.flatnonzero(wrong), np.flatnonzero(~wrong)])[:most]
    titles = tuple(_title(i, truth, said, bool(wrong[i])) for i in order)
    images = M[order].reshape(-1, *size)
    limits = (float(M.min()), float(M.max()))
    if len(size) == 3:
        span = limits[1] - limits[0] or 1.0
        images = (images - limits[0]) / span
    title = f"{len(order)} of {n} images"
    if truth is not None and said is not None:
        title += f"; {int(wrong.sum())} wrong (framed: truth → prediction), drawn first"
    alt = f"Rows of {size[0]} by {size[1]} pixels as a grid of pictures: {title}."
    return ImageGrid(alt, images, order, titles, wrong[order], limits, title=title)


def _title(i: int, truth: Any, said: Any, wrong: bool) -> str:
    if wrong:
        return f"{truth[i]} → {said[i]}"
    label = truth if truth is not None else said
    return str(i) if label is None else str(label[i])
