"""Support vector machines with any kernel.

Read ``svc.py`` first. ``svr.py``, ``nu.py``, ``one_class.py`` and ``multiple_kernel.py`` are its
relatives; ``pairs.py`` votes over pairs of classes; ``svm_model.py`` is what all of them share.
The solver is ``smo.py`` (rounds, shrinking, certificate) over ``kernels.py`` (compiled steps).
"""
