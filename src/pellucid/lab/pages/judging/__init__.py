"""The page on evaluation: thresholds, folds, tests, bounds. Read ``page.py`` first."""
