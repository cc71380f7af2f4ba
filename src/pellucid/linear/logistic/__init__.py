"""Logistic regression.

Read ``logistic.py`` first, then ``newton.py`` (L2) and ``proximal.py`` (L1 and elastic net).
``logistic_cv.py`` cross-validates, ``firth.py`` reduces bias, ``ordinal.py`` takes ordered classes,
``inference.py`` gives standard errors and tests.
"""
