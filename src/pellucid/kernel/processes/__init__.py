"""Gaussian processes: start with ``gaussian_process_regressor.py``.

``covariance.py`` evaluates a kernel and pulls derivatives back through it; ``hyperparameters.py``
searches its numbers; ``learned_numbers.py`` averages intervals over them;
``gaussian_process_classifier.py`` is Laplace's approximation for classes;
``sparse_gaussian_process_regressor.py`` serves many rows through few inducing points.
"""
