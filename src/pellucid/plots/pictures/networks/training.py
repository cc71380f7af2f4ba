"""How networks learned: the loss and the scores of every epoch, and where training stopped."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.inputs import labelled, last_step
from pellucid.plots.panels.marks import STYLES, scale_of, spot, words
from pellucid.plots.panels.style import GREY, Picture, colour, heading, legend, panels


class Training(Picture):
    """One entry per run; row e is the state after e epochs."""

    names: tuple[str, ...]
    losses: tuple[Array, ...]
    scores: tuple[Array, ...]  # on the training rows; empty where not kept
    validation: tuple[Array, ...]  # on the validation rows; empty where not kept
    best: tuple[int | None, ...]  # epoch of the highest validation score
    diverged: tuple[bool, ...]

    def plot(self) -> Any:
        """Loss, and scores where there are any; the figure."""
        some = any(len(s) for s in (*self.scores, *self.validation))
        grid = panels(2 if some else 1, columns=2, size=(5.0, 3.8))
        for i, (name, loss) in enumerate(zip(self.names, self.losses, strict=True)):
            style, tint = STYLES[i % 4], colour(i)
            grid[0].plot(loss, style, color=tint, lw=1.8, label=name)
            last = np.flatnonzero(np.isfinite(loss))
            if self.diverged[i] and len(last):
                grid[0].plot(last[-1], loss[last[-1]], "X", color=tint, mec="black", ms=10)
            if not some:
                continue
            label = f"{name}, " if len(self.names) > 1 else ""
            if len(self.scores[i]):
                grid[1].plot(self.scores[i], ":", color=tint, lw=1.6, label=f"{label}training")
            if len(self.validation[i]):
                grid[1].plot(
                    self.validation[i], style, color=tint, lw=1.8, label=f"{label}validation"
                )
            at = self.best[i]
            if at is not None:
                said = f"{label}best: epoch {at}"
                spot(grid[1], at, self.validation[i][at], "D", tint, size=8, zorder=4, label=said)
                for ax in grid:
                    ax.axvline(at, color=GREY, ls=":", lw=1)
        grid[0].set(xlabel="epoch", ylabel="loss", yscale=scale_of(*self.losses))
        heading(grid[0], "Loss by epoch", "cross: diverged" if any(self.diverged) else "")
        if len(self.names) > 1:
            legend(grid[0])
        if some:
            grid[1].set(xlabel="epoch", ylabel="score")
            legend(grid[1])
            known = any(b is not None for b in self.best)
            note = "diamond: the best epoch for the validation rows" if known else ""
            heading(grid[1], "Score by epoch", note)
        return grid[0].figure


def _history(model: Model) -> Any:
    """The history of a fitted model, or of the result of ``train``."""
    if hasattr(model, "history") and hasattr(model, "network"):
        return model.history
    found = getattr(last_step(model), "history_", None)
    if found is None or len(found) == 0 or "objective" not in found.columns:
        raise ValueError(f"{type(model).__name__} keeps no history_ of its epochs")
    return found


def _column(history: Any, name: str) -> Array:
    """A column of numbers, or nothing where the history has none."""
    if name not in history.columns:
        return np.zeros(0)
    values = [row.get(name) for row in history]
    found = np.array([np.nan if v is None else float(v) for v in values])
    return found if np.isfinite(found).any() else np.zeros(0)


def training(E: Model) -> Training:
    """Loss and scores of every epoch, with the epoch that early stopping keeps.

    ``E``: fitted MLPClassifier, MLPRegressor, Autoencoder or a Pipeline, a ``TrainResult``; a list
    of them or {"label": model} to compare runs (such as learning rates).

    Examples
    --------
    >>> from pellucid import MLPRegressor
    >>> from pellucid.plots import training
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> model = MLPRegressor("squared_error", (4,), solver="lbfgs", random_state=0).fit(X, y)
    >>> picture = training(model)
    >>> bool(picture.losses[0][-1] < picture.losses[0][0]), picture.best
    (True, (None,))
    """
    single = hasattr(E, "history") and hasattr(E, "network")
    pairs = [("run", E)] if single else labelled(E)
    names, losses, scores, validation, best, diverged = [], [], [], [], [], []
    for name, model in pairs:
        history = _history(model)
        loss, found = _column(history, "objective"), _column(history, "validation_score")
        names.append(name)
        losses.append(loss)
        scores.append(_column(history, "score"))
        validation.append(found)
        best.append(int(np.nanargmax(found)) if len(found) else None)
        diverged.append(bool(not np.isfinite(loss).all() or loss[-1] > 10 * max(loss[0], 1e-300)))
    said = words(
        [
            f"{n} {v[0]:.3g} to {v[np.isfinite(v)][-1]:.3g} in {len(v) - 1} epochs"
            for n, v in zip(names, losses, strict=True)
        ]
    )
    alt = f"Loss by epoch: {said}" + (
        f"; best validation score at epoch {best[0]}." if best[0] is not None else "."
    )
    rounds = (tuple(losses), tuple(scores), tuple(validation), tuple(best), tuple(diverged))
    return Training(alt, tuple(names), *rounds)
