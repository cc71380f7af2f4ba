"""How many clusters, and how good they are.

Read ``number_search.py`` first: several criteria side by side (``criteria.py``). ``measures.py``
scores one clustering, ``elbow_rule.py`` and ``stability.py`` are criteria of their own,
``diagnosis.py`` says what may be wrong, ``counting.py`` counts the possible clusterings.
"""
