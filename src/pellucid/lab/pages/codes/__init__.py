"""The page on autoencoders. Read ``page.py`` first."""
