"""The page on linear classifiers. Read ``page.py`` first."""
