"""The page on adversarial networks. Read ``page.py`` first."""
