"""The page on maps that keep neighbours (t-SNE). Read ``page.py`` first."""
