"""The page on hidden Markov models. Read ``page.py`` first."""
