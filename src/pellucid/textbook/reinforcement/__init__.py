"""Reinforcement: acting well in a world one has to try out. Read ``q_learning`` first.

In teaching order: what a policy is worth (``monte_carlo``, ``td_learning``, ``td_lambda``,
``n_step_td``, ``linear_td``), how to act (``epsilon_greedy``, ``q_learning``,
``double_q_learning``, ``sarsa``, ``adaptive_dynamic_programming``), and beyond tables
(``deep_q_network``, ``policy_gradient``).
"""
