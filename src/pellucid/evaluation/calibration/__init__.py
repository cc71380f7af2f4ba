"""Probabilities that mean what they say.

Read ``reliability_curve.py`` to measure them and ``calibrated.py`` to mend them;
``calibrators.py`` has the maps from scores to probabilities, ``kernels.py`` their sweeps.
"""
