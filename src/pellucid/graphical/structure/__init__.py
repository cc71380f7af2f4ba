"""Learning the graph itself, by scores, by tests or by averaging.

Start with ``score_based.py``, ``constraint_based.py`` (PC) or ``averaging.py``.
"""
