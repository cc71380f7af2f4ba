"""Least angle regression and its relatives: whole paths of solutions.

Read ``least_angle.py`` first: the path. ``lars.py`` has the estimators, ``lars_ic.py`` chooses a
point of the path by AIC or BIC, ``stagewise.py`` walks it in small steps.
"""
