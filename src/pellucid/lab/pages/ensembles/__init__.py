"""The page on forests, bagging and boosting. Read ``page.py`` first."""
