"""The page on least squares, ridge and the lasso. Read ``page.py`` first."""
