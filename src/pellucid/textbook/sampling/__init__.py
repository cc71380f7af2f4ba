"""Sampling and Bayesian estimation: from a prior and data to a posterior.

The entry is ``metropolis_hastings``; in teaching order:

- in closed form: ``beta_bernoulli``, ``dirichlet_categorical``, ``gamma_poisson``, ``normal_mean``,
  ``normal_variance``, ``normal_inverse_gamma``, ``normal_inverse_wishart``, ``linear_gaussian``
- by calculus: ``maximum_likelihood``, ``fisher_information``, ``laplace_approximation``,
  ``grid_posterior``
- by drawing: ``metropolis_hastings``, ``hamiltonian_monte_carlo``, ``rhat``,
  ``effective_sample_size``, ``predictive_check``
- choosing: ``model_comparison``, ``highest_density_interval``
"""
