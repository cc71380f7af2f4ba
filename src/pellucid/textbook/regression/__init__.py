"""Regression: a number from columns.

Start with ``normal_equations``. One input: ``simple_regression``. The same minimum in other ways:
``qr_least_squares``, ``least_squares_descent``, ``stochastic_regression``. Noise that is not equal:
``generalised_least_squares``, ``sandwich_errors``. Is the line right: ``residual_diagnostics``,
``collinearity``. Curves: ``polynomial_regression``, ``natural_spline``, ``smoothing_spline``. Other
losses: ``huber_regression``, ``quantile_regression``; counts and amounts: ``poisson_regression``,
``tweedie_regression``, ``negative_binomial_regression``. Signs that are known:
``nonnegative_least_squares``. A few columns: ``orthogonal_matching_pursuit``. Penalties are
the next chapter, ``shrinkage``.
"""
