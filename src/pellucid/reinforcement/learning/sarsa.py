"""SARSA: learn the values of the policy that is followed, exploration included.

    Q(s, a) <- Q(s, a) + a [r + g Q(s', a') - Q(s, a)],   a' the action then taken

With windows of n steps the target is r_t + ... + g^(n-1) r_(t+n-1) + g^n Q(s_(t+n), a_(t+n)): news
of a reward reaches n pairs at once. Because a' includes the random moves of exploration, the policy
keeps clear of cliffs while it learns. With a constant epsilon a table converges to the best values
that any policy with so many random moves can have; with exploration that fades as 1 / N(s)
(``EpsilonGreedy(1.0, half_life=...)``) to the best values of all.

References: Rummery & Niranjan (1994); Singh, Jaakkola, Littman & Szepesvari (2000); Sutton & Barto
(2018), sections 6.4 and 7.2.
"""

from pellucid.core.arrays.typing import Seed
from pellucid.reinforcement.approximation.approximator import LinearApproximator
from pellucid.reinforcement.learning.action_values import DEFAULT_EXPLORATION, ActionValueAgent
from pellucid.reinforcement.learning.agent_kernels import SARSA as SARSA_TARGET
from pellucid.reinforcement.learning.exploration import Exploration
from pellucid.reinforcement.learning.step_sizes import StepSize


class SARSA(ActionValueAgent):
    """Learning on the policy that is followed.

    Parameters
    ----------
    discount : float in [0, 1], default=0.9
        Weight of a reward one step later.
    step_size : float, "1/n", schedule or function of n, default=0.1
        n counts the visits of the pair; with an approximator, the updates of the action.
        ``InverseScaling(1.0, 0.7)`` is n^-0.7. A function is asked once for each n, ahead of time.
    exploration : Greedy, EpsilonGreedy, OptimisticExploration or function f(u, n)
        ``EpsilonGreedy(0.1)`` by default.
    approximator : LinearApproximator or None, default=None
        None: a table over numbered states.
    n_episodes : int, default=500
        Episodes to learn from.
    max_steps : int, default=1000
        Steps after which an episode is cut off: that is truncation, the next state keeps its value.
    initial_value : float, default=0.0
        Value of everything not yet visited.
    n_steps : int, default=1
        Rewards that are added up before the value of a pair is looked at.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    q_ : ndarray of shape (S, A)
        Of a table.
    weights_ : ndarray of shape (A, F)
        With an approximator.
    values_, policy_ : ndarrays of shape (S,)
        The lowest action on ties.
    visits_ : ndarray of shape (S, A)
    n_iter_ : int, episodes so far
    history_ : History, a row per episode: return, length, td_error (mean absolute)

    Examples
    --------
    >>> from pellucid.reinforcement import SARSA, grid_world
    >>> mdp = grid_world(["..+", "S#-"], slip=0.0, discount=0.9)
    >>> agent = SARSA(n_episodes=300, random_state=0).fit(mdp)
    >>> [mdp.actions[a] for a in agent.policy_[[0, 1, 3]]]
    ['right', 'right', 'up']
    >>> told = SARSA(discount=0.9, step_size=0.1).reset(2, 2)
    >>> told.update(0, 0, 1.0, 1, next_action=0)
    1.0
    """

    _kind = SARSA_TARGET

    @property
    def _target(self) -> str:
        first = "r" if self.n_steps == 1 else f"{self.n_steps} rewards"
        return f"{first} + g Q(s', a') with the action then taken"

    def __init__(
        self,
        *,
        discount: float = 0.9,
        step_size: StepSize = 0.1,
        exploration: Exploration = DEFAULT_EXPLORATION,
        approximator: LinearApproximator | None = None,
        n_episodes: int = 500,
        max_steps: int = 1000,
        initial_value: float = 0.0,
        n_steps: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.discount = discount
        self.step_size = step_size
        self.exploration = exploration
        self.approximator = approximator
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.initial_value = initial_value
        self.n_steps = n_steps
        self.random_state = random_state
