"""Markov chain Monte Carlo.

Start with ``walks.py`` (Metropolis-Hastings); ``proposals.py``, ``adaptive_walk.py`` and
``hamiltonian.py`` propose the moves, ``chains.py`` holds the draws,
``diagnostics.py`` judges them.
"""
