"""The page on decision trees. Read ``page.py`` first."""
