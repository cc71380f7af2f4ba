"""Nearest neighbours from fewer stored rows.

``condensed.py`` keeps the rows that decide, ``edited.py`` drops rows their neighbours contradict,
``prototypes.py`` replaces the rows by cluster centres.
"""
