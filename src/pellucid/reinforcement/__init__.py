"""Decisions that pay later: Markov decision processes, planners, agents that learn by acting."""

from pellucid._lazy import lazy_names

_HOME = {
    "AdaptiveDynamicProgramming": "adp",
    "DeepQNetwork": "deep_q",
    "DoubleQLearning": "double_q_learning",
    "Episode": "mdp",
    "EpsilonGreedy": "exploration",
    "FiniteHorizon": "finite_horizon",
    "Greedy": "exploration",
    "LinearApproximator": "approximator",
    "LinearProgramming": "linear_programming",
    "MDP": "mdp",
    "MonteCarloLearning": "monte_carlo",
    "OptimisticExploration": "exploration",
    "PolicyGradient": "policy_gradient",
    "PolicyIteration": "policy_iteration",
    "PolicyReturn": "rollouts",
    "QLearning": "q_learning",
    "ReplayBuffer": "replay",
    "SARSA": "sarsa",
    "TDLearning": "td",
    "TileCoding": "approximator",
    "ValueIteration": "value_iteration",
    "agent_advice": "advice",
    "compare_agents": "comparing",
    "evaluate_policy": "rollouts",
    "grid_world": "grid",
    "policy_evaluation": "evaluation",
    "read_mdp": "files",
    "utility": "returns",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
