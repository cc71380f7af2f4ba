"""The page on learning from few labels. Read ``page.py`` first."""
