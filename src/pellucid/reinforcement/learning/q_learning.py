"""Q-learning: learn the values of the best policy while following another.

    Q(s, a) <- Q(s, a) + a [r + g max_a' Q(s', a') - Q(s, a)]

With every pair visited for ever and step sizes such as 1/n a table converges to the optimum,
whatever policy explores.

References: Watkins & Dayan (1992); Sutton & Barto (2018), section 6.5.
"""

from pellucid.core.arrays.typing import Seed
from pellucid.reinforcement.approximation.approximator import LinearApproximator
from pellucid.reinforcement.learning.action_values import DEFAULT_EXPLORATION, ActionValueAgent
from pellucid.reinforcement.learning.agent_kernels import Q
from pellucid.reinforcement.learning.exploration import Exploration
from pellucid.reinforcement.learning.step_sizes import StepSize


class QLearning(ActionValueAgent):
    """Learning the best policy off the policy that is followed.

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
    >>> from pellucid.reinforcement import QLearning, grid_world
    >>> mdp = grid_world(["..+", "S#-"], slip=0.0, discount=0.9)
    >>> agent = QLearning(n_episodes=300, random_state=0).fit(mdp)
    >>> [mdp.actions[a] for a in agent.policy_[[0, 1, 3]]]
    ['right', 'right', 'up']
    >>> told = QLearning(discount=0.9, step_size=0.1).reset(2, 2)
    >>> told.update(0, 0, 1.0, 1)
    1.0
    """

    _kind = Q
    _target = "r + g max Q(s', .)"

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
        random_state: Seed = None,
    ) -> None:
        self.discount = discount
        self.step_size = step_size
        self.exploration = exploration
        self.approximator = approximator
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.initial_value = initial_value
        self.random_state = random_state
