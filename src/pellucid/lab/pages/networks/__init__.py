"""The page on neural networks. Read ``page.py`` first."""
