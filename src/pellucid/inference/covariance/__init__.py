"""Covariance matrices when rows are few.

Read ``ledoit_wolf.py`` first: shrinkage towards equal variances. ``graphical_lasso.py`` makes the
inverse sparse, ``graphical_lasso_cv.py`` chooses how sparse; ``kernels.py`` has its sweep.
``covariance_model.py`` is what they share.
"""
