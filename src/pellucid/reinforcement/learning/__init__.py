"""Agents that learn tables of values by acting.

Start with ``q_learning.py``; ``agents.py`` holds what all agents share, ``*_kernels.py`` the
compiled loops.
"""
