r"""What a policy earns when it is followed: episodes, their mean, and how sure that is.

    mean +- t_{n-1} s / sqrt(n)    over the returns sum_t g^t r_t of n independent episodes

An episode that reaches ``max_steps`` is cut off there; its return is what was earned until then.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator
from pellucid.reinforcement.worlds.gym import make_environment
from pellucid.reinforcement.worlds.mdp import MDP
from pellucid.reinforcement.worlds.returns import discounted_sum


@readable
class PolicyReturn(NamedTuple):
    """The returns of a policy; ``interval`` holds 95 % limits of the expected return.

    >>> PolicyReturn(1.0, 0.5, (0.0, 2.0), np.array([0.5, 1.5]), np.array([3, 4])).mean
    1.0
    """

    mean: float  # of the returns
    standard_error: float  # of that mean
    interval: tuple[float, float]
    returns: Array  # (n_episodes,)
    lengths: IntArray  # (n_episodes,)


def evaluate_policy(
    env: object,
    policy: ArrayLike | Callable[..., Any],
    *,
    n_episodes: int = 100,
    max_steps: int = 1000,
    discount: float = 1.0,
    random_state: Seed = None,
) -> PolicyReturn:
    """Follow a policy for some episodes and say what it earned.

    Parameters
    ----------
    env : MDP, Gymnasium environment or its id
        Where to walk.
    policy : array, function or model
        (S,) actions, (S, A) probabilities, a function of the observation that returns an action,
        or a planner or agent with ``act``.
    n_episodes : int, at least 2
        Episodes to learn from.
    max_steps : int
        Most moves of an episode.
    discount : float in [0, 1], default=1.0
        Of the returns.
    random_state : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    PolicyReturn

    Examples
    --------
    >>> from pellucid.reinforcement import evaluate_policy, grid_world
    >>> found = evaluate_policy(grid_world(["S.+"], slip=0.0), [1, 1, 0], n_episodes=3)
    >>> round(found.mean, 2), found.lengths
    (0.92, array([2, 2, 2]))
    """
    check.whole(at_least=2, n_episodes=n_episodes)
    check.whole(max_steps=max_steps)
    check._number("discount", discount)
    if not 0 <= discount <= 1:
        raise ValueError(f"discount must be between 0 and 1, got {discount!r}")
    rng = generator(random_state)
    if isinstance(env, MDP):
        rewards = _walk_mdp(env, policy, n_episodes, max_steps, rng)
    else:
        rewards = _walk_env(make_environment(env), policy, n_episodes, max_steps, rng)
    returns = np.array([discounted_sum(r, discount) for r in rewards])
    return summarise(returns, np.array([len(r) for r in rewards]))


def summarise(returns: Array, lengths: IntArray) -> PolicyReturn:
    """Mean, standard error and Student's interval."""
    n, mean = len(returns), float(returns.mean())
    error = float(returns.std(ddof=1) / np.sqrt(n))
    half = float(stdtrit(n - 1, 0.975)) * error
    return PolicyReturn(mean, error, (mean - half, mean + half), returns, lengths)


def _walk_mdp(mdp: MDP, policy: Any, n: int, max_steps: int, rng: Rng) -> list[Array]:
    """Walk in compiled code; a function of the state is called once for every state."""
    if hasattr(policy, "act") or callable(policy):
        act = policy.act if hasattr(policy, "act") else policy
        policy = [0 if mdp.terminal[s] else int(act(s)) for s in range(mdp.n_states)]
    walks = mdp.simulate(policy, n_episodes=n, max_steps=max_steps, random_state=rng)
    return [walk.rewards for walk in walks]


def _walk_env(
    env: Any, policy: ArrayLike | Callable[..., Any], n: int, max_steps: int, rng: Rng
) -> list[Array]:
    act = _chooser(policy, rng)
    found = []
    for _ in range(n):
        state, _ = env.reset(seed=int(rng.integers(2**31)))
        rewards: list[float] = []
        over = False
        while not over and len(rewards) < max_steps:
            state, reward, terminated, truncated, _ = env.step(act(state))
            rewards.append(float(reward))
            over = terminated or truncated
        found.append(np.array(rewards))
    return found


def _chooser(policy: ArrayLike | Callable[..., Any], rng: Rng) -> Callable[[Any], int]:
    """A function from observation to action."""
    if hasattr(policy, "act"):
        return policy.act
    if callable(policy):
        return policy
    table = np.asarray(policy)
    if table.ndim == 1 and table.dtype.kind in "iu":
        return lambda state: int(table[state])
    if table.ndim == 2 and np.allclose(table.sum(axis=1), 1) and (table >= 0).all():
        below = np.cumsum(table, axis=1)
        last = table.shape[1] - 1
        return lambda state: min(int((below[state] <= rng.random()).sum()), last)
    raise ValueError(
        "policy must be an action per state, probabilities (S, A) that sum to 1, a function or a "
        f"model with act, got {type(policy).__name__} of shape {table.shape}"
    )
