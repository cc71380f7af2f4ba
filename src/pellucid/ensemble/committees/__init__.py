"""Committees: several models that answer together.

Read ``bagging.py`` (one learner on many resamples), ``voting.py`` (a vote of different models) or
``stacking.py`` (a model on their answers) first. ``bagging_model.py`` and ``committee.py`` hold
what the classes share, ``bootstrap.py`` draws the rows, ``resampling.py`` is
the arithmetic of draws, averages and votes.
"""
