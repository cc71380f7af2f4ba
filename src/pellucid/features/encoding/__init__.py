"""Categories and bins as numbers.

Read ``one_hot.py`` first; ``ordinal.py``, ``target_encoder.py``, ``bins.py``, ``labels.py`` and
``dummy.py`` are the other encoders. ``categories.py`` finds the categories of a column,
``rare_categories.py`` groups rare ones, ``category_table.py`` prepares tables for trees.
"""
