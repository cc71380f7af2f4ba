"""What a convolutional network sees in an image: its filters and the maps they answer with."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.plots.panels.style import LEAST, Axes, Picture, new_figure

COLUMNS = 8


class FeatureMaps(Picture):
    image: Array  # (h, w) or (h, w, 3)
    filters: Array  # (m, a, b), the mean over the channels before
    first: Array  # (m, h, w) of the first stage, before pooling
    last: Array  # (k, h', w') after all stages
    numbers: IntArray  # (m,) of the filters, from 1
    counts: tuple[int, int]  # filters of the first stage, maps of the last

    def plot(self) -> Any:
        """The image; under it filters above their maps; then the last maps. The figure."""
        columns = min(COLUMNS, max(len(self.filters), len(self.last)))
        lines = [self._strip(k, columns) for k in (len(self.filters), len(self.last))]
        heights = [1.6, *[0.8, 1.0] * lines[0], 0.3, *[1.0] * lines[1]]
        figure = new_figure((max(1.05 * columns, 5.5), 1.05 * sum(heights) + 0.9))
        grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
        middle = slice((columns - 1) // 2, (columns - 1) // 2 + (2 if columns % 2 == 0 else 1))
        at = figure.add_subplot(grid[0, middle])
        self._show(at, self.image, "gray_r", float(self.image.min()), float(self.image.max()))
        at.set_title("the image", fontsize="small")
        self._first(figure, grid, columns)
        said = figure.add_subplot(grid[1 + 2 * lines[0], :])
        said.set_axis_off()
        text = f"after the last stage: {len(self.last)} of {self.counts[1]} maps"
        said.text(0, 0.2, text, transform=said.transAxes)
        self._last(figure, grid, columns, 2 + 2 * lines[0])
        figure.suptitle(self.title, fontsize="medium", wrap=True)
        return figure

    @staticmethod
    def _strip(n: int, columns: int) -> int:
        return -(-n // columns)

    @staticmethod
    def _show(ax: Axes, image: Array, colours: str, low: float, high: float) -> None:
        ax.imshow(image, cmap=colours, vmin=low, vmax=high, interpolation="nearest")
        ax.set_xticks([])
        ax.set_yticks([])
        for spine in ax.spines.values():
            spine.set(color="#9CA3AF", linewidth=0.8)

    def _first(self, figure: Any, grid: Any, columns: int) -> None:
        most = float(np.abs(self.filters).max()) or 1.0
        top = float(self.first.max()) or 1.0
        for i in range(len(self.filters)):
            line, column = 1 + 2 * (i // columns), i % columns
            above = figure.add_subplot(grid[line, column])
            below = figure.add_subplot(grid[line + 1, column])
            self._show(above, self.filters[i], "PuOr", -most, most)
            self._show(below, self.first[i], "viridis", 0.0, top)
            above.set_title(f"filter {self.numbers[i]}", fontsize=LEAST, pad=2)
            if column == 0:
                above.set_ylabel("filter", fontsize="small")
                below.set_ylabel("its map", fontsize="small")

    def _last(self, figure: Any, grid: Any, columns: int, start: int) -> None:
        top = float(self.last.max()) or 1.0
        for i in range(len(self.last)):
            ax = figure.add_subplot(grid[start + i // columns, i % columns])
            self._show(ax, self.last[i], "viridis", 0.0, top)


def feature_maps(E: Model, x: ArrayLike, *, most: int = 8) -> FeatureMaps:
    """Filters of a convolutional network and what they answer to one image.

    ``E``: fitted ConvolutionalClassifier or ConvolutionalRegressor; ``x``: one image as the model
    takes it: (h, w), (c, h, w) or a flat row; ``most``: filters and last maps drawn: those with the
    strongest answers.

    Filters over several channels are drawn as their mean; orange is negative, purple positive.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.deep import ConvolutionalClassifier, Training
    >>> from pellucid.plots import feature_maps
    >>> X = np.random.default_rng(0).normal(size=(20, 6, 6))
    >>> model = ConvolutionalClassifier((4, 6), training=Training(max_epochs=1), random_state=0)
    >>> picture = feature_maps(model.fit(X, [0, 1] * 10), X[0])
    >>> picture.filters.shape, picture.first.shape, picture.last.shape
    ((4, 3, 3), (4, 6, 6), (6, 1, 1))
    """
    check.whole(most=most)
    if not hasattr(E, "feature_maps") or not hasattr(E, "filters_"):
        raise ValueError(f"it needs a fitted convolutional network, got {type(E).__name__}")
    c, h, w = E.image_shape_
    row = np.asarray(x, dtype=np.float64)
    if row.size != c * h * w:
        raise ValueError(f"x must be one image of shape {(c, h, w)}, got shape {row.shape}")
    rows = row.reshape(1, c, h, w)
    first, last = (E.feature_maps(rows, stage=stage)[0] for stage in ("first", "last"))
    image = rows[0, 0] if c != 3 else np.moveaxis(rows[0], 0, -1)
    if c == 3:
        image = (image - image.min()) / (np.ptp(image) or 1.0)
    ranks = (np.argsort(-maps.max(axis=(1, 2)), kind="stable") for maps in (first, last))
    chosen, kept = (np.sort(rank[:most]) for rank in ranks)  # the strongest, in their own order
    filters = np.asarray(E.filters_[0], dtype=np.float64).mean(axis=1)
    silent = int((first.max(axis=(1, 2)) <= 0).sum())
    title = f"{len(chosen)} of {len(first)} filters, the strongest answers"
    title += f"; silent here: {silent}" if silent else ""
    alt = (
        f"An image of {h} by {w} pixels, {len(chosen)} of {len(first)} filters of the first stage "
        f"with their maps, and {len(kept)} of {len(last)} maps after the last stage."
    )
    counts = (len(first), len(last))
    return FeatureMaps(
        alt, image, filters[chosen], first[chosen], last[kept], chosen + 1, counts, title=title
    )
