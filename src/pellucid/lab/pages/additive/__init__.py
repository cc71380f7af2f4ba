"""The page on sums of non-negative parts. Read ``page.py`` first."""
