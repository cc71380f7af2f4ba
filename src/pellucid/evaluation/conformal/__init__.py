"""Conformal prediction: intervals and label sets with guaranteed coverage.

Read ``conformal_scores.py`` first (the method), then ``conformal_regressor.py`` and
``conformal_classifier.py``; ``conformal_model.py`` holds what both share, ``shifted_order.py``
finds an order statistic of many sorted lists.
"""
