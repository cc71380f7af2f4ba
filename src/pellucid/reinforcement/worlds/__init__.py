"""Markov decision processes and environments to act in.

Start with ``mdp.py``; ``grid.py`` builds grid worlds, ``gym.py`` talks to Gymnasium.
"""
