"""The page on gradient descent and its relatives. Read ``page.py`` first."""
