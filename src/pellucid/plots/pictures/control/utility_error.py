"""How far learned utilities are from the true ones, episode by episode: ADP against TD."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.plots.panels.marks import band, tone, words
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend
from pellucid.plots.panels.worlds import check_world


class UtilityError(Panel, size=(6.4, 4.2)):
    """Root mean square error over the states, averaged over seeds."""

    names: tuple[str, ...]
    episodes: IntArray  # (m,)
    error: Array  # (agents, m)
    spread: Array  # (agents, m) standard deviation over the seeds
    n_seeds: int

    def _draw(self, ax: Axes) -> None:
        for k, name in enumerate(self.names):
            low, high = self.error[k] - self.spread[k], self.error[k] + self.spread[k]
            band(ax, self.episodes, np.maximum(low, 0.0), high, colour(k), 0.15)
            ax.plot(self.episodes, self.error[k], ms=5, lw=1.7, label=name, **tone(k))
        ax.set(xlabel="episodes", ylabel="root mean square error of the utilities", ylim=(0, None))
        if self.episodes[-1] >= 50 * self.episodes[0]:
            ax.set_xscale("log")
        note = f"mean and standard deviation of {self.n_seeds} runs" if self.n_seeds > 1 else ""
        heading(ax, "Distance from the true utilities", note)
        legend(ax)


def utility_error(
    agents: Mapping[str, Any],
    mdp: Any,
    *,
    at: Any = (1, 2, 5, 10, 20, 50, 100, 200, 500),
    n_seeds: int = 5,
) -> UtilityError:
    """Error of the utilities that passive agents learn, against the episodes seen.

    ``at``: episodes after which the error is measured; ``n_seeds``: runs of every agent, 5 by
    default.

    Parameters
    ----------
    agents : dict of name -> TDLearning or AdaptiveDynamicProgramming with a ``policy``
        They are cloned and run anew with the seeds 0, 1, ...
    mdp : MDP
        The true utilities of a policy are ``mdp.evaluate(policy)``.

    Examples
    --------
    >>> from pellucid.reinforcement import AdaptiveDynamicProgramming, TDLearning, grid_world
    >>> from pellucid.plots import utility_error
    >>> mdp = grid_world(["..+"], slip=0.0, discount=0.9)
    >>> adp = AdaptiveDynamicProgramming([1, 1, 1])
    >>> utility_error({"ADP": adp}, mdp, at=[50], n_seeds=1).error.round(6) + 0.0
    array([[0.]])
    """
    mdp = check_world(mdp)
    check.whole(n_seeds=n_seeds)
    stops = np.unique(np.asarray(at, dtype=np.intp))
    if not len(stops) or stops[0] < 1:
        raise ValueError(f"at must hold numbers of episodes >= 1, got {at!r}")
    if not isinstance(agents, Mapping) or not agents:
        raise TypeError(f"agents must be a dict of name -> agent, got {agents!r}")
    each, seeds = agents.items(), range(n_seeds)
    found = np.array([[one_run(name, a, mdp, stops, seed) for seed in seeds] for name, a in each])
    error = found.mean(axis=1)
    ends = words([f"{name} {e:.3g}" for name, e in zip(agents, error[:, -1], strict=True)])
    alt = (
        f"Root mean square error of learned utilities after {stops[0]} to {stops[-1]} episodes; "
        f"at the end: {ends}."
    )
    return UtilityError(alt, tuple(agents), stops, error, found.std(axis=1), n_seeds)


def one_run(name: str, agent: Any, mdp: Any, stops: IntArray, seed: int) -> list[float]:
    """The error of one run after each number of episodes."""
    policy = getattr(agent, "policy", None)
    if policy is None:
        raise ValueError(f"{name!r} must be a passive agent, with a policy whose values it learns")
    if agent.discount != mdp.discount:
        both = f"{agent.discount:g}, the MDP {mdp.discount:g}"
        raise ValueError(f"{name!r} has the discount {both}: their utilities differ")
    truth = mdp.evaluate(policy)
    live = ~mdp.terminal
    run, done, errors = clone(agent).set_params(random_state=seed), 0, []
    for stop in stops.tolist():
        run.partial_fit(mdp, n_episodes=stop - done)
        done = stop
        errors.append(float(np.sqrt(np.mean((run.values_ - truth)[live] ** 2))))
    return errors
