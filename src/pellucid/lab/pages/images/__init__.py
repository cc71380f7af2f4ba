"""The page on convolution. Read ``page.py`` first."""
