"""The page on nearest neighbours. Read ``page.py`` first."""
