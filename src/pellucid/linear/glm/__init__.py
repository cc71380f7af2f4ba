"""Generalised linear models: counts, positive amounts, and sums with many zeros.

Read ``glm.py`` first: the model, the objective and Newton's method. ``families.py`` and
``counts.py`` hold link, variance and deviance of each distribution, ``sums.py`` the derivatives as
sums over the rows, ``newton.py`` the steps (``wide.py`` for many columns), ``ending.py`` what a fit
leaves (deviance, information, whether a mean runs to 0), ``inference.py`` and ``profile.py`` errors
and intervals. The estimators are ``poisson.py``, ``gamma.py``, ``tweedie.py`` and
``negative_binomial.py``.
"""
