"""The page on anomalies. Read ``page.py`` first."""
