"""Random forests, extremely randomised trees and isolation forests.

Read ``forest.py`` first (``extra_trees.py``, ``isolation.py`` for the relatives), then
``growing.py``: from a table to the trees. ``forest_model.py``, ``classifier.py`` and
``regressor.py`` are the shared estimators, ``record.py`` holds all trees in flat arrays,
``reading.py`` and ``intervals.py`` ask a grown forest, ``oob_search.py`` tunes without folds,
``kernels/`` has the compiled sweeps.
"""
