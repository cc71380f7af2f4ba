"""Optimisation: finding the lowest place of a function. Read ``gradient_descent`` first.

In teaching order:

- slopes: ``numerical_gradient``, ``gradient_descent``, ``backtracking``, ``stochastic_descent``,
  ``learning_rates``
- slopes with a memory: ``momentum``, ``adagrad``, ``rmsprop``, ``adam``
- curvature: ``newton_root``, ``newton_method``, ``reweighted_least_squares``, ``lbfgs``
- kinks: ``subgradient_descent``, ``proximal_gradient``, ``coordinate_descent``
- constraints: ``kkt_conditions``
"""
