"""The page on regression for counts. Read ``page.py`` first."""
