"""The steps of an iteration as panels, or as the frames of an animation.

``history_`` keeps the parameters of every step, so a step can be drawn as if the fit had stopped
there. A picture with ``steps=`` returns ``Steps``: the same picture once per step.
"""

import io
import re
from collections.abc import Sequence
from copy import copy
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Model
from pellucid.core.readable import framed
from pellucid.plots.panels.inputs import last_step, with_last
from pellucid.plots.panels.marks import key_below
from pellucid.plots.panels.player import player_html
from pellucid.plots.panels.style import Picture, new_figure, panels

PANELS = 6  # steps shown where the user does not say which
FRAME = (6.0, 5.0)  # inches of a frame of an animation


class Steps(Picture):
    """One picture per step; all are drawn on the same kind of axes."""

    pictures: tuple[Any, ...]
    titles: tuple[str, ...]

    def plot(self) -> Any:
        """All steps side by side; the figure."""
        n = len(self.pictures)
        grid = panels(n, columns=2 if n in (2, 4) else 3, size=(4.0, 3.6))
        for ax, picture in zip(grid, self.pictures, strict=True):
            picture.plot(ax)
        shared_legend(grid)
        return grid[0].figure

    def animate(self, path: Path, *, seconds: float = 0.8) -> Path:
        """Write the steps as a GIF, as an HTML page with a player, or as a folder of PNG files.

        Parameters
        ----------
        path : file name ending in .gif or .html, or folder (made where it is not there)
        seconds : time that each frame is shown; the last one of a GIF three times as long
        """
        check.positive(seconds=seconds)
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in (".gif", ".html", ""):
            raise ValueError(f"path must end in .gif or .html or name a folder, got {str(path)!r}")
        images = self._images()
        if kind == ".html":
            path.write_text(self._player(images, seconds), encoding="utf-8")
            return path
        if kind:
            images = [image.quantize(256, dither=0) for image in images]
            times = [int(1000 * seconds)] * (len(images) - 1) + [int(3000 * seconds)]
            images[0].save(path, save_all=True, append_images=images[1:], duration=times, loop=0)
            return path
        path.mkdir(parents=True, exist_ok=True)
        for i, image in enumerate(images):
            image.save(path / f"step-{i:03d}.png")
        return path

    def _images(self) -> list[Any]:
        """The frames of an animation, all of one size, drawn on one figure after the other."""
        import matplotlib.pyplot as plt
        from PIL import Image

        figure, images = new_figure(FRAME, dpi=100), []
        for picture in self.pictures:
            figure.clear()
            picture.plot(figure.add_subplot())
            canvas: Any = figure.canvas
            canvas.draw()
            images.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
        plt.close(figure)
        return images

    def _player(self, images: list[Any], seconds: float) -> str:
        frames = []
        for image in images:
            file = io.BytesIO()
            image.quantize(256, dither=0).save(file, format="png")
            frames.append(file.getvalue())
        return player_html(frames, self.titles, self.title or self.alt, seconds)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """In a notebook: a player of the steps."""
        page = self._player(self._images(), 0.8)
        return {
            "text/plain": repr(self),
            "text/html": framed(page, "steps", "34em", "allow-scripts"),
        }


def shared_legend(grid: list[Any]) -> None:
    """One legend below the panels in place of theirs, where one panel has the entries of all."""
    entries = []
    for ax in grid:
        keys, labels = ax.get_legend_handles_labels()
        entries.append(dict(zip(map(of_every_step, labels), keys, strict=True)))
    fullest = max(entries, key=len)
    if not fullest or not all(found.keys() <= fullest.keys() for found in entries):
        return
    for ax in grid:
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    key_below(grid[0].figure, fullest.values(), fullest.keys(), min(len(fullest), 2 * len(grid)))


def of_every_step(label: str) -> str:
    """A label without what changes from step to step: counts, and the equation of a line.

    >>> of_every_step("wrong (21)"), of_every_step("0.7 x0 - 0.2 x1 = 1"), of_every_step("setosa")
    ('wrong', 'boundary', 'setosa')
    """
    if " = " in label and any(sign in label for sign in "0123456789"):
        return "boundary"
    return re.sub(r" \(\d+\)$", "", label)


def chosen_steps(steps: Sequence[Any], n: int) -> list[int]:
    """Positions in a history of n rows: True or a number of them, evenly; or the positions.

    >>> chosen_steps(3, 11), chosen_steps([0, -1], 11)
    ([0, 5, 10], [0, 10])
    """
    if isinstance(steps, bool | Integral):
        count = PANELS if isinstance(steps, bool) else int(steps)
        check.whole(steps=count)
        return sorted({int(i) for i in np.linspace(0, n - 1, min(count, n)).round()})
    found = []
    for i in steps:
        if isinstance(i, bool) or not isinstance(i, Integral) or not -n <= int(i) < n:
            raise ValueError(f"steps must be positions in the {n} rows of history_, got {i!r}")
        found.append(int(i) % n)
    if not found:
        raise ValueError("steps must name at least one row of history_, got none")
    return found


def stages(E: Model, steps: Sequence[Any]) -> list[tuple[str, Any]]:
    """(title, model as if the fit had stopped there) for the chosen rows of ``history_``."""
    model = last_step(E)
    history = getattr(model, "history_", None)
    if history is None or "parameters" not in history.columns or not hasattr(model, "coef_"):
        raise ValueError(
            f"{type(model).__name__} keeps no parameters of its steps in history_: steps= is for "
            "Perceptron, SGDClassifier, LogisticRegression and their like"
        )
    found = []
    for i in chosen_steps(steps, len(history)):
        row = history[i]
        word = "epoch" if "validation_score" in row else "step"  # stochastic fits go by epochs
        title = f"after {word} {row.get('step', i)}"
        if "mistakes" in row:
            title += f": {row['mistakes']} mistakes on the way"
        else:
            title += f": objective {row['objective']:.4g}"
        found.append((title, at_step(E, model, np.asarray(row["parameters"], dtype=np.float64))))
    return found


def at_step(E: Model, model: Model, parameters: Array) -> Any:
    """A copy of the model (inside its pipeline) with the parameters of one step."""
    rules, p = np.atleast_2d(model.coef_).shape
    width = parameters.size // rules
    if width not in (p, p + 1) or parameters.size != rules * width:
        raise ValueError(f"{parameters.size} parameters in history_ for {rules} x {p} coefficients")
    table = parameters.reshape(rules, width)
    there = copy(model)
    there.coef_ = table[:, width - p :].reshape(np.shape(model.coef_))
    there.intercept_ = table[:, 0].copy() if width > p else np.zeros(rules)
    return with_last(E, there)
