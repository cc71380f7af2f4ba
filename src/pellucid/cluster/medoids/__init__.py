"""k-medoids: read ``medoids.py``; ``kernels.py`` has its compiled sweeps."""
