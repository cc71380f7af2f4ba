"""The page on attention. Read ``page.py`` first."""
