"""The page on polynomials and splines. Read ``page.py`` first."""
