"""Maps of rows: by distances, start with ``mds.py``; by neighbours, with ``tsne.py``."""
