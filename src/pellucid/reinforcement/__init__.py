"""Decisions that pay later: Markov decision processes, planners, agents that learn by acting.

``worlds/`` MDPs and environments; ``planning/`` when the process is known; ``learning/`` when it is
not; ``approximation/`` too many states for a table.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "AdaptiveDynamicProgramming": "learning.adp",
    "DeepQNetwork": "approximation.deep_q",
    "DoubleQLearning": "learning.double_q_learning",
    "Episode": "worlds.mdp",
    "EpsilonGreedy": "learning.exploration",
    "FiniteHorizon": "planning.finite_horizon",
    "Greedy": "learning.exploration",
    "LinearApproximator": "approximation.approximator",
    "LinearProgramming": "planning.linear_programming",
    "MDP": "worlds.mdp",
    "MonteCarloLearning": "learning.monte_carlo",
    "OptimisticExploration": "learning.exploration",
    "PolicyGradient": "approximation.policy_gradient",
    "PolicyIteration": "planning.policy_iteration",
    "PolicyReturn": "worlds.rollouts",
    "QLearning": "learning.q_learning",
    "ReplayBuffer": "approximation.replay",
    "SARSA": "learning.sarsa",
    "TDLearning": "learning.td",
    "TileCoding": "approximation.approximator",
    "ValueIteration": "planning.value_iteration",
    "agent_advice": "advice",
    "compare_agents": "comparing",
    "evaluate_policy": "worlds.rollouts",
    "grid_world": "worlds.grid",
    "policy_evaluation": "planning.evaluation",
    "read_mdp": "worlds.files",
    "utility": "worlds.returns",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
