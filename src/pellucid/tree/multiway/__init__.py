"""Trees whose nodes split into one branch per category (ID3, C4.5).

Read ``multiway.py`` first: how a tree is grown. ``classifier.py`` and ``regressor.py`` are the
estimators, ``multiway_model.py`` is what they share, ``pessimistic.py`` is C4.5's pruning.
"""
