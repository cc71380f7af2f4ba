"""Directed acyclic graphs: what they say about independence and intervention.

Start with ``dag.py``; ``separation.py`` is d-separation, ``equivalence.py`` the essential graph.
"""
