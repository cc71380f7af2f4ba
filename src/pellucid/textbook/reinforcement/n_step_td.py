r"""n-step TD: add up n rewards before trusting the worth of a state.

Given       an episode (s_0, r_0), (s_1, r_1), .. of a policy, discount g
Solve       U(s) = E[r_0 + .. + g^(n-1) r_{n-1} + g^n U(s_n)], Bellman's equation unrolled n times
Step        move U(s_t) towards the sum of n rewards and the worth of the state n steps on; near the
            end the rewards that are left. n = 1 is TD, n = infinity Monte Carlo: less bias from
            wrong U, more noise from more rewards.
Cost        n additions per step.
The fast version learns each return as soon as its n rewards are there; so does this one.
"""

import numpy as np


def n_step_td(
    episodes: list[list[tuple[int, float]]], S: int, g: float, n: int, rate: float
) -> np.ndarray:
    """U (S,); every episode goes on to its end."""
    U = np.zeros(S)
    for episode in episodes:
        T = len(episode)
        for t in range(T):
            window = episode[t : t + n]
            G = sum(g**k * r for k, (_, r) in enumerate(window))
            if t + n < T:  # the worth of the state n steps on, as it is when that state is reached
                G += g**n * U[episode[t + n][0]]
            s = episode[t][0]
            U[s] += rate * (G - U[s])
    return U
