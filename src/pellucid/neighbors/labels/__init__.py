"""Labels spread over a graph of neighbours: semi-supervised classification.

``label_propagation.py`` and ``label_spreading.py`` are the estimators, ``label_model.py`` is what
they share.
"""
