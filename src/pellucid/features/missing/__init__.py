"""Missing cells.

Read ``imputer.py`` first (one value per column); ``knn_imputer.py`` asks the nearest rows,
``missing_indicator.py`` marks where cells are missing, ``kernels.py`` has the sweeps.
"""
