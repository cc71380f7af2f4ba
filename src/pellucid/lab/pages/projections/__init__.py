"""The page on PCA and probabilistic PCA. Read ``page.py`` first."""
