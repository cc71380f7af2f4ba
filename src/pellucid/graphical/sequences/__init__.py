"""Hidden Markov models.

Start with ``hidden_markov.py``; ``baum_welch.py`` holds the passes over the sequences.
"""
