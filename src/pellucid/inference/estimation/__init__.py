"""From data to parameters: likelihood, posterior, and how far to trust them.

Start with ``distribution_fit.py`` (a family) or ``estimates.py`` (any log-likelihood).
``posteriors.py`` chooses among mode, Laplace approximation, grid and Markov chains.
"""
