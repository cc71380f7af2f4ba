"""Lasso and elastic net.

Read ``lasso.py`` and ``elastic_net.py`` first, then ``fit.py`` (coordinate descent with a duality
gap). ``penalised_model.py`` is the shared estimator, ``rows.py`` (working sets of many columns) and
``sums.py`` are the data as rows or as moments, ``lasso_cv.py`` cross-validates.
"""
