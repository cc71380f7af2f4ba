"""Columns and rows brought to a common scale.

Read ``standard_scaler.py`` first; the other scalers are in the file of their name. ``power.py``
makes columns more normal, ``quantile_transformer.py`` turns them into ranks. ``column_scaler.py``
is what the scalers share, ``kernels.py`` and ``power_kernels.py`` the sweeps.
"""
