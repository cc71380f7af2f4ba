"""The page on Bayesian networks: asking and learning them. Read ``page.py`` first."""
