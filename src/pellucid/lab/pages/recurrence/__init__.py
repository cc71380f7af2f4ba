"""The page on recurrent networks. Read ``page.py`` first."""
