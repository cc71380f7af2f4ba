"""Regressors made of regressors, for several targets at once.

Read ``multi_output_regressor.py`` first: one copy for each target; ``regressor_chain.py`` lets each
read the targets before it.
"""
