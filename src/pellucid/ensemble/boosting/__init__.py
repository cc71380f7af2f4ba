"""Boosting: models in sequence, each correcting the sum of those before it.

Read ``adaboost.py`` (weights on rows), ``gradient_boosting.py`` (exact trees on gradients) or
``hist_boosting.py`` (the fast one, on bins) first. ``*_losses.py`` hold the losses of a method,
``*_model.py`` its rounds and what its classifier and regressor share;
``boosted_trees.py`` grows and adds up the trees on bins, ``kernels/`` has the compiled sweeps.
"""
