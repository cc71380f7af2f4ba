"""The page on clustering: k-means, mixtures, trees, density, graphs. Read ``page.py`` first."""
