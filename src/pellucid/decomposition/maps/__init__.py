"""Maps of rows by their distances: start with ``mds.py``."""
