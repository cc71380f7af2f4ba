"""The page on choosing columns step by step. Read ``page.py`` first."""
