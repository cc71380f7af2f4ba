"""Double Q-learning: two tables, so that lucky rewards are not mistaken for good actions.

    Q_A(s, a) <- Q_A(s, a) + a [r + g Q_B(s', argmax_a' Q_A(s', a')) - Q_A(s, a)]   (or B and A)

The maximum over noisy values is too high on average; with the best action of one table and the
value of the other it is not. The agent acts by the mean of both.

References: van Hasselt (2010).
"""

from pellucid.core.arrays.typing import Seed
from pellucid.reinforcement.learning.action_values import DEFAULT_EXPLORATION, ActionValueAgent
from pellucid.reinforcement.learning.agent_kernels import DOUBLE_Q
from pellucid.reinforcement.learning.exploration import Exploration
from pellucid.reinforcement.learning.step_sizes import StepSize


class DoubleQLearning(ActionValueAgent):
    """Q-learning without the optimism of the maximum.

    Parameters
    ----------
    discount : float in [0, 1], default=0.9
        Weight of a reward one step later.
    step_size : float, "1/n", schedule or function of n, default=0.1
        n counts the visits of the pair; with an approximator, the updates of the action.
        ``InverseScaling(1.0, 0.7)`` is n^-0.7. A function is asked once for each n, ahead of time.
    exploration : Greedy, EpsilonGreedy, OptimisticExploration or function f(u, n)
        ``EpsilonGreedy(0.1)`` by default.
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
    pair_ : ndarray of shape (2, S, A)
        The two tables; ``q_`` is their mean.
    values_, policy_ : ndarrays of shape (S,)
        The lowest action on ties.
    visits_ : ndarray of shape (S, A)
    n_iter_ : int, episodes so far
    history_ : History, a row per episode: return, length, td_error (mean absolute)

    Examples
    --------
    >>> from pellucid.reinforcement import DoubleQLearning, grid_world
    >>> mdp = grid_world(["..+", "S#-"], slip=0.0, discount=0.9)
    >>> agent = DoubleQLearning(n_episodes=300, random_state=0).fit(mdp)
    >>> [mdp.actions[a] for a in agent.policy_[[0, 1, 3]]]
    ['right', 'right', 'up']
    >>> told = DoubleQLearning(discount=0.9, step_size=0.1).reset(2, 2)
    >>> told.update(0, 0, 1.0, 1)
    1.0
    """

    _kind = DOUBLE_Q
    _target = "r + g Q_B(s', argmax Q_A(s', .)), A and B by a coin"

    def __init__(
        self,
        *,
        discount: float = 0.9,
        step_size: StepSize = 0.1,
        exploration: Exploration = DEFAULT_EXPLORATION,
        n_episodes: int = 500,
        max_steps: int = 1000,
        initial_value: float = 0.0,
        random_state: Seed = None,
    ) -> None:
        self.discount = discount
        self.step_size = step_size
        self.exploration = exploration
        self.n_episodes = n_episodes
        self.max_steps = max_steps
        self.initial_value = initial_value
        self.random_state = random_state
