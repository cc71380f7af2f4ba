"""What a fitted model uses, and how.

``importance.py`` shuffles a column and measures the loss, ``accumulated.py`` follows the
prediction along one feature, ``tree_shapley.py`` divides one prediction among the features.
"""
