"""Return per episode while agents learn, one run each or bands over seeds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.marks import MOST_POINTS, band, stroke, words
from pellucid.plots.panels.style import Axes, Panel, Record, colour, heading, legend

LINES = ("-", "--", "-.", ":")


class Learner(Record):
    """The returns of one agent and their moving average; with several seeds also a band."""

    name: str
    returns: Array  # (episodes,) of one run, or the mean over the seeds
    smooth: Array  # (episodes,) mean of the last ``window``
    low: Array | None
    high: Array | None


class Rewards(Panel, size=(6.8, 4.2)):
    learners: tuple[Learner, ...]
    window: int
    n_seeds: int

    def _draw(self, ax: Axes) -> None:
        for k, learner in enumerate(self.learners):
            episode = np.arange(1, len(learner.returns) + 1)
            keep = slice(None, None, -(-len(episode) // MOST_POINTS))
            if learner.low is not None and learner.high is not None:
                band(ax, episode[keep], learner.low[keep], learner.high[keep], colour(k), 0.2)
            else:
                ax.plot(episode[keep], learner.returns[keep], color=colour(k), lw=0.5, alpha=0.3)
            ax.plot(episode[keep], learner.smooth[keep], lw=1.8, label=learner.name, **stroke(k))
        ax.set(xlabel="episode", ylabel="return")
        seeds = f", mean and interval over {self.n_seeds} seeds" if self.n_seeds > 1 else ""
        average = f"average of the last {self.window} episodes"
        average = average if self.window > 1 else "each episode"
        heading(ax, "Return per episode", average + seeds)
        legend(ax)


def moving_mean(x: Array, window: int) -> Array:
    """The mean of the last ``window`` values, of fewer at the start.

    >>> moving_mean(np.array([1.0, 3.0, 5.0, 7.0]), 2)
    array([1., 2., 4., 6.])
    """
    total = np.concatenate([[0.0], np.cumsum(x)])
    stop = np.arange(1, len(x) + 1)
    start = np.maximum(stop - window, 0)
    return (total[stop] - total[start]) / (stop - start)


def rewards(*E: Any, window: int | None = None) -> Rewards:
    """Return per episode of agents, smoothed.

    ``*E``: fitted agents, one dict of name -> agent, or the result of ``compare_agents``;
    ``window``: episodes averaged; default: a twentieth of them.

    Examples
    --------
    >>> from pellucid.reinforcement import QLearning, grid_world
    >>> from pellucid.plots import rewards
    >>> mdp = grid_world(["..+", "S.-"], slip=0.0)
    >>> picture = rewards(QLearning(n_episodes=40, random_state=0).fit(mdp))
    >>> picture.window, len(picture.learners[0].smooth)
    (2, 40)
    """
    if not E:
        raise ValueError("rewards needs at least one fitted agent, got none")
    first = E[0]
    if hasattr(first, "returns") and hasattr(first, "low"):
        runs = [
            (name, first.mean[i], first.low[i], first.high[i]) for i, name in enumerate(first.names)
        ]
        seeds = first.returns.shape[1]
    else:
        agents = dict(first) if isinstance(first, Mapping) else _named(E)
        runs = [(name, _returns(agent), None, None) for name, agent in agents.items()]
        seeds = 1
    longest = max(len(run[1]) for run in runs)
    window = max(1, longest // 20) if window is None else window
    check.whole(window=window)
    learners = tuple(
        Learner(
            name,
            r,
            moving_mean(r, window),
            None if low is None else moving_mean(low, window),
            None if high is None else moving_mean(high, window),
        )
        for name, r, low, high in runs
    )
    ends = words([f"{one.name} {one.smooth[-1]:.4g}" for one in learners])
    alt = (
        f"Return per episode over {longest} episodes"
        + (f" and {seeds} seeds" if seeds > 1 else "")
        + f"; average of the last {window}: {ends}."
    )
    return Rewards(alt, learners, window, seeds)


def _named(agents: Any) -> dict[str, Any]:
    """Agents by class, numbered where there are several of one."""
    kinds = [type(agent).__name__ for agent in agents]
    names = [
        f"{kind} {kinds[:i].count(kind) + 1}" if kinds.count(kind) > 1 else kind
        for i, kind in enumerate(kinds)
    ]
    return dict(zip(names, agents, strict=True))


def _returns(agent: Any) -> Array:
    history = getattr(agent, "history_", None)
    if history is None or "return" not in history.columns or not len(history):
        raise ValueError(f"rewards needs fitted agents with history_, got {type(agent).__name__}")
    return np.asarray(history["return"], dtype=np.float64)
