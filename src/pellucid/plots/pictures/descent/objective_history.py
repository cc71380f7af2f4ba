"""The objective at every step of several fits or rates; those that diverged are marked."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import History
from pellucid.plots.panels.inputs import labelled, last_step
from pellucid.plots.panels.marks import words
from pellucid.plots.panels.style import Axes, Panel, colour, legend, marker
from pellucid.solvers import Minimum


class ObjectiveHistory(Panel):
    labels: tuple[str, ...]
    steps: tuple[Array, ...]
    objectives: tuple[Array, ...]
    diverged: tuple[bool, ...]
    log: bool
    halved: tuple[Array, ...] = ()  # steps that a line search shortened, of each fit

    def _draw(self, ax: Axes) -> None:
        for i, (label, t, f) in enumerate(
            zip(self.labels, self.steps, self.objectives, strict=True)
        ):
            tint = colour(i)
            every = max(1, len(t) // 8)
            bad = self.diverged[i]
            ls = "--" if bad else "-"
            said = f"{label}: diverged" if bad else label
            ax.plot(
                t, f, color=tint, lw=1.6, marker=marker(i), markevery=every, ms=4, ls=ls, label=said
            )
            short = np.isin(t, self.halved[i]) if self.halved else np.zeros(len(t), dtype=bool)
            if short.any():
                said = f"{label}: step shortened ({int(short.sum())})"
                ax.plot(t[short], f[short], "o", ms=10, mfc="none", mec=tint, mew=1.4, label=said)
            if bad:
                ax.plot(t[-1], f[-1], "x", ms=11, mew=2.5, color=tint)
        ax.set(xlabel="step", ylabel="objective", title="Objective at every step")
        if self.log:
            ax.set_yscale("log")
        elif any(self.diverged):  # keep the others readable
            ax.set_ylim(top=3 * max(f[0] for f in self.objectives))
        legend(ax)


def objective_history(*E: Any, labels: Any = None, log: bool | None = None) -> ObjectiveHistory:
    """Objective per step of several fits, to compare rates and solvers.

    ``*E``: fitted estimators with ``history_``, Minimum or History records, or one dictionary.
    ``labels``: list of str; one for each; the solver and its rate where not given. ``log``:
    logarithmic axis; None: where all values are positive and span a factor of 100.

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> from pellucid.solvers import GradientDescent
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]
    >>> fits = [LinearRegression(solver=GradientDescent(rate, max_iter=9, tol=None)).fit(X, y)
    ...         for rate in (0.05, 0.3)]
    >>> picture = objective_history(*fits)
    >>> picture.labels, picture.objectives[0][:2].round(4)
    (('GradientDescent, rate 0.05', 'GradientDescent, rate 0.3'), array([3.5   , 2.7216]))
    """
    pairs = labelled(E[0] if len(E) == 1 else list(E))
    if labels is not None and len(labels) != len(pairs):
        raise ValueError(f"labels must be one per fit ({len(pairs)}), got {len(labels)}")
    names = [label for label, _ in pairs] if labels is None else [str(label) for label in labels]
    steps, values, bad, halved = [], [], [], []
    for _, item in pairs:
        t, f, diverged = curve(item)
        halved.append(shortened(item))
        steps.append(t)
        values.append(f)
        bad.append(diverged)
    least, most = min(f.min() for f in values), max(f.max() for f in values)
    log = bool(least > 0 and most > 100 * least) if log is None else log
    ends = [
        f"{name} {'diverged' if b else f'{f[0]:.4g} to {f[-1]:.4g}'}"
        for name, f, b in zip(names, values, bad, strict=True)
    ]
    alt = f"Objective at every step: {words(ends)}."
    return ObjectiveHistory(
        alt, tuple(names), tuple(steps), tuple(values), tuple(bad), log, tuple(halved)
    )


def history_of(item: Any) -> History:
    """The history of a fit, of a Minimum, or itself."""
    if isinstance(item, Minimum | History):
        return item.history if isinstance(item, Minimum) else item
    model = last_step(item)
    model = getattr(model, "regressor_", model)
    history = getattr(model, "history_", None)
    if history is None:
        raise ValueError(f"{type(model).__name__} keeps no history_: it does not iterate")
    return history


def shortened(item: Any) -> Array:
    """The steps of Newton's method that were halved."""
    history = history_of(item)
    if "halvings" in history.columns:
        short = np.asarray(history["halvings"], dtype=np.float64) > 0
    elif "share" in history.columns or "shift" in history.columns:
        name = "share" if "share" in history.columns else "learning_rate"
        share = np.asarray(history[name], dtype=np.float64)
        short = (share > 0) & (share < 1)
    else:
        return np.empty(0)
    t = np.asarray(history["step"]) if "step" in history.columns else np.arange(len(short))
    return np.asarray(t[short], dtype=np.float64)


def curve(item: Any) -> tuple[Array, Array, bool]:
    """Steps, objectives, and whether it ran away."""
    reason = item.reason if isinstance(item, Minimum) else ""
    history = history_of(item)
    name = "value" if "value" in history.columns and "objective" not in history.columns else None
    f = np.asarray(history[name or "objective"], dtype=np.float64)
    t = np.asarray(history["step"]) if "step" in history.columns else np.arange(len(f))
    fine = np.isfinite(f)
    if not fine.any():
        raise ValueError("the history has no finite objective to draw")
    f, t = f[fine], t[fine]
    grew = len(f) > 1 and f[-1] > 10 * max(f[0], np.finfo(float).tiny) and f[-1] >= f.max()
    return t.astype(np.float64), f, bool(reason == "diverged" or grew or not fine.all())
