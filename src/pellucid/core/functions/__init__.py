"""Functions with derivatives: ``losses.py``, ``penalties.py``, ``kernels.py``, ``distances.py``."""
