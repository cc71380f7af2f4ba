"""The page on kernel principal components. Read ``page.py`` first."""
