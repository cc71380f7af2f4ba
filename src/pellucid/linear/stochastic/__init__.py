"""Linear models fitted by stochastic gradient descent.

Read ``sgd.py`` (regression) and ``sgd_classifier.py`` first; ``sgd_model.py`` is what they share,
``epochs.py`` runs an epoch, the ``*_kernels.py`` are its compiled loops.
"""
