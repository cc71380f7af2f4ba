"""The page on factor analysis. Read ``page.py`` first."""
