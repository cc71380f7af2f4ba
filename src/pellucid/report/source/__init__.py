"""Fitted models as source code that needs nothing, plain Python or C99.

Read ``source`` first; ``trees`` and ``networks`` write the two kinds of model.
"""
