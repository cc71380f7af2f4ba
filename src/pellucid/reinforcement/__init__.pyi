"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.reinforcement.advice import agent_advice as agent_advice
from pellucid.reinforcement.approximation.approximator import (
    LinearApproximator as LinearApproximator,
)
from pellucid.reinforcement.approximation.approximator import TileCoding as TileCoding
from pellucid.reinforcement.approximation.deep_q import DeepQNetwork as DeepQNetwork
from pellucid.reinforcement.approximation.policy_gradient import PolicyGradient as PolicyGradient
from pellucid.reinforcement.approximation.replay import ReplayBuffer as ReplayBuffer
from pellucid.reinforcement.comparing import compare_agents as compare_agents
from pellucid.reinforcement.learning.adp import (
    AdaptiveDynamicProgramming as AdaptiveDynamicProgramming,
)
from pellucid.reinforcement.learning.double_q_learning import DoubleQLearning as DoubleQLearning
from pellucid.reinforcement.learning.exploration import EpsilonGreedy as EpsilonGreedy
from pellucid.reinforcement.learning.exploration import Greedy as Greedy
from pellucid.reinforcement.learning.exploration import (
    OptimisticExploration as OptimisticExploration,
)
from pellucid.reinforcement.learning.monte_carlo import MonteCarloLearning as MonteCarloLearning
from pellucid.reinforcement.learning.q_learning import QLearning as QLearning
from pellucid.reinforcement.learning.sarsa import SARSA as SARSA
from pellucid.reinforcement.learning.td import TDLearning as TDLearning
from pellucid.reinforcement.planning.evaluation import policy_evaluation as policy_evaluation
from pellucid.reinforcement.planning.finite_horizon import FiniteHorizon as FiniteHorizon
from pellucid.reinforcement.planning.linear_programming import (
    LinearProgramming as LinearProgramming,
)
from pellucid.reinforcement.planning.policy_iteration import PolicyIteration as PolicyIteration
from pellucid.reinforcement.planning.value_iteration import ValueIteration as ValueIteration
from pellucid.reinforcement.worlds.files import read_mdp as read_mdp
from pellucid.reinforcement.worlds.grid import grid_world as grid_world
from pellucid.reinforcement.worlds.mdp import MDP as MDP
from pellucid.reinforcement.worlds.mdp import Episode as Episode
from pellucid.reinforcement.worlds.returns import utility as utility
from pellucid.reinforcement.worlds.rollouts import PolicyReturn as PolicyReturn
from pellucid.reinforcement.worlds.rollouts import evaluate_policy as evaluate_policy

__all__: list[str]
_HOME: dict[str, str]
