"""Bayesian linear models.

Read ``bayes.py`` first: the conjugate posterior. ``bayesian_ridge.py`` and ``ard.py`` choose the
prior by maximising the evidence (``evidence.py``); ``bayesian_logistic.py`` is the classifier.
"""
