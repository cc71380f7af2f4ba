"""The page on Markov decisions: planning and learning. Read ``page.py`` first."""
