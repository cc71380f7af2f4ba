"""The page on support vectors and kernels. Read ``page.py`` first."""
