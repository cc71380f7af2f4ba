"""Ridge regression.

Read ``ridge.py`` first. ``ridge_cv.py`` chooses the penalty by cross-validation (``folds.py``) or
leave-one-out (``leave_one_out.py``), ``paths.py`` solves for many penalties at once.
"""
